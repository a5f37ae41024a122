package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// describeFiles describes two documents of which only the first has room to be
// shown whole, and an empty file.
func describeFiles(t *testing.T, change func(*agent.Config), only ...string) (p *played) {
	t.Helper()
	set, err := loadPrompts()
	if err != nil {
		t.Fatal(err)
	}
	p = &played{world: &world{t: t}, model: &model{replies: script{"analyzer": `print("a text")`}, texts: map[string]string{}, requests: map[string]llm.Request{}}}
	task := record.Task{Data: t.TempDir(), Files: []record.File{{Name: "a.md", Size: 4000}, {Name: "b.md", Size: 4000}, {Name: "empty.csv"}}}
	for _, f := range task.Files {
		if err := os.WriteFile(filepath.Join(task.Data, f.Name), []byte(strings.Repeat("x", int(f.Size))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config := agent.Config{
		Settings: ask.Settings{Model: p.model, Prompts: set, ResultChars: 6000, DescriptionChars: 6000, ContextChars: 8000},
		Options:  describe.Options{DebugTries: 2, TopK: 1, Jobs: 2},
		Open:     p.world.Open, MaxRounds: 6,
		Observe: func(e agent.Event, _ *record.Trajectory) error { p.kinds = append(p.kinds, e.Kind); return nil },
	}
	if change != nil {
		change(&config)
	}
	p.Trajectory, p.err = agent.DescribeFiles(t.Context(), config, task, only...)
	if n := len(p.world.of(agent.Work)) + len(p.world.of(agent.Prove)); n > 0 {
		t.Errorf("%d sessions are opened for more than descriptions", n)
	}
	for _, s := range p.world.sessions {
		if s.closed != 1 {
			t.Errorf("a session was closed %d times", s.closed)
		}
	}
	return p
}

func TestDescribeFiles(t *testing.T) {
	p := describeFiles(t, nil).noError(t)
	if d := p.Descriptions; !d[0].Whole || d[1].Text != "a text" || d[2].Text == "" {
		t.Errorf("%+v", d)
	}
	if !p.Ended || len(p.Warnings) > 0 { // more than TopK files are not ranked
		t.Errorf("ended %v, warnings %q", p.Ended, p.Warnings)
	}
	if slices.Contains(p.kinds, agent.Estimated) || p.kinds[len(p.kinds)-1] != agent.Ended {
		t.Errorf("events %v", p.kinds)
	}
}

// A file by itself is described as it is among the others.
func TestDescribeOneOfMany(t *testing.T) {
	p := describeFiles(t, nil, "b.md").noError(t)
	if d := p.Descriptions; d[1].Text != "a text" || d[0].Text != "" || d[2].Text != "" || d[0].Error != "" {
		t.Errorf("%+v", d)
	}
	equal(t, "calls", p.model.asked, []string{"analyzer b.md"})
	all := describeFiles(t, nil).noError(t)
	equal(t, "the request", p.model.texts["analyzer b.md"], all.model.texts["analyzer b.md"])
}

// Where no script is needed, no kernel is started.
func TestDescribeWithoutKernel(t *testing.T) {
	p := describeFiles(t, func(c *agent.Config) { c.Corrections = map[string]string{"b.md": "mine"} }).noError(t)
	if d := p.Descriptions[1]; d.Text != "mine" || !d.Corrected || len(p.world.sessions) > 0 {
		t.Errorf("%+v, %d sessions", d, len(p.world.sessions))
	}
	p = describeFiles(t, func(c *agent.Config) { c.MaxFiles = 1 }, "empty.csv").noError(t)
	if n := len(p.Task.Files); n != 2 || p.Task.Others != 1 || p.Descriptions[1].Text == "" {
		t.Errorf("a named file is left out: %+v", p.Descriptions)
	}
}
