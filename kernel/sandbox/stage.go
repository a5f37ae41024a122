package sandbox

import (
	"cmp"
	"context"
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
	Argv    []string
	Env     []string
	Dir     string
	Read    []string // whatever exists of these
	Named   []string // the same by the names they were given, which may lead there by links
	Write   []string
	Kept    []string // of Read, those in a folder of Write: they stay as they are
	Sockets []string // in Read and Write, where others may listen
	Remove  []string
	ABI     int // version of Landlock's interface that is used at most, 0 for what Linux has: tests show what older ones hold
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
	st := stage{Box: b, Dir: cmd.Dir, Remove: s.Remove}
	st.Env = b.environment(cmd.Env, s.Env, s.Private)
	for _, dir := range []string{s.Private + "/home", s.Private + "/tmp"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if st.Write, err = folders(append([]string{s.Private}, slices.Concat(s.Write, b.Write)...)); err != nil {
		return nil, err
	}
	program, needs, err := programOf(cmd)
	if err != nil {
		return nil, err
	}
	st.Argv = append([]string{program}, cmd.Args[1:]...)
	if st.Read, err = readable(append(needs, b.Read...)); err != nil {
		return nil, err
	}
	st.Named = otherNames(append(needs, b.Read...), st.Read)
	for _, dir := range b.Read {
		for _, open := range s.Write {
			if within(dir, open) {
				return nil, fmt.Errorf("%s would not be safe: it is in %s, where cells write", dir, open)
			}
		}
	}
	if st.Kept, err = b.kept(st.Read); err != nil {
		return nil, err
	}
	if b.Tier == Full {
		if st.Sockets, err = b.sockets(needs); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(s.Private, stageFile)
	if err := st.save(file); err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: self, Args: []string{self, guardCommand, file}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}}, nil
}

// stageFile is the name of the stage's file in the private folder.
const stageFile = "sandbox.json"

func (st stage) save(file string) error {
	content, err := json.Marshal(st)
	if err != nil {
		return err
	}
	return writeNew(file, content)
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

// otherNames returns those of paths that lead by links to what is readable, but for those in one that does.
func otherNames(paths, readable []string) (names []string) {
	paths = slices.Clone(paths)
	slices.SortFunc(paths, func(a, b string) int { return len(a) - len(b) })
	for _, p := range paths {
		p = filepath.Clean(p)
		inside := func(folder string) bool { return in(p, folder) }
		real, err := realPath(p)
		if filepath.IsAbs(p) && err == nil && slices.Contains(readable, real) && !slices.ContainsFunc(slices.Concat(readable, names), inside) {
			names = append(names, p)
		}
	}
	return names
}

// ErrExposed is in the error about a path that cells must not read as a whole.
var ErrExposed = errors.New("cells would read more than you mean")

// readable returns where paths really are, but for missing ones. What has everything of the user's, or sockets of the
// machine's services in it, is refused.
func readable(paths []string) ([]string, error) {
	var all []string
	for _, p := range paths {
		real, err := realPath(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if AboveHome(real) {
			return nil, fmt.Errorf("%w: all that is in your home folder, through %s", ErrExposed, p)
		}
		for _, top := range []string{"/run", "/dev", "/proc", "/sys"} {
			if in(real, top) {
				return nil, fmt.Errorf("%w: the machine's services and processes, through %s", ErrExposed, p)
			}
		}
		if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all, nil
}

// AboveHome reports whether a path is the user's home folder or contains it.
func AboveHome(path string) bool {
	home, _ := os.UserHomeDir() // without one there is nothing to spare
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if real, err := realPath(path); err == nil {
		path = real
	}
	return path == "/" || home != "" && in(home, path)
}

// in reports whether a path is a folder, or in it, by their names.
func in(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// within is in for where paths really are.
func within(path, folder string) bool {
	path, err := realPath(path)
	if err != nil {
		return false // it is not there
	}
	folder, err = realPath(folder)
	return err == nil && in(path, folder)
}

// asked remembers what a Python has answered: it takes a start of it.
var asked sync.Map // of its path and the variables for it, to []string

// programOf returns the program of cmd, and what it reads: of a Python the interpreter itself, which the path may only
// lead to by a script, its installation, and where it looks for modules.
func programOf(cmd *exec.Cmd) (program string, needs []string, err error) {
	if !strings.Contains(filepath.Base(cmd.Path), "python") {
		return cmd.Path, []string{cmd.Path}, nil
	}
	key := cmd.Path
	for _, entry := range cmd.Env {
		if strings.HasPrefix(entry, "PYTHON") {
			key += "\x00" + entry
		}
	}
	known, ok := asked.Load(key)
	if !ok {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		ask := exec.CommandContext(ctx, cmd.Path, "-c", `import sys; print(sys.executable, *{sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path[1:]}, sep="\0", end="")`)
		ask.Env, ask.WaitDelay = cmd.Env, time.Second
		if ask.Dir, err = os.MkdirTemp("", "dsstar-ask-"); err != nil { // an empty entry in PYTHONPATH is the folder that it runs in
			return "", nil, err
		}
		defer os.RemoveAll(ask.Dir)
		out, err := ask.Output()
		if err != nil {
			return "", nil, fmt.Errorf("ask %s where its modules are: %w", cmd.Path, err)
		}
		known = slices.DeleteFunc(strings.Split(string(out), "\x00"), func(p string) bool { return p == ask.Dir || AboveHome(p) })
		asked.Store(key, known)
	}
	needs = slices.Clone(known.([]string))
	return cmp.Or(needs[0], cmd.Path), append(needs, cmd.Path), nil
}

func readStage(file string) (stage, error) {
	var st stage
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, &st)
	}
	return st, err
}
