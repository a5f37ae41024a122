package agent

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// shared returns the parts that every request after the descriptions begins
// with, and the inputs by which a recorded reply is known to fit.
func (r *run) shared() ([]prompts.Part, map[string]string) {
	parts, inputs := r.known()
	if len(r.t.Earlier) > 0 {
		earlier := r.answered()
		parts = append(parts, earlier)
		inputs["earlier"] = fmt.Sprint(earlier)
	}
	steps := r.steps(r.t)
	if len(steps) > 0 {
		parts = append(parts, prompts.Notebook{Steps: steps})
	}
	if len(r.t.Notes) > 0 {
		parts = append(parts, prompts.Notes{Texts: r.t.Notes})
		inputs["notes"] = strings.Join(r.t.Notes, "\n")
	}
	var plan, code, results []string
	for _, s := range steps {
		plan, code, results = append(plan, s.Text), append(code, s.Code), append(results, s.Output)
	}
	inputs["plan"] = strings.Join(plan, "\n")
	inputs["code"] = strings.Join(code, "\n")
	inputs["results"] = strings.Join(results, "\n")
	return parts, inputs
}

// known is the part of [run.shared] that stays the same throughout.
func (r *run) known() ([]prompts.Part, map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names, descriptions []string
	for _, f := range r.context.Files {
		names, descriptions = append(names, f.Path), append(descriptions, f.Description)
	}
	inputs := map[string]string{
		"question":     r.t.Task.Question,
		"guidelines":   r.t.Task.Guidelines,
		"files":        strings.Join(names, "\n"),
		"descriptions": strings.Join(descriptions, "\n"),
	}
	if said := variableWords(r.context); said != "" {
		inputs["variables"] = said
	}
	return []prompts.Part{r.context}, inputs
}

// sees says what of the script a role is to see in the paper's way.
type sees struct{ context, plan, code, output bool }

// asPublished returns the parts of a request in the paper's way (Appendix H),
// and their inputs.
func (r *run) asPublished(s sees) ([]prompts.Part, map[string]string) {
	parts, inputs := r.known()
	if !s.context {
		parts = nil
		delete(inputs, "files")
		delete(inputs, "descriptions")
	}
	var script prompts.Script
	if s.plan {
		script.Plan = r.t.StepTexts()
		inputs["plan"] = strings.Join(script.Plan, "\n")
	}
	if last, ok := r.t.LastScript(); ok {
		if s.code {
			script.Code = last.Code
			inputs["code"] = script.Code
		}
		if s.output {
			script.Ran, script.Output = true, brief.Clip(last.Execution.PlainText(), r.showing().result)
			inputs["results"] = script.Output
		}
	}
	if len(script.Plan) > 0 || script.Code != "" || script.Ran {
		parts = append(parts, script)
	}
	return parts, inputs
}

// taskContext returns the task and the files that the model is shown, with as
// much of their descriptions as the budgets allow, and the names of the others.
// Its caller holds mu, or is the only one to use r.
func (r *run) taskContext() prompts.Context {
	c := prompts.Context{Question: r.t.Task.Question, Guidelines: r.t.Task.Guidelines}
	texts := make([]string, len(r.t.Descriptions))
	for n := range r.t.Descriptions {
		f := prompts.File{Path: r.dataPython(n), Size: brief.Size(r.t.Task.Files[n].Size), Alike: brief.Lines(r.t.Descriptions[n].Alike, r.shown.description/8)}
		f.Like, texts[n] = r.words(n)
		c.Files = append(c.Files, f)
	}
	for n, share := range r.sharesOf(texts) {
		text := brief.Lines(texts[n], share)
		c.Files[n].Description = text
		if d := r.t.Descriptions[n]; d.Whole && text == texts[n] {
			c.Files[n].Whole, c.Files[n].Kind = true, d.Kind // which tells the encoding
		}
	}
	c.LeftOut = brief.Lines(r.t.Task.LeftOut, r.shown.description/4)
	c.NoFiles = r.t.Task.Data == ""
	c.Variables, c.OtherVariables = r.shownVariables()
	return c
}

// words is what the model is told of file n: its description, or only what that adds to
// that of a file before it, by its number from 1, which the same script has described.
func (r *run) words(n int) (like int, text string) {
	d := r.t.Descriptions[n]
	switch {
	case r.cfg.Method.NoAnalyzer && d.Text == "":
		return 0, ""
	case d.Text == "" && d.Error != "":
		return 0, "No description: " + d.Error
	case d.Corrected:
		return 0, d.Text
	}
	for m := range n {
		first := r.t.Descriptions[m]
		if first.Lead() != d.Lead() || first.Corrected {
			continue
		}
		if added := linesBeyond(d.Text, first.Text); len(added) < len(d.Text)*9/10 {
			return m + 1, cmp.Or(added, "nothing")
		}
	}
	return 0, d.Text
}

