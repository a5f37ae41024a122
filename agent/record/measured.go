package record

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"dsstar/notebook"
)

// measured is what differs between two runs that do the same. It stands in the
// notebook's last cell, so that a diff of two runs shows what they did and, in
// one place, what they took.
type measured struct {
	Started  time.Time          `json:"started"`
	Usage    Usage              `json:"usage"`
	ByRole   map[string]Usage   `json:"by_role,omitempty"`
	Cost     *float64           `json:"cost_usd,omitempty"`
	Seconds  Seconds            `json:"seconds"`
	Memory   int64              `json:"memory,omitempty"`   // that the session may take
	Proofs   map[int]float64    `json:"proofs,omitempty"`   // seconds, by part from 1
	Attempts map[string]ran     `json:"attempts,omitempty"` // by the name of attemptName
	Returns  map[string]float64 `json:"returns,omitempty"`  // seconds, by the name of returnName
}

// ran is what an attempt took, and how its kernel counted it, which one that died
// may not have told.
type ran struct {
	Seconds float64 `json:"seconds"`
	Count   int     `json:"count,omitempty"`
}

// attemptName names an attempt: of what, and which, from 1.
func attemptName(of string, n int) string { return fmt.Sprintf("%s, try %d", of, n+1) }

// returnName names a going back: of what, and which, from 1.
func returnName(of string, n int) string { return fmt.Sprintf("%s, return %d", of, n+1) }

// withoutTimes returns a copy of the trajectory without what is measured, and
// that.
func (t *Trajectory) withoutTimes() (*Trajectory, *measured) {
	m := &measured{t.Started, t.Usage, t.ByRole, t.Cost, t.Seconds, t.Memory, map[int]float64{}, map[string]ran{}, map[string]float64{}}
	bare := *t
	bare.Started, bare.Usage, bare.ByRole, bare.Cost, bare.Seconds, bare.Memory = time.Time{}, Usage{}, nil, nil, Seconds{}, 0
	bare.Rounds, bare.Earlier, bare.Descriptions = slices.Clone(t.Rounds), slices.Clone(t.Earlier), slices.Clone(t.Descriptions)
	bare.Final, bare.Proof = copied(t.Final), copied(t.Proof)
	for k := range bare.Earlier {
		bare.Earlier[k].Final, bare.Earlier[k].Proof = copied(bare.Earlier[k].Final), copied(bare.Earlier[k].Proof)
	}
	bare.EachAttempts(func(of string, attempts *[]Attempt) {
		*attempts = slices.Clone(*attempts)
		for n := range *attempts {
			e := &(*attempts)[n].Execution
			if e.Seconds != 0 || e.Count != 0 {
				m.Attempts[attemptName(of, n)] = ran{e.Seconds, e.Count}
			}
			recount(e, 0)
			e.Seconds = 0
		}
	})
	bare.eachReturns(func(of string, returns *[]Return) {
		*returns = slices.Clone(*returns)
		for n := range *returns {
			if b := &(*returns)[n]; b.Seconds != 0 {
				m.Returns[returnName(of, n)], b.Seconds = b.Seconds, 0
			}
		}
	})
	bare.eachProof(func(part int, p *Proof) {
		m.Proofs[part], p.Seconds = p.Seconds, 0
	})
	return &bare, m
}

// measure puts back what withoutTimes has taken away.
func (t *Trajectory) measure(m *measured) {
	t.Started, t.Usage, t.ByRole, t.Cost, t.Seconds, t.Memory = m.Started, m.Usage, maps.Clone(m.ByRole), m.Cost, m.Seconds, m.Memory
	t.EachAttempts(func(of string, attempts *[]Attempt) {
		for n := range *attempts {
			e, was := &(*attempts)[n].Execution, m.Attempts[attemptName(of, n)]
			recount(e, was.Count)
			e.Seconds = was.Seconds
		}
	})
	t.eachReturns(func(of string, returns *[]Return) {
		for n := range *returns {
			(*returns)[n].Seconds = m.Returns[returnName(of, n)]
		}
	})
	t.eachProof(func(part int, p *Proof) { p.Seconds = m.Proofs[part] })
}

// recount gives an execution and its results another count.
func recount(e *notebook.Execution, count int) {
	e.Count = count
	e.Outputs = slices.Clone(e.Outputs)
	for i := range e.Outputs {
		if e.Outputs[i].Type == notebook.ExecuteResult {
			e.Outputs[i].ExecutionCount = count
		}
	}
}

// eachAttempts calls do for all lists of attempts.
func (t *Trajectory) EachAttempts(do func(of string, attempts *[]Attempt)) {
	for i := range t.Descriptions {
		do(fmt.Sprintf("description %d", i+1), &t.Descriptions[i].Failed)
	}
	for i := range t.Rounds {
		do(fmt.Sprintf("round %d", i+1), &t.Rounds[i].Attempts)
	}
	t.eachFinal(func(of string, f *Final) { do(of, &f.Attempts) })
}

// eachReturns calls do for all lists of returns.
func (t *Trajectory) eachReturns(do func(of string, returns *[]Return)) {
	for i := range t.Rounds {
		do(fmt.Sprintf("round %d", i+1), &t.Rounds[i].Returns)
	}
	t.eachFinal(func(of string, f *Final) { do(of, &f.Returns) })
}

func (t *Trajectory) eachFinal(do func(of string, f *Final)) {
	for k := range len(t.Earlier) + 1 {
		if f := t.Part(k).Final; f != nil {
			do(fmt.Sprintf("answer %d", k+1), f)
		}
	}
}

func (t *Trajectory) eachProof(do func(part int, p *Proof)) {
	for k := range len(t.Earlier) + 1 {
		if p := t.Part(k).Proof; p != nil {
			do(k+1, p)
		}
	}
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
