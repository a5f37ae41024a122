package agent_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// reads is the first reply of a solver, with readings that end with what is said of them.
func reads(said ...string) string {
	var b strings.Builder
	for i, s := range said {
		fmt.Fprintf(&b, "Reading: Which of %d count.\nOption 1: all\nOption 2: some\nTaken: 1\n%s\n\n",
			i+1, s)
	}
	return b.String() + "Step: Count.\n\n```python\nx = 1\nprint(x)\n```"
}

// branches is the reply with a cell for option 2 of each reading.
func branches(cells ...string) string {
	var b strings.Builder
	for i, code := range cells {
		b.WriteString(branch(fmt.Sprint(i+1, ".2"), i, code))
	}
	return b.String()
}

func branch(option string, keeps int, code string) string {
	return fmt.Sprintf("Branch %s\nKeeps: %d\n\n%s\n\n", option, keeps, python(code))
}

// taken is the reply with a cell for the option of the first reading that the cells are said to
// take.
func taken(code string) string { return branch("1.1", 1, code) }

const (
	judged    = "Verdict: enough\nReason: it is\n\n```python\ny = x\nprint(y)\ny\n```\n\n"
	isOpen    = "Evidence: none\nSettled: no"
	isSettled = "Evidence: \"a value, at most 2 decimals\" (form)\nSettled: yes"
	who       = "Ruling: undecided\nReason: who knows"
	wrongStep = "Ruling: first\nReason: it counts twice\nWrong step: " // lacks the number
	isReading = "Ruling: reading\nReason: both can be meant\nReading: Which count.\nOption 1: all\nOption 2: some"
	noShop    = "Verdict: no answer\nReason: no such column\nTakes: 1"

	rule, mind = "Cancelled orders do not count in the revenue.", "Mind the orders of all stores."
)

// another point that comes late, and the first reply of a solver whose cell prints how many are cancelled
const (
	late    = "Reading: Whether it counts.\nOption 1: yes\nOption 2: no\nTaken: 1\n\n"
	counted = "c = \"cancelled\"\nc += \" orders 0\"\nprint(c)"
	shows   = "Takes: 1\nPrinted: 1.2 \"cancelled orders: 0\""
)

var counts = strings.Replace(reads(isOpen), "print(x)", counted, 1)

// saying is judged with more lines on the readings.
func saying(lines string) string { return strings.Replace(judged, "\n\n", "\n"+lines+"\n\n", 1) }

// corrected is a ruling that the second derivation has a mistake, and the cell of the next one.
func corrected(cell string) script {
	return script{"second": "z = 2\nz", "second the answer, again 1": cell,
		"second the answer, again 2": cell, "arbiter": "Ruling: second\nReason: it counts twice"}
}

// apart is a follow-up that loads all anew, and whose judge says which options it takes.
func apart(takes, code string) script {
	return fresh.with(script{"verdict": yes + takes, "branches": branch("1.2", 0, code)})
}

// readsAgain is a judge that names the readings again, with the option taken of the first.
func readsAgain(taken int, more string) script {
	first := strings.TrimSuffix(reads(isOpen), "Step: Count.\n\n```python\nx = 1\nprint(x)\n```")
	return open.with(script{"branches": branches("z = 3\nz", "z = 3\nz"),
		"judge round 2": strings.Replace(first, "Taken: 1", fmt.Sprint("Taken: ", taken), 1) + more + judged})
}

// noted has a person do something to the notes of two questions, after a choice for the first.
func noted(does act) turns {
	follow := fresh.with(script{"step": "On.", "verdict": yes, "branches": branches("z = 2\nz")})
	return of(open).on(chooses(0, 0, 0), follow).on(next, follow).on(does, follow)
}

func withoutNotes(nb *notebook.Notebook) {
	nb.Cells = slices.DeleteFunc(nb.Cells, func(c notebook.Cell) bool { return strings.HasPrefix(c.ID, "note-") })
}

// judges is a judge that finds a step wrong.
func judges(wrong int) script {
	return more.with(script{"verdict round 4": bad, "wrong round 4": fmt.Sprint(wrong), "cell": "x = 1\nprint(x)"})
}

