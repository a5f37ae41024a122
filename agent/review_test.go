package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	if p.Step == 0 {
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

// ownCode tells the agent's own cells.
func ownCode(code string) bool {
	return slices.ContainsFunc([]string{"data_dir = ", "# Set-up: ", "import sys\n"}, func(head string) bool { return strings.HasPrefix(code, head) })
}

// ranApproved checks that what ran for the first time in the run's session is what
// was approved, byte for byte and in its order.
func (p *played) ranApproved(t reporter, c *critic) {
	t.Helper()
	var ran []string
	for _, code := range p.world.of(agent.Work)[0].ran {
		if !ownCode(code) {
			ran = append(ran, code)
		}
	}
	equal(t, "cells that ran", ran, c.approved)
}

func accepted(code string) agent.Decision { return agent.Decision{Choice: agent.Accept, Code: code} }
func rejected(why string) agent.Decision {
	return agent.Decision{Choice: agent.Reject, Reason: why}
}

// TestReviewAcceptsAll: a run of which every cell is accepted unseen is the run without
// a review, and every cell is asked about right before it runs.
func TestReviewAcceptsAll(t *testing.T) {
	once(t)
	for _, c := range troubled {
		t.Run(c.name, func(t *testing.T) {
			critic := &critic{unseen: true}
			got, want := play(t, c.replies, critic.join).noError(t), play(t, c.replies).noError(t)
			if diff := cmp.Diff(want.Trajectory, got.Trajectory, same); diff != "" {
				t.Errorf("the review has changed the run (-without +with)\n%s", diff)
			}
			tries := 0
			for _, kind := range got.kinds {
				if kind == agent.Ran {
					tries++
				}
			}
			if n := len(critic.asked); n != tries && c.name != "a doubtful form" { // whose cell runs twice
				t.Errorf("%d questions about %d tries", n, tries)
			}
		})
	}
}

func TestReviewProposals(t *testing.T) {
	c := &critic{}
	play(t, simple.with(script{
		"planner round 1": "Load it.", "verifier round 1": no, "planner round 2": "Add up.", "coder round 2": `raise KeyError("k")`, "debugger": "y = x\nprint(y)",
	}), c.join).noError(t)
	equal(t, "proposals", c.asked, []agent.Proposal{
		{Round: 1, Step: 1, Try: 1, Text: "Load it.", Code: "x = 1\nprint(x)"},
		{Round: 2, Step: 2, Try: 1, Text: "Add up.", Code: `raise KeyError("k")`},
		{Round: 2, Step: 2, Try: 2, Text: "Add up.", Code: "y = x\nprint(y)", Failed: `raise KeyError("k")`, Error: "KeyError: k"},
		{Round: 2, Try: 1, Text: c.asked[3].Text, Code: "print(x)"},
	})
	contains(t, c.asked[3].Text, "Print the answer", "A number.")
}

// TestReviewEdits: the person's words and code are the step from then on, and no
// check of the model's touches the person's last cell.
func TestReviewEdits(t *testing.T) {
	mine := "# \u00e9\r\nx = 7\nprint(x)\n\n"
	c := &critic{answers: map[string]agent.Decision{
		"round 1, try 1":    {Choice: agent.Accept, Text: "Take seven.", Code: mine},
		"round 2, try 1":    {Choice: agent.Accept, Text: "Go on, but well."},
		"the answer, try 1": accepted(`print("42")`),
	}}
	p := play(t, simple.with(script{"verifier round 1": no, "coder round 2": "y = x\nprint(y)", "checker": "Form: does not fit\nProblem: all of it"}), c.join).noError(t)
	p.ranApproved(t, c)
	equal(t, "cells", p.Cells()[2:], []string{mine, "y = x\nprint(y)", `print("42")`})
	if r := p.Rounds[0]; r.Step != "Take seven." || !r.ByHand || p.Rounds[1].ByHand || p.Rounds[1].Step != "Go on, but well." || !p.Final.ByHand {
		t.Errorf("the record: %+v, %+v, %+v", r, p.Rounds[1], p.Final)
	}
	if p.Answer() != "42" || !p.Verified() || p.model.count("checker") > 0 {
		t.Errorf("answer %q, verified %v, asked %q", p.Answer(), p.Verified(), p.model.asked)
	}
	contains(t, p.model.prompt(t, "verifier round 1"), "## Step 1: Take seven.", "x = 7\nprint(x)")
}

// TestReviewEditFails: a repair of the person's own cell is asked about like any
// other, and is not the person's.
func TestReviewEditFails(t *testing.T) {
	c := &critic{answers: map[string]agent.Decision{
		"round 1, try 1":    {Choice: agent.Accept, Text: "Mine.", Code: `raise KeyError("mine")`},
		"the answer, try 1": accepted("y = x"),
		"the answer, try 2": accepted("print(x)"),
	}}
	p := play(t, simple.with(script{"debugger": "x = 2\nprint(x)", "debugger the answer, try 2": "y = x\nprint(y)"}), c.join).noError(t)
	p.ranApproved(t, c)
	if p.Rounds[0].ByHand || p.Rounds[0].Step != "Mine." || len(p.Rounds[0].Attempts) != 2 || !p.Final.ByHand || p.Answer() != "2" {
		t.Errorf("the record: %+v, %+v", p.Rounds[0], p.Final)
	}
	contains(t, p.model.prompt(t, "debugger round 1, try 2"), "Step 1: Mine.", `raise KeyError("mine")`)
	contains(t, p.model.prompt(t, "debugger the answer, try 2"), "printed nothing")
}

// TestReviewKeepsDoubted: when no cell of the person's has run, an answer that was
// only doubted stands, and is not the person's.
func TestReviewKeepsDoubted(t *testing.T) {
	c := &critic{answers: map[string]agent.Decision{
		"the answer, try 1": {Choice: agent.Accept, Unseen: true},
		"the answer, try 2": accepted(`raise KeyError("mine")`), "the answer, try 3": accepted(`raise KeyError("mine too")`),
	}}
	p := play(t, simple.with(script{"checker": "Form: does not fit\nProblem: two decimals", "debugger": "print(x)"}), c.join).noError(t)
	if p.Answer() != "1" || p.Final.ByHand || len(p.Final.Attempts) != 4 {
		t.Errorf("answer %q, %+v", p.Answer(), p.Final)
	}
}

// TestReviewAcceptedAnswer: no check of the answer's form overrides a last cell that a person has seen and accepted (U15).
func TestReviewAcceptedAnswer(t *testing.T) {
	for _, unseen := range []bool{false, true} {
		c := &critic{unseen: unseen}
		p := play(t, simple.with(script{"checker": "Form: does not fit\nProblem: two decimals", "debugger": "print(x)"}), c.join).noError(t)
		if asked := p.model.count("checker") > 0; asked != unseen || (len(p.Final.Attempts) == 1) == unseen {
			t.Errorf("unseen %v: %d attempts, checked %v", unseen, len(p.Final.Attempts), asked)
		}
	}
}

// TestReviewSyntaxError: a slip in a person's cell is shown to the person, and costs neither a try nor a repair (U15).
func TestReviewSyntaxError(t *testing.T) {
	c := &critic{}
	slips := 2
	review := func(ctx context.Context, p agent.Proposal) (agent.Decision, error) {
		d, err := c.review(ctx, p)
		if p.Round == 1 && p.Step == 1 && slips > 0 {
			slips--
			d.Code, d.Text = `raise SyntaxError("slip")`, "Mine."
		} else if p.Error != "" {
			d.Code = "x = 7\nprint(x)"
		}
		return d, err
	}
	p := play(t, simple, func(s *stage) { s.config.Review = review }).noError(t)
	if r := p.Rounds[0]; len(r.Attempts) != 1 || r.Attempts[0].Code != "x = 7\nprint(x)" || !r.ByHand || r.Step != "Mine." || p.model.count("debugger") > 0 {
		t.Errorf("%+v, asked %q", r, p.model.asked)
	}
	if last := c.asked[2]; last.Error != "SyntaxError: slip" || last.Code != `raise SyntaxError("slip")` || last.Try != 1 {
		t.Errorf("asked again: %+v", last)
	}
}

// What nobody wants to watch is not told.
func TestObserveMayBeNil(t *testing.T) {
	if p := play(t, simple, func(s *stage) { s.config.Observe = nil }).noError(t); p.Answer() == "" {
		t.Errorf("%+v", p.Trajectory)
	}
}

// TestReviewRejects: a rejected cell, or repair, does not run; its step is dropped,
// the planner reads why, and what the judge found missing is not forgotten.
func TestReviewRejects(t *testing.T) {
	for _, c := range []struct {
		name, try, coder string
	}{{"the first cell", "round 2, try 1", "x += 9"}, {"a repair", "round 2, try 2", `raise KeyError("k")`}} {
		t.Run(c.name, func(t *testing.T) {
			critic := &critic{answers: map[string]agent.Decision{c.try: rejected("  fares are in\n cents ")}}
			p := play(t, simple.with(script{
				"verifier round 1": no, "planner round 2": "Change x.", "coder round 2": c.coder, "debugger": "x += 8", "coder round 3": "y = x\nprint(y)",
			}), critic.join).noError(t)
			p.ranApproved(t, critic)
			equal(t, "plan", p.Plan(), []int{0, 2})
			const reason = "rejected by hand: fares are in cents"
			last := p.Rounds[1].Attempts[len(p.Rounds[1].Attempts)-1]
			equal(t, "attempt", last.Execution, notebook.Execution{Status: notebook.NotRun, Reason: reason})
			equal(t, "route", p.Rounds[1].Route, &record.Route{Back: 2, Reason: reason})
			planner := p.model.prompt(t, "planner round 3")
			contains(t, planner, "- Change x.\n  Dropped with this reason:\n\n```\n"+reason+"\n```", "do not answer the question yet, and says:\n\n```\nthe total\n```")
			if p.Answer() != "1" || !p.Verified() || p.model.count("verifier") != 2 {
				t.Errorf("answer %q, verified %v, asked %q", p.Answer(), p.Verified(), p.model.asked)
			}
			data, _ := record.Draw(p.Trajectory).Encode()
			contains(t, string(data), "<b>Round 2, "+reason+"</b>: <s>Change x.</s>", "not run: "+reason)
			if n := strings.Count(fmt.Sprint(p.kinds), "rejected"); n != 1 {
				t.Errorf("events %v", p.kinds)
			}
		})
	}
}

// TestReviewRejectsLast: no planner stands behind the last cell, so the debugger
// reads why, as often as it may try.
func TestReviewRejectsLast(t *testing.T) {
	c := &critic{answers: map[string]agent.Decision{"the answer, try 1": rejected("without the unit")}}
	p := play(t, simple.with(script{"finalizer": "print(x)\nprint(x)", "debugger": "print(x)"}), c.join).noError(t)
	p.ranApproved(t, c)
	contains(t, p.model.prompt(t, "debugger the answer, try 2"), "print(x)\nprint(x)", "rejected by hand: without the unit", "was not run")
	equal(t, "error", c.asked[2].Error, "rejected by hand: without the unit")
	if p.Answer() != "1" || !p.Verified() {
		t.Errorf("answer %q, verified %v", p.Answer(), p.Verified())
	}
	c.answers["the answer, try 2"], c.answers["the answer, try 3"] = rejected(""), rejected("no")
	p = play(t, simple.with(script{"debugger": "print(x)"}), c.join).noError(t)
	if p.Answer() != "" || len(p.Final.Attempts) != 3 || !strings.Contains(fmt.Sprint(p.Warnings), "rejected by hand: no") {
		t.Errorf("answer %q, %d attempts, warnings %q", p.Answer(), len(p.Final.Attempts), p.Warnings)
	}
}

// TestReviewRejectsEverything: rejected steps use the rounds up.
func TestReviewRejectsEverything(t *testing.T) {
	p := play(t, simple, func(s *stage) {
		s.config.Review = func(context.Context, agent.Proposal) (agent.Decision, error) { return rejected("no"), nil }
	})
	if p.err == nil || len(p.Rounds) != 6 || p.model.count("coder") != 6 || len(p.world.of(agent.Work)[0].ran) > 2 {
		t.Errorf("error %v, %d rounds, %q ran", p.err, len(p.Rounds), p.world.of(agent.Work)[0].ran)
	}
	lacks(t, p.model.prompt(t, "planner round 2"), "do not answer the question yet")
}

// TestReviewStops: a run that is stopped at any question goes on from there, and
// nothing is asked of the model twice.
func TestReviewStops(t *testing.T) {
	for _, c := range troubled {
		t.Run(c.name, func(t *testing.T) {
			whole := play(t, c.replies).noError(t)
			count := &critic{unseen: true}
			play(t, c.replies, count.join)
			for n := range count.asked {
				if spared(n) {
					continue
				}
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
					t.Fatalf("question %d: error %v, failure %q", n+1, p.err, p.Failure)
				}
				again := &critic{unseen: true}
				got := goOn(t, c.replies, reread(t, r.last.notebook), again.join, func(s *stage) {
					s.config.Answered, s.quick = r.last.answered, true
				}).noError(t)
				equal(t, "the first question again", again.asked[0], count.asked[n])
				for _, e := range r.last.answered {
					if slices.Contains(got.model.asked, e.Role+" "+e.Subject) {
						t.Errorf("question %d: the %s was asked for %s again", n+1, e.Role, e.Subject)
					}
				}
				if diff := cmp.Diff(whole.Trajectory, got.Trajectory, same); diff != "" {
					t.Errorf("question %d: it ends otherwise (-whole +resumed)\n%s", n+1, diff)
				}
			}
		})
	}
}

