package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

func about(n int) About {
	a := About{Bench: "dir", Agent: "fake", Model: "none",
		Setup: map[string]string{"max_rounds": "20"}}
	for i := range n {
		a.Items = append(a.Items, Item{ID: fmt.Sprintf("task-%02d", i),
			Level: []string{"easy", "hard"}[i%2]})
	}
	return a
}

func create(t *testing.T, a About) *Folder {
	t.Helper()
	f, err := Create(filepath.Join(t.TempDir(), "out"), a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Error(err)
	}
}

func scored(v float64) Record {
	return Record{Score: &v, Finished: true, Usage: record.Usage{Calls: 2}}
}

// with returns a run of tasks without right answers, all over one file of data.
func with(t *testing.T, f *Folder, solve func(ctx context.Context, task string, cfg agent.Config) (Record, error)) Config {
	t.Helper()
	data := t.TempDir()
	write(t, filepath.Join(data, "a.csv"), "n\n1\n")
	tasks := map[string]bench.Task{}
	for _, i := range f.Items {
		tasks[i.ID] = bench.Task{ID: i.ID, Data: data}
	}
	return Config{Folder: f, Jobs: 1, Tasks: tasks, Budget: &ask.Budget{Flags: "total-"},
		Model: &llmtest.Model{Replies: []string{"yes"}},
		Site: Site{Fatal: func(error) bool { return false },
			Sessions: func(record.Folder, string, []string) (agent.Open, agent.RunScript) { return nil, nil }},
		Solve: func(ctx context.Context, cfg agent.Config, _ record.Task) (Record, error) {
			return solve(ctx, filepath.Base(cfg.Dir), cfg)
		}}
}

// TestResume: after a run is stopped, its last line torn and a task left half done, the
// missing tasks run once each, and the torn one again. The folder's path is relative.
func TestResume(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := Create("out", about(10))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	err = Run(ctx, with(t, f, func(_ context.Context, task string, cfg agent.Config) (Record, error) {
		if task == "task-04" {
			write(t, filepath.Join(cfg.Dir, "half"), "")
			stop()
		}
		return scored(1), nil
	}))
	results := filepath.Join("out", resultsFile)
	data, unread := os.ReadFile(results)
	if !errors.Is(err, context.Canceled) || unread != nil || strings.Count(string(data), "\n") != 4 {
		t.Fatalf("%v, %v\n%s", err, unread, data)
	}
	write(t, results, string(data[:len(data)-7]))
	f.Close()
	if f, err = Open("out"); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run := with(t, f, func(_ context.Context, task string, cfg agent.Config) (Record, error) {
		if _, err := os.Stat(filepath.Join(cfg.Dir, "half")); err == nil {
			t.Error("what a task had left half done is still there")
		}
		return scored(map[bool]float64{true: 1}[task < "task-06"]), nil
	})
	var last Event
	run.Jobs, run.Observe = 3, func(e Event) { last = e }
	err = Run(t.Context(), run)
	if err != nil || last.Right != 6 || last.Wrong != 4 || last.Running != 0 {
		t.Errorf("%v, %+v", err, last.Totals)
	}
	r, err := Read("out")
	data, _ = os.ReadFile(results)
	if err != nil || strings.Count(string(data), "\n") != 10 || r.Missing() > 0 || r.Records[8].Level != "easy" {
		t.Errorf("%d tasks have no record: %v\n%s", r.Missing(), err, data)
	}
	other := r.About
	other.Setup = map[string]string{"max_rounds": "20", "seed": "7"}
	if what := r.Differs(other); r.Differs(r.About) != "" || what != "seed as usual, not 7" ||
		other.Differs(r.About) != "seed 7, not as usual" || r.Differs(about(20)) != "other tasks" {
		t.Error(what)
	}
}

func TestLock(t *testing.T) {
	f := create(t, about(1))
	if _, err := Open(f.Path); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("%v", err)
	}
	if _, err := Create(f.Path, about(1)); !errors.Is(err, ErrExists) {
		t.Errorf("%v", err)
	}
	if _, err := Read(f.Path); err != nil {
		t.Errorf("a run at work cannot be read: %v", err)
	}
}

// TestBudget: a task during which a limit of all tasks was reached has no record.
func TestBudget(t *testing.T) {
	for _, c := range []struct {
		limits  ask.Limits
		flag    string
		records int
	}{{ask.Limits{Calls: 7}, "total-calls", 3}, {ask.Limits{Cost: 5}, "total-cost", 2},
		{ask.Limits{Time: 10 * time.Millisecond}, "total-time", 0}} {
		f := create(t, about(10))
		run := with(t, f, func(ctx context.Context, _ string, cfg agent.Config) (Record, error) {
			if c.limits.Time > 0 {
				<-ctx.Done()
			}
			asker := ask.NewAsker(cfg.Settings, nil, nil)
			for range 2 {
				if _, err := asker.Call(ctx, llm.Request{Role: "coder", Messages: []llm.Message{{}}}); err != nil {
					return Record{Cause: Broken}, nil
				}
			}
			return scored(1), nil
		})
		run.Budget.Limits = c.limits
		run.Agent.Price = func(string) (llm.Price, bool) { return llm.Price{Output: 1e6}, true }
		spent, _ := errors.AsType[*ask.BudgetError](Run(t.Context(), run))
		result, err := Read(f.Path)
		if err != nil || spent == nil || spent.Flag != c.flag || len(result.Records) != c.records {
			t.Errorf("%s: %+v, %v, %d records", c.flag, spent, err, len(result.Records))
		}
	}
}

// TestEnds: a task without data has no record, and the run goes on. Tasks that fail in a row end it, as
// does an error that every task would meet.
func TestEnds(t *testing.T) {
	odd := errors.New("connection refused")
	for fatal, records := range map[bool]int{false: 3 + sick, true: 3} {
		f, told := create(t, about(20)), error(nil)
		run := with(t, f, func(_ context.Context, task string, _ agent.Config) (Record, error) {
			if task > "task-03" {
				return scored(1), odd
			}
			return scored(1), nil
		})
		run.Site.Fatal = func(error) bool { return fatal }
		run.Observe = func(e Event) { told = errors.Join(told, e.Err) }
		run.Tasks["task-01"] = bench.Task{ID: "task-01", Data: filepath.Join(f.Path, "none")}
		err := Run(t.Context(), run)
		result, failed := Read(f.Path)
		if _, inARow := errors.AsType[*SickError](err); failed != nil || len(result.Records) != records ||
			!errors.Is(told, errLacking) || inARow == fatal || !strings.Contains(err.Error(), odd.Error()) {
			t.Errorf("%v, %v, told %v, %+v", err, failed, told, result.Records)
		}
	}
}

func TestSafeNames(t *testing.T) {
	names := map[string]bool{}
	for _, name := range []string{"../../etc", "a/b", "a_b", "..", "", strings.Repeat("x", 400), "ok-1.2_3"} {
		got := filepath.Base(TaskFolder("out", name))
		if TaskFolder("out", name) != filepath.Join("out", "tasks", got) || len(got) > 200 || names[got] {
			t.Errorf("%q: %q", name, got)
		}
		names[got] = true
	}
}
