package ui

import (
	"maps"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// await sets what the run is waiting for, and reports whether that is new.
func (v *view) await(doing string, now time.Time) bool {
	if doing == v.doing {
		return false
	}
	v.doing, v.since = doing, now
	return true
}

// learn updates the view after an event.
func (v *view) learn(e agent.Event, t *record.Trajectory, now time.Time) {
	v.ran, v.usage, v.cost = true, t.Usage, t.Cost
	if v.cost != nil {
		cost := *v.cost // t must not be kept
		v.cost = &cost
	}
	switch e.Kind {
	case agent.Started:
		v.files = len(t.Task.Files)
	case agent.Described:
		v.described++
		v.drop(e.Text)
		if len(v.drafts) == 0 && strings.HasPrefix(v.doing, DescribingFiles) {
			v.await(DescribingFiles, now)
		}
	case agent.Planned, agent.Repeated:
		v.drafts, v.output, v.verdict, v.route = nil, nil, "", ""
		v.round, v.step, v.text = e.Round, e.Step, e.Text
	case agent.Ran, agent.Rejected, agent.Branched, agent.Read, agent.Derived:
		v.drafts = nil
	case agent.Judged:
		v.drafts, v.verdict, v.verdictStyle = nil, judgement(t), judgementStyle(t)
	case agent.Routed:
		v.drafts, v.route = nil, direction(t)
	case agent.WentBack:
		v.drafts, v.output = nil, nil
	case agent.Proving, agent.Ended:
		v.drafts, v.output, v.round, v.verdict, v.route = nil, nil, 0, "", ""
	}
}

// drop removes the draft about a file.
func (v *view) drop(file string) {
	v.drafts = slices.DeleteFunc(v.drafts, func(d draft) bool {
		return d.subject == file || strings.HasPrefix(d.subject, file+", ")
	})
}

// asking sets what is being waited for after a request is sent. Several files may be described
// concurrently.
func (v *view) asking(d draft, now time.Time) {
	doing := "asking the " + d.role
	if v.model != nil {
		if name := v.model(d.role); name != "" {
			doing += " (" + name + ")"
		}
	}
	if v.round == 0 && slices.Contains([]string{"analyzer", "debugger", "summarizer"}, d.role) {
		v.await(DescribingFiles+": "+doing, now)
		return
	}
	v.doing, v.since = doing, now
}

// DescribingFiles names the activity before the first round.
const DescribingFiles = "describing the files"

// write records a request, or its reply so far.
func (v *view) write(d draft, now time.Time) {
	if d.text == nil {
		v.asking(d, now)
	}
	same := func(other draft) bool { return other.role == d.role && other.subject == d.subject }
	switch i := slices.IndexFunc(v.drafts, same); {
	case i >= 0:
		v.drafts[i] = d
	case d.role == "analyzer" || d.role == "debugger" && v.round == 0: // concurrent requests
		v.drafts = append(v.drafts, d)
	default:
		v.drafts = []draft{d}
	}
}

// run shows a cell that begins to run, unless it only rebuilds a session.
func (v *view) run(code string, now time.Time) {
	if v.round == 0 {
		v.await("preparing the session", now)
		return
	}
	v.drafts, v.output = []draft{{"coder", "", func() string { return code }}}, nil
	v.await("running the cell", now)
}

// put appends to the cell's output and keeps only the end.
func (v *view) put(text string) {
	text = text[max(0, len(text)-TailBytes):]
	v.output = append(v.output, text...)
	if n := len(v.output); n > 4*TailBytes {
		v.output = append(v.output[:0], v.output[n-TailBytes:]...)
	}
}

// outputText returns an output as text. Exceptions are reported when the cell ends.
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