// alike is a run whose other option has the same answer: doubted are cells of what is in doubt.
func alike(doubted string) script {
	return script{"solver round 1": reads(isOpen), "branches": branches("z = 1\nz"),
		"branches the readings, what is in doubt": doubted}
}

// filed is a run that saves a value, which the second derivation saves as it is in the run's session.
func filed(name, value, first string) script {
	return script{"cell": "x = " + value + "\nsave(" + name + ", x)", "last": "y = x\nprint(\"" + name + "\")",
		"second": "z = \"" + first + "\"\nsave(" + name + ", z)\na = \"" + name + "\"\na", "arbiter": "Ruling: undecided"}
}

// ruled has a document with a rule, which settles the reading of byRule, beside the data.
func ruled(rule string) func(*stage) {
	return func(s *stage) {
		s.task.Files = filesOf("a.csv", "rules.md")
		s.task.Files[0].Size, s.task.Files[1].Size = int64(len(rule)+1), int64(len(rule))
		profiled(map[string]profile.Profile{"a.csv": table(9, "a"),
			"rules.md": {Format: "text", Document: rule, Whole: true}})(s)
	}
}

var (
	next = question("And now?", "")
	// where there is no answer, cells of a person's would go with a question
	unasked = changed(func(tr *record.Trajectory) {
		if tr.Ask("??", "") == nil {
			panic("it is not refused")
		}
	})
	shout   = edit(source("final", "print(z)", "z += \"!\"\nprint(z)"))
	doubled = edit(source("step-1", "x = 1", "x = 2"))
	hers    = edit(source("step-2", "\"2\"", "\"mine\""))
	seven   = edit(source("step-1", "1", "7"))
	marks   = edit(source("final", "print(z)", "# mine\nprint(z)"))

	asksFile = asking("Save it as out.csv.", "")
	// a question with an open reading, which the next steps leave open
	open = simple.with(script{"solver round 1": reads(isOpen), "branches": branch("1.2", 0, "x = 2\nx")})
	// a follow-up that builds on the answer x, one on the answer z, and one that loads all anew
	onward = simple.with(script{"cell": "b = x\nb += \"2\"\nprint(b)", "last": "print(latest)",
		"branches": branches("z = 7\nz")})
	onZ     = onward.with(script{"cell": "v = z\nprint(v)", "last": "print(v)"})
	fresh   = onward.with(script{"cell": "b = 5\nprint(b)", "verdict": yes + "\nTakes: 0"})
	unruled = open.with(script{"second": "w = 7\nw", "arbiter": who})
	// two readings, which only together change the answer
	bothOpen = simple.with(script{"solver round 1": reads(isOpen, isOpen), "verdict": yes + "\nTakes: 1, 1",
		"branches": branches("z = 1\nz", "z = 1\nz"), "second the answer, again 3": "w = 3\nw",
		"branches the readings, what is in doubt": branch("3.2", 0, "z = 3\nz")})
	// a second derivation gives another answer: of three steps, and of one
	undecided = three.with(script{"second": "w = 1\nw", "arbiter": who})
	another   = simple.with(script{"second": "z = 2\nz", "step round 2": "Anew.", "cell round 2": "x = 2\nprint(x)"})
	saved     = simple.with(script{"cell": "x = 1\nsave(out.csv, x)\nprint(x)",
		"second": "s = 1\nsave(out.csv, s)\ns"})
	// an answer that is not in the form of aNumber, repaired or not
	unfit = simple.with(script{"cell": "y = \"1.23\"\nx = y\nx += \"4\"\nprint(x)", "debugger": "print(x)"})

	byRule = simple.with(script{"solver round 1": reads("Evidence: \"" + rule + "\"\nSettled: yes"),
		"verdict": yes + "\nTakes: 1\nDecided: 1", "branches": branches("z = 2\nz")})
	// a note has settled it instead
	byNote = changed(func(tr *record.Trajectory) {
		tr.AddNote(mind, false)
		tr.Readings[0].Evidence, tr.Readings[0].From = "\u201c"+mind+"\u201d (note)", record.FromNote
	})
	// a reading that does not say which option is taken
	unread = strings.Replace(reads(isOpen), "Taken: 1\n", "", 1)
)

