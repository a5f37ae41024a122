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

	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

func about(n int) About {
	a := About{Bench: "dir", Agent: "fake", Model: "none", Repeat: 1,
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

func reopen(t *testing.T, f *Folder) *Folder {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g, err := Open(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// A task solves a job.
type task func(context.Context, Job) (Record, error)

func scored(v float64) Record {
	return Record{Score: &v, Finished: true, Usage: record.Usage{Calls: 2}}
}

// onceEach checks that every task has one record.
func onceEach(t *testing.T, f *Folder) {
	t.Helper()
	r, err := Read(f.Path)
	data, _ := os.ReadFile(filepath.Join(f.Path, resultsFile))
	if n := len(f.Items) * f.Repeat; err != nil || strings.Count(string(data), "\n") != n || r.Missing() > 0 {
		t.Errorf("%d of %d tasks have no record: %v\n%s", r.Missing(), n, err, data)
	}
}

// TestRunAndRepeat: the folder's path is relative.
func TestRunAndRepeat(t *testing.T) {
	t.Chdir(t.TempDir())
	a := about(7)
	a.Repeat = 3
	f, err := Create("out", a)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var last Event
	err = Run(t.Context(), Config{Folder: f, Jobs: 4,
		Observe: func(e Event) { last = e },
		solve: func(_ context.Context, j Job) (Record, error) {
			if entries, err := os.ReadDir(j.Dir); err != nil || len(entries) > 0 {
				t.Errorf("%s: %v, %v", j.Dir, entries, err)
			}
			r := scored(float64(j.Repeat % 2))
			write(t, filepath.Join(j.Dir, "notebook.ipynb"), "")
			return r, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	onceEach(t, f)
	if last.Right != 14 || last.Wrong != 7 || last.Running != 0 {
		t.Errorf("%+v", last.Totals)
	}
	result, _ := Read(f.Path)
	if r := result.Records[14]; r.Notebook != "tasks/task-00-r3/notebook.ipynb" || r.Level != "easy" ||
		r.Repeat != 3 {
		t.Errorf("%+v", r)
	}
}

// TestResume: after a run is stopped, its last line torn and a task left half done, the
// missing tasks run once each, and the torn one again.
func TestResume(t *testing.T) {
	f := create(t, about(10))
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	err := Run(ctx, Config{Folder: f, Jobs: 1,
		solve: func(ctx context.Context, j Job) (Record, error) {
			if n++; n == 5 {
				write(t, filepath.Join(j.Dir, "half"), "")
				stop()
			}
			return scored(1), nil
		}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	f.Close()
	results := filepath.Join(f.Path, resultsFile)
	data, err := os.ReadFile(results)
	if err != nil || strings.Count(string(data), "\n") != 4 {
		t.Fatalf("%v\n%s", err, data)
	}
	write(t, results, string(data[:len(data)-7]))
	f = reopen(t, f)
	err = Run(t.Context(), Config{Folder: f, Jobs: 3,
		solve: func(_ context.Context, j Job) (Record, error) {
			if _, err := os.Stat(filepath.Join(j.Dir, "half")); err == nil {
				t.Error("what a task had left half done is still there")
			}
			return scored(1), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	onceEach(t, f)
}

func TestLock(t *testing.T) {
	f := create(t, about(1))
	if _, err := Open(f.Path); !errors.Is(err, ErrRunning) {
		t.Errorf("%v", err)
	}
	if _, err := Create(f.Path, about(1)); !errors.Is(err, ErrExists) {
		t.Errorf("%v", err)
	}
	if _, err := Read(f.Path); err != nil {
		t.Errorf("a run at work cannot be read: %v", err)
	}
	f.Close()
	write(t, filepath.Join(f.Path, resultsFile), "{}\n{\"task_id\":\"task-01\"}\n")
	if _, err := Open(f.Path); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a result of no task: %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Error(err)
	}
}

func TestForget(t *testing.T) {
	f := create(t, about(3))
	for i, cause := range []Cause{"", ModelError, Wrong} {
		r := scored(0)
		r.Task, r.Repeat, r.Cause = f.Items[i].ID, 1, cause
		if err := f.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	f = reopen(t, f)
	f.Forget(func(r Record) bool { return r.Cause == ModelError })
	err := Run(t.Context(), Config{Folder: f, Jobs: 1, solve: func(_ context.Context, j Job) (Record, error) {
		if j.ID != "task-01" {
			t.Errorf("%s runs again", j.ID)
		}
		return scored(1), nil
	}})
	if result, failed := Read(f.Path); errors.Join(err, failed) != nil || len(result.Records) != 3 ||
		!result.Records[1].Right() {
		t.Errorf("%v, %v, %+v", err, failed, result.Records)
	}
}

func TestBudget(t *testing.T) {
	f := create(t, about(10))
	run := func(limits ask.Limits, solve task) (*ask.Budget, string, int) {
		t.Helper()
		f = reopen(t, f)
		b := &ask.Budget{Limits: limits, Price: func(string) (llm.Price, bool) { return llm.Price{Output: 1e6}, true }}
		spent, _ := errors.AsType[*ask.BudgetError](Run(t.Context(), Config{Folder: f, Jobs: 1, Budget: b, solve: solve}))
		result, err := Read(f.Path)
		if err != nil || spent == nil {
			t.Fatalf("%v, %v", spent, err)
		}
		return b, spent.Flag, len(result.Records)
	}
	two := func(ctx context.Context, j Job) (Record, error) {
		for range 2 {
			if _, err := j.model(answers{}).Ask(ctx, llm.Request{Role: "coder"}); err != nil {
				return Record{Cause: ModelError}, nil // must not be recorded
			}
		}
		return scored(1), nil
	}
	if b, flag, n := run(ask.Limits{Calls: 7}, two); flag != "total-calls" || n != 3 || b.Paid() != 7 {
		t.Errorf("%s: %d records, %v paid", flag, n, b.Paid())
	}
	// 7 of it are spent, one without a record
	if b, flag, n := run(ask.Limits{Cost: 10}, two); flag != "total-cost" || n != 4 || b.Paid() != 10 {
		t.Errorf("%s: %d records, %v paid", flag, n, b.Paid())
	}
	_, flag, _ := run(ask.Limits{Time: 10 * time.Millisecond}, func(ctx context.Context, _ Job) (Record, error) {
		<-ctx.Done()
		return scored(1), nil
	})
	if flag != "total-time" {
		t.Error(flag)
	}
}

type answers struct{ err error }

func (a answers) Ask(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{Usage: llm.Usage{OutputTokens: 1}}, a.err
}

// TestEnds: what tasks end with, and whether it ends the run.
func TestEnds(t *testing.T) {
	wrong := errors.New("the key is wrong")
	second := func(err error) task { // the second task fails
		return func(_ context.Context, j Job) (Record, error) {
			if j.ID == "task-01" {
				return Record{}, err
			}
			return scored(1), nil
		}
	}
	for name, c := range map[string]struct {
		tasks, jobs int
		solve       task
		records     int
		told        string // the kinds of events, besides those of tasks that ended
		fits        func(error, []Record) bool
	}{
		"lacking": {3, 1, second(&LackingError{errors.New("no file")}), 2, "no file",
			func(err error, _ []Record) bool { return err == nil }},
		"the model is gone": {20, 1, func(_ context.Context, j Job) (Record, error) {
			r := scored(0)
			if j.ID > "task-03" {
				r.Cause, r.Error = ModelError, "connection refused"
			}
			return r, nil
		}, 4 + sick, "", func(err error, _ []Record) bool {
			_, ok := errors.AsType[*SickError](err)
			return ok && strings.Contains(err.Error(), "refused")
		}},
		"fatal": {8, 3, func(ctx context.Context, j Job) (Record, error) {
			if j.ID == "task-02" {
				return Record{}, wrong
			}
			<-ctx.Done()
			return scored(1), nil
		}, 0, "", func(err error, _ []Record) bool { return errors.Is(err, wrong) }},
	} {
		t.Run(name, func(t *testing.T) {
			f, told := create(t, about(c.tasks)), ""
			err := Run(t.Context(), Config{Folder: f, Jobs: c.jobs, solve: c.solve,
				Observe: func(e Event) {
					if e.Err != nil {
						told += e.Err.Error()
					}
				}})
			result, failed := Read(f.Path)
			if failed != nil || len(result.Records) != c.records || told != c.told ||
				result.Missing() != c.tasks-c.records || !c.fits(err, result.Records) {
				t.Errorf("%v, %v, told %s, %+v", err, failed, told, result.Records)
			}
		})
	}
}

func TestDiffers(t *testing.T) {
	a, b := about(3), about(2)
	b.Model, b.Setup = "other", map[string]string{"max_rounds": "5", "method.router": "false"}
	want := []Difference{{"max_rounds", "20", "5"}, {"method.router", "", "false"}, {"model", "none", "other"},
		{"task_ids", "task-00, task-01, task-02", "task-00, task-01"}}
	if got := a.Differs(b); !slices.Equal(got, want) || a.Differs(about(3)) != nil {
		t.Errorf("%v", got)
	}
}

func TestSafeNames(t *testing.T) {
	for _, name := range []string{"../../etc", "a/b", "..", "", strings.Repeat("x", 400), "ok-1.2_3"} {
		if got := safe(name); strings.ContainsAny(got, `/\`) || got == ".." || got == "" ||
			len(got) > 200 {
			t.Errorf("%q: %q", name, got)
		}
	}
	if safe("a/b") == safe("a_b") {
		t.Error("two tasks have one folder")
	}
}
