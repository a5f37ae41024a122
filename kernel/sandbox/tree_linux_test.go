//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// family starts a shell with a child and returns the shell. Both end with the test.
func family(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "sleep 600 & echo; wait")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range descendants(cmd.Process.Pid) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		_, _ = cmd.Process.Kill(), cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // the child has started
		t.Fatal(err)
	}
	return cmd
}

// The ID of an ended process may have been reused.
func TestSignalAllSparesOthers(t *testing.T) {
	ours, other := family(t), family(t)
	signalAll(ours.Process.Pid, append(descendants(ours.Process.Pid), other.Process.Pid), unix.SIGKILL)
	_ = ours.Wait() // the shell ends after its child
	if err := other.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // it is in the state; of two signals Linux delivers SIGKILL
	if ws := other.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != unix.SIGTERM {
		t.Errorf("a process that is no descendant was ended by %v", ws.Signal())
	}
}
