package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"dsstar/kernel/sandbox"
)

// withABI makes a command of a box use only the given version of Landlock's interface.
func withABI(t *testing.T, cmd *exec.Cmd, abi int) {
	t.Helper()
	changeStage(t, cmd, func(st map[string]any) { st["ABI"] = abi })
}

// withSocket makes a command of a box mask one more socket.
func withSocket(t *testing.T, cmd *exec.Cmd, path string) {
	t.Helper()
	changeStage(t, cmd, func(st map[string]any) {
		sockets, _ := st["Sockets"].([]any) // null if there are none
		st["Sockets"] = append(sockets, path)
	})
}

// changeStage changes the stage of a command.
func changeStage(t *testing.T, cmd *exec.Cmd, change func(st map[string]any)) {
	t.Helper()
	file := cmd.Args[2]
	var st map[string]any
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, &st)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(st)
	if content, err = json.Marshal(st); err == nil {
		err = os.WriteFile(file, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOlderLandlock makes the attempts in builtin with each version of Landlock that lacks
// something: no more of them succeed. In full it makes those that only Landlock prevents, with the
// network allowed.
func TestOlderLandlock(t *testing.T) {
	t.Parallel()
	v := newVictims(t)
	for _, box := range boxes(t, v.data) {
		if box.Tier == sandbox.Builtin {
			for _, abi := range []int{1, 3, 4, 5} {
				v.attackIn(t, box, abi)
			}
		} else {
			box.Net = true
			v.attackIn(t, box, 5, "n09_unix_stream", "n12_unix_abstract", "n13_unix_stream_in_data",
				"n16_unix_abstract_datagram_of_pair")
		}
	}
	v.unharmed(t)
}

// signals tries which signals a process can send, to its own processes but not to others, with
// every version of Landlock.
const signals = `import ctypes, fcntl, os, signal, socket, subprocess, sys, threading, time
guard, tasks = os.getppid(), []
try: tasks = [int(t) for t in os.listdir(f"/proc/{os.getppid()}/task")]
except OSError: pass
def refused(f, *a):
    try: f(*a)
    except (PermissionError, ProcessLookupError): return # or there is no such group
    print("not refused:", f.__name__, *a)
libc = ctypes.CDLL(None, use_errno=True)
def call(n, *a):
    if libc.syscall(ctypes.c_long(n), *map(ctypes.c_long, a)) < 0:
        raise OSError(ctypes.get_errno(), "")
for pid in [guard, OUTSIDE] + tasks:
    refused(os.kill, pid, 0); refused(os.kill, -pid, 0); refused(os.killpg, pid, 0)
    if os.uname().machine == "x86_64":
        refused(call, 200, pid, 0); refused(call, 234, pid, pid, 0)
        if OLD: refused(call, 129, pid, 0, 0)
r, w = os.pipe()
if OLD: refused(fcntl.fcntl, r, fcntl.F_SETOWN, guard) # newer ones refuse the signal
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
os.killpg(child.pid, signal.SIGSTOP); os.kill(child.pid, signal.SIGCONT); child.kill()
assert child.wait() == -9
grandchild = int(subprocess.check_output(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"]))
os.kill(grandchild, 15)
try: subprocess.run(["sleep", "60"], timeout=.1)
except subprocess.TimeoutExpired: pass
seen = []
signal.signal(signal.SIGUSR1, lambda *a: seen.append(1))
os.kill(os.getpid(), 10); os.kill(0, 10); signal.raise_signal(10)
signal.pthread_kill(threading.get_ident(), 10)
assert len(seen) == 4, seen
try: os.kill(2**22 - 1, 0)
except ProcessLookupError: pass
print("all is well")
`

func TestSignals(t *testing.T) {
	python := userPython(t)
	v := newVictims(t)
	for _, abi := range []int{5, 0} {
		box := sandbox.Box{Tier: sandbox.Builtin, Multiprocessing: true,
			Limits: sandbox.Limits{Memory: 2 << 30, Processes: 256}}
		cmd, _ := commandIn(t, box, python, "-c",
			fmt.Sprintf("OUTSIDE, OLD = %d, %d\n", v.targets["victim"], abi)+signals)
		withABI(t, cmd, abi)
		if words := run(cmd); strings.TrimSpace(words) != "all is well" {
			t.Errorf("Landlock %d: %s", abi, words)
		}
	}
	v.unharmed(t)
}
