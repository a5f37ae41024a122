package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
)

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

// picture draws the view. The lines are clean and leave the last column free. If there are not enough
// rows, the first lines are dropped.
func (p *Progress) picture(columns, height int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doing == "" {
		return nil
	}
	most := max(0, min(viewRows, height-2))
	head, foot := p.head(), p.foot(p.now(), columns-1)
	rows := slices.Concat(head, p.body(max(0, most-len(head)-len(foot))), foot)
	rows = rows[max(0, len(rows)-most):]
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = r.draw(columns-1, p.screen.Colours)
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
func (p *Progress) head() (rows []row) {
	if p.described < p.files {
		rows = append(rows, row{"files", fmt.Sprintf("%d of %d described", p.described, p.files), Normal})
	}
	if p.round > 0 {
		rows = append(rows,
			row{fmt.Sprintf("round %d", p.round), fmt.Sprintf("step %d: %s", p.step, p.text), Strong})
	}
	return rows
}

// body shows a reply and outputs in the given number of rows.
func (p *Progress) body(room int) []row {
	text, output := LastLines(p.draft.shown(), draftRows), LastLines(p.output, outputRows)
	below := min(len(output), max(room/2, room-len(text)))
	above := min(len(text), room-below)
	label := Fit(Clean(cmp.Or(agent.Roles[p.draft.role], p.draft.role)), Margin-1)
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

// shown returns the text of the draft.
func (d draft) shown() string {
	if d.text == nil {
		return ""
	}
	return d.text()
}

// foot shows what is being waited for, and usage.
func (p *Progress) foot(now time.Time, columns int) []row {
	since := ", " + elapsed(now.Sub(p.since))
	rows := []row{{"now", Cut(Clean(p.doing), max(1, columns-Margin-len(since))) + since, Normal}}
	if p.spent != "" {
		rows = append(rows, row{elapsed(now.Sub(p.begun)), p.spent, Normal})
	}
	return rows
}

func elapsed(d time.Duration) string { return d.Truncate(time.Second).String() }

// learn updates the view after an event.
func (p *Progress) learn(e agent.Event, t *record.Trajectory) {
	cached, cost := "", ""
	if t.Usage.CachedTokens > 0 {
		cached = fmt.Sprintf(" (%s cached)", human.Count(t.Usage.CachedTokens))
	}
	if t.Cost != nil {
		cost = ", ~" + human.Dollars(*t.Cost)
	}
	p.spent = fmt.Sprintf("%s, %s in%s, %s out%s", human.Plural(t.Usage.Calls, "call"),
		human.Count(t.Usage.InputTokens), cached, human.Count(t.Usage.OutputTokens), cost)
	switch e.Kind {
	case agent.Started:
		p.files = len(t.Task.Files)
	case agent.Described:
		p.described++
		if p.draft.subject == e.Text {
			p.draft = draft{}
		}
	case agent.Planned, agent.Repeated:
		p.draft, p.output, p.round, p.step, p.text = draft{}, "", e.Round, e.Step, e.Text
	case agent.Ran, agent.Rejected, agent.Branched, agent.Read, agent.Derived, agent.Judged, agent.Routed:
		p.draft = draft{}
	case agent.WentBack:
		p.draft, p.output = draft{}, ""
	case agent.Proving, agent.Ended:
		p.draft, p.output, p.round = draft{}, "", 0
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
