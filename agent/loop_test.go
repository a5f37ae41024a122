package agent_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// contains and lacks check a prompt.
func contains(t reporter, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func lacks(t reporter, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q is in\n%s", part, text)
		}
	}
}

func equal(t reporter, what string, got, want any) {
	t.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// noError is for runs that get to their end.
func (p *played) noError(t reporter) *played {
	t.Helper()
	if p.err != nil {
		t.Fatalf("%v; asked %q", p.err, p.model.asked)
	}
	return p
}

// The events of a run that needs one round, and its usage.
func TestSufficientAtOnce(t *testing.T) {
	p := play(t, simple).noError(t)
	equal(t, "events", p.kinds, []agent.Kind{agent.Begun, agent.Started, agent.Described, agent.Planned,
		agent.Ran, agent.Judged, agent.Ran, agent.Finalized, agent.Branched, agent.Derived, agent.Proving, agent.Proved,
		agent.Ended})
	if p.Usage.Calls != 3 || p.Usage.InputTokens != 30 || !slices.Equal(p.Models, []string{"m1"}) {
		t.Errorf("usage %+v of %q", p.Usage, p.Models)
	}
}

// filesOf are data files of these names, which are nowhere.
func filesOf(names ...string) (all []record.File) {
	for _, name := range names {
		all = append(all, record.File{Name: name, Size: 10})
	}
	return all
}

// TestRewrittenData: what changes in the data during the run is found, whatever size and date say, and
// what only touches them is not. The record keeps the sums, by which later data are told from them.
func TestRewrittenData(t *testing.T) {
	for what, doubt := range map[string]string{"18\n": "a.csv was changed", "17\n": ""} {
		p := play(t, simple, withData(t, tables("a.csv")), func(s *stage) {
			s.quick = true
			s.model.before = func(_ context.Context, key string) error {
				if key != "second the answer" {
					return nil
				}
				path := filepath.Join(s.task.Data, "a.csv")
				info, err := os.Stat(path)
				text := must(os.ReadFile(path))
				return errors.Join(err, os.WriteFile(path, bytes.ReplaceAll(text, []byte("17\n"), []byte(what)), 0o644),
					os.Chtimes(path, info.ModTime(), info.ModTime()))
			}
		}).noError(t)
		if p.Verified() != (doubt == "") {
			t.Errorf("%q: doubts %q", what, p.Doubts())
		}
		contains(t, strings.Join(p.Doubts(), "\n"), doubt)
		now := slices.Clone(p.Task.Files)
		if now[0].Sum = strings.Repeat("0", 64); p.Task.Files[0].Sum == "" || p.DataChanges(now) == "" {
			t.Errorf("files %+v", p.Task.Files)
		}
	}
}

// TestProofUnfinished: wherever the proof has ended, the files of the run are back afterwards.
func TestProofUnfinished(t *testing.T) {
	for name, c := range map[string]struct {
		cell string
		run  func(cancel func()) error // of the script
	}{
		"the script cannot be run": {"x = 1", func(func()) error { return errors.New("no program") }},
		"interrupted":              {"x = 1", func(cancel func()) error { cancel(); return context.Canceled }},
		"a cell raises":            {"x = 1\nonce()", func(func()) error { return nil }},
	} {
		p := play(t, simple.with(script{"cell": "y = purpose()\nsave(own, y)\n" + c.cell}), func(s *stage) {
			cancel := s.cancellable(t)
			s.config.RunScript = func(ctx context.Context, dir string, limit time.Duration) (notebook.Execution, error) {
				x, err := s.world.RunScript(ctx, dir, limit)
				if x.Stdout() != "{}" { // the script of the proof
					err = c.run(cancel)
				}
				return x, err
			}
			s.config.Observe = func(e agent.Event, _ *record.Trajectory) error {
				text, _ := os.ReadFile(filepath.Join(s.config.Dir, record.FilesFolder, "own"))
				if e.Kind == agent.Ended && string(text) != "work" {
					t.Errorf("%s: the file of the run is %q", name, text)
				}
				return nil
			}
		})
		if p.Verified() || len(p.world.of(agent.Prove)) != 1 {
			t.Errorf("%s: verified %v, %d proofs", name, p.Verified(), len(p.world.of(agent.Prove)))
		}
	}
}

// cancellable gives a run a context that can be cancelled.
func (s *stage) cancellable(t *testing.T) context.CancelFunc {
	ctx, cancel := context.WithCancel(s.ctx)
	t.Cleanup(cancel)
	s.ctx = ctx
	return cancel
}

// An error that no cell can cause ends the run and is there for errors.As, wherever it comes from: the
// model, a session that does not open, or an observer, as of a full disk.
func TestErrors(t *testing.T) {
	broken := errors.New("no kernelspec")
	replies := simple.with(script{"cell round 1": "die()", "debugger": "x = 1", "verdict round 1": bad,
		"wrong round 1": "1"})
	faults := map[string]func(*stage){}
	for _, at := range play(t, replies).noError(t).model.asked {
		faults["asking "+at] = func(s *stage) {
			s.model.before = func(_ context.Context, key string) error {
				if key == at {
					return broken
				}
				return nil
			}
		}
	}
	kinds := play(t, replies).kinds
	for _, kind := range kinds[:len(kinds)-1] {
		faults["event "+string(kind)] = func(s *stage) {
			s.config.Observe = func(e agent.Event, _ *record.Trajectory) error {
				if e.Kind == kind {
					return broken
				}
				return nil
			}
		}
	}
	faults["opening for files"] = refuses(agent.Describe, broken)
	faults["opening"] = refuses(agent.Work, broken)
	faults["another one is still opening"] = func(s *stage) {
		s.world.open = func(ctx context.Context, p agent.Purpose) error {
			if p == agent.Describe {
				return broken
			}
			<-ctx.Done()
			return ctx.Err()
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

// A reply that cannot be read is asked for again, once; the request says why. Where that ends the run,
// the error has the reply.
func TestUnreadableReplies(t *testing.T) {
	p := play(t, simple.with(script{"solver": "```\nx\n```"}))
	bad, ok := errors.AsType[*ask.Error](p.err)
	if !ok || bad.Role != "solver" || bad.Subject != "round 1" || bad.Reply != "```\nx\n```" {
		t.Errorf("error %#v", p.err)
	}
	contains(t, p.model.prompt(t, "solver round 1, asked again"), "it gives no step", ask.Solutions(true).Rule)
}

// What is told to the roles of what has failed, of what is meant, and of what a person has done.
func TestTold(t *testing.T) {
	for _, c := range []struct {
		key     string
		has     []string
		replies script
	}{
		{"solver round 3", []string{"x = 1", "step 2 could not be carried out", "- Look up b.\n", "KeyError: c"},
			script{"verdict round 1": no, "step round 2": "Look up b.", "cell round 2": `raise KeyError("b")`,
				"debugger": `raise KeyError("c")`}},
		{"judge round 2", []string{"Output:\n\n```\n1\n```"},
			script{"cell round 1": "x = tick()\nprint(x)", "verdict round 1": no, "cell round 2": "die()",
				"debugger": "y = x\nprint(y)"}},
		{"debugger round 1, try 2", []string{"End it.", "it ended the session after it had run"},
			script{"step round 1": "End it.", "verdict round 1": no, "cell round 1": "x = 1\nends()\nprint(x)",
				"debugger": "x = 1\nprint(x)"}},
		{"debugger round 2, try 2", []string{"Step 2: Do", "raise KeyError", "KeyError: b", "x = 1", "before the error:\n12"},
			script{"verdict round 1": no, "cell round 2": "x += 2\nprint(x)\nraise KeyError(\"b\")", "debugger": "x += 3"}},
		{"debugger the answer, try 2", []string{"typed in", "this form: A value."},
			script{"last": "print(42)", "debugger": "print(x)"}},
		{"debugger the answer, try 2", []string{"its form asks for 2 decimals"}, unfit.with(script{"debugger": "print(y)"})},
		{"solver round 2", []string{"Which of 1 count.\n  Taken: all"}, variants["branches that keep steps"]},
		{"solver round 4", []string{"Two.", "the total is wrong", "Three.", "123"},
			three.with(script{"verdict round 3": bad, "wrong round 3": "2", "cell": "print(x)", "verdict round 4": yes, "last": "print(x)"})},
		{"branches the readings", []string{"Branch 1.2: some", "Branch 2.2: some", "Taken: all"},
			variants["branches that keep steps"]},
		{"solver round 2", []string{"leave open what is meant", "the total is wrong"}, variants["readings of a new plan"]},
	} {
		p := play(t, simple.with(c.replies)).noError(t)
		contains(t, p.model.prompt(t, c.key), c.has...)
	}
}
