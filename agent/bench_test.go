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
	text, _ := simple.with(script{"verdict": no}).whole(r.Role, r.Subject)
	text = strings.TrimPrefix(text, "raw:")
	if r.Role == "analyzer" {
		text = "```python\n" + text + "\n```"
	}
	return llm.Reply{Text: text, Finish: "stop"}, nil
}

// An instant session has run every cell before it is asked.
type instant struct{ output string }

func (s instant) Execute(context.Context, string) (notebook.Execution, error) {
	out := notebook.Output{Type: notebook.Stream, Name: "stdout", Text: s.output}
	return notebook.Execution{Status: notebook.OK, Outputs: []notebook.Output{out}}, nil
}

func (s instant) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	back := notebook.Restoration{Way: notebook.ByReplay}
	for _, code := range cells {
		e, _ := s.Execute(ctx, code)
		back.Executions = append(back.Executions, e)
	}
	return back, nil
}

func (s instant) Silently(ctx context.Context, code string, _ time.Duration) (notebook.Execution, error) {
	return s.Execute(ctx, code)
}

func (instant) Alive() bool  { return true }
func (instant) Close() error { return nil }

// idleConfig is of a run whose model and sessions take no time.
func idleConfig(tb testing.TB, description, output string) agent.Config {
	set, err := loadPrompts()
	if err != nil {
		tb.Fatal(err)
	}
	return agent.Config{
		Settings: ask.Settings{Model: idle{}, Prompts: set, ResultChars: 6000, DescriptionChars: 6000,
			ContextChars: 60_000},
		Options: describe.Options{DebugTries: 2, MaxFiles: 2000, TopK: 100, Jobs: 2},
		Open: func(_ context.Context, p agent.Purpose, _ string) (agent.Session, error) {
			if p == agent.Describe {
				return instant{description}, nil
			}
			return instant{output}, nil
		},
		RunScript: func(context.Context, string, time.Duration) (notebook.Execution, error) {
			return notebook.Execution{Status: notebook.OK}, nil
		},
	}
}

// benchmarkRounds measures what a round costs beside model and kernel, saving included.
func benchmarkRounds(b *testing.B, files map[string]string) {
	const rounds = 20
	s := &stage{}
	withData(b, files)(s)
	s.task.Question, s.task.Guidelines = "How many?", "A number."
	output := strings.Repeat("a line of an output of a cell, as long as many\n", 4096/47)
	config := idleConfig(b, strings.Repeat("column a: 17 values\n", 100), output)
	config.MaxRounds = rounds
	b.ReportAllocs()
	var begin time.Time
	var inRounds time.Duration
	var size float64
	for b.Loop() {
		folder, err := record.CreateFolder(filepath.Join(b.TempDir(), "run"))
		if err != nil {
			b.Fatal(err)
		}
		config.Dir = string(folder)
		config.Observe = func(e agent.Event, t *record.Trajectory) error {
			switch {
			case e.Kind == agent.Described:
				return nil // the rounds are what is measured
			case e.Kind == agent.Estimated:
				begin = time.Now()
			case e.Kind == agent.Finalized:
				inRounds += time.Since(begin)
			}
			return record.Draw(t).Save(folder.Notebook())
		}
		if _, err = agent.Run(b.Context(), config, s.task); err != nil {
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
	benchmarkRounds(b, tables("a.csv", "b.csv", "c.csv", "d.csv", "e.csv", "f.csv", "g.csv"))
}

// As many files as KramaBench's astronomy has.
func BenchmarkRound1500(b *testing.B) {
	var names []string
	for i := range 1500 {
		names = append(names, fmt.Sprintf("%04d.csv", i))
	}
	benchmarkRounds(b, tables(names...))
}

// A folder of 100,000 files, of which a run looks at 2,000 and shows 100: what choosing, describing
// and ranking them takes of its own.
func Benchmark100000(b *testing.B) {
	task := record.Task{Question: "How many rides did station 77 have in May 2024?", Data: b.TempDir()}
	for i := range 100_000 {
		name := fmt.Sprintf("%d/%02d/rides-station%d.csv", 2000+i%25, i%12+1, i)
		task.Files = append(task.Files, record.File{Name: name, Size: 1 << 30})
	}
	config := idleConfig(b, "a table of rides", "a table of rides")
	config.MaxRounds, config.DebugTries = 1, 0
	b.ReportAllocs()
	for b.Loop() {
		config.Dir = b.TempDir()
		if _, err := agent.Run(b.Context(), config, task); err != nil {
			b.Fatal(err)
		}
	}
}
