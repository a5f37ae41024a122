package agent_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// TestUnfit: an answer in another form than is asked for is not verified, nor is one that is none,
// nor one whose sentences say another number, whoever agrees. Where the data hold no answer, nothing
// else is one.
func TestUnfit(t *testing.T) {
	const q, none = "What is the value?", "Verdict: no answer\nReason: no shop is in Bremen"
	for _, c := range []struct{ question, form, verdict, answer, summary, doubt string }{
		{"Save it as counts.csv.", "", yes, "counts.csv", "", "counts.csv"},
		// these are no answers
		{q, "", yes, "nan", "", "no answer"},
		{q, "", yes, "Empty DataFrame\nColumns: [a]\nIndex: []", "", "no answer"},
		{q, "", yes, "<generator object f at 0x7f12>", "", "no answer"},
		{q, "", yes, "[]", "", ""},
		{q, "a number, or None if there is none", yes, "None", "", ""},
		{q, "", yes, "North, nan, 5", "", ""},
		// the data hold none
		{q, `A number, or "so none".`, none, "Not Applicable", "", ""},
		{q, `A number, or "so none".`, none, "so none", "", ""},
		{q, `A number, or "so none".`, none, "nan", "", ""},
		{q, `A number, or "so none".`, none, "182 orders", "", "the data"},
		// the sentences
		{q, "", yes, "11963.04", "It is 1.00 euros, by 200 orders.", "summary"},
		{q, "", yes, "North", "It is North, with 40 orders.", ""},
	} {
		last := "print(x)\ny"
		p := play(t, simple.with(script{"cell": "x = " + strconv.Quote(c.answer) + "\ny = " +
			strconv.Quote(c.summary) + "\nsave(other.csv, x)\nprint(200)", "last": last, "debugger": last,
			"arbiter": "Ruling: same\nReason: a word", "verdict": c.verdict}), asking(c.question, c.form), quickly).noError(t)
		if p.Answer() != c.answer || p.Verified() != (c.doubt == "") {
			t.Errorf("%q: answer %q, doubts %q", c.form, p.Answer(), p.Doubts())
		}
		if said := strings.Contains(c.summary, c.answer); (p.Summary() != "") != said {
			t.Errorf("the summary of %s is %q", p.Answer(), p.Summary())
		}
		contains(t, strings.Join(p.Doubts(), "\n"), c.doubt)
	}
}

// TestRewrittenData: what changes in the data during the run is found, whatever size and date say, and
// what only touches them is not. The record keeps the sums, by which later data are told from them.
func TestRewrittenData(t *testing.T) {
	for what, doubt := range map[string]string{"18\n": "a.csv was changed", "17\n": ""} {
		p := play(t, simple, withData(t, tables("a.csv")), quickly, func(s *stage) {
			s.model.before = func(_ context.Context, key string) error {
				path := filepath.Join(s.task.Data, "a.csv")
				info, text := must(os.Stat(path)), must(os.ReadFile(path))
				if key == "second the answer" {
					text = bytes.ReplaceAll(text, []byte("17\n"), []byte(what))
				}
				return errors.Join(os.WriteFile(path, text, 0o644), os.Chtimes(path, info.ModTime(), info.ModTime()))
			}
		}).noError(t)
		contains(t, strings.Join(p.Doubts(), "\n"), doubt)
		now := slices.Clone(p.Task.Files)
		if now[0].Sum = strings.Repeat("0", 64); p.Verified() != (doubt == "") || p.Task.Files[0].Sum == "" || p.DataChanges(now) == "" {
			t.Errorf("%q: doubts %q, files %+v", what, p.Doubts(), p.Task.Files)
		}
	}
}

// TestMoreTime: a cell that ran for too long runs again if it has more time, and only then.
func TestMoreTime(t *testing.T) {
	hangs := of(simple.with(script{"cell": "hang()", "debugger": "x = 1\nprint(x)"}))
	for limit, again := range map[time.Duration]bool{0: false, time.Hour: true} {
		p := hangs.on(nil, simple, func(s *stage) { s.config.CellTimeout = limit }).play(t)
		equal(t, limit.String(), slices.Contains(p.ranCells(), "hang()"), again)
	}
}

