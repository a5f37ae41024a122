package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dsstar/notebook"
)

// maxAborts is how often a request is sent again that the kernel answered
// "aborted", without having run it.
const maxAborts = 5

// A run follows one execute_request until all is known about it. It ends when
// both execute_reply and the status idle have arrived, in whatever order, or
// when something else has made waiting for them pointless.
type run struct {
	s      *session
	code   string
	silent bool          // not a cell: not counted, publishes nothing
	limit  time.Duration // 0 for none

	in   *inbox
	id   string // of the execute_request
	fold notebook.Fold
	exec notebook.Execution // Outputs stay empty until finish

	busy, replied, idle bool
	over                bool // nothing more is waited for
	aborts              int

	sent    time.Time
	roused  time.Time // when the kernel was last roused, or the request sent
	heard   time.Time // when the last message about the request arrived
	probe   string    // id of the kernel_info_request that tests for a lost message
	killAt  time.Time // after an interrupt: when patience ends; zero without one
	killed  bool
	cause   string // why the kernel was killed, if not for ignoring an interrupt
	stopped string // why the cell was interrupted; "" if it was not
}

// execute runs the code of r. See Kernel.Execute.
func (r *run) execute(ctx context.Context) (notebook.Execution, error) {
	r.in, r.sent, r.exec.Status = newInbox(), time.Now(), notebook.OK
	if !r.s.proc.alive() {
		r.exec.Status, r.exec.Reason = notebook.Died, "the kernel was already dead: "+r.s.proc.death()
		return r.exec, nil
	}
	if ctx.Err() != nil {
		return notebook.Execution{}, reason(ctx)
	}
	if err := r.send(); err != nil {
		r.s.proc.kill() // whether the cell runs cannot be known: the state is lost
		return notebook.Execution{}, fmt.Errorf("execute: %w", err)
	}
	defer func() { r.s.forget(r.id); r.s.forget(r.probe) }()
	if err := r.follow(ctx); err != nil {
		return notebook.Execution{}, err
	}
	return r.finish(), nil
}

// send sends the execute_request.
func (r *run) send() (err error) {
	r.id, err = r.s.request(r.in, shell, "execute_request", map[string]any{
		"code": r.code, "silent": r.silent, "store_history": !r.silent,
		"user_expressions": struct{}{}, "allow_stdin": false, "stop_on_error": true,
	})
	now := time.Now()
	r.roused, r.heard = now, now
	return err
}

// follow waits for the end of the run. An error means that the caller has gone.
func (r *run) follow(ctx context.Context) error {
	gone := ctx.Done()
	// All deadlines are checked at each tick: there are six of them, none needs
	// more precision, and one place decides which is due.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !r.over {
		select {
		case <-r.in.ready:
			r.read()
		case <-r.s.proc.exited:
			r.died()
		case now := <-tick.C:
			r.check(now)
		case <-gone:
			if errors.Is(reason(ctx), ErrClosed) {
				return ErrClosed // Close ends the process anyway
			}
			gone = nil
			r.stop("the caller has gone", r.s.waits.cancel)
		}
	}
	if gone == nil {
		return reason(ctx)
	}
	return nil
}

// reason returns why ctx has ended: ErrClosed after Close, else ctx.Err().
func reason(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrClosed) {
		return ErrClosed
	}
	return ctx.Err()
}

// read takes in all messages that have arrived.
func (r *run) read() {
	for _, d := range r.in.take() {
		switch d.msg.Parent.MsgID {
		case r.id:
			r.heard = time.Now()
			if d.from == shell {
				r.reply(d.msg.Content)
			} else if d.from == iopub {
				r.publish(d.msg.Header.MsgType, d.msg.Content)
			}
		case r.probe:
			r.probed(d)
		}
	}
	if r.replied && r.idle {
		r.over = true
	}
}

// reply takes in an execute_reply.
func (r *run) reply(content json.RawMessage) {
	var reply struct {
		Status string `json:"status"`
		Count  int    `json:"execution_count"`
	}
	if err := json.Unmarshal(content, &reply); err != nil {
		r.doubt("the kernel's reply could not be read: " + err.Error())
	}
	if reply.Status == "aborted" && r.stopped == "" && r.aborts < maxAborts {
		// The kernel is still throwing away what was queued behind a failed cell
		// (stop_on_error) and took this one for a part of it. It has not run.
		r.aborts++
		r.s.forget(r.id)
		r.busy, r.idle = false, false
		if r.send() == nil {
			return
		}
	}
	r.replied = true
	r.exec.Count = max(r.exec.Count, reply.Count)
	if reply.Status != "ok" {
		r.exec.Status = notebook.Raised
	}
}

