package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/prompts"
)

// finalize has the last cell written, which prints the answer in the form that the
// guidelines ask for (DS-STAR section 4, finalizer). It is no error if no cell prints an
// answer: then the trajectory has none.
func (r *run) finalize(ctx context.Context) error {
	if _, err := r.restore(ctx); err != nil {
		return err
	}
	if r.t.Steps() == 0 {
		return errNoStep
	}
	verdict := record.Verdict{Reason: r.missing()}
	if r.t.Sufficient() {
		verdict = *r.current().Verdict
	}
	if r.t.Final == nil {
		// before the first try, so that every event's notebook shows the tries
		r.t.Final = &record.Final{}
	}
	r.answering = true
	final := r.t.Final
	faults, doubts := r.finalFaults(verdict), (*formDoubts)(nil)
	if err := r.finalAgain(ctx, faults); err != nil {
		return err
	}
	q := ask.Request{Role: "finalizer", Subject: r.answerSubject(),
		Words: func() ([]prompts.Part, map[string]string) { return r.finalWords(verdict) }}
	repair := func(failed record.Attempt, report string) ask.Request {
		words := r.repairWords(r.t.Steps()+1, r.finalStep(verdict), failed, report)
		return ask.Request{Role: "debugger", Words: words}
	}
	problem, err := r.try(ctx, q, r.lastCell(), repair, &final.Attempts, faults)
	if err == nil && problem != "" {
		if doubts = r.doubted(); doubts != nil {
			problem, err = r.keepDoubted(ctx, doubts, &final.Attempts)
		}
	}
	if err != nil {
		return err
	}
	if problem == "" {
		last := final.Attempts[len(final.Attempts)-1].Execution
		final.Answer, final.Summary = strings.TrimSpace(last.Stdout()), summaryOf(last)
	} else if err := r.Warn("the last cell printed no usable answer: " + problem); err != nil {
		return err
	}
	return r.observe(Event{Kind: Finalized, Text: final.Answer})
}

// lastCell returns the last cell that came with the verdict; "" if it must be asked for.
func (r *run) lastCell() string {
	if r.t.Final.Begun > 0 || !r.t.Sufficient() {
		return ""
	}
	return r.current().Answer
}

// summaryOf returns the sentences that the last cell ends with, or "".
func summaryOf(e notebook.Execution) string {
	text, _ := record.ResultText(e)
	if text = strings.TrimSpace(text); !strings.Contains(text, " ") {
		return ""
	}
	return text
}

// answerSubject is the subject of the requests for the last cell. A last cell that is begun
// again must not get the recorded replies of before.
func (r *requests) answerSubject() string {
	if n := r.t.Final.Begun; n > 0 {
		return fmt.Sprintf("the answer, begun again %d", n)
	}
	return "the answer"
}

// finalAgain runs the last cell of before a person's edit again if the person wrote it or
// nothing was added to the plan since. Otherwise, or if it fails, a new one is written.
func (r *run) finalAgain(ctx context.Context, faults examiner) error {
	final := r.t.Final
	last, ok := r.t.FinalCell()
	if !final.Again {
		return nil
	}
	if !ok || !final.ByHand && r.current().Edit == nil {
		*final = record.Final{Begun: final.Begun + 1}
		return nil
	}
	if final.ByHand {
		faults = nil
	}
	a, err := r.attempt(ctx, last.Code, faults)
	if err != nil {
		return err
	}
	printed := strings.TrimSpace(a.Execution.Stdout()) != ""
	switch {
	case final.ByHand && a.Execution.Status != notebook.OK:
		return stays("the last cell", a.Execution)
	case final.ByHand && !printed:
		return &record.EditError{Problem: "the last cell prints nothing: it must print the answer"}
	case a.Execution.Status != notebook.OK:
		*final = record.Final{Begun: final.Begun + 1}
		_, err := r.restore(ctx)
		return err
	}
	final.Attempts, final.Returns, final.Again = []record.Attempt{a}, nil, false
	return r.observe(Event{Kind: Ran, Try: 1, Execution: &a.Execution})
}

