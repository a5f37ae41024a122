//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lookEvery    = 250 * time.Millisecond
	measureEvery = time.Second // for folders, which may have many files
)

// guard starts the program, enforces its limits, kills all its descendants once it has ended, and
// exits with its status. If the guard itself is killed, the program is, too, and in full all that
// it has started. guard returns only on an error.
func (st stage) guard(file string) error {
	runtime.LockOSThread() // Pdeathsig of a child is sent when the thread that started it ends
	reports := os.Stderr
	if st.Reports { // the program does not inherit it
		const descriptor = 3
		unix.CloseOnExec(descriptor)
		reports = os.NewFile(descriptor, "report")
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGTERM, unix.SIGHUP)
	signal.Ignore(unix.SIGINT) // it is for the program
	// orphans of its descendants become its children
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	before, _ := st.written() // of folders that are too deep, as much as is counted
	ended := make(chan unix.WaitStatus, 1)
	if err := st.start(file, ended); err != nil {
		return err
	}
	passed := make(chan string, 2)
	go report(lookEvery, passed, st.processesExceed)
	// separately, as it may take long and must not delay the other
	go report(measureEvery, passed, func() string { return st.foldersExceed(before) })
	select {
	case status := <-ended:
		killAll()
		endLike(status)
	case <-signals:
		killAll()
		os.Exit(128 + int(unix.SIGTERM))
	case why := <-passed:
		fmt.Fprintln(reports, Stopped+why) // first, as freeing much memory takes long
		killAll()
		os.Exit(128 + int(unix.SIGKILL))
	}
	panic("unreachable")
}

// start starts the program and sends its exit status to ended.
func (st stage) start(file string, ended chan<- unix.WaitStatus) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, enterCommand, file)
	if st.Box.Tier == Full {
		cmd = inNamespaces(context.Background(), self, file, st.Box.Net)
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", os.Environ(), os.Stdout, os.Stderr
	cmd.SysProcAttr = cmp.Or(cmd.SysProcAttr, &syscall.SysProcAttr{})
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Pdeathsig = true, unix.SIGKILL
	if err := st.startAnswered(cmd); err != nil {
		return err
	}
	go reap(cmd.Process.Pid, ended)
	return nil
}

// report calls why at intervals until it returns the limit that is exceeded, and sends that. Where
// looking takes long, since the machine has many processes, the intervals are up to four times as
// long: an idle session must not cost more than a few per cent of a core.
func report(every time.Duration, passed chan<- string, why func() string) {
	for wait := every; ; {
		time.Sleep(wait)
		start := time.Now()
		if why := why(); why != "" {
			passed <- why
			return
		}
		wait = min(max(every, 40*time.Since(start)), 4*every)
	}
}

// reap waits for all children and sends the status of the program to ended.
func reap(program int, ended chan<- unix.WaitStatus) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if pid == program {
			ended <- status
		}
		if err != nil {
			return // there are no children
		}
	}
}

// endLike ends this process with the status of another.
func endLike(status unix.WaitStatus) {
	if status.Signaled() {
		s := status.Signal()
		signal.Reset(s)
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
		_ = unix.Kill(os.Getpid(), s)
		time.Sleep(time.Second) // until it arrives
	}
	os.Exit(status.ExitStatus())
}

// processesExceed returns the limit that the processes exceed, "" if none.
func (st stage) processesExceed() string {
	l := st.Box.Limits
	all := descendants(os.Getpid())
	used := usageOf(all, false)
	// Linux enforces the limit itself, except for root
	if l.Processes > 0 && used.threads > l.Processes+64 {
		return fmt.Sprintf("%d processes and threads, limit %d; raise it with --max-processes",
			used.threads, l.Processes)
	}
	sum := used.resident + used.tables
	if l.Memory > 0 && sum > l.Memory && used.tables < l.Memory { // else the exact number is not needed
		sum = used.tables + usageOf(all, true).resident // frozen copies share most of their memory
	}
	if l.Memory > 0 && sum > l.Memory {
		return fmt.Sprintf("%s of memory used, limit %s; read the data in parts, or raise it with --max-memory", limitText(sum),
			limitText(l.Memory))
	}
	return ""
}

// foldersExceed is processesExceed for disk usage; before is that at the start, in bytes.
func (st stage) foldersExceed(before int64) string {
	limit := st.Box.Limits.Folder
	if limit == 0 {
		return ""
	}
	now, err := st.written()
	if err != nil {
		return err.Error()
	}
	if now-before > limit {
		return fmt.Sprintf("%s of files written, limit %s; raise it with --max-folder", limitText(now-before),
			limitText(limit))
	}
	return ""
}

const (
	// bytes that a file or folder counts at least, as inodes are limited too
	leastOfFile   = 4096
	deepestFolder = 500 // levels; reaching one takes as many steps
)

var errTooDeep = errors.New("folders are nested too deeply")

// written returns how many bytes the writable folders take on disk. It follows no links, and does not
// count what this user cannot read.
func (st stage) written() (sum int64, err error) {
	for _, dir := range st.Write {
		root, opened := os.OpenRoot(dir)
		if opened != nil {
			continue // it has gone
		}
		err = errors.Join(err, fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if strings.Count(name, "/") > deepestFolder {
				return errTooDeep
			}
			if err != nil {
				return nil // it is not readable, or has gone
			}
			if info, err := d.Info(); err == nil {
				sum += max(info.Sys().(*syscall.Stat_t).Blocks*512, leastOfFile)
			}
			return nil
		}))
		_ = root.Close() // nothing was written through it
	}
	return sum, err
}
