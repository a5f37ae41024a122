package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/notebook/human"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
	"dsstar/prompts"
)

// A shown is the context of all files, as it was made for some sizes; nil words: it is not made yet.
type shown struct {
	sizes record.Sizes
	words *prompts.Context
}

func (r *run) question() prompts.Question {
	return prompts.Question{Question: r.t.Task.Question, Guidelines: r.t.Task.Guidelines}
}

// context returns the files that the model is shown, and the variables. It is the same throughout a
// question, unless less is shown.
func (r *run) context() prompts.Context {
	show := r.asker.Sizes()
	if r.shown.words == nil || show != r.shown.sizes {
		c := prompts.Context{NoFiles: r.t.Task.Data == ""}
		c.Files, c.LeftOut = r.files.Files(show)
		c.Variables, c.OtherVariables = r.shownVariables(show)
		c.Definitions = r.shownDefinitions(show)
		c.Facts, c.Functions = shownMemory(r.t.Recalled)
		r.shown = shown{show, &c}
	}
	return *r.shown.words
}

// subject names the requests of the current round.
func (r *run) subject() string { return fmt.Sprintf("round %d", r.number()) }

// nextSubject names those that begin the next one.
func (r *run) nextSubject() string { return fmt.Sprintf("round %d", r.t.RoundsTaken()+1) }

// ofQuestion tells the subjects of a follow-up's requests from those of the question before.
func (r *run) ofQuestion() string {
	if k := r.t.Earlier(); k > 0 {
		return fmt.Sprintf(" to question %d", k+1)
	}
	return ""
}

const lastStep = "Print the answer to the question and nothing else."

// inForm adds the form of the answer to the last step.
func (r *run) inForm(step string) string {
	if r.t.Task.Guidelines == "" {
		return step
	}
	return strings.TrimSuffix(step, ".") + ", in this form: " + r.t.Task.Guidelines
}

// shared returns what requests about the plan begin with.
func (r *run) shared() []prompts.Part {
	parts := []prompts.Part{r.context()}
	if r.t.Earlier() > 0 {
		parts = append(parts, r.answered())
	}
	parts = append(parts, r.question())
	if steps := r.steps(r.t); len(steps) > 0 {
		parts = append(parts, prompts.Notebook{Functions: lesson.Module(r.t.UsedTools()), Steps: steps})
	}
	return r.withNotes(parts)
}

// withNotes adds what the user has written for the agent.
func (r *run) withNotes(parts []prompts.Part) []prompts.Part {
	if told := r.t.Told(); len(told) > 0 {
		return append(parts, prompts.Notes{Texts: told})
	}
	return parts
}

// answered returns the earlier questions, with half as much of their outputs, and the oldest
// shortened until all take no more than the sizes say.
func (r *run) answered() prompts.Earlier {
	var earlier prompts.Earlier
	for k := range r.t.Earlier() {
		part := r.t.Part(k)
		steps := r.steps(part)
		for i := range steps {
			steps[i].Output = brief.Clip(steps[i].Output, r.asker.Sizes().Result/2)
		}
		earlier.Open = earlier.Open || len(part.OpenReadings()) > 0
		earlier.Parts = append(earlier.Parts, prompts.Answered{Number: k + 1,
			Question: part.Task.Question, Guidelines: part.Task.Guidelines, Steps: steps,
			Code: part.FinalCell().Code, Answer: part.Answer(),
			Worth: worth(part, r.t.CorrectedBy(k), r.asker.Sizes().Result/2),
		})
	}
	if most := r.asker.Sizes().Earlier; most > 0 {
		shortenOldest(earlier, most)
	}
	return earlier
}

// alike is how many questions are shortened together, so that requests begin alike for a while.
const alike = 4

// shortenOldest shortens the oldest questions, the last one at the end, until all take at most most
// bytes.
func shortenOldest(earlier prompts.Earlier, most int) {
	last := len(earlier.Parts) - 1
	groups := append(slices.Collect(slices.Chunk(earlier.Parts[:last], alike)), earlier.Parts[last:])
	for _, group := range groups {
		if earlier.Size() <= most {
			return
		}
		for i := range group {
			shorten(&group[i])
		}
	}
}

