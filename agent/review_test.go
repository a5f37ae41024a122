package agent_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
)

// A critic reviews a run: it answers by the names of proposals ("round 1, try 2",
// "the answer, try 1") and accepts all others.
type critic struct {
	answers  map[string]agent.Decision
	stop     int  // before this question; 0: never
	unseen   bool // all that it accepts, it accepts without a look
	asked    []agent.Proposal
	approved []string // the code of what may run
}

func (c *critic) review(_ context.Context, p agent.Proposal) (agent.Decision, error) {
	c.asked = append(c.asked, p)
	if len(c.asked) == c.stop {
		return agent.Decision{Choice: agent.Stop}, nil
	}
	of := map[bool]string{true: "the answer", false: fmt.Sprint("round ", p.Round)}[p.Step == 0]
	name := fmt.Sprintf("%s, try %d", cmp.Or(p.Branch, of), p.Try)
	if strings.HasPrefix(p.Error, "SyntaxError") {
		name += ", again"
	}
	d, ok := c.answers[name]
	if !ok {
		d.Choice, d.Unseen = agent.Accept, c.unseen
	}
	if d.Choice == agent.Accept {
		d.Code = cmp.Or(d.Code, p.Code)
		c.approved = append(c.approved, d.Code)
	}
	return d, nil
}

func (c *critic) join(s *stage) { s.config.Review = c.review }

// decided has a run reviewed.
func decided(answers map[string]agent.Decision) func(*stage) {
	return func(s *stage) { (&critic{answers: answers}).join(s) }
}

func accepted(code string) agent.Decision {
	return agent.Decision{Choice: agent.Accept, Code: code}
}

func rejected(why string) agent.Decision {
	return agent.Decision{Choice: agent.Reject, Reason: why}
}

// ranCells are the cells that ran for the first time in the sessions of the derivations, without
// the agent's own.
func (p *played) ranCells() (all []string) {
	own := regexp.MustCompile("^(data_dir = |# Set-up: |import sys\n)")
	for _, s := range append(p.world.of(agent.Work), p.world.of(agent.Second)...) {
		all = append(all, slices.DeleteFunc(slices.Clone(s.ran), own.MatchString)...)
	}
	return all
}

// TestReviewStops: every cell is asked about right before it runs, byte for byte, repairs included, and
// none runs that was rejected. A run that is stopped at a question goes on from there, and nothing is
// asked twice.
func TestReviewStops(t *testing.T) {
	replies := simple.with(variants["back, with repairs"])
	whole := play(t, replies).noError(t)
	rejects := map[string]agent.Decision{"round 2, try 1": rejected("no"), "the answer, try 1": rejected("no")}
	for _, count := range []*critic{{unseen: true}, {answers: rejects}} {
		p := play(t, replies.with(script{"debugger": "print(x)"}), count.join).noError(t)
		equal(t, "cells that ran", p.ranCells(), count.approved)
	}
	count := &critic{unseen: true}
	play(t, replies, count.join).noError(t)
	for n := range count.asked {
		r, again := &recorder{spared: spared}, &critic{unseen: true}
		p := play(t, replies, r.record, (&critic{unseen: true, stop: n + 1}).join, quickly)
		if !errors.Is(p.err, agent.ErrStopped) || p.Failure != "stopped at a review" {
			t.Fatalf("question %d: error %v, failure %q", n+1, p.err, p.Failure)
		}
		goOnAfter(t, whole, replies, r.all[len(r.all)-1], again.join)
		equal(t, "the questions from there on", again.asked, count.asked[n:])
	}
	equal(t, "a repair", count.asked[2], agent.Proposal{Round: 2, Step: 2, Try: 2, Text: "Two.", Code: "y = 2\nx += y",
		Failed: `raise KeyError("k")`, Error: "KeyError: k"})
}
