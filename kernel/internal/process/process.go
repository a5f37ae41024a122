// Package process starts the process of a kernel, watches it, and kills its process group.
package process

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stderrKept is how many bytes of standard error are kept.
const stderrKept = 8 << 10

// A Process is a kernel process and everything in its process group.
type Process struct {
	PID    int
	Exited chan struct{} // closed once the process has ended and been reaped
	State  string        // how it ended, in plain words; set before Exited is closed
	Killed bool          // Kill ended it; set before Exited is closed
	Stderr *Tail
	guard  bool          // the process is a sandbox's guard, which kills its descendants on SIGTERM
	report *os.File      // pipe to which only the guard writes why it killed the kernel; nil without one
	heard  chan struct{} // closed once it has written, or cannot any more; then reason is set
	reason string

	mu   sync.Mutex
	gone bool // the pid may be reused: no more signals
	told bool // Kill has been called before the end
}

// Start starts cmd in a session of its own and watches it until it has ended. The caller must Kill
// it and wait for Exited. The process ends when this program does. guard says that cmd is a
// sandbox's guard.
func Start(cmd *exec.Cmd, guard bool) (*Process, error) {
	// Ctrl-C at the terminal does not reach a process group of its own, and one signal reaches all of it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithParent(cmd.SysProcAttr, guard)
	p := &Process{Exited: make(chan struct{}), Stderr: &Tail{}, guard: guard}
	cmd.Stderr = p.Stderr
	// A grandchild that left the process group may hold stderr open for ever.
	cmd.WaitDelay = 200 * time.Millisecond
	var theirs *os.File
	if guard {
		var err error
		if p.report, theirs, err = os.Pipe(); err != nil {
			return nil, err
		}
		p.heard = make(chan struct{})
		go p.hear()
		cmd.ExtraFiles = []*os.File{theirs} // Session.Reports
	}
	started := make(chan error)
	go p.own(cmd, started)
	err := <-started
	_ = theirs.Close() // nothing was written to it; nil without a guard
	if err != nil {
		p.hearOut()
		return nil, err
	}
	return p, nil
}

// own starts cmd and waits for its end, on one locked OS thread: on Linux the process is killed
// when the thread that started it ends (Pdeathsig), and the Go runtime may end idle threads at any
// time.
func (p *Process) own(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.PID = cmd.Process.Pid
	started <- nil
	reap(cmd, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		killGroup(p.PID)
		p.gone = true // told does not change any more: from here on another signal ended it
	})
	p.State = describe(cmd.ProcessState)
	p.Killed = p.told && killed(cmd.ProcessState, p.guard)
	p.hearOut()
	close(p.Exited)
}

// hear waits for the guard's line.
func (p *Process) hear() {
	defer close(p.heard)
	line, _ := bufio.NewReader(io.LimitReader(p.report, 1<<10)).ReadString('\n') // as much as there is
	p.reason = strings.TrimSpace(line)
}

// hearOut ends hear, and closes the pipe.
func (p *Process) hearOut() {
	if p.report == nil {
		return
	}
	// a guard whose parent was killed may still hold the other end open
	_ = p.report.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	<-p.heard
	_ = p.report.Close() // nothing was written to it
}

// Reason says why the guard kills the kernel, in its words; "" if it has not said so.
func (p *Process) Reason() string {
	select {
	case <-p.heard: // never without a guard
		return p.reason
	default:
		return ""
	}
}

// Interrupt sends SIGINT to the process group, as Ctrl-C would.
func (p *Process) Interrupt() { p.signal(interruptGroup) }

// Kill kills the process group, or tells the guard to. It does not wait.
func (p *Process) Kill() {
	end := killGroup
	if p.guard {
		end = endProcess
	}
	p.signal(func(pid int) {
		p.told = true
		end(pid)
	})
}

// KillAll kills the process group, a guard included.
func (p *Process) KillAll() { p.signal(killGroup) }

// signal calls send with the pid, unless that may be another process's by now.
func (p *Process) signal(send func(pid int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		send(p.PID)
	}
}

// Alive reports whether the process is still running.
func (p *Process) Alive() bool {
	select {
	case <-p.Exited:
		return false
	default:
		return true
	}
}

// Death says in one line how the process ended: in the guard's words if the guard killed it,
// otherwise with the last line of stderr, to which cells can write anything. Valid after Exited.
func (p *Process) Death() string {
	if reason := p.Reason(); reason != "" {
		return reason
	}
	text := strings.TrimSpace(p.Stderr.String())
	if text == "" {
		return p.State
	}
	last := []rune(text[strings.LastIndexByte(text, '\n')+1:])
	return p.State + " (stderr: " + string(last[:min(len(last), 200)]) + ")"
}

// A Tail keeps the end of what is written to it.
type Tail struct {
	mu   sync.Mutex
	buf  []byte
	Most int // bytes to keep; 0 for stderrKept
}

func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if most := cmp.Or(t.Most, stderrKept); len(t.buf) > 2*most { // not at every write
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-most:]...)
	}
	return len(b), nil
}

// Reset drops what was written so far.
func (t *Tail) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = nil
}

// String returns what is kept, without a partial character at its start.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.buf[max(0, len(t.buf)-cmp.Or(t.Most, stderrKept)):]
	return string(bytes.ToValidUTF8(last, nil))
}

// These fail only if the group is gone already.
func interruptGroup(pid int) { _ = unix.Kill(-pid, unix.SIGINT) }
func killGroup(pid int)      { _ = unix.Kill(-pid, unix.SIGKILL) }
func endProcess(pid int)     { _ = unix.Kill(pid, unix.SIGTERM) }

// describe says how a process ended.
func describe(state *os.ProcessState) string {
	if state == nil {
		return "it could not be waited for"
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		sig := status.Signal()
		if unix.SignalName(sig) == "" { // a real-time signal
			return fmt.Sprintf("killed by signal %d", int(sig))
		}
		return fmt.Sprintf("killed by signal %d (%s)", int(sig), unix.SignalName(sig))
	}
	return state.String()
}

// killed reports whether a process ended as Kill ends it, and not by itself just before.
func killed(state *os.ProcessState, guard bool) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return false
	case guard:
		return status.ExitStatus() == 128+int(unix.SIGTERM) || status.Signal() == unix.SIGTERM
	default:
		return status.Signal() == unix.SIGKILL
	}
}

// Exists reports whether there is a process with this id, whoever owns it.
func Exists(pid int) bool { return pid > 0 && unix.Kill(pid, 0) != unix.ESRCH }
