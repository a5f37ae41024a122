package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"dsstar/kernel/internal/inbox"
	"dsstar/kernel/internal/turn"
	"dsstar/notebook"
)

// maxAborts is how often a request is repeated that the kernel answered with "aborted", without
// running it.
const maxAborts = 5

// A run follows one execute_request until both execute_reply and the status idle have arrived, in
// either order, or until waiting for them is pointless.
type run struct {
	s      *session
	cell   Cell
	silent bool          // not a cell: not counted, publishes nothing
	limit  time.Duration // 0 for none

	in   *inbox.Inbox
	id   string // of the execute_request
	fold notebook.Fold
	exec notebook.Execution // without outputs, which the method execution adds

	busy, replied, idle bool
	over                bool // the run waits for nothing more
	aborts              int
	lost                error // why the kernel can no longer be reached

	sent    time.Time
	began   time.Time // start of the time-out: when the cell began, plus the time that input() waited
	roused  time.Time // when the kernel was last roused, or the request sent
	heard   time.Time // when the last message about the request arrived
	looked  time.Time // when the server was last asked about the kernel
	breaks  int       // link.Breaks() when the request was sent
	probe   string    // id of the request that tests for a lost message
	asking  chan answer
	killAt  time.Time // when the interrupted cell is killed; zero if it was not interrupted
	killed  string    // what the kill did; "" before it
	cause   string    // why the kernel was killed, if not for ignoring an interrupt
	stopped string    // why the cell was interrupted; "" if it was not
}

// execute runs the code of r. See Kernel.Execute.
func (r *run) execute(ctx context.Context) (notebook.Execution, error) {
	r.in, r.sent, r.exec.Status = inbox.New(), time.Now(), notebook.OK
	how, lost := r.s.fell(), error(nil)
	if ended(r.s.host) {
		how, lost = r.s.host.fate()
	}
	if how != "" || lost != nil {
		r.exec.Status, r.exec.Reason = notebook.Died, "the session had ended before this cell: "+how
		return r.exec, lost
	}
	if ctx.Err() != nil {
		return notebook.Execution{}, turn.Reason(ctx)
	}
	r.fold = r.s.outputs.fold(r.cell)
	if err := r.send(ctx); err != nil {
		return notebook.Execution{}, fmt.Errorf("execute: %w", err)
	}
	defer r.forget()
	if err := r.follow(ctx); err != nil {
		return r.execution(), err // with the outputs so far
	}
	return r.execution(), nil
}

func (r *run) forget() {
	r.s.forget(r.probe)
	if r.silent {
		r.s.forget(r.id)
	} else {
		r.s.retire(r.id, r.cell.ID)
	}
}

// send sends the execute_request (messaging protocol, "Execute"). After an error either the request
// was not sent, or the kernel has been killed or, if it is not ours, disconnected.
func (r *run) send(ctx context.Context) error {
	guest := r.s.guest != nil
	body, err := json.Marshal(map[string]any{
		"code": r.cell.Code, "silent": r.silent, "store_history": !r.silent && !guest,
		"user_expressions": struct{}{}, "allow_stdin": r.s.input != nil &&
			!r.silent, "stop_on_error": !r.cell.MayRaise,
	})
	if err != nil {
		return err
	}
	m := Message{Channel: Shell, Header: Header{MsgType: "execute_request"}, Content: body}
	if r.cell.ID != "" {
		if m.Metadata, err = json.Marshal(map[string]string{"cellId": r.cell.ID}); err != nil {
			return err
		}
	}
	r.breaks = r.s.link.Breaks()
	r.id, err = r.s.send(ctx, r.in, m)
	now := time.Now()
	r.roused, r.heard, r.began = now, now, now
	if _, large := errors.AsType[*tooLargeError](err); err != nil && !large && ctx.Err() == nil {
		r.s.host.kill() // whether the cell runs is unknown, and so is the state
	}
	return err
}

// follow waits for the end of the run. The error says why ctx has ended, or that the kernel can no
// longer be reached.
func (r *run) follow(ctx context.Context) error {
	gone := ctx.Done()
	// Deadlines are checked at each tick, all in one place: none needs more precision.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	// The end of the run cancels a pending input().
	asked, enough := context.WithCancel(ctx)
	defer enough()
	for !r.over {
		select {
		case <-r.in.Ready:
			r.read(asked)
		case a := <-r.asking:
			r.sendInput(a)
		case <-r.s.host.gone():
			r.died()
		case now := <-tick.C:
			r.check(now)
		case <-gone:
			if errors.Is(turn.Reason(ctx), ErrClosed) && r.s.guest == nil {
				return ErrClosed // Close ends the kernel anyway
			}
			gone = nil
			r.stop("the caller has gone", r.s.waits.cancel)
		}
	}
	if gone == nil {
		return turn.Reason(ctx)
	}
	return r.lost
}

