package agent_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/describe/profile"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// stranger takes the run for somebody else's.
var stranger = changed((*record.Trajectory).Disown)

// TestTold: what requests tell of what has failed, of what is meant, and of what a person has done, and
// what of it stands in the notebook.
func TestTold(t *testing.T) {
	gap := edit(source("step-2", `"2"`, `"II"`), insert("step-3", note("Mind the gap.")))
	lastZ := more.with(script{"last": "print(z)"})
	corrects := of(open).on(question("What now?", "A word."), onward.with(script{"verdict": yes + "\nCorrects: 1"}))
	anew := of(corrected("z = 678\nz").with(script{"cell": "x = 12345\nprint(x)", "second": "z = 678\nz",
		"arbiter two answers, again 1": "Ruling: undecided",
		"arbiter":                      "Ruling: second\nReason: it leaves rows out, as 12,345 and not 678 is right\n\n" + python("z = 12345\nz")}))
	tools := of(another.with(script{"cell": "x = tool\nprint(x)", "arbiter": who}), recalled("tool = 1"))
	settledLate := of(another.with(script{"solver round 1": reads(isSettled), "verdict round 1": no, "arbiter": who, "cell round 2": "print(x)",
		"verdict": yes + "\nTakes: 1\nDecided: 1"}))
	const fact = "An empty list means all. — source: manual.md"
	reviewed := of(script{"verdict round 1": no, "step round 2": "Change x.", "cell round 2": "x += 9",
		"cell round 3": "y = x\nprint(y)", "last": "print(x)\nprint(x)", "debugger": "print(x)"},
		decided(map[string]agent.Decision{"round 2, try 1": rejected("  fares are in\n cents "),
			"the answer, try 1": rejected("without the unit")}))
	byHand := of(script{}, withData(t, tables("a.csv")), profiled(map[string]profile.Profile{"a.csv": table(2, "town")}),
		func(s *stage) { s.config.Corrections = map[string]string{"a.csv": "By hand.", "gone.csv": "?"} })
	for _, c := range []struct {
		key        string // of a request; or a cell, the script, or the system message
		has, lacks []string
		run        turns
	}{
		{"solver round 3", []string{"x = 1", "step 2 could not be carried out", "- Look up b.\n", "KeyError: c"}, nil,
			of(script{"verdict round 1": no, "step round 2": "Look up b.", "cell round 2": `raise KeyError("b")`,
				"debugger": `raise KeyError("c")`})},
		{"judge round 2", []string{"Output:\n\n```\n1\n```"}, nil,
			of(script{"cell round 1": "x = tick()\nprint(x)", "verdict round 1": no, "cell round 2": "die()",
				"debugger": "y = x\nprint(y)"})},
		{"debugger round 1, try 2", []string{"End it.", "it ended the session after it had run"}, nil,
			of(script{"step round 1": "End it.", "verdict round 1": no, "cell round 1": "x = 1\nends()\nprint(x)",
				"debugger": "x = 1\nprint(x)"})},
		{"debugger round 2, try 2", []string{"Step 2: Do", "raise KeyError", "KeyError: b", "x = 1", "before the error:\n12"}, nil,
			of(script{"verdict round 1": no, "cell round 2": "x += 2\nprint(x)\nraise KeyError(\"b\")", "debugger": "x += 3"})},
		{"debugger the answer, try 2", []string{"typed in", "this form: A value."}, nil,
			of(script{"last": "print(42)", "debugger": "print(x)"})},
		{"debugger the answer, try 2", []string{"its form asks for 2 decimals"}, nil, of(unfit.with(script{"debugger": "print(y)"}))},
		{"solver round 4", []string{"Two.", "the total is wrong", "Three.", "123"}, nil,
			of(three.with(script{"verdict round 3": bad, "wrong round 3": "2", "cell": "print(x)", "verdict round 4": yes, "last": "print(x)"}))},
		{"judge round 3", []string{"1000", "1002"}, []string{"1001"}, of(script{"cell round 1": "x = 1000\nx",
			"cell round 2": "x = 1001\nx", "cell round 3": "x = 1002\nx", "verdict round 1": no,
			"verdict round 2": bad, "wrong round 2": "2"})},
		{"solver round 2", []string{"Which of 1 count.\n  Taken: option 1, all"}, nil, of(variants["branches that keep steps"])},
		{"branches the readings", []string{"Branch 1.2: some", "Branch 2.2: some", "Taken: option 1, all"}, nil,
			of(variants["branches that keep steps"])},
		{"solver round 2", []string{"Decided by:\n\n```\n“A value. At most 2 decimals.” (form)"}, nil, settledLate},
		{"arbiter two answers", []string{"Decided by:\n\n```\n“A value. At most 2 decimals.” (form)"}, nil, settledLate},
		{"second", nil, []string{"Which of 1 count"}, settledLate},
		{"solver round 2", []string{"leave open what is meant", "the total is wrong"}, nil, of(variants["readings of a new plan"])},

		// a person's cells and notes, and a stranger's, which are nobody's wishes
		{"judge", nil, []string{"The user wrote this cell"}, of(three)},
		{"judge", []string{"Step 2: Two.\n\nThe user wrote this cell", "Mend y\n\nThe user wrote this cell"}, nil, of(three).on(edit(source("step-2", `"2"`, `"II"`), insert("step-2", mine)), more)},
		{"judge", []string{"took these before the user changed cells", "Which of 1 count."}, nil, of(open).on(doubled, open)},
		{"judge", []string{"Mind the gap.", "The user wrote this cell"}, nil, of(three).on(gap, lastZ)},
		{"judge", nil, []string{"Mind the gap.", "The user wrote this cell"}, of(three).on(then(gap, stranger), lastZ)},
		{"judge", nil, []string{"Mind the gap."}, of(three).on(then(gap, stranger), lastZ).on(seven, lastZ)},
		{"cell note", []string{"Mind the gap."}, nil, of(three).on(then(gap, stranger), lastZ).on(seven, lastZ)},

		// questions before
		{"solver round 2", []string{"# Question\n\nWhat now?", "Question 1: How many?", "x = 1", "Which of 1 count.", "- some: 2"}, nil, corrects},
		{"second the answer to question 2", []string{"Which of 1 count.", "- some: 2"}, nil, corrects},
		{"cell question-2", []string{"# Question 2: What now?", "12"}, nil, corrects},
		{"cell question", []string{"Question 2 corrects this answer."}, nil, corrects},
		{"solver round 3", []string{"Question 2 corrects this answer."}, nil, corrects.on(next, fresh)},

		// of many files those nearest to the question are described, and the others named
		{"solver round 1", []string{"- of_bremen.csv: ", "- of_shops.csv: ", "\": apes.csv, cats.csv, dogs.csv\n"},
			[]string{"- of_apes.csv: ", "- of_cats.csv: ", "- of_dogs.csv: "}, of(script{}, near)},
		{"second the answer", []string{"- of_bremen.csv: ", "- of_shops.csv: ", "\": apes.csv, cats.csv, dogs.csv\n"},
			[]string{"- of_apes.csv: ", "- of_cats.csv: ", "- of_dogs.csv: "}, of(script{}, near)},
		{"analyzer apes.csv", nil, nil, of(published, near, asPublished)},

		// of more files than a run looks at some are chosen by their names; the others are named
		{"solver round 1", []string{"log/00.csv", "many/how.csv", "## More files", "\"data/log/\": 04.csv, 05.csv", ", 18.csv, 19.csv\n"},
			[]string{"00.csv, ", "03.csv, ", "how.csv, "}, of(script{}, crowded)},
		{"solver round 1", []string{"many/how.csv", "## More files", "cut here"}, nil,
			of(script{}, crowded, func(s *stage) { s.config.DescriptionChars = 300 })},

		// the second derivation sees nothing of the first, and what was wrong of the one before
		{"second the answer", []string{"How many?", "A value.", "a table"},
			[]string{"One.", "Two.", "x = 1", "y = x", "123", "mistake"}, of(three)},
		{"second the answer", []string{"Mind the gap."}, []string{"Two.", "y = x", "1II"}, of(three).on(gap, lastZ)},
		{"second the answer, again 1", []string{"it leaves rows out", "not 678 is right"},
			[]string{"12,345", "12345", "z = 678", "Do the next thing"}, anew},
		{"cell second", []string{"12345", "678", "leaves rows out", "told what was found wrong"}, nil, anew},

		// the memory
		{"solver round 1", []string{fact}, []string{"tool = 1"}, tools},
		{"judge round 1", []string{"tool = 1"}, []string{fact}, tools},
		{"second the answer", nil, []string{fact, "tool = 1"}, tools},
		{"arbiter two answers", []string{"tool = 1"}, []string{fact}, tools},
		{"script", []string{"tool = 1"}, []string{"unused"}, tools},

		{"solver round 3", []string{"- Change x.\n", "rejected by hand: fares are in cents", "the total"}, nil, reviewed},
		{"debugger the answer, try 2", []string{"print(x)\nprint(x)", "rejected by hand: without the unit"}, nil, reviewed},
		{"cell tried", []string{"not run: rejected by hand: fares are in cents"}, nil, reviewed},
		{"solver round 1", []string{"By hand.", "town"}, nil, byHand},
		{"script", []string{"# It ran on Python", "pip install"}, nil, of(script{})},
		{"script", nil, []string{"data_", "data/"}, of(script{}, noData)},
		{"solver round 1", nil, []string{"data/"}, of(script{}, noData)},
		{"system", []string{" Today is "}, nil, of(script{}, func(s *stage) { s.task.Question = "Who sold most last year?" })},
		{"system", nil, []string{" Today is "}, of(script{}, func(s *stage) { s.task.Question = "Who sold most in 2023 at last?" })},
		{"system", []string{"70 bytes of memory"}, nil, of(script{}, func(s *stage) { s.config.Memory = 70 })},
		{"system", nil, []string{" of memory"}, of(script{}, func(s *stage) { s.config.Memory = 7e9 })},
	} {
		run := slices.Clone(c.run)
		run[0].replies = simple.with(run[0].replies)
		p := run.play(t)
		text := p.Script()
		if id, cell := strings.CutPrefix(c.key, "cell "); cell {
			text = p.shown(id)
		} else if c.key == "system" {
			text = p.model.requests["solver round 1"].Messages[0].Text
		} else if c.key != "script" {
			text = p.model.prompt(t, c.key)
		}
		contains(t, text, c.has...)
		lacks(t, text, c.lacks...)
	}
}

