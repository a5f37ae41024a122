package agent_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

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
	for _, name := range troubled {
		replies := simple.with(variants[name])
		whole := play(t, replies).noError(t)
		all := len(whole.model.asked)
		for most := 1; most <= all; most++ {
			if spared(most+all+len(name)) || strings.Contains(name, "read") {
				continue
			}
			p := play(t, replies, quickly, func(s *stage) { s.config.Limits.Calls = most })
			if n := len(p.model.asked); n != most || p.Usage.Calls != most {
				t.Errorf("%s: %d calls of %d, and %d are counted", name, n, most, p.Usage.Calls)
			}
			if most == all {
				equal(t, name+" with as many calls as needed", p.Standing(), whole.Standing())
				continue
			}
			p.spent(t, "max-calls")
			rest := goOn(t, replies, readAgain(t, p.Trajectory)).noError(t)
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
