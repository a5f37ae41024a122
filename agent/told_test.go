package agent_test

import (
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/describe/profile"
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
	const fact = "An empty list means all. — source: manual.md"
	reviewed := of(script{"verdict round 1": no, "step round 2": "Change x.", "cell round 2": "x += 9",
		"cell round 3": "y = x\nprint(y)", "last": "print(x)\nprint(x)", "debugger": "print(x)"},
		decided(map[string]agent.Decision{"round 2, try 1": rejected("  fares are in\n cents "),
			"the answer, try 1": rejected("without the unit")}))
	byHand := of(script{}, withData(t, tables("a.csv")), profiled(map[string]profile.Profile{"a.csv": table(2, "town")}),
		func(s *stage) { s.config.Corrections = map[string]string{"a.csv": "By hand.", "gone.csv": "?"} })
	for _, c := range []struct {
		key        string // of a request; or a cell, or the script
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
		{"solver round 2", []string{"Which of 1 count.\n  Taken: all"}, nil, of(variants["branches that keep steps"])},
		{"branches the readings", []string{"Branch 1.2: some", "Branch 2.2: some", "Taken: all"}, nil,
			of(variants["branches that keep steps"])},
		{"solver round 2", []string{"leave open what is meant", "the total is wrong"}, nil, of(variants["readings of a new plan"])},

		// a person's cells and notes, and a stranger's, which are nobody's wishes
		{"judge", nil, []string{"Cells of the user"}, of(three)},
		{"judge", []string{"The user wrote the cell of step 2.", "The user wrote the cell of step 3."}, nil, of(three).on(edit(source("step-2", `"2"`, `"II"`), insert("step-2", mine)), more)},
		{"judge", []string{"They may take other options now", "Which of 1 count."}, nil, of(open).on(doubled, open)},
		{"judge", []string{"Mind the gap.", "Cells of the user"}, nil, of(three).on(gap, lastZ)},
		{"judge", nil, []string{"Mind the gap.", "Cells of the user"}, of(three).on(then(gap, stranger), lastZ)},
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
		{"script", nil, []string{"data_", "data/"}, of(script{}, noData)},
		{"solver round 1", nil, []string{"data/"}, of(script{}, noData)},
	} {
		run := slices.Clone(c.run)
		run[0].replies = simple.with(run[0].replies)
		p := run.play(t)
		text := p.Script()
		if id, cell := strings.CutPrefix(c.key, "cell "); cell {
			text = p.shown(t, id)
		} else if c.key != "script" {
			text = p.model.prompt(t, c.key)
		}
		contains(t, text, c.has...)
		lacks(t, text, c.lacks...)
	}
}

// noData is a question about variables alone, which has no data folder in its cells.
func noData(s *stage) { s.task.Data, s.task.Files = "", nil }