// noData is a question about variables alone, which has no data folder in its cells.
func noData(s *stage) { s.task.Data, s.task.Files = "", nil }

// long prints some 4 kB.
var long = "x = \"0123456789 abcdef\\n\"" + strings.Repeat("\nx += x", 8) + "\nprint(x)"

// size is how much a request says.
func size(r llm.Request) (n int) {
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return n
}

// largeData is four files with descriptions of 4 kB.
func largeData(s *stage) {
	s.task.Files, s.world.profiles = filesOf("0.csv", "1.csv", "2.csv", "3.csv"), map[string]profile.Profile{}
	for _, f := range s.task.Files {
		s.world.profiles[f.Name] = profile.Profile{Format: "text", Headline: strings.Repeat("0123456789 abcdef\n", 250)}
	}
}

var large = simple.with(script{
	"cell": long, "last": "y = 1\nx += \" 1\"\nprint(y)\nx", "verdict": no,
	"verdict round 3": yes, "verdict round 2": bad, "wrong round 2": "2",
	"cell round 2": long + "\nraise KeyError(\"b\")", "debugger": "y = x\nprint(x)",
})

// tooLong has the requests of a role refused that are longer than limit bytes, or those of all.
func tooLong(role string, limit int) func(*stage) {
	return func(s *stage) {
		s.model.tooLong = func(r llm.Request) bool {
			return (role == "" || r.Role == role) && size(r) > limit
		}
	}
}