// TestReviewResumeAfterKill: a decision that is recorded is not asked for again,
// whenever the run is killed.
func TestReviewResumeAfterKill(t *testing.T) {
	replies := simple.with(script{"verifier round 1": no, "coder round 2": `raise KeyError("k")`, "debugger": "x += 8", "coder round 3": "y = x\nprint(y)"})
	answers := map[string]agent.Decision{
		"round 1, try 1": {Choice: agent.Accept, Text: "Mine.", Code: "x = 5\nprint(x)"}, "round 2, try 2": rejected("no"), "the answer, try 1": rejected("no"),
	}
	replies["debugger the answer, try 2"] = "print(x)"
	r, c := &recorder{}, &critic{answers: answers}
	whole := play(t, replies, r.record, c.join).noError(t)
	for n, m := range r.all {
		if m.notebook == nil || spared(n) {
			continue
		}
		again := &critic{answers: answers}
		tr := reread(t, m.notebook)
		had := 0
		for _, round := range tr.Rounds {
			had += len(round.Attempts)
		}
		if tr.Final != nil {
			had += len(tr.Final.Attempts)
		}
		got := goOn(t, replies, tr, again.join, func(s *stage) {
			s.config.Answered, s.quick = m.answered, true
		}).noError(t)
		if diff := cmp.Diff(whole.Trajectory, got.Trajectory, same); diff != "" {
			t.Errorf("moment %d, after %s: it ends otherwise (-whole +resumed)\n%s", n, m.what, diff)
		}
		if len(again.asked)+had != len(c.asked) {
			t.Errorf("moment %d, after %s: %d attempts are recorded, and %d questions follow", n, m.what, had, len(again.asked))
		}
	}
}

