//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asksAboutSignals reports whether the guard keeps signals in the sandbox, where Landlock does not: the filter asks it about
// each (seccomp_unotify(2)), and it answers by who is meant, of whom a filter knows only the number. In full the numbers of
// processes outside mean nothing.
func (st stage) asksAboutSignals() bool { return st.Box.Tier == Builtin && st.landlock() < scopes }

// asks reports whether the filter asks the guard about anything.
func (st stage) asks() bool { return st.Facts || st.asksAboutSignals() }

// askedSignals are the calls of which the guard is asked, and what else could send a signal and is refused.
func askedSignals() (rules []rule) {
	for _, call := range []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO} {
		rules = append(rules, rule{call, askGuard, []condition{isNot(0, 0)}}) // 0 is the group of whoever calls
	}
	rules = append(rules, deny(unix.EPERM, unix.SYS_PIDFD_SEND_SIGNAL)...)
	for _, command := range []uint32{unix.F_SETOWN, fSetOwnEx} { // who is told that a descriptor is ready, by any signal
		rules = append(rules, rule{unix.SYS_FCNTL, unix.EPERM, []condition{is(1, command)}})
	}
	for _, request := range []uint32{fioSetOwn, siocsPgrp} {
		rules = append(rules, rule{unix.SYS_IOCTL, unix.EPERM, []condition{is(1, request)}})
	}
	return rules
}

const fSetOwnEx, fioSetOwn, siocsPgrp = 15, 0x8901, 0x8902 // asm-generic/fcntl.h, asm-generic/sockios.h

// startAnswered starts cmd, and answers its filter if that asks.
func (st stage) startAnswered(cmd *exec.Cmd) error {
	if !st.asks() {
		return cmd.Start()
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	theirs := os.NewFile(uintptr(pair[1]), "guard")
	cmd.ExtraFiles = []*os.File{theirs} // guardSocket
	err = errors.Join(cmd.Start(), theirs.Close())
	if err != nil {
		return errors.Join(err, unix.Close(pair[0]))
	}
	go answer(pair[0])
	return nil
}

// guardSocket is the descriptor by which a process that enters the sandbox gives its filter to the guard.
const guardSocket = 3

// confineAsked is confineCalls for a filter that asks the guard, which is given its other end. Nothing may be allocated
// between: to collect garbage, Go signals its threads, and nobody would answer yet.
func confineAsked(filter *unix.SockFprog) error {
	debug.SetGCPercent(-1)
	rights, at := unix.UnixRights(0), unix.CmsgLen(0)
	// A signal is to interrupt no call that is being answered; Linux can do that since 5.19.
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, uintptr(unsafe.Pointer(filter)))
	if errno == unix.EINVAL {
		fd, _, errno = unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(filter)))
	}
	if errno != 0 {
		return fmt.Errorf("seccomp with questions: %w", errno)
	}
	*(*int32)(unsafe.Pointer(&rights[at])) = int32(fd)
	return unix.Sendmsg(guardSocket, []byte{0}, rights, nil, 0)
}

// A question is struct seccomp_notif: a call that waits for an answer.
type question struct {
	id        uint64
	pid       uint32
	flags     uint32
	nr        int32
	arch      uint32
	ip        uint64
	arguments [6]uint64
}

// A reply is struct seccomp_notif_resp.
type reply struct {
	id    uint64
	value int64
	errno int32 // negative
	flags uint32
}

// answer receives a filter and answers its questions until the guard ends. Should it fail, Linux refuses all of them.
func answer(socket int) {
	defer unix.Close(socket)
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return // the program has not come so far
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return
	}
	defer unix.Close(fds[0])
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fds[0]), notifSetFlags, syncWakeUp) // Linux can since 6.6
	for {
		var q question
		_, errno := notify(fds[0], unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q))
		if errno == unix.ENOENT { // whoever asked was killed meanwhile, or all were
			time.Sleep(time.Millisecond)
			continue
		}
		if errno != 0 {
			return
		}
		a := reply{id: q.id, errno: -int32(unix.EPERM)}
		if _, opens := openCalls[uint32(q.nr)]; opens {
			a = answerOpen(fds[0], &q)
		} else if ours(int(int32(q.arguments[0]))) {
			a.errno, a.flags = 0, unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		}
		_, _ = notify(fds[0], unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) // whoever asked may be gone
	}
}

// ours reports whether a number that kill(2) is given means descendants of this process alone. Numbers of those that are
// gone are nobody's, and may be signalled in vain.
func ours(number int) bool {
	if number == -1 {
		return false // everybody
	}
	if number < 0 { // a group is all of one session, and so all in the sandbox or not at all
		for _, pid := range descendants(os.Getpid()) {
			if group, err := unix.Getpgid(pid); err == nil && group == -number {
				return true
			}
		}
		return false
	}
	for self := os.Getpid(); ; {
		process, parent, ok := lineage(number)
		switch {
		case !ok || process == self || parent == 0:
			return !ok
		case parent == self:
			return true
		}
		number = parent
	}
}

// lineage returns the process that a thread is of, and its parent.
func lineage(thread int) (process, parent int, ok bool) {
	process = int(statusOf(thread, "Tgid"))
	return process, int(statusOf(thread, "PPid")), process != 0
}
