package kernel

import (
	"context"
	_ "embed"
	"fmt"
)

//go:embed visit.py
var visitCode string

// A visit is what a guest must put right in the kernel that it visits. Cells
// see their own working folder and random generators while they run, and the
// user's own cells, before, between and after them, see theirs. Nothing goes to
// the history.
type visit struct {
	dir     string // working folder of the cells; "" for the kernel's
	entered bool
}

// await waits until the kernel has done what others have asked of it. Only then
// is a cell sent: one that waits in the kernel could not be taken back.
func (s *session) await(ctx context.Context) error {
	_, err := s.roundTrip(ctx, Message{Channel: Shell, Header: Header{MsgType: s.nothing()}})
	if ended(s.host) {
		return nil // executing says how
	}
	return err
}

// enter prepares the kernel for the first cell. What goes wrong here, or in
// manners, costs manners and no more: the cell runs all the same. The kernel is
// not tuned as one of ours is: its sockets are its user's, and changing them while
// others connect and go was suspected of having ended kernels.
func (s *session) enter(ctx context.Context) {
	if !s.guest.entered && s.info.Implementation == "ipython" {
		s.guest.entered = true
		_, _ = s.silently(ctx, inShell(visitCode,
			map[string]string{"folder": s.guest.dir, "session": s.id}), s.waits.tune)
	}
}

// manners calls a method of the visit.
func (s *session) manners(ctx context.Context, method string) {
	if s.guest.entered {
		_, _ = s.silently(ctx, s.method(method), s.waits.tune)
	}
}

// method is the code that calls a method of the visit.
func (s *session) method(name string) string {
	return fmt.Sprintf("get_ipython().dsstar_visits[%q].%s()", s.id, name)
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

// Visit returns what is, in the kernel, the Python expression for a guest's visit
// while one of its cells runs: user(name) is the object that the user has under a
// name, the visit itself if there is none; rebound() the names that are as cells
// left them; what is added to the set keep stays so at the end. "" for a kernel
// of ours, or one that is not IPython.
func (k *Kernel) Visit() string {
	s := k.current()
	if s.guest == nil || s.info.Implementation != "ipython" {
		return ""
	}
	return fmt.Sprintf("get_ipython().dsstar_visits[%q]", s.id)
}

// endVisit puts right what the visit changed, if the kernel still runs.
func (s *session) endVisit() {
	ctx, cancel := context.WithTimeout(context.Background(), s.waits.cancel)
	defer cancel()
	if r, ok := s.host.(*remote); ok {
		_ = r.look(ctx) // a kernel that was deleted would not answer
	}
	if !ended(s.host) {
		s.manners(ctx, "leave")
	}
}

// restore gives the user their names back, and the cells the working folder that they began in.
func (s *session) restore(ctx context.Context) error {
	if how := s.fell(); how != "" || ended(s.host) {
		if how == "" {
			how, _ = s.host.fate()
		}
		return fmt.Errorf("the kernel is not ours to start again: %s", how)
	}
	if err := s.await(ctx); err != nil {
		return err
	}
	s.enter(ctx)
	s.manners(ctx, "back")
	return nil
}