// linesBeyond returns the lines of text that other does not have.
func linesBeyond(text, other string) string {
	had := map[string]bool{}
	for line := range strings.Lines(other) {
		had[strings.TrimRight(line, " \r\n")] = true
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \r\n"); !had[line] {
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// mostOf is how much of one description is shown at most: all of a document, and
// of what a script prints no more than it was told.
func (r *run) mostOf(n int) int {
	if d := r.t.Descriptions[n]; d.Whole || d.Corrected {
		return r.shown.description
	}
	return min(r.shown.description, 2*r.descriptionChars(r.shown))
}

// sharesOf divides the room for descriptions: one half fairly, so that every
// file says something, the other in the order of nearness to the question.
func (r *run) sharesOf(texts []string) []int {
	lengths := make([]int, len(texts))
	total := 0
	for n, text := range texts {
		lengths[n] = min(len(text), r.mostOf(n))
		total += lengths[n]
	}
	left := r.shown.context
	if total <= left {
		return lengths
	}
	share := brief.Shares(lengths, left/2, r.shown.description)
	for _, n := range share {
		left -= n
	}
	for _, n := range r.nearness {
		more := max(0, min(left, lengths[n]-share[n]))
		share[n], left = share[n]+more, left-more
	}
	return share
}

// leftOut names files in at most about most bytes: each, or else how many there
// are in each folder, with an example.
func leftOut(names []string, most int) string {
	var b strings.Builder
	for _, name := range names {
		if b.WriteString(brief.Python("data/"+name) + "\n"); b.Len() > most {
			break
		}
	}
	if b.Len() <= most {
		return b.String()
	}
	count, first := map[string]int{}, map[string]string{}
	for _, name := range names {
		folder := path.Dir(name)
		if count[folder]++; count[folder] == 1 {
			first[folder] = path.Base(name)
		}
	}
	b.Reset()
	for _, folder := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&b, "%s: %d files, such as %s\n", brief.Python(path.Join("data", folder)+"/"), count[folder], brief.Python(first[folder]))
	}
	return brief.Clip(b.String(), most)
}

// answered returns the parts before the last, with half as much of their outputs.
func (r *run) answered() prompts.Earlier {
	var earlier prompts.Earlier
	for k := range r.t.Earlier {
		part := r.t.Part(k)
		steps := r.steps(part)
		for i := range steps {
			steps[i].Output = brief.Clip(steps[i].Output, r.showing().result/2)
		}
		last, _ := part.FinalCell()
		earlier.Parts = append(earlier.Parts, prompts.Answered{
			Question: part.Task.Question, Guidelines: part.Task.Guidelines, Steps: steps, Code: last.Code, Answer: part.Answer(),
		})
	}
	return earlier
}

// steps returns the steps of a plan with their accepted cells.
func (r *run) steps(t *record.Trajectory) []prompts.Step {
	show := r.showing()
	var steps []prompts.Step
	var lengths []int
	for i, n := range t.AcceptedRounds() {
		a, _ := t.Rounds[n].Accepted()
		output := a.Execution.PlainText()
		steps = append(steps, prompts.Step{Number: i + 1, Text: t.Rounds[n].Step, Code: a.Code, Output: output})
		lengths = append(lengths, min(len(output), show.result))
	}
	for i, share := range brief.Shares(lengths, show.results, show.result) {
		steps[i].Output = brief.Clip(steps[i].Output, share)
	}
	return steps
}

// missing is what the last verdict found missing; "" before the first one. That a
// person rejected a step is none: it has not been judged.
func (r *run) missing() string {
	if r.cfg.Method.NoReasons {
		return ""
	}
	for i := len(r.t.Rounds) - 1; i >= r.t.EarlierRounds(); i-- {
		if v := r.t.Rounds[i].Verdict; v != nil && !v.Sufficient && !r.t.Rounds[i].Rejected() {
			return v.Reason
		}
	}
	return ""
}

// dropped returns the steps that are no longer in the plan, with the verdict
// that led to it; those of the last round with their results, which the planner
// is to see (Algorithm 1, line 24: r_k).
func (r *run) dropped() []prompts.Dropped {
	var dropped []prompts.Dropped
	for i, round := range r.t.Rounds {
		by, ok := r.t.DroppedBy(i)
		if !ok || i < r.t.EarlierRounds() || r.t.Rounds[by].Edit != nil {
			continue // what a person has taken out is not spoken of
		}
		d := prompts.Dropped{Text: round.Step, Reason: r.t.Rounds[by].Route.Reason}
		if _, judged := r.t.Rounds[by].Accepted(); judged && r.cfg.Method.NoReasons {
			d.Reason = "" // a verdict; that a cell did not run is none
		}
		if a, ok := round.Accepted(); ok && i == len(r.t.Rounds)-1 {
			d.Output = brief.Clip(a.Execution.PlainText(), r.showing().result)
		}
		dropped = append(dropped, d)
	}
	return dropped
}
