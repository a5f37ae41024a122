package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A critic reviews a run: it answers by the names of proposals ("round 1, try 2",
// "the answer, try 1") and accepts all others.
type critic struct {
	answers  map[string]agent.Decision
	unseen   bool // all that it accepts, it accepts without a look
	asked    []agent.Proposal
	approved []string // the code of what may run
}

func (c *critic) review(_ context.Context, p agent.Proposal) (agent.Decision, error) {
	c.asked = append(c.asked, p)
	name := fmt.Sprintf("round %d, try %d", p.Round, p.Try)
	switch {
	case p.Branch != "":
		name = fmt.Sprintf("%s, try %d", p.Branch, p.Try)
	case p.Step == 0:
		name = fmt.Sprintf("the answer, try %d", p.Try)
	}
	if strings.HasPrefix(p.Error, "SyntaxError") {
		name += ", again"
	}
	d, ok := c.answers[name]
	if !ok {
		d.Choice, d.Unseen = agent.Accept, c.unseen
	}
	if d.Choice == agent.Accept {
		if d.Code == "" {
			d.Code = p.Code
		}
		c.approved = append(c.approved, d.Code)
	}
	return d, nil
}

func (c *critic) join(s *stage) { s.config.Review = c.review }

// ranApproved checks that what ran in the run's session is what was approved, byte for byte and in
// its order.
func (p *played) ranApproved(t reporter, c *critic) {
	t.Helper()
	equal(t, "cells that ran", p.ranCells(), c.approved)
}

// ranCells are the cells that ran for the first time in the sessions of the derivations, without
// the agent's own.
func (p *played) ranCells() (all []string) {
	for _, s := range append(p.world.of(agent.Work), p.world.of(agent.Second)...) {
		for _, code := range s.ran {
			own := func(head string) bool { return strings.HasPrefix(code, head) }
			if !slices.ContainsFunc([]string{"data_dir = ", "# Set-up: ", "import sys\n"}, own) {
				all = append(all, code)
			}
		}
	}
	return all
}

func accepted(code string) agent.Decision {
	return agent.Decision{Choice: agent.Accept, Code: code}
}

func rejected(why string) agent.Decision {
	return agent.Decision{Choice: agent.Reject, Reason: why}
}

// TestReviewStops: every cell is asked about right before it runs, byte for byte, repairs included. A run
// that is stopped at a question goes on from there, and nothing is asked twice.
func TestReviewStops(t *testing.T) {
	replies := troubled["back, with repairs"]
	whole := play(t, replies).noError(t)
	count := &critic{unseen: true}
	play(t, replies, count.join).noError(t).ranApproved(t, count)
	for n := range count.asked {
		r, asked := &recorder{}, 0
		p := play(t, replies, r.record, func(s *stage) {
			s.quick = true
			s.config.Review = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
				if asked++; asked > n {
					return agent.Decision{Choice: agent.Stop}, nil
				}
				return agent.Decision{Choice: agent.Accept, Code: p.Code, Unseen: true}, nil
			}
		})
		if !errors.Is(p.err, agent.ErrStopped) || p.Failure != "stopped at a review" {
			t.Fatalf("question %d: error %v, failure %q", n+1, p.err, p.Failure)
		}
		again := &critic{unseen: true}
		goOnAfter(t, whole, replies, r.all[len(r.all)-1], again.join)
		equal(t, "the questions from there on", again.asked, count.asked[n:])
	}
	equal(t, "a repair", count.asked[2], agent.Proposal{Round: 2, Step: 2, Try: 2, Text: "Two.", Code: "y = 2\nx += y",
		Failed: `raise KeyError("k")`, Error: "KeyError: k"})
}

// TestReviewRejects: a rejected cell does not run; the solver reads why, and what the judge found missing is
// not forgotten. No solver stands behind the last cell, so the debugger reads why.
func TestReviewRejects(t *testing.T) {
	c := &critic{answers: map[string]agent.Decision{"round 2, try 1": rejected("  fares are in\n cents "),
		"the answer, try 1": rejected("without the unit")}}
	p := play(t, simple.with(script{"verdict round 1": no, "step round 2": "Change x.", "cell round 2": "x += 9",
		"cell round 3": "y = x\nprint(y)", "last": "print(x)\nprint(x)", "debugger": "print(x)"}), c.join).noError(t)
	p.ranApproved(t, c)
	const reason = "rejected by hand: fares are in cents"
	equal(t, "attempt", p.Rounds[1].Attempts[0].Execution, notebook.Execution{Status: notebook.NotRun, Reason: reason})
	equal(t, "route", p.Rounds[1].Route, &record.Route{Back: 2, Reason: reason})
	contains(t, p.model.prompt(t, "solver round 3"), "- Change x.\n", reason, "the total")
	nb := readNotebook(t, p.Trajectory)
	contains(t, nb.Cells[cellOf(t, nb, "tried")].Source, "not run: "+reason)
	contains(t, p.model.prompt(t, "debugger the answer, try 2"), "print(x)\nprint(x)", "rejected by hand: without the unit")
	if p.Answer() != "1" || !p.Verified() || p.model.count("judge") != 2 {
		t.Errorf("answer %q, verified %v, asked %q", p.Answer(), p.Verified(), p.model.asked)
	}
}

// TestReviewFaults: an error of whoever asks ends the run, and so does a cancelled context, before
// anything runs.
func TestReviewFaults(t *testing.T) {
	for name, c := range map[string]struct {
		decision agent.Decision
		err      error
	}{
		"an error":               {accepted("x = 1"), errors.New("broken")},
		"no choice":              {agent.Decision{Code: "x = 1"}, nil},
		"bytes that are no text": {accepted("x = \"\xff\""), nil},
		"cancelled":              {accepted("x = 1"), nil},
	} {
		p := play(t, simple, func(s *stage) {
			cancel := s.cancellable(t)
			s.config.Review = func(context.Context, agent.Proposal) (agent.Decision, error) {
				if name == "cancelled" {
					cancel()
				}
				return c.decision, c.err
			}
		})
		if p.err == nil || len(p.Rounds[0].Attempts) > 0 || len(p.ranCells()) > 0 {
			t.Errorf("%s: error %v, attempts %v", name, p.err, p.Rounds[0].Attempts)
		}
	}
}
