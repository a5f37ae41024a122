package agent_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/journal"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/notebooktest"
)

var (
	source, remove = notebooktest.Source, notebooktest.Remove
	insert, move   = notebooktest.Insert, notebooktest.Move
)

// edited applies an edit to the notebook of a run, on the file.
func edited(tr *record.Trajectory, does notebooktest.Edit) (*record.Trajectory, error) {
	nb := must(notebook.Read(bytes.NewReader(must(page.Draw(tr).Encode()))))
	does(nb)
	return page.Read(must(notebook.Read(bytes.NewReader(must(nb.Encode())))))
}

func edit(edits ...notebooktest.Edit) act {
	return func(tr *record.Trajectory) *record.Trajectory {
		return must(edited(tr, notebooktest.All(edits...)))
	}
}

// shown is the source of a cell of the notebook.
func (p *played) shown(id string) string {
	return notebooktest.Cell(page.Draw(p.Trajectory), id).Source
}

var mine = notebook.Cell{ID: "mine", Type: notebook.Code, Source: "# Mend y\ny += \"m\""}

func note(text string) notebook.Cell {
	return notebook.Cell{ID: "note", Type: notebook.Markdown, Source: text,
		Metadata: map[string]any{"tags": []any{"dsstar:note"}}}
}

// changed changes a record.
func changed(change func(*record.Trajectory)) act {
	return func(tr *record.Trajectory) *record.Trajectory {
		change(tr)
		return tr
	}
}

// then does all of these, one after the other.
func then(acts ...act) act {
	return func(tr *record.Trajectory) *record.Trajectory {
		for _, does := range acts {
			tr = does(tr)
		}
		return tr
	}
}

func question(text, form string) act {
	return changed(func(tr *record.Trajectory) { must(0, tr.Ask(text, form)) })
}

// chooses takes an option of reading i of question k.
func chooses(k, i, option int) act {
	return changed(func(tr *record.Trajectory) { must(0, agent.Choose(tr, k, i, option)) })
}

// dropped has a person drop a step.
func dropped(step int) act {
	return changed(func(tr *record.Trajectory) { must(0, tr.Drop(step)) })
}

// journaled is a run whose cells have given something else, which is a part of a text.
func journaled(was, is string) act {
	in := func(text string) string { return strings.Trim(string(must(json.Marshal(text))), `"`) }
	return changed(func(tr *record.Trajectory) {
		data := strings.ReplaceAll(string(must(json.Marshal(tr.Journal))), in(was), in(is))
		tr.Journal = &journal.Journal{}
		must(0, json.Unmarshal([]byte(data), tr.Journal))
	})
}

// choosing has a person choose an option of each reading that matters.
func choosing(option int) func(*stage) {
	return func(s *stage) {
		s.config.ChooseReading = func(context.Context, record.Reading, string) (int, error) { return option, nil }
	}
}

// deciding has a person say the same to all proposals.
func deciding(d agent.Decision, err error) func(*stage) {
	return func(s *stage) {
		s.config.Review = func(context.Context, agent.Proposal) (agent.Decision, error) { return d, err }
	}
}

// prints is a run whose script has run so in plain Python.
func prints(x notebook.Execution, err error) func(*stage) {
	return func(s *stage) {
		s.config.RunScript = func(_ context.Context, dir string, _ time.Duration) (notebook.Execution, error) {
			return marked(dir, x), err
		}
	}
}

// elsewhere is a run whose script prints this on what seems to be another computer; or "": it fails.
func elsewhere(prints string) func(*stage) {
	return func(s *stage) {
		s.config.RunScript = func(ctx context.Context, dir string, limit time.Duration) (notebook.Execution, error) {
			switch code := must(os.ReadFile(filepath.Join(dir, "solution.py"))); {
			case !bytes.Contains(code, []byte("elsewhere()")):
				return s.world.RunScript(ctx, dir, limit)
			case prints == "":
				return ran(notebook.Raised, "", "KeyError: 'a'"), nil
			}
			return marked(dir, ran(notebook.OK, prints+"\n", "")), nil
		}
	}
}

// refuses has a session of a purpose fail to open.
func refuses(purpose agent.Purpose, err error) func(*stage) {
	return func(s *stage) {
		s.world.open = func(_ context.Context, p agent.Purpose) error { return map[bool]error{true: err}[p == purpose] }
	}
}

// asking is a run with another question and form.
func asking(q, form string) func(*stage) {
	return func(s *stage) { s.task.Question, s.task.Guidelines = q, form }
}

// resized has a data file of another size.
func resized(s *stage) { s.task.Files[0].Size = 7 }

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

// TestSettledAnew: a point that was settled is not said to be taken as before if a person has changed the
// cells since and the judge, who names the points anew, does not name it.
func TestSettledAnew(t *testing.T) {
	settled := simple.with(script{"solver round 1": reads(isSettled), "verdict": yes + "\nTakes: 1\nDecided: 1"})
	for _, c := range []struct {
		says string
		left int
	}{{yes + "\n\n" + python("print(x)"), 0}, {readsAgain(2, "")["judge round 2"], 1}} {
		p := of(settled).on(doubled, readsAgain(1, "").with(script{"judge round 2": c.says})).play(t)
		equal(t, "readings", len(p.Readings), c.left)
	}
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
		r, again := &recorder{}, &critic{unseen: true}
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
