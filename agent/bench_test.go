package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// An idle model answers at once, and never finds the plan sufficient.
type idle struct{}

func (idle) Ask(_ context.Context, r llm.Request) (llm.Reply, error) {
	text := map[string]string{
		"planner": "Do the next thing.", "verifier": no, "router": "Add Step", "checker": "Form: fits", "finalizer": "```python\nprint(x)\n```",
	}[r.Role]
	if text == "" {
		text = "```python\nx = 1\nprint(x)\n```"
	}
	return llm.Reply{Text: text, Finish: "stop"}, nil
}

// An instant session has run every cell before it is asked.
type instant struct{ output string }

func (s instant) Execute(_ context.Context, code string) (notebook.Execution, error) {
	text := s.output
	if strings.Contains(code, "subprocess") {
		text = `{"code": 0, "out": "1", "stderr": ""}`
	}
	return notebook.Execution{Status: notebook.OK, Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: text}}}, nil
}

func (s instant) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	back := notebook.Restoration{Way: notebook.ByReplay}
	for _, code := range cells {
		e, _ := s.Execute(ctx, code)
		back.Executions = append(back.Executions, e)
	}
	return back, nil
}

func (instant) Close() error { return nil }

// benchmarkRounds measures what a round costs beside model and kernel, saving
// included.
func benchmarkRounds(b *testing.B, rounds int, files map[string]string, description string) {
	set, err := loadPrompts()
	if err != nil {
		b.Fatal(err)
	}
	s := &stage{}
	withData(b, files)(s)
	s.task.Question, s.task.Guidelines = "How many?", "A number."
	output := strings.Repeat("a line of an output of a cell, as long as many\n", 4096/47)
	b.ReportAllocs()
	var begin time.Time
	var inRounds time.Duration
	var size float64
	for b.Loop() {
		folder, err := record.CreateFolder(filepath.Join(b.TempDir(), "run"))
		if err != nil {
			b.Fatal(err)
		}
		_, err = agent.Run(b.Context(), agent.Config{
			Settings: ask.Settings{Model: idle{}, Prompts: set, ResultChars: 6000, DescriptionChars: 6000, ContextChars: 60_000},
			Options:  describe.Options{DebugTries: 2, TopK: 100, Jobs: 2},
			Dir:      string(folder), MaxRounds: rounds,
			Open: func(_ context.Context, p agent.Purpose, _ string) (agent.Session, error) {
				return instant{map[agent.Purpose]string{agent.Describe: description, agent.Work: output, agent.Prove: output}[p]}, nil
			},
			RunScript: noScript,
			Observe: func(e agent.Event, t *record.Trajectory) error {
				switch {
				case e.Kind == agent.Described:
					return nil // the rounds are what is measured
				case e.Kind == agent.Estimated:
					begin = time.Now()
				case e.Kind == agent.Checked:
					inRounds += time.Since(begin)
				}
				return record.Draw(t).Save(folder.Notebook())
			},
		}, s.task)
		if err != nil {
			b.Fatal(err)
		}
		if info, err := os.Stat(folder.Notebook()); err == nil {
			size = float64(info.Size()) / 1e6
		}
	}
	b.ReportMetric(size, "MB/notebook")
	b.ReportMetric(float64(inRounds.Nanoseconds())/float64(b.N*rounds), "ns/round")
}

// Seven files, as in DABstep, twenty rounds and outputs of 4 kB.
func BenchmarkRound(b *testing.B) {
	benchmarkRounds(b, 20, tables("a.csv", "b.csv", "c.csv", "d.csv", "e.csv", "f.csv", "g.csv"), strings.Repeat("column a: 17 values\n", 100))
}

// As many files as KramaBench's astronomy has.
func BenchmarkRound1500(b *testing.B) {
	var names []string
	for i := range 1500 {
		names = append(names, fmt.Sprintf("%04d.csv", i))
	}
	benchmarkRounds(b, 20, tables(names...), strings.Repeat("column a: 17 values\n", 100))
}

// A folder of 100,000 files, of which a run looks at 2,000 and shows 100: what
// choosing, describing and ranking them takes of its own.
func Benchmark100000(b *testing.B) {
	set, err := loadPrompts()
	if err != nil {
		b.Fatal(err)
	}
	task := record.Task{Question: "How many rides did station 77 have in May 2024?", Data: b.TempDir()}
	for i := range 100_000 {
		name := fmt.Sprintf("%d/%02d/rides-station%d.csv", 2000+i%25, i%12+1, i)
		task.Files = append(task.Files, record.File{Name: name, Size: 1 << 30})
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := agent.Run(b.Context(), agent.Config{
			Settings: ask.Settings{Model: idle{}, Prompts: set, ResultChars: 6000, DescriptionChars: 6000, ContextChars: 60_000},
			Options:  describe.Options{MaxFiles: 2000, TopK: 100, Jobs: 2},
			Dir:      b.TempDir(), MaxRounds: 1,
			Open: func(context.Context, agent.Purpose, string) (agent.Session, error) {
				return instant{"a table of rides"}, nil
			},
			RunScript: noScript,
			Observe:   func(agent.Event, *record.Trajectory) error { return nil },
		}, task)
		if err != nil {
			b.Fatal(err)
		}
	}
}

func noScript(context.Context, string, time.Duration) (notebook.Execution, error) {
	return notebook.Execution{Status: notebook.OK}, nil
}