func (r *requests) finalWords(v record.Verdict) ([]prompts.Part, map[string]string) {
	finalizer := prompts.Finalizer{Guidelines: r.t.Task.Guidelines != "", Inconclusive: v.Inconclusive,
		Script: r.t.Method.Script}
	switch {
	case r.t.Method.NoReasons:
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

// ConstantAnswer is why a last cell that runs is refused, unless Method has NoComputed: the
// answer may be made up.
const ConstantAnswer = "the cell prints a constant; it must take the answer from the variables " +
	"of earlier cells, or compute it from the data"

const printedNothing = "the cell printed nothing; it must print the answer"

// formDoubts is the first answer that failed the form check.
type formDoubts struct{ code, problem string }

// doubted returns the recorded answer that failed the form check, or nil.
func (r *run) doubted() *formDoubts {
	for _, a := range r.t.Final.Attempts {
		_, raised := a.Execution.Error()
		if reason := a.Execution.Reason; a.Execution.Status == notebook.Raised && !raised &&
			reason != printedNothing && reason != ConstantAnswer {
			return &formDoubts{a.Code, reason}
		}
	}
	return nil
}

// finalFaults examines the last cell: it must print, the output must come from computed
// values, and it must have the required form. A wrong form is sent back once; after that an
// answer in a doubtful form is better than none.
func (r *run) finalFaults(v record.Verdict) examiner {
	earlier := strings.Join(r.t.UpTo(len(r.t.Rounds)).Cells(), "\n")
	m := r.t.Method
	return func(ctx context.Context, a record.Attempt) (string, error) {
		answer := strings.TrimSpace(a.Execution.Stdout())
		switch {
		case answer == "":
			return printedNothing, nil
		case !m.NoComputed && !v.Inconclusive && !usesResults(a.Code, earlier):
			return ConstantAnswer, nil
		case m.NoFormCheck || v.Inconclusive || r.approved:
			return "", nil // that there is no answer has a form of its own, and a person has the last word
		}
		before := r.doubted()
		problem, err := r.formProblem(ctx, a, answer, before != nil)
		if problem == "" || err != nil {
			return "", err
		}
		if before == nil && len(r.t.Final.Attempts) < r.cfg.DebugTries {
			return problem, nil
		}
		return "", r.warnOfForm(problem)
	}
}

func (r *run) warnOfForm(problem string) error {
	return r.Warn("the answer is perhaps not in the requested form: " + problem)
}

// keepDoubted runs the doubtful answer's cell again if no better cell has run.
func (r *run) keepDoubted(ctx context.Context, doubts *formDoubts,
	attempts *[]record.Attempt) (problem string, err error) {
	if r.t.Method.Script {
		r.dirty = true
	}
	if intact, err := r.restore(ctx); err != nil || !intact {
		return "an earlier step no longer runs", err
	}
	a, err := r.attempt(ctx, doubts.code, nil)
	if err != nil || a.Execution.Status != notebook.OK {
		return brief.Problem(a.Execution), err
	}
	*attempts, r.t.Final.ByHand = append(*attempts, a), false
	if err := r.observe(Event{Kind: Ran, Try: len(*attempts), Execution: &a.Execution}); err != nil {
		return "", err
	}
	return "", r.warnOfForm(doubts.problem)
}

// finalStep words the task of the last cell as a step.
func (r *requests) finalStep(v record.Verdict) string {
	step := "Print the answer to the question and nothing else."
	if v.Inconclusive {
		step = "Print that there is no answer to the question, and nothing else: in the words of the " +
			"form below if it has some, or else Not Applicable."
	}
	if r.t.Task.Guidelines != "" {
		step = strings.TrimSuffix(step, ".") + ", in this form: " + r.t.Task.Guidelines
	}
	if v.Sufficient && v.Reason != "" && !r.t.Method.NoReasons && !r.t.Method.Script {
		step += "\n\nThe verdict on the steps above: " + v.Reason
	}
	return step
}

// formProblem checks the answer's form by a program, and in the paper's method with a form check
// by the model.
func (r *run) formProblem(ctx context.Context, a record.Attempt, answer string,
	again bool) (string, error) {
	if r.t.Method.Script {
		return r.checkForm(ctx, a, answer, again)
	}
	task := r.t.Task
	return formOf(task.Question, task.Guidelines).problem(answer, r.filesWritten()), nil
}

// checkForm has a model compare an answer with the guidelines, or the question, and with
// what the steps have printed. Agents often miss the form (DABstep, section 4.3: multi-step
// instruction following), and no other role sees the output of the last cell. It returns
// what is wrong, or "". A reply that cannot be read counts as a fit.
func (r *run) checkForm(ctx context.Context, a record.Attempt, answer string,
	again bool) (problem string, err error) {
	subject := "the answer"
	if again {
		subject = "the answer, try 2"
	}
	problem, err = ask.Role(ctx, r.Asker, ask.Request{Role: "checker", Subject: subject,
		Words: func() ([]prompts.Part, map[string]string) {
			parts, inputs := r.shared()
			shown := brief.Clip(answer, r.Sizes().Result)
			inputs["cell"], inputs["answer"] = a.Code, shown
			return append(parts, prompts.Checker{Code: a.Code, Answer: shown,
				Guidelines: r.t.Task.Guidelines != ""}), inputs
		}}, reply.Form)
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		problem, err = "", r.Warn(unread.Error())
	}
	if err != nil {
		return "", err
	}
	return problem, r.observe(Event{Kind: Checked, Text: problem})
}
