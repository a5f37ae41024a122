package ui

import (
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

// A row is one line of the view: a label in the margin, and text.
type row struct{ label, text string }

// Limits of the view, in lines.
const (
	viewRows = 10
	textRows = 8
)

// picture draws the view. The lines are clean and leave the last column free. If there are not
// enough rows, the first lines are dropped.
func (p *Progress) picture(columns, height int) (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doing == "" {
		return nil
	}
	rows, label := []row(nil), p.label
	if p.text != nil {
		for _, line := range lastLines(p.text(), textRows) {
			rows = append(rows, row{Fit(Clean(label), Margin-1), "│ " + line})
			label = ""
		}
	}
	now := p.now()
	since := ", " + elapsed(now.Sub(p.since))
	rows = append(rows, row{"now", Cut(Clean(p.doing), max(1, columns-1-Margin-len(since))) + since})
	if p.spent != "" {
		rows = append(rows, row{elapsed(now.Sub(p.begun)), p.spent})
	}
	for _, r := range rows[max(0, len(rows)-max(0, min(viewRows, height-2))):] {
		line := Clean(fmt.Sprintf("%-*s%s", Margin, r.label, r.text))
		lines = append(lines, strings.TrimRight(Cut(line, columns-1), " "))
	}
	return lines
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
	case agent.Described:
		p.described++
	case agent.WentBack, agent.Proving, agent.Ended:
		p.text = nil
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
