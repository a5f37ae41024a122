package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// TestBaseline: another method is stopped and goes on. What it has asked and run is in the journal, and
// what a cell that raised has done stays.
func TestBaseline(t *testing.T) {
	work := func(ctx context.Context, d *agent.Desk) (string, bool, error) {
		for _, cell := range []string{"x = 1\nraise KeyError(\"x\")", "print(x)"} {
			if _, err := d.Run(ctx, "I look.", cell); err != nil {
				return "", false, err
			}
			step, err := ask.Role(ctx, d.Asker(), ask.Request{Role: "planner", Subject: cell,
				Words: func() []prompts.Part { return []prompts.Part{prompts.Coder{Step: cell}} }}, ask.Step)
			if err = errors.Join(err, d.Note(step, "")); err != nil {
				return "", false, err
			}
		}
		return "1", true, nil
	}
	gone := errors.New("gone")
	other := func(s *stage) {
		s.quick, s.config.Baseline = true, &agent.Baseline{Answer: work, System: prompts.Workplace{}}
		s.config.Method = record.Method{Agent: "other"}
		s.model.before = func(_ context.Context, key string) error {
			if s.resume == nil && key == "planner print(x)" {
				return gone
			}
			return nil
		}
	}
	p := play(t, published, other)
	if !errors.Is(p.err, gone) {
		t.Fatal(p.err)
	}
	p = goOn(t, published, p.Trajectory, other).noError(t)
	first, kept := p.Rounds[0].Accepted()
	if p.Answer() != "1" || p.Verified() || !p.Sufficient() || !kept || !first.Kept || p.Steps() != 2 {
		t.Errorf("the record is %+v", p.Rounds)
	}
	if !slices.Equal(p.model.asked, []string{"planner print(x)"}) || p.world.sessions != nil {
		t.Errorf("asked again: %v, sessions %v", p.model.asked, p.world.sessions)
	}
}