// troubled are recordings that other tests stop or take from a stranger.
var troubled = []string{"simple", "back, with repairs", "a step that never runs", "a doubtful form",
	"a last cell that does not run", "replies that cannot be read", "out of rounds",
	"a mistake of the first derivation", "a mistake of the second derivation", "readings",
	"readings in doubt", "a difference of reading", "still different after two corrections",
	"a ruling that cannot be read", "a second derivation that never runs"}

// recordings are runs of every role and turn, beside those of variants.
var recordings = map[string]turns{
	"many files": of(simple, near), "three steps": of(three), "an open reading": of(open), "a guest": of(three, hosted), "the paper": of(published, asPublished),
	"no session for the second derivation": of(simple, refuses(agent.Second, errors.New("no room"))).unkilled().
		on(nil, simple),
	"no second derivation wanted":    of(simple, func(s *stage) { s.config.Method.NoSecond = true }),
	"no readings wanted":             of(open, func(s *stage) { s.config.Method.NoReadings = true }),
	"sentences that name the folder": of(simple.with(script{"last": "y = here\ny += \" holds 1\"\nprint(x)\ny"})).unkilled(),
	"no session for the proof":       of(simple, refuses(agent.Prove, errors.New("no memory"))).unkilled().on(nil, script{}),
	"a step that prints something else again": of(simple.with(script{"cell": "x = tick()\nprint(x)",
		"verdict round 1": no, "cell round 2": "die()", "debugger": "y = x\nprint(y)"})).unkilled(),
	"a step that does not run again": of(simple.with(script{"verdict round 1": no, "debugger": "print(x)",
		"cell round 2": "x = 2\nonce()\nprint(x)", "last": "die()"})).unkilled(),
	"a cell that runs once":           of(simple.with(script{"cell": "x = 1\ny = purpose()\nsave(own, y)\nonce()"})).unkilled(),
	"a last cell that prints nothing": of(simple.with(script{"last": "y = x", "debugger": "y = x"})).unkilled(),
	"a script with another answer":    of(simple.with(script{"cell": "x = tick()", "last": "y = x\nprint(tick())"})).unkilled(),
	"a script that prints more":       of(simple, prints(ran(notebook.OK, "more\n  1 \n", "a warning"), nil)),
	"a script that does not end":      of(simple, prints(ran(notebook.TimedOut, "1\n", ""), nil)),
	"a script that cannot be run": of(saved, asksFile, prints(notebook.Execution{}, errors.New("no program"))).unkilled().
		on(nil, script{}),
	"a script that fails in plain Python": of(simple, prints(ran(notebook.Raised, "1\n", "Traceback\n  ...\nSyntaxError: magic\n"), nil)),

	"the same on another computer":       of(saved, elsewhere("loading\n1.0000000000000002")),
	"another answer on another computer": of(saved, elsewhere("2")),
	"no file on another computer":        of(saved, asksFile, elsewhere("1")),
	"a failure on another computer":      of(saved, elsewhere("")),

	"no column to mask": of(simple, func(s *stage) { s.config.Columns = []string{"name"} }),
	"a variable beside columns to mask": of(simple, func(s *stage) {
		s.config.Columns, s.world.columns = []string{"name"}, private
		hosting(s, []record.Variable{{Name: "df", Text: "Ann Smith"}})
	}),
	"a file with the name of a data file": of(simple.with(filed("a.csv", "1", "2")), asking("Enter it into the provided a.csv.", "")),
	"a file that a follow-up overwrites": of(saved, asksFile).
		on(next, onward.with(script{"cell": "b = 2\nsave(out.csv, b)\nprint(b)"})).
		on(edit(source("step-2-1", "out.csv", "other.csv")), more),

	"a reply that cannot be used, and on": of(simple.with(script{"solver": "I'm sorry, I cannot."})).
		on(nil, simple).unkilled(),
	"other tries at the last cell": of(simple.with(script{"last": "die()", "debugger": "die()"})).
		on(nil, simple.with(script{"debugger": "print(x)"})),
	"finished":   of(simple).on(nil, script{}),
	"other data": of(simple).on(nil, simple, resized),
	"other data for a last cell of a person's own": of(three).on(marks, more).on(nil, more, resized),

	"follow-ups": of(three).on(question("And now?", "A word."), onZ.with(script{"cell": "v = z\nv += \"4\"\nprint(v)",
		"verdict round 4": bad, "wrong round 4": "1"})).on(question("And then?", ""), fresh),
	"a question without an answer, asked in another way": of(simple.with(script{"cell": "die()", "debugger": "die()"})).
		on(question("In another way?", "A word."), onward.with(script{"cell": "b = 5\nprint(b)"})),
	"a follow-up on another derivation":        of(unruled).on(next, onward),
	"a follow-up apart that takes an option":   of(open).on(next, apart("\nTakes: 1", "z = 2\nz")),
	"a follow-up apart that no option changes": of(open).on(next, apart("\nTakes: 1", "z = 5\nz")),
	"a follow-up apart from a reading that was not computed": of(open.with(script{"verdict": no})).
		on(next, apart("\nTakes: 1", "z = 2\nz")),
	"followed with fewer rounds": of(three).on(next, onZ, func(s *stage) { s.config.MaxRounds = 1 }),
	"a time in a step, followed": of(three.with(script{"cell round 1": "x = 1\nt = tick()\nprint(t)"})).unkilled().
		on(next, onZ).unkilled(),
	"a note for a later question": of(simple).on(next, onward).on(edit(insert("answer-2", note("Mind."))), onward).
		on(seven, onward),
	"functions that only a follow-up uses": of(simple, recalled("tool = 1")).
		on(next, onward.with(script{"cell": "b = tool\nprint(b)"})),
	"a stranger's run, followed": of(simple).on(next, onward).
		on(stranger, more).unkilled(),
	"an earlier cell that gives another output": of(simple).
		on(then(next, journaled(`"1\n`, `"9\n`)), onward.with(script{"last round 1": "print(x)"})).unkilled().
		on(nil, onward),

	"a choice":                        of(open).on(chooses(0, 0, 1), open),
	"a choice of an earlier question": of(open).on(next, onward).on(chooses(0, 0, 1), onward),
	"a choice of both others":         of(bothOpen).on(chooses(0, 2, 1), bothOpen),
	"a choice left open":              of(open, choosing(-1)),
	"a choice at once": of(open.with(script{"branches": branches("z = 2\nz"),
		"step round 2": "Count some.", "cell round 2": "x = 2\nprint(x)"}), choosing(1)),
	"a choice that the second derivation has found": of(open.with(script{
		"branches": branches("z = 2\nz"), "second": "w = 2\nw"}), choosing(1)),
	"a choice of the second derivation's answer": of(simple.with(script{
		"second the answer": "z = 2\nz", "arbiter": isReading}), choosing(1)),
	"a choice without an answer": of(open.with(script{"branches": branches("die()"),
		"debugger": "die()", "step round 2": "Count some.", "cell round 2": "x = 2\nprint(x)"}), choosing(1)),
	"a choice between two": of(open.with(script{"solver round 1": reads(isOpen, isOpen),
		"branches": branches("z = 2\nz", "z = 1\nz"), "branches the readings, again 1": branches("", "z = 2\nz")}), choosing(1)),
	"a reading without an answer in the data": of(open.with(script{"last": "print(\"Not Applicable\")", "verdict": noShop})),

	"a step edited":              of(three).on(edit(source("step-2", `"2"`, `"II"`)), three.with(script{"verdict": yes})),
	"a step removed":             of(three).on(edit(remove("round-3", "step-3", "verdict-3")), more),
	"an order that does not run": of(three).on(edit(move("step-1", "step-2")), more),
	"elsewhere":                  of(three).on(next, onward).on(edit(source("parameters", "/data", "/other")), more),
	"a cell of a person's own fails": of(three).on(edit(source("step-2", "", "nothing_like_it\n")), more).
		on(then(unasked, edit(insert("step-3", note("Mind.")))), more).on(edit(source("step-2", "nothing_like_it\n", "")), more),
	"a last cell of a person's own fails": of(three).on(edit(source("final", "", "nothing_like_it\n")), more).
		on(edit(source("final", "nothing_like_it\n", "")), more),
	"a last cell of a person's own removed": of(three).on(shout, more).
		on(edit(remove("final")), more.with(script{"finalizer": "print(z)"})),
	"a step dropped below a last cell of a person's own":      of(three).on(shout, more).on(dropped(3), more),
	"a person's cell, and a verdict against it":               of(three).on(hers, judges(2)),
	"a person's cell, and a verdict against a step before it": of(three).on(hers, judges(1)),
	"a person's cell, and a verdict against a step after it":  of(three).on(hers, judges(3)),
	"a person's cell, and a ruling against it":                of(undecided).on(hers, more.with(script{"arbiter": wrongStep + "2"})),
	"a person's last cell, and a ruling against it":           of(undecided).on(shout, more.with(script{"arbiter": wrongStep + "0"})),
	"cells of two questions edited": of(three).on(next, onZ.with(script{"cell": "v = z\nv += \"4\"\nprint(v)"})).
		on(edit(source("step-1", "1", "7"), source("final", "print(z)", "z += \"!\"\nprint(z)")), more).
		on(edit(source("step-2", "y = x", "y = x\nz = y"), source("final", "z += \"!\"\nprint(z)", "print(y)"),
			remove("round-3", "step-3")), more).
		on(edit(source("step-1", "x = 7", "nothing_like_it")), more),

	"rejected steps":          of(simple, deciding(rejected("no"), nil)),
	"a decision that is none": of(simple, deciding(agent.Decision{}, nil)),
	"a decision of bytes":     of(simple, deciding(accepted("x = \"\xff\""), nil)),
	"a decision that fails":   of(simple, deciding(accepted("x = 1"), errors.New("broken"))),
	"rejected last cells": of(simple.with(script{"debugger": "print(x)"}), decided(map[string]agent.Decision{
		"the answer, try 1": rejected("no"), "the answer, try 2": rejected(""), "the answer, try 3": rejected("no")})).unkilled(),
	"a last cell by hand": of(simple, decided(map[string]agent.Decision{
		"round 1, try 1":    {Choice: agent.Accept, Text: "Take seven.", Code: "# \u00e9\r\nx = 7\nprint(x)\n\n"},
		"the answer, try 1": accepted(`print("42.123")`)})),
	"a cell by hand that fails": of(simple.with(script{"debugger": "x = 2\nprint(x)"}), decided(map[string]agent.Decision{
		"round 1, try 1":    {Choice: agent.Accept, Text: "Mine.", Code: `raise KeyError("mine")`},
		"the answer, try 1": accepted("y = x"), "the answer, try 2": accepted("print(x)")})),
	"a last cell by hand that fails": of(unfit, decided(map[string]agent.Decision{
		"the answer, try 1": {Choice: agent.Accept, Unseen: true},
		"the answer, try 2": accepted(`raise KeyError("mine")`),
		"the answer, try 3": accepted(`raise KeyError("mine too")`)})).unkilled(),
	"reviewed": of(simple.with(script{"verdict round 1": no, "cell round 2": `raise KeyError("k")`,
		"debugger": "x += 8", "cell round 3": "y = x\nprint(y)"}), decided(map[string]agent.Decision{
		"round 1, try 1": {Choice: agent.Accept, Text: "Mine.", Code: "x = 5\nprint(x)"}, "round 2, try 2": rejected("no")})),

	// what the judge reads anew after an edit
	"another option after an edit": of(open).on(doubled, readsAgain(2, "")),
	"another point after an edit": of(open).on(doubled, readsAgain(1,
		"Reading: Whether it counts.\nOption 1: yes\nOption 2: no\nTaken: 2\n"+isOpen+"\n\n")),
	"an option after an edit, which the judge does not name": of(open).on(doubled, open.with(script{
		"judge round 2": judged, "branches the readings, what is in doubt": taken("w = 1\nw")})),

	// what settled a reading is looked for again
	"a rule in other data":      of(byRule, ruled(rule)).on(nil, byRule, ruled(rule+" So it is.")),
	"another rule":              of(byRule, ruled(rule)).on(nil, byRule, ruled("Cancelled orders do count in the revenue.")),
	"a definition that settles": of(byRule, defines(rule)).on(nil, script{}, defines(rule)),
	"another definition":        of(byRule, defines(rule)).on(nil, byRule, defines("Cancelled orders do count in the revenue.")),
	"another note beside one that settled": of(byRule, ruled(rule)).
		on(then(byNote, edit(insert("data", note("Mind.")))), byRule, ruled(rule)),
	"no note that settled": of(byRule, ruled(rule)).on(then(byNote, edit(withoutNotes)), byRule, ruled(rule)),
	"a note above all":     noted(edit(insert("question", note("Mind.")))),
	"a note removed":       noted(edit(withoutNotes)),
}

