package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook/disk"
)

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
	early := 0
	for n := range *kills {
		run := filepath.Join(t.TempDir(), fmt.Sprintf("run-%d", n))
		args := []string{"demo", "--quiet", "--out", run}
		var at []time.Duration
		for killed := true; killed && len(at) < 1+n%3; {
			at = append(at, rand.N(whole))
			killed = killAfter(t, at[len(at)-1], args...)
			if _, err := os.Stat(record.Folder(run).Notebook()); err != nil {
				early++
				break // the run had not started
			}
			readRun(t, run)
			copied := filepath.Join(t.TempDir(), fmt.Sprintf("%d-%d.ipynb", n, len(at)))
			if data, err := os.ReadFile(record.Folder(run).Notebook()); err != nil ||
				os.WriteFile(copied, data, 0o644) != nil {
				t.Fatal(err)
			}
			notebooks = append(notebooks, copied)
			args = []string{"resume", "--quiet", run} // with the recorded replies
		}
		if args[0] != "resume" {
			continue
		}
		resumed := asDsstar(args...)
		answer, err := resumed.Output()
		if err != nil || string(answer) != demoAnswer+"\n" {
			t.Errorf("killed after %v: %v, %q\n%s", at, err, answer, stderrOf(err))
			continue
		}
		checkAsked(t, run, at)
	}
	if len(notebooks) > 0 {
		validate(t, notebooks...)
	}
	t.Logf("%d runs, killed at %d moments, %d of them before the notebook was there", *kills,
		len(notebooks)+early, early)
}

// checkAsked checks that no request is in the trace twice, but for those during which the program was
// killed, and that the record counts those of a whole run.
func checkAsked(t *testing.T, run string, at []time.Duration) {
	t.Helper()
	exchanges, err := disk.ReadLines[llm.Exchange]([]byte(content(t, record.Folder(run).Trace())))
	if err != nil {
		t.Fatal(err)
	}
	seen, twice := map[string]bool{}, 0
	for _, e := range exchanges {
		key := e.Role + " " + e.Subject + "\n" + fmt.Sprint(e.Messages)
		if seen[key] {
			twice++
		}
		seen[key] = true
	}
	whole, err := disk.ReadLines[llm.Exchange](demoTrace)
	if tr := readRun(t, run); err != nil || len(exchanges)-twice != len(whole) || twice > len(at) ||
		tr.Usage.Calls != len(whole) ||
		!tr.Depends() {
		t.Errorf(
			"killed after %v: %d requests in the trace, %d in the record, %d in a whole run; %s",
			at,
			len(exchanges),
			tr.Usage.Calls,
			len(whole),
			tr.Standing(),
		)
	}
}

// killAfter runs the demo, or resumes it, and kills the program after a time; killed is false if it
// ended before.
func killAfter(t *testing.T, after time.Duration, args ...string) (killed bool) {
	t.Helper()
	cmd := asDsstar(args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	timer.Stop()
	if cmd.ProcessState.Exited() && err != nil {
		t.Fatal(err)
	}
	return !cmd.ProcessState.Exited()
}

func stderrOf(err error) string {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}
