package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

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

// TestReviewStops: every cell is asked about right before it runs. A run of which every cell is accepted
// unseen is the run without a review, also if it is stopped at any question: it goes on from there, and
// neither the model nor the person is asked anything twice.
func TestReviewStops(t *testing.T) {
	for _, c := range troubled {
		if !slices.Contains([]string{"back, with repairs", "a last cell that does not run", "readings"}, c.name) {
			continue
		}
		whole := play(t, c.replies).noError(t)
		count := &critic{unseen: true}
		play(t, c.replies, count.join).noError(t).ranApproved(t, count)
		for n := range count.asked {
			r, asked := &recorder{}, 0
			p := play(t, c.replies, r.record, func(s *stage) {
				s.quick = true
				s.config.Review = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
					if asked++; asked > n {
						return agent.Decision{Choice: agent.Stop}, nil
					}
					return agent.Decision{Choice: agent.Accept, Code: p.Code, Unseen: true}, nil
				}
			})
			if !errors.Is(p.err, agent.ErrStopped) || p.Failure != "stopped at a review" {
				t.Fatalf("%s, question %d: error %v, failure %q", c.name, n+1, p.err, p.Failure)
			}
			again := &critic{unseen: true}
			goOnAfter(t, whole, c.replies, r.last, again.join)
			equal(t, "the questions from there on", again.asked, count.asked[n:])
		}
		if c.name != "back, with repairs" {
			continue
		}
		equal(t, "a repair and the last cell", []agent.Proposal{count.asked[2], count.asked[5]}, []agent.Proposal{
			{Round: 2, Step: 2, Try: 2, Text: "Two.", Code: "y = 2\nx += y",
				Failed: `raise KeyError("k")`, Error: "KeyError: k"},
			{Round: 4, Try: 1, Text: count.asked[5].Text, Code: "print(x)"}})
		contains(t, count.asked[5].Text, "Print the answer", "A value.")
	}
}

// TestReviewEdits: the person's words and code are the step from then on, and no check of the
// model's touches the person's last cell.
func TestReviewEdits(t *testing.T) {
	mine := "# \u00e9\r\nx = 7\nprint(x)\n\n"
	c := &critic{answers: map[string]agent.Decision{
		"round 1, try 1":    {Choice: agent.Accept, Text: "Take seven.", Code: mine},
		"round 2, try 1":    {Choice: agent.Accept, Text: "Go on, but well."},
		"the answer, try 1": accepted(`print("42.123")`),
	}}
	p := play(t, simple.with(script{"verdict round 1": no, "cell round 2": "y = x\nprint(y)"}),
		c.join).noError(t)
	p.ranApproved(t, c)
	equal(t, "cells", p.Cells()[2:], []string{mine, "y = x\nprint(y)", `print("42.123")`})
	if one, two := p.Rounds[0], p.Rounds[1]; one.Step != "Take seven." || !one.ByHand || two.ByHand ||
		two.Step != "Go on, but well." || !p.Final.ByHand {
		t.Errorf("the record: %+v, %+v, %+v", one, two, p.Final)
	}
	if p.Answer() != "42.123" || !p.Verified() || p.model.count("debugger") > 0 {
		t.Errorf("answer %q, verified %v, asked %q", p.Answer(), p.Verified(), p.model.asked)
	}
	contains(t, p.model.prompt(t, "judge round 1"), "## Step 1: Take seven.", "x = 7\nprint(x)")
}

// TestReviewEditFails: a repair of the person's own cell is asked about like any other, and is not
// the person's.
func TestReviewEditFails(t *testing.T) {
	c := &critic{answers: map[string]agent.Decision{
		"round 1, try 1":    {Choice: agent.Accept, Text: "Mine.", Code: `raise KeyError("mine")`},
		"the answer, try 1": accepted("y = x"),
		"the answer, try 2": accepted("print(x)"),
	}}
	p := play(t, simple.with(script{"debugger": "x = 2\nprint(x)",
		"debugger the answer, try 2": "y = x\nprint(y)"}), c.join).noError(t)
	p.ranApproved(t, c)
	if r := p.Rounds[0]; r.ByHand || r.Step != "Mine." || len(r.Attempts) != 2 || !p.Final.ByHand ||
		p.Answer() != "2" {
		t.Errorf("the record: %+v, %+v", r, p.Final)
	}
	contains(t, p.model.prompt(t, "debugger round 1, try 2"), "Step 1: Mine.", `KeyError("mine")`)
	contains(t, p.model.prompt(t, "debugger the answer, try 2"), "printed nothing")
	// When no cell of the person's has run, an answer that was only doubted stands.
	c = &critic{answers: map[string]agent.Decision{
		"the answer, try 1": {Choice: agent.Accept, Unseen: true},
		"the answer, try 2": accepted(`raise KeyError("mine")`),
		"the answer, try 3": accepted(`raise KeyError("mine too")`),
	}}
	p = play(t, unfit, c.join).noError(t)
	if p.Answer() != "1.234" || p.Final.ByHand || len(p.Final.Attempts) != 4 {
		t.Errorf("answer %q, %+v", p.Answer(), p.Final)
	}
	// No check of the answer's form overrides a last cell that a person has seen and accepted.
	if p = play(t, unfit, (&critic{}).join).noError(t); len(p.Final.Attempts) != 1 || !p.Verified() {
		t.Errorf("%d attempts, %q", len(p.Final.Attempts), p.Doubts())
	}
}

