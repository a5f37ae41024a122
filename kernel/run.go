package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"dsstar/notebook"
)

// A phase is where a run stands. It changes with messages (on), with time (tick), with the end of
// the kernel (died) and with that of the caller (stop).
type phase int

const (
	queued   phase = iota // the kernel has not taken up the request
	busy                  // it runs the cell
	asking                // input() waits for somebody, without a time limit
	stopping              // the cell was interrupted, or cannot go on; it is killed at until
	killing               // it was killed; the process must have ended at until
	draining              // one of execute_reply and status idle has come; the other is missing
	over                  // nothing is waited for
)

// A run follows one execute_request until both execute_reply and the status idle have arrived, in
// either order, or until waiting for them is pointless.
type run struct {
	s     *session
	limit time.Duration // 0 for none

	in      *inbox
	request Message // execute_request
	id      string  // of the request
	fold    notebook.Fold
	exec    notebook.Execution // without outputs, which the method execution adds

	phase         phase
	until         time.Time // the end of stopping or killing
	taken         bool      // the kernel has taken up the request
	replied, idle bool
	aborts        int
	lost          error // why the kernel can no longer be reached

	sent    time.Time
	began   time.Time // start of the time-out: when the cell began, plus the time that input() waited
	asked   time.Time // when input() last asked
	roused  time.Time // when the kernel was last roused, or the request sent
	heard   time.Time // when the last message about the request arrived
	looked  time.Time // when the owner was last asked about the kernel
	breaks  int       // link.Breaks() when the request was sent
	probe   string    // id of the request that tests for a lost message
	answers chan answer
	killed  string // what the kill did; "" before it
	cause   string // why the kernel was killed, if not for ignoring an interrupt
	stopped string // why the cell was interrupted; "" if it was not
}

// begin sends a cell, in a guest after other clients' cells. The run is over already if the session
// has ended. The caller must hold the turn, and call follow.
func (s *session) begin(ctx context.Context, c Cell, limit time.Duration) (*run, error) {
	if s.guest != nil && !c.silent {
		if err := s.await(ctx); err != nil {
			return nil, err
		}
		s.enter(ctx)
	}
	r := &run{s: s, limit: limit, in: newInbox(), sent: time.Now()}
	if f, ended := s.ended(); ended {
		r.phase, r.lost, r.exec.Status = over, f.lost, notebook.Died
		r.exec.Reason = "the session had ended before this cell: " + f.how
		return r, nil
	}
	if ctx.Err() != nil {
		return nil, Ended(ctx)
	}
	body, _ := json.Marshal(map[string]any{ // messaging protocol, "Execute"
		"code": c.Code, "silent": c.silent, "store_history": !c.silent && s.guest == nil,
		"user_expressions": struct{}{}, "allow_stdin": s.input != nil && !c.silent,
		"stop_on_error": !c.MayRaise,
	})
	r.request = Message{Channel: Shell, Header: Header{MsgType: "execute_request"}, Content: body}
	r.exec.Status, r.fold, r.breaks = notebook.OK, s.outputs.fold(c), s.link.Breaks()
	id, err := s.send(ctx, r.in, r.request)
	r.id = id
	return r, r.queue(ctx, err)
}

// queue begins to wait for the kernel to take up the request. If err says that it was perhaps not
// sent whole, the kernel is killed or, if it is not ours, disconnected. That is not so if the request
// is too large or ctx has ended.
func (r *run) queue(ctx context.Context, err error) error {
	now := time.Now()
	r.phase, r.taken, r.idle = queued, false, false
	r.roused, r.heard, r.began = now, now, now
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("execute: %w", Ended(ctx))
	}
	if _, large := errors.AsType[*tooLargeError](err); !large {
		// whether the cell runs is unknown, and so is the state
		r.s.owner.kill("with a cell that it may have been sent or not")
	}
	return fmt.Errorf("execute: %w", err)
}

// follow waits for the end of the run. The error says why ctx has ended, or that the kernel can no
// longer be reached; the execution then has the outputs so far.
func (r *run) follow(ctx context.Context) (notebook.Execution, error) {
	if r.phase == over {
		return r.exec, r.lost
	}
	defer func() { r.s.forget(r.id, r.probe) }()
	gone := ctx.Done()
	// Deadlines are checked at each tick, all in one place: none needs more precision.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	// The end of the run cancels a pending input().
	asked, enough := context.WithCancel(ctx)
	defer enough()
	for r.phase != over {
		select {
		case <-r.in.ready:
			for _, m := range r.s.take(r.in) {
				r.on(asked, m)
			}
		case a := <-r.answers:
			r.sendInput(a)
		case <-r.s.owner.gone():
			r.died()
		case now := <-tick.C:
			r.tick(now)
		case <-gone:
			if errors.Is(Ended(ctx), ErrClosed) && r.s.guest == nil {
				return r.execution(), ErrClosed // Close ends the kernel anyway
			}
			gone = nil
			r.stop("the caller has gone", r.s.waits.cancel)
		}
	}
	if gone == nil {
		return r.execution(), Ended(ctx)
	}
	return r.execution(), r.lost
}

