package kernel

import (
	"context"
	"encoding/json"
	"time"
)

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
