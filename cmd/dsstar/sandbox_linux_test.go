package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// attackCells are what a hostile notebook does, and part of what its reader sees.
var attackCells = [][2]string{
	{"print(open('/etc/shadow').read())", "/etc/shadow is hidden, the system's or may hold credentials"},
	{"import os; print(os.listdir('HOME'))", "HOME"},
	{"print(open('HOME/.ssh/id_rsa').read())", "HOME/.ssh/id_rsa is hidden, the system's"},
	{"open('pwned.txt', 'w')", "allow it with --allow-write HERE"},
	{"open('HOME/.bashrc', 'a')", "cells are not meant to use it"},
	{"import urllib.request; urllib.request.urlopen('http://example.com', timeout=5)", "the network is off; allow it with --allow-net"},
	{"import socket; socket.create_connection(('127.0.0.1', PORT), 3)", ""},
	{"import socket; socket.socket(socket.AF_UNIX).connect('HOME/docker.sock')", ""},
	{"import os; os.kill(PID, 0)", ""},
	{"import ctypes, os; l = ctypes.CDLL(None, use_errno=True)\nassert l.ptrace(16, PID, 0, 0) == 0, ctypes.get_errno()", "AssertionError: 1"},
	{"import os; assert any('KEY' in name for name in os.environ)", "AssertionError"},
	{"open('/proc/PID/environ').read()", "Error"},
	{"import subprocess; subprocess.run(['cat', 'HOME/.ssh/id_rsa'], check=True)", "CalledProcessError"},
	{"import os; os.remove('attack.ipynb')", "allow it with --allow-write HERE"},
	{"import os; os.rename('attack.ipynb', 'gone.ipynb')", "Error"},
	{"import os; os.symlink('HOME/.ssh/id_rsa', os.path.expanduser('~/link')); open(os.path.expanduser('~/link')).read()", "Error"},
	{"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20))", "ValueError"},
	{"import ctypes; l = ctypes.CDLL(None, use_errno=True)\nassert l.unshare(0x10000000) == 0, ctypes.get_errno()", "AssertionError: 1"},
	{"import os; open('/proc/sys/kernel/core_pattern', 'w')", "Error"},
	{"x = []\nwhile True: x.append(bytearray(b'x') * (1 << 30))", "raise it with --max-memory"},
}

// Each attack of a notebook is shown as blocked, with the flag for those that a user might want, and changes nothing;
// the key that is planted in the environment and in a file is nowhere.
func TestRerunAttacks(t *testing.T) {
	const key = "sk-planted-0123456789"
	home := filepath.Join(t.TempDir(), "home")
	for name, content := range map[string]string{".ssh/id_rsa": key, ".bashrc": "# mine\n"} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("MY_API_KEY", key)
	fill := strings.NewReplacer("HOME", home, "PID", strconv.Itoa(os.Getpid()), "PORT", "22").Replace
	var cells []notebook.Cell
	for i, attack := range attackCells {
		cells = append(cells, notebook.Cell{ID: "c" + strconv.Itoa(i), Type: notebook.Code, Source: fill(attack[0])})
	}
	for _, tier := range []string{"builtin", "full"} {
		if _, _, err := sandbox.Choose(tier); err != nil && tier == "full" && os.Getenv("DSSTAR_BUBBLEWRAP") == "" {
			t.Log(err)
			continue
		}
		path := saved(t, "attack.ipynb", cells...)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, stderr := rerunCode(t.Context(), t, exitVerified, "--allow-errors", "--sandbox", tier, "--max-memory", "2GB", path)
		after := cellsOf(t, strings.TrimSuffix(path, ".ipynb")+".rerun.ipynb")
		for i, attack := range attackCells {
			shown := plainOf(after[i])
			if want := strings.ReplaceAll(fill(attack[1]), "HERE", filepath.Dir(path)); !strings.Contains(shown, want) || !strings.Contains(shown, "Error") {
				t.Errorf("%s: %s\nshows %q", tier, fill(attack[0]), shown)
			}
			if strings.Contains(shown, key) {
				t.Errorf("%s: the key is in the outputs of %s", tier, attack[0])
			}
		}
		if strings.Contains(stderr, key) {
			t.Error("the key is in the messages")
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
			t.Errorf("the notebook has been changed: %v", err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(home, ".bashrc")); err != nil || string(b) != "# mine\n" {
		t.Errorf(".bashrc: %q %v", b, err)
	}
}

// A cell that may write the folder around the run folder cannot move that, or put anything in its place, for dsstar to write
// to, empty or lend later: in full it stays, and builtin, which cannot keep it, runs nothing.
func TestRunFolderStays(t *testing.T) {
	outside := t.TempDir()
	for _, tier := range []string{"builtin", "full"} {
		if _, _, err := sandbox.Choose(tier); err != nil && tier == "full" && os.Getenv("DSSTAR_BUBBLEWRAP") == "" {
			t.Log(err)
			continue
		}
		parent := t.TempDir()
		run := filepath.Join(parent, "runs", "r")
		m := counting()
		m["coder"] = say(cell(strings.NewReplacer("RUN", run, "OUTSIDE", outside).Replace(`import os
import pandas as pd
run, outside = "RUN", "OUTSIDE"
done = []
for what, attack in {
    "moved runs": lambda: os.rename(os.path.dirname(run), os.path.dirname(run) + "-moved"),
    "moved run": lambda: os.rename(run, run + "-moved"),
    "moved files": lambda: os.rename(run + "/files", run + "/files-moved"),
    "linked variables": lambda: os.symlink(outside, run + "/variables"),
    "wrote script": lambda: open(run + "/solution.py", "w"),
    "wrote notebook": lambda: open(run + "/notebook.ipynb", "a"),
}.items():
    try:
        attack()
        done.append(what)
    except OSError:
        pass
print("done:", done)
os.makedirs(os.path.dirname(os.path.dirname(run)) + "/mine", exist_ok=True)
total = 42`)))
		s := askNB(t, dataFolder(t, numbers), m.serve(t).URL, "--sandbox", tier, "--allow-write", parent, "--out", run)
		s.out = run
		if tier == "builtin" {
			s.expect(exitUsage, run+" is in "+parent, "--out DIR")
			continue
		}
		s.expect(exitVerified)
		if accepted, _ := s.trajectory().Rounds[0].Accepted(); !strings.Contains(accepted.Execution.Stdout(), "done: []") {
			t.Error(accepted.Execution.Stdout())
		}
		if _, err := os.Stat(filepath.Join(parent, "mine")); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v %v", entries, err)
	}
}