// variants are recordings of simple with these replies.
var variants = map[string]script{
	"simple": {},
	"back, with repairs": {
		"step round 2": "Two.", "step round 3": "Three.", "step round 4": "Four.",
		"cell round 2":            `raise KeyError("k")`,
		"debugger round 2, try 2": "y = 2\nx += y", "cell round 3": "x += \"3\"\nprint(x)",
		"verdict round 3": bad, "wrong round 3": "2",
		"cell round 4": "x += \"4\"\nprint(x)", "verdict": no,
		"verdict round 4": yes,
	},
	"a step that never runs": {"verdict round 1": no, "cell round 2": `raise KeyError("k")`,
		"debugger": `raise ValueError("v")`, "cell round 3": "print(x)\nx += \"!\"", "verdict round 3": yes},
	"a doubtful form": {"cell": "x = \"1.234\"\nprint(x)", "debugger": "y = x\ny += \"5\"\nprint(y)"},
	"a last cell that does not run": {"last": `raise KeyError("k")`,
		"debugger the answer, try 2": "print(\"7\")", "debugger the answer, try 3": "print(x)"},
	"replies that cannot be read":        {"judge round 1": "hm", "judge round 1, asked again": "hm"},
	"a judge that is never understood":   {"judge": "hm"},
	"out of rounds":                      {"verdict": no},
	"chance":                             {"cell": "x = purpose()\nprint(x)"},
	"a kernel's death":                   {"cell": "x = 1\nends(1)\nprint(x)"},
	"a last cell that prints a constant": {"last": "print(42)", "debugger": "print(42)"},
	"a wrong step that is not there":     {"verdict round 1": bad, "verdict round 1, asked again": bad, "wrong": "9"},
	"no repair":                          {"cell round 1": "die()", "debugger": "raw:No."},
	"no reply in a later round":          {"verdict": no, "solver round 2": "", "solver round 2, asked again": ""},

	"an answer like an address":       {"cell": `x = "at 0x08048000"`},
	"a merge that doubles rows":       {"cell": "# with pandas\nx = 1\nprint(x)"},
	"an answer brought into its form": unfit.with(script{"debugger": "print(y)"}),
	"no repair of a form runs":        unfit.with(script{"debugger": "die()"}),
	"a file, another in the proof":    filed("out.csv", "purpose()", "work"),
	"a file with another seed":        filed("out.csv", "seed", "0"),
	"a picture that looks the same":   filed("out.png", "\"a|5\"\nx += purpose()", "a|5work"),
	"a workbook of other bytes":       filed("out.xlsx", "purpose()", "work"),

	"a mistake of the first derivation": another.with(script{"arbiter two answers": wrongStep + "1"}),
	"a mistake of the second derivation": corrected("die()").with(script{
		"debugger second derivation, again 1, try 2": "agreed()"}),
	"still different after two corrections": corrected("z = 3\nz"),
	"a difference of reading":               another.with(script{"arbiter": isReading}),
	"a ruling that cannot be read":          another.with(script{"arbiter": "Hm."}),
	"a wrong last cell":                     another.with(script{"arbiter two answers": wrongStep + "0"}),
	"the same, says the arbiter": {"second": "z = \"one\"\nz",
		"arbiter": "Ruling: same\nReason: a word"},
	"the same, which it cannot be":        another.with(script{"arbiter": "Ruling: same\nReason: both are counts"}),
	"a second derivation that never runs": {"second": "die()", "debugger": "die()"},
	"a second derivation of nothing":      {"second": "z = 1", "debugger": "z = 1"},
	"a second derivation without code":    {"second": "raw:No."},
	"a second derivation that is a copy":  {"second": "# a copy\nz = 1\nz"},
	"a typed-in second derivation":        {"second": "print(1)", "debugger": "print(1)"},

	"readings": {"solver round 1": reads(isOpen, isOpen), "branches": branches("die()", "z = 1\nz"),
		"debugger reading 1, option 2, try 2": "z = 2\nz"},
	"readings in doubt": {"solver round 1": reads(isOpen, isOpen), "branches": branches("z = 1\nz", "z = 1\nz"),
		"branches the readings, what is in doubt": taken("w = 1\nw") + branch("2.1", 0, "w = 1\nw") +
			branch("3.2", 0, "w = 1\nw")},
	"branches that keep steps": {"solver round 1": reads(isOpen, isOpen), "verdict round 1": no,
		"cell round 2": "x += 2\nprint(x)", "branches": branches("z = 12\nz", "x += 3\nx")},
	"readings of a new plan": {"solver round 1": reads(isOpen), "verdict round 1": bad, "wrong round 1": "1",
		"solver round 2": reads(isOpen, isSettled), "verdict round 2": yes + "\nTakes: 1, 1\nDecided: 2",
		"branches": branches("z = 1\nz", "z = 2\nz")},
	"settled, which changes the answer": {"solver round 1": reads(isSettled),
		"judge round 1": saying("Takes: 1\nDecided: 1") + branches("z = 2\nz")},
	"settled by dsstar's words": {"branches": branches("z = 2\nz"),
		"solver round 1": reads("Evidence: \"All files are in the folder\"\nSettled: yes")},
	"settled, and the cells take the other": {"solver round 1": reads(isSettled), "branches": taken("w = 2\nw"),
		"judge round 1": saying("Takes: 2\nDecided: 1") + branches("z = 1\nz")},
	"the same answer": {"solver round 1": reads(isOpen), "branches": branches("z = 1\nz"),
		"verdict": yes + "\nTakes: 1"},
	"the same answer, which is that of the cells":            alike(taken("w = 2\nw")),
	"the same answer, and nothing shows what the cells take": alike(branches("z = 1\nz")),
	"a branch left out":                                  {"solver round 1": reads(isOpen, isOpen), "branches": branches("z = 1\nz")},
	"branches with the verdict":                          {"solver round 1": reads(isOpen), "judge round 1": judged + branches("z = 2\nz")},
	"a reading that the judge adds":                      {"judge round 1": late + judged, "branches": branches("z = 2\nz")},
	"a reading that the judge adds, and changes nothing": {"judge round 1": late + judged, "branches": branches("z = 1\nz")},
	"readings that a later step adds": {"solver round 1": reads(isOpen), "verdict round 1": no,
		"solver round 2": late + strings.Replace(reads(isOpen), "x = 1", "x = 12", 1), "judge round 2": judged,
		"branches": branches("z = 12\nz", "z = 2\nz"), "branches the readings, what is in doubt": ""},
	"a reading that the second derivation adds": {"second": "raw:" + late + "```python\nagreed()\n```",
		"branches": branches("z = 2\nz")},
	"a reading of the second derivation, which there is": {"solver round 1": reads(isOpen), "branches": branches("z = 2\nz"),
		"second": "raw:" + strings.Replace(late, "Whether it counts", "Which of 1 count", 1) + "```python\nagreed()\n```"},
	"a reading of the second derivation with its cell": {"second": "raw:" + late + "```python\nz = 1\nz\n```\n\n```python\nz = 2\nz\n```"},
	"a reading of the second derivation in other words": {"solver round 1": reads(isOpen), "branches": branches("z = 2\nz"),
		"second": "raw:" + strings.NewReplacer("Whether it counts", "Does 1 count?", "yes", "all things", "no", "some things").Replace(late) +
			"```python\nz = 1\nz\n```\n\n```python\nz = 2\nz\n```"},
	"a reading of the second derivation, which differs": {"second": "raw:" + late + "```python\nz = 2\nz\n```",
		"arbiter": who},
	"an option that an output decides": {"solver round 1": counts, "judge round 1": saying(shows)},
	"an option that an output decides, named again": {"solver round 1": counts, "judge round 1": saying(shows),
		"second":   "raw:" + strings.Replace(late, "Whether it counts", "Which of 1 count", 1) + "```python\nagreed()\n```",
		"branches": branches("z = 2\nz")},
	"an option that nothing printed decides": {"solver round 1": counts, "judge round 1": saying(strings.Replace(shows, "0", "7", 1)), "branches": branches("z = 2\nz")},
	"an output that decided, of a step that was dropped": {"solver round 1": reads(isOpen), "verdict": no,
		"cell": "print(x)", "cell round 2": counted, "verdict round 2": no + "\nPrinted: 1.2 \"cancelled orders 0\"",
		"verdict round 3": bad, "wrong round 3": "2", "judge round 4": judged, "branches": branches("z = 2\nz")},
	"a reading that cannot be read, and no reply": {"solver round 1": unread, "solver round 1, asked again": "Hm."},
}