// cutOnce checks that each request that was too long was told of once, and that the run went on.
func (p *played) cutOnce(t reporter) (told []string) {
	t.Helper()
	told = slices.Compact(slices.Clone(p.model.refused))
	if p.Proof == nil || !p.Proof.Same || len(told) == 0 || len(p.Warnings) != len(told) {
		t.Errorf("verified %v, refused %q, warnings %q", p.Verified(), p.model.refused, p.Warnings)
	}
	return told
}

// A request that is longer than the model's context is made shorter until it fits, whoever makes
// it; every request that was cut is told of once, and a cut holds from then on, for all roles.
// Where nothing is left to cut the refusal ends the run.
func TestTooLong(t *testing.T) {
	whole := play(t, large, largeData, tooLong("", 1e6)).noError(t)
	for role, first := range map[string]string{"judge": "judge round 1", "debugger": "debugger round 2, try 2", "": "judge round 1"} {
		p := play(t, large, largeData, tooLong(role, size(whole.model.requests[first])*2/3)).noError(t)
		for i, key := range p.cutOnce(t) {
			_, subject, _ := strings.Cut(key, " ")
			contains(t, p.Warnings[i], subject)
		}
		if p.model.refused[0] != first && role != "" || len(p.Rounds) != len(whole.Rounds) {
			t.Errorf("refused first: %s; %d rounds", p.model.refused[0], len(p.Rounds))
		}
		last := p.model.refused[len(p.model.refused)-1]
		for _, key := range p.model.asked[slices.Index(p.model.asked, last):] {
			if was, now := size(whole.model.requests[key]), size(p.model.requests[key]); now >= was {
				t.Errorf("%s has %d bytes, and without a limit %d", key, now, was)
			}
		}
		contains(t, p.model.prompt(t, last), "characters cut here", `"data/`)
	}
	// The roles that are shown one text get less of that, and so does the paper's way.
	report := "raise KeyError(\"" + strings.Repeat("many words ", 700) + "\")"
	play(t, simple.with(script{"cell": report, "summarizer": "KeyError",
		"debugger": "x = 1\nprint(x)"}), tooLong("summarizer", 6000)).noError(t).cutOnce(t)
	papers := published.with(script{"analyzer": long, "coder": long, "finalizer": long,
		"verifier": "No", "verifier round 3": "Yes", "router round 2": "Step 2",
		"coder round 2": large["cell round 2"], "debugger": long})
	play(t, papers, largeData, tooLong("", 12_000), asPublished).noError(t).cutOnce(t)
	for _, role := range []string{"solver", "judge", "second"} { // nothing is left to take away
		p := play(t, simple, tooLong(role, 0))
		if !errors.Is(p.err, llm.ErrContextLength) || len(p.Warnings) != 1 || len(p.model.refused) > 20 {
			t.Errorf("error %v, refused %q, warnings %q", p.err, p.model.refused, p.Warnings)
		}
	}
}

