package agent_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/notebook"
)

// steps are the accepted cells of the plan, without the agent's own and the last.
func (p *played) steps() []string {
	cells := p.Cells()[2:]
	return cells[:min(p.Steps(), len(cells))]
}

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

// dropped checks that a prompt lists a dropped step with its reason.
func dropped(t reporter, text, step, reason string) {
	t.Helper()
	line := "- " + step + "\n"
	if !strings.Contains(text, "not answer the question yet, and says:\n\n```\n"+reason+"\n```") { // a reason that stands above is not told twice
		line += "  Dropped with this reason:\n\n```\n" + reason + "\n```"
	}
	if !strings.Contains(text, line) {
		t.Errorf("%q is not listed as dropped for %q in\n%s", step, reason, text)
	}
}

func equal(t reporter, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
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

func TestSufficientAtOnce(t *testing.T) {
	p := play(t, simple).noError(t)
	equal(t, "events", p.kinds, []agent.Kind{
		agent.Begun, agent.Started, agent.Described, agent.Estimated, agent.Planned, agent.Ran, agent.Judged,
		agent.Checked, agent.Ran, agent.Finalized, agent.Proving, agent.Proved, agent.Ended,
	})
	equal(t, "requests", p.model.asked, []string{
		"analyzer a.csv", "planner round 1", "coder round 1", "verifier round 1", "finalizer the answer", "checker the answer",
	})
	if !p.Verified() || p.Answer() != "1" || len(p.Warnings) > 0 || p.world.rollbacks > 0 {
		t.Errorf("verified %v, answer %q, warnings %q, %d rollbacks", p.Verified(), p.Answer(), p.Warnings, p.world.rollbacks)
	}
	if p.Usage.Calls != 6 || p.Usage.InputTokens != 60 || !slices.Equal(p.Models, []string{"m1"}) {
		t.Errorf("usage %+v of %q", p.Usage, p.Models)
	}
}

func TestAddStep(t *testing.T) {
	p := play(t, simple.with(script{
		"verifier round 1": no, "coder round 2": "y = x\ny += 2\nprint(y)", "finalizer": "print(y)",
	})).noError(t)
	equal(t, "plan", p.Plan(), []int{0, 1})
	if p.Answer() != "12" || !p.Verified() || p.world.rollbacks > 0 {
		t.Errorf("answer %q, verified %v, %d rollbacks", p.Answer(), p.Verified(), p.world.rollbacks)
	}
}

// A route to step l keeps the steps 1..l-1 and nothing else of the rest: no
// variable, no change in place, no file (Algorithm 1, lines 18 to 25).
func TestStepIsWrong(t *testing.T) {
	p := play(t, simple.with(script{
		"verifier": no, "verifier round 4": yes,
		"coder round 2": "x += 2\nwrite(\"f\", x)\nprint(x)", "coder round 3": "y = x\nprint(y)", "router round 3": "Step 2",
		"planner round 2": "Change x.", "planner round 3": "Copy x.",
		"coder round 4": "z = x\nprint(z)", "finalizer": "print(z)",
	})).noError(t)
	equal(t, "plan", p.Plan(), []int{0, 3})
	equal(t, "cells", p.steps(), []string{"x = 1\nprint(x)", "z = x\nprint(z)"})
	if p.Answer() != "1" || !p.Verified() || p.Steps() != 2 || len(p.Rounds) != 4 || p.world.rollbacks != 1 {
		t.Errorf("answer %q, %d steps, %d rounds, %d rollbacks", p.Answer(), p.Steps(), len(p.Rounds), p.world.rollbacks)
	}
	if files := p.world.of(agent.Work)[0].files; len(files) > 0 {
		t.Errorf("files are left: %v", files)
	}
	equal(t, "route", p.Rounds[2].Route, &record.Route{Back: 2, Reason: "the total"})
	planner := p.model.prompt(t, "planner round 4")
	contains(t, planner, "x = 1", "```\n12\n```")
	dropped(t, planner, "Change x.", "the total")
	dropped(t, planner, "Copy x.", "the total")
	lacks(t, planner, "x += 2", "y = x")
	routed := p.events[slices.Index(p.kinds, agent.WentBack)-1]
	if routed.Kind != agent.Routed || routed.Round != 3 || routed.Step != 3 {
		t.Errorf("before it went back: %+v", routed)
	}
}

// After the last round nothing is routed; the answer is the best there is.
func TestBoundOfRounds(t *testing.T) {
	p := play(t, simple.with(script{"verifier": no}), func(s *stage) { s.config.MaxRounds = 3 }).noError(t)
	if len(p.Rounds) != 3 || p.model.count("router") != 2 || p.Rounds[2].Route != nil {
		t.Errorf("%d rounds, %d routes, the last one %v", len(p.Rounds), p.model.count("router"), p.Rounds[2].Route)
	}
	if p.Answer() != "1" || p.Sufficient() || p.Verified() || p.Proof == nil || !p.Proof.Same {
		t.Errorf("answer %q, sufficient %v, verified %v, proof %+v", p.Answer(), p.Sufficient(), p.Verified(), p.Proof)
	}
}

// A repaired cell runs on what the accepted cells give, not on what the failing
// one left.
func TestRepairedCell(t *testing.T) {
	for _, fault := range []struct{ name, statement, report string }{
		{"exception", `raise KeyError("b")`, "KeyError: b"},
		{"death", "die()", "the kernel died"},
		{"time-out", "hang()", "ran longer than 60 s"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			bad := "x += 2\nwrite(\"f\", x)\nprint(x)\n" + fault.statement
			p := play(t, simple.with(script{
				"verifier round 1": no, "coder round 2": bad,
				"debugger round 2, try 2": "y = read(\"f\")", "debugger round 2, try 3": "x += 3\nprint(x)",
			})).noError(t)
			equal(t, "cells", p.steps(), []string{"x = 1\nprint(x)", "x += 3\nprint(x)"})
			if p.Answer() != "13" || !p.Verified() || p.world.rollbacks != 2 {
				t.Errorf("answer %q, verified %v, %d rollbacks", p.Answer(), p.Verified(), p.world.rollbacks)
			}
			contains(t, p.model.prompt(t, "debugger round 2, try 2"), "Step 2: Do", bad, fault.report, "a table", "x = 1", "Printed before the error:\n12")
			contains(t, p.model.prompt(t, "debugger round 2, try 3"), "FileNotFoundError")
			if n := len(p.Rounds[1].Attempts); n != 3 {
				t.Errorf("%d attempts are in the record", n)
			}
		})
	}
}

