package agent

import (
	"context"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
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
		verdict = *r.current().Verdict
	}
	faults := r.finalFaults(verdict)
	if err := r.finalGiven(ctx, faults); err != nil {
		return err
	}
	final := r.t.Final
	q := ask.Request{Role: "finalizer", Subject: r.answerSubject(),
		Words: func() []prompts.Part { return r.finalWords(verdict) }}
	repair := func(failed record.Attempt, report string) ask.Request {
		words := r.repairWords(r.t.Steps()+1, r.stepOf(verdict), failed, report)
		return ask.Request{Role: "debugger", Words: words}
	}
	problem, err := r.try(ctx, q, r.lastCell(), repair, &final.Attempts, faults)
	if err == nil && problem != "" {
		if code := r.doubted(); code != "" {
			problem, err = r.keepDoubted(ctx, code, &final.Attempts)
		}
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
	return r.current().Answer
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

// doubted returns the cell of the first answer that was not fit, or "".
func (r *standard) doubted() string {
	for _, a := range r.t.Final.Attempts {
		_, raised := a.Execution.Error()
		if reason := a.Execution.Reason; a.Execution.Status == notebook.Raised && !raised &&
			reason != printedNothing {
			return a.Code
		}
	}
	return ""
}

// finalFaults examines the last cell: it must print, the output must come from computed
// values, and it must be fit. What is not fit is sent back once; after that a doubtful answer is
// better than none.
func (r *standard) finalFaults(v record.Verdict) examiner {
	earlier := r.t.UpTo(len(r.t.Rounds)).Cells()
	return func(ctx context.Context, a record.Attempt) (string, error) {
		if strings.TrimSpace(a.Execution.Stdout()) == "" {
			return printedNothing, nil
		}
		problem, err := "", error(nil)
		if r.t.Final.Doubts = nil; !v.Inconclusive {
			problem, err = r.traceLast(ctx, earlier, a.Code)
		}
		if err != nil || r.doubted() != "" || len(r.t.Final.Attempts) >= r.t.Limits.Tries {
			return "", err
		}
		if problem == "" && !r.approved { // a person has the last word
			problem, err = r.unfit(ctx, v, a)
		}
		return problem, err
	}
}

// keepDoubted runs the doubtful answer's cell again if no better cell has run.
func (r *standard) keepDoubted(ctx context.Context, code string,
	attempts *[]record.Attempt) (problem string, err error) {
	a, err := r.attempt(ctx, code, nil)
	if err != nil || a.Execution.Status != notebook.OK {
		return brief.Problem(a.Execution), err
	}
	*attempts, r.t.Final.ByHand = append(*attempts, a), false
	if err := r.observe(Event{Kind: Ran, Try: len(*attempts), Execution: &a.Execution}); err != nil {
		return "", err
	}
	return "", nil
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
