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

	"dsstar/notebook/lists"
)

// A stage has the instructions for the guard and for the process that becomes the program.
type stage struct {
	Box     Box
	Argv    []string
	Env     []string
	Dir     string
	Read    []string // real paths; missing ones are skipped
	Named   []string // given paths that lead to Read through links
	Write   []string
	Own     []string // of the box: hidden except for what is in Read and Write
	Sockets []string // sockets in Read and Write, on which other programs may listen
	Reports bool
	Listens bool
	Facts   bool             // the guard opens files of /proc for the session
	Inodes  map[string]inode // of Write and the box's Read when they were checked
	ABI     int              // newest version of Landlock's interface to use, for tests; 0 for any
}

// Commands of this executable, in os.Args[1]; os.Args[2] is the file of the stage.
const (
	guardCommand = "__sandbox-guard"
	enterCommand = "__sandbox-enter"
)

// Command returns a command that runs cmd in the box, where cmd can read what its Python needs and
// what the box allows, and can write to the folders of s and the box. The caller must start it in a
// process group of its own. SIGTERM kills it with all its descendants. cmd is not changed; a box
// that confines nothing returns cmd itself.
func (b Box) Command(cmd *exec.Cmd, s Session) (*exec.Cmd, error) {
	if !b.Tier.Confines() {
		return cmd, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	st := stage{Box: b, Dir: cmd.Dir, Reports: s.Reports, Listens: s.Listens,
		Facts: s.Facts && b.hidesProc()}
	if st.Dir == "" { // as in os/exec
		if st.Dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{s.Private + "/home", s.Private + "/tmp"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if st.Write, err = folders(append([]string{s.Private},
		slices.Concat(s.Write, b.Write)...)); err != nil {
		return nil, err
	}
	l, err := launchOf(cmd, st.Write)
	if err != nil {
		return nil, err
	}
	st.Argv, st.Env = l.argv, b.environment(l.env, s.Env, s.Private)
	secrets := named(st.Env, b.Secrets)
	st.Env = slices.DeleteFunc(st.Env, func(kv string) bool { return slices.Contains(secrets, kv) })
	found := slices.DeleteFunc(slices.Concat(l.needs, b.variablesRead(st.Env)),
		func(path string) bool { return leadsThrough(path, st.Write) })
	named := make([]string, len(b.Read))
	for i, path := range b.Read {
		if named[i], err = pin(path); err != nil {
			return nil, err
		}
	}
	reads := slices.Concat(found, b.Read)
	if st.Read, err = readable(reads); err != nil {
		return nil, err
	}
	if st.Own, err = folders(b.Own); err != nil {
		return nil, err
	}
	st.Read = slices.DeleteFunc(st.Read,
		func(path string) bool { return slices.Contains(st.Own, path) })
	st.Named = otherNames(reads, st.Read)
	if err := b.protects(st.Write, filepath.Dir(s.Private), named, st.Own); err != nil {
		return nil, err
	}
	if st.Inodes, err = inodes(slices.Concat(st.Write, named)); err != nil {
		return nil, err
	}
	if b.Tier == Full {
		if err = fullWorks(); err != nil {
			return nil, err
		}
		if st.Sockets, err = b.sockets(found); err != nil {
			return nil, err
		}
	}
	file := filepath.Join(s.Private, stageFile)
	if err := st.save(file); err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: self, Args: []string{self, guardCommand, file}, Dir: "/",
		Env: append([]string{"PATH=/usr/bin:/bin"}, secrets...)}, nil
}

// stageFile is the name of the stage's file in the private folder.
const stageFile = "sandbox.json"

func (st stage) save(file string) error {
	content, _ := json.Marshal(st) // plain data
	return writeNew(file, content)
}

// writeNew creates a file, and fails if it exists: a link left by a cell must not be followed.
func writeNew(file string, content []byte) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// folders creates missing folders and returns their real paths. It fails if one has changed since
// first use.
func folders(paths []string) ([]string, error) {
	var all []string
	for _, p := range paths {
		real, err := pin(p)
		if err == nil {
			err = os.MkdirAll(real, 0o777)
		}
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

// otherNames returns the paths that lead to readable ones through links, without paths inside
// others.
func otherNames(paths, readable []string) (names []string) {
	paths = slices.Clone(paths)
	slices.SortFunc(paths, func(a, b string) int { return len(a) - len(b) })
	for _, p := range paths {
		p = filepath.Clean(p)
		real, err := realPath(p)
		if filepath.IsAbs(p) && err == nil && slices.Contains(readable, real) &&
			!inOne(p, slices.Concat(readable, names)) {
			names = append(names, p)
		}
	}
	return names
}

// ErrExposed is wrapped by the error about a path that cells must not read as a whole.
var ErrExposed = errors.New("cells would read more than you mean")

// readable resolves links and leaves out paths that do not exist. It refuses the home folder and the
// folders of the machine's services and processes.
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
		if what := exposes(real); what != "" {
			return nil, fmt.Errorf("%w: %s, through %s", ErrExposed, what, p)
		}
		if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all, nil
}

// leadsThrough reports whether a path passes through one of the folders, where cells may have put a
// link.
func leadsThrough(path string, folders []string) bool {
	for ; ; path = filepath.Dir(path) {
		real, err := realPath(path)
		if err == nil && inOne(real, folders) {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
	}
}

// exposes returns what cells must not read but could if they read all of path; "" for nothing.
func exposes(path string) string {
	path, _ = behind(path)
	if AboveHome(path) {
		return "all that is in your home folder"
	}
	if ofMachine(path) {
		return "the machine's services and processes"
	}
	return ""
}

// disks are patterns of mount points for removable media, network shares and memory that are among
// the system's folders but may be read.
var disks = []string{"/run/media/*/*", "/run/user/*/gvfs/*", "/dev/shm/*"}

// ofMachine reports whether a real path belongs to the machine's services, devices or processes.
func ofMachine(path string) bool {
	if !inOne(path, []string{"/run", "/dev", "/proc", "/sys"}) {
		return false
	}
	parts := strings.Split(path, "/")
	return !slices.ContainsFunc(disks, func(pattern string) bool {
		top := strings.Join(parts[:min(len(parts), strings.Count(pattern, "/")+1)], "/")
		matches, _ := filepath.Match(pattern, top) // the patterns are good
		info, err := os.Stat(top)
		return matches && err == nil && info.IsDir()
	})
}

// AboveHome reports whether a path is the user's home folder or contains it.
func AboveHome(path string) bool {
	path, _ = behind(path)
	home, err := os.UserHomeDir()
	real, _ := behind(home)
	return path == "/" || err == nil && in(real, path) // without a home there is nothing to protect
}

// in reports whether path is folder or below it, by name.
func in(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

// below returns the paths of files in a folder.
func below(folder string, names []string) []string {
	return lists.Map(names, func(name string) string { return filepath.Join(folder, name) })
}

// inOne is in for any of the folders.
func inOne(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return in(path, folder) })
}