// A step that no try carries out is dropped without a verdict or a route of the
// model's.
func TestStepThatFails(t *testing.T) {
	p := play(t, simple.with(script{
		"verifier round 1": no, "planner round 2": "Look up b.",
		"coder round 2": `raise KeyError("b")`, "debugger": `raise KeyError("c")`,
	})).noError(t)
	equal(t, "plan", p.Plan(), []int{0, 2})
	if n := len(p.Rounds[1].Attempts); n != 3 || p.model.count("debugger") != 2 {
		t.Errorf("%d attempts, %d repairs", n, p.model.count("debugger"))
	}
	if slices.Contains(p.model.asked, "verifier round 2") || slices.Contains(p.model.asked, "router round 2") {
		t.Errorf("asked %q", p.model.asked)
	}
	contains(t, p.model.prompt(t, "planner round 3"), "step 2 could not be carried out", "x = 1")
	dropped(t, p.model.prompt(t, "planner round 3"), "Look up b.", "KeyError: c")
	contains(t, p.model.prompt(t, "coder round 3"), "Step 2: Do")
}

// What was accepted before is answered from, also when the last round's step
// was dropped.
func TestLastStepFails(t *testing.T) {
	p := play(t, simple.with(script{"verifier": no, "coder round 2": `raise KeyError("b")`, "debugger": "hang()"}),
		func(s *stage) { s.config.MaxRounds = 2 }).noError(t)
	if p.Answer() != "1" || p.Sufficient() || p.Steps() != 1 {
		t.Errorf("answer %q, sufficient %v, %d steps, warnings %q", p.Answer(), p.Sufficient(), p.Steps(), p.Warnings)
	}
}

func TestNoStepWorks(t *testing.T) {
	p := play(t, simple.with(script{"coder": "die()", "debugger": "die()"}))
	if p.err == nil || p.Answer() != "" || len(p.Rounds) != 6 || p.model.count("finalizer") > 0 || p.model.count("debugger") != 12 {
		t.Errorf("error %v, %d rounds, asked %q", p.err, len(p.Rounds), p.model.asked)
	}
}

