package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// finalize has the last cell written, which prints the answer in the form that the
// guidelines ask for (DS-STAR section 4, finalizer). It is no error if no cell prints an
// answer: then the trajectory has none.
func (r *run) finalize(ctx context.Context) error {
	verdict, first := record.Verdict{Reason: r.missing()}, ""
	request := prompts.Finalizer{Guidelines: r.t.Task.Guidelines != "", Missing: verdict.Reason}
	if r.t.Sufficient() { // the last cell may have come with the verdict
		verdict, first = *r.t.Last().Verdict, r.t.Last().Answer
		request.Reason, request.Missing, request.Inconclusive = verdict.Reason, "", verdict.Inconclusive
	}
	words := func() []prompts.Part { return append(r.shared(), request) }
	var unfit *record.Attempt
	problem, err := r.carryOutLast(ctx, task{text: r.stepOf(verdict), code: first, show: r.shared,
		faults: r.examineLast(verdict, &unfit), ask: ask.Request{Role: "finalizer", Words: words}})
	if err != nil {
		return err
	}
	final := r.t.Final
	if problem != "" && unfit != nil { // a doubtful answer is better than none
		final.Attempts, final.ByHand, problem = append(final.Attempts, *unfit), false, ""
		err := r.observe(Event{Kind: Ran, Try: len(final.Attempts), Execution: &unfit.Execution})
		if err != nil {
			return err
		}
	}
	if a := r.t.FinalCell(); a.IsCell() && problem == "" {
		answer := strings.TrimSpace(a.Execution.Stdout())
		if final.Files, err = r.filesGiven(ctx, r.work, r.chain(), a.Code, answer); err != nil {
			return err
		}
		if final.Receipts, err = r.receiptsOf(ctx, a.Code, answer); err != nil {
			return err
		}
	}
	if final.ByHand { // a person has the last word
		final.Doubts = nil
	}
	return r.finalized(problem)
}

// carryOutLast carries out the last cell, or the one with which a person has left the question.
func (r *run) carryOutLast(ctx context.Context, t task) (problem string, err error) {
	if r.t.Steps() == 0 {
		return "", errors.New("no step of the plan could be carried out")
	}
	t.work, t.chain, t.ask.Subject = r.work, r.chain(), "the answer"+r.ofQuestion()
	if err := r.finalGiven(ctx, t); err != nil {
		return "", err
	}
	t.attempts = &r.t.Final.Attempts
	return r.carryOut(ctx, t)
}

// examineLast examines the last cell after a verdict: it must print, the output must come from
// computed values, and it must be fit. The first that is unfit is sent back. A person may type in what
// they know, and accept what is not fit.
func (r *run) examineLast(v record.Verdict, first **record.Attempt) examiner {
	earlier := r.t.Chain().Cells()
	return func(ctx context.Context, a record.Attempt) (problem string, err error) {
		if problem, err = mustPrint(ctx, a); problem != "" {
			return problem, err
		}
		var found lineage.Found
		if !v.Inconclusive {
			found, err = r.trace(ctx, lineage.Query{Kind: lineage.Last, Cells: earlier, Code: a.Code})
		}
		if r.t.Mine(1) > 0 {
			found.Problem = ""
		}
		unfit := ""
		if err == nil && !r.approved {
			unfit, err = r.unfit(ctx, v, a)
		}
		problems := []string{unfit, found.Problem}
		problems = slices.DeleteFunc(problems, func(p string) bool { return p == "" })
		r.t.Final.Doubts = append(problems, found.Doubts...)
		if len(problems) > 0 && *first == nil && len(r.t.Final.Attempts) < r.t.Limits.Tries {
			problem, *first = problems[len(problems)-1], &a
		}
		return problem, err
	}
}

// stepOf words the task of the last cell after a verdict.
func (r *run) stepOf(v record.Verdict) string {
	step := lastStep
	if v.Inconclusive {
		step = "Print that there is no answer to the question, and nothing else: in the words of the " +
			"form below if it has some, or else Not Applicable."
	}
	step = r.inForm(step)
	if v.Sufficient && v.Reason != "" {
		step += "\n\nThe verdict on the steps above: " + v.Reason
	}
	return step
}

// mustPrint examines a last cell: it must print something.
func mustPrint(_ context.Context, a record.Attempt) (string, error) {
	if strings.TrimSpace(a.Execution.Stdout()) == "" {
		return "the cell printed nothing; it must print the answer", nil
	}
	return "", nil
}

// finalized takes what the last cell printed for the answer unless there is a problem.
func (r *run) finalized(problem string) error {
	final := r.t.Final
	if problem == "" {
		last := final.Attempts[len(final.Attempts)-1].Execution
		if missing := final.Take(last); missing != "" {
			if err := r.Warn("the summary is left out: it does not say the answer, " + missing); err != nil {
				return err
			}
		}
	} else if err := r.Warn("the last cell printed no usable answer: " + problem); err != nil {
		return err
	}
	return r.observe(Event{Kind: Finalized, Text: final.Answer})
}