// TestOldestShortened: in a long conversation the oldest questions are shortened first, to question,
// steps, names and answer; the last one and the descriptions stay whole.
func TestOldestShortened(t *testing.T) {
	first := play(t, simple, largeData).noError(t)
	limit, all := size(first.model.requests["solver round 1"])+8000, of(simple, largeData)
	for n := 2; n < 10; n++ {
		cell := fmt.Sprintf("b = x\nb += %q\nprint(b)", strings.Repeat(fmt.Sprintf("printed %d ", n), 100))
		all = all.on(question(fmt.Sprintf("And %d?", n), ""), onward.with(script{"cell": cell, "last": "print(x)"}),
			largeData, tooLong("", limit))
	}
	last := all.play(t).model.prompt(t, "solver round 9")
	contains(t, last, "## Question 2: And 2?", "# It binds b.", strings.Repeat("printed 8 ", 100))
	lacks(t, last, "printed 2 ")
	lines := func(text string) int { return strings.Count(text, "0123456789 abcdef\n") }
	equal(t, "lines of descriptions", lines(last), lines(first.model.prompt(t, "solver round 1")))
}

// Where the model's context is known, requests fit into it from the start. A run that goes on with a smaller
// one asks nothing again.
func TestContextIsKnown(t *testing.T) {
	const tokens, bytesPerToken = 8000, 3
	p := play(t, large.with(script{"cell round 2": long, "verdict round 3": no, "verdict round 6": yes,
		"last": "y = x\ny += \" 1\"\nprint(1)\ny"}), largeData, func(s *stage) {
		s.config.Context, s.config.ContextChars = tokens, 60_000
	}).noError(t)
	if len(p.Rounds) != 6 || !p.Verified() || len(p.Warnings) > 0 {
		t.Errorf("%d rounds, warnings %q", len(p.Rounds), p.Warnings)
	}
	for key, r := range p.model.requests {
		if size(r) >= tokens*bytesPerToken {
			t.Errorf("%s has %d bytes", key, size(r))
		}
	}
	smaller := func(s *stage) { s.task, s.config.Context = p.Task, tokens/2 }
	if again := goOn(t, nil, readAgain(p.Trajectory), smaller).noError(t); len(again.model.asked) > 0 {
		t.Errorf("asked again: %q", again.model.asked)
	}
}

