package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsstar/agent"
	"dsstar/agent/record"
)

// A choice is what judge and router say in a round. Route is 0 for Add Step.
type choice struct {
	sufficient bool
	route      int
}

// algorithm1 is DS-STAR's Algorithm 1, line by line, with its indices: k counts
// rounds from 0, p is the plan, as the rounds in which its steps were planned.
// It returns the plan as it is judged in each round, all requests, and how often steps are dropped.
//
// Two things differ from the paper's text. Line 21 says l = k, which is the last
// step only until a step was dropped. And after the last verdict nothing more is
// planned, which would never be judged.
func algorithm1(m int, choices []choice) (judged [][]int, asked []string, backs int) {
	p := []int{0}                           // a program describes the files, lines 3 to 6
	asked = append(asked, key("solver", 0)) // lines 8 to 11: the solver's reply has the cell
	for k := range m {
		judged = append(judged, slices.Clone(p))
		asked = append(asked, key("judge", k)) // line 13
		v := choices[k]
		if v.sufficient {
			return judged, append(asked, "second the answer"), backs // line 15
		}
		if k == m-1 {
			break
		}
		l := len(p) - 1 // line 21; the judge's reply has the route of line 17
		if v.route > 0 {
			w := v.route - 1 // lines 18 and 19; the paper counts steps from 0
			l = w - 1
			backs++
		}
		p = p[:l+1]                               // line 23
		asked = append(asked, key("solver", k+1)) // lines 24 and 26
		p = append(slices.Clone(p), k+1)          // line 25
	}
	return judged, append(asked, "finalizer the answer"), backs
}

func stepText(k int) string { return fmt.Sprintf("Do thing %d.", k) }
func stepCode(k int) string { return fmt.Sprintf("x = %d\nprint(x)", 1000+k) }
func lacking(k int) string  { return fmt.Sprintf("the sum of thing %d", k) }
func key(role string, k int) string {
	return fmt.Sprintf("%s round %d", role, k+1)
}

// compare plays a script of choices and holds plan, requests and the steps that these show to
// Algorithm 1.
func compare(t reporter, m int, choices []choice) {
	t.Helper()
	const last = "y = x\nprint(y)"
	replies := simple.with(script{"last": last, "finalizer": last})
	for k, c := range choices {
		replies[key("step", k)], replies[key("cell", k)] = stepText(k), stepCode(k)
		replies[key("verdict", k)] = "Verdict: unfinished\nReason: " + lacking(k)
		if c.route > 0 {
			replies[key("verdict", k)] = "Verdict: insufficient\nReason: " + lacking(k)
			replies[key("wrong", k)] = fmt.Sprint(c.route)
		}
		if c.sufficient {
			replies[key("verdict", k)] = yes
		}
	}
	judged, asked, backs := algorithm1(m, choices)
	var plans [][]int
	p := play(t, replies, func(s *stage) {
		s.config.MaxRounds = m
		s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
			if e.Kind == agent.Judged { // the plan before the route
				plans = append(plans, planOf(tr))
			}
			return nil
		}
	}).noError(t)
	equal(t, "plans", plans, judged)
	equal(t, "requests", p.model.asked, asked)
	for k, plan := range judged {
		request := p.model.prompt(t, key("judge", k))
		for n := range k + 1 {
			if strings.Contains(request, stepCode(n)) != slices.Contains(plan, n) {
				t.Errorf("the plan is %d, and the judge reads:\n%s", plan, request)
			}
		}
	}
	if p.Sufficient() != choices[len(judged)-1].sufficient || p.Answer() == "" || !p.Proof.Same {
		t.Errorf("sufficient %v, answer %q, proof %+v", p.Sufficient(), p.Answer(), p.Proof)
	}
	if p.world.rollbacks != backs {
		t.Errorf("the session went back %d times, not %d", p.world.rollbacks, backs)
	}
	var cells []string
	for _, k := range judged[len(judged)-1] {
		cells = append(cells, stepCode(k))
	}
	equal(t, "cells", p.Cells()[2:], append(cells, last))
}

// TestAlgorithm1 holds the loop to Algorithm 1 over any verdicts and routes.
func TestAlgorithm1(t *testing.T) {
	once(t)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 8).Draw(t, "M")
		var choices []choice
		for steps := 1; len(choices) < m; {
			c := choice{rapid.IntRange(0, 5).Draw(t, "verdict") == 0,
				rapid.IntRange(0, steps).Draw(t, "route")}
			choices = append(choices, c)
			if steps++; c.route > 0 {
				steps = c.route
			}
		}
		compare(t, m, choices)
	})
}

// planOf returns the indexes of the rounds whose steps make up the plan.
func planOf(tr *record.Trajectory) (plan []int) {
	for _, r := range tr.Plan() {
		plan = append(plan, r.Number-1)
	}
	return plan
}