// publish takes in an iopub message.
func (r *run) publish(msgType string, content json.RawMessage) {
	var c struct {
		State string `json:"execution_state"`
		Count int    `json:"execution_count"`
	}
	switch msgType {
	case "status", "execute_input":
		_ = json.Unmarshal(content, &c) // an unreadable status is an unknown status
		r.busy = true                   // whatever it says, the kernel has taken the request up
		r.idle = r.idle || c.State == "idle"
		r.exec.Count = max(r.exec.Count, c.Count)
	}
	if err := r.fold.Add(msgType, content); err != nil {
		r.doubt(msgType + " that could not be read: " + err.Error())
	}
}

// probed takes in an answer to the probe. The kernel deals with one request
// after the other, so that whatever has not arrived by now was lost.
func (r *run) probed(d delivery) {
	var c struct {
		State string `json:"execution_state"`
	}
	if d.from != iopub || d.msg.Header.MsgType != "status" {
		return
	}
	if json.Unmarshal(d.msg.Content, &c) == nil && c.State == "idle" {
		r.lost()
	}
}

// check acts on the deadlines that have passed by now.
func (r *run) check(now time.Time) {
	w := r.s.waits
	quiet := now.Sub(r.heard)
	switch {
	case r.killed:
		if now.After(r.killAt.Add(w.kill)) {
			r.die("it could not be killed")
		}
	case !r.killAt.IsZero() && now.After(r.killAt):
		r.killed = true
		r.s.proc.kill() // its end is noticed by follow
	case r.replied != r.idle && r.probe == "" && quiet > w.idle:
		r.test()
	case r.replied != r.idle && quiet > 2*w.idle:
		r.lost()
	case r.replied || r.idle || r.stopped != "" || r.cause != "":
	case r.limit > 0 && now.Sub(r.sent) > r.limit:
		r.stop(fmt.Sprintf("stopped after %v s (the cell time-out)", r.limit.Seconds()), w.interrupt)
	case !r.busy && now.Sub(r.sent) > w.takeUp:
		r.stop(fmt.Sprintf("stopped: the kernel did not take up the cell for %v s", w.takeUp.Seconds()), w.interrupt)
	case !r.busy && now.Sub(r.roused) > w.rouse:
		r.roused = now
		r.s.link.Rouse()
	}
	select {
	case <-r.s.link.Drained():
		// The code may have closed the kernel's sockets. It is of no use now.
		if r.killAt.IsZero() && !r.over {
			r.killAt, r.cause = now.Add(time.Second), "it closed its connections"
		}
	default:
	}
}

// stop interrupts the cell for the given reason. The kernel is killed if that
// has not ended the cell before patience ends.
func (r *run) stop(why string, patience time.Duration) {
	if r.stopped == "" {
		r.stopped = why
	}
	r.killAt = time.Now().Add(patience)
	r.s.interrupt()
}

// test finds out whether the missing one of reply and idle was lost.
func (r *run) test() {
	r.s.link.Rouse() // the reply may be stuck in the kernel
	id, err := r.s.request(r.in, shell, "kernel_info_request", struct{}{})
	if err != nil {
		r.lost()
		return
	}
	r.probe = id
}

// lost ends the run without the message that has not come.
func (r *run) lost() {
	if r.over || r.replied == r.idle {
		return
	}
	r.over = true
	if r.replied {
		r.doubt("the kernel's last messages were lost")
		return
	}
	r.doubt("the kernel's reply was lost")
	for _, o := range r.fold.Outputs() {
		if o.Type == notebook.ErrorOutput {
			r.exec.Status = notebook.Raised
		}
	}
}

// doubt tells the reader of the outputs that some may be missing.
func (r *run) doubt(why string) {
	// Text in a map of strings: neither the marshalling nor the folding can fail.
	content, _ := json.Marshal(map[string]string{
		"name": "stderr", "text": "dsstar: output may be incomplete: " + why + "\n",
	})
	_ = r.fold.Add("stream", content)
}

// died ends the run after the process has ended, with all that it still sent.
func (r *run) died() {
	select {
	case <-r.s.link.Drained():
	case <-time.After(500 * time.Millisecond): // a stranger holds the socket open
	}
	r.read()
	if r.over {
		return // it died after the cell
	}
	how := r.s.proc.death()
	if r.killed && r.cause != "" { // only then: the connections of a killed process close before its end is noticed
		how = r.cause
	}
	r.die(how)
}

func (r *run) die(how string) {
	r.over = true
	r.exec.Status, r.exec.Reason = notebook.Died, "the kernel died: "+how
}

// finish returns what the run gave.
func (r *run) finish() notebook.Execution {
	if r.stopped != "" {
		switch {
		case r.killed:
			r.exec.Reason = r.stopped + "; it ignored the interrupt, so that the kernel was killed"
		case r.exec.Status == notebook.Died:
			r.exec.Reason = r.stopped + "; " + r.exec.Reason
		default:
			r.exec.Reason = r.stopped
		}
		r.exec.Status = notebook.TimedOut
	}
	r.exec.Outputs = r.fold.Outputs()
	r.exec.Seconds = time.Since(r.sent).Seconds()
	return r.exec
}