// TestReviewSyntaxError: a slip in a person's cell is shown to the person, and costs neither a try
// nor a repair (U15).
func TestReviewSyntaxError(t *testing.T) {
	var asked []agent.Proposal
	p := play(t, simple, func(s *stage) {
		s.config.Review = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
			switch asked = append(asked, p); len(asked) {
			case 1, 2:
				d := accepted(`raise SyntaxError("slip")`)
				d.Text = "Mine."
				return d, nil
			case 3:
				return accepted("x = 7\nprint(x)"), nil
			}
			return accepted(p.Code), nil
		}
	}).noError(t)
	r := p.Rounds[0]
	if len(r.Attempts) != 1 || r.Attempts[0].Code != "x = 7\nprint(x)" || !r.ByHand ||
		r.Step != "Mine." || p.model.count("debugger") > 0 {
		t.Errorf("%+v, asked %q", r, p.model.asked)
	}
	equal(t, "asked again", asked[2], agent.Proposal{Round: 1, Step: 1, Try: 1, Text: "Mine.",
		Code: `raise SyntaxError("slip")`, Error: "SyntaxError: slip"})
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
	for name, review := range map[string]func(func(), agent.Proposal) (agent.Decision, error){
		"an error": func(_ func(), p agent.Proposal) (agent.Decision, error) {
			return accepted(p.Code), errors.New("broken")
		},
		"no choice": func(_ func(), p agent.Proposal) (agent.Decision, error) {
			return agent.Decision{Code: p.Code}, nil
		},
		"bytes that are no text": func(func(), agent.Proposal) (agent.Decision, error) {
			return accepted("x = \"\xff\""), nil
		},
		"cancelled": func(cancel func(), p agent.Proposal) (agent.Decision, error) {
			cancel()
			return accepted(p.Code), nil
		},
	} {
		p := play(t, simple, func(s *stage) {
			cancel := s.cancellable(t)
			s.config.Review = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
				return review(cancel, p)
			}
		})
		if p.err == nil || len(p.Rounds[0].Attempts) > 0 || len(p.ranCells()) > 0 {
			t.Errorf("%s: error %v, attempts %v", name, p.err, p.Rounds[0].Attempts)
		}
	}
}

// TestAnyDecisions: whatever a person decides, nothing runs that was not approved, the run ends
// within its bounds, and its notebook is its record at every event.
func TestAnyDecisions(t *testing.T) {
	checks := 0
	choices := []string{"accept", "accept", "edit", "edit", "reject", "reject", "reject", "stop"}
	codes := []string{"x = 3\nprint(x)", "print(7)", "", "\n", `raise KeyError("mine")`, "hang()",
		"die()", "x = 1\r\n"}
	rapid.Check(t, func(t *rapid.T) {
		if checks++; checks > 30 || spared(checks) { // of a hundred: they are whole runs
			return
		}
		replies := rapid.SampledFrom(troubled).Draw(t, "replies").replies
		replies = script{"debugger": "print(x)", "arbiter": "Ruling: undecided"}.with(replies)
		var approved []string
		stopped, questions := false, 0
		anyText := rapid.SampledFrom([]string{"", "Mine.", "Two\nlines", "# %% <b>x</b>"})
		p := play(t, replies, func(s *stage) {
			s.config.Review = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
				questions++
				d := agent.Decision{Choice: agent.Accept, Code: p.Code, Text: anyText.Draw(t, "text")}
				switch rapid.SampledFrom(choices).Draw(t, "choice") {
				case "edit":
					d.Code = rapid.SampledFrom(codes).Draw(t, "code")
				case "reject":
					return rejected(anyText.Draw(t, "reason")), nil
				case "stop":
					stopped = true
					return agent.Decision{Choice: agent.Stop}, nil
				}
				approved = append(approved, d.Code)
				return d, nil
			}
		})
		for _, code := range p.ranCells() {
			if !slices.Contains(approved, code) {
				t.Errorf("%q ran, and was not approved", code)
			}
		}
		const rounds, tries = 6, 2
		if len(p.Rounds) > rounds || questions > (rounds+1)*(tries+1) {
			t.Errorf("%d rounds, %d questions", len(p.Rounds), questions)
		}
		for _, r := range p.Rounds {
			if len(r.Attempts) > tries+1 {
				t.Errorf("%d attempts", len(r.Attempts))
			}
		}
		if errors.Is(p.err, agent.ErrStopped) != stopped || p.err != nil && !stopped && p.Steps() > 0 {
			t.Errorf("stopped %v, error %v with %d steps", stopped, p.err, p.Steps())
		}
	})
}
