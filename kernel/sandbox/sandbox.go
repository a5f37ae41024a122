// Package sandbox confines processes that run code which a model wrote and nobody has read.
//
// There are two tiers. Builtin needs nothing but Linux 5.13: Landlock for files
// and signals, a seccomp filter for the network and the rest of the kernel's
// surface, no capabilities, resource limits, and a guard that watches the
// process tree and ends all of it. Full is the same inside namespaces, which this
// program makes, or bubblewrap. Whatever cannot be set up is an error, and then nothing runs.
//
// A process of a Box is a chain of three: the guard, which is this program once
// more; in the full tier process 1 of the namespaces; and the program, which this program becomes
// once it has given up its rights. A program that uses this package calls [Main]
// before anything else.
package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Tier is how much holds.
type Tier string

const (
	Off          Tier = "off"          // nothing
	External     Tier = "external"     // whatever dsstar itself runs in
	Builtin      Tier = "builtin"      // Landlock, seccomp, no capabilities, limits, the guard
	Full         Tier = "full"         // the same, inside namespaces
	Experimental Tier = "experimental" // on macOS: a profile for sandbox-exec, without limits and a guard
)

// Confines reports whether processes of the tier are confined by this package.
func (t Tier) Confines() bool { return t.Guarded() || t == Experimental }

// Guarded reports whether a command of the tier is a guard, which ends all that it has started.
func (t Tier) Guarded() bool { return t == Builtin || t == Full }

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
	Own             []string // the caller's own folders: they stay as they are where they are in one of Write, and are not read where they are in what is; but for what Read, Write and the command name in them
	Env             []string // names of variables that stay in the environment, beside the harmless ones
	Net             bool     // the network may be used
	GPU             bool     // graphics processors may be used, by the drivers of this machine
	Multiprocessing bool     // in the builtin tier: /dev/shm can be written, and all of /proc be read
	Bubblewrap      bool     // in the full tier: bubblewrap is taken, even where this program can make namespaces by itself
	Limits          Limits
}

// A Session is what the processes of one command share.
type Session struct {
	Private string   // folder of ours, for sockets, home and temporary files; it can be written
	Write   []string // folders that can be written; missing ones are made
	Env     []string // names of variables that stay in the environment, beside those of the box
	Remove  []string // files and folders that the guard removes when it ends
	Reports bool     // the guard writes why it has ended the processes to its descriptor 3, not to standard error
	Listens bool     // in the builtin tier: the program may give names to sockets
	Facts   bool     // where /proc is hidden, all processes can read there about those of the session, not the first one alone
}

// Stopped begins the line in which a guard says why it has ended the processes. On standard error
// anybody could have written it: see Session.Reports.
const Stopped = "dsstar stopped the code: "

// EndsWithin is how long a guard takes at most to end all processes.
const EndsWithin = 4 * time.Second

// ErrKept is in the error about a program that has ended in a box before it was ready.
var ErrKept = errors.New("the sandbox may have kept it from files that it needs")

// ErrNone is in the error of Choose where no tier works.
var ErrNone = errors.New("no sandbox works here")

// A Cause is why a tier does not work on a machine.
type Cause string

const (
	NoLinux           Cause = "no Linux"           // nor any other system that has one
	NoLandlock        Cause = "no Landlock"        // Linux is too old, or started without it
	NoSeccomp         Cause = "no seccomp"         // Linux was built without it
	NoBubblewrap      Cause = "no bubblewrap"      // it is not installed
	AppArmor          Cause = "AppArmor"           // makes namespaces only for programs with a profile
	NamespacesOff     Cause = "namespaces off"     // by a setting (sysctl)
	NamespacesRefused Cause = "namespaces refused" // by whatever dsstar runs in, or who knows
)

// A MissingError is why a tier does not work here.
type MissingError struct {
	Tier  Tier
	Cause Cause
	Err   error
}

func (e *MissingError) Error() string { return e.Err.Error() }
func (e *MissingError) Unwrap() error { return e.Err }

// Choose returns the tier for what the user wants: "auto" or the name of one.
// why says what stands in the way of a better one, "" if nothing does. The error has
// [ErrNone] and a [MissingError].
func Choose(wanted string) (tier Tier, why string, err error) {
	switch wanted {
	case string(Off), string(External):
		return Tier(wanted), "", nil
	case string(Full):
		if err = builtinWorks(); err == nil { // which it is made of
			err = fullWorks()
		}
		if err != nil {
			return "", "", fmt.Errorf("%w: %w", ErrNone, err)
		}
		return Full, "", nil
	case string(Experimental):
		if err = experimentalWorks(); err != nil {
			return "", "", fmt.Errorf("%w: %w", ErrNone, err)
		}
		return Experimental, untried, nil
	case string(Builtin), "auto":
		err = builtinWorks()
		if err != nil && wanted == "auto" && experimentalWorks() == nil {
			return Experimental, untried, nil
		}
		if err != nil {
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

// untried is what a user of the experimental tier should know.
const untried = "its profile for sandbox-exec was never tried on a Mac, and it sets no limits"

// Tiers are those that work here, the best last.
func Tiers() (tiers []Tier) {
	for _, t := range []Tier{Experimental, Builtin, Full} {
		if _, _, err := Choose(string(t)); err == nil {
			tiers = append(tiers, t)
		}
	}
	return tiers
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
	add(b.GPU, "graphics processors allowed")
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

// scopes is the version of Landlock's interface from which on it keeps signals, and sockets without a path, in the sandbox.
const scopes = 6

// UnixSockets reports whether processes can make Unix sockets and connect them. With the network allowed a filter cannot
// tell where to, and then there are none where Landlock does not hold it, or other programs' sockets are in sight.
func (b Box) UnixSockets() bool { return b.unixSockets(Landlock()) }

func (b Box) unixSockets(abi int) bool {
	return !b.Net || !b.Tier.Confines() || b.Tier == Full && abi >= scopes
}
