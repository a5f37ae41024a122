package agent

import (
	"slices"
	"strings"

	"dsstar/prompts"
)

// shared returns the parts that every request after the descriptions begins
// with, and the inputs by which a recorded reply is known to fit.
func (r *run) shared() ([]prompts.Part, map[string]string) {
	steps := r.steps()
	parts := []prompts.Part{r.context}
	if len(steps) > 0 {
		parts = append(parts, prompts.Notebook{Steps: steps})
	}
	var names, descriptions, plan, code, results []string
	for _, f := range r.context.Files {
		names, descriptions = append(names, f.Path), append(descriptions, f.Description)
	}
	for _, s := range steps {
		plan, code, results = append(plan, s.Text), append(code, s.Code), append(results, s.Output)
	}
	return parts, map[string]string{
		"question":     r.t.Task.Question,
		"guidelines":   r.t.Task.Guidelines,
		"files":        strings.Join(names, "\n"),
		"descriptions": strings.Join(descriptions, "\n"),
		"plan":         strings.Join(plan, "\n"),
		"code":         strings.Join(code, "\n"),
		"results":      strings.Join(results, "\n"),
	}
}

// taskContext returns the task and the files that the model is shown, with as
// much of their descriptions as the budgets allow, and the names of the others.
func (r *run) taskContext() prompts.Context {
	c := prompts.Context{Question: r.t.Task.Question, Guidelines: r.t.Task.Guidelines}
	chosen := nearest(r.t.Task.Question, r.t.Descriptions, r.cfg.TopK)
	lengths := make([]int, len(chosen))
	for i, n := range chosen {
		lengths[i] = len(r.t.Descriptions[n].Text)
	}
	share := shares(lengths, r.cfg.ContextChars, r.cfg.DescriptionChars)
	for i, n := range chosen {
		d := r.t.Descriptions[n]
		text := clipAt(d.Text, share[i], share[i]*9/10) // a description begins with what matters most
		if text == "" {
			text = "No description: " + d.Error
		}
		c.Files = append(c.Files, prompts.File{
			Path: pyString("data/" + d.File), Size: fileSize(r.t.Task.Files[n].Size), Description: text,
		})
	}
	var names []string
	for i, d := range r.t.Descriptions {
		if !slices.Contains(chosen, i) {
			names = append(names, pyString("data/"+d.File))
		}
	}
	c.LeftOut = clip(strings.Join(names, "\n"), r.cfg.DescriptionChars)
	return c
}

// steps returns the steps of the plan with their accepted cells.
func (r *run) steps() []prompts.Step {
	var steps []prompts.Step
	for i, n := range r.t.acceptedRounds() {
		a, _ := r.t.Rounds[n].Accepted()
		steps = append(steps, prompts.Step{
			Number: i + 1, Text: r.t.Rounds[n].Step, Code: a.Code,
			Output: clip(a.Execution.PlainText(), r.cfg.ResultChars),
		})
	}
	return steps
}

// missing is what the last verdict found missing; "" before the first one.
func (r *run) missing() string {
	for i := len(r.t.Rounds) - 1; i >= 0; i-- {
		if v := r.t.Rounds[i].Verdict; v != nil && !v.Sufficient {
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
		by, ok := r.t.droppedBy(i)
		if !ok {
			continue
		}
		d := prompts.Dropped{Text: round.Step, Reason: r.t.Rounds[by].Route.Reason}
		if a, ok := round.Accepted(); ok && i == len(r.t.Rounds)-1 {
			d.Output = clip(a.Execution.PlainText(), r.cfg.ResultChars)
		}
		dropped = append(dropped, d)
	}
	return dropped
}
