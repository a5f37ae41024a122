//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lookEvery    = 250 * time.Millisecond
	measureEvery = time.Second // for folders, which may have many files, and for locks
)

// A watch is a stage that its guard is watching.
type watch struct {
	stage
	before tally   // of Write, at the start
	shm    *shared // files created in the machine's /dev/shm; nil if it is not writable
}

// guard starts the program, enforces its limits, kills all its descendants once it has ended, and
// exits with its status. It returns only on an error.
func (st stage) guard(file string) error {
	runtime.LockOSThread() // the program's Pdeathsig is sent when the thread that started it ends
	reports := st.report() // before any process is started that could inherit it
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGTERM, unix.SIGHUP)
	signal.Ignore(unix.SIGINT) // SIGINT is for the program
	measured := make(chan tally, 1)
	go func() { measured <- st.written() }() // before the program writes
	w := watch{stage: st}
	select {
	case w.before = <-measured:
	case <-signals:
		os.Exit(128 + int(unix.SIGTERM))
	}
	if st.Box.Tier == Builtin && st.Box.Multiprocessing {
		w.shm = newShared()
	}
	ended := make(chan unix.WaitStatus, 1)
	if err := st.start(file, ended); err != nil {
		return err
	}
	passed := make(chan string, 3)
	go report(lookEvery, passed, w.processesExceed)
	// separately, as these may take long and must not delay the other
	go report(measureEvery, passed, w.foldersExceed)
	go report(measureEvery, passed, locksExceed)
	select {
	case status := <-ended:
		w.end()
		endLike(status)
	case <-signals:
		w.end()
		os.Exit(128 + int(unix.SIGTERM))
	case why := <-passed:
		fmt.Fprintln(reports, Stopped+why) // first, as freeing much memory takes long
		w.end()
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
		cmd = inNamespaces(self, file, st.Box.Net)
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", os.Environ(), os.Stdout, os.Stderr
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
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

// end kills all processes and removes their files in /dev/shm.
func (w watch) end() {
	if w.shm != nil {
		w.shm.note(descendants(os.Getpid()))
		defer w.shm.remove()
	}
	killAll()
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
func (w watch) processesExceed() string {
	l := w.Box.Limits
	all := descendants(os.Getpid())
	used := usageOf(all)
	// Linux enforces the limit itself, except for root
	if l.Processes > 0 && used.threads > l.Processes+64 {
		return fmt.Sprintf("%d processes and threads, limit %d; raise it with --max-processes",
			used.threads, l.Processes)
	}
	if l.Memory == 0 {
		return ""
	}
	if hidden := w.hidden(all); hidden != 0 {
		time.Sleep(lookEvery) // it may only be starting
		if slices.Contains(descendants(os.Getpid()), hidden) && hides(hidden) {
			return "a process cannot be looked into, nor what it uses: its program is one that nobody may " +
				"read"
		}
	}
	kept := heldBy(all)
	if kept.mappings > mostMappings {
		return fmt.Sprintf("over %d memory mappings", mostMappings)
	}
	if kept.unknown != "" && !w.Box.GPU { // its drivers have descriptors of their own
		return fmt.Sprintf("a process holds %q, whose memory cannot be counted", kept.unknown)
	}
	files, own := kept.memory+w.inMemory(all), used.tables+w.queued(all, kept.sockets)+
		int64(kept.mappings)*sizeOfMapping
	if used.resident+files+own <= l.Memory {
		return ""
	}
	sum, shared := own, int64(0)
	if own <= l.Memory { // otherwise the exact number is not needed; large tables take long
		sum, shared = proportional(all)
		sum += own
	}
	if sum += max(0, files-shared); sum > l.Memory { // sum already includes mapped parts of the files
		return fmt.Sprintf("%s of memory used, limit %s; read the data in parts, or raise it with --max-memory", limitText(sum),
			limitText(l.Memory))
	}
	return ""
}

// foldersExceed is processesExceed for disk usage.
func (w watch) foldersExceed() string {
	limit := w.Box.Limits.Folder
	if limit == 0 {
		return ""
	}
	now := w.written()
	if now.hidesMore(w.before) {
		time.Sleep(lookEvery) // it may be temporary
		if now = w.written(); now.hidesMore(w.before) {
			return "a folder that it has made cannot be looked into, or is too deep, nor what it has " +
				"written there"
		}
	}
	if sum := now.bytes - w.before.bytes + heldBy(descendants(os.Getpid())).disk; sum > limit {
		return fmt.Sprintf("%s of files written, limit %s; raise it with --max-folder", limitText(sum),
			limitText(limit))
	}
	return ""
}

// locksExceed is processesExceed for locks on parts of files.
func locksExceed() string {
	if locksOf(descendants(os.Getpid())) <= mostLocks {
		return ""
	}
	return fmt.Sprintf("over %d locks of parts of files", mostLocks)
}
