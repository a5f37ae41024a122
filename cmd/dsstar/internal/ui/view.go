package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/notebook/human"
)

// A view is the live part of a Progress, below the history: the position in the run, replies and
// outputs as they arrive, and usage.
type view struct {
	begun time.Time
	doing string // what is being waited for; "": no view
	since time.Time
	model func(role string) string // a model's name; nil: not shown

	described, files int
	round, step      int
	text             string // of the step
	verdict, route   string
	verdictStyle     Style
	drafts           []draft
	output           []byte // the end of the cell's outputs
	ran              bool   // there was an event, so that usage is known
	usage            record.Usage
	cost             *float64
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
	rows := slices.Concat(head, v.body(most-len(head)-len(foot)), foot)
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
func (v *view) head() []row {
	var rows []row
	if v.described < v.files {
		done := barWidth * v.described / v.files
		bar := strings.Repeat("#", done) + strings.Repeat("-", barWidth-done)
		rows = append(rows,
			row{"files", fmt.Sprintf("[%s] %d of %d described", bar, v.described, v.files), Normal})
	}
	if v.round > 0 {
		rows = append(rows,
			row{fmt.Sprintf("round %d", v.round), fmt.Sprintf("step %d: %s", v.step, v.text), Strong})
	}
	if v.verdict != "" {
		rows = append(rows, row{"verdict", v.verdict, v.verdictStyle})
	}
	if v.route != "" {
		rows = append(rows, row{"route", v.route, Normal})
	}
	return rows
}

const barWidth = 20

// body shows replies and outputs in the given number of rows.
func (v *view) body(room int) []row {
	room = max(0, room)
	output := LastLines(string(v.output), outputRows)
	if len(v.drafts) != 1 {
		below := min(len(output), max(room/2, room-len(v.drafts)))
		above := min(len(v.drafts), room-below)
		return append(summaries(v.drafts[len(v.drafts)-above:]),
			block("output", output[len(output)-below:])...)
	}
	d := v.drafts[0]
	text := LastLines(d.shown(), draftRows)
	below := min(len(output), max(room/2, room-len(text)))
	above := min(len(text), room-below)
	return append(block(d.label(), text[len(text)-above:]),
		block("output", output[len(output)-below:])...)
}

// summaries show the last line of each draft.
func summaries(drafts []draft) []row {
	var rows []row
	for _, d := range drafts {
		text := strings.TrimSpace(strings.Join(LastLines(d.shown(), 1), ""))
		rows = append(rows,
			row{d.label(), Fit(Clean(d.subject), 24) + " │ " + text, Normal})
	}
	return rows
}

// block shows text in a frame.
func block(label string, lines []string) []row {
	var rows []row
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

func (d draft) label() string {
	return Fit(Clean(cmp.Or(agent.Roles[d.role], d.role)), Margin-1)
}

// foot shows what is being waited for, and usage.
func (v *view) foot(now time.Time, columns int) []row {
	since := ", " + elapsed(now.Sub(v.since))
	rows := []row{{"now",
		Cut(Clean(v.doing), max(1, columns-Margin-len(since))) + since, Normal}}
	if v.ran || len(v.drafts) > 0 {
		rows = append(rows, row{elapsed(now.Sub(v.begun)), v.spent(columns - Margin), Normal})
	}
	return rows
}

// spent formats the usage, shorter if there is no room.
func (v *view) spent(columns int) string {
	u := v.usage
	cached, cost := "", ""
	if u.CachedTokens > 0 {
		cached = fmt.Sprintf(" (%s cached)", human.Count(u.CachedTokens))
	}
	if v.cost != nil {
		cost = ", about " + human.Dollars(*v.cost)
	}
	text := fmt.Sprintf("%s, %s tokens in%s and %s out%s", human.Plural(u.Calls, "model call"),
		human.Count(u.InputTokens), cached, human.Count(u.OutputTokens), cost)
	if len(text) <= columns {
		return text
	}
	cost = strings.Replace(cost, "about ", "~", 1)
	return fmt.Sprintf("%s, %s in%s, %s out%s", human.Plural(u.Calls, "call"),
		human.Count(u.InputTokens), cached, human.Count(u.OutputTokens), cost)
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
