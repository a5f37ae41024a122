package agent_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A moment is what a run has left on the disk when it is killed.
type moment struct {
	what     string
	notebook []byte
	answered []llm.Exchange
}

// A recorder keeps the moments of a run: after each save of the notebook, and
// after each reply that is in the trace.
type recorder struct {
	model llm.Model
	shift int // of the moments that are spared: others in each run
	mu    sync.Mutex
	last  moment
	all   []moment
}

func (r *recorder) keep(what string, change func(*moment)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.what = what
	change(&r.last)
	r.last.answered = slices.Clip(r.last.answered)
	r.all = append(r.all, r.last)
}

func (r *recorder) Ask(ctx context.Context, q llm.Request) (llm.Reply, error) {
	reply, err := r.model.Ask(ctx, q)
	if err == nil {
		r.keep("reply to the "+q.Role+" for "+q.Subject, func(m *moment) {
			m.answered = append(m.answered, llm.Exchange{
				Role: q.Role, Subject: q.Subject, Messages: q.InText().Messages, Reply: reply.Text, Model: reply.Model,
				Finish: reply.Finish, Usage: reply.Usage,
			})
		})
	}
	return reply, err
}

// record has a run recorded.
func (r *recorder) record(s *stage) {
	r.model, s.config.Model = s.config.Model, r
	watch := s.config.Observe
	s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
		var data []byte
		var err error
		if n := len(r.all); !r.spares(n) || !r.spares(n+1) || e.Kind == agent.Ended { // or of the reply that comes next
			data, err = page.Draw(tr).Encode()
		}
		r.keep("event "+string(e.Kind), func(m *moment) { m.notebook = data })
		if watch != nil {
			err = errors.Join(err, watch(e, tr))
		}
		return err
	}
}

// spares reports whether a run is not resumed from moment n.
func (r *recorder) spares(n int) bool { return spared(n + r.shift) }

// reread reads a notebook as it stands on the disk.
func reread(t reporter, data []byte) *record.Trajectory {
	t.Helper()
	return must(page.Read(must(notebook.Read(bytes.NewReader(data)))))
}

// goOn resumes a run from a record.
func goOn(t stageHand, replies script, tr *record.Trajectory, change ...func(*stage)) *played {
	t.Helper()
	return play(t, replies, append([]func(*stage){func(s *stage) { s.resume = tr }}, change...)...)
}

// same compares what two runs did, not when.
var same = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.IgnoreFields(record.Trajectory{}, "Started", "Seconds", "Warnings"),
	cmpopts.IgnoreFields(record.Round{}, "Returns"), cmpopts.IgnoreFields(record.Final{}, "Returns"),
	// a session that begins anew has none
	cmpopts.IgnoreFields(record.Proof{}, "Seconds"),
	cmpopts.IgnoreFields(notebook.Execution{}, "Seconds", "Count"),
}

type recorded struct {
	name    string
	replies script
}