// ofFiles are what two derivations answer and save, some with what only the session can say of a file.
var ofFiles = []struct{ question, name, first, file, second, other string }{
	{"Save it as out.csv. How many?", "out.csv", "5, out.csv", "x,1", "out.csv, 5", "x,1"},
	{"Save it as out.csv. How many?", "out.csv", "5, out.csv", "x,1", "5, out.csv", "x,2"},
	{"How many?", "other.csv", "5 (other.csv)", "x,1", "3 (other.csv)", "x,1"},
	{"Save it as o.png.", "o.png", "o.png", `a|{"bars": [{"at": "N", "value": 1}]}`, "o.png",
		`b|{"bars": [{"at": "N", "value": 1}]}`},
	{"Save it as o.png.", "o.png", "o.png", `a|{"bars": [{"at": "N", "value": 1}]}`, "o.png",
		`b|{"bars": [{"at": "N", "value": 2}]}`},
	{"Save it as o.png.", "o.png", "o.png", "a|{}", "o.png", "a|{}"},
}

// allRecordings returns all recordings, by name.
func allRecordings() map[string]turns {
	all := maps.Clone(recordings)
	for name, replies := range variants {
		all[name] = of(simple.with(replies))
	}
	for n, c := range ofFiles {
		save := func(x, file string) string {
			return x + " = " + strconv.Quote(file) + "\nsave(" + c.name + ", " + x + ")\n"
		}
		other := save("z", c.other) + "a = \"" + c.second + "\"\na"
		derived := simple.with(script{"cell": save("x", c.file) + "print(x)", "last": "y = x\nprint(\"" + c.first + "\")",
			"second": other, "arbiter": "Ruling: same\nReason: so it is"})
		read := derived.with(script{"branches": branches(other), "verdict": yes + "\nTakes: 1",
			"second":         save("z", c.file) + "a = \"" + c.first + "\"\na",
			"solver round 1": strings.Replace(reads(isOpen), "x = 1\n", save("x", c.file), 1)})
		name := "words and files " + strconv.Itoa(n+1)
		all[name] = of(derived, asking(c.question, ""))
		all[name+" of a reading"] = of(read, asking(c.question, ""))
	}
	return all
}