func TestUnreadableReplies(t *testing.T) {
	cases := []struct {
		name    string
		replies script
		check   func(*played) bool
		warned  string
	}{
		{"a reply that is read when asked again", script{"verifier round 1": "Hm.", "verifier round 1, asked again": yes},
			func(p *played) bool { return p.Verified() && len(p.Rounds) == 1 }, ""},
		{"a reply that was cut off", script{"coder round 1": "cut:x = 1", "coder round 1, asked again": "x = 2\nprint(x)"},
			func(p *played) bool { return p.Answer() == "2" }, ""},
		{"a verdict that was cut off", script{"verifier round 1": "cut:" + yes, "verifier round 1, asked again": "cut:" + yes},
			func(p *played) bool { return len(p.Rounds) == 2 && !p.Rounds[0].Verdict.Sufficient }, "verifier's reply"},
		{"verifier", script{"verifier": "It is as it is."},
			func(p *played) bool { return !p.Sufficient() && p.Answer() == "1" && len(p.Rounds) == 6 }, "verifier's reply"},
		{"router", script{"verifier round 1": no, "router": "Step 9"},
			func(p *played) bool { return slices.Equal(p.Plan(), []int{0, 1}) && p.Verified() }, "it names step 9"},
		{"coder", script{"coder round 1": "raw:I would rather not.", "coder round 1, asked again": "raw:No."},
			func(p *played) bool {
				return slices.Equal(p.Plan(), []int{1}) && len(p.Rounds[0].Attempts) == 0 && p.Verified() &&
					strings.Contains(p.model.texts["planner round 2"], "it has no code block")
			}, ""},
		{"debugger", script{"coder round 1": "die()", "debugger": "raw:No."},
			func(p *played) bool { return slices.Equal(p.Plan(), []int{1}) && len(p.Rounds[0].Attempts) == 1 }, ""},
		{"finalizer", script{"finalizer": "raw:The answer is 1."},
			func(p *played) bool { return p.Sufficient() && p.Answer() == "" && p.Proof == nil && !p.Verified() }, "no usable answer"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple.with(c.replies)).noError(t)
			if !c.check(p) {
				t.Errorf("plan %v of %d rounds, answer %q, asked %q", p.Plan(), len(p.Rounds), p.Answer(), p.model.asked)
			}
			if warned := strings.Join(p.Warnings, "\n"); !strings.Contains(warned, c.warned) || (c.warned == "") != (warned == "") {
				t.Errorf("warnings %q, want %q", p.Warnings, c.warned)
			}
		})
	}
	t.Run("planner", func(t *testing.T) {
		p := play(t, simple.with(script{"planner": "```\nx\n```"}))
		bad, ok := errors.AsType[*reply.Error](p.err)
		if !ok || bad.Role != "planner" || bad.Subject != "round 1" || bad.Reply != "```\nx\n```" {
			t.Errorf("error %#v", p.err)
		}
		contains(t, p.model.prompt(t, "planner round 1, asked again"), "it has code in it", "Reply with the step alone")
	})
	t.Run("planner of a later round", func(t *testing.T) {
		p := play(t, simple.with(script{"verifier": no, "planner round 2": "", "planner round 2, asked again": ""})).noError(t)
		if len(p.Rounds) != 1 || p.Answer() == "" || p.Verified() {
			t.Errorf("%d rounds, answer %q, verified %v", len(p.Rounds), p.Answer(), p.Verified())
		}
	})
}

func TestDescriptions(t *testing.T) {
	cases := []struct {
		name    string
		replies script
		want    record.Description
	}{
		{"at once", script{}, record.Description{Text: "a table", Code: `print("a table")`, Tries: 1}},
		{"repaired", script{"analyzer": `raise KeyError("b")`, "debugger": `print("mended")`},
			record.Description{Text: "mended", Code: `print("mended")`, Tries: 2}},
		{"after the kernel's death", script{"analyzer": "die()", "debugger": `print("mended")`},
			record.Description{Text: "mended", Code: `print("mended")`, Tries: 2}},
		{"after a time-out", script{"analyzer": "hang()", "debugger": `print("mended")`},
			record.Description{Text: "mended", Code: `print("mended")`, Tries: 2}},
		{"never", script{"analyzer": "die()", "debugger": `raise KeyError("c")`},
			record.Description{Error: "KeyError: c", Code: `raise KeyError("c")`, Tries: 3}},
		{"nothing printed", script{"analyzer": "x = 1", "debugger": `print(" ")`},
			record.Description{Error: "its script printed nothing", Code: `print(" ")`, Tries: 3}},
		{"no code", script{"analyzer": "raw:no"},
			record.Description{Error: "the analyzer's reply for a.csv could not be used: it has no code block"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple.with(c.replies)).noError(t)
			c.want.File, c.want.Near = "a.csv", 1
			got := p.Descriptions[0]
			failed := c.want.Tries
			if c.want.Error == "" {
				failed--
			}
			if len(got.Failed) != failed {
				t.Errorf("%d failed scripts are kept of %d", len(got.Failed), failed)
			}
			got.Failed = nil
			equal(t, "description", got, c.want)
			shown := c.want.Text
			if shown == "" {
				shown = "No description: " + c.want.Error
			}
			contains(t, p.model.prompt(t, "planner round 1"), shown)
			if !p.Verified() {
				t.Error("the run did not go on")
			}
		})
	}
}

