package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"dsstar/agent/llm"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

var recordDemo = flag.Bool("record", false,
	"write demo/trace.jsonl anew: the same replies with the grounds of now")

// TestRecordDemo updates the recording after a change of the prompts or the loop. Edit the replies
// in demo/trace.jsonl if necessary, then run it with -record, or go generate ./cmd/dsstar.
func TestRecordDemo(t *testing.T) {
	if !*recordDemo {
		t.Skip("only with -record")
	}
	demoTrace = regexp.MustCompile(`"ground":\{[^}]*\},`).ReplaceAll(demoTrace, nil) // fits any request
	replies := bytes.SplitAfter(demoTrace, []byte("\n"))
	out, next := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	for _, args := range [][]string{{"demo", "--out", out}, {"resume", "--choose", "2", "--out", next, out}} {
		a, stdout, stderr := testApp(t)
		if code := a.run(context.Background(), args); code != 0 {
			t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
		}
		demoTrace = bytes.Join(replies[demoCalls:], nil)
	}
	data := content(t, filepath.Join(out, "trace.jsonl")) + content(t, filepath.Join(next, "trace.jsonl"))
	exchanges, err := disk.ReadLines[llm.Exchange]([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, e := range exchanges {
		// Messages are by far the largest part, and nothing reads them here.
		e.Usage = llm.Usage{OutputTokens: len(e.Reply) / 4, Estimated: true}
		for _, m := range e.Messages {
			e.Usage.InputTokens += len(m.Text) / 4
		}
		e.Time, e.Seconds, e.Messages = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0, nil
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("demo/trace.jsonl", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	demoAnswer = "Seal Beach: 198.79"
	demoCalls  = 10 // without those after a choice
)

// TestDemoAsksNothing: on a terminal, too, since no reply is recorded for another choice.
func TestDemoAsksNothing(t *testing.T) {
	a := &app{stdinTTY: true, stderrTTY: true}
	if a.chooseReading(job{}) == nil || a.chooseReading(job{shown: true}) != nil {
		t.Error("who is asked is the wrong one")
	}
}

// TestDemo runs the shipped demo and checks its notebook with nbformat and nbconvert --execute.
func TestDemo(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	out := filepath.Join(t.TempDir(), "run")
	a, stdout, stderr := testApp(t)
	// a recording fits the defaults alone
	a.host.Env = append(a.host.Env, "DSSTAR_SERVER=http://127.0.0.1:9", "DSSTAR_CONTEXT_CHARS=2000",
		"DSSTAR_DESCRIPTION_CHARS=500", "DSSTAR_MAX_ROUNDS=1", "DSSTAR_METHOD_PAPER=true")
	code := a.run(t.Context(), []string{"demo", "--out", out, "--json"})
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	var r result
	dec := json.NewDecoder(stdout)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil || dec.More() {
		t.Fatal(err)
	}
	if r.Answer != demoAnswer || r.Verified || !r.Sufficient || r.Rounds != 3 || r.Steps != 2 ||
		r.Usage.Calls != demoCalls || len(r.Warnings) > 0 {
		t.Errorf("--json: %+v", r)
	}
	wantText(t, "stderr", stderr.String(), "replies are recorded; all else is live",
		"another derivation gives the same answer")

	tr := readRun(t, out)
	var failed, dropped int
	for _, round := range tr.Rounds {
		if len(round.Attempts) > 1 {
			failed++
		}
		if round.Dropped > 0 {
			dropped++
		}
	}
	if failed != 1 || dropped != 1 || tr.Standing() != "depends on a reading" || !tr.Second.Agrees ||
		len(tr.Second.Rejected) != 1 || tr.Second.Rejected[0].Second != "Seal Beach: 198.8" {
		t.Errorf("%d rounds with a failed cell, %d dropped; the answer is %s, the second derivation %+v",
			failed, dropped, tr.Standing(), tr.Second)
	}
	// Of the two readings, the second changes nothing.
	if len(tr.Readings) != 2 || len(r.Readings) != 2 || r.Readings[0].Answer != demoAnswer ||
		!r.Readings[0].Chosen || r.Readings[1].Answer != "Seal Beach: 143.21" {
		t.Errorf("the readings are reported as %+v", r.Readings)
	}

	tools := pyenvtest.Tools(t)
	executed := filepath.Join(out, "executed.ipynb")
	command := exec.Command(tools, "-m", "nbconvert", "--to", "notebook", "--execute", r.Notebook,
		"--output", executed)
	// nbconvert finds its kernel by name: it must be the one installed beside it, not the user's.
	command.Env = append(os.Environ(),
		"JUPYTER_PATH="+filepath.Join(filepath.Dir(filepath.Dir(tools)), "share", "jupyter"))
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("nbconvert --execute: %v\n%s", err, output)
	}
	var last notebook.Cell
	for _, c := range readNotebook(t, executed).Cells {
		if c.Type == notebook.Code {
			last = c
		}
	}
	if printed := (notebook.Execution{Outputs: last.Outputs}).Stdout(); printed != demoAnswer+"\n" {
		t.Errorf("nbconvert --execute: the last cell prints %q", printed)
	}

	validate(t, r.Notebook, executed)

	// It goes on with what another reading gives.
	a, stdout, stderr = testApp(t)
	code = a.run(t.Context(), []string{"resume", "--choose", "2", "--json", out})
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || code != 0 ||
		!r.Verified || r.Answer != "Seal Beach: 143.21" {
		t.Errorf("resume --choose: exit code %d, %v, %+v\n%s", code, err, r, stderr)
	}
}
