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
	missing, reason := "", ""
	if r.t.Sufficient() {
		reason = r.current().Verdict.Reason
	} else {
		missing = r.missing()
	}
	if _, err := r.restore(ctx); err != nil {
		return err
	}
	if r.t.Steps() == 0 {
		return errNoStep
	}
	earlier := strings.Join(r.t.Cells(), "\n")
	final := &Final{}
	r.t.Final = final // before the first try, so that every event's notebook shows the tries
	parts, inputs := r.shared()
	inputs["missing"], inputs["reason"] = missing, reason
	q := question{"finalizer", "the answer", append(parts, prompts.Finalizer{
		Guidelines: r.t.Task.Guidelines, Missing: missing, Reason: reason,
	}), inputs}
	repair := func(failed Attempt, report string) question {
		parts, inputs := r.shared()
		inputs["cell"], inputs["error"] = failed.Code, report
		return question{"debugger", "", append(parts, prompts.Debugger{
			Number: len(r.t.acceptedRounds()) + 1, Step: finalStep(r.t.Task), Code: failed.Code, Error: report,
		}), inputs}
	}
	check := func(a Attempt) string {
		switch {
		case strings.TrimSpace(a.Execution.Stdout()) == "":
			return "the cell printed nothing; it must print the answer"
		case !usesResults(a.Code, earlier):
			return "the cell prints a constant; it must take the answer from the variables of earlier cells, or compute it from the data"
		}
		return ""
	}
	problem, err := r.try(ctx, q, repair, &final.Attempts, check)
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

func finalStep(t Task) string {
	if t.Guidelines == "" {
		return "Print the answer to the question and nothing else."
	}
	return "Print the answer to the question and nothing else, in this form: " + t.Guidelines
}