var troubled = []recorded{
	{"simple", simple},
	{"back, with repairs", simple.with(script{
		"step round 2": "Two.", "step round 3": "Three.", "step round 4": "Four.",
		"cell round 2":            `raise KeyError("k")`,
		"debugger round 2, try 2": "y = 2\nx += y", "cell round 3": "x += \"3\"\nprint(x)",
		"verdict round 3": bad, "wrong round 3": "2",
		"cell round 4": "x += \"4\"\nwrite(\"f\", x)\nprint(x)", "verdict": no,
		"verdict round 4": yes,
	})},
	{"a step that never runs", simple.with(script{
		"verdict round 1": no, "cell round 2": `raise KeyError("k")`,
		"debugger": `raise ValueError("v")`, "cell round 3": "print(x)\nx += \"!\"",
		"verdict round 3": yes,
	})},
	{"a doubtful form", simple.with(script{
		"cell": "x = \"1.234\"\nprint(x)", "debugger": "y = x\ny += \"5\"\nprint(y)",
	})},
	{"a last cell that does not run", simple.with(script{
		"last": `raise KeyError("k")`, "debugger the answer, try 2": "print(\"7\")",
		"debugger the answer, try 3": "print(x)",
	})},
	{"replies that cannot be read", simple.with(script{
		"judge round 1": "hm", "judge round 1, asked again": "hm",
	})},
	{"out of rounds", simple.with(script{"verdict": no})},
	{"a mistake of the first derivation", another.with(script{
		"arbiter two answers": "Ruling: first\nReason: it counts twice\nWrong step: 1"})},
	{"a mistake of the second derivation", another.with(corrected("die()")).with(script{
		"debugger second derivation, again 1, try 2": "agreed()"})},
	{"readings", simple.with(script{"solver round 1": reads(isOpen, isOpen),
		"branches": branches("die()", "z = 1\nz"), "debugger reading 1, option 2, try 2": "z = 2\nz"})},
	{"readings in doubt", simple.with(script{"solver round 1": reads(isOpen, isOpen),
		"branches": branches("z = 1\nz", "z = 1\nz"), "branches the readings, what is in doubt": taken("w = 1\nw") +
			"\n\nBranch 2.1\nKeeps: 0\n\n```python\nw = 1\nw\n```\n\nBranch 3.2\nKeeps: 0\n\n```python\nw = 1\nw\n```"})},
	{"a difference of reading", another.with(script{"arbiter": "Ruling: reading\nReason: both can be " +
		"meant\nReading: Which count.\nOption 1: all\nOption 2: some"})},
	{"still different after two corrections", another.with(corrected("z = 3\nz"))},
	{"a ruling that cannot be read", another.with(script{"arbiter": "Hm."})},
	{"a second derivation that never runs", simple.with(script{"second": "die()", "debugger": "die()"})},
	{"a script that fails", simple.with(script{"analyzer": `raise KeyError("c")`,
		"debugger a.csv, try 2": `print("a table")`})},
}

// goOnAfter resumes a run that was killed at a moment: it ends as it would have ended, and no
// request that was answered is made again.
func goOnAfter(t *testing.T, whole *played, replies script, m moment, change ...func(*stage)) *played {
	t.Helper()
	now := func(s *stage) { s.config.Answered, s.quick = m.answered, true }
	tr := reread(t, m.notebook)
	if record.Finished(tr, whole.Task.Files, 6) && m.what != "event ended" {
		t.Errorf("after %s: it is finished", m.what)
	}
	got := goOn(t, replies, tr, append([]func(*stage){now}, change...)...).noError(t)
	for _, e := range m.answered {
		if slices.Contains(got.model.asked, e.Role+" "+e.Subject) {
			t.Errorf("after %s: the %s was asked for %s again", m.what, e.Role, e.Subject)
		}
	}
	if diff := cmp.Diff(whole.Trajectory, got.Trajectory, same); diff != "" {
		t.Errorf("after %s: it ends otherwise (-whole +resumed)\n%s", m.what, diff)
	}
	return got
}

// TestResumeWithoutTrace: the notebook alone is enough to go on from; only what it had not been
// saved with is asked again.
func TestResumeWithoutTrace(t *testing.T) {
	c := troubled[1]
	r := &recorder{}
	whole := play(t, c.replies, r.record).noError(t)
	for n, m := range r.all {
		if m.notebook == nil || spared(n) {
			continue
		}
		tr := reread(t, m.notebook)
		got := goOn(t, c.replies, tr, func(s *stage) { s.quick = true }).noError(t)
		if got.Answer() != whole.Answer() || !got.Verified() || len(got.Rounds) != len(whole.Rounds) {
			t.Errorf("after %s: answer %q, %d rounds", m.what, got.Answer(), len(got.Rounds))
		}
		const unsaved = 2
		if asked := len(got.model.asked) + len(m.answered); asked > len(whole.model.asked)+unsaved {
			t.Errorf("after %s: %d requests were answered, and then %q asked", m.what, len(m.answered),
				got.model.asked)
		}
	}
	// There is nothing to do for a run that is finished.
	got := goOn(t, script{}, whole.Trajectory).noError(t)
	if len(got.model.asked) > 0 || len(got.world.sessions) > 0 || !got.Verified() {
		t.Errorf("asked %q, %d sessions", got.model.asked, len(got.world.sessions))
	}
}