// Scripts leave nothing to one another, and no two share a kernel at once.
func TestManyFiles(t *testing.T) {
	p := play(t, simple.with(script{
		"analyzer e.csv": "a = 1\ndie()", "debugger e.csv, try 2": "a = 1\nprint(a)",
		"analyzer f.csv": "print(a)", "debugger f.csv, try 2": "print(a)", "debugger f.csv, try 3": "print(a)",
	}), func(s *stage) {
		s.config.Jobs, s.task.Files = 3, nil
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			s.task.Files = append(s.task.Files, record.File{Name: name + ".csv", Size: 1})
		}
		s.task.Files = append(s.task.Files, record.File{Name: "empty.csv"})
	}).noError(t)
	for i, want := range []string{"a table", "a table", "a table", "a table", "1", "", "The file is empty: it has 0 bytes."} {
		if d := p.Descriptions[i]; d.Text != want || d.File != p.Task.Files[i].Name || (d.Error != "") != (want == "") {
			t.Errorf("%+v, want %q", d, want)
		}
	}
}

func TestFinalizer(t *testing.T) {
	cases := []struct {
		name    string
		replies script
		answer  string
		repair  string // what the debugger was told
	}{
		{"trimmed", script{"coder": "x = \"  a\\nb \"\nprint(x)"}, "a\nb", ""},
		{"empty, repaired", script{"finalizer": "y = x", "debugger": "print(x)"}, "1", "printed nothing"},
		{"constant, repaired", script{"finalizer": "print(42)", "debugger": "print(x)"}, "1", "prints a constant"},
		{"text, repaired", script{"finalizer": `print("x")`, "debugger": "print(x)"}, "1", "prints a constant"},
		{"failing, repaired", script{"finalizer": "x += 5\nprint(q)", "debugger": "print(x)"}, "1", "NameError"},
		{"constant for ever", script{"finalizer": "print(42)", "debugger": "print(42)"}, "", "prints a constant"},
		{"death for ever", script{"finalizer": "die()", "debugger": "die()"}, "", "the kernel died"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple.with(c.replies)).noError(t)
			if p.Answer() != c.answer || p.Verified() != (c.answer != "") || !p.Sufficient() {
				t.Errorf("answer %q, verified %v", p.Answer(), p.Verified())
			}
			if c.repair != "" {
				contains(t, p.model.prompt(t, "debugger the answer, try 2"), c.repair, "in this form: A number.")
			}
			if c.answer == "" && (len(p.Final.Attempts) != 3 || len(p.Warnings) != 1 || p.Proof != nil || len(p.Cells()) != 3) {
				t.Errorf("%d attempts, warnings %q, proof %v, cells %q", len(p.Final.Attempts), p.Warnings, p.Proof, p.Cells())
			}
		})
	}
}

func TestProof(t *testing.T) {
	cases := []struct{ name, coder, final, answer, reason string }{
		{"same", "x = 1", "print(x)", "1", ""},
		{"another answer", "x = purpose()", "print(x)", "work", "the fresh session printed another answer: prove"},
		{"a cell that runs once", "x = 1\nonce()", "print(x)", "1", "cell 3 of 4 failed in the fresh session: RuntimeError"},
		{"a script with another answer", "x = tick()", "y = x\nprint(tick())", "2", "another answer"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple.with(script{"coder": c.coder, "finalizer": c.final})).noError(t)
			if p.Answer() != c.answer || p.Verified() != (c.reason == "") || !strings.Contains(p.Proof.Reason, c.reason) {
				t.Errorf("answer %q, verified %v, proof %+v", p.Answer(), p.Verified(), p.Proof)
			}
			if last := p.events[len(p.events)-2]; last.Kind != agent.Proved || last.Text != p.Proof.Reason {
				t.Errorf("last event %+v", last)
			}
			if len(p.world.of(agent.Prove)) != 1 || len(p.world.of(agent.Work)) != 1 {
				t.Error("the proof had no session of its own")
			}
		})
	}
}

