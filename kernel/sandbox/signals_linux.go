//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asksAboutSignals reports whether the guard confines signals because this Landlock cannot: the
// filter notifies it of each (seccomp_unotify(2)), and the guard checks the target, as a filter
// sees only its ID. In full, processes outside have no IDs.
func (st stage) asksAboutSignals() bool { return st.Box.Tier == Builtin && st.landlock() < scopes }

// asks reports whether the filter sends notifications to the guard.
func (st stage) asks() bool { return st.Facts || st.asksAboutSignals() || st.reaches() }

// askedSignals are the rules for calls that send signals: the guard decides, or they are refused.
func askedSignals() (rules []rule) {
	for _, call := range []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL,
		unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO} {
		// 0 is the caller's process group
		rules = append(rules, rule{call, askGuard, []condition{isNot(0, 0)}})
	}
	rules = append(rules, deny(unix.EPERM, unix.SYS_PIDFD_SEND_SIGNAL)...)
	// these set the receiver of a signal when a descriptor is ready
	const fioSetOwn = 0x8901 // asm-generic/sockios.h
	rules = append(rules, refuse(unix.SYS_FCNTL, 1, unix.F_SETOWN, unix.F_SETOWN_EX)...)
	return append(rules, refuse(unix.SYS_IOCTL, 1, fioSetOwn, unix.SIOCSPGRP)...)
}

// startAnswered starts cmd, and answers the notifications of its filter.
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
	go st.answer(pair[0])
	return nil
}

// guardSocket is the descriptor through which a process that enters the sandbox sends its listener
// to the guard.
const guardSocket = 3

// confineAsked is confineCalls for a filter that notifies the guard, which gets the listener.
// Between filter and sending, nothing must be allocated: the garbage collector signals threads, and
// nobody would answer yet.
func confineAsked(filter *unix.SockFprog) error {
	debug.SetGCPercent(-1)
	rights, at := unix.UnixRights(0), unix.CmsgLen(0)
	// WAIT_KILLABLE_RECV, since Linux 5.19: signals do not interrupt a call that is being answered.
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
		uintptr(unsafe.Pointer(filter)))
	if errno == unix.EINVAL {
		fd, _, errno = unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
			unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(filter)))
	}
	if errno != 0 {
		return fmt.Errorf("seccomp with questions: %w", errno)
	}
	*(*int32)(unsafe.Pointer(&rights[at])) = int32(fd)
	return unix.Sendmsg(guardSocket, []byte{0}, rights, nil, 0)
}

// A question is struct seccomp_notif: a system call that waits for an answer.
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

// refuse fails the call.
func (q *question) refuse(errno unix.Errno) reply { return reply{id: q.id, errno: -int32(errno)} }

// goOn has Linux carry out the call.
func (q *question) goOn() reply {
	return reply{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
}

// answer receives a listener and answers its notifications until the guard ends. If answer fails,
// Linux refuses the calls.
func (st stage) answer(socket int) {
	defer unix.Close(socket)
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return // the program ended before it had a filter
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return
	}
	defer unix.Close(fds[0])
	// both sides run on one processor, since Linux 6.6
	const setFlags = 0x40082104 // SECCOMP_IOCTL_NOTIF_SET_FLAGS
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fds[0]), setFlags,
		unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	for {
		var q question
		_, errno := notify(fds[0], unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q))
		if errno == unix.ENOENT { // the caller, or every process, was killed meanwhile
			time.Sleep(time.Millisecond)
			continue
		}
		if errno != 0 {
			return
		}
		send := func(a reply) { // the caller may be gone
			_, _ = notify(fds[0], unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
		}
		if q.nr == unix.SYS_CONNECT { // it takes long
			go func() { send(st.answerConnect(fds[0], &q)) }()
			continue
		}
		send(st.answerOne(fds[0], &q))
	}
}

// answerOne answers a notification that takes no time.
func (st stage) answerOne(listener int, q *question) reply {
	if _, opens := openCalls[uint32(q.nr)]; opens {
		return st.answerOpen(listener, q)
	}
	if q.nr == unix.SYS_LISTEN {
		return answerListen(q)
	}
	if ours(int(int32(q.arguments[0]))) {
		return q.goOn()
	}
	return q.refuse(unix.EPERM)
}

// ours reports whether an argument of kill(2) selects only descendants of this process. IDs of
// ended processes belong to nobody and are allowed.
func ours(number int) bool {
	if number == -1 {
		return false // all processes
	}
	if number < 0 { // the members of a group share a session, so all or none are in the sandbox
		return slices.ContainsFunc(descendants(os.Getpid()), func(pid int) bool {
			group, err := unix.Getpgid(pid)
			return err == nil && group == -number
		})
	}
	process, err := openProcess(strconv.Itoa(number))
	if err != nil {
		return errors.Is(err, unix.ENOENT)
	}
	defer unix.Close(process)
	return descends(process, os.Getpid())
}

// processOf returns the process of a thread, 0 if that has ended.
func processOf(thread int) int { return int(numbersIn(folderOf(thread) + "status")("Tgid")) }
