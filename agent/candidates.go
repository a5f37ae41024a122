package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/prompts"
)

// candidates has several cells written for the round's step, runs each of them from the
// accepted cells, and has one picked among those that ran. That one becomes the accepted
// attempt, and the session continues from it. If none ran, they are left to be repaired. A
// stopped run continues here. The problem says why the step cannot continue; it is "" if it
// can, or if the step gets one cell only.
func (r *standard) candidates(ctx context.Context) (problem string, err error) {
	round := r.current()
	begun := len(round.Attempts) > 0
	if !begun && r.candidateCount() == 1 || begun && record.LastCandidate(round.Attempts) == 0 {
		return "", nil
	}
	at, problem, err := r.runCandidates(ctx, round)
	if err != nil || problem != "" {
		return problem, err
	}
	good := slices.DeleteFunc(slices.Clone(round.Attempts), func(a record.Attempt) bool {
		return a.Execution.Status != notebook.OK
	})
	if len(good) == 0 {
		return "", nil
	}
	pick := record.Pick{Candidate: good[0].Candidate}
	if !agree(good) {
		if pick, err = r.pick(ctx, good); err != nil {
			return "", err
		}
	}
	pick.Of = max(r.candidateCount(), record.LastCandidate(round.Attempts))
	round.Take(pick)
	if err := r.observe(Event{Kind: Picked, Candidate: pick.Candidate, Text: pick.Reason}); err != nil {
		return "", err
	}
	r.dirty = r.dirty || at != pick.Candidate
	if intact, err := r.restore(ctx); err != nil || !intact {
		return "it cannot go on with the candidate that was picked: an earlier step, or that one, no " +
			"longer runs", err
	}
	return "", nil
}

// runCandidates asks for the candidates that the round lacks and runs each distinct cell
// once. It returns the candidate that the session has run last; 0 if none.
func (r *standard) runCandidates(ctx context.Context,
	round *record.Round) (at int, problem string, err error) {
	for n := record.LastCandidate(round.Attempts) + 1; n <= r.candidateCount(); n++ {
		code, err := round.Proposed, error(nil)
		if n > 1 || code == "" {
			code, err = ask.Role(ctx, r.Asker, r.candidate(n), reply.Code)
		}
		if unread, ok := errors.AsType[*reply.Error](err); ok {
			problem, err = unread.Error(), r.Warn(unread.Error())
			if err == nil {
				continue
			}
		}
		if err != nil {
			return at, "", err
		}
		if slices.ContainsFunc(round.Attempts, func(a record.Attempt) bool { return a.Code == code }) {
			continue
		}
		r.dirty = r.dirty || at > 0
		if intact, err := r.restore(ctx); err != nil || !intact {
			return at, "an earlier step no longer runs", err
		}
		a, err := r.attempt(ctx, code, nil)
		if err != nil {
			return at, "", err
		}
		a.Candidate, at = n, n
		round.Attempts = append(round.Attempts, a)
		if err := r.observe(Event{Kind: Ran, Try: 1, Candidate: n, Text: problemOf(a), Execution: &a.Execution}); err != nil {
			return at, "", err
		}
	}
	if len(round.Attempts) > 0 {
		problem = ""
	}
	return at, problem, nil
}

// candidate is the request for candidate n. The first request is the same as for a single
// cell.
func (r *standard) candidate(n int) ask.Request {
	q := ask.Request{Role: "coder", Subject: r.subject(0), Words: r.codeWords}
	if n > 1 {
		q.Subject = fmt.Sprintf("%s, candidate %d", q.Subject, n)
		q.Words = func() ([]prompts.Part, map[string]string) { return r.codeWordsFor(n) }
	}
	return q
}

// pick lets the verifier choose among cells that ran. If its reply cannot be read, the first
// is chosen.
func (r *standard) pick(ctx context.Context, good []record.Attempt) (record.Pick, error) {
	var numbers []int
	for _, a := range good {
		numbers = append(numbers, a.Candidate)
	}
	q := ask.Request{Role: "verifier", Subject: r.subject(0) + ", candidates",
		Words: func() ([]prompts.Part, map[string]string) { return r.pickWords(good) }}
	pick, err := ask.Role(ctx, r.Asker, q, reply.Pick(numbers))
	if unread, ok := errors.AsType[*reply.Error](err); ok {
		pick = record.Pick{Candidate: numbers[0],
			Reason: "the verifier made no choice that could be read, and this is the first that ran"}
		err = r.Warn(unread.Error())
	}
	return pick, err
}

func (r *standard) pickWords(good []record.Attempt) ([]prompts.Part, map[string]string) {
	show := r.Sizes()
	picker := prompts.Picker{Number: r.t.StepOf(len(r.t.Rounds) - 1), Step: r.current().Step}
	var lengths []int
	for _, a := range good {
		lengths = append(lengths, min(len(a.Execution.PlainText()), show.Result))
	}
	parts, inputs := r.shared()
	for i, share := range brief.Shares(lengths, show.Results, show.Result) {
		c := prompts.Candidate{Number: good[i].Candidate, Code: good[i].Code,
			Output: brief.Clip(good[i].Execution.PlainText(), share)}
		picker.Candidates = append(picker.Candidates, c)
		inputs["candidates"] += strings.Join([]string{c.Code, c.Output, ""}, "\n")
	}
	inputs["step"] = picker.Step
	return append(parts, picker), inputs
}

// agree reports whether all attempts printed the same.
func agree(attempts []record.Attempt) bool {
	for _, a := range attempts {
		if a.Execution.PlainText() != attempts[0].Execution.PlainText() {
			return false
		}
	}
	return true
}

// candidateCount is how many cells a step gets.
func (r *standard) candidateCount() int {
	if r.cfg.Review != nil {
		return 1
	}
	return max(1, r.t.Method.Candidates)
}