// The script is plain Python: what works in both sessions may fail there.
func TestProofOfScript(t *testing.T) {
	for _, c := range []struct {
		name   string
		ran    notebook.Execution
		err    error
		reason string
	}{
		{"same", ran(notebook.OK, "more\n  1 \n", "a warning"), nil, ""},
		{"fails", ran(notebook.Raised, "1\n", "Traceback\n  ...\nSyntaxError: magic\n"), nil, "the script failed in plain Python: SyntaxError: magic"},
		{"another answer", ran(notebook.OK, "2\n", ""), nil, "the script printed another answer, at the end of: 2"},
		{"an answer that ends the same", ran(notebook.OK, "11\n", ""), nil, "the script printed another answer, at the end of: 11"},
		{"the answer is not last", ran(notebook.OK, "1\n2\n", ""), nil, "the script printed another answer, at the end of: 2"},
		{"does not end", ran(notebook.TimedOut, "1\n", ""), nil, "the script ran for more than 60 s, far longer than the cells"},
		{"not run", notebook.Execution{}, errors.New("no program"), "the script could not be run: no program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple, func(s *stage) {
				s.config.RunScript = func(context.Context, string, time.Duration) (notebook.Execution, error) { return c.ran, c.err }
			}).noError(t)
			if p.Verified() != (c.reason == "") || p.Proof.Reason != c.reason || p.Proof.Unable != (c.err != nil) {
				t.Errorf("verified %v, proof %+v", p.Verified(), p.Proof)
			}
		})
	}
}

// TestProofFiles: the proof has a files/ of its own in the run folder. Afterwards that of the run is back, unless the
// session of the proof stays.
func TestProofFiles(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		var folder record.Folder
		content := func(t *testing.T) string {
			data, err := os.ReadFile(filepath.Join(folder.Files(), "made-by"))
			if err != nil {
				t.Error(err)
			}
			return string(data)
		}
		p := play(t, simple, func(s *stage) {
			folder = record.Folder(s.config.Dir)
			s.config.Open = func(ctx context.Context, purpose agent.Purpose, dir string) (agent.Session, error) {
				opened, err := s.world.Open(ctx, purpose, dir)
				if purpose == agent.Describe || err != nil {
					return opened, err
				}
				if dir != s.config.Dir {
					t.Errorf("the session of purpose %d is opened in %s", purpose, dir)
				}
				_, there := os.Stat(folder.Files())
				if purpose == agent.Prove && !errors.Is(there, fs.ErrNotExist) {
					t.Error("the proof finds the files of the run")
				}
				err = errors.Join(os.MkdirAll(folder.Files(), 0o755),
					os.WriteFile(filepath.Join(folder.Files(), "made-by"), []byte(map[agent.Purpose]string{agent.Work: "work", agent.Prove: "proof"}[purpose]), 0o600))
				if lasting {
					return &lastingSession{Session: opened}, err
				}
				return opened, err
			}
			s.config.Observe = func(e agent.Event, _ *record.Trajectory) error {
				if is, want := "", map[bool]string{false: "work", true: "proof"}[lasting]; e.Kind == agent.Ended {
					if is = content(t); is != want {
						t.Errorf("lasting %v: the files are of the %s", lasting, is)
					}
				}
				return nil
			}
		}).noError(t)
		if !p.Verified() {
			t.Errorf("proof %+v", p.Proof)
		}
	}
}

// A proof that does not come to its end leaves the files of the run, also where its session would have stayed: that
// session ends.
func TestProofUnfinished(t *testing.T) {
	for _, c := range []struct {
		name  string
		coder string
		run   func(cancel func()) error // of the script
	}{
		{"the script cannot be run", "x = 1\nprint(x)", func(func()) error { return errors.New("no program") }},
		{"interrupted", "x = 1\nprint(x)", func(cancel func()) error { cancel(); return context.Canceled }},
		{"a cell raises", "x = 1\nonce()\nprint(x)", func(func()) error { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var folder record.Folder
			var fresh *lastingSession
			p := play(t, simple.with(script{"coder": c.coder}), func(s *stage) {
				folder = record.Folder(s.config.Dir)
				ctx, cancel := context.WithCancel(s.ctx)
				t.Cleanup(cancel)
				s.ctx = ctx
				s.config.Open = func(ctx context.Context, purpose agent.Purpose, dir string) (agent.Session, error) {
					opened, err := s.world.Open(context.WithoutCancel(ctx), purpose, dir)
					if purpose == agent.Describe || err != nil {
						return opened, err
					}
					last := &lastingSession{Session: opened}
					if purpose == agent.Prove {
						fresh = last
					}
					return last, errors.Join(os.MkdirAll(folder.Files(), 0o755), os.WriteFile(filepath.Join(folder.Files(), strconv.Itoa(int(purpose))), nil, 0o600))
				}
				s.config.RunScript = func(context.Context, string, time.Duration) (notebook.Execution, error) {
					return ran(notebook.OK, "1\n", ""), c.run(cancel)
				}
				s.config.Observe = func(e agent.Event, _ *record.Trajectory) error {
					if e.Kind == agent.Ended {
						folderHas(t, s.config.Dir, "files/"+strconv.Itoa(int(agent.Work)))
					}
					return nil
				}
			})
			if p.Verified() || fresh == nil || !fresh.ended {
				t.Errorf("verified %v, session of the proof %+v", p.Verified(), fresh)
			}
		})
	}
}

