package agent_test

import (
	"slices"
	"testing"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/record"
)

func describeFiles(t *testing.T, data map[string]string) *played {
	t.Helper()
	p := &played{world: &world{t: t}, model: newModel(simple)}
	s := &stage{}
	withData(t, data)(s)
	config := agent.Config{
		Settings: ask.Settings{Model: p.model, ResultChars: 6000, DescriptionChars: 6000,
			ContextChars: 8000},
		Options: describe.Options{DebugTries: 2, TopK: 1, Jobs: 2},
		Open:    p.world.Open, MaxRounds: 6, Method: record.Method{Script: true},
		Observe: func(e agent.Event, _ *record.Trajectory) error {
			p.kinds = append(p.kinds, e.Kind)
			return nil
		},
	}
	p.Trajectory, p.err = agent.DescribeFiles(t.Context(), config, s.task)
	for _, s := range p.world.sessions {
		if s.closed != 1 || s.purpose != agent.Describe {
			t.Errorf("a session of purpose %d was closed %d times", s.purpose, s.closed)
		}
	}
	return p.noError(t)
}

func TestDescribeFiles(t *testing.T) {
	p := describeFiles(t, map[string]string{"a.csv": "a\n1\n", "b.csv": "b\n1\n", "empty.csv": ""})
	if d := p.Descriptions; d[0].Text != "a table" || d[1].Text != "a table" || d[2].Text == "" {
		t.Errorf("%+v", d)
	}
	if !p.Ended || len(p.Warnings) > 0 || slices.Contains(p.kinds, agent.Estimated) ||
		p.kinds[len(p.kinds)-1] != agent.Ended { // more than TopK files are not ranked
		t.Errorf("ended %v, warnings %q, events %v", p.Ended, p.Warnings, p.kinds)
	}
	if none := describeFiles(t, map[string]string{"empty.csv": ""}); len(none.world.sessions) > 0 {
		t.Errorf("%d sessions where no script is needed", len(none.world.sessions))
	}
}
