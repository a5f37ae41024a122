package site

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
)

const leastMemory = 1 << 30 // bytes: numpy, pandas and scikit-learn take half of it

// launches are names in a project's folder from which tools run code automatically.
var launches = []string{".git", ".envrc", ".vscode", ".idea", ".devcontainer",
	".pre-commit-config.yaml"}

// Box returns the sandbox of new local kernels. notes say why it is not a stronger tier, and warn
// if cells may write to a folder from which the user's tools run code automatically.
func (h Host) Box(s *configs.Settings) (b sandbox.Box, notes []string, err error) {
	if err := temporary(); err != nil {
		return b, nil, err
	}
	tier, why, err := sandbox.Choose(s.Sandbox)
	if err != nil {
		return b, nil, err
	}
	if why != "" {
		notes = append(notes, fmt.Sprintf("the sandbox is %s: %s", tier, why))
	}
	b = sandbox.Box{
		Tier: tier, Env: slices.Clone(s.AllowEnv), Net: s.AllowNet, GPU: s.AllowGPU,
		Multiprocessing: s.AllowMultiprocessing,
		Limits: sandbox.Limits{Memory: int64(s.MaxMemory), Processes: s.MaxProcesses,
			File: int64(s.MaxFile), Folder: int64(s.MaxFolder)},
	}
	for _, d := range h.Databases {
		names := []string{d.Variable}
		for _, entry := range d.More {
			name, _, _ := strings.Cut(entry, "=")
			names = append(names, name)
		}
		b.Env, b.Secrets = append(b.Env, names...), append(b.Secrets, names...)
		b.Endpoints = append(b.Endpoints, d.Endpoints...)
	}
	if b.Limits.Memory == 0 {
		b.Limits.Memory = usualMemory()
	}
	for _, list := range []struct {
		from []string
		to   *[]string
		flag string
	}{{s.AllowRead, &b.Read, "--allow-read"}, {s.AllowWrite, &b.Write, "--allow-write"}} {
		for _, path := range list.from {
			if _, err := os.Stat(path); err != nil {
				return b, nil, usage.New(fmt.Sprintf("%s: %v", list.flag, err), usage.Shell("ls -ld %s", path))
			}
			*list.to = append(*list.to, disk.Absolute(path))
		}
	}
	for _, path := range b.Write {
		if !tier.Confines() {
			break
		}
		if at := sandbox.Startup(path); at != "" {
			return b, nil, usage.New(
				fmt.Sprintf("--allow-write: %s would give your account to the cells: programs "+
					"run the content of %s when they start", path, at),
				usage.Again("--allow-write", "out").Note("after mkdir out: a folder for what cells are to write"))
		}
		there := func(name string) bool {
			_, err := os.Lstat(filepath.Join(path, name))
			return err == nil
		}
		if i := slices.IndexFunc(launches, there); i >= 0 {
			notes = append(notes, fmt.Sprintf("warning: --allow-write %s: cells can change %s there, which "+
				"your tools run outside the sandbox", path, launches[i]))
		}
	}
	return b, notes, nil
}

// Private reports whether cells must not read a folder just because a notebook names it: the
// notebook may come from somebody else. The demo's data folder is exempt.
func (h Host) Private(folder string) bool {
	demo := strings.HasPrefix(disk.RealPath(filepath.Clean(folder)), disk.RealPath(h.CacheDir)+"/demo-")
	return !demo && sandbox.Private(folder)
}

// Allows reports whether the user has named a real path, or a folder around it, for cells to read.
func Allows(s *configs.Settings, real string) bool {
	return slices.ContainsFunc(slices.Concat(s.AllowRead, s.AllowWrite), func(path string) bool {
		return disk.Inside(disk.RealPath(disk.Absolute(path)), real)
	})
}

// Named returns an error if a notebook that another dsstar made, in a folder, names data elsewhere
// that the user has not named.
func Named(s *configs.Settings, folder string, paths ...string) error {
	var strays []string
	for _, path := range paths {
		real := disk.RealPath(path)
		if path != "" && !disk.Inside(disk.RealPath(folder), real) && !Allows(s, real) {
			strays = append(strays, real)
		}
	}
	if strays == nil {
		return nil
	}
	for _, path := range strays {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			return usage.New("the data of this notebook are not at "+ui.Printable(path)+": set data_dir in "+
				"its parameters cell to where they are", usage.Shell("ls -d %s", disk.Existing(path)))
		}
	}
	hint := allowRead(s, strays...).Note("if you mean these data")
	hidden := func(path string) bool { return !sandbox.MayAdvise(path) }
	if slices.ContainsFunc(strays, hidden) {
		// the notebook may be made for somebody who pastes what stands there
		hint = allowRead(s, "PATH").Note("PATH: those data, if you mean them")
	}
	return usage.New("another dsstar made this notebook, and its data are not in its folder: "+
		ui.Printable(strings.Join(strays, ", ")), hint)
}

// allowRead returns the command line that failed with more that cells may read.
func allowRead(s *configs.Settings, more ...string) usage.Hint {
	var flags []string
	for _, path := range slices.Concat(s.AllowRead, s.AllowDatabases, more) {
		flags = append(flags, "--allow-read", path)
	}
	return usage.Again(flags...)
}

// temporary returns an error if the folder for temporary files, which every session needs, cannot
// be used.
func temporary() error {
	dir, err := os.MkdirTemp("", "dsstar-")
	if err = cmp.Or(err, os.Remove(dir)); err == nil {
		return nil
	}
	return usage.New(fmt.Sprintf("the folder for temporary files, %s, cannot be used: %v",
		os.TempDir(), disk.Cause(err)),
		usage.Shell("mkdir -p ~/tmp && export TMPDIR=~/tmp   # or another folder that you can write to"))
}

// usualMemory is the limit on the memory of a session where none is set.
func usualMemory() int64 { return max(leastMemory, availableMemory()/4*3) }

// availableMemory returns the available memory in bytes; 0 if it is unknown.
func availableMemory() int64 {
	content, _ := os.ReadFile("/proc/meminfo")
	_, after, _ := strings.Cut(string(content), "MemAvailable:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
	free := kilobytes << 10
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil { // of a container
		if n, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil {
			free = min(free, n)
		}
	}
	return free
}