// folderHas fails the test unless the files in dir, those in folders of it included, are these.
func folderHas(t *testing.T, dir string, want ...string) {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	equal(t, "files", names, want)
}

// TestKilledInProof: a run that was killed during its proof has its files back when it goes on, if it can be told which
// they were, and what was being removed is removed.
func TestKilledInProof(t *testing.T) {
	for _, c := range []struct{ name, before, after, warning string }{
		{"in the proof", ".dsstar-files-X/work files/proof", "files/work", ""},
		{"after it", ".dsstar-old-X/work files/proof", "files/proof", ""},
		{"two", ".dsstar-files-X/a .dsstar-files-Y/b files/c", ".dsstar-files-X/a .dsstar-files-Y/b files/c", "more than one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple, func(s *stage) {
				for _, name := range strings.Fields(c.before) {
					path := filepath.Join(s.config.Dir, name)
					if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
						t.Fatal(err)
					}
				}
				if c.warning == "" {
					_ = os.Chmod(filepath.Join(s.config.Dir, ".dsstar-files-X"), 0) // if it is there: so is a proof's
				}
				s.config.Observe = func(e agent.Event, _ *record.Trajectory) error {
					if e.Kind == agent.Started {
						folderHas(t, s.config.Dir, strings.Fields(c.after)...)
					}
					return nil
				}
			}).noError(t)
			if got := strings.Join(p.Warnings, "; "); (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) {
				t.Errorf("warnings: %s", got)
			}
		})
	}
}

// A lastingSession stays when it is closed. Its End is once, and no Close follows.
type lastingSession struct {
	agent.Session
	ended bool
}

func (s *lastingSession) End() error {
	s.ended = true
	return s.Session.Close()
}

// The record holds what the accepted cells gave last, as later cells build on it.
func TestReplayPrintsSomethingElse(t *testing.T) {
	p := play(t, simple.with(script{
		"coder round 1": "x = tick()\nprint(x)", "verifier round 1": no,
		"coder round 2": "die()", "debugger": "y = x\nprint(y)",
	})).noError(t)
	if out := p.Rounds[0].Attempts[0].Execution.Stdout(); out != "2\n" {
		t.Errorf("step 1 printed %q in the record", out)
	}
	equal(t, "warnings", p.Warnings, []string{"step 1 printed something else when it was run again"})
	contains(t, p.model.prompt(t, "verifier round 2"), "Output:\n\n```\n2\n```")
}

// An accepted step that does not run a second time is dropped with all after it.
func TestReplayFails(t *testing.T) {
	base := simple.with(script{"coder round 2": "x = 2\nonce()\nprint(x)", "planner round 2": "Run once.", "verifier": no, "verifier round 5": yes})
	cases := []struct {
		name    string
		replies script
		plan    []int
	}{
		{"after a failing cell", script{"coder round 4": "die()", "debugger": "print(x)"}, []int{0, 4}},
		{"after a step without a cell", script{"coder round 4": "die()", "debugger": "raw:no"}, []int{0, 4}},
		{"after a route", script{"router round 4": "Step 4"}, []int{0, 4}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, base.with(c.replies)).noError(t)
			equal(t, "plan", p.Plan(), c.plan)
			reason := "step 2 ran before, but failed when it was run again: RuntimeError: once() a second time"
			equal(t, "warnings", p.Warnings, []string{reason})
			dropped(t, p.model.prompt(t, "planner round 5"), "Run once.", reason)
			if p.Answer() != "1" || !p.Verified() {
				t.Errorf("answer %q, verified %v, rounds %d", p.Answer(), p.Verified(), len(p.Rounds))
			}
		})
	}
	t.Run("for the last cell", func(t *testing.T) {
		p := play(t, simple.with(script{
			"coder round 2": "x = 2\nonce()\nprint(x)", "verifier round 1": no, "finalizer": "die()", "debugger": "print(x)",
		})).noError(t)
		if p.Verified() || p.Answer() != "" || p.Sufficient() {
			t.Errorf("answer %q, verified %v, sufficient %v", p.Answer(), p.Verified(), p.Sufficient())
		}
	})
}

