package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/notebook"
)

// await says what is being waited for from now on.
func (v *view) await(doing string, now time.Time) {
	if doing != v.doing {
		v.doing, v.since = doing, now
	}
}

// learn takes over what an event has changed.
func (v *view) learn(e agent.Event, t *agent.Trajectory) {
	v.ran, v.usage, v.cost = true, t.Usage, t.Cost
	if v.cost != nil {
		cost := *v.cost // t is not ours
		v.cost = &cost
	}
	switch e.Kind {
	case agent.Started:
		v.files = len(t.Task.Files)
	case agent.Described:
		v.described++
		v.drop(e.Text)
	case agent.Planned:
		v.drafts, v.output, v.verdict, v.route = nil, nil, "", ""
		v.round, v.step, v.text = e.Round, e.Step, e.Text
	case agent.Ran, agent.Rejected, agent.Picked:
		v.drafts = nil
	case agent.Judged:
		v.drafts, v.verdict = nil, judgement(t)
	case agent.Routed:
		v.drafts, v.route = nil, direction(t)
	case agent.WentBack:
		v.drafts, v.output = nil, nil
	case agent.Proving, agent.Ended:
		v.drafts, v.output, v.round, v.verdict, v.route = nil, nil, 0, "", ""
	}
}

// drop takes away what was written about a file.
func (v *view) drop(file string) {
	v.drafts = slices.DeleteFunc(v.drafts, func(d draft) bool {
		return d.subject == file || strings.HasPrefix(d.subject, file+", ")
	})
}

// doings are what is being waited for while a role writes.
var doings = map[string]string{
	"planner": "planning", "coder": "writing the cell", "debugger": "repairing the cell", "verifier": "judging",
	"router": "choosing where to go on", "finalizer": "writing the answer's cell",
}

// write takes over how far a reply has come.
func (v *view) write(d draft, now time.Time) {
	if doing := doings[d.role]; doing != "" {
		v.await(doing, now)
	}
	same := func(other draft) bool { return other.role == d.role && other.subject == d.subject }
	switch i := slices.IndexFunc(v.drafts, same); {
	case i >= 0:
		v.drafts[i] = d
	case d.role == "analyzer" || d.role == "debugger" && v.round == 0: // several at the same time
		v.drafts = append(v.drafts, d)
	default:
		v.drafts = []draft{d}
	}
}

// run shows a cell that begins to run. Those before the first step are not worth it.
func (v *view) run(code string, now time.Time) {
	if v.round == 0 {
		return
	}
	v.drafts, v.output = []draft{{"coder", "", code}}, nil
	v.await("running the cell", now)
}

// put adds what a cell puts out; only the end is kept.
func (v *view) put(text string) {
	text = text[max(0, len(text)-tailBytes):]
	v.output = append(v.output, text...)
	if n := len(v.output); n > 4*tailBytes {
		v.output = append(v.output[:0], v.output[n-tailBytes:]...)
	}
}

// outputText is what lines of text show of an output. Exceptions are told of by
// the event of the cell's end.
func outputText(o notebook.Output) string {
	switch o.Type {
	case notebook.Stream:
		return o.Text
	case notebook.ErrorOutput:
		return ""
	}
	text, _ := o.Data["text/plain"].(string)
	for _, mime := range slices.Sorted(maps.Keys(o.Data)) {
		kind, _, _ := strings.Cut(mime, "/")
		switch {
		case kind == "image" || kind == "video" || kind == "audio":
			return "\n[" + kind + "]\n"
		case text == "":
			text = "[" + mime + "]"
		}
	}
	return "\n" + text + "\n"
}
