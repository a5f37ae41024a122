package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
)

func showData(t *record.Trajectory) string {
	var b strings.Builder
	b.WriteString("## Data\n")
	if t.Task.Data != "" {
		b.WriteString("\nThe cells below see the data folder as `data/`.\n")
		for _, s := range t.Task.Sources {
			fmt.Fprintf(&b, "- <code>%s</code>\n", inHTML(s.String()))
		}
	}
	for i, d := range t.Descriptions {
		if d.Text == "" && d.Error == "" {
			continue // not described yet
		}
		title := fmt.Sprintf("<code>%s</code> · %s", inHTML(d.File), inHTML(t.Task.Files[i].Weight()))
		body := fenced(d.Text, "")
		for _, note := range notes(d) {
			title += " · " + inHTML(note)
		}
		if d.Error != "" {
			title += " · not described"
			body = prose(d.Error) + "\n"
		}
		if d.Code != "" && d.Error == "" {
			body += folded("The script that printed it", fenced(d.Code, "python"))
		}
		body += showFailed("", record.Round{Attempts: d.Failed})
		b.WriteString(folded(title, body))
	}
	if t.Relations != "" {
		b.WriteString(folded("Columns that match", fenced(t.Relations, "")))
	}
	if n := t.Task.Others; n > 0 {
		fmt.Fprintf(&b, "\n%d more files are there, of which the model was told the names at most.\n", n)
	}
	if skipped := files.InWords(t.Task.Skipped); skipped != "" {
		fmt.Fprintf(&b, "\nSkipped as unlikely to be data: %s.\n", prose(skipped))
	}
	b.WriteString(showVariables(t))
	b.WriteString(showMemory(t.Recalled))
	return b.String()
}

// notes say where a description comes from, unless it was made by its own script.
func notes(d record.Description) []string {
	var all []string
	if d.Whole {
		all = append(all, "the content itself")
	}
	if d.Like != "" {
		all = append(all, "as "+d.Like+", but")
	}
	if d.Cached {
		all = append(all, "from an earlier run")
	}
	if d.Corrected {
		all = append(all, "corrected by hand")
	}
	return all
}

// showMemory shows what the run was given of the memory of its data.
func showMemory(r *record.Recalled) string {
	if r == nil {
		return ""
	}
	var facts, b strings.Builder
	for _, f := range r.Facts {
		facts.WriteString(f.String() + "\n")
	}
	if !r.Asked.IsZero() {
		fmt.Fprintf(&b, "\nThe question was answered and verified on %s. The cells of that run were run "+
			"again; no model was asked.\n", r.Asked.Format(time.DateOnly))
	}
	if r.Example != nil {
		b.WriteString(folded("A verified question whose cells were shown as an example",
			fenced(r.Example.Question, "")))
	}
	if facts.Len() > 0 {
		b.WriteString(folded("Facts from earlier questions", fenced(facts.String(), "")))
	}
	return b.String()
}