// shorten leaves out what the cells of a question printed, and the cells but for the names that they
// bind.
func shorten(a *prompts.Answered) {
	for i := range a.Steps {
		s := &a.Steps[i]
		s.Output = brief.Clip(s.Output, 1)
		var names []string
		for _, m := range bound().FindAllStringSubmatch(s.Code, -1) {
			if name := m[1] + m[2]; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		code := brief.Clip(s.Code, 1) + "\n# It binds " + strings.Join(names, ", ") + "."
		if len(code) < len(s.Code) {
			s.Code = code
		}
	}
	a.Code = ""
}

// bound matches where a line that is not indented binds names.
var bound = lazy.Regexp(`(?m)^(?:(?:def|class) +(\w+)|(\w+(?:, *\w+)*) *[+|]?=[^=])`)

// worth says what an earlier answer is worth, if that is less than verified or another question, by its
// number, corrects it, and how it takes what the question left open.
func worth(part *record.Trajectory, corrected, most int) string {
	var all []string
	if corrected > 0 {
		all = append(all, fmt.Sprintf("Question %d corrects this answer.", corrected))
	}
	if !part.Verified() || part.Inconclusive() {
		all = append(all, part.InWords())
	}
	inWords := func(r record.Reading) string { return r.InWords(brief.Clip(part.Answer(), most)) }
	all = append(all, lists.Map(part.Readings, inWords)...)
	return brief.Clip(strings.Join(all, "\n"), most)
}

// steps returns the steps of a plan with their accepted cells.
func (r *run) steps(t *record.Trajectory) []prompts.Step {
	show := r.asker.Sizes()
	var steps []prompts.Step
	var lengths []int
	for i, round := range t.Accepted() {
		a := round.Accepted()
		output := a.Execution.PlainText()
		steps = append(steps, prompts.Step{Number: i + 1, Text: round.Step, Code: a.Code,
			Output: output, Hand: round.ByHand})
		lengths = append(lengths, min(len(output), show.Result))
	}
	for i, share := range brief.Shares(lengths, show.Results, show.Result) {
		steps[i].Output = brief.Clip(steps[i].Output, share)
	}
	return steps
}

// missing returns what the last verdict found missing, or "". A step that a person rejected
// has no verdict.
func (r *run) missing() string {
	for _, round := range slices.Backward(r.t.Rounds) {
		if v := round.Verdict; v != nil && !v.Sufficient && !round.Rejected() {
			return v.Reason
		}
	}
	if r.t.Start != nil {
		return "no step is left"
	}
	return ""
}

// dropped returns the steps that are no longer in the plan, with the verdicts that dropped
// them. Those of the last round have their results, which the planner must see (Algorithm 1,
// line 24: r_k).
func (r *run) dropped() []prompts.Dropped {
	var dropped []prompts.Dropped
	last := r.t.Last()
	for _, round := range r.t.Ever() {
		if round.Dropped == 0 {
			continue // what a person has taken out is not spoken of
		}
		d := prompts.Dropped{Text: round.Step, Reason: round.Why}
		if a := round.Accepted(); a.IsCell() && last != nil && round.Number == last.Number {
			d.Output = brief.Clip(a.Execution.PlainText(), r.asker.Sizes().Result)
		}
		dropped = append(dropped, d)
	}
	return dropped
}

// ofToday matches words that mean another day on another day.
var ofToday = lazy.Regexp(`(?i)\b(?:(?:last|past|previous|this|current|next) (?:\w+ )?(?:year|quarter|month|` +
	`week|day)s?|ago|to[- ]date|today|yesterday|now|current(?:ly)?|recent(?:ly)?|(?:letzt|vergangen|dies|` +
	`aktuell|vorig)e[nmrs]?|heute|gestern|hoy|hace|pasad[oa]|aujourd.hui|derni(?:er|ère)s?|cette|` +
	`actuel(?:le)?)\b`)

// system begins every request.
func (r *run) system() prompts.Part {
	switch {
	case r.cfg.Baseline != nil:
		return r.cfg.Baseline.System
	case r.t.Method.Script:
		return prompts.PaperSystem{Environment: r.t.Environment}
	}
	s := prompts.System{Environment: r.t.Environment, NoFiles: r.t.Task.Data == ""}
	if ofToday().MatchString(r.t.Task.Question + "\n" + r.t.Task.Guidelines) {
		s.Today = r.t.Started.Format("Monday, 2 January 2006")
	}
	if r.shown.words != nil {
		known := r.context()
		s.Variables = len(known.Variables) > 0 || known.OtherVariables != ""
	}
	of := &s.Sources
	for _, source := range files.Databases(r.t.Task.Sources) {
		of.Buckets = of.Buckets || source.Is(files.BucketEnding)
		of.Databases = of.Databases || source.Is(files.DatabaseEnding)
		if source.Is(files.ClusterEnding) { // there is one at most
			engine := source.Engine()
			of.Spark, of.Dask, of.Ray = engine == "spark", engine == "dask", engine == "ray"
		}
	}
	if r.cfg.Memory > 0 && r.t.Task.Bytes() > r.cfg.Memory/8 { // a frame takes up to eight times its file
		of.Large, of.Memory = true, human.Bytes(r.cfg.Memory)
	}
	return s
}

// Roles are what asks a model for one kind of reply, each by the name of its calls in the trace and of
// its model in the settings, with what the terminal calls its reply. A new one is a row, a template of
// package prompts with a form of [ask], a call, and an entry in the settings.
var Roles = map[string]string{
	"solver":     "step",
	"judge":      "judge",
	"debugger":   "repair",
	"second":     "second",
	"arbiter":    "ruling",
	"branches":   "readings",
	"learner":    "memory",
	"summarizer": "summarizer",
	"coder":      "cell",
	"finalizer":  "answer",
	// of the published method alone
	"analyzer": "file",
	"planner":  "plan",
	"verifier": "judge",
	"router":   "router",
}

// unread warns that a reply could not be read, where the run goes on without it. It returns why if err
// says that, and else err.
func (r *run) unread(err error) (why string, _ error) {
	if unread, is := errors.AsType[*ask.Error](err); is {
		return unread.Error(), r.Warn(unread.Error())
	}
	return "", err
}