// TestReviewInterrupted: an edit whose cell has not run to its end is not in the
// record, and the question is asked again; a repair without a review is nobody's.
func TestReviewInterrupted(t *testing.T) {
	r, c := &recorder{}, &critic{answers: map[string]agent.Decision{"round 1, try 1": {Choice: agent.Accept, Text: "Mine.", Code: "wait()"}}}
	p := play(t, simple, r.record, c.join, func(s *stage) {
		ctx, cancel := context.WithCancel(s.ctx)
		s.ctx = ctx
		s.world.inCell = func(ctx context.Context) error { cancel(); return ctx.Err() }
	})
	tr := reread(t, r.last.notebook)
	if p.err == nil || tr.Rounds[0].ByHand || tr.Rounds[0].Step != "Do the next thing." {
		t.Fatalf("error %v, %+v", p.err, tr.Rounds[0])
	}
	again := &critic{answers: map[string]agent.Decision{
		"round 1, try 1": accepted(`raise KeyError("mine")`), "round 1, try 2": {Choice: agent.Stop},
	}}
	replies := simple.with(script{"debugger": "x = 2\nprint(x)"})
	p = goOn(t, replies, tr, r.record, again.join, func(s *stage) { s.config.Answered = r.last.answered })
	equal(t, "the question again", again.asked[0], c.asked[0])
	if !p.Rounds[0].ByHand {
		t.Errorf("the person's cell is not: %+v", p.Rounds[0])
	}
	p = goOn(t, replies, reread(t, r.last.notebook)).noError(t)
	if p.Rounds[0].ByHand || len(p.Rounds[0].Attempts) != 2 || p.Answer() != "2" {
		t.Errorf("answer %q, %+v", p.Answer(), p.Rounds[0])
	}
}

