package kernel

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"dsstar/kernel/sandbox"
)

// stderrKept is how much of the kernel's own standard error is remembered.
const stderrKept = 8 << 10

// A process is a kernel process and everything in its process group.
type process struct {
	pid    int
	exited chan struct{} // closed once the process has ended and been reaped
	state  string        // how it ended, in words; set before exited is closed
	stderr *tail
	guard  bool     // of a sandbox: it ends all that it has started when it is told to
	report *os.File // from the guard alone, who writes there why it has ended the kernel; nil without one
	reason string   // what it wrote; set before exited is closed

	mu   sync.Mutex
	gone bool // the pid may be anybody's from now on: no more signals
	left bool // it is not ours any more
}

// startProcess starts cmd in a session of its own and looks after it until it
// has ended. The caller must end it with kill and wait for exited. With a file
// for its standard error, which is taken over, it need not end with this
// program, and may be left.
func startProcess(cmd *exec.Cmd, stderr *os.File, guard bool) (*process, error) {
	if err := isolate(cmd, stderr == nil, guard); err != nil {
		return nil, err
	}
	p := &process{exited: make(chan struct{}), stderr: &tail{file: stderr}, guard: guard}
	if cmd.Stderr = p.stderr; stderr != nil {
		cmd.Stderr = stderr
	}
	// A grandchild that left the process group may hold stderr open for ever.
	cmd.WaitDelay = 200 * time.Millisecond
	var theirs *os.File
	if guard {
		var err error
		if p.report, theirs, err = os.Pipe(); err != nil {
			p.stderr.close()
			return nil, err
		}
		cmd.ExtraFiles = []*os.File{theirs} // Session.Reports
	}
	started := make(chan error)
	go p.own(cmd, started)
	err := <-started
	_ = theirs.Close() // nothing was written; nil without a guard
	if err != nil {
		p.stderr.close()
		_ = p.report.Close() // likewise
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
		if !p.left {
			killGroup(p.pid)
		}
		p.gone = true
	})
	p.state = describe(cmd.ProcessState)
	if p.report != nil {
		p.reason = readReport(p.report)
	}
	close(p.exited)
}

// readReport returns the guard's line, if it has written one, and closes the pipe.
func readReport(r *os.File) string {
	defer r.Close()
	_ = r.SetReadDeadline(time.Now().Add(200 * time.Millisecond)) // a guard whose parent was killed may still hold it
	line, _ := io.ReadAll(io.LimitReader(r, 1<<10))               // what there is
	return strings.TrimSpace(string(line))
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
	switch {
	case p.gone:
	case p.guard:
		endProcess(p.pid)
	default:
		killGroup(p.pid)
	}
}

// killAll kills the process group, whatever the process is.
func (p *process) killAll() {
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

// death says in one line how the process ended: in the guard's words, if it has ended the process,
// or else with the last line of stderr, where cells can write anything. Only valid after exited.
func (p *process) death() string {
	if strings.HasPrefix(p.reason, sandbox.Stopped) {
		return p.reason
	}
	text := strings.TrimSpace(p.stderr.String())
	if text == "" {
		return p.state
	}
	last := []rune(text[strings.LastIndexByte(text, '\n')+1:])
	return p.state + " (stderr: " + string(last[:min(len(last), 200)]) + ")"
}

// leave leaves the process to itself.
func (p *process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = true
}

// A tail is a writer that remembers the end of what was written to it, or to a
// file by others.
type tail struct {
	mu   sync.Mutex
	buf  []byte
	most int      // bytes that are remembered; 0 for stderrKept
	file *os.File // nil: none
	from int64    // where in the file it begins
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if most := cmp.Or(t.most, stderrKept); len(t.buf) > 2*most { // not at every write
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-most:]...)
	}
	return len(b), nil
}

// close closes the file, if there is one; there is nothing to remember then.
func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		_ = t.file.Close() // of others' words
	}
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = nil
	if t.file != nil {
		t.from, _ = t.file.Seek(0, io.SeekEnd) // of a file of ours
	}
}

// String returns what is remembered, without a cut character at its start.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		end, _ := t.file.Seek(0, io.SeekEnd)
		from := max(t.from, end-stderrKept)
		t.buf = make([]byte, max(0, end-from))
		n, _ := t.file.ReadAt(t.buf, from) // what can be read
		t.buf = t.buf[:n]
	}
	last := t.buf[max(0, len(t.buf)-cmp.Or(t.most, stderrKept)):]
	return string(bytes.ToValidUTF8(last, nil))
}
