package agent_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsstar/agent"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A moment is what a run has left on the disk when it is killed.
type moment struct {
	what     string
	notebook []byte   // nil: it is spared
	asked    []string // of the model
}

// A recorder keeps the moments of a run, one for each time that the notebook is saved.
type recorder struct {
	shift  int // of the moments that are spared: others in each run
	spared func(int) bool
	all    []moment
}

// record has a run recorded.
func (r *recorder) record(s *stage) {
	watch := s.config.Observe
	s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
		m, err := moment{what: "event " + string(e.Kind)}, error(nil)
		if !r.spares(len(r.all)) || e.Kind == agent.Ended {
			m.notebook, err = page.Draw(tr).Encode()
			s.model.mu.Lock()
			m.asked = slices.Clone(s.model.asked)
			s.model.mu.Unlock()
		}
		r.all = append(r.all, m)
		return errors.Join(err, watch(e, tr))
	}
}

// spares reports whether a run is not resumed from moment n.
func (r *recorder) spares(n int) bool {
	if r.spared == nil {
		return spared(n + r.shift)
	}
	return r.spared(n + r.shift)
}

// reread reads a notebook as it stands on the disk.
func reread(t reporter, data []byte) *record.Trajectory {
	t.Helper()
	return must(page.Read(must(notebook.Read(bytes.NewReader(data)))))
}

// goOn resumes a run from a record.
func goOn(t reporter, replies script, tr *record.Trajectory, change ...func(*stage)) *played {
	t.Helper()
	return play(t, replies, append([]func(*stage){func(s *stage) { s.resume = tr }}, change...)...)
}

// killed plays a run that is killed at an event, and returns what it has left on the disk; at one
// that does not come, it ends.
func killed(t reporter, at int, change func(*stage)) (left *record.Trajectory, was bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := play(t, nil, change, func(s *stage) {
		watch := s.config.Observe
		s.quick, s.ctx = true, ctx
		s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
			err := watch(e, tr)
			if at--; at == 0 {
				left = readAgain(t, tr)
				cancel()
			}
			return err
		}
	})
	if left != nil {
		return left, true
	}
	return p.Trajectory, false
}

// same compares what two runs did, not when.
var same = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.IgnoreFields(record.Trajectory{}, "Started", "Seconds", "Warnings", "Journal"),
	// a session that begins anew has none
	cmpopts.IgnoreFields(record.Proof{}, "Seconds"),
	cmpopts.IgnoreFields(notebook.Execution{}, "Seconds", "Count"),
}

// troubled are recordings of one turn, which other tests stop or take from a stranger.
var troubled = map[string]script{
	"simple": simple,
	"back, with repairs": simple.with(script{
		"step round 2": "Two.", "step round 3": "Three.", "step round 4": "Four.",
		"cell round 2":            `raise KeyError("k")`,
		"debugger round 2, try 2": "y = 2\nx += y", "cell round 3": "x += \"3\"\nprint(x)",
		"verdict round 3": bad, "wrong round 3": "2",
		"cell round 4": "x += \"4\"\nprint(x)", "verdict": no,
		"verdict round 4": yes,
	}),
	"a step that never runs": simple.with(script{
		"verdict round 1": no, "cell round 2": `raise KeyError("k")`,
		"debugger": `raise ValueError("v")`, "cell round 3": "print(x)\nx += \"!\"",
		"verdict round 3": yes,
	}),
	"a doubtful form": simple.with(script{
		"cell": "x = \"1.234\"\nprint(x)", "debugger": "y = x\ny += \"5\"\nprint(y)",
	}),
	"a last cell that does not run": simple.with(script{
		"last": `raise KeyError("k")`, "debugger the answer, try 2": "print(\"7\")",
		"debugger the answer, try 3": "print(x)",
	}),
	"replies that cannot be read": simple.with(script{
		"judge round 1": "hm", "judge round 1, asked again": "hm",
	}),
	"out of rounds": simple.with(script{"verdict": no}),
	"a mistake of the first derivation": another.with(script{
		"arbiter two answers": "Ruling: first\nReason: it counts twice\nWrong step: 1"}),
	"a mistake of the second derivation": another.with(corrected("die()")).with(script{
		"debugger second derivation, again 1, try 2": "agreed()"}),
	"readings": simple.with(script{"solver round 1": reads(isOpen, isOpen),
		"branches": branches("die()", "z = 1\nz"), "debugger reading 1, option 2, try 2": "z = 2\nz"}),
	"readings in doubt": simple.with(script{"solver round 1": reads(isOpen, isOpen),
		"branches": branches("z = 1\nz", "z = 1\nz"), "branches the readings, what is in doubt": taken("w = 1\nw") +
			"\n\nBranch 2.1\nKeeps: 0\n\n```python\nw = 1\nw\n```\n\nBranch 3.2\nKeeps: 0\n\n```python\nw = 1\nw\n```"}),
	"a difference of reading": another.with(script{"arbiter": "Ruling: reading\nReason: both can be " +
		"meant\nReading: Which count.\nOption 1: all\nOption 2: some"}),
	"still different after two corrections": another.with(corrected("z = 3\nz")),
	"a ruling that cannot be read":          another.with(script{"arbiter": "Hm."}),
	"a second derivation that never runs":   simple.with(script{"second": "die()", "debugger": "die()"}),
	"a script that fails": simple.with(script{"analyzer": `raise KeyError("c")`,
		"debugger a.csv, try 2": `print("a table")`}),
}

// goOnAfter resumes a run that was killed at a moment: it ends as it would have ended, and no
// request that was answered is made again.
func goOnAfter(t *testing.T, whole *played, replies script, m moment, change ...func(*stage)) *played {
	t.Helper()
	tr := reread(t, m.notebook)
	if record.Finished(tr, whole.Task.Files, 6) && m.what != "event ended" {
		t.Errorf("after %s: it is finished", m.what)
	}
	got := goOn(t, replies, tr, append([]func(*stage){func(s *stage) { s.quick = true }}, change...)...).noError(t)
	for _, asked := range m.asked {
		if slices.Contains(got.model.asked, asked) {
			t.Errorf("after %s: %q was asked again", m.what, asked)
		}
	}
	if diff := cmp.Diff(whole.Trajectory, got.Trajectory, same); diff != "" {
		t.Errorf("after %s: it ends otherwise (-whole +resumed)\n%s", m.what, diff)
	}
	return got
}
