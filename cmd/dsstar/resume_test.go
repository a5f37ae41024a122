package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
)

// again resumes the run of a scene with the model behind url.
func (s *scene) again(url string, args ...string) *scene {
	s.t.Helper()
	a, stdout, stderr := testApp(s.t)
	args = append([]string{"resume", "--base-url", url, "--model", "scripted", "--python", pyenvtest.Python(s.t)}, args...)
	next := &scene{t: s.t, data: s.data, out: s.out}
	next.code = a.run(s.t.Context(), append(args, s.out))
	next.stdout, next.stderr = stdout.String(), stderr.String()
	return next
}

func (m roles) with(more roles) roles {
	all := roles{}
	for _, some := range []roles{m, more} {
		for role, replies := range some {
			all[role] = replies
		}
	}
	return all
}

// TestResumeRefused: a run that another dsstar works on is left alone, and a stranger's notebook cannot name just any data.
func TestResumeRefused(t *testing.T) {
	t.Parallel()
	s := copied(t)
	release, err := record.Folder(s.out).Lock()
	if err != nil {
		t.Fatal(err)
	}
	a, _, stderr := testApp(t)
	if code := a.run(t.Context(), []string{"resume", s.out}); code == 0 || !strings.Contains(stderr.String(), "another dsstar is at work") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	release()
	strangersData(t, s)
}

// strangersData: a notebook cannot have dsstar or its cells look into a folder where keys are, unless the user says so.
func strangersData(t *testing.T, s *scene) {
	t.Helper()
	keys := filepath.Join(dataFolder(t, map[string]string{".ssh/numbers.csv": "n\n123454321\n"}), ".ssh")
	link := filepath.Join(t.TempDir(), "data")
	if err := os.Symlink(keys, link); err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{keys, link, "/etc", "/proc/self", "/var/lib", home, filepath.Dir(home), "/"} {
		run := moved(t, s, data)
		a, stdout, stderr := testApp(t)
		code := a.run(t.Context(), []string{"resume", "--python", pyenvtest.Python(t), run})
		if said := "dsstar resume --allow-read DIR " + run; code != exitUsage || !strings.Contains(stderr.String(), said) {
			t.Errorf("%s: exit code %d\n%s%s", data, code, stdout, stderr)
		}
	}
	run := moved(t, s, link)
	a, stdout, stderr := testApp(t)
	if code := a.run(t.Context(), []string{"resume", "--allow-read", keys, "--model", "replay:/dev/null", "--python", pyenvtest.Python(t), run}); !strings.Contains(stderr.String(), "edited   the data folder is now") {
		t.Errorf("allowed: exit code %d\n%s%s", code, stdout, stderr)
	}
	run = moved(t, s, link)
	out, said := rerunCode(t.Context(), t, exitError, run)
	if !strings.Contains(said, "is hidden or the system's: cells read it only with --data") || strings.Contains(out+said, "123454321") {
		t.Errorf("rerun: %s\n%s", out, said)
	}
	if err := os.Symlink(keys, filepath.Join(s.out, "variables")); err != nil {
		t.Fatal(err)
	}
	s.again("http://127.0.0.1:1/v1").expect(exitUsage, "variables is not a folder, as a run leaves it")
}

// moved is a copy of a run with another data folder.
func moved(t *testing.T, s *scene, data string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.out, "notebook.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	was, _ := json.Marshal(s.data)
	run := t.TempDir()
	if err := os.WriteFile(filepath.Join(run, "notebook.ipynb"), bytes.ReplaceAll(content, bytes.Trim(was, `"`), []byte(data)), 0o644); err != nil {
		t.Fatal(err)
	}
	return run
}

// TestResumeOfSkipped: a run of a version that skipped nothing sees the files that it had.
func TestResumeOfSkipped(t *testing.T) {
	data := t.TempDir()
	for name, text := range map[string]string{"venv/pyvenv.cfg": "home = /usr\n", "venv/a.csv": "n\n1\n", "b.csv": "n\n2\n"} {
		path := filepath.Join(data, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ had, want []string }{
		{[]string{"b.csv"}, []string{"b.csv"}},
		{[]string{"b.csv", "venv/a.csv", "venv/pyvenv.cfg"}, []string{"b.csv", "venv/a.csv", "venv/pyvenv.cfg"}},
		{[]string{"b.csv", "gone.csv"}, []string{"b.csv"}},
	} {
		r := pastRun{t: &record.Trajectory{Task: record.Task{Data: data}}}
		for _, name := range c.had {
			size := int64(4)
			if name == "venv/pyvenv.cfg" {
				size = 12
			}
			r.t.Task.Files = append(r.t.Task.Files, record.File{Name: name, Size: size})
		}
		for range 2 { // and once more, which adds nothing to what is included
			now, err := r.dataFiles(t.Context(), []string{"b.csv"})
			var names []string
			for _, f := range now {
				names = append(names, f.Name)
			}
			included := slices.Compact(slices.Sorted(slices.Values(r.t.Task.Include)))
			if err != nil || !slices.Equal(names, c.want) || len(included) != len(r.t.Task.Include) {
				t.Errorf("of %q there are %q, including %q: %v", c.had, names, r.t.Task.Include, err)
			}
		}
	}
}
