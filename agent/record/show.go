package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/notebook/lazy"
	"dsstar/prompts"
)

// The functions of this file write the Markdown that a reviewer reads.

// showQuestion shows the question of part k with its answer: above the first stands what concerns
// all of the run, too.
func showQuestion(all *Trajectory, k int) string {
	t := all.Part(k)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", prose(t.Task.Question))
	if answer := t.Answer(); answer != "" {
		fmt.Fprintf(&b, "**Answer**\n\n%s\n", fenced(answer, ""))
	}
	fmt.Fprintf(&b, "%s\n", badge(t))
	if t.Task.Guidelines != "" {
		fmt.Fprintf(&b, "\n*Form of the answer:* %s\n", prose(t.Task.Guidelines))
	}
	if k == 0 {
		b.WriteString(showLater(all) + "\n*" + strings.Join(safety, " ") + "*\n")
	}
	return b.String()
}

// showLater lists the questions that followed the first, at the top.
func showLater(t *Trajectory) string {
	var b strings.Builder
	for k := range t.Earlier {
		later := t.Part(k + 1)
		state := "not verified"
		if later.Verified() {
			state = "verified"
		}
		fmt.Fprintf(&b, "- %s → %s (%s)\n", prose(later.Task.Question), prose(cmp.Or(later.Answer(), "no answer yet")), state)
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n**Asked afterwards**\n\n" + b.String()
}

// badge is the state of the run in one line.
func badge(t *Trajectory) string {
	switch {
	case t.Verified():
		return "✔ **Verified**: the model judged the plan sufficient, and the cells, in a fresh session, " +
			"and `solution.py`, in plain Python, both from nothing, printed this answer again." +
			unconfined(t)
	case t.Failure != "":
		return "✘ **Stopped**: " + prose(t.Failure)
	case !t.Ended:
		return "… **Running**: this notebook is saved after every step."
	}
	return "⚠ **Not verified**: " + prose(strings.Join(t.Doubts(), "; ")) + "."
}

// unconfined says that the cells could have reached the proof past dsstar.
func unconfined(t *Trajectory) string {
	tier, _, _ := strings.Cut(t.Sandbox, " ")
	switch strings.TrimSuffix(tier, ",") {
	case "none", "off", "external":
		return " No sandbox of dsstar's kept the cells from passing something on to the proof."
	}
	return ""
}

// safety stands above the notebook and the script of every run.
var safety = []string{
	"A model wrote this code, and \"verified\" does not mean safe: it could wait for another user or machine.",
	"Nothing confines Run All and `python solution.py`; `dsstar rerun notebook.ipynb` runs it in a sandbox.",
}

func showData(t *Trajectory) string {
	var b strings.Builder
	b.WriteString("## Data\n")
	if t.Task.Data != "" {
		b.WriteString("\nThe cells below see the data folder as `data/`.\n")
	}
	for i, d := range t.Descriptions {
		if d.Text == "" && d.Error == "" {
			continue // not described yet
		}
		title := fmt.Sprintf("<code>%s</code> · %s", inHTML(d.File), human.StableBytes(t.Task.Files[i].Size))
		body := fenced(d.Text, "")
		for _, note := range d.notes() {
			title += " · " + inHTML(note)
		}
		if d.Error != "" {
			title += " · not described"
			body = prose(d.Error) + "\n"
		}
		if d.Code != "" && d.Error == "" {
			body += folded("The script that printed it", fenced(d.Code, "python"))
		}
		body += showFailed(Round{Attempts: d.Failed})
		b.WriteString(folded(title, body))
	}
	if n := t.Task.Others; n > 0 {
		fmt.Fprintf(&b, "\n%d more files are there, of which the model was told the names at most.\n", n)
	}
	if skipped := files.InWords(t.Task.Skipped); skipped != "" {
		fmt.Fprintf(&b, "\nSkipped as unlikely to be data: %s.\n", prose(skipped))
	}
	b.WriteString(showVariables(t))
	return b.String()
}

// notes say where a description comes from, when that is not its own script.
func (d Description) notes() []string {
	var all []string
	if d.Whole {
		all = append(all, "the content itself")
	}
	if d.Like != "" {
		all = append(all, "by the script of "+d.Like)
	}
	if d.Cached {
		all = append(all, "from an earlier run")
	}
	if d.Corrected {
		all = append(all, "corrected by hand")
	}
	return all
}

// showStep is the heading of a step, which a table of contents shows, with what is
// left of its words below: all of them, where the heading has to be cut.
func showStep(step int, r Round) string {
	title, body := headed(brief.OneLine(cmp.Or(r.Rewrite, r.Step)))
	text := fmt.Sprintf("## Step %d: %s\n\n%s\n", step, prose(title), prose(body))
	if r.ByHand {
		text += "\n" + handMark + "\n"
	}
	return text + showFailed(r)
}

// handMark stands below the words of a step whose cell a person wrote or changed.
const handMark = "*The cell was written or changed by hand.*"

// headingChars is how long a heading may be.
const headingChars = 110

// headed divides the words of a step: its first sentence is a heading, or as much
// of it as fits.
func headed(text string) (title, body string) {
	if len(text) <= headingChars {
		return text, ""
	}
	if end := strings.Index(text[:headingChars], ". "); end > 0 {
		return text[:end+1], text[end+2:]
	}
	end := strings.LastIndexByte(text[:headingChars], ' ')
	if end < headingChars/2 {
		return "…", text
	}
	return text[:end] + " …", text
}

// showFailed shows the attempts at a cell that are not in the notebook: those that
// did not end well, and candidates that were not chosen.
func showFailed(r Round) string {
	var b strings.Builder
	for i, a := range r.Attempts {
		title := fmt.Sprintf("%s failed: <code>%s</code>", r.Label(i), inHTML(brief.Problem(a.Execution)))
		switch {
		case a.NotRun():
			title = fmt.Sprintf("%s was not run: %s", r.Label(i), inHTML(brief.Problem(a.Execution)))
		case a.Execution.Status == notebook.OK:
			title = r.Label(i) + inHTML(r.unchosen(i))
		}
		b.WriteString(folded(title, showAttempt(a)+r.showUndone(i)))
	}
	return b.String()
}

// Label names attempt i, from 0: "Try 2", or "Candidate 3" where there were several.
func (r Round) Label(i int) string {
	switch a := r.Attempts[i]; {
	case a.Candidate > 0:
		return fmt.Sprintf("Candidate %d", a.Candidate)
	case r.Pick != nil && i == len(r.Attempts)-1:
		return fmt.Sprintf("Candidate %d", r.Pick.Candidate)
	}
	return fmt.Sprintf("Try %d", CountTries(r.Attempts[:i+1]))
}

// unchosen says why attempt i, which ran, is not the step's cell; "" if it is, or if
// that is still open.
func (r Round) unchosen(i int) string {
	switch {
	case r.Attempts[i].Candidate == 0 || r.Pick == nil:
		return ""
	case r.Pick.Reason == "":
		return ", not chosen"
	}
	return ", not chosen: " + brief.OneLine(r.Pick.Reason)
}

// showUndone says how the session went back after attempt i.
func (r Round) showUndone(i int) string {
	text := ""
	for _, b := range r.Returns {
		if b.After == i+1 {
			text = "\n→ the session went back " + prose(HowRestored(b.Restoration)) + "\n"
		}
	}
	return text
}

// HowRestored says how a session went back.
func HowRestored(b notebook.Restoration) string {
	switch {
	case b.Way == notebook.NotAtAll:
		return "not at all: going back is off"
	case b.Way == notebook.ByCheckpoint && b.Why != "":
		return fmt.Sprintf("by an earlier checkpoint, for want of a nearer one (%s)", brief.OneLine(b.Why))
	case b.Why != "":
		return fmt.Sprintf("by %s (%s)", b.Way, brief.OneLine(b.Why))
	}
	return "by " + string(b.Way)
}

func showAttempt(a Attempt) string {
	if a.NotRun() {
		return fenced(a.Code, "python") + "\nnot run: " + prose(a.Execution.Reason) + "\n"
	}
	out := a.Execution.PlainText()
	if report := brief.ErrorReport(a.Execution, shownChars); a.Execution.Status != notebook.OK && report != "" {
		out = report
	}
	return fenced(a.Code, "python") + "\nprinted\n\n" + fenced(brief.Clip(out, shownChars), "")
}

// shownChars is how much of a discarded output is shown; the metadata has all.
const shownChars = 6000

func showVerdict(n int, r Round) string {
	word := "✘ insufficient"
	switch {
	case r.Verdict.Inconclusive:
		word = "✔ inconclusive: the data hold no answer"
	case r.Verdict.Unfinished:
		word = "… unfinished"
	case r.Verdict.Sufficient:
		word = "✔ sufficient"
	}
	text := fmt.Sprintf("**Round %d: %s.** %s", n, word, prose(r.Verdict.Reason))
	if r.Route != nil {
		text += "\n\n→ " + showRoute(r)
	}
	return text
}

func showRoute(r Round) string {
	if r.Route.Back == 0 {
		return "**Add Step**"
	}
	session := ""
	if n := len(r.Returns); n > 0 && r.Returns[n-1].After == len(r.Attempts) {
		session = ", the session " + prose(HowRestored(r.Returns[n-1].Restoration))
	}
	return fmt.Sprintf("**Step %d is wrong**: the plan goes back to before it%s.", r.Route.Back, session)
}

// showDropped shows a round that left no cell: folded, with a line that says
// what became of it.
func showDropped(t *Trajectory, i int) string {
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
			body.WriteString(r.Label(n) + prose(r.unchosen(n)) + ":\n\n")
		}
		body.WriteString(showAttempt(a) + "\n")
		if n < len(r.Attempts)-1 {
			body.WriteString(r.showUndone(n) + "\n")
		}
	}
	if r.Verdict != nil {
		body.WriteString(showVerdict(i+1, r) + "\n")
	}
	title := fmt.Sprintf("<b>Round %d, %s</b>: %s", i+1, fate, step)
	return folded(title, body.String())
}

