package kernel

import (
	"bytes"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// stderrKept is how much of the kernel's own standard error is remembered.
const stderrKept = 8 << 10

// A process is a kernel process and everything in its process group.
type process struct {
	pid    int
	exited chan struct{} // closed once the process has ended and been reaped
	state  string        // how it ended, in words; set before exited is closed
	stderr *tail

	mu   sync.Mutex
	gone bool // the pid may be anybody's from now on: no more signals
}

// startProcess starts cmd in a session of its own and looks after it until it
// has ended. The caller must end it with kill and wait for exited.
func startProcess(cmd *exec.Cmd) (*process, error) {
	if err := isolate(cmd); err != nil {
		return nil, err
	}
	p := &process{exited: make(chan struct{}), stderr: &tail{}}
	cmd.Stderr = p.stderr
	// A grandchild that left the process group may hold stderr open for ever.
	cmd.WaitDelay = 200 * time.Millisecond
	started := make(chan error)
	go p.own(cmd, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// own starts cmd and waits for its end. Both happen on one locked OS thread:
// on Linux the kernel process is killed when the thread that started it ends
// (Pdeathsig), and the runtime ends idle threads as it likes.
func (p *process) own(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil
	reap(cmd, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		killGroup(p.pid)
		p.gone = true
	})
	p.state = describe(cmd.ProcessState)
	close(p.exited)
}

// interrupt sends an interrupt to the process group, as Ctrl-C would.
func (p *process) interrupt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		interruptGroup(p.pid)
	}
}

// kill ends the process group at once. It does not wait.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		killGroup(p.pid)
	}
}

// alive reports whether the process has not ended yet.
func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// death says in one line how the process ended, with the last line that it
// wrote to stderr, if any. Only valid after exited.
func (p *process) death() string {
	text := strings.TrimSpace(p.stderr.String())
	if text == "" {
		return p.state
	}
	last := []rune(text[strings.LastIndexByte(text, '\n')+1:])
	return p.state + " (stderr: " + string(last[:min(len(last), 200)]) + ")"
}

// A tail is a writer that remembers the end of what was written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if extra := len(t.buf) - stderrKept; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(b), nil
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = nil
}

// String returns what is remembered, without a cut character at its start.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.buf, nil))
}
