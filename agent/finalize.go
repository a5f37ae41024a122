package agent

import (
	"context"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// finalize has the last cell written, which prints the answer in the form that the
// guidelines ask for (DS-STAR section 4, finalizer). It is no error if no cell prints an
// answer: then the trajectory has none.
func (r *standard) finalize(ctx context.Context) error {
	if r.t.Steps() == 0 {
		return errNoStep
	}
	verdict := record.Verdict{Reason: r.missing()}
	if r.t.Sufficient() {
		verdict = *r.t.Last().Verdict
	}
	t := task{text: r.finalStep(), code: r.lastCell(), work: r.work, chain: r.chain, faults: r.finalFaults(verdict),
		ask: ask.Request{Role: "finalizer", Subject: r.answerSubject(),
			Words: func() []prompts.Part { return r.finalWords(verdict) }},
		repair: func(failed record.Attempt, report string) []prompts.Part {
			return r.repairWords(r.t.Steps()+1, r.stepOf(verdict), failed, report)
		}}
	if err := r.finalGiven(ctx, t); err != nil {
		return err
	}
	final := r.t.Final
	t.attempts = &final.Attempts
	problem, err := r.carryOut(ctx, t)
	if doubted := r.doubted(); err == nil && problem != "" && doubted != nil {
		problem, err = "", r.keepDoubted(*doubted)
	}
	if err != nil {
		return err
	}
	if n := len(final.Attempts); n > 0 && problem == "" {
		last := final.Attempts[n-1].Execution
		chain := r.chain(final.Attempts[n-1].Code)
		chain.Steps = append(chain.Steps, final.Attempts[n-1].Code)
		if final.Files, err = r.filesGiven(ctx, r.work, chain, last.Stdout()); err != nil {
			return err
		}
		unfit, err := r.unfit(ctx, verdict, final.Attempts[n-1])
		if err != nil {
			return err
		}
		if final.ByHand { // a person has the last word
			final.Doubts = nil
		} else if !r.approved && unfit != "" {
			final.Doubts = append([]string{unfit}, final.Doubts...)
		}
	}
	return r.finalized(problem)
}

// lastCell returns the last cell that came with the verdict; "" if it must be asked for.
func (r *standard) lastCell() string {
	if !r.t.Sufficient() {
		return ""
	}
	return r.t.Last().Answer
}

func (r *standard) finalWords(v record.Verdict) []prompts.Part {
	finalizer := prompts.Finalizer{Guidelines: r.t.Task.Guidelines != "", Inconclusive: v.Inconclusive}
	if v.Sufficient {
		finalizer.Reason = v.Reason
	} else {
		finalizer.Missing = v.Reason
	}
	return append(r.shared(), finalizer)
}

// doubted returns the first answer that was not fit, or nil.
func (r *standard) doubted() *record.Attempt {
	for i, a := range r.t.Final.Attempts {
		_, raised := a.Execution.Error()
		if reason := a.Execution.Reason; a.Execution.Status == notebook.Raised && !raised &&
			reason != printedNothing {
			return &r.t.Final.Attempts[i]
		}
	}
	return nil
}

// finalFaults examines the last cell: it must print, the output must come from computed
// values, and it must be fit. What is not fit is sent back once; after that a doubtful answer is
// better than none.
func (r *standard) finalFaults(v record.Verdict) examiner {
	earlier := r.t.Chain("").Cells()
	return func(ctx context.Context, a record.Attempt, _ string) (string, error) {
		if strings.TrimSpace(a.Execution.Stdout()) == "" {
			return printedNothing, nil
		}
		problem, err := "", error(nil)
		if r.t.Final.Doubts = nil; !v.Inconclusive {
			problem, err = r.traceLast(ctx, earlier, a.Code)
		}
		if err != nil || r.doubted() != nil || len(r.t.Final.Attempts) >= r.t.Limits.Tries {
			return "", err
		}
		if problem == "" && !r.approved { // a person has the last word
			problem, err = r.unfit(ctx, v, a)
		}
		return problem, err
	}
}

// keepDoubted takes a doubtful answer if no better cell has run.
func (r *standard) keepDoubted(a record.Attempt) error {
	a.Execution.Status, a.Execution.Reason = notebook.OK, ""
	final := r.t.Final
	final.Attempts, final.ByHand = append(final.Attempts, a), false
	return r.observe(Event{Kind: Ran, Try: len(final.Attempts), Execution: &a.Execution})
}

func (r *standard) finalStep() string {
	return r.stepOf(record.Verdict{Inconclusive: r.t.Inconclusive()})
}

// stepOf words the task of the last cell after a verdict.
func (r *standard) stepOf(v record.Verdict) string {
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

const printedNothing = "the cell printed nothing; it must print the answer"

// mustPrint examines a last cell: it must print something.
func mustPrint(_ context.Context, a record.Attempt, _ string) (string, error) {
	if strings.TrimSpace(a.Execution.Stdout()) == "" {
		return printedNothing, nil
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
