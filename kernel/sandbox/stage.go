package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A stage is what the guard and the process that becomes the program are told.
type stage struct {
	Box     Box
	ABI     int // Landlock's
	Argv    []string
	Env     []string
	Dir     string
	Private string
	Read    []string // whatever exists of these
	Write   []string
}

// names of the program's own commands, in os.Args[1]; os.Args[2] is the file of the stage.
const (
	guardCommand = "__sandbox-guard"
	enterCommand = "__sandbox-enter"
)

// Command returns cmd as a process of the box: what it may read is what its
// Python and the box need, what it may write are the folders of s. It is to be
// started in a process group of its own; SIGTERM ends it with all that it has
// started, and so does the end of the program that started it. cmd is not
// changed. A box that confines nothing returns it as it is.
func (b Box) Command(cmd *exec.Cmd, s Session) (*exec.Cmd, error) {
	if !b.Tier.Confines() {
		return cmd, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	st := stage{Box: b, ABI: b.abi, Argv: cmd.Args, Dir: cmd.Dir, Private: s.Private}
	st.Env = b.environment(cmd.Env, s.Private)
	st.Argv = append([]string{cmd.Path}, cmd.Args[1:]...)
	for _, dir := range []string{s.Private + "/home", s.Private + "/tmp"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if st.Write, err = folders(append([]string{s.Private}, slices.Concat(s.Write, b.Write)...)); err != nil {
		return nil, err
	}
	python, err := pythonNeeds(cmd)
	if err != nil {
		return nil, err
	}
	if st.Read, err = readable(slices.Concat(python, b.Read)); err != nil {
		return nil, err
	}
	content, err := json.Marshal(st)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.Private, "sandbox.json")
	if err := writeNew(file, content); err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: self, Args: []string{self, guardCommand, file}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}}, nil
}

// writeNew writes a file where none is: in a folder that cells could write to once there would else be a link to follow.
func writeNew(file string, content []byte) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// folders makes folders that are missing, and returns where they really are.
func folders(paths []string) ([]string, error) {
	var all []string
	for _, p := range paths {
		if err := os.MkdirAll(p, 0o777); err != nil {
			return nil, err
		}
		real, err := realPath(p)
		if err != nil {
			return nil, err
		}
		all = append(all, real)
	}
	return all, nil
}

func realPath(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// readable returns where paths really are. Missing ones are left out; the home folder, whatever is above it, and
// what is mapped to no file are refused.
func readable(paths []string) ([]string, error) {
	home, _ := os.UserHomeDir()
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	var all []string
	for _, p := range paths {
		real, err := realPath(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if real == "/" || home != "" && (real == home || strings.HasPrefix(home, real+"/")) && home != "/" {
			return nil, fmt.Errorf("%s would be readable with all that is in your home folder", p)
		}
		if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all, nil
}

// asked remembers what a Python has answered: it takes a start of it.
var asked sync.Map // of the path of a Python and the folders of its environment, to []string

// pythonNeeds returns what the Python of cmd reads: its installation, and where it looks for modules. Another program
// needs what it is.
func pythonNeeds(cmd *exec.Cmd) ([]string, error) {
	needs := []string{cmd.Path}
	if real, err := filepath.EvalSymlinks(cmd.Path); err == nil {
		needs = append(needs, real)
	}
	if !strings.Contains(filepath.Base(cmd.Path), "python") {
		return needs, nil
	}
	key := cmd.Path
	for _, entry := range cmd.Env {
		if strings.HasPrefix(entry, "PYTHON") {
			key += "\x00" + entry
		}
	}
	if known, ok := asked.Load(key); ok {
		return known.([]string), nil
	}
	ask := exec.Command(cmd.Path, "-c", `import sys; print(*{sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path[1:]}, sep="\0", end="")`)
	ask.Env, ask.WaitDelay = cmd.Env, 10*time.Second
	out, err := ask.Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s where its modules are: %w", cmd.Path, err)
	}
	needs = append(needs, strings.Split(string(out), "\x00")...)
	asked.Store(key, needs)
	return needs, nil
}

func readStage(file string) (stage, error) {
	var st stage
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, &st)
	}
	return st, err
}
