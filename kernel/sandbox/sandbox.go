// Package sandbox confines processes that run code which a model wrote and nobody has read.
//
// There are two tiers. Builtin needs nothing but Linux 5.13: Landlock for files
// and signals, a seccomp filter for the network and the rest of the kernel's
// surface, no capabilities, resource limits, and a guard that watches the
// process tree and ends all of it. Full is the same inside bubblewrap's
// namespaces. Whatever cannot be set up is an error, and then nothing runs.
//
// A process of a Box is a chain of three: the guard, which is this program once
// more; in the full tier bubblewrap; and the program, which this program becomes
// once it has given up its rights. A program that uses this package calls [Main]
// before anything else.
package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Tier is how much holds.
type Tier string

const (
	Off      Tier = "off"      // nothing
	External Tier = "external" // whatever dsstar itself runs in
	Builtin  Tier = "builtin"  // Landlock, seccomp, no capabilities, limits, the guard
	Full     Tier = "full"     // the same, inside bubblewrap
)

// Confines reports whether processes of the tier are confined by this package.
func (t Tier) Confines() bool { return t == Builtin || t == Full }

// Limits are what the processes of a box may use together, but for File.
type Limits struct {
	Memory    int64 // bytes in memory; each process may allocate as many
	Processes int   // processes and threads
	File      int64 // bytes of one file
	Folder    int64 // bytes in the folders that can be written
}

// A Box is where processes run. The zero value confines nothing.
type Box struct {
	Tier            Tier
	Read            []string // files and folders that may be read, beside what a Python needs
	Write           []string // folders that may be written, beside those of the command
	Env             []string // names of variables that stay in the environment, beside the harmless ones
	Net             bool     // the network may be used
	Multiprocessing bool     // in the builtin tier: /dev/shm can be written, and all of /proc be read
	Limits          Limits
}

// A Session is what the processes of one command share.
type Session struct {
	Private string   // folder of ours, for sockets, home and temporary files; it can be written
	Write   []string // folders that can be written; missing ones are made
	Env     []string // names of variables that stay in the environment, beside those of the box
	Remove  []string // files and folders that the guard removes when it ends
}

// Stopped begins the line on standard error in which a guard says why it has
// ended the processes.
const Stopped = "dsstar stopped the code: "

// ErrNone is in the error of Choose where no tier works.
var ErrNone = errors.New("no sandbox works here")

// Choose returns the tier for what the user wants: "auto" or the name of one.
// why says what stands in the way of a better one, "" if nothing does.
func Choose(wanted string) (tier Tier, why string, err error) {
	switch wanted {
	case string(Off), string(External):
		return Tier(wanted), "", nil
	case string(Full):
		if err = errors.Join(builtinWorks(), fullWorks()); err != nil {
			return "", "", fmt.Errorf("%w: %w", ErrNone, err)
		}
		return Full, "", nil
	case string(Builtin), "auto":
		if err = builtinWorks(); err != nil {
			return "", "", fmt.Errorf("%w: %w", ErrNone, err)
		}
		if wanted == string(Builtin) {
			return Builtin, "", nil
		}
		if err := fullWorks(); err != nil {
			return Builtin, err.Error(), nil
		}
		return Full, "", nil
	}
	return "", "", fmt.Errorf("there is no sandbox %q", wanted)
}

// Describe says in one line what holds and all that is relaxed; usual are the limits that a box has if nobody says more.
func (b Box) Describe(usual Limits) string {
	words := []string{string(b.Tier)}
	if !b.Tier.Confines() {
		return words[0]
	}
	add := func(relaxed bool, format string, args ...any) {
		if relaxed {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	raised := func(limit, usual int64) bool { return usual != 0 && (limit == 0 || limit > usual) }
	add(b.Net, "network allowed")
	add(b.Multiprocessing && b.Tier == Builtin, "multiprocessing allowed")
	for _, p := range b.Read {
		add(true, "may read %s", p)
	}
	for _, p := range b.Write {
		add(true, "may write %s", p)
	}
	add(len(b.Env) > 0, "has %s", strings.Join(b.Env, " and "))
	add(raised(b.Limits.Memory, usual.Memory), "memory up to %s", size(b.Limits.Memory))
	add(raised(int64(b.Limits.Processes), int64(usual.Processes)), "up to %d processes", b.Limits.Processes)
	add(raised(b.Limits.File, usual.File), "files up to %s", size(b.Limits.File))
	add(raised(b.Limits.Folder, usual.Folder), "all files up to %s", size(b.Limits.Folder))
	return strings.Join(words, ", ")
}

// HidesProc reports whether processes see nothing of /proc but what is their own.
func (b Box) HidesProc() bool { return b.Tier == Builtin && !b.Multiprocessing }

// harmless are the variables that a process of a box keeps; a name that ends with "_" stands for all that begin so.
var harmless = []string{
	"PATH", "LANG", "LANGUAGE", "LC_", "TZ", "TERM", "COLUMNS", "LINES", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "LD_LIBRARY_PATH",
	"PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONWARNINGS", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE",
	"OMP_", "OPENBLAS_", "MKL_", "NUMEXPR_", "POLARS_MAX_THREADS", "ARROW_", "MALLOC_", "SOURCE_DATE_EPOCH",
	"DSSTAR_PYTHONPATH", "DSSTAR_KERNEL_WITHOUT",
}

// environment is that of a process of the box: nothing but harmless names and those of b.Env, and folders of its own.
func (b Box) environment(env, names []string, private string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return !slices.ContainsFunc(slices.Concat(harmless, b.Env, names), func(known string) bool {
			return name == known || strings.HasSuffix(known, "_") && strings.HasPrefix(name, known)
		})
	})
	home := private + "/home"
	return append(kept, "HOME="+home, "TMPDIR="+private+"/tmp", "USER=sandbox", "LOGNAME=sandbox",
		"IPYTHONDIR="+home+"/.ipython", "MPLCONFIGDIR="+home+"/.matplotlib", "XDG_CACHE_HOME="+home+"/.cache", "XDG_CONFIG_HOME="+home+"/.config",
		"XDG_DATA_HOME="+home+"/.local/share", "JUPYTER_RUNTIME_DIR="+home+"/.jupyter/runtime", "JUPYTER_CONFIG_DIR="+home+"/.jupyter",
		"JUPYTER_DATA_DIR="+home+"/.jupyter/data", "PYTHONDONTWRITEBYTECODE=1", "PYDEVD_DISABLE_FILE_VALIDATION=1")
}
