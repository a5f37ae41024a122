package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent/llm"
	"dsstar/agent/record"
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
	data := content(filepath.Join(out, "trace.jsonl")) + content(filepath.Join(next, "trace.jsonl"))
	exchanges := must(disk.ReadLines[llm.Exchange]([]byte(data)))
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
		noError(t, enc.Encode(e))
	}
	noError(t, os.WriteFile("demo/trace.jsonl", []byte(b.String()), 0o644))
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
	var r result
	dec := json.NewDecoder(stdout)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); code != 0 || err != nil || dec.More() {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	if r.Answer != demoAnswer || r.Verified || !r.Sufficient || r.Rounds != 3 || r.Steps != 2 ||
		r.Usage.Calls != demoCalls || len(r.Warnings) > 0 {
		t.Errorf("--json: %+v", r)
	}
	wantText(t, "stderr", stderr.String(), "replies are recorded; all else is live", "ruling   second: ",
		"another derivation gives the same answer")

	tr := readRun(t, out)
	var tries, dropped []int
	for _, round := range tr.Rounds {
		tries, dropped = append(tries, len(round.Attempts)), append(dropped, round.Dropped)
	}
	if slices.Max(tries) != 2 || slices.Max(dropped) == 0 ||
		tr.Standing() != "depends on a reading" || !tr.Second.Agrees ||
		len(tr.Second.Rejected) != 1 || tr.Second.Rejected[0].Second != "Seal Beach: 198.8" {
		t.Errorf("tries in rounds %d, dropped %d; the answer is %s, the second derivation %+v",
			tries, dropped, tr.Standing(), tr.Second)
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
	printed := ""
	for _, c := range must(notebook.Open(executed)).Cells {
		printed = cmp.Or(notebook.Execution{Outputs: c.Outputs}.Stdout(), printed)
	}
	if printed != demoAnswer+"\n" {
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

var kills = flag.Int("kills", 1, "how often TestKill kills a run")

// TestKill kills the demo with SIGKILL at random moments, sometimes repeatedly, and resumes it: the
// notebook is always valid, the result is the same, and no answered request is repeated.
//
//	go test ./cmd/dsstar -run TestKill -kills 200 -timeout 2h -v
func TestKill(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	const whole = 15 * time.Second // about what a run takes
	var notebooks []string
	for n := range *kills {
		run := filepath.Join(t.TempDir(), fmt.Sprintf("run-%d", n))
		args := []string{"demo", "--quiet", "--out", run}
		var at []time.Duration
		for killed := true; killed && len(at) < 1+n%3; {
			at = append(at, rand.N(whole))
			killed = killAfter(t, at[len(at)-1], args...)
			if _, err := os.Stat(record.Folder(run).Notebook()); err != nil {
				break // the run had not started
			}
			readRun(t, run)
			copied := filepath.Join(t.TempDir(), fmt.Sprintf("%d-%d.ipynb", n, len(at)))
			noError(t, os.WriteFile(copied, []byte(content(record.Folder(run).Notebook())), 0o644))
			notebooks = append(notebooks, copied)
			args = []string{"resume", "--quiet", run} // with the recorded replies
		}
		if args[0] != "resume" {
			continue
		}
		resumed := asDsstar(args...)
		resumed.Stderr = os.Stderr
		if answer, err := resumed.Output(); err != nil || string(answer) != demoAnswer+"\n" {
			t.Errorf("killed after %v: %v, %q", at, err, answer)
			continue
		}
		checkAsked(t, run, at)
	}
	if len(notebooks) > 0 {
		validate(t, notebooks...)
	}
	t.Logf("%d runs, killed at %d moments after the notebook was there", *kills, len(notebooks))
}

// checkAsked checks that no request is in the trace twice, but for those during which the program was
// killed, and that the record counts those of a whole run.
func checkAsked(t *testing.T, run string, at []time.Duration) {
	t.Helper()
	exchanges := must(disk.ReadLines[llm.Exchange]([]byte(content(record.Folder(run).Trace()))))
	seen, twice := map[string]bool{}, 0
	for _, e := range exchanges {
		key := e.Role + " " + e.Subject + "\n" + fmt.Sprint(e.Messages)
		if seen[key] {
			twice++
		}
		seen[key] = true
	}
	if tr := readRun(t, run); len(exchanges)-twice != demoCalls || twice > len(at) ||
		tr.Usage.Calls != demoCalls || !tr.Depends() {
		t.Errorf("killed after %v: %d requests in the trace, %d in the record; %s", at, len(exchanges),
			tr.Usage.Calls, tr.Standing())
	}
}

// killAfter runs the demo, or resumes it, and kills the program after a time; killed is false if it
// ended before.
func killAfter(t *testing.T, after time.Duration, args ...string) (killed bool) {
	t.Helper()
	cmd := asDsstar(args...)
	noError(t, cmd.Start())
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	if cmd.ProcessState.Exited() && err != nil {
		t.Fatal(err)
	}
	return !cmd.ProcessState.Exited()
}
