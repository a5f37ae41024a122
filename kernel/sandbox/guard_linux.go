//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lookEvery  = 250 * time.Millisecond
	measureTic = 4 // looks between two at the folders, which may have many files
)

// guard starts the program, sees to its limits, and ends with it as it has ended,
// after everything that it has started. It does not return but on an error.
func (st stage) guard(file string) error {
	runtime.LockOSThread() // the program ends when the thread ends that has started it
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGTERM, unix.SIGHUP)
	signal.Ignore(unix.SIGINT) // it is for the program
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, enterCommand, file)
	if st.Box.Tier == Full {
		if cmd, err = st.bubblewrap(self, file); err != nil {
			return err
		}
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", os.Environ(), os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan unix.WaitStatus, 1)
	go reap(cmd.Process.Pid, ended)
	st.before = st.written()
	look := time.NewTicker(lookEvery)
	for n := 1; ; n++ {
		select {
		case status := <-ended:
			st.end()
			endLike(status)
		case <-signals:
			st.end()
			os.Exit(128 + int(unix.SIGTERM))
		case <-look.C:
			if why := st.exceeded(n%measureTic == 0); why != "" {
				st.end()
				fmt.Fprintln(os.Stderr, Stopped+why)
				os.Exit(128 + int(unix.SIGKILL))
			}
		}
	}
}

// end ends all processes and removes what is to go with them.
func (st stage) end() {
	killAll()
	for _, path := range st.Remove {
		_ = os.RemoveAll(path) // nobody is there to be told
	}
}

// reap collects all that ends, and tells how the program did.
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

// endLike ends this process as another has ended.
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

// exceeded returns which limit the processes have passed, "" for none.
func (st stage) exceeded(folders bool) string {
	l := st.Box.Limits
	all := descendants(os.Getpid())
	used := usageOf(all)
	if l.Memory > 0 && used.resident > l.Memory {
		if sum := proportional(all); sum > l.Memory {
			return fmt.Sprintf("%s of memory used, limit %s; raise it with --max-memory", size(sum), size(l.Memory))
		}
	}
	if l.Processes > 0 && used.threads > l.Processes+64 { // Linux has kept to the limit, but for root
		return fmt.Sprintf("%d processes and threads, limit %d; raise it with --max-processes", used.threads, l.Processes)
	}
	if folders && l.Folder > 0 {
		if sum := st.written() - st.before; sum > l.Folder {
			return fmt.Sprintf("%s of files written, limit %s; raise it with --max-folder", size(sum), size(l.Folder))
		}
	}
	return ""
}

// written returns what the folders that can be written take on disk.
func (st stage) written() (sum int64) {
	for _, dir := range st.Write {
		_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil // it has gone
			}
			if info, err := e.Info(); err == nil {
				sum += info.Sys().(*syscall.Stat_t).Blocks * 512
			}
			return nil
		})
	}
	return sum
}