// TestReviewFaults: an error of whoever asks ends the run, and so does a cancelled
// context, before anything runs.
func TestReviewFaults(t *testing.T) {
	broken := errors.New("broken")
	for name, review := range map[string]func(context.CancelFunc, agent.Proposal) (agent.Decision, error){
		"an error": func(context.CancelFunc, agent.Proposal) (agent.Decision, error) { return agent.Decision{}, broken },
		"no choice": func(_ context.CancelFunc, p agent.Proposal) (agent.Decision, error) {
			return agent.Decision{Code: p.Code}, nil
		},
		"bytes that are no text": func(context.CancelFunc, agent.Proposal) (agent.Decision, error) {
			return accepted("x = \"\xff\""), nil
		},
		"cancelled": func(cancel context.CancelFunc, p agent.Proposal) (agent.Decision, error) {
			cancel()
			return accepted(p.Code), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, simple, func(s *stage) {
				ctx, cancel := context.WithCancel(s.ctx)
				s.ctx = ctx
				s.config.Review = func(_ context.Context, p agent.Proposal) (agent.Decision, error) { return review(cancel, p) }
			})
			if p.err == nil || len(p.Rounds[0].Attempts) > 0 || slices.Contains(p.world.of(agent.Work)[0].ran, "x = 1\nprint(x)") {
				t.Errorf("error %v, attempts %v", p.err, p.Rounds[0].Attempts)
			}
		})
	}
}