// showEdit shows a person's turn.
func showEdit(n int, r Round) string {
	text := fmt.Sprintf("**Round %d, by hand**\n\n", n)
	for _, what := range r.Edit.What {
		text += "- " + prose(what) + "\n"
	}
	if r.Verdict != nil {
		text += "\n" + showVerdict(n, r)
	}
	return text
}

func showProof(t *Trajectory) string {
	var b strings.Builder
	b.WriteString("## How it was made\n\n")
	if p := t.Proof; p != nil {
		result := "both printed the answer above"
		if !p.Same {
			result = prose(p.Reason)
		}
		fmt.Fprintf(&b, "- Proof: the cells in a fresh, private session, then `solution.py` in plain Python: %s (%.1f s).\n", result, p.Seconds)
	}
	fmt.Fprintf(&b, "- Rounds: %d, steps in the plan: %d.\n", len(t.Rounds), len(t.AcceptedRounds()))
	if t.Usage.Calls > 0 {
		fmt.Fprintf(&b, "- Model: %s; %d calls, %d tokens in (%d cached), %d out.\n", prose(strings.Join(t.Models, ", ")),
			t.Usage.Calls, t.Usage.InputTokens, t.Usage.CachedTokens, t.Usage.OutputTokens)
	}
	if t.Cost != nil {
		fmt.Fprintf(&b, "- Cost: %.2f US dollars.\n", *t.Cost)
	}
	fmt.Fprintf(&b, "- Time: %.0f s, of which the model %.0f s and kernels %.0f s.\n", t.Seconds.Total, t.Seconds.Model, t.Seconds.Kernel)
	b.WriteString(showReturns(t))
	if t.Sandbox != "" {
		fmt.Fprintf(&b, "- Sandbox of the cells: %s.\n", prose(t.Sandbox))
	}
	for _, w := range t.Warnings {
		fmt.Fprintf(&b, "- Warning: %s\n", prose(w))
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

// showReturns tells how often the session went back, by which ways, and why not by
// a better one.
func showReturns(t *Trajectory) string {
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
	return fmt.Sprintf("- The session went back %s, in %.2f s: %s.\n", human.Plural(sum, "time"), seconds, prose(strings.Join(parts, ", ")))
}

// showRoles tells what each role has used.
func showRoles(by map[string]Usage) string {
	var parts []string
	for _, role := range slices.Sorted(maps.Keys(by)) {
		u := by[role]
		parts = append(parts, fmt.Sprintf("%s %d calls, %d in, %d out", role, u.Calls, u.InputTokens, u.OutputTokens))
	}
	return "By role: " + strings.Join(parts, "; ") + ".\n"
}

// special are the characters that would make Markdown, mathematics or HTML of
// a person's or a model's words. Of a dollar or a backslash JupyterLab makes
// mathematics however it is escaped, unless it stands alone in an element.
var special = strings.NewReplacer(`\`, plainBackslash, "`", "\\`", "*", `\*`, "_", `\_`, "$", plainDollar, "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "~", `\~`, "#", `\#`, "|", `\|`)

const plainDollar, plainBackslash = "<span>&#36;</span>", "<span>&#92;</span>"

// prose shows words as they are, as one paragraph; code spans stay code: what stands
// between two runs of as many backticks.
func prose(text string) string {
	text = brief.OneLine(text)
	runs := backticks().FindAllStringIndex(text, -1)
	single := map[int]bool{} // lengths of which no further run follows
	var b strings.Builder
	at := 0
	for i := 0; i < len(runs); i++ {
		open, length := runs[i], runs[i][1]-runs[i][0]
		if single[length] {
			continue
		}
		n := slices.IndexFunc(runs[i+1:], func(end []int) bool { return end[1]-end[0] == length })
		if single[length] = n < 0; n < 0 {
			continue
		}
		i += n + 1
		b.WriteString(special.Replace(text[at:open[0]]) + text[open[0]:runs[i][1]])
		at = runs[i][1]
	}
	return b.String() + special.Replace(text[at:])
}

var backticks = lazy.Regexp("`+")

// inHTML shows words as they are within a line of HTML, where Markdown is not read.
func inHTML(text string) string { return plainHTML.Replace(brief.OneLine(text)) }

var plainHTML = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&#34;", "'", "&#39;", "`", "&#96;", `\`, plainBackslash, "$", plainDollar)

// folded is a section that is closed until the reader opens it. The empty
// lines make Markdown read its body as Markdown.
func folded(title, body string) string {
	return fmt.Sprintf("\n<details>\n<summary>%s</summary>\n\n%s\n</details>\n", title, strings.TrimRight(body, "\n")+"\n")
}

// fenced is a code block on lines of its own.
func fenced(text, language string) string { return prompts.Fence(text, language) + "\n" }

// showVariables shows somebody's variables to a reviewer.
func showVariables(t *Trajectory) string {
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
			title += fmt.Sprintf(" · used, and kept in <code>%s</code>, %s", inHTML(v.File), human.StableBytes(v.Bytes))
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

// Prose shows somebody's words in Markdown as they are, line by line.
func Prose(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = prose(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n\n")
}
