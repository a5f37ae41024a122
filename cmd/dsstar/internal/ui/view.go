package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
)

// A view is the live part of a Progress, below the history: the position in the run, a reply or
// outputs as they arrive, and usage.
type view struct {
	begun, since     time.Time
	doing            string                   // what is being waited for since then; "": no view
	model            func(role string) string // a model's name; nil: not shown
	described, files int
	round, step      int
	text             string // of the step
	draft            draft
	output           []byte // the end of the cell's outputs
	spent            string // "": not known
}

// A draft is a model's reply so far, or the running cell.
type draft struct {
	role, subject string
	text          func() string // nil: nothing has come
}

// A row is one line of the view: a label in the margin, and text.
type row struct {
	label, text string
	style       Style // of the text
}

// Limits of the view, in lines.
const (
	viewRows   = 12
	draftRows  = 6
	outputRows = 4
)

// lines draws the view. The lines are clean and leave the last column free. If there are not enough
// rows, the first lines are dropped.
func (v *view) lines(now time.Time, columns, height int, colours bool) []string {
	if v.doing == "" {
		return nil
	}
	most := max(0, min(viewRows, height-2))
	head, foot := v.head(), v.foot(now, columns-1)
	rows := slices.Concat(head, v.body(max(0, most-len(head)-len(foot))), foot)
	rows = rows[max(0, len(rows)-most):]
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = r.draw(columns-1, colours)
	}
	return lines
}

func (r row) draw(columns int, colours bool) string {
	label := fmt.Sprintf("%-*s", Margin, r.label)
	line := strings.TrimRight(Cut(Clean(label+r.text), columns), " ")
	at := min(len(label), len(line))
	if at < len(label) { // cut within the margin
		at = 0
	}
	return Faint.Paint(line[:at], colours) + r.style.Paint(line[at:], colours)
}

// head shows the position in the run.
func (v *view) head() (rows []row) {
	if v.described < v.files {
		rows = append(rows, row{"files", fmt.Sprintf("%d of %d described", v.described, v.files), Normal})
	}
	if v.round > 0 {
		rows = append(rows,
			row{fmt.Sprintf("round %d", v.round), fmt.Sprintf("step %d: %s", v.step, v.text), Strong})
	}
	return rows
}

// body shows a reply and outputs in the given number of rows.
func (v *view) body(room int) []row {
	text, output := LastLines(v.draft.shown(), draftRows), LastLines(string(v.output), outputRows)
	below := min(len(output), max(room/2, room-len(text)))
	above := min(len(text), room-below)
	label := Fit(Clean(cmp.Or(agent.Roles[v.draft.role], v.draft.role)), Margin-1)
	return append(block(label, text[len(text)-above:]), block("output", output[len(output)-below:])...)
}

// block shows text in a frame.
func block(label string, lines []string) (rows []row) {
	for _, line := range lines {
		rows = append(rows, row{label, "│ " + line, Normal})
		label = ""
	}
	return rows
}

// shown returns the text of the draft: of a reply by JSON schema the field that came last.
func (d draft) shown() string {
	switch {
	case d.text == nil:
		return ""
	case d.subject == "": // a cell
		return d.text()
	}
	return ask.SoFar(d.text())
}

// foot shows what is being waited for, and usage.
func (v *view) foot(now time.Time, columns int) []row {
	since := ", " + elapsed(now.Sub(v.since))
	rows := []row{{"now", Cut(Clean(v.doing), max(1, columns-Margin-len(since))) + since, Normal}}
	if v.spent != "" {
		rows = append(rows, row{elapsed(now.Sub(v.begun)), v.spent, Normal})
	}
	return rows
}

// elapsed formats a duration in few characters.
func elapsed(d time.Duration) string {
	s := int(max(0, d).Seconds())
	switch {
	case s < 100:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}

// await sets what the run is waiting for, and reports whether that is new.
func (v *view) await(doing string, now time.Time) bool {
	if doing == v.doing {
		return false
	}
	v.doing, v.since = doing, now
	return true
}

// learn updates the view after an event.
func (v *view) learn(e agent.Event, t *record.Trajectory) {
	cached, cost := "", ""
	if t.Usage.CachedTokens > 0 {
		cached = fmt.Sprintf(" (%s cached)", human.Count(t.Usage.CachedTokens))
	}
	if t.Cost != nil {
		cost = ", ~" + human.Dollars(*t.Cost)
	}
	v.spent = fmt.Sprintf("%s, %s in%s, %s out%s", human.Plural(t.Usage.Calls, "call"),
		human.Count(t.Usage.InputTokens), cached, human.Count(t.Usage.OutputTokens), cost)
	switch e.Kind {
	case agent.Started:
		v.files = len(t.Task.Files)
	case agent.Described:
		v.described++
		if v.draft.subject == e.Text {
			v.draft = draft{}
		}
	case agent.Planned, agent.Repeated:
		v.draft, v.output, v.round, v.step, v.text = draft{}, nil, e.Round, e.Step, e.Text
	case agent.Ran, agent.Rejected, agent.Branched, agent.Read, agent.Derived, agent.Judged, agent.Routed:
		v.draft = draft{}
	case agent.WentBack:
		v.draft, v.output = draft{}, nil
	case agent.Proving, agent.Ended:
		v.draft, v.output, v.round = draft{}, nil, 0
	}
}

// write records a request, or its reply so far.
func (v *view) write(d draft, now time.Time) {
	v.draft = d
	if d.text != nil {
		return
	}
	v.doing, v.since = "asking the "+d.role, now
	if v.model != nil {
		if name := v.model(d.role); name != "" {
			v.doing += " (" + name + ")"
		}
	}
}

// run shows a cell that begins to run, unless it only rebuilds a session.
func (v *view) run(code string, now time.Time) {
	if v.round == 0 {
		v.await("preparing the session", now)
		return
	}
	v.draft, v.output = draft{"coder", "", func() string { return code }}, nil
	v.await("running the cell", now)
}

// put appends to the cell's output and keeps only the end.
func (v *view) put(text string) {
	v.output = append(v.output, text[max(0, len(text)-TailBytes):]...)
	if n := len(v.output); n > 4*TailBytes {
		v.output = append(v.output[:0], v.output[n-TailBytes:]...)
	}
}

// OutputText returns an output as text. Exceptions are reported when the cell ends.
func OutputText(o notebook.Output) string {
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
