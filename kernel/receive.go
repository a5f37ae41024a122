package kernel

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"dsstar/notebook"
)

// on handles one message.
func (r *run) on(ctx context.Context, m Message) {
	switch {
	case m.Channel == gap:
		r.incomplete("more messages waited than there is room for")
		return
	case m.Parent.MsgID == r.probe: // requests are handled in order: what is missing now is lost
		if m.Channel == IOPub && stateOf(m) == "idle" {
			r.giveUp()
		}
		return
	case m.Parent.MsgID != r.id: // a request that was aborted
		return
	}
	r.heard = time.Now()
	var err error
	switch kind := m.Header.MsgType; {
	case m.Channel == Shell && kind == "execute_reply":
		r.reply(ctx, m)
	case m.Channel == Stdin && kind == "input_request":
		r.forwardInput(ctx, m)
	case m.Channel != IOPub:
	case kind == "status" || kind == "execute_input":
		r.state(m)
	case kind == "error":
		err = r.publishError(m)
	case kind == "stream" && exceeded(m.Content):
		r.incomplete("the Jupyter server held output back that came faster than it passes on " +
			"(its options iopub_msg_rate_limit and iopub_data_rate_limit lift that)")
	default:
		err = r.fold.Add(kind, m.Content)
	}
	if err != nil {
		r.incomplete(m.Header.MsgType + " that could not be read: " + err.Error())
	}
}

// exceeded recognises the message that a server sends in place of the output that it drops
// (jupyter_server, kernels/connection/channels.py, _limit_rate).
func exceeded(content json.RawMessage) bool {
	const longest = 2000
	var c struct{ Name, Text string }
	return len(content) <= longest && bytes.Contains(content, []byte(" rate exceeded.")) &&
		json.Unmarshal(content, &c) == nil && c.Name == "stderr" &&
		(strings.HasPrefix(c.Text, "IOPub message rate exceeded.") ||
			strings.HasPrefix(c.Text, "IOPub data rate exceeded."))
}

// reply handles an execute_reply.
func (r *run) reply(ctx context.Context, m Message) {
	var reply struct {
		Status        string
		Count         int `json:"execution_count"`
		EName, EValue string
		Payload       json.RawMessage
	}
	if err := json.Unmarshal(m.Content, &reply); err != nil {
		r.incomplete("the kernel's reply could not be read: " + err.Error())
	}
	if reply.Status == "aborted" && r.stopped == "" && r.aborts < maxAborts {
		// The kernel is still aborting requests queued behind a failed cell (stop_on_error), and aborted
		// this one with them. It has not run.
		r.aborts++
		r.s.forget(r.id)
		id, err := r.s.send(ctx, r.in, r.request)
		if r.id = id; r.queue(ctx, err) == nil {
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
	r.drain()
}

// maxAborts is how often a request is repeated that the kernel answered with "aborted", without
// running it.
const maxAborts = 5

const endedByCell = "the cell ended the session (exit(), quit())"

// asksExit reports whether the payload of an execute_reply asks for the end of the kernel, as after
// exit() and quit().
func asksExit(payload json.RawMessage) bool {
	type request struct {
		Source     string
		KeepKernel bool // only the client is to end
	}
	var all []request
	_ = json.Unmarshal(payload, &all) // what cannot be read asks for nothing
	return slices.ContainsFunc(all, func(p request) bool { return p.Source == "ask_exit" && !p.KeepKernel })
}

// state handles what shows that the kernel has taken up the request, or done with it.
func (r *run) state(m Message) {
	var c struct {
		State string `json:"execution_state"`
		Count int    `json:"execution_count"`
	}
	_ = json.Unmarshal(m.Content, &c) // an unreadable status counts as unknown
	if !r.taken {
		r.taken, r.began = true, time.Now()
	}
	if r.phase == queued {
		r.phase = busy
	}
	r.idle = r.idle || c.State == "idle"
	r.exec.Count = max(r.exec.Count, c.Count)
	r.drain()
}

// drain begins to wait for the other one when execute_reply or the status idle has come.
func (r *run) drain() {
	switch {
	case r.replied && r.idle:
		r.phase = over
	case (r.replied || r.idle) && r.phase != killing && r.phase != over:
		r.phase = draining
	}
}

// publishError handles an exception. If the sandbox may have caused it, a hint is added to the
// traceback.
func (r *run) publishError(m Message) error {
	o, err := notebook.ParseError(m.Content)
	if err != nil {
		return err
	}
	if _, ok := r.s.obituary(o.EName, o.EValue); ok {
		return nil // the reply says so too
	}
	if hint := r.s.hint(o); hint != "" {
		o.Traceback = append(o.Traceback, hint)
	}
	r.fold.AddError(o)
	return nil
}

// incomplete notes in the outputs that some may be missing, once for each reason.
func (r *run) incomplete(why string) {
	if strings.Contains(r.exec.Incomplete, why) {
		return
	}
	r.exec.Incomplete = strings.TrimPrefix(r.exec.Incomplete+"; "+why, "; ")
	r.fold.Note("output may be incomplete: " + why)
}

// An answer is what somebody typed for input().
type answer struct {
	request Message
	text    string
	err     error
}

// forwardInput passes a prompt of input() to the InputFunc. Meanwhile the cell's time-out is
// suspended.
func (r *run) forwardInput(ctx context.Context, m Message) {
	if r.s.input == nil || r.answers != nil {
		return
	}
	if r.phase == queued || r.phase == busy {
		r.phase, r.taken = asking, true
	}
	var c struct {
		Prompt   string
		Password bool
	}
	_ = json.Unmarshal(m.Content, &c) // if it cannot be read, the prompt is empty
	answers := make(chan answer, 1)
	r.answers, r.asked = answers, time.Now()
	go func() {
		text, err := r.s.input(ctx, c.Prompt, c.Password)
		answers <- answer{m, text, err}
	}()
}

// sendInput sends an answer to the kernel, or interrupts the cell if there is none.
func (r *run) sendInput(a answer) {
	if r.answers = nil; r.phase == asking {
		r.phase = busy
	}
	r.began = r.began.Add(time.Since(r.asked)) // the time-out excludes this wait
	r.heard = time.Now()
	if a.err == nil {
		body, _ := json.Marshal(map[string]string{"value": a.text}) // a string cannot fail
		_, a.err = r.s.send(atOnce, nil, Message{
			Channel: Stdin, Header: Header{MsgType: "input_reply"}, Parent: a.request.Header, Content: body,
		})
	}
	if a.err != nil {
		r.fold.Note("input() was not answered: " + a.err.Error())
		r.s.owner.interrupt(r.s)
	}
}