// TestAnyDecisions: whatever a person decides, nothing runs that was not approved,
// the run ends within its bounds, and its notebook is its record at every event.
func TestAnyDecisions(t *testing.T) {
	checks := 0
	rapid.Check(t, func(t *rapid.T) {
		if checks++; checks > 30 || spared(checks) { // of a hundred: they are whole runs
			return
		}
		replies := rapid.SampledFrom(troubled).Draw(t, "replies").replies
		replies = script{"debugger": "print(x)"}.with(replies)
		c := &critic{}
		stopped, questions := false, 0
		anyText := rapid.SampledFrom([]string{"", "Mine.", "Two\nlines", "# %% <b>x</b>"})
		p := play(t, replies, func(s *stage) {
			s.config.Method.NoReasons = rapid.Bool().Draw(t, "no reasons")
			s.config.Review = func(_ context.Context, p agent.Proposal) (agent.Decision, error) {
				questions++
				d := agent.Decision{Choice: agent.Accept, Code: p.Code, Text: anyText.Draw(t, "text")}
				switch rapid.SampledFrom([]string{"accept", "accept", "edit", "edit", "reject", "reject", "reject", "stop"}).Draw(t, "choice") {
				case "edit":
					d.Code = rapid.SampledFrom([]string{"x = 3\nprint(x)", "print(7)", "", "\n", `raise KeyError("mine")`, "hang()", "die()", "x = 1\r\n"}).Draw(t, "code")
				case "reject":
					d = rejected(anyText.Draw(t, "reason"))
				case "stop":
					stopped = true
					return agent.Decision{Choice: agent.Stop}, nil
				}
				if d.Choice == agent.Accept {
					c.approved = append(c.approved, d.Code)
				}
				return d, nil
			}
		})
		for _, code := range p.world.of(agent.Work)[0].ran {
			if !ownCode(code) && !slices.Contains(c.approved, code) {
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
