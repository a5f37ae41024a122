package process

import (
	"bufio"
	"os/exec"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
)

// A process that ends by itself while it is being killed says how it ended. What a cell writes to
// standard error is never taken for the guard's report.
func TestKilled(t *testing.T) {
	for _, c := range []struct {
		name, script, death string
		guard, killed       bool
	}{
		{"kernel", "echo; sleep 60", "killed by signal 9 (SIGKILL)", false, true},
		{"guard", "echo; sleep 60", "killed by signal 15 (SIGTERM)", true, true},
		{"guard that reports", "trap 'exit 143' TERM; echo; while :; do sleep .05; done",
			"exit status 143", true, true},
		{"guard of a program that has ended", "trap : TERM; echo; sleep .5; exit 3",
			"exit status 3", true, false},
		{"guard that writes to stderr", "trap : TERM; echo; sleep .5; echo out of memory >&2; exit 1",
			"exit status 1 (stderr: out of memory)", true, false},
		{"guard that writes to its pipe", "trap : TERM; echo; sleep .5; echo out of memory >&3; exit 1",
			"out of memory", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.script)
			stdout, err := cmd.StdoutPipe()
			pyenvtest.OK(t, err)
			p, err := Start(cmd, c.guard)
			pyenvtest.OK(t, err)
			_, err = bufio.NewReader(stdout).ReadString('\n')
			pyenvtest.Check(t, err)
			p.Kill()
			<-p.Exited
			if p.Death() != c.death || p.Killed != c.killed {
				t.Errorf("%s, killed %v", p.Death(), p.Killed)
			}
		})
	}
}
