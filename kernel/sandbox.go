package kernel

import (
	"errors"
	"os/exec"
	"strings"

	"dsstar/kernel/internal/guard"
	"dsstar/notebook"
)

// A Sandbox confines the process of a kernel. The type Box of package sandbox is one, for Linux. A
// Sandbox that is also an [Advisor] explains what it causes.
type Sandbox interface {
	// Confines reports whether it confines anything. If not, it is as good as none.
	Confines() bool
	// Command returns a command that runs cmd confined, under a guard: a process that on SIGTERM kills
	// everything that cmd has started, within 4 seconds, and that does the same when cmd ends.
	Command(cmd *exec.Cmd, s Confined) (*exec.Cmd, error)
	// Reach reports over which sockets this program can reach a confined kernel.
	Reach() (tcp, unix bool)
	// Seal returns Python code that an IPython kernel runs once, when its sockets are bound and before
	// any cell; "" for none. If it raises an exception, the kernel is not used.
	Seal() string
}

// Confined is what the command of a [Sandbox] needs; type Session of package sandbox lists its
// fields.
type Confined = guard.Session

// An Advisor explains what a sandbox may have caused. Its words become part of an Execution.
type Advisor interface {
	// Hint returns how to avoid an exception, "" if the sandbox did not cause it. name, value and trace
	// are the exception as Python shows it, dir is the first working folder of the kernel, own are the
	// folders that it may write to.
	Hint(name, value, trace, dir string, own ...string) string
	// Death returns how the kernel ended, with what may have been the cause.
	Death(how string) string
}

// ErrConfined is wrapped by the error of [Start] if a kernel in a sandbox did not become ready.
var ErrConfined = errors.New("the sandbox may have kept it from files that it needs")

// confined reports whether our process is in a sandbox.
func (o Options) confined() bool { return o.Sandbox != nil && o.Sandbox.Confines() }

// reach reports over which sockets our process can be reached.
func (o Options) reach() (tcp, unix bool) {
	if !o.confined() {
		return true, true
	}
	return o.Sandbox.Reach()
}

// hint returns advice about an exception that the sandbox may have caused; "" for none.
func (s *session) hint(o notebook.Output) string {
	if a, ok := s.box.(Advisor); ok {
		return a.Hint(o.EName, o.EValue, strings.Join(o.Traceback, " "), s.dir, s.own...)
	}
	return ""
}

// death returns the reason of an Execution whose kernel ended: how, and what the sandbox knows.
func (s *session) death(how string) string {
	if a, ok := s.box.(Advisor); ok {
		how = a.Death(how)
	}
	return died + how
}
