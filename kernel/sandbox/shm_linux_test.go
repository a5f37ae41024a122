package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dsstar/kernel/sandbox"
)

// TestSharedMemoryIsRemoved: files that processes have created in the machine's /dev/shm are
// removed with them, but no others.
func TestSharedMemoryIsRemoved(t *testing.T) {
	python := userPython(t)
	tag := "dsstar-test-" + filepath.Base(filepath.Dir(t.TempDir()))
	mine := "/dev/shm/" + tag + "-mine"
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left, _ := filepath.Glob("/dev/shm/*" + tag + "*")
		for _, path := range left {
			_ = os.RemoveAll(path)
		}
	})
	const code = `import _multiprocessing, _posixshmem, mmap, os, sys, time
tag = sys.argv[1]
mine = open("/dev/shm/" + tag + "-mine", "r+b") # somebody else's may be opened
lock = _multiprocessing.SemLock(1, 1, 1, "/" + tag, False)
fd = _posixshmem.shm_open("/" + tag + "-block", os.O_CREAT | os.O_RDWR, mode=0o600)
os.ftruncate(fd, 1000)
os.mkdir("/dev/shm/" + tag)
with open("/dev/shm/" + tag + "/array", "w+b") as f:
    f.truncate(4096)
    array = mmap.mmap(f.fileno(), 0)
print("made", flush=True)
time.sleep(1) # some looks
os._exit(0) # and Python tidies nothing up`
	box := sandbox.Box{Tier: sandbox.Builtin, Multiprocessing: true,
		Limits: sandbox.Limits{Memory: 1 << 30}}
	cmd, _ := commandIn(t, box, python, "-c", code, tag)
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Setsid: true}
	started(t, cmd)
	write(t, "/dev/shm", map[string]string{tag + "-mine2": "mine"}) // new, too
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	left, _ := filepath.Glob("/dev/shm/*" + tag + "*")
	if strings.Join(left, " ") != mine+" "+mine+"2" {
		t.Errorf("left: %v", left)
	}
}
