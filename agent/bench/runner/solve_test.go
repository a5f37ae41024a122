package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// TestPrepareLinks has tasks whose files are links, as in a download's cache, or are missing.
func TestPrepareLinks(t *testing.T) {
	data, blobs := filepath.Join(t.TempDir(), "data"), t.TempDir()
	write(t, filepath.Join(blobs, "1f"), "n\n1\n")
	if err := errors.Join(os.Mkdir(data, 0o755),
		os.Symlink(filepath.Join(blobs, "1f"), filepath.Join(data, "a.csv"))); err != nil {
		t.Fatal(err)
	}
	task := bench.Task{ID: "a", Question: "q", Data: data, Files: []string{"a.csv"}}
	whole := task
	whole.Files = nil
	for _, of := range []bench.Task{task, whole} {
		if has, out := Look(t.Context(), of, nil); !has || len(out) != 1 || filepath.Base(out[0]) != "1f" {
			t.Errorf("%v", out)
		}
		if _, out := Look(t.Context(), of, []string{blobs}); len(out) > 0 {
			t.Errorf("allowed: %v", out)
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
	for _, v := range []struct{ kind, said, want string }{
		{"string_exact", "true", `"true"`},
		{"string_approximate", "12", `"12"`},
		{"numeric_exact", " -12.5 ", "-12.5"},
		{"numeric_exact", "12%", `"12%"`},
		{"numeric_exact", "true", `"true"`},
		{"list_exact", `["a", 1]`, `["a", 1]`},
		{"list_exact", "a, b", `"a, b"`},
	} {
		record := Record{Task: "1", Answer: v.said, Finished: true}
		answer := answerOf(record, bench.Task{ID: "1", Rules: "kramabench", Kind: v.kind}, t.TempDir())
		if string(answer.Value) != v.want {
			t.Errorf("%s %q is %s, not %s", v.kind, v.said, answer.Value, v.want)
		}
	}
	for rules, want := range map[string]bool{"dacode": true, "dabstep": false} { // it used up its steps
		answer := answerOf(Record{Task: "1", Answer: "x"}, bench.Task{ID: "1", Rules: rules}, t.TempDir())
		if answer.Unfinished != want {
			t.Errorf("%s: unfinished is %v", rules, answer.Unfinished)
		}
	}
}

// TestCause: errors of the task, and fatal errors, which end the run.
func TestCause(t *testing.T) {
	usage, odd := errors.New("no such folder"), errors.New("broken pipe")
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	r := &run{Config: Config{Site: Site{Fatal: func(err error) bool { return errors.Is(err, usage) }}}}
	for _, c := range []struct {
		what  string
		ctx   context.Context
		err   error
		cause string
	}{
		{"interrupted", stopped, odd, ""},
		{"a bad key", t.Context(), &llm.CredentialError{}, ""},
		{"budget of the task", t.Context(), &ask.BudgetError{Flag: "max-calls"}, OverBudget},
		{"budget of the run", t.Context(), &ask.BudgetError{Flag: "total-calls"}, ""},
		{"unread replies", t.Context(), &ask.Error{}, NotFinished},
		{"a long request", t.Context(), fmt.Errorf("ask: %w", llm.ErrContextLength), NotFinished},
		{"the set-up", t.Context(), usage, ""},
		{"model or kernel", t.Context(), odd, Broken},
	} {
		if cause, fatal := r.cause(c.ctx, c.err); cause != c.cause || (fatal == nil) != (c.cause != "") {
			t.Errorf("%s: %q, %v", c.what, cause, fatal)
		}
	}
}