// check acts on the deadlines that have passed.
func (r *run) check(now time.Time) {
	w := r.s.waits
	quiet := now.Sub(r.heard)
	if h, ok := r.s.host.(*remote); ok && quiet > w.idle && now.Sub(r.looked) > w.idle {
		r.looked = now
		h.background(h.look)
	}
	unfinished := r.replied != r.idle || r.s.link.Breaks() != r.breaks
	switch {
	case r.killed != "":
		if now.After(r.killAt.Add(w.kill)) {
			r.s.host.kill() // the whole kernel, not only its worker
			if l, ok := r.s.host.(*local); ok {
				r.cause = cmp.Or(l.Reason(), r.cause)
			}
			r.die(strings.TrimPrefix(r.cause+"; it could not be killed", "; "))
		}
	case !r.killAt.IsZero() && now.After(r.killAt):
		r.s.endVisitLater()
		r.killed = r.s.kill() // follow notices its end
	case r.asking != nil: // input() has no time limit
	case unfinished && r.probe == "" && quiet > w.idle:
		r.test()
	case r.replied != r.idle && quiet > 2*w.idle:
		r.giveUp()
	case r.replied || r.idle || r.stopped != "" || r.cause != "":
	case !r.busy && r.s.guest != nil:
		r.rouse(now) // it waits behind other clients' cells, for as long as the caller likes
	case r.limit > 0 && now.Sub(r.began) > r.limit:
		r.stop(fmt.Sprintf("stopped after %v s (the cell time-out)", r.limit.Seconds()), w.interrupt)
	case !r.busy && now.Sub(r.sent) > w.takeUp:
		r.stop(fmt.Sprintf("stopped: the kernel did not take up the cell for %v s", w.takeUp.Seconds()),
			w.interrupt)
	case !r.busy:
		r.rouse(now)
	}
	select {
	case <-r.s.link.Drained():
		// The cell may have closed the kernel's sockets. The kernel is useless now.
		if r.killAt.IsZero() && !r.over {
			r.killAt, r.cause = now.Add(time.Second), "it closed its connections"
		}
	default:
	}
}

// rouse wakes the kernel, at most once in waits.rouse.
func (r *run) rouse(now time.Time) {
	if now.Sub(r.roused) > r.s.waits.rouse {
		r.roused = now
		r.s.link.Rouse()
	}
}

// stop interrupts the cell, for the reason why. If the cell has not ended after patience, the
// kernel is killed.
func (r *run) stop(why string, patience time.Duration) {
	if r.stopped == "" {
		r.stopped = why
	}
	r.killAt = time.Now().Add(patience)
	if r.busy || r.s.guest == nil {
		r.s.host.interrupt(r.s) // otherwise it could hit another client's cell
	}
}

// test sends a probe, to find out whether the missing message, reply or idle, was lost.
func (r *run) test() {
	r.s.link.Rouse() // the reply may be stuck in the kernel
	id, err := r.s.send(atOnce, r.in, Message{Channel: Shell, Header: Header{MsgType: r.s.probeType()}})
	switch {
	case err == nil:
		r.probe = id
	case !errors.Is(err, context.Canceled): // cancelled: there is no connection at the moment
		r.giveUp()
	}
}

// giveUp ends the run without the missing messages.
func (r *run) giveUp() {
	if r.over || r.replied && r.idle || ended(r.s.host) { // follow handles its end
		return
	}
	r.over = true
	switch {
	case r.replied:
		r.doubt("the kernel's last messages were lost")
		return
	case !r.busy && !r.idle:
		r.lost = errors.New("execute: the connection was lost for a while, and whether the cell has " +
			"run cannot be known")
		return
	}
	r.doubt("the kernel's reply was lost")
	for _, o := range r.fold.Outputs() {
		if o.Type == notebook.ErrorOutput {
			r.exec.Status = notebook.Raised
		}
	}
}

// died ends the run after the end of the kernel, once the messages that it sent have been read.
func (r *run) died() {
	how, lost := r.s.host.fate()
	select {
	case <-r.s.link.Drained():
	case <-time.After(500 * time.Millisecond): // another process holds a socket open
	}
	for more := true; more && !r.over; {
		select {
		case <-r.in.Ready:
			r.read(context.Background())
		default:
			more = false
		}
	}
	if r.over {
		return // it died after the cell
	}
	if lost != nil {
		r.over, r.lost = true, fmt.Errorf("execute: %w", lost)
		return
	}
	// r.cause holds only if the process was killed: one that ends by itself closes its connections,
	// too, before its end is noticed.
	if l, ok := r.s.host.(*local); r.killed != "" && r.cause != "" && (!ok || l.Killed) {
		how = r.cause
	}
	r.die(how)
}

func (r *run) die(how string) {
	r.over = true
	if r.exec.Status != notebook.Died { // else the cause is known
		r.exec.Status, r.exec.Reason = notebook.Died, r.s.death(how)
	}
}

// execution returns the result of the run.
func (r *run) execution() notebook.Execution {
	if r.stopped != "" {
		switch {
		case r.killed != "":
			r.exec.Reason = r.stopped + "; it ignored the interrupt, so that " + r.killed
		case r.exec.Status == notebook.Died:
			r.exec.Reason = r.stopped + "; " + r.exec.Reason
		default:
			r.exec.Reason = r.stopped
		}
		r.exec.Status = notebook.TimedOut
	}
	r.s.outputs.take(&r.fold)
	r.exec.Outputs, r.exec.Updates = r.fold.Outputs(), r.fold.Updates()
	r.exec.Seconds = time.Since(r.sent).Seconds()
	return r.exec
}
