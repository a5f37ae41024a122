//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// exitRefused is the exit code if the sandbox could not be set up and nothing was run.
const exitRefused = 125

// Main runs the commands by which this package starts processes of its own. If args, which must be
// os.Args, is one of them, Main does not return.
func Main(args []string) {
	commands := map[string]func(st stage, file string) error{guardCommand: stage.guard,
		namespacesCommand: stage.makeView, initCommand: stage.beProcess1,
		enterCommand: func(st stage, _ string) error { return st.enter() }}
	if len(args) != 3 || commands[args[1]] == nil {
		return
	}
	var st stage
	content, err := os.ReadFile(args[2])
	if err == nil {
		err = json.Unmarshal(content, &st)
	}
	if err == nil {
		err = commands[args[1]](st, args[2])
	}
	fmt.Fprintln(os.Stderr, "dsstar sandbox: it could not be set up, and nothing was run:", err)
	os.Exit(exitRefused)
}

// enter gives up all rights except those of the stage, and executes the program.
func (st stage) enter() error {
	runtime.LockOSThread() // rights belong to the thread, and execve turns the thread into the process
	if err := os.Chdir(st.Dir); err != nil {
		return err
	}
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close_range: %w", err)
	}
	// The OOM killer chooses these processes first; raising the score is always allowed.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	if err := st.limit(); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	if err := st.confineFiles(); err != nil {
		return err
	}
	if err := st.confineCalls(); err != nil {
		return err
	}
	return execute(st.Argv, append(named(os.Environ(), st.Box.Secrets), st.Env...))
}

// execute executes a program in place of the process, as a child that is killed with its parent: execve
// in another thread than the first forgets that.
func execute(argv, env []string) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("prctl: %w", err)
	}
	return fmt.Errorf("run %s: %w", argv[0], unix.Exec(argv[0], argv, env))
}

const (
	openFiles = 4096
	timers    = 1024 // and pending signals; all programs of a user share a limited number
)

// limit sets the resource limits of each process. RLIMIT_AS is not among them: OpenBLAS spins when
// it reaches it.
func (st stage) limit() error {
	l := st.Box.Limits
	processes := uint64(l.Processes)
	if processes != 0 && st.Box.Tier != Full {
		processes += threadsOf(os.Getuid()) // counted per user; in a user namespace, per namespace
	}
	for _, r := range []struct {
		name  string
		which int
		value uint64
	}{
		{"data", unix.RLIMIT_DATA, uint64(l.Memory)}, {"nproc", unix.RLIMIT_NPROC, processes},
		{"fsize", unix.RLIMIT_FSIZE, uint64(l.File)},
		{"nofile", unix.RLIMIT_NOFILE, openFiles}, {"sigpending", unix.RLIMIT_SIGPENDING, timers},
	} {
		if r.value == 0 {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(r.which, &now); err != nil {
			return fmt.Errorf("limit of %s: %w", r.name, err)
		}
		v := min(r.value, now.Max)
		if err := unix.Setrlimit(r.which, &unix.Rlimit{Cur: v, Max: v}); err != nil {
			return fmt.Errorf("limit of %s: %w", r.name, err)
		}
	}
	// Not 0: Linux ignores it if core_pattern names a program, which would run outside (core(5)).
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1, Max: 1})
}

// dropCapabilities drops all capabilities permanently: otherwise root regains them with execve, and
// anybody by a setuid program.
func dropCapabilities() error {
	for c := uintptr(0); c < 64; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			break // beyond the last capability
		} else if err != nil && !errors.Is(err, unix.EPERM) { // without permission there are none to drop
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	const noRoot, noRootLocked = 1, 2
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked, 0, 0, 0); err != nil &&
		!errors.Is(err, unix.EPERM) {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