// TestSecondIsApart: it runs on what the set-up leaves, in a session of its own if there can be
// one, and nothing of it stays; in somebody else's session no branch leaves anything either.
func TestSecondIsApart(t *testing.T) {
	for _, alone := range []bool{false, true} {
		p := play(t, three.with(script{"second": "x = 123\nx"}), func(s *stage) { s.config.Alone = alone }).noError(t)
		cells, rolled := p.Cells(), p.world.of(agent.Work)[0].rolled
		if alone {
			equal(t, "the session goes back to", rolled[len(rolled)-2:], [][]string{cells[:2], cells})
		} else {
			equal(t, "it begins with", p.world.of(agent.Second)[0].ran[:2], cells[:2])
			equal(t, "times that the run's session went back", len(rolled), 0)
		}
		if s := p.Second; !p.Verified() || s.Answer != "123" || s.Together != alone {
			t.Errorf("%q, %+v", p.Doubts(), s)
		}
		lacks(t, strings.Join(cells, "\n"), "x = 123")
	}
	p := play(t, open.with(script{"second": "w = 3\nagreed()"}), hosted).noError(t)
	work := p.world.of(agent.Work)[0]
	equal(t, "the last state", work.rolled[len(work.rolled)-1], p.Cells()[:len(p.Cells())-1])
	if work.vars["w"] != "" || work.vars["x"] != "1" || p.OpenReadings()[0].Options[1].Answer != "2" || !p.Second.Agrees {
		t.Errorf("%v, %+v, %+v", work.vars, p.Readings, p.Second)
	}
}

// TestBaseline: another method is stopped and goes on. What it has asked and run is in the journal, and
// what a cell that raised has done stays.
func TestBaseline(t *testing.T) {
	work := func(ctx context.Context, d *agent.Desk) (string, bool, error) {
		for _, cell := range []string{"x = 1\nraise KeyError(\"x\")", "print(x)"} {
			_, err := d.Run(ctx, "I look.", cell)
			if err != nil {
				return "", false, err
			}
			step, err := ask.Role(ctx, d.Asker(), ask.Request{Role: "planner", Subject: cell,
				Words: func() []prompts.Part { return []prompts.Part{prompts.PaperCoder{Step: cell}} }}, ask.Step)
			if err = errors.Join(err, d.Note(step, "")); err != nil {
				return "", false, err
			}
		}
		return "1", true, nil
	}
	gone := errors.New("gone")
	other := func(s *stage) {
		s.quick, s.config.Baseline = true, &agent.Baseline{Answer: work, System: prompts.Workplace{}}
		s.config.Method = record.Method{Agent: "other"}
		s.model.before = func(_ context.Context, key string) error {
			return map[bool]error{true: gone}[s.resume == nil && key == "planner print(x)"]
		}
	}
	p := play(t, published, other)
	q := goOn(t, published, p.Trajectory, other).noError(t)
	first := q.Rounds[0].Accepted()
	if !errors.Is(p.err, gone) || q.Answer() != "1" || q.Verified() || !q.Sufficient() || !first.Kept || q.Steps() != 2 {
		t.Errorf("%v, and then the record is %+v", p.err, q.Rounds)
	}
	if !slices.Equal(q.model.asked, []string{"planner print(x)"}) || q.world.sessions != nil {
		t.Errorf("asked again: %v, sessions %v", q.model.asked, q.world.sessions)
	}
}

// TestErrors has the events of a run. An error that no cell can cause ends the run and is there for errors.As, wherever it comes from: the
// model, a session that does not open, or an observer, as of a full disk.
func TestErrors(t *testing.T) {
	broken := errors.New("no kernelspec")
	replies := simple.with(script{"cell round 1": "die()", "debugger": "x = 1", "verdict round 1": bad,
		"wrong round 1": "1"})
	failing := func(is bool) error { return map[bool]error{true: broken}[is] }
	faults := map[string]func(*stage){"opening for files": refuses(agent.Describe, broken),
		"opening": refuses(agent.Work, broken)}
	whole := play(t, replies).noError(t)
	equal(t, "events", whole.kinds, []agent.Kind{agent.Begun, agent.Started, agent.Described, agent.Planned,
		agent.Ran, agent.WentBack, agent.Ran, agent.Judged, agent.Routed, agent.Planned, agent.WentBack, agent.Ran, agent.Judged,
		agent.Ran, agent.Finalized, agent.Branched, agent.Derived, agent.Proving, agent.Proved, agent.Ended})
	for _, at := range whole.model.asked {
		faults["asking "+at] = func(s *stage) {
			s.model.before = func(_ context.Context, key string) error { return failing(key == at) }
		}
	}
	for _, kind := range whole.kinds[:len(whole.kinds)-1] {
		faults["event "+string(kind)] = func(s *stage) {
			s.config.Observe = func(e agent.Event, _ *record.Trajectory) error { return failing(e.Kind == kind) }
		}
	}
	faults["another one is still opening"] = func(s *stage) {
		s.world.open = func(ctx context.Context, p agent.Purpose) error {
			if p != agent.Describe {
				<-ctx.Done()
			}
			return cmp.Or(ctx.Err(), broken)
		}
	}
	for name, change := range faults {
		p := play(t, replies, change)
		kind, saved := strings.CutPrefix(name, "event ")
		if !errors.Is(p.err, broken) || saved && string(p.kinds[len(p.kinds)-2]) != kind {
			t.Errorf("%s: error %v, events %v", name, p.err, p.kinds)
		}
	}
}

