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
	if m.Header.MsgType != "input_request" || r.s.input == nil || r.asking != nil {
		return
	}
	var c struct {
		Prompt   string
		Password bool
	}
	_ = json.Unmarshal(m.Content, &c) // if it cannot be read, the prompt is empty
	asking := make(chan answer, 1)
	r.asking = asking
	go func() {
		text, err := r.s.input(ctx, c.Prompt, c.Password)
		asking <- answer{m, text, err}
	}()
}

// sendInput sends an answer to the kernel, or interrupts the cell if there is none.
func (r *run) sendInput(a answer) {
	r.asking = nil
	r.began = r.began.Add(time.Since(r.heard)) // the time-out excludes this wait
	r.heard = time.Now()
	if a.err == nil {
		body, _ := json.Marshal(map[string]string{"value": a.text}) // a string cannot fail
		_, a.err = r.s.send(atOnce, nil, Message{
			Channel: Stdin, Header: Header{MsgType: "input_reply"}, Parent: a.request.Header, Content: body,
		})
	}
	if a.err != nil {
		r.fold.Note("input() was not answered: " + a.err.Error())
		r.s.host.interrupt(r.s)
	}
}
