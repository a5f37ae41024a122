package kernel

import (
	"context"
	_ "embed"
	"fmt"
)

//go:embed visit.py
var visitCode string

// A visit is what a guest keeps apart in a kernel and undoes at the end. Our cells have their own
// working folder and random generators; the user's cells, before, between and after them, keep
// theirs. Nothing goes to the history.
type visit struct {
	dir     string // working folder of the cells; "" for the kernel's
	entered bool
}

// await waits until the kernel has handled other clients' requests. Only then is a cell sent: one
// that is queued in the kernel cannot be withdrawn.
func (s *session) await(ctx context.Context) error {
	_, err := s.roundTrip(ctx, Message{Channel: Shell, Header: Header{MsgType: s.probeType()}})
	if isGone(s.owner) {
		return nil // the execution reports its end
	}
	return err
}

// enter prepares the kernel before the first cell. Errors here and in manners are ignored: the cell
// runs all the same, but is not kept apart. The kernel is not tuned: its sockets are its user's,
// and changing them while others connect and disconnect was suspected of crashing kernels.
func (s *session) enter(ctx context.Context) {
	if !s.guest.entered && s.info.Implementation == "ipython" {
		s.guest.entered = true
		_, _ = s.run(ctx, inShell(visitCode,
			map[string]string{"folder": s.guest.dir, "session": s.id}), s.waits.tune)
	}
}

// manners calls a method of the visit.
func (s *session) manners(ctx context.Context, method string) {
	if s.guest.entered {
		_, _ = s.run(ctx, silent(s.method(method)), s.waits.tune)
	}
}

// method returns the code that calls a method of the visit.
func (s *session) method(name string) string {
	return fmt.Sprintf("get_ipython().guest_visits[%q].%s()", s.id, name)
}

// endVisitLater has the kernel end the visit after the cell that it is busy with.
func (s *session) endVisitLater() {
	if s.guest == nil || !s.guest.entered {
		return
	}
	s.tell(Shell, "execute_request", map[string]any{
		"code": s.method("leave"), "silent": true, "store_history": false, "allow_stdin": false,
		"stop_on_error": false,
	})
}

// Visit returns a Python expression for the guest's visit, an object that exists in the kernel
// while its cells run. Its user(name) returns the user's object of that name, or the visit itself
// if there is none. Its rebound() returns the names that our cells bound last. Names added to its
// set keep stay bound at the end. Visit returns "" for a kernel of ours, or one that is not
// IPython.
func (k *Kernel) Visit() string {
	s := k.current()
	if s.guest == nil || s.info.Implementation != "ipython" {
		return ""
	}
	return fmt.Sprintf("get_ipython().guest_visits[%q]", s.id)
}

// endVisit undoes what the visit changed, if the kernel still runs.
func (s *session) endVisit() {
	ctx, cancel := context.WithTimeout(context.Background(), s.waits.cancel)
	defer cancel()
	s.owner.check() // a kernel that was deleted would not answer
	if !isGone(s.owner) {
		s.manners(ctx, "leave")
	}
}

// restore undoes what our cells did to names, and resets the working folder of our cells.
func (s *session) restore(ctx context.Context) error {
	if f, ended := s.ended(); ended {
		return fmt.Errorf("the kernel is not ours to start again: %s", f.how)
	}
	if err := s.await(ctx); err != nil {
		return err
	}
	s.enter(ctx)
	s.manners(ctx, "back")
	return nil
}