// spent checks that a run has ended because of a limit. What holds for every
// run, such as that its notebook is valid and its sessions are closed, is checked
// by play.
func (p *played) spent(t reporter, flag string) {
	t.Helper()
	b, ok := errors.AsType[*ask.BudgetError](p.err)
	if !ok || b.Flag != flag || b.Most == "" || !strings.Contains(p.Failure, b.Most) || p.Verified() {
		t.Errorf("error %#v, failure %q, want %s", p.err, p.Failure, flag)
	}
}

// Exactly as many calls are made as are allowed, wherever the run then stands: in a repair, or between
// readings, derivations and rulings. Nothing is verified then, and the run goes on where it stopped.
func TestMaxCalls(t *testing.T) {
	for _, name := range append(slices.Clip(troubled), "the paper") {
		replies, as := simple.with(variants[name]), func(*stage) {}
		if name == "the paper" {
			replies, as = published, asPublished
		}
		whole := play(t, replies, as).noError(t)
		all := len(whole.model.asked)
		for most := 1; most <= all; most++ {
			if name != "the paper" && spared(most+all+len(name)) || strings.Contains(name, "read") {
				continue
			}
			p := play(t, replies, as, quickly, func(s *stage) { s.config.Limits.Calls = most })
			if n := len(p.model.asked); n != most || p.Usage.Calls != most {
				t.Errorf("%s: %d calls of %d, and %d are counted", name, n, most, p.Usage.Calls)
			}
			if most == all {
				equal(t, name+" with as many calls as needed", p.Standing(), whole.Standing())
				continue
			}
			p.spent(t, "max-calls")
			rest := goOn(t, replies, readAgain(p.Trajectory)).noError(t)
			if rest.Answer() != whole.Answer() || rest.Standing() != whole.Standing() {
				t.Errorf("%s, after %d calls: answer %q, %q", name, most, rest.Answer(), rest.Doubts())
			}
			equal(t, name+": requests", append(p.model.asked, rest.model.asked...), whole.model.asked)
		}
	}
}

// TestMaxCost: no call is made once the limit is reached. Of a role without a price no cost is known.
func TestMaxCost(t *testing.T) {
	for most, asked := range map[float64]int{2: 2, 3: 3, 0: 3} {
		p := play(t, simple, func(s *stage) {
			s.config.Limits.Cost = most
			s.config.Price = func(role string) (llm.Price, bool) {
				return llm.Price{Input: 1e5}, most > 0 || role != "judge" // 10 tokens are a dollar
			}
		})
		if len(p.model.asked) != asked || (p.Cost == nil) != (most == 0) || p.Cost != nil && *p.Cost != most || p.ByRole["solver"].Calls != 1 {
			t.Errorf("at most %v: asked %q for %v, by role %+v", most, p.model.asked, p.Cost, p.ByRole)
		}
		if most == 2 {
			p.spent(t, "max-cost")
		}
	}
}

// The time may end anywhere: in a model call, in a cell of any session.
func TestMaxTime(t *testing.T) {
	const last = "wait()\nprint(x)"
	for _, c := range []struct {
		at      string // a request that waits
		replies script
		nth     int // call of wait() that does
	}{
		{"solver round 1", nil, 0}, {"judge round 2", nil, 0}, {"second the answer", nil, 0},
		{"", script{"cell round 2": "wait()"}, 1},
		{"", script{"cell round 1": "wait()\nx = 1\nprint(x)", "cell round 2": "die()"}, 2}, // it is run again
		{"", script{"last": last}, 1},
		{"", script{"second": "wait()\nagreed()"}, 1},
		{"", script{"last": last}, 2}, // in the proof
		{"", script{"last": last}, 3}, // in the script
	} {
		synctest.Test(t, func(t *testing.T) {
			waits := func(ctx context.Context, here bool) error {
				if here {
					<-ctx.Done()
				}
				return ctx.Err()
			}
			replies := simple.with(script{"verdict round 1": no, "debugger": "print(x)"}).with(c.replies)
			p := play(t, replies, func(s *stage) {
				s.config.Limits.Time = time.Minute
				s.model.before = func(ctx context.Context, key string) error { return waits(ctx, key == c.at) }
				s.world.inCell = func(ctx context.Context) error {
					c.nth--
					return waits(ctx, c.nth == 0)
				}
			})
			if p.spent(t, "max-time"); p.Seconds.Total != 60 {
				t.Errorf("it ended after %v s, in %s", p.Seconds.Total, p.model.asked[len(p.model.asked)-1])
			}
		})
	}
}
