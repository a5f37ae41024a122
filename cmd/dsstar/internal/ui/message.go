package ui

import (
	"encoding/json"

	"dsstar/agent"
	"dsstar/agent/record"
)

// A message is one line of the progress for programs. Its fields are a contract: docs/results.md.
type message struct {
	// the kind of an [agent.Event], or: line, one of the progress for people; waiting, what the run
	// waits for from now on; folder, that of the run
	Event   string `json:"event"`
	Text    string `json:"text"`
	Step    int    `json:"step,omitempty"`
	Code    string `json:"code,omitempty"`    // of ran
	Status  string `json:"status,omitempty"`  // of ran: that of the execution
	Verdict string `json:"verdict,omitempty"` // of judged
	Spent   *spent `json:"spent,omitempty"`   // of events of the run
}

type spent struct {
	Calls        int      `json:"calls"`
	InputTokens  int      `json:"input_tokens"`
	OutputTokens int      `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"` // null: unknown
}

// send writes a message, if the progress is for programs.
func (p *Progress) send(m message) {
	if p.screen.JSON {
		b, _ := json.Marshal(m) // no field can fail
		p.screen.Tell(Line{Text: EscapeControls(string(b))})
	}
}

// eventMessage returns the message of an event.
func eventMessage(e agent.Event, t *record.Trajectory) message {
	m := message{Event: string(e.Kind), Text: e.Text, Step: e.Step,
		Spent: &spent{t.Usage.Calls, t.Usage.InputTokens, t.Usage.OutputTokens, t.Cost}}
	if e.Execution != nil {
		m.Status = string(e.Execution.Status)
	}
	switch last := t.Last(); {
	case last == nil:
	case e.Kind == agent.Ran && (last.Verdict == nil || len(t.Rest) > 0) && len(last.Attempts) > 0:
		m.Code = last.Attempts[len(last.Attempts)-1].Code
	case e.Kind == agent.Judged:
		m.Verdict = last.Verdict.Word()
	}
	return m
}
