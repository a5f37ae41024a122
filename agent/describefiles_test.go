package agent_test

import (
	"slices"
	"testing"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
)

func describeFiles(t *testing.T, data map[string]string, change ...func(*stage)) *played {
	t.Helper()
	p := &played{world: &world{t: t}, model: newModel(simple)}
	s := &stage{model: p.model, world: p.world}
	withData(t, data)(s)
	s.config = agent.Config{
		Settings: ask.Settings{Model: p.model, ResultChars: 6000, DescriptionChars: 6000,
			ContextChars: 8000},
		Options: describe.Options{DebugTries: 2, TopK: 1, Jobs: 2},
		Open:    p.world.Open, MaxRounds: 6, Method: record.Method{Script: true},
		Observe: func(e agent.Event, _ *record.Trajectory) error {
			p.kinds = append(p.kinds, e.Kind)
			return nil
		},
	}
	for _, c := range change {
		c(s)
	}
	p.Trajectory, p.err = agent.DescribeFiles(t.Context(), s.config, s.task)
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

// Files whose profiles are all kept are told as others are, without a session.
func TestDescribeKept(t *testing.T) {
	cache := &describe.Cache{Dir: t.TempDir()}
	known := profiled(map[string]profile.Profile{"a.csv": table(3, "a", "b"), "b.csv": table(4, "a", "b")})
	for n := range 2 {
		p := describeFiles(t, tables("a.csv", "b.csv"), known, func(s *stage) { s.config.Cache = cache })
		if d := p.described(t, "b.csv"); d.Like != "a.csv" || d.Cached != (n > 0) || len(p.world.sessions) != 1-n {
			t.Errorf("%d: %+v, %d sessions", n, d, len(p.world.sessions))
		}
	}
}