func showVariables(t *record.Trajectory) string {
	var b strings.Builder
	var others []string
	for _, v := range t.Variables {
		if v.Text == "" && v.Problem == "" {
			if v.Import == "" {
				others = append(others, prose("`"+v.Name+"`"))
			}
			continue
		}
		title := fmt.Sprintf("<code>%s</code> · %s", inHTML(v.Name), inHTML(v.Type))
		switch {
		case v.File != "":
			title += fmt.Sprintf(" · used, and kept in <code>%s</code>, %s",
				inHTML(v.File), human.Bytes(v.Bytes))
		case v.Problem != "":
			title += " · used, and not to be carried to another session: " + inHTML(v.Problem)
		}
		b.WriteString(folded(title, fenced(v.Text, "")))
	}
	if len(others) > 0 {
		fmt.Fprintf(&b, "\nFunctions and classes of the session: %s.\n", strings.Join(others, ", "))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\nThe cells ran in a session that had variables of its own:\n" + b.String()
}

// showProof returns the text of the last cell.
func showProof(t *record.Trajectory) string {
	var b strings.Builder
	b.WriteString("## Proof and cost\n\n")
	line := func(format string, args ...any) { fmt.Fprintf(&b, "- "+format+"\n", args...) }
	if p := t.Proof; p != nil {
		result := "both printed the answer above"
		if !p.Same {
			result = prose(p.Reason)
		}
		line("Proof: the cells in a fresh, private session, then `solution.py` in plain Python: "+
			"%s (%.1f s).", result, p.Seconds)
		if rows := showCounts(p); rows != "" {
			line("%s", prose(rows))
		}
		for _, note := range p.Notes {
			line("In it, %s.", prose(note))
		}
	}
	line("Rounds: %d, steps in the plan: %d.", len(t.Rounds), t.Steps())
	if u := t.Usage; u.Calls > 0 {
		line("Model: %s; %d calls, %d tokens in (%d cached), %d out.",
			prose(strings.Join(t.Models, ", ")), u.Calls, u.InputTokens, u.CachedTokens, u.OutputTokens)
	}
	if t.Cost != nil {
		line("Cost: about %s.", prose(human.Dollars(*t.Cost)))
	}
	line("Time: %.0f s, of which the model %.0f s and kernels %.0f s.",
		t.Seconds.Total, t.Seconds.Model, t.Seconds.Kernel)
	b.WriteString(showReturns(t))
	if t.Sandbox != "" {
		line("Sandbox of the cells: %s.", prose(t.Sandbox))
	}
	for _, w := range t.Warnings {
		line("Warning: %s", prose(w))
	}
	var more string
	if len(t.ByRole) > 0 {
		more += "- " + showRoles(t.ByRole)
	}
	if t.Environment != "" {
		more += fmt.Sprintf("- Environment: %s.\n", prose(t.Environment))
	}
	if more != "" {
		b.WriteString(folded("Details", more))
	}
	return b.String()
}

// showReturns says how often the session went back, by which methods, and why not by a better one.
func showReturns(t *record.Trajectory) string {
	times, whys := map[notebook.Way]int{}, map[notebook.Way][]string{}
	sum, seconds := 0, 0.0
	_, returns := t.Tried()
	for _, b := range returns {
		if b.Way == notebook.NotAtAll {
			continue // a warning says so
		}
		times[b.Way]++
		sum++
		seconds += b.Seconds
		if why := brief.OneLine(b.Why); why != "" && !slices.Contains(whys[b.Way], why) {
			whys[b.Way] = append(whys[b.Way], why)
		}
	}
	if sum == 0 {
		return ""
	}
	var parts []string
	for _, way := range slices.Sorted(maps.Keys(times)) {
		part := fmt.Sprintf("%d by %s", times[way], way)
		if len(whys[way]) > 0 {
			part += " (" + strings.Join(whys[way], "; ") + ")"
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("- The session went back %s, in %.2f s: %s.\n",
		human.Plural(sum, "time"), seconds, prose(strings.Join(parts, ", ")))
}

// showRoles shows the usage of each role.
func showRoles(by map[string]record.Usage) string {
	var parts []string
	for _, role := range slices.Sorted(maps.Keys(by)) {
		u := by[role]
		parts = append(parts, fmt.Sprintf("%s %d calls, %d in, %d out",
			role, u.Calls, u.InputTokens, u.OutputTokens))
	}
	return "By role: " + strings.Join(parts, "; ") + ".\n"
}

// showCounts says how many rows tables had; "" if nobody has counted.
func showCounts(p *record.Proof) string {
	if len(p.Counts) == 0 {
		return ""
	}
	var parts []string
	database := ""
	for _, c := range p.Counts {
		text := c.String()
		if c.Database != database {
			database = c.Database
			text = fmt.Sprintf("`db[%q]`: ", database) + text
		}
		parts = append(parts, text)
	}
	return fmt.Sprintf("Rows at %s: %s.", p.At.UTC().Format("2006-01-02 15:04 UTC"),
		strings.Join(parts, ", "))
}
