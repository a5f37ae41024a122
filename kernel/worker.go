package kernel

import (
	"encoding/json"
	"slices"
	"strings"
)

// The kernel undokernel (undokernel/README.md) is an ipykernel whose cells run in a worker process.
// If only the worker ends, the kernel stays, and a client may have it continue from an earlier
// state, with a request of package rewind. To this package it is a kernel that has died and
// that may live again.

// undokernel is the module of that kernel, and the feature that it announces.
const undokernel = "undokernel"

// hasWorker reports whether s starts that kernel.
func (s Spec) hasWorker() bool {
	python := s.Python()
	return python != nil && s.Argv[len(python)+1] == undokernel
}

// hasWorker reports whether the session is with that kernel.
func (s *session) hasWorker() bool { return slices.Contains(s.info.Features, undokernel) }

const died = "the kernel died: "

// obituary recognises the exception that reports the end of the worker process, and returns how it
// ended.
func (s *session) obituary(name, value string) (how string, ok bool) {
	if !s.hasWorker() || name != "KernelDied" {
		return "", false
	}
	return strings.CutPrefix(value, died)
}

// fall records how the worker process ended; "" if one runs again.
func (s *session) fall(how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallen = how
}

// rise records that a worker process runs again, if reply says so.
func (s *session) rise(reply Message) {
	var c struct{ Status string }
	if reply.Header.MsgType == "undokernel_rollback_reply" &&
		json.Unmarshal(reply.Content, &c) == nil && c.Status == "ok" {
		s.fall("")
	}
}

// kill kills the kernel, or only the worker process.
func (s *session) kill() (done string) {
	if s.guest != nil || !s.hasWorker() || isGone(s.owner) {
		return s.owner.kill(deafToInterrupts)
	}
	s.tell(Control, "undokernel_kill_request", struct{}{})
	return "the kernel was killed"
}
