package ui

import (
	"encoding/json"

	"dsstar/agent"
	"dsstar/agent/record"
)

// A message is one line of the progress for programs. Its fields are a contract: docs/results.md.
type message struct {
	// the kind of an [agent.Event], or one of the constants below
	Event   string  `json:"event"`
	Text    string  `json:"text"`
	Round   int     `json:"round,omitempty"`
	Step    int     `json:"step,omitempty"`
	Code    string  `json:"code,omitempty"`    // of ran
	Status  string  `json:"status,omitempty"`  // of ran: that of the execution
	Seconds float64 `json:"seconds,omitempty"` // of ran
	Verdict string  `json:"verdict,omitempty"` // of judged
	Spent   *spent  `json:"spent,omitempty"`   // of events of the run
}

// What the messages besides events of the run are.
const (
	lineMessage    = "line"    // a line of the progress for people
	waitingMessage = "waiting" // what the run waits for from now on
	folderMessage  = "folder"  // the run folder
)

type spent struct {
	Calls        int      `json:"calls"`
	InputTokens  int      `json:"input_tokens"`
	OutputTokens int      `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"` // null: unknown
}

// send writes a message, if the progress is for programs.
func (p *Progress) send(m message) {
	if !p.json {
		return
	}
	b, err := json.Marshal(m)
	if err != nil {
		return // no field of a message can fail
	}
	p.screen.Tell(Line{Text: EscapeControls(string(b))})
}

// eventMessage returns the message of an event.
func eventMessage(e agent.Event, t *record.Trajectory) message {
	m := message{Event: string(e.Kind), Text: e.Text, Round: e.Round, Step: e.Step,
		Spent: &spent{t.Usage.Calls, t.Usage.InputTokens, t.Usage.OutputTokens, t.Cost}}
	if e.Execution != nil {
		m.Status, m.Seconds = string(e.Execution.Status), e.Execution.Seconds
	}
	if last := t.Last(); last != nil {
		switch {
		case e.Kind == agent.Ran && (last.Verdict == nil || len(t.Rest) > 0) && len(last.Attempts) > 0:
			m.Code = last.Attempts[len(last.Attempts)-1].Code
		case e.Kind == agent.Judged:
			m.Verdict = last.Verdict.Word()
		case e.Kind == agent.Routed:
			m.Text = direction(t)
		}
	}
	return m
}
