package record

import (
	"fmt"
	"slices"
	"time"

	"dsstar/notebook"
)

// In notebooks of version 1 each cell's metadata holds its part of the trajectory, and the last
// cell's holds all times. This file assembles it.

type v1Notebook struct {
	*Trajectory
	Plans [][]int `json:"plans"` // the rounds, from 1, of each part's plan
	Last  int     `json:"rounds"`
}

type v1Cell struct {
	cellMeta
	Record *struct {
		Round
		Gone bool `json:"gone"` // a person had deleted its cells, and nothing else was known of it
	} `json:"record"`
	Descriptions []Description       `json:"descriptions"`
	Variables    []Variable          `json:"variables"`
	Final        *Final              `json:"final"`
	Execution    *notebook.Execution `json:"execution"` // without its outputs
	Measured     v1Measured          `json:"measured"`
}

type v1Measured struct {
	Started  time.Time        `json:"started"`
	Usage    Usage            `json:"usage"`
	ByRole   map[string]Usage `json:"by_role"`
	Cost     *float64         `json:"cost_usd"`
	Seconds  Seconds          `json:"seconds"`
	Memory   int64            `json:"memory"`
	Proofs   map[int]float64  `json:"proofs"` // seconds, by part from 1
	Attempts map[string]struct {
		Seconds float64 `json:"seconds"`
		Count   int     `json:"count"`
	} `json:"attempts"` // by "round 1, try 1", "description 1, try 1", "answer 1, try 1"
	Returns map[string]float64 `json:"returns"` // seconds, by "round 1, return 1"
}

// gather returns the trajectory of a notebook of version 1, without the outputs of its cells.
func gather(nb *notebook.Notebook) (*Trajectory, error) {
	t := &Trajectory{}
	meta := v1Notebook{Trajectory: t}
	if err := decode(nb.Metadata, &meta); err != nil {
		return nil, err
	}
	seen, rounds, steps := seen{}, map[int]v1Cell{}, map[int]Attempt{}
	finals, lasts := map[int]*Final{}, map[int]Attempt{}
	var took v1Measured
	last := meta.Last
	for i, c := range nb.Cells {
		m, err := decodeCell[v1Cell](i, c)
		if err != nil {
			return nil, err
		}
		if !seen.own(m.cellMeta, c) {
			continue
		}
		attempt := Attempt{Code: c.Source, Execution: notebook.Execution{Status: notebook.OK}}
		if m.Execution != nil {
			attempt.Execution = *m.Execution
		}
		switch part := max(1, m.Part); m.Role {
		case roleData:
			t.Descriptions, t.Variables = m.Descriptions, m.Variables
		case roleRound, roleDropped:
			if m.Record == nil || m.Round < 1 {
				return nil, fmt.Errorf("cell %d (%s) has no record", i+1, m.Role)
			}
			rounds[m.Round] = m
			last = max(last, m.Round)
		case roleStep:
			steps[m.Round] = attempt
			last = max(last, m.Round)
		case roleAnswer:
			finals[part] = m.Final
		case roleFinal:
			lasts[part] = attempt
		case roleProof:
			took = m.Measured
		}
	}
	for n := 1; n <= last; n++ {
		plan := []int{}
		if k := t.partOf(n) - 1; k < len(meta.Plans) {
			plan = meta.Plans[k]
		}
		step, accepted := steps[n]
		t.Rounds = append(t.Rounds, v1Round(rounds[n], step, accepted, n, plan))
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	for k := range len(t.Earlier) + 1 {
		final := finals[k+1]
		if last, ok := lasts[k+1]; ok {
			if final == nil {
				final = &Final{}
			}
			final.Attempts = append(final.Attempts, last)
		}
		if k < len(t.Earlier) {
			t.Earlier[k].Final = final
		} else {
			t.Final = final
		}
	}
	took.fill(t)
	return t, nil
}

// v1Round returns round n. A person may have deleted some of its cells.
func v1Round(heading v1Cell, step Attempt, accepted bool, n int, plan []int) Round {
	known := heading.Record != nil && !heading.Record.Gone
	if !accepted && (known && heading.Role == roleRound || !known && slices.Contains(plan, n)) {
		accepted = true // its cell is missing
		step.Execution.Status = notebook.OK
	}
	round := Round{}
	switch {
	case known:
		round = heading.Record.Round
	case accepted:
		round.Step = handStep(step.Code)
	default: // it is not in the plan, which is the same without it
		before := slices.DeleteFunc(slices.Clone(plan), func(i int) bool { return i > n })
		return Round{Edit: &Edit{What: []string{"the cells of this round were removed"}, Plan: before}}
	}
	if accepted {
		round.Attempts = append(round.Attempts, step)
	}
	return round
}

// fill adds the times to a trajectory that has none.
func (m v1Measured) fill(t *Trajectory) {
	t.Started, t.Usage, t.ByRole, t.Cost = m.Started, m.Usage, m.ByRole, m.Cost
	t.Seconds, t.Memory = m.Seconds, m.Memory
	for i, d := range t.Descriptions {
		m.fillTries(fmt.Sprintf("description %d", i+1), d.Failed, nil)
	}
	for i, r := range t.Rounds {
		m.fillTries(fmt.Sprintf("round %d", i+1), r.Attempts, r.Returns)
	}
	for k := range len(t.Earlier) + 1 {
		part := t.Part(k)
		if f := part.Final; f != nil {
			m.fillTries(fmt.Sprintf("answer %d", k+1), f.Attempts, f.Returns)
		}
		if part.Proof != nil {
			part.Proof.Seconds = m.Proofs[k+1]
		}
	}
}

func (m v1Measured) fillTries(of string, attempts []Attempt, returns []Return) {
	for i := range attempts {
		e, took := &attempts[i].Execution, m.Attempts[fmt.Sprintf("%s, try %d", of, i+1)]
		e.Seconds, e.Count, e.Outputs = took.Seconds, took.Count, recounted(e.Outputs, took.Count)
	}
	for i := range returns {
		returns[i].Seconds = m.Returns[fmt.Sprintf("%s, return %d", of, i+1)]
	}
}
