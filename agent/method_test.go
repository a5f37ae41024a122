package agent_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// A choice is what judge and router say in a round. Route is 0 for Add Step.
type choice struct {
	sufficient bool
	route      int
}

// A request is what a role is expected to be asked.
type request struct {
	key   string
	parts []prompts.Part
}

// algorithm1 is DS-STAR's Algorithm 1, line by line, with its indices: k counts
// rounds from 0, p is the plan, as the rounds in which its steps were planned.
// It returns the plan as it is judged in each round, and all requests.
//
// Two things differ from the paper's text. Line 21 says l = k, which is the last
// step only until a step was dropped. And after the last verdict nothing more is
// planned, which would never be judged.
func algorithm1(m int, of func(k int) choice, ask ownWay) (judged [][]int, asked []request) {
	p := []int{0}                            // a program describes the files, lines 3 to 6
	asked = append(asked, ask.plan(nil, -1)) // lines 8 to 11: the solver's reply has the cell
	for k := range m {
		judged = append(judged, slices.Clone(p))
		asked = append(asked, ask.verify(p, k)) // line 13
		v := of(k)
		if v.sufficient {
			break // line 15
		}
		if k == m-1 {
			break
		}
		l := len(p) - 1 // line 21; the judge's reply has the route of line 17
		if v.route > 0 {
			w := v.route - 1 // lines 18 and 19; the paper counts steps from 0
			l = w - 1
			ask.drop(p[l+1:], k)
		}
		p = p[:l+1]                           // line 23
		asked = append(asked, ask.plan(p, k)) // lines 24 and 26
		p = append(slices.Clone(p), k+1)      // line 25
	}
	last := len(judged) - 1
	return judged, append(asked, ask.final(p, of(last), last))
}

func stepText(k int) string { return fmt.Sprintf("Do thing %d.", k) }
func stepCode(k int) string { return fmt.Sprintf("x = %d\nprint(x)", 1000+k) }
func stepOut(k int) string  { return fmt.Sprintf("%d\n", 1000+k) }
func lacking(k int) string  { return fmt.Sprintf("the sum of thing %d", k) }
func key(role string, k int) string {
	return fmt.Sprintf("%s round %d", role, k+1)
}

var (
	taskPart  = prompts.Question{Question: "How many?", Guidelines: aNumber}
	filesPart = prompts.Context{Files: []prompts.File{{Path: `"data/a.csv"`, Size: "10 bytes", Description: "a table"}}}
)

// ownWay says what the roles are asked when the plan is p after round k: by dropped, the round in which
// each step was dropped.
type ownWay struct{ dropped map[int]int }

func (w ownWay) drop(rounds []int, k int) {
	for _, i := range rounds {
		w.dropped[i] = k
	}
}

func (w ownWay) begin(p []int) []prompts.Part {
	parts := []prompts.Part{filesPart, taskPart}
	var nb prompts.Notebook
	for i, k := range p {
		nb.Steps = append(nb.Steps, prompts.Step{Number: i + 1, Text: stepText(k), Code: stepCode(k),
			Output: stepOut(k)})
	}
	if len(p) > 0 {
		parts = append(parts, nb)
	}
	return parts
}

func (w ownWay) plan(p []int, k int) request {
	if k < 0 {
		return request{key("solver", 0), append(w.begin(nil), prompts.Solver{First: true, Readings: true})}
	}
	next := prompts.Solver{Missing: lacking(k), Done: len(p) > 0, Readings: len(p) == 0}
	for i := range k + 1 {
		by, ok := w.dropped[i]
		if !ok {
			continue
		}
		d := prompts.Dropped{Text: stepText(i), Reason: lacking(by)}
		if d.Reason == next.Missing {
			d.Reason = "" // it stands above
		}
		if i == k {
			d.Output = stepOut(k) // r_k of line 24
		}
		next.Dropped = append(next.Dropped, d)
	}
	return request{key("solver", k+1), append(w.begin(p), next)}
}

func (w ownWay) verify(p []int, k int) request {
	return request{key("judge", k), append(w.begin(p), prompts.Judgement{Guidelines: true})}
}

func (w ownWay) final(p []int, v choice, k int) request {
	if v.sufficient {
		return request{"second the answer", []prompts.Part{filesPart, taskPart, prompts.Second{}}}
	}
	return request{"finalizer the answer", append(w.begin(p),
		prompts.Finalizer{Guidelines: true, Missing: lacking(k)})}
}

// compare plays a script of choices and holds plan, requests and their words to
// Algorithm 1.
func compare(t stageHand, m int, choices []choice) *played {
	t.Helper()
	of := func(k int) choice { return choices[k] }
	last, backs := "y = x\nprint(y)", 0
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
	judged, want := algorithm1(m, of, ownWay{map[int]int{}})
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
	var keys []string
	for _, r := range want {
		keys = append(keys, r.key)
		equal(t, r.key, p.model.prompt(t, r.key), prompts.Text(r.parts...))
	}
	equal(t, "requests", p.model.asked, keys)
	if p.Sufficient() != choices[len(judged)-1].sufficient || p.Answer() == "" || !p.Proof.Same {
		t.Errorf("sufficient %v, answer %q, proof %+v", p.Sufficient(), p.Answer(), p.Proof)
	}
	for _, c := range choices[:len(judged)-1] {
		if c.route > 0 {
			backs++
		}
	}
	if p.world.rollbacks != backs {
		t.Errorf("the session went back %d times, not %d", p.world.rollbacks, backs)
	}
	var cells []string
	for _, k := range judged[len(judged)-1] {
		cells = append(cells, stepCode(k))
	}
	equal(t, "cells", p.Cells()[2:], append(cells, last))
	return p
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

// Line 12: a plan that never suffices has exactly M rounds, and then an answer: the best there is.
func TestTwentyRounds(t *testing.T) {
	p := compare(t, 20, make([]choice, 20))
	if len(p.Rounds) != 20 || p.Rounds[19].Route != nil || p.Verified() {
		t.Errorf("%d rounds, asked %q", len(p.Rounds), p.model.asked)
	}
}

// planOf returns the indexes of the rounds whose steps make up the plan.
func planOf(tr *record.Trajectory) (plan []int) {
	for _, r := range tr.Plan() {
		plan = append(plan, r.Number-1)
	}
	return plan
}
