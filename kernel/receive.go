package kernel

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"dsstar/kernel/internal/inbox"
	"dsstar/notebook"
)

// read handles the messages that have arrived.
func (r *run) read(ctx context.Context) {
	for _, m := range r.in.Take() {
		if m.Channel == inbox.Gap {
			r.doubt("more messages waited than there is room for")
			continue
		}
		switch m.Parent.MsgID {
		case r.id:
			r.heard = time.Now()
			switch m.Channel {
			case Shell:
				r.reply(ctx, m)
			case IOPub:
				r.publish(m)
			case Stdin:
				r.forwardInput(ctx, m)
			}
		case r.probe:
			r.probed(m)
		}
	}
	if r.replied && r.idle {
		r.over = true
	}
}

// reply handles an execute_reply.
func (r *run) reply(ctx context.Context, m Message) {
	if m.Header.MsgType != "execute_reply" {
		return
	}
	var reply struct {
		Status        string
		Count         int `json:"execution_count"`
		EName, EValue string
		Payload       json.RawMessage
	}
	if err := json.Unmarshal(m.Content, &reply); err != nil {
		r.doubt("the kernel's reply could not be read: " + err.Error())
	}
	if reply.Status == "aborted" && r.stopped == "" && r.aborts < maxAborts {
		// The kernel is still aborting requests queued behind a failed cell (stop_on_error), and aborted
		// this one with them. It has not run.
		r.aborts++
		r.s.forget(r.id)
		r.busy, r.idle = false, false
		if r.send(ctx) == nil {
			return
		}
	}
	r.replied = true
	r.exec.Count = max(r.exec.Count, reply.Count)
	if reply.Status != "ok" {
		r.exec.Status = notebook.Raised
	}
	if how, ok := r.s.obituary(reply.EName, reply.EValue); ok {
		r.s.fall(how)
		r.exec.Status, r.exec.Reason = notebook.Died, r.s.death(how)
	}
	if asksExit(reply.Payload) { // the kernel ends in a moment
		r.s.fall("a cell ended it")
		r.exec.Status, r.exec.Reason = notebook.Died, endedByCell
	}
}

const endedByCell = "the cell ended the session (exit(), quit())"

// asksExit reports whether the payload of an execute_reply asks for the end of the kernel, as after
// exit() and quit().
func asksExit(payload json.RawMessage) bool {
	var all []struct {
		Source     string
		KeepKernel bool // only the client is to end
	}
	_ = json.Unmarshal(payload, &all) // what cannot be read asks for nothing
	for _, p := range all {
		if p.Source == "ask_exit" && !p.KeepKernel {
			return true
		}
	}
	return false
}

// publish handles an iopub message.
func (r *run) publish(m Message) {
	switch m.Header.MsgType {
	case "status", "execute_input":
		var c struct {
			State string `json:"execution_state"`
			Count int    `json:"execution_count"`
		}
		_ = json.Unmarshal(m.Content, &c) // an unreadable status counts as unknown
		if !r.busy {
			r.busy = true // any message shows that the kernel has taken up the request
			r.began = time.Now()
		}
		r.idle = r.idle || c.State == "idle"
		r.exec.Count = max(r.exec.Count, c.Count)
	case "stream":
		if exceeded(m.Content) {
			r.doubt("the Jupyter server held output back that came faster than it passes on " +
				"(its options iopub_msg_rate_limit and iopub_data_rate_limit lift that)")
			return
		}
	case "error":
		r.publishError(m)
		return
	}
	if err := r.fold.Add(m.Header.MsgType, m.Content); err != nil {
		r.doubt(m.Header.MsgType + " that could not be read: " + err.Error())
	}
}

// publishError handles an exception. If the sandbox may have caused it, a hint is added to the
// traceback.
func (r *run) publishError(m Message) {
	o, err := notebook.ParseError(m.Content)
	if err != nil {
		r.doubt("error that could not be read: " + err.Error())
		return
	}
	if _, ok := r.s.obituary(o.EName, o.EValue); ok {
		return // the reply says so too
	}
	if hint := r.s.hint(o); hint != "" {
		o.Traceback = append(o.Traceback, hint)
	}
	r.fold.AddError(o)
}

// probed handles an answer to the probe. The kernel handles requests in order, so any earlier
// message that has not arrived is lost.
func (r *run) probed(m Message) {
	if m.Channel == IOPub && m.Header.MsgType == "status" && stateOf(m) == "idle" {
		r.giveUp()
	}
}

// doubt notes in the outputs that some may be missing, once for each reason.
func (r *run) doubt(why string) {
	if strings.Contains(r.exec.Incomplete, why) {
		return
	}
	r.exec.Incomplete = strings.TrimPrefix(r.exec.Incomplete+"; "+why, "; ")
	r.fold.Note("output may be incomplete: " + why)
}
