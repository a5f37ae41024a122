package agent_test

import (
	"slices"
	"testing"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/record"
)

// describeFiles describes two files and an empty one.
func describeFiles(t *testing.T, change func(*agent.Config), only ...string) *played {
	t.Helper()
	set, err := loadPrompts()
	if err != nil {
		t.Fatal(err)
	}
	p := &played{world: &world{t: t}, model: newModel(simple)}
	s := &stage{}
	withData(t, map[string]string{"a.csv": "a\n1\n", "b.csv": "b\n1\n", "empty.csv": ""})(s)
	config := agent.Config{
		Settings: ask.Settings{Model: p.model, Prompts: set, ResultChars: 6000, DescriptionChars: 6000,
			ContextChars: 8000},
		Options: describe.Options{DebugTries: 2, TopK: 1, Jobs: 2},
		Open:    p.world.Open, MaxRounds: 6, Method: record.Method{Script: true},
		Observe: func(e agent.Event, _ *record.Trajectory) error {
			p.kinds = append(p.kinds, e.Kind)
			return nil
		},
	}
	if change != nil {
		change(&config)
	}
	p.Trajectory, p.err = agent.DescribeFiles(t.Context(), config, s.task, only...)
	for _, s := range p.world.sessions {
		if s.closed != 1 || s.purpose != agent.Describe {
			t.Errorf("a session of purpose %d was closed %d times", s.purpose, s.closed)
		}
	}
	return p.noError(t)
}

func TestDescribeFiles(t *testing.T) {
	p := describeFiles(t, nil)
	if d := p.Descriptions; d[0].Text != "a table" || d[1].Text != "a table" || d[2].Text == "" {
		t.Errorf("%+v", d)
	}
	if !p.Ended || len(p.Warnings) > 0 || slices.Contains(p.kinds, agent.Estimated) ||
		p.kinds[len(p.kinds)-1] != agent.Ended { // more than TopK files are not ranked
		t.Errorf("ended %v, warnings %q, events %v", p.Ended, p.Warnings, p.kinds)
	}
	// A file by itself is described as it is among the others.
	one := describeFiles(t, nil, "b.csv")
	d := one.Descriptions
	if d[1].Text != "a table" || d[0].Text != "" || d[2].Text != "" || d[0].Error != "" {
		t.Errorf("%+v", d)
	}
	equal(t, "request", one.model.texts["analyzer b.csv"], p.model.texts["analyzer b.csv"])
}

// Where no script is needed, no kernel is started.
func TestDescribeWithoutKernel(t *testing.T) {
	p := describeFiles(t, nil, "empty.csv")
	if len(p.world.sessions) > 0 {
		t.Errorf("%d sessions", len(p.world.sessions))
	}
	p = describeFiles(t, func(c *agent.Config) { c.MaxFiles = 1 }, "empty.csv")
	if len(p.Task.Files) != 2 || p.Task.Others != 1 || p.Descriptions[1].Text == "" {
		t.Errorf("a named file is left out: %+v", p.Descriptions)
	}
}
