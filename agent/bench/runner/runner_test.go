package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
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
	f := pyenvtest.Must(Create(filepath.Join(t.TempDir(), "out"), a))
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t *testing.T, path, text string) {
	t.Helper()
	pyenvtest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	pyenvtest.OK(t, os.WriteFile(path, []byte(text), 0o644))
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
// missing tasks run once each, and the torn one again. The folder's path is relative. Two programs
// do not run the same, and one reads what the other does.
func TestResume(t *testing.T) {
	t.Chdir(t.TempDir())
	f := pyenvtest.Must(Create("out", about(10)))
	_, locked := Open("out")
	_, exists := Create("out", about(10))
	_, err := Read("out")
	if err != nil || !errors.Is(locked, disk.ErrLocked) || !errors.Is(exists, ErrExists) {
		t.Errorf("%v, %v, %v", err, locked, exists)
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
	f = pyenvtest.Must(Open("out"))
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

// TestEnds: a task without data has no record, and the run goes on, as after errors of the task.
// Errors of model or kernel in a row end it, as does an error that every task would meet.
func TestEnds(t *testing.T) {
	odd, refused := errors.New("connection refused"), &llm.CredentialError{}
	fails := map[string]error{"task-02": &ask.BudgetError{Flag: "max-calls"}, "task-03": &ask.Error{},
		"task-04": fmt.Errorf("ask: %w", llm.ErrContextLength)}
	causes := []string{"", OverBudget, NotFinished, NotFinished}
	for _, c := range []struct {
		last  error // of the tasks that are left
		fatal bool
		want  []string
	}{
		{odd, false, append(causes, Broken, Broken, Broken, Broken, Broken)}, {odd, true, causes},
		{refused, false, causes}, {&ask.BudgetError{Flag: "total-calls"}, false, causes},
	} {
		f, told := create(t, about(20)), error(nil)
		run := with(t, f, func(_ context.Context, task string, _ agent.Config) (Record, error) {
			if task > "task-04" {
				return scored(1), c.last
			}
			return scored(1), fails[task]
		})
		run.Site.Fatal = func(err error) bool { return c.fatal && errors.Is(err, odd) }
		run.Observe = func(e Event) { told = errors.Join(told, e.Err) }
		run.Tasks["task-01"] = bench.Task{ID: "task-01", Data: filepath.Join(f.Path, "none")}
		err := Run(t.Context(), run)
		var got []string
		for _, record := range pyenvtest.Must(Read(f.Path)).Records {
			got = append(got, record.Cause)
		}
		_, inARow := errors.AsType[*SickError](err)
		if !slices.Equal(got, c.want) || !errors.Is(told, errLacking) || inARow != (len(got) == 4+sick) ||
			!strings.Contains(fmt.Sprint(err), c.last.Error()) {
			t.Errorf("%v, told %v, causes %q", err, told, got)
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

// TestPrepareLinks has tasks whose files are links, as in a download's cache, or are missing.
func TestPrepareLinks(t *testing.T) {
	data, blobs := filepath.Join(t.TempDir(), "data"), t.TempDir()
	write(t, filepath.Join(blobs, "1f"), "n\n1\n")
	pyenvtest.OK(t, os.Mkdir(data, 0o755))
	pyenvtest.OK(t, os.Symlink(filepath.Join(blobs, "1f"), filepath.Join(data, "a.csv")))
	task := bench.Task{ID: "a", Question: "q", Data: data}
	for _, task.Files = range [][]string{nil, {"a.csv"}} {
		has, out := Look(t.Context(), task, nil)
		_, allowed := Look(t.Context(), task, []string{blobs})
		if !has || len(out) != 1 || filepath.Base(out[0]) != "1f" || len(allowed) > 0 {
			t.Errorf("%v, allowed: %v", out, allowed)
		}
	}
	folder := record.Folder(t.TempDir())
	seen, read, err := prepare(t.Context(), task, folder)
	text, unread := os.ReadFile(filepath.Join(string(folder), seen.Data, "a.csv"))
	if errors.Join(err, unread) != nil || string(text) != "n\n1\n" || len(seen.Files) != 1 ||
		len(read) != 1 || filepath.Base(read[0]) != "1f" {
		t.Errorf("%+v, %q, %q, %v, %v", seen, read, text, err, unread)
	}
	for name, lacking := range map[string]bench.Task{
		"a missing file":   {Data: data, Files: []string{"a.csv", "none.csv"}},
		"no file":          {Data: data, Files: []string{}},
		"an empty folder":  {Data: t.TempDir()},
		"a missing folder": {Data: filepath.Join(data, "none")},
		"no folder":        {},
	} {
		if _, _, err := prepare(t.Context(), lacking, record.Folder(t.TempDir())); !errors.Is(err, errLacking) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnswerOf(t *testing.T) {
	for _, v := range []struct{ rules, kind, said, want string }{
		{"kramabench", "string_exact", "true", `"true"`},
		{"kramabench", "string_approximate", "12", `"12"`},
		{"kramabench", "numeric_exact", " -12.5 ", "-12.5"},
		{"kramabench", "numeric_exact", "12%", `"12%"`},
		{"kramabench", "numeric_exact", "true", `"true"`},
		{"kramabench", "list_exact", `["a", 1]`, `["a", 1]`},
		{"kramabench", "list_exact", "a, b", `"a, b"`},
		{"dabstep", "", "x", `"x"`},
		{"dacode", "", "x", `"x"`}, // which is unfinished there, as it used up its steps
	} {
		task := bench.Task{ID: "1", Rules: v.rules, Kind: v.kind}
		answer := answerOf(Record{Task: "1", Answer: v.said}, task, "out")
		if string(answer.Value) != v.want || answer.Unfinished != (v.rules == "dacode") {
			t.Errorf("%+v is %s, unfinished %v", v, answer.Value, answer.Unfinished)
		}
	}
}
