package page

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/notebook/lazy"
)

// showQuestion shows the answer to the question of part k, under a title.
func showQuestion(all *record.Trajectory, k int) string {
	t := all.Part(k)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", prose(questionTitle(t.Task.Question)))
	if answer := t.Answer(); answer != "" {
		fmt.Fprintf(&b, "**Answer**, %s\n\n%s\n", prose(t.Label()), fenced(answer, ""))
	}
	mark := "⚠"
	switch {
	case t.Verified():
		mark = "✔"
	case t.Failure != "":
		mark = "✘"
	case !t.Ended:
		mark = "…"
	}
	standing, why, _ := strings.Cut(t.InWords(), ": ")
	fmt.Fprintf(&b, "%s **%s**: %s\n", mark, standing, prose(why))
	if summary := t.Summary(); summary != "" {
		fmt.Fprintf(&b, "\n*%s:*\n\n%s\n", t.SummaryLabel(), Prose(summary))
	}
	if k == 0 {
		b.WriteString(showLater(all))
	}
	return b.String()
}

// showLater lists the questions that followed the first.
func showLater(t *record.Trajectory) string {
	var b strings.Builder
	for k := range t.Earlier {
		later := t.Part(k + 1)
		answer := cmp.Or(later.Answer(), "no answer yet")
		fmt.Fprintf(&b, "- %s → %s (%s)\n", prose(questionTitle(later.Task.Question)), prose(answer),
			later.Label())
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n**Asked afterwards**\n\n" + b.String()
}

// showReport shows what an answer rests on: readings, assumptions, key figures, the main chart or
// table, and what it cost. It returns "" for a question without an answer.
func showReport(all *record.Trajectory, k int) (text string, attached map[string]notebook.MIMEBundle) {
	t := all.Part(k)
	if t.Answer() == "" {
		return "", nil
	}
	var b strings.Builder
	for _, r := range t.OpenReadings() {
		b.WriteString(showOptions(r, t.Answer()))
	}
	b.WriteString(showAssumptions(t) + showFiles(t))
	chart, attached := showChart(t)
	b.WriteString(chart + showFigures(t))
	if k == 0 {
		b.WriteString(showSpent(all))
	}
	return b.String(), attached
}

// showOptions shows the answer under each option of a reading; answer is that of the taken one.
func showOptions(r record.Reading, answer string) string {
	var b strings.Builder
	if r.Problem != "" {
		return fmt.Sprintf("**Depends on a reading:** %s\n\nWhat the other readings give is not known: %s.\n\n",
			prose(r.Point), prose(r.Problem))
	}
	fmt.Fprintf(&b, "**Depends on a reading:** %s\n\n| if it means | the answer is |\n|---|---|\n",
		prose(r.Point))
	for i, o := range r.Options {
		taken := ""
		if i == r.Chosen {
			taken = " *(taken)*"
		}
		fmt.Fprintf(&b, "| %s%s | %s |\n", prose(o.Text), taken, prose(r.Gives(i, record.Clipped(answer))))
	}
	return b.String() + "\n"
}

// showAssumptions lists the readings that evidence or a person has settled.
func showAssumptions(t *record.Trajectory) string {
	var b strings.Builder
	for _, r := range t.Readings {
		if r.Chosen < 0 || r.Chosen >= len(r.Options) || !r.ByUser && (!r.Settled || r.Evidence == "") {
			continue
		}
		evidence := prose(r.Evidence)
		if r.ByUser {
			evidence = "chosen by hand"
		}
		fmt.Fprintf(&b, "- %s: **%s** — %s\n", strings.TrimRight(prose(r.Point), " .:"),
			prose(r.Options[r.Chosen].Text), evidence)
		for i, o := range r.Options {
			if gives := r.Gives(i, ""); i != r.Chosen && gives != "" {
				fmt.Fprintf(&b, "  - otherwise (%s): %s\n", prose(o.Text), prose(gives))
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "**Assumptions**\n\n" + b.String() + "\n"
}

// showFiles links the files that are part of the answer.
func showFiles(t *record.Trajectory) string {
	var b strings.Builder
	for _, name := range t.Given() {
		to := url.URL{Path: path.Join(record.FilesFolder, name)}
		fmt.Fprintf(&b, "- [%s](<%s>)\n", prose(name), to.EscapedPath())
	}
	if b.Len() == 0 {
		return ""
	}
	return "**Files**\n\n" + b.String() + "\n"
}

// maxAttached is the size of the largest chart that the report repeats, in base64.
const maxAttached = 200 << 10

var pictureName = lazy.Regexp(`\b[\w-]{1,80}\.(?:png|jpe?g|svg|gif|webp)\b`)

// showChart shows the last chart of the last cell or, without one, of the last step. A file that
// the answer names is shown from the folder.
func showChart(t *record.Trajectory) (string, map[string]notebook.MIMEBundle) {
	for _, shown := range t.LastCells() {
		for _, o := range slices.Backward(shown.Outputs) {
			for _, kind := range []string{"png", "jpeg", "svg+xml"} {
				mime := "image/" + kind
				data, _ := o.Data[mime].(string)
				switch {
				case data == "":
					continue
				case len(data) > maxAttached:
					return fmt.Sprintf("The main chart stands below, under *%s*.\n\n", shown.Where), nil
				}
				name := "chart." + strings.TrimSuffix(kind, "+xml")
				return fmt.Sprintf("![Main chart](attachment:%s)\n\n", name),
					map[string]notebook.MIMEBundle{name: {mime: data}}
			}
		}
	}
	code := strings.Join(t.Cells(), "\n")
	for _, name := range pictureName().FindAllString(t.Answer()+"\n"+t.Final.Summary, -1) {
		if strings.Contains(code, name) {
			return fmt.Sprintf("![%s](%s/%s)\n\n", prose(name), record.FilesFolder, name), nil
		}
	}
	return "", nil
}

// Limits of what the report repeats of the last step's output.
const figureLines, figureChars = 16, 1600

// showFigures shows the table at the end of the last step, or what it printed, if that is short.
func showFigures(t *record.Trajectory) string {
	cells := t.LastCells()
	if len(cells) == 0 {
		return ""
	}
	last := cells[len(cells)-1]
	if last.Where == "Answer" {
		return "" // it stands above
	}
	var printed strings.Builder
	title := "Key figures"
	for _, o := range last.Outputs {
		switch plain, _ := o.Data["text/plain"].(string); {
		case o.Type == notebook.Stream && o.Name == "stdout":
			printed.WriteString(o.Text)
		case o.Data["text/html"] != nil && plain != "" && !strings.HasPrefix(plain, "<"):
			printed.Reset() // a table says it best
			printed.WriteString(plain)
			title = "Main table"
		}
	}
	text := strings.Trim(notebook.Overstrike(printed.String()), "\n")
	if strings.TrimSpace(text) == "" || text == t.Answer() || len(text) > figureChars ||
		strings.Count(text, "\n") >= figureLines {
		return ""
	}
	return fmt.Sprintf("**%s**, from *%s*\n\n%s\n", title, last.Where, fenced(text, ""))
}

// showSpent says what the run has cost.
func showSpent(t *record.Trajectory) string {
	u := t.Usage
	if u.Calls == 0 {
		return ""
	}
	cost := ""
	if t.Cost != nil {
		cost = ", about " + prose(human.Dollars(*t.Cost))
	}
	return fmt.Sprintf("*Cost: %s, %d tokens in and %d out%s.*\n", human.Plural(u.Calls, "model call"),
		u.InputTokens, u.OutputTokens, cost)
}

// showAsked shows the question of part k whole, unless the title of a later part says all of it.
func showAsked(all *record.Trajectory, k int) string {
	t := all.Part(k)
	whole := questionTitle(t.Task.Question) == brief.OneLine(t.Task.Question)
	if k > 0 && t.Task.Guidelines == "" && whole {
		return ""
	}
	text := fmt.Sprintf("## Question\n\n%s\n", Prose(t.Task.Question))
	if t.Task.Guidelines != "" {
		text += fmt.Sprintf("\n*Form of the answer:* %s\n", prose(t.Task.Guidelines))
	}
	if k == 0 {
		text += "\n*" + strings.Join(record.Safety, " ") + "*\n"
	}
	return text
}

// showReadings shows the branches of the readings. Their cells are text.
func showReadings(t *record.Trajectory) string {
	var b strings.Builder
	for _, r := range t.Readings {
		if !slices.ContainsFunc(r.Options, func(o record.Option) bool { return len(o.Attempts) > 0 }) {
			continue
		}
		fmt.Fprintf(&b, "\n%s", prose(r.Point))
		if r.Chosen >= 0 && r.Chosen < len(r.Options) {
			fmt.Fprintf(&b, " The steps take: **%s**", prose(r.Options[r.Chosen].Text))
		}
		b.WriteString("\n")
		for i, o := range r.Options {
			if i != r.Chosen || len(o.Attempts) > 0 {
				b.WriteString(showOption(o))
			}
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "## Other readings\n" + b.String()
}

// showOption shows the cell of an option's branch, folded.
func showOption(o record.Option) string {
	result := "no answer" + record.After(": ", o.Problem)
	if o.Answer != "" {
		result = o.Told()
	}
	after := "the set-up"
	if o.Steps > 0 {
		after = fmt.Sprintf("step %d", o.Steps)
	}
	return folded(fmt.Sprintf("<b>%s</b> → %s", inHTML(o.Text), inHTML(result)),
		fmt.Sprintf("The branch began after %s.\n", after)+showBranch(o.Attempts))
}

// showBranch shows the attempts at a branch's cell.
func showBranch(attempts []record.Attempt) string {
	var b strings.Builder
	for i, a := range attempts {
		if len(attempts) > 1 {
			fmt.Fprintf(&b, "\nTry %d:\n", i+1)
		}
		b.WriteString("\n" + showAttempt(a))
	}
	return b.String()
}

// showSecond shows the second derivation. Its cell is text.
func showSecond(t *record.Trajectory) string {
	s := t.Second
	if s == nil {
		return ""
	}
	var b strings.Builder
	how := "from the files, by a request that saw nothing of its steps"
	if t.SecondBuilds() {
		how = "with variables of earlier questions, by a request that saw nothing of its steps"
	}
	fmt.Fprintf(&b, "## Second derivation\n\nThe question was answered once more %s. ", how)
	if s.Together {
		b.WriteString("The cell ran in the session of the steps, which was taken back to before the first step. ")
	}
	if len(s.Mistakes()) > 0 {
		b.WriteString("It was told what was found wrong with the one before, and nothing else of it. ")
	}
	switch {
	case s.Answer == "":
		fmt.Fprintf(&b, "It gave no answer%s.\n", prose(record.After(": ", s.Reason)))
	case s.Agrees && s.Ruling != record.RuledSame:
		b.WriteString("It gave the same answer.\n")
	default:
		answer := record.WithFiles(s.Answer, s.Files, s.Differs)
		fmt.Fprintf(&b, "It gave %s. %s%s.\n", prose(answer), rulings[s.Ruling],
			prose(record.After(": ", s.Reason)))
	}
	for _, r := range s.Rejected {
		fmt.Fprintf(&b, "\n- Before, the steps gave %s, and it gave %s. %s%s.\n", prose(record.Clipped(r.First)),
			prose(record.Clipped(r.Second)), rulings[r.Ruling],
			prose(record.After(": ", r.Reason)))
	}
	if len(s.Attempts) > 0 {
		b.WriteString(folded("Its cell", showBranch(s.Attempts)))
	}
	return b.String()
}

// rulings says what an arbiter ruled.
var rulings = map[string]string{
	"":                    "Another reading of the question explains the difference",
	record.RuledSame:      "Both mean the same",
	record.RuledFirst:     "The steps were found wrong",
	record.RuledSecond:    "It was found wrong",
	record.RuledReading:   "Each is right for its reading of the question",
	record.RuledUndecided: "Which is right could not be decided",
}

// showTried shows the attempts that did not become cells, and the rounds without one, folded.
func showTried(t *record.Trajectory) string {
	var b strings.Builder
	cells := t.CellRounds()
	for i := t.EarlierRounds(); i < len(t.Rounds); i++ {
		at := slices.Index(cells, i)
		if at < 0 {
			b.WriteString("\n" + showDropped(t, i))
			continue
		}
		if t.Method.Script {
			at = t.StepOf(i) - 1
		}
		round := t.Rounds[i]
		_, round.Attempts = lastAndRest(round.Attempts)
		b.WriteString(showFailed(fmt.Sprintf("Step %d, ", at+1), round))
	}
	if f := t.Final; f != nil {
		tries := record.Round{Attempts: f.Attempts, Returns: f.Returns}
		if _, ok := t.FinalCell(); ok {
			_, tries.Attempts = lastAndRest(tries.Attempts)
		}
		b.WriteString(showFailed("Answer, ", tries))
	}
	if b.Len() == 0 {
		return ""
	}
	return "## Log\n" + b.String()
}