// All requests after the descriptions begin with the same bytes, the notebook grows at its end, and
// what a role is asked comes last: providers keep what requests have in common.
func TestPrefix(t *testing.T) {
	p := play(t, large.with(script{"verdict round 3": no, "verdict round 4": yes,
		"last": "y = x\nprint(1)\ny"}), largeData).noError(t)
	asks := regexp.MustCompile("\n```\n\n# (What is missing|Your task|A cell that failed)|\n\n# Your task")
	before := p.model.requests["solver round 1"].Messages
	for _, key := range p.model.asked[2 : len(p.model.asked)-1] {
		m := p.model.requests[key].Messages
		was, is := before[1].Text[:asks.FindStringIndex(before[1].Text)[0]], m[1].Text[:asks.FindStringIndex(m[1].Text)[0]]
		if len(m) != 2 || m[0] != before[0] || !strings.HasPrefix(is, was) && !strings.HasPrefix(was, is) {
			t.Errorf("%s does not begin like the request before:\n%s", key, m[1].Text)
		}
		if before = m; len(is) < 6000 || key == "judge round 4" && len(is) < 16_000 { // two steps of 4 kB each
			t.Errorf("the notebook does not grow, or stands behind the question: %d bytes", len(is))
		}
	}
}

// TestPaperRequests: every request of the paper's method is byte for byte the one in
// testdata/paper, in a run with all that can happen and with each switch. The system message
// stands there once, and a request that is the same as in published.golden has its title only.
func TestPaperRequests(t *testing.T) {
	long := fmt.Sprintf(`raise KeyError("%s")`, strings.Repeat("many words ", 600))
	replies := script{
		"analyzer numbers.csv":        long,
		"debugger numbers.csv, try 2": `raise ValueError("half mended")`,
		"analyzer":                    `print("a description")`, "debugger": "x = 0\nprint(x)",
		"summarizer":      "KeyError: many words, in line 1",
		"planner round 1": "Load the shops.", "coder round 1": "x = 1\nprint(x)",
		"planner round 2": "Add up the `amounts`.\n```\nx\n```", "coder round 2": "x = 1\ny = 2\n" + long,
		"debugger round 2, try 2": "x = 1\ny = 3\nprint(y)\nprint(\"```\")", "router round 2": "Step 2",
		"planner round 3": "Add up the paid amounts.", "coder round 3": "raw:no code",
		"coder round 3, asked again": "die()", "debugger round 3, try 2": "hang()",
		"debugger round 3, try 3": "die()",
		"planner round 4":         "Add up the amounts by shop.", "coder round 4": "x = 4\nprint(x)",
		"verifier": "No", "verifier round 4": "Perhaps", "verifier round 4, asked again": "No.",
		"router": "Add Step", "router round 4": "Step 1",
		"planner": "Load the shops again.", "coder": "x = 5\nprint(x)", "verifier round 5": "Yes",
		"finalizer": "print(z)", "debugger the answer, try 2": "print(\"\")",
		"debugger the answer, try 3": "x = 5\nprint(x)",
	}
	content := tables("shops.csv", "a/days.csv")
	content["numbers.csv"], content["manual.md"] = "n\n1\n2\n", "# Manual\n\nTests do not count.\n"
	published := map[string][]llm.Message{}
	for _, c := range []struct {
		name   string
		change func(*stage)
	}{
		{"published", func(*stage) {}},
		{"no-analyzer", func(s *stage) { s.config.Method.NoAnalyzer = true }},
		{"no-router", func(s *stage) { s.config.Method.NoRouter = true }},
		{"plan-only", func(s *stage) { s.config.Method.PlanOnly = true }},
		{"no-guidelines", func(s *stage) { s.task.Guidelines = "" }},
		{"two-rounds", func(s *stage) { s.config.MaxRounds, s.config.Memory = 2, 1<<30 }},
		{"reviewed", decided(map[string]agent.Decision{
			"round 1, try 1":    rejected("not so"),
			"round 2, try 2":    accepted("x = 9\nprint(x)"),
			"the answer, try 1": rejected("two decimals"),
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, replies, withData(t, content), func(s *stage) {
				s.config.Method, s.config.Jobs = record.Method{Script: true}, 1
				s.task.Guidelines = "A number."
				c.change(s)
			}).noError(t)
			asked := p.model.asked
			slices.Sort(asked[:slices.Index(asked, "planner round 1")]) // files have no order
			var got strings.Builder
			for _, key := range asked {
				r := p.model.requests[key]
				fmt.Fprintf(&got, "======== %s\n", key)
				for i, m := range r.Messages {
					switch {
					case published[key] != nil && slices.Equal(published[key], r.Messages):
						continue // see published.golden
					case i > 0 || key == asked[0] || m != p.model.requests[asked[0]].Messages[0]:
						fmt.Fprintf(&got, "---- %s\n%s\n", m.Role, m.Text)
					}
				}
				if c.name == "published" {
					published[key] = r.Messages
				}
			}
			golden(t, filepath.Join("testdata", "paper", c.name+".golden"), got.String())
		})
	}
}
