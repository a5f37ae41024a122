package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/journal"
	"dsstar/agent/record"
)

// A turn of a recorded run: a person does something with its notebook, and it goes on.
type turn struct {
	does    act // nil: the run begins, or goes on
	replies script
	change  func(*stage)
	whole   bool // it is not killed: what its cells do, or whether more is tried, depends on that
}

// An act is what a person does with a run.
type act func(*testing.T, *record.Trajectory) *record.Trajectory

// goes is what a turn leaves: its requests and warnings, each question's answer, what it is worth
// and the readings that matter, and what Run All runs behind the set-up.
func goes(p *played) string {
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(p.model.asked, "; "))
	for _, w := range p.Warnings {
		fmt.Fprintln(&b, "warning:", w)
	}
	for k := range p.Questions {
		part := p.Part(k)
		fmt.Fprintf(&b, "answer %d: %q, %s\n", k+1, part.Answer(), part.Standing())
		for _, d := range part.Doubts() {
			fmt.Fprintf(&b, "  %s\n", d)
		}
		if part.Proof != nil && part.Proof.Notes != nil {
			fmt.Fprintf(&b, "  note: %s\n", strings.Join(part.Proof.Notes, "; "))
		}
		for _, r := range part.OpenReadings() {
			for n, o := range r.Options {
				if n != r.Chosen || o.Problem != "" {
					fmt.Fprintf(&b, "    or %s: %q %s\n", o.Text, o.Answer, o.Problem)
				} else {
					fmt.Fprintf(&b, "    %s\n", o.Text)
				}
			}
		}
		if part.Final != nil {
			for _, f := range part.Final.Files {
				fmt.Fprintf(&b, "  %s: %q\n", f.Name, f.Text)
			}
		}
	}
	if p.err != nil {
		fmt.Fprintf(&b, "stopped: %v\n", p.err)
	}
	return b.String() + "\n" + strings.Join(p.Cells()[min(2, len(p.Cells())):], "\n# %%\n") + "\n\n"
}

// TestGolden: the runs of all recordings are as they were, also those that are killed after any
// event and resumed. -update writes what they are now.
func TestGolden(t *testing.T) {
	once(t)
	for name, turns := range allRecordings() {
		t.Run(name, func(t *testing.T) {
			file := recordingOf(name)
			got := goldenOf(t, turns, spared)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
				t.Errorf("%v (-recorded +now)\n%s", err, diff)
			}
		})
	}
}

// recordingOf returns the file of a recording.
func recordingOf(name string) string {
	return filepath.Join("testdata/golden", strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(name)+".txt")
}

// goldenOf plays the turns, each also from every moment at which it may be killed and that is not spared.
func goldenOf(t *testing.T, turns []turn, spared func(int) bool) string {
	var b strings.Builder
	var tr *record.Trajectory
	for n, now := range turns {
		var change []func(*stage)
		if now.change != nil {
			change = append(change, now.change)
		}
		r := &recorder{shift: len(now.replies), spared: spared}
		if n > 0 {
			tr = readAgain(t, tr)
		}
		if now.does != nil {
			tr = now.does(t, tr)
			journal.Drop(tr.Journal, "cell", agrees) // with another answer
		}
		var files []record.File // all that are there
		p := play(t, now.replies, append(change, r.record, func(s *stage) {
			s.resume, s.each, files = tr, true, s.task.Files
		})...)
		fmt.Fprintf(&b, "== turn %d: %s", n+1, goes(p))
		for i, m := range r.all {
			begun := n == 0 && len(turns) > 1 // as other recordings begin, too
			if m.notebook == nil || r.spares(i) || p.err != nil || now.whole || begun {
				continue
			}
			q := goOnAfter(t, p, now.replies, m, change...)
			if len(q.model.asked)+len(m.asked) > len(p.model.asked) {
				t.Errorf("turn %d, killed after %s: it asks anew", n+1, m.what)
			}
		}
		again := readAgain(t, p.Trajectory)
		if p.err == nil && (len(again.Edits()) > 0 || !record.Finished(again, files, 6) && again.Verified()) {
			t.Errorf("turn %d: it is not finished, or seems to be edited: %q", n+1, again.Edits())
		}
		tr = p.Trajectory
	}
	return b.String()
}
