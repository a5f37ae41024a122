package agent_test

import (
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
)

// sizes is a run whose cells and second derivation have a value of the question.
var sizes = simple.with(script{"cell": "x = \"31\"\nprint(x)", "second": "z = \"31\"\nz"})

// drafted plays a question from the run of another one.
func drafted(t *testing.T, asked string, replies script, change ...func(*stage)) *played {
	t.Helper()
	first := play(t, sizes, about("How many of size 31 are there?")).noError(t)
	draft := agent.DraftFrom(first.Trajectory, asked)
	if draft == nil {
		t.Fatal("there is no draft")
	}
	return play(t, replies, append(change, about(asked), func(s *stage) { s.config.Draft = draft })...)
}

func about(question string) func(*stage) {
	return func(s *stage) { s.task.Question = question }
}

// judgeOnly has no replies but the verdict.
var judgeOnly = script{"analyzer": simple["analyzer"], "verdict": yes, "last": "print(x)"}

// TestDraft: a question of the same form needs the judge only, who is told what was replaced.
func TestDraft(t *testing.T) {
	p := drafted(t, "how many of size 42 are there", judgeOnly).noError(t)
	if p.Answer() != "42" || !p.Verified() || p.model.count("judge") != 1 || p.model.count("solver")+p.model.count("second") > 0 {
		t.Errorf("answer %q, %s: %q; asked %q", p.Answer(), p.Standing(), p.Doubts(), p.model.asked)
	}
	if said := p.InWords(); strings.Contains(said, "independently") {
		t.Error(said)
	}
	contains(t, p.model.prompt(t, "judge round 1"), "How many of size 31 are there?", "31 → 42")
	if m := p.Derivations().Memory; m.Varied != 1 || m.Calls == 0 || !p.Reused() {
		t.Errorf("memory %+v", m)
	}
}

// TestDraftRejected: what the judge rejects, or does not run, is thought anew, and derived a second
// time by a request.
func TestDraftRejected(t *testing.T) {
	anew := sizes.with(script{"cell": "x = \"7\"\nprint(x)", "second": "z = \"7\"\nz"})
	for name, replies := range map[string]script{
		"insufficient": anew.with(script{"verdict round 1": "Verdict: insufficient\nReason: it counts more", "wrong round 1": "1"}),
		"unfinished":   anew.with(script{"verdict round 1": no}),
	} {
		t.Run(name, func(t *testing.T) {
			p := drafted(t, "How many of size 42 are there?", replies).noError(t)
			if p.Answer() != "7" || !p.Verified() || p.model.count("second") != 1 || p.Reused() {
				t.Errorf("answer %q, %s: %q; asked %q", p.Answer(), p.Standing(), p.Doubts(), p.model.asked)
			}
			if told := strings.Contains(p.model.prompt(t, "judge round 2"), "31 → 42"); told != (name == "unfinished") {
				t.Errorf("the judge is told of the draft: %v", told)
			}
		})
	}
}

// TestDraftRepaired: a cell that fails with the new value is repaired, and the answer derived again
// by a request.
func TestDraftRepaired(t *testing.T) {
	first := play(t, sizes.with(script{"cell": "x = \"31\"\nfail_on(x, \"4\")\nprint(x)"}),
		about("How many of size 31 are there?")).noError(t)
	const asked = "How many of size 42 are there?"
	p := play(t, judgeOnly.with(script{"debugger": "x = \"42\"\nprint(x)", "second": "z = \"42\"\nz"}), about(asked),
		func(s *stage) { s.config.Draft = agent.DraftFrom(first.Trajectory, asked) }).noError(t)
	if !p.Verified() || p.model.count("debugger") != 1 || p.model.count("second") != 1 {
		t.Errorf("%s: %q; asked %q", p.Standing(), p.Doubts(), p.model.asked)
	}
}

// TestDraftReadings: an open point is computed again with the new value, without a request.
func TestDraftReadings(t *testing.T) {
	sized := func(reply string) string { return "raw:" + strings.ReplaceAll(reply, "= 1\n", "= \"31\"\n") }
	takes := script{"verdict": yes + "\nTakes: 1"}
	replies := sizes.with(takes).with(script{"solver": sized(reads(isOpen)), "branches": sized(branches("z = 1\nz"))})
	first := play(t, replies, about("How many of size 31 are there?")).noError(t)
	if len(first.Readings) != 1 || !first.Verified() {
		t.Fatalf("readings %+v, %s", first.Readings, first.Standing())
	}
	const asked = "How many of size 42 are there?"
	p := play(t, judgeOnly.with(takes), about(asked), func(s *stage) {
		s.config.Draft = agent.DraftFrom(first.Trajectory, asked)
	}).noError(t)
	if !p.Verified() || p.Readings[0].Options[1].Answer != "42" || len(p.model.asked) > 2 {
		t.Errorf("%s, readings %+v; asked %q", p.Standing(), p.Readings, p.model.asked)
	}
}

// TestNoDraft: other questions, and runs that prove nothing, give none.
func TestNoDraft(t *testing.T) {
	first := play(t, sizes, about("How many of size 31 are there?")).noError(t)
	unproved := *first.Trajectory
	unproved.Proof = nil
	for question, tr := range map[string]*record.Trajectory{
		"How many of colour 42 are there?": first.Trajectory, "How many of size 42 are there?": &unproved,
	} {
		if agent.DraftFrom(tr, question) != nil {
			t.Errorf("%s: a draft", question)
		}
	}
	d := agent.DraftFrom(first.Trajectory, "How many of size 42 are there?")
	p := play(t, judgeOnly.with(script{"second": "z = \"42\"\nz"}), about("How many of size 42 are there?"),
		func(s *stage) { s.config.Draft = d.WithoutSecond() }).noError(t)
	if !p.Verified() || p.model.count("second") != 1 || strings.Contains(p.Script(), "31") {
		t.Errorf("%s; asked %q", p.Standing(), p.model.asked)
	}
}

// TestDraftSettled: words that speak of the old value do not settle a point of the new one.
func TestDraftSettled(t *testing.T) {
	for evidence, settled := range map[string]bool{
		"\"a value, at most 2 decimals\" (form)":            true,
		"\"How many of size 31 are there?\" (the question)": false,
	} {
		solver := "raw:" + strings.ReplaceAll(reads("Evidence: "+evidence+"\nSettled: yes"), "x = 1", "x = \"31\"")
		decided := script{"verdict": yes + "\nTakes: 1\nDecided: 1"}
		first := play(t, sizes.with(decided).with(script{"solver": solver}), about("How many of size 31 are there?")).noError(t)
		const asked = "How many of size 42 are there?"
		p := play(t, judgeOnly.with(decided).with(script{"branches": branches("z = \"42\"\nz")}), about(asked),
			func(s *stage) { s.config.Draft = agent.DraftFrom(first.Trajectory, asked) }).noError(t)
		if !first.Readings[0].Settled || p.Readings[0].Settled != settled || !p.Verified() {
			t.Errorf("%s: settled %v, then %v, %s", evidence, first.Readings[0].Settled, p.Readings[0].Settled, p.Standing())
		}
	}
}
