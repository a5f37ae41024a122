package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/agent/record"
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

// Exactly as many calls are made as are allowed, wherever the run then stands.
func TestMaxCalls(t *testing.T) {
	replies := simple.with(script{
		"analyzer": "die()", "debugger": `print("mended")`, "verifier round 1": no, "router round 1": "Hm.", "coder round 2": "print(q)",
		"debugger round 2, try 2": "y = x\nprint(y)", "finalizer": "print(42)", "debugger the answer, try 2": "print(y)",
	})
	all := len(play(t, replies).noError(t).model.asked)
	for most := 1; most <= all; most++ {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			p := play(t, replies, func(s *stage) { s.config.Limits.Calls = most })
			if n := len(p.model.asked); n != most || p.Usage.Calls != most {
				t.Errorf("%d calls, and %d are counted", n, p.Usage.Calls)
			}
			if most < all {
				p.spent(t, "max-calls")
			} else if p.err != nil || !p.Verified() {
				t.Errorf("with as many calls as needed: %v", p.err)
			}
		})
	}
}

// Calls that are under way count: eight at once do not overshoot.
func TestMaxCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := play(t, simple, func(s *stage) {
			s.config.Limits.Calls, s.task.Files = 5, nil
			for i := range 12 {
				s.task.Files = append(s.task.Files, record.File{Name: fmt.Sprintf("%d.csv", i), Size: 1})
			}
			s.model.before = func(context.Context, string) error { time.Sleep(time.Second); return nil }
		})
		if n := len(p.model.asked); n != 5 {
			t.Errorf("%d calls", n)
		}
		p.spent(t, "max-calls")
	})
}

func TestMaxCost(t *testing.T) {
	dollar := func(without string) func(string) (llm.Price, bool) {
		return func(role string) (llm.Price, bool) { return llm.Price{Input: 1e5}, role != without } // 10 tokens are a dollar
	}
	t.Run("spent", func(t *testing.T) {
		p := play(t, simple, func(s *stage) { s.config.Price, s.config.Limits.Cost = dollar(""), 3 })
		p.spent(t, "max-cost")
		if len(p.model.asked) != 3 || p.Cost == nil || *p.Cost != 3 {
			t.Errorf("asked %q for %v", p.model.asked, p.Cost)
		}
	})
	t.Run("enough", func(t *testing.T) {
		p := play(t, simple, func(s *stage) { s.config.Price, s.config.Limits.Cost = dollar(""), 6 }).noError(t)
		if p.Cost == nil || *p.Cost != 6 || p.ByRole["coder"].Calls != 1 || len(p.ByRole) != 6 {
			t.Errorf("cost %v, by role %+v", p.Cost, p.ByRole)
		}
	})
	t.Run("a role without a price", func(t *testing.T) {
		p := play(t, simple, func(s *stage) { s.config.Price = dollar("verifier") }).noError(t)
		if p.Cost != nil {
			t.Errorf("the cost %v lacks a part", *p.Cost)
		}
	})
	t.Run("no prices", func(t *testing.T) {
		if p := play(t, simple).noError(t); p.Cost != nil {
			t.Errorf("cost %v", *p.Cost)
		}
	})
}

// The time may end anywhere: in a model call, in a cell of any session.
func TestMaxTime(t *testing.T) {
	limit := func(s *stage) { s.config.Limits.Time = time.Minute }
	for _, at := range []string{"analyzer a.csv", "planner round 1", "coder round 2", "router round 1", "finalizer the answer", "checker the answer"} {
		t.Run("in "+at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := play(t, simple.with(script{"verifier round 1": no}), limit, func(s *stage) {
					s.model.before = func(ctx context.Context, key string) error {
						if key == at {
							<-ctx.Done()
						}
						return ctx.Err()
					}
				})
				p.spent(t, "max-time")
				if last := p.model.asked[len(p.model.asked)-1]; last != at || p.Seconds.Total != 60 {
					t.Errorf("it ended after %v in %s", p.Seconds.Total, last)
				}
			})
		})
	}
	for _, c := range []struct {
		name    string
		replies script
		nth     int // call of wait()
	}{
		{"description", script{"analyzer": "wait()"}, 1}, {"cell", script{"coder round 2": "wait()"}, 1},
		{"cell that is run again", script{"coder round 1": "wait()\nx = 1\nprint(x)", "coder round 2": "die()"}, 2},
		{"last cell", script{"finalizer": "wait()\nprint(x)"}, 1}, {"proof", script{"finalizer": "wait()\nprint(x)"}, 2},
		{"script", script{"finalizer": "wait()\nprint(x)"}, 3},
	} {
		t.Run("in a "+c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := play(t, simple.with(script{"verifier round 1": no, "debugger": "print(x)"}).with(c.replies), limit, func(s *stage) {
					n := 0
					s.world.inCell = func(ctx context.Context) error {
						if n++; n == c.nth {
							<-ctx.Done()
						}
						return ctx.Err()
					}
				})
				p.spent(t, "max-time")
			})
		})
	}
	t.Run("not reached", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := play(t, simple, limit, func(s *stage) {
				s.model.before = func(context.Context, string) error { time.Sleep(9 * time.Second); return nil }
			}).noError(t)
			if p.Seconds.Total != 54 || p.Seconds.Model != 54 {
				t.Errorf("seconds %+v", p.Seconds)
			}
		})
	})
	t.Run("cancelled before", func(t *testing.T) {
		p := play(t, simple, limit, func(s *stage) {
			ctx, cancel := context.WithCancel(s.ctx)
			cancel()
			s.ctx = ctx
		})
		if b := (*ask.BudgetError)(nil); errors.As(p.err, &b) || !errors.Is(p.err, context.Canceled) {
			t.Errorf("error %v", p.err)
		}
	})
}

// What the rounds may cost is told once, before the first one.
func TestEstimate(t *testing.T) {
	estimate := func(p *played) string {
		t.Helper()
		at := slices.Index(p.kinds, agent.Estimated)
		if at < 0 || slices.Contains(p.kinds[at+1:], agent.Estimated) || slices.Index(p.kinds, agent.Planned) < at || slices.Contains(p.kinds[at:], agent.Described) {
			t.Fatalf("events %v", p.kinds)
		}
		return p.events[at].Text
	}
	short := estimate(play(t, simple.with(script{"verifier round 1": no})).noError(t))
	contains(t, short, "2 to 6 rounds: 10 to 28 model calls", "thousand input tokens")
	lacks(t, short, "dollars", "\n")
	priced := estimate(play(t, simple, func(s *stage) {
		s.config.Price = func(string) (llm.Price, bool) { return llm.Price{Input: 10, Cached: 1, Output: 30}, true }
	}).noError(t))
	contains(t, priced, "US dollars")
}
