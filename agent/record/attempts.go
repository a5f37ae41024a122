package record

import (
	"slices"

	"dsstar/notebook"
)

// Take makes the picked candidate the round's last attempt, and a cell like any other.
func (r *Round) Take(p Pick) {
	r.Pick = &p
	is := func(a Attempt) bool { return a.Candidate == p.Candidate }
	from, to := slices.IndexFunc(r.Attempts, is), len(r.Attempts)
	picked := r.Attempts[from]
	picked.Candidate = 0
	r.Attempts = append(slices.Delete(slices.Clone(r.Attempts), from, from+1), picked)
	for i := range r.Returns {
		switch after := &r.Returns[i].After; {
		case *after == from+1:
			*after = to
		case *after > from:
			*after--
		}
	}
}

// LastCandidate returns the number of the last attempt as a candidate; 0 if it is none.
func LastCandidate(attempts []Attempt) int {
	if len(attempts) == 0 {
		return 0
	}
	return attempts[len(attempts)-1].Candidate
}

// CountTries returns how many tries there were: all candidates are one.
func CountTries(attempts []Attempt) int {
	n, several := 0, 0
	for _, a := range attempts {
		if a.Candidate > 0 {
			several = 1
		} else {
			n++
		}
	}
	return n + several
}

// LastTry returns the attempt that a repair begins from: of candidates the first.
func LastTry(attempts []Attempt) Attempt {
	if LastCandidate(attempts) > 0 {
		return attempts[0]
	}
	return attempts[len(attempts)-1]
}

// NotRun reports whether a person did not let the attempt run.
func (a Attempt) NotRun() bool { return a.Execution.Status == notebook.NotRun }

// Rejected reports whether a person did not let the round's step run.
func (r Round) Rejected() bool { return slices.ContainsFunc(r.Attempts, Attempt.NotRun) }

// Tried returns all attempts at cells, and how the session went back from them.
func (t *Trajectory) Tried() (attempts []Attempt, returns []Return) {
	for _, r := range t.Rounds {
		attempts, returns = append(attempts, r.Attempts...), append(returns, r.Returns...)
	}
	for k := range len(t.Earlier) + 1 {
		if f := t.Part(k).Final; f != nil {
			attempts, returns = append(attempts, f.Attempts...), append(returns, f.Returns...)
		}
	}
	return attempts, returns
}
