//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const tryCommand = "__sandbox-try"

// targets are the targets of the attempts, all created for them.
type targets struct {
	Secret, Data, Socket string // a key file, a data file, the socket of a service
	// TCP and UDP ports of services on the loopback interface
	Port, Datagrams int
	// a process with Mark in its environment and its command line
	PID        int
	Mark       string            // in the environment and the command line of PID
	Namespaces map[string]string // the namespaces outside, by kind
}

// Try makes the attempts in each of the tiers and in [Off], in processes of this executable. An
// error means that they could not be made.
func Try(ctx context.Context, tiers ...Tier) ([]Trial, error) {
	dir, err := os.MkdirTemp("", "dsstar-try-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	trials := make([]Trial, len(attempts))
	for i, a := range attempts {
		trials[i] = Trial{a.name, map[Tier]bool{}}
	}
	for _, tier := range append([]Tier{Off}, tiers...) {
		done, err := tryIn(ctx, tier, filepath.Join(dir, string(tier)))
		if err != nil {
			return nil, fmt.Errorf("try what %s holds: %w", tier, err)
		}
		for i := range trials {
			trials[i].Done[tier] = done[trials[i].Name]
		}
	}
	return trials, nil
}

func tryIn(ctx context.Context, tier Tier, dir string) (done map[string]bool, err error) {
	t := targets{Secret: dir + "/home/id_rsa", Data: dir + "/data/a.csv",
		Socket: dir + "/home/docker.sock", Mark: "dsstar-try-" + filepath.Base(filepath.Dir(dir))}
	for _, file := range []string{t.Secret, t.Data} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
			os.WriteFile(file, []byte("a\n1\n"), 0o600)); err != nil {
			return nil, err
		}
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer tcp.Close()
	t.Port = tcp.Addr().(*net.TCPAddr).Port
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer udp.Close()
	t.Datagrams = udp.LocalAddr().(*net.UDPAddr).Port
	go func() {
		b := make([]byte, 1)
		if _, from, err := udp.ReadFrom(b); err == nil {
			_, _ = udp.WriteTo(b, from) // the client has a deadline
		}
	}()
	service, err := net.Listen("unix", t.Socket)
	if err != nil {
		return nil, err
	}
	defer service.Close()
	victim := exec.Command("/bin/sh", "-c", "read line", t.Mark)
	victim.Env = []string{"KEY=" + t.Mark}
	hold, err := victim.StdinPipe()
	if err == nil {
		err = victim.Start()
	}
	if err != nil {
		return nil, err
	}
	defer victim.Wait()
	defer hold.Close()
	t.PID = victim.Process.Pid
	t.Namespaces = map[string]string{}
	for _, kind := range []string{"mnt", "net"} {
		t.Namespaces[kind], _ = os.Readlink("/proc/self/ns/" + kind)
	}
	return t.run(ctx, tier, dir)
}

// run makes the attempts in a process of the tier, in its writable folder.
func (t targets) run(ctx context.Context, tier Tier, dir string) (map[string]bool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	aims, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	work := dir + "/files"
	if err := os.MkdirAll(work, 0o700); err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: self, Args: []string{self, tryCommand, string(aims)}, Dir: work,
		Env: os.Environ()}
	box := Box{Tier: tier, Read: []string{filepath.Dir(t.Data)},
		Limits: Limits{Memory: 4 << 30, Processes: 256, File: 1 << 30}}
	if cmd, err = box.Command(cmd, Session{Private: dir + "/private",
		Write: []string{work}}); err != nil {
		return nil, err
	}
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	enough := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(unix.SIGTERM) })
	defer enough()
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(words.String()))
	}
	done := map[string]bool{}
	return done, json.Unmarshal(out.Bytes(), &done)
}

// try is the main function of the process that makes the attempts.
func try(aims string) {
	var t targets
	if err := json.Unmarshal([]byte(aims), &t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	done := map[string]bool{}
	for _, a := range attempts {
		done[a.name] = a.do(t) == nil
	}
	_ = json.NewEncoder(os.Stdout).Encode(done) // the reader notices truncated JSON
	os.Exit(0)
}

// An attempt succeeds if it returns nil.
type attempt struct {
	name string
	do   func(targets) error
}

var attempts = []attempt{
	{"read a file outside", func(t targets) error { _, err := os.ReadFile(t.Secret); return err }},
	{"list a folder outside", func(t targets) error {
		_, err := os.ReadDir(filepath.Dir(t.Secret))
		return err
	}},
	{"write a file outside", func(t targets) error {
		return os.WriteFile(filepath.Dir(t.Secret)+"/new", nil, 0o600)
	}},
	{"read it by a link", func(t targets) error {
		_ = os.Symlink(t.Secret, "link") // it may be there
		_, err := os.ReadFile("link")
		return err
	}},
	{"change the data", func(t targets) error {
		f, err := os.OpenFile(t.Data, os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	}},
	{"cut the data", func(t targets) error { return os.Truncate(t.Data, 0) }},
	{"delete the data", func(t targets) error { return os.Rename(t.Data, t.Data+".gone") }},
	{"connect to the network", func(t targets) error {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(t.Port), time.Second)
		if err == nil {
			c.Close()
		}
		return err
	}},
	{"send a datagram", func(t targets) error {
		c, err := net.DialTimeout("udp", "127.0.0.1:"+strconv.Itoa(t.Datagrams), time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(300 * time.Millisecond)) // sockets support it
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		_, err = c.Read(make([]byte, 1)) // a network namespace may swallow the datagram
		return err
	}},
	{"talk to a service of this machine", func(t targets) error {
		c, err := net.Dial("unix", t.Socket)
		if err == nil {
			c.Close()
		}
		return err
	}},
	{"signal another process", func(t targets) error { return unix.Kill(t.PID, 0) }},
	{Seen, func(t targets) error { _, err := os.Stat(t.Secret); return err }},
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
		for _, err := range []error{os.WriteFile("setuid", nil, 0o755),
			os.Chmod("setuid", 0o755|os.ModeSetuid)} {
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
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC) // a user has 128
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
		return err // if other processes are not visible, /dev/shm is private too
	}},
}

var errElse = errors.New("it is another one")

// shares returns an error if this process has its own namespace of the kind.
func (t targets) shares(kind string) error {
	own, err := os.Readlink("/proc/self/ns/" + kind)
	if err == nil && own != t.Namespaces[kind] {
		return errElse
	}
	return err
}

// seen reads a file of the target process in /proc.
func seen(t targets, file string) error {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", t.PID, file))
	if err == nil && !bytes.Contains(b, []byte(t.Mark)) {
		return errElse
	}
	return err
}