func TestCancel(t *testing.T) {
	for _, at := range []string{"analyzer a.csv", "planner round 1", "verifier round 2", "finalizer the answer"} {
		t.Run("in "+at, func(t *testing.T) {
			p := play(t, simple.with(script{"verifier round 1": no}), func(s *stage) {
				ctx, cancel := context.WithCancel(s.ctx)
				s.ctx = ctx
				s.model.before = func(ctx context.Context, key string) error {
					if key == at {
						cancel()
						<-ctx.Done()
					}
					return ctx.Err()
				}
			})
			if !errors.Is(p.err, context.Canceled) || p.Verified() || p.model.asked[len(p.model.asked)-1] != at {
				t.Errorf("error %v after %q", p.err, p.model.asked)
			}
		})
	}
	for name, replies := range map[string]script{
		"description": {"analyzer": "wait()"}, "cell": {"verifier round 1": no, "coder round 2": "wait()"}, "last cell": {"finalizer": "wait()\nprint(x)"},
	} {
		t.Run("in a "+name, func(t *testing.T) {
			p := play(t, simple.with(replies), func(s *stage) {
				ctx, cancel := context.WithCancel(s.ctx)
				s.ctx = ctx
				s.world.inCell = func(ctx context.Context) error {
					cancel()
					<-ctx.Done()
					return ctx.Err()
				}
			})
			if !errors.Is(p.err, context.Canceled) || (name != "description" && len(p.Rounds[0].Attempts) != 1) {
				t.Errorf("error %v, rounds %+v", p.err, p.Rounds)
			}
		})
	}
	t.Run("before it begins", func(t *testing.T) {
		p := play(t, simple, func(s *stage) {
			ctx, cancel := context.WithCancel(s.ctx)
			cancel()
			s.ctx = ctx
		})
		if !errors.Is(p.err, context.Canceled) || len(p.model.asked) > 0 {
			t.Errorf("error %v after %q", p.err, p.model.asked)
		}
	})
}

// An error that no cell can cause ends the run and is there for errors.As.
func TestErrors(t *testing.T) {
	for _, at := range []string{"analyzer a.csv", "planner round 1", "coder round 1", "debugger round 1, try 2", "verifier round 1", "router round 1", "finalizer the answer"} {
		t.Run(at, func(t *testing.T) {
			p := play(t, simple.with(script{"coder round 1": "die()", "debugger": "x = 1", "verifier round 1": no}), func(s *stage) {
				s.model.before = func(_ context.Context, key string) error {
					if key == at {
						return &llm.StatusError{Status: 402, Provider: "acme", Message: "pay"}
					}
					return nil
				}
			})
			if refused, ok := errors.AsType[*llm.StatusError](p.err); !ok || refused.Status != 402 || !strings.Contains(p.Failure, "pay") {
				t.Errorf("error %v, failure %q", p.err, p.Failure)
			}
		})
	}
	broken := errors.New("no kernelspec")
	for name, purpose := range map[string]agent.Purpose{"describe": agent.Describe, "work": agent.Work} {
		t.Run("open to "+name, func(t *testing.T) {
			p := play(t, simple, func(s *stage) {
				s.world.open = func(_ context.Context, p agent.Purpose) error {
					if p == purpose {
						return broken
					}
					return nil
				}
			})
			if !errors.Is(p.err, broken) || p.Verified() {
				t.Errorf("error %v", p.err)
			}
		})
	}
	// The answer is there by then; it is not proved.
	t.Run("open to prove", func(t *testing.T) {
		p := play(t, simple, func(s *stage) {
			s.world.open = func(_ context.Context, p agent.Purpose) error {
				if p == agent.Prove {
					return broken
				}
				return nil
			}
		})
		if p.err != nil || p.Verified() || p.Answer() == "" || !strings.Contains(p.Proof.Reason, "no kernelspec") {
			t.Errorf("error %v, answer %q, proof %+v", p.err, p.Answer(), p.Proof)
		}
	})
	// A session that is still opening does not keep a run that has failed.
	t.Run("while sessions open", func(t *testing.T) {
		p := play(t, simple, func(s *stage) {
			s.world.open = func(ctx context.Context, p agent.Purpose) error {
				if p == agent.Work {
					<-ctx.Done()
				}
				return ctx.Err()
			}
			s.model.before = func(_ context.Context, key string) error {
				if key == "analyzer a.csv" {
					return broken
				}
				return nil
			}
		})
		if !errors.Is(p.err, broken) {
			t.Errorf("error %v", p.err)
		}
		// Nor does that of the proof, where the script cannot be run.
		p = play(t, simple, func(s *stage) {
			s.world.open = func(ctx context.Context, p agent.Purpose) error {
				if p == agent.Prove {
					<-ctx.Done()
				}
				return ctx.Err()
			}
			s.config.RunScript = func(context.Context, string, time.Duration) (notebook.Execution, error) {
				return notebook.Execution{}, broken
			}
		}).noError(t)
		if !p.Proof.Unable {
			t.Errorf("proof %+v", p.Proof)
		}
	})
}

