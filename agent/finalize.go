package agent

import (
	"context"
	"strings"

	"dsstar/prompts"
)

// finalize writes the last cell, which prints the answer in the form that the
// guidelines ask for (DS-STAR section 4, finalizer). An answer that no cell
// printed is no error here: the report then has none.
func (r *run) finalize(ctx context.Context) error {
	verdict := Verdict{Reason: r.missing()}
	if r.t.Sufficient() {
		verdict = *r.current().Verdict
	}
	if _, err := r.restore(ctx); err != nil {
		return err
	}
	if r.t.Steps() == 0 {
		return errNoStep
	}
	faults := r.finalFaults(verdict)
	final := &Final{}
	r.t.Final = final // before the first try, so that every event's notebook shows the tries
	q := question{"finalizer", "the answer", func() ([]prompts.Part, map[string]string) { return r.finalWords(verdict) }}
	repair := func(failed Attempt, report string) question {
		return question{"debugger", "", r.repairWords(r.t.Steps()+1, finalStep(r.t.Task), failed, report)}
	}
	problem, err := r.try(ctx, q, repair, &final.Attempts, faults)
	if err != nil {
		return err
	}
	if problem == "" {
		final.Answer = strings.TrimSpace(final.Attempts[len(final.Attempts)-1].Execution.Stdout())
	} else if err := r.observe(Event{Kind: Warned, Text: "the last cell printed no usable answer: " + problem}); err != nil {
		return err
	}
	return r.observe(Event{Kind: Finalized, Text: final.Answer})
}

func (r *run) finalWords(v Verdict) ([]prompts.Part, map[string]string) {
	finalizer := prompts.Finalizer{Guidelines: r.t.Task.Guidelines != "", Inconclusive: v.Inconclusive, Script: r.cfg.Method.Script}
	switch {
	case r.cfg.Method.NoReasons:
	case v.Sufficient:
		finalizer.Reason = v.Reason
	default:
		finalizer.Missing = v.Reason
	}
	parts, inputs := r.shared()
	if finalizer.Script {
		finalizer.Reason = "" // Listing 53 has no verdict
		parts, inputs = r.asPublished(sees{context: true, code: true, output: true})
	}
	inputs["missing"], inputs["reason"] = finalizer.Missing, finalizer.Reason
	return append(parts, finalizer), inputs
}

// finalFaults is the check of the last cell: it must print, what it prints must
// come from computed values, and it must have the form of the guidelines.
func (r *run) finalFaults(v Verdict) examiner {
	earlier := strings.Join(r.t.Cells(), "\n")
	m, doubted := r.cfg.Method, false
	return func(ctx context.Context, a Attempt) (string, error) {
		answer := strings.TrimSpace(a.Execution.Stdout())
		switch {
		case answer == "":
			return "the cell printed nothing; it must print the answer", nil
		case !m.NoComputed && !v.Inconclusive && !usesResults(a.Code, earlier):
			return "the cell prints a constant; it must take the answer from the variables of earlier cells, or compute it from the data", nil
		case m.NoFormCheck || r.t.Task.Guidelines == "":
			return "", nil
		}
		problem, err := r.checkForm(ctx, answer, doubted)
		mayMend := !doubted && len(r.t.Final.Attempts) < r.cfg.DebugTries
		if problem == "" || err != nil || mayMend {
			doubted = true
			return problem, err
		}
		// An answer in a doubtful form is better than none.
		return "", r.observe(Event{Kind: Warned, Text: "the answer may not have the form that the guidelines ask for: " + problem})
	}
}

// finalStep is what the last cell is for, in the words of a step.
func finalStep(t Task) string {
	if t.Guidelines == "" {
		return "Print the answer to the question and nothing else."
	}
	return "Print the answer to the question and nothing else, in this form: " + t.Guidelines
}
