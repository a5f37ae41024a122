package process

import (
	"bufio"
	"os/exec"
	"testing"
)

// A process that ends by itself while it is being killed says how it ended.
func TestKilled(t *testing.T) {
	for _, c := range []struct {
		name, script, state string
		guard, killed       bool
	}{
		{"kernel", "echo; sleep 60", "killed by signal 9 (SIGKILL)", false, true},
		{"guard", "echo; sleep 60", "killed by signal 15 (SIGTERM)", true, true},
		{"guard that reports", "trap 'exit 143' TERM; echo; while :; do sleep .05; done",
			"exit status 143", true, true},
		{"guard of a program that has ended", "trap : TERM; echo; sleep .5; exit 3",
			"exit status 3", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.script)
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			p, err := Start(cmd, c.guard)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
				t.Error(err)
			}
			p.Kill()
			<-p.Exited
			if p.State != c.state || p.Killed != c.killed {
				t.Errorf("%s, killed %v", p.State, p.Killed)
			}
		})
	}
}