// An observer's error, such as a full disk, ends the run at once.
func TestObserverFails(t *testing.T) {
	full := errors.New("no space left on device")
	whole := simple.with(script{"verifier round 1": no, "router round 1": "Step 1"})
	kinds := play(t, whole).kinds
	for _, kind := range kinds[:len(kinds)-1] {
		t.Run(string(kind), func(t *testing.T) {
			p := play(t, whole, func(s *stage) {
				s.config.Observe = func(e agent.Event, _ *record.Trajectory) error {
					if e.Kind == kind {
						return full
					}
					return nil
				}
			})
			first := slices.Index(p.kinds, kind)
			if !errors.Is(p.err, full) || len(p.kinds) != first+2 {
				t.Errorf("error %v, events %v", p.err, p.kinds)
			}
		})
	}
}

// The events carry the round, the step and the try, for whoever shows progress.
func TestEvents(t *testing.T) {
	p := play(t, simple.with(script{
		"verifier round 1": no, "verifier round 2": no, "router round 2": "Step 2",
		"coder round 2": "die()", "debugger": "y = x", "planner round 3": "The third.",
	})).noError(t)
	type event struct {
		Kind             agent.Kind
		Round, Step, Try int
		Text             string
	}
	var got []event
	for _, e := range p.events {
		if (e.Kind == agent.Ran) != (e.Execution != nil) {
			t.Errorf("%s with the execution %v", e.Kind, e.Execution)
		}
		if e.Round > 1 && e.Kind != agent.Judged && len(got) < 8 {
			got = append(got, event{e.Kind, e.Round, e.Step, e.Try, e.Text})
		}
	}
	want := []event{
		{agent.Planned, 2, 2, 0, "Do the next thing."}, {agent.Ran, 2, 2, 1, "the kernel died"}, {agent.WentBack, 2, 2, 0, "by replay"},
		{agent.Ran, 2, 2, 2, ""}, {agent.Routed, 2, 2, 0, "the total"}, {agent.WentBack, 2, 2, 0, "by replay"},
		{agent.Planned, 3, 2, 0, "The third."}, {agent.Ran, 3, 2, 1, ""},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// The same loop over HTTP, with an endpoint that speaks the OpenAI protocol.
func TestOverHTTP(t *testing.T) {
	block := func(code string) string { return "Here it is:\n\n```python\n" + code + "\n```\n" }
	server := llmtest.New(t, llmtest.Script(
		block(`print("a table")`), "**Step 1:** Load.", block("x = 1\nprint(x)"), no, "Add Step",
		"Step 2: Copy.", block("y = x"), "<think>Hm.</think>"+yes, block("print(y)"), "Form: fits",
	))
	m, err := llm.Endpoint{Provider: "acme", BaseURL: server.URL, Model: "m1"}.Open()
	if err != nil {
		t.Fatal(err)
	}
	p := play(t, nil, func(s *stage) { s.config.Model = m }).noError(t)
	if p.Answer() != "1" || !p.Verified() || p.Usage.Calls != 10 || p.Rounds[0].Step != "Load." {
		t.Errorf("answer %q, verified %v, %d calls, step %q", p.Answer(), p.Verified(), p.Usage.Calls, p.Rounds[0].Step)
	}
	first := server.Requests()[0].Messages
	contains(t, first[0].Text, "Python 3.12.1 with pandas 2.2")
}
