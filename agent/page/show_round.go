package page

import (
	"cmp"
	"fmt"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// showStep returns the heading of a step, for the table of contents. A heading that must be cut is
// followed by the whole text.
func showStep(step int, r record.Round) string {
	title, body := headed(brief.OneLine(cmp.Or(r.Rewrite, r.Step)), stepTitleChars)
	text := fmt.Sprintf("## Step %d: %s\n\n%s\n", step, prose(title), prose(body))
	if r.ByHand {
		text += "\n" + handMark + "\n"
	}
	return text
}

// handMark follows the text of a step whose cell a person wrote or changed.
const handMark = "*The cell was written or changed by hand.*"

// showFailed shows the attempts that did not become cells. The label of each begins with
// of.
func showFailed(of string, r record.Round) string {
	var b strings.Builder
	for i, a := range r.Attempts {
		label, problem := fmt.Sprintf("%sTry %d", of, i+1), inHTML(brief.Problem(a.Execution))
		title := fmt.Sprintf("%s failed: <code>%s</code>", label, problem)
		if a.NotRun() {
			title = fmt.Sprintf("%s was not run: %s", label, problem)
		}
		b.WriteString(folded(title, showAttempt(a)+showUndone(r, i)))
	}
	return b.String()
}

// showUndone says how the session went back after attempt i.
func showUndone(r record.Round, i int) string {
	text := ""
	for _, b := range r.Returns {
		if b.After == i+1 {
			text = "\n→ the session went back " + prose(record.HowRestored(b.Restoration)) + "\n"
		}
	}
	return text
}

// shownChars limits how much of a discarded output is shown. The record has all of it.
const shownChars = 6000

func showAttempt(a record.Attempt) string {
	if a.NotRun() {
		return fenced(a.Code, "python") + "\nnot run: " + prose(a.Execution.Reason) + "\n"
	}
	out := a.Execution.PlainText()
	if a.Execution.Status != notebook.OK {
		out = cmp.Or(brief.ErrorReport(a.Execution, shownChars), out)
	}
	return fenced(a.Code, "python") + "\nprinted\n\n" + fenced(brief.Clip(out, shownChars), "")
}

func showVerdict(n int, r record.Round) string {
	mark, word := "✘", r.Verdict.Word()
	switch {
	case r.Verdict.Inconclusive:
		mark, word = "✔", word+": the data hold no answer"
	case r.Verdict.Sufficient:
		mark = "✔"
	case r.Verdict.Unfinished:
		mark = "…"
	}
	text := fmt.Sprintf("**Round %d: %s %s.** %s", n, mark, word, prose(r.Verdict.Reason))
	if r.Route != nil {
		text += "\n\n→ " + showRoute(r)
	}
	if step := r.Verdict.Disputes; step > 0 {
		text += fmt.Sprintf("\n\n→ the cell of step %d stays: it was written or changed by hand", step)
	}
	return text
}

func showRoute(r record.Round) string {
	if r.Route.Back == 0 {
		return "**Add Step**"
	}
	session := ""
	if n := len(r.Returns); n > 0 && r.Returns[n-1].After == len(r.Attempts) {
		session = ", the session " + prose(record.HowRestored(r.Returns[n-1].Restoration))
	}
	return fmt.Sprintf("**Step %d is wrong**: the plan goes back to before it%s.",
		r.Route.Back, session)
}

// showDropped shows a round without a cell, collapsed, under a line that says what became of it.
func showDropped(t *record.Trajectory, i int) string {
	r := t.Rounds[i]
	if r.Edit != nil {
		return showEdit(i+1, r)
	}
	fate, step := "under way", inHTML(r.Step)
	if _, ok := r.Accepted(); ok && t.Method.Script {
		fate = "its script became the next one"
	}
	if by, ok := t.DroppedBy(i); ok {
		fate, step = fmt.Sprintf("dropped in round %d", by+1), "<s>"+step+"</s>"
		switch {
		case r.Rejected():
			fate = inHTML(brief.Problem(r.Attempts[len(r.Attempts)-1].Execution))
		case by == i:
			fate = "dropped"
		}
	}
	var body strings.Builder
	for n, a := range r.Attempts {
		if len(r.Attempts) > 1 {
			fmt.Fprintf(&body, "Try %d:\n\n", n+1)
		}
		body.WriteString(showAttempt(a) + "\n")
		if n < len(r.Attempts)-1 {
			body.WriteString(showUndone(r, n) + "\n")
		}
	}
	if r.Verdict != nil {
		body.WriteString(showVerdict(i+1, r) + "\n")
	}
	return folded(fmt.Sprintf("<b>Round %d, %s</b>: %s", i+1, fate, step), body.String())
}

// showEdit shows a person's edit.
func showEdit(n int, r record.Round) string {
	text := fmt.Sprintf("**Round %d, by hand**\n\n", n)
	for _, what := range r.Edit.What {
		text += "- " + prose(what) + "\n"
	}
	if r.Verdict != nil {
		text += "\n" + showVerdict(n, r)
	}
	return text
}
