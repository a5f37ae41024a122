package main

import (
	"fmt"
	"time"

	"dsstar/agent/bench/runner"
	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/cmd/dsstar/internal/term"
)

// A benchView shows the progress of a run on stderr.
type benchView struct {
	progress *progress.Progress
	total    int
	began    time.Time
}

// event shows an event. One call at a time.
func (v *benchView) event(e runner.Event) {
	switch e.Kind {
	case runner.Ended:
		v.ended(e)
	case runner.GivenBack:
		v.progress.Say("again    %s: %v", e.Key, e.Err)
	case runner.Lacking:
		v.progress.Say("lacking  %s: %v", e.Key, e.Err)
	case runner.Lost:
		v.progress.Say("lost     %s: %v", e.Place, e.Err)
	case runner.Back:
		v.progress.Say("back     %s", e.Place)
	}
	v.progress.Await(v.state(e.Totals))
}

func (v *benchView) ended(e runner.Event) {
	word, why := "right", ""
	switch _, scored := e.Record.Value(); {
	case !scored:
		word = "answer"
		why = prefixed(", not scored: ", e.Record.Unscored)
	case !e.Record.Right():
		word = "wrong"
		if score, _ := e.Record.Value(); score > 0 {
			word = "partly"
			why = fmt.Sprintf(", score %.2f", score)
		} else if e.Record.Cause != "" {
			why = ", " + string(e.Record.Cause)
		}
		why += prefixed(": ", term.Fit(e.Record.Error+e.Record.Detail, 100))
	}
	v.progress.Say("%-8s %s%s in %.0f s; %s", word, e.Key, why, e.Record.Seconds.Total, v.state(e.Totals))
}

// state returns the state of the run in one line.
func (v *benchView) state(t runner.Totals) string {
	done := t.Right + t.Wrong + t.Unscored
	text := fmt.Sprintf("%d of %d done: %d right, %d wrong", done, v.total, t.Right, t.Wrong)
	if t.Unscored > 0 {
		text += fmt.Sprintf(", %d not scored", t.Unscored)
	}
	text += fmt.Sprintf(", %d running", t.Running)
	if t.Cost > 0 {
		text += fmt.Sprintf(", %.2f US dollars", t.Cost)
	}
	if now := done - t.Earlier; now > 0 && done < v.total {
		left := time.Since(v.began) / time.Duration(now) * time.Duration(v.total-done)
		text += ", about " + left.Round(time.Second).String() + " left"
	}
	return text
}

// prefixed returns text after a prefix, or "" if it is empty.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
