//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

var systemAttempts = []attempt{
	{"read another process's environment", func(t targets) error { return seen(t, "environ") }},
	{"see another process's command line", func(t targets) error { return seen(t, "cmdline") }},
	{"make namespaces", func(targets) error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		return cmd.Run()
	}},
	{"see the machine's connections", func(t targets) error {
		b, err := os.ReadFile("/proc/self/net/tcp")
		if err == nil && !bytes.Contains(b, fmt.Appendf(nil, "0100007F:%04X ", t.Port)) {
			return errElse
		}
		return err
	}},
	{"see the machine's mounts", func(t targets) error {
		_, err := os.ReadFile("/proc/self/mountinfo")
		return errors.Join(err, t.shares("mnt"))
	}},
	{"answer in the name of a service", func(t targets) error {
		l, err := net.Listen("unix", "@"+t.Mark)
		if err != nil {
			return err
		}
		return errors.Join(l.Close(), t.shares("net"))
	}},
	{"leave a setuid file", func(targets) error {
		for _, err := range []error{os.WriteFile("setuid", nil, 0o755), os.Chmod("setuid", 0o755|os.ModeSetuid)} {
			if err != nil {
				return err
			}
		}
		info, err := os.Stat("setuid")
		if err == nil && info.Mode()&os.ModeSetuid == 0 {
			return errors.New("it has another mode")
		}
		return err
	}},
	{"use up what a user's programs share", func(targets) error {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC) // there are 128
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}},
	{"leave a file in /dev/shm", func(t targets) error {
		file := "/dev/shm/" + t.Mark
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return err
		}
		defer os.Remove(file)
		_, err := os.Stat(fmt.Sprintf("/proc/%d", t.PID))
		return err // where the others are not, it is nobody else's either
	}},
}

var errElse = errors.New("it is another one")

// shares fails in a namespace of the sandbox's own.
func (t targets) shares(kind string) error {
	own, err := os.Readlink("/proc/self/ns/" + kind)
	if err == nil && own != t.Namespaces[kind] {
		return errElse
	}
	return err
}

// seen reads a file of the other process's in /proc.
func seen(t targets, file string) error {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", t.PID, file))
	if err == nil && !bytes.Contains(b, []byte(t.Mark)) {
		return errElse
	}
	return err
}