// tick acts on what the present phase waits for in vain.
func (r *run) tick(now time.Time) {
	w, quiet := r.s.waits, now.Sub(r.heard)
	if quiet > w.idle && now.Sub(r.looked) > w.idle {
		r.looked = now
		r.s.owner.check()
	}
	if r.probe == "" && quiet > w.idle && r.mayHaveLost(now) {
		r.test()
		return
	}
	switch r.phase {
	case queued:
		switch {
		case r.s.guest != nil: // it waits behind other clients' cells, as long as the caller likes
			r.rouse(now)
		case !r.late(now) && now.Sub(r.sent) > w.takeUp:
			r.stop(fmt.Sprintf("stopped: the kernel did not take up the cell for %v s", w.takeUp.Seconds()),
				w.interrupt)
		default:
			r.rouse(now)
		}
	case busy:
		r.late(now)
	case stopping:
		if now.After(r.until) {
			r.s.endVisitLater()
			r.killed = r.s.kill() // follow notices its end
			r.phase, r.until = killing, now.Add(w.kill)
		}
	case killing:
		if now.After(r.until) {
			r.s.owner.kill(deafToInterrupts) // the whole kernel, not only its worker
			r.killed = "the kernel was to be killed, and could not be"
			r.cause = cmp.Or(r.s.owner.fate().how, r.cause)
			r.die(strings.TrimPrefix(r.cause+"; it could not be killed", "; "))
		}
	case draining:
		if quiet > 2*w.idle {
			r.giveUp()
		}
	}
	r.deaf(now)
}

// mayHaveLost reports whether a message may have been lost on the way.
func (r *run) mayHaveLost(now time.Time) bool {
	switch r.phase {
	case queued, busy:
		return r.s.link.Breaks() != r.breaks
	case stopping:
		return r.s.link.Breaks() != r.breaks && now.Before(r.until)
	}
	return r.phase == draining
}

// late stops a cell that has exceeded its time-out, and reports whether it has.
func (r *run) late(now time.Time) bool {
	late := r.limit > 0 && now.Sub(r.began) > r.limit
	if late {
		r.stop(fmt.Sprintf("stopped after %v s (the cell time-out)", r.limit.Seconds()),
			r.s.waits.interrupt)
	}
	return late
}

// deaf has the kernel killed in a second if its connections have closed, perhaps by the cell.
func (r *run) deaf(now time.Time) {
	select {
	case <-r.s.link.Drained():
		if r.phase != stopping && r.phase != killing && r.phase != over {
			r.phase, r.until, r.cause = stopping, now.Add(time.Second), "it closed its connections"
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

// stop interrupts the cell, for the reason why. If it has not ended after patience, the kernel is
// killed.
func (r *run) stop(why string, patience time.Duration) {
	r.stopped = cmp.Or(r.stopped, why)
	switch r.phase {
	case draining:
		r.giveUp()
	case queued, busy, asking, stopping:
		r.phase, r.until = stopping, time.Now().Add(patience)
		if r.taken || r.s.guest == nil { // otherwise it could hit another client's cell
			r.s.owner.interrupt(r.s)
		}
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
	if r.phase == over || isGone(r.s.owner) { // follow handles the end of the kernel
		return
	}
	r.phase = over
	switch {
	case r.replied:
		r.incomplete("the kernel's last messages were lost")
		return
	case !r.taken:
		r.lost = errors.New("execute: the connection was lost for a while, and whether the cell has " +
			"run cannot be known")
		return
	}
	r.incomplete("the kernel's reply was lost")
	for _, o := range r.fold.Outputs() {
		if o.Type == notebook.ErrorOutput {
			r.exec.Status = notebook.Raised
		}
	}
}

// died ends the run after the end of the kernel, once the messages that it sent have been read.
func (r *run) died() {
	f := r.s.owner.fate()
	select {
	case <-r.s.link.Drained():
	case <-time.After(500 * time.Millisecond): // another process holds a socket open
	}
	for _, m := range r.s.take(r.in) {
		r.on(context.Background(), m)
	}
	switch {
	case r.phase == over: // it died after the cell
	case f.lost != nil:
		r.phase, r.lost = over, fmt.Errorf("execute: %w", f.lost)
	case r.killed != "" && r.cause != "" && !f.itself:
		// only if it was killed: one that ends by itself closes its connections, too, before its end is
		// noticed
		r.die(r.cause)
	default:
		r.die(f.how)
	}
}

func (r *run) die(how string) {
	r.phase = over
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
