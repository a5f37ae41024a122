package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
)

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
	mended := simple.with(script{
		"verdict round 1": no, "cell round 2": "print(q)", "debugger round 2, try 2": "y = x\nprint(y)", "last": "print(42)",
		"debugger the answer, try 2": "print(y)",
	})
	runs := map[string]script{"mended": mended}
	for name, replies := range troubled {
		if strings.Contains(name, "reading") || strings.Contains(name, "derivation") {
			runs[name] = replies
		}
	}
	for name, replies := range runs {
		whole := play(t, replies).noError(t)
		all := len(whole.model.asked)
		for most := 1; most <= all; most++ {
			if name != "mended" && spared(most+all) {
				continue
			}
			p := play(t, replies, func(s *stage) { s.quick, s.config.Limits.Calls = true, most })
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

func TestMaxCost(t *testing.T) {
	for _, c := range []struct {
		most     float64
		unpriced string
		asked    int
		cost     float64 // 0: it is not known
	}{{2, "", 2, 2}, {3, "", 3, 3}, {0, "judge", 3, 0}} {
		p := play(t, simple, func(s *stage) {
			s.config.Limits.Cost = c.most
			s.config.Price = func(role string) (llm.Price, bool) {
				return llm.Price{Input: 1e5}, role != c.unpriced // 10 tokens are a dollar
			}
		})
		if len(p.model.asked) != c.asked || (p.Cost == nil) != (c.cost == 0) || p.Cost != nil && *p.Cost != c.cost {
			t.Errorf("at most %v: asked %q for %v", c.most, p.model.asked, p.Cost)
		}
		if c.asked < 3 {
			p.spent(t, "max-cost")
		} else if p.noError(t); p.ByRole["solver"].Calls != 1 || len(p.ByRole) != 3 {
			t.Errorf("by role %+v", p.ByRole)
		}
	}
}

// The time may end anywhere: in a model call, in a cell of any session.
func TestMaxTime(t *testing.T) {
	limited := func(name string, replies script, change func(*stage)) {
		t.Run("in "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				replies := simple.with(script{"verdict round 1": no, "debugger": "print(x)"}).with(replies)
				p := play(t, replies, change, func(s *stage) { s.config.Limits.Time = time.Minute })
				if p.spent(t, "max-time"); p.Seconds.Total != 60 {
					t.Errorf("it ended after %v s, in %s", p.Seconds.Total, p.model.asked[len(p.model.asked)-1])
				}
			})
		})
	}
	for _, at := range []string{"solver round 1", "judge round 2", "second the answer"} {
		limited(at, nil, func(s *stage) {
			s.model.before = func(ctx context.Context, key string) error {
				if key == at {
					<-ctx.Done()
				}
				return ctx.Err()
			}
		})
	}
	for _, c := range []struct {
		name    string
		replies script
		nth     int // call of wait()
	}{
		{"a cell", script{"cell round 2": "wait()"}, 1},
		{"a cell that is run again",
			script{"cell round 1": "wait()\nx = 1\nprint(x)", "cell round 2": "die()"}, 2},
		{"the last cell", script{"last": "wait()\nprint(x)"}, 1},
		{"the second derivation", script{"second": "wait()\nagreed()"}, 1},
		{"the proof", script{"last": "wait()\nprint(x)"}, 2},
		{"the script", script{"last": "wait()\nprint(x)"}, 3},
	} {
		limited(c.name, c.replies, func(s *stage) {
			n := 0
			s.world.inCell = func(ctx context.Context) error {
				if n++; n == c.nth {
					<-ctx.Done()
				}
				return ctx.Err()
			}
		})
	}
}
