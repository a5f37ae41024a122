package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/journal"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
)

func question(text, form string) act {
	return changed(func(tr *record.Trajectory) { must(0, tr.Ask(text, form)) })
}

func edit(changes ...func(reporter, *notebook.Notebook)) act {
	return func(t *testing.T, tr *record.Trajectory) *record.Trajectory {
		return must(edited(t, tr, all(changes...)))
	}
}

// chooses takes an option of reading i of question k.
func chooses(k, i, option int) act {
	return changed(func(tr *record.Trajectory) { must(0, agent.Choose(tr, k, i, option)) })
}

// choosing has a person choose an option of each reading that matters.
func choosing(option int) func(*stage) {
	return func(s *stage) {
		s.config.ChooseReading = func(context.Context, record.Reading, string) (int, error) { return option, nil }
	}
}

// changed changes a record.
func changed(change func(*record.Trajectory)) act {
	return func(_ *testing.T, tr *record.Trajectory) *record.Trajectory {
		change(tr)
		return tr
	}
}

// dropped has a person drop a step.
func dropped(step int) act {
	return changed(func(tr *record.Trajectory) { must(0, tr.Drop(step)) })
}

// showing has all code cells show other outputs.
func showing(outputs []notebook.Output) act {
	return edit(func(_ reporter, nb *notebook.Notebook) {
		for i := range nb.Cells {
			if nb.Cells[i].Type == notebook.Code {
				nb.Cells[i].Outputs = outputs
			}
		}
	})
}

// then does all of these, one after the other.
func then(acts ...act) act {
	return func(t *testing.T, tr *record.Trajectory) *record.Trajectory {
		for _, does := range acts {
			tr = does(t, tr)
		}
		return tr
	}
}

// apart is a follow-up that loads all anew, and whose judge says which options it takes.
func apart(takes, branch string) script {
	return fresh.with(script{"verdict": yes + takes, "branches": strings.Replace(branches(branch), "Keeps: 2", "Keeps: 0", 1)})
}

// journaled is a run whose cells have given something else, which is a part of a text.
func journaled(was, is string) act {
	in := func(text string) string { return strings.Trim(string(must(json.Marshal(text))), `"`) }
	return changed(func(tr *record.Trajectory) {
		data := strings.ReplaceAll(string(must(json.Marshal(tr.Journal))), in(was), in(is))
		tr.Journal = &journal.Journal{}
		must(0, json.Unmarshal([]byte(data), tr.Journal))
	})
}

// prints is a run whose script has run so in plain Python.
func prints(x notebook.Execution, err error) func(*stage) {
	return func(s *stage) {
		s.config.RunScript = func(_ context.Context, dir string, _ time.Duration) (notebook.Execution, error) {
			return marked(dir, x), err
		}
	}
}

// readsAgain is a judge that names the readings again, with the option taken of the first.
func readsAgain(taken int, more string) script {
	first := strings.TrimSuffix(reads(isOpen), "Step: Count.\n\n```python\nx = 1\nprint(x)\n```")
	return open.with(script{"branches": branches("z = 3\nz", "z = 3\nz"),
		"judge round 2": strings.Replace(first, "Taken: 1", fmt.Sprint("Taken: ", taken), 1) + more + judged})
}

// judges is a judge that finds a step wrong.
func judges(wrong int) script {
	return more.with(script{"verdict round 4": bad, "wrong round 4": fmt.Sprint(wrong), "cell": "x = 1\nprint(x)",
		"last": "print(x)"})
}

// asking is a run with another question and form.
func asking(q, form string) func(*stage) {
	return func(s *stage) { s.task.Question, s.task.Guidelines = q, form }
}

// wrongStep is a ruling that lacks the number of a step.
const wrongStep = "Ruling: first\nReason: it counts twice\nWrong step: "

var (
	asksFile = asking("Save it as out.csv.", "")
	next     = question("And now?", "")
	unruled  = open.with(script{"second": "w = 7\nw", "arbiter": "Ruling: undecided\nReason: who knows"})
	// two readings, which only together change the answer
	bothOpen = simple.with(script{"solver round 1": reads(isOpen, isOpen), "verdict": yes + "\nTakes: 1, 1",
		"branches": branches("z = 1\nz", "z = 1\nz"), "second the answer, again 3": "w = 3\nw",
		"branches the readings, what is in doubt": "Branch 3.2\nKeeps: 0\n\n```python\nz = 3\nz\n```"})
	// a second derivation gives another answer
	undecided = three.with(script{"second": "w = 1\nw", "arbiter": "Ruling: undecided\nReason: who knows"})

	byRule = simple.with(script{"solver round 1": reads("Evidence: \"" + rule + "\"\nSettled: yes"),
		"verdict": yes + "\nTakes: 1\nDecided: 1", "branches": branches("z = 2\nz")})
	// a note has settled it instead
	byNote = changed(func(tr *record.Trajectory) {
		tr.AddNote(mind)
		tr.Readings[0].Evidence, tr.Readings[0].From = "\u201c"+mind+"\u201d (note)", record.FromNote
	})

	shout   = source("final", "print(z)", "z += \"!\"\nprint(z)")
	doubled = source("step-1", "x = 1", "x = 2")
	hers    = source("step-2", "\"2\"", "\"mine\"")
	remark  = notebook.Cell{ID: "own", Type: notebook.Markdown, Source: "Mine."}

	// a follow-up that builds on the answer x, and one that loads all anew
	onward = simple.with(script{"cell": "b = x\nb += \"2\"\nprint(b)", "last": "print(b)",
		"branches": branches("z = 7\nz")})
	fresh = onward.with(script{"cell": "b = 5\nprint(b)", "verdict": yes + "\nTakes: 0"})
	// a question with an open reading, which the next steps leave open
	open = simple.with(script{"solver round 1": reads(isOpen),
		"branches": "Branch 1.2\nKeeps: 0\n\n```python\nx = 2\nx\n```"})
	saved = simple.with(script{"cell": "x = 1\nsave(out.csv, x)\nprint(x)",
		"second": "s = 1\nsave(out.csv, s)\ns"})
)

// recordings are runs of every role and turn, beside those of troubled.
var recordings = map[string][]turn{
	"three steps": {{replies: three}}, "an open reading": {{replies: open}}, "another derivation": {{replies: unruled}},
	"a settled reading": {{replies: simple.with(script{"solver round 1": reads(isSettled),
		"branches": branches("z = 2\nz")})}},
	"an answer in another form": {{replies: simple.with(script{"last": "print(\"about one\")",
		"debugger": "x = \"a few\"\nprint(x)"})}},
	"no answer in the data": {{replies: simple.with(script{"last": `print("Not Applicable")`,
		"verdict": "Verdict: inconclusive\nReason: no shop is in Bremen"})}},
	"an answer that is none": {{change: asking("What is it?", ""),
		replies: simple.with(script{"cell": "x = \"nan\"\nprint(x)", "debugger": "print(x)"})}},
	"chance": {{replies: simple.with(script{"cell": "x = purpose()\nprint(x)"})}},
	"a typed-in second derivation": {{
		replies: simple.with(script{"second": "print(1)", "debugger": "print(1)"})}},
	"the same, says the arbiter":   {{replies: another.with(script{"second": "z = \"one\"\nz", "arbiter": "Ruling: same\nReason: a word"})}},
	"the same, which it cannot be": {{replies: another.with(script{"arbiter": "Ruling: same\nReason: both are counts"})}},
	"a wrong last cell":            {{replies: another.with(script{"arbiter two answers": wrongStep + "0"})}},
	"a wrong step, and still another answer": {{replies: another.with(script{"arbiter two answers": wrongStep + "1",
		"cell round 2": "x = 3\nprint(x)", "arbiter two answers, again 1": "Ruling: undecided"})}},
	"a corrected second derivation":      {{replies: another.with(corrected("z = 1\nz"))}},
	"an undecided arbiter":               {{replies: another.with(script{"arbiter": "Ruling: undecided\nReason: who knows"})}},
	"a second derivation of nothing":     {{replies: simple.with(script{"second": "z = 1", "debugger": "z = 1"})}},
	"a second derivation without code":   {{replies: simple.with(script{"second": "raw:No."})}},
	"a second derivation that is a copy": {{replies: simple.with(script{"second": "# a copy\nz = 1\nz"})}},
	"no session for the second derivation": {{replies: simple, change: refuses(agent.Second, errors.New("no room")), whole: true},
		{replies: simple}},
	"no second derivation as going back is off": {{replies: simple, change: func(s *stage) {
		refuses(agent.Second, errors.ErrUnsupported)(s)
		s.world.ways = []notebook.Restoration{{Way: notebook.NotAtAll}}
	}}},
	"no second derivation wanted":     {{replies: simple, change: func(s *stage) { s.config.Method.NoSecond = true }}},
	"an answer brought into its form": {{replies: unfit.with(script{"debugger": "print(y)"})}},
	"no repair of a form runs":        {{replies: unfit.with(script{"debugger": "die()"})}},
	"a kernel's death":                {{replies: simple.with(script{"cell": "x = 1\nends(1)\nprint(x)"})}},
	"a session that ends twice": {{whole: true, replies: simple.with(script{"verdict round 1": no, "debugger": "x = 1\nprint(x)",
		"cell round 1": "x = 1\nends()\nprint(x)"})}},
	"no step works": {{replies: simple.with(script{"cell": "die()", "debugger": "die()"})}},
	"the last step fails": {{replies: simple.with(script{"verdict": no, "cell": "hang()", "cell round 1": "x = 1\nprint(x)",
		"debugger": "hang()"})}},
	"a step that prints something else again": {{whole: true, replies: simple.with(script{"cell": "x = tick()\nprint(x)",
		"verdict round 1": no, "cell round 2": "die()", "debugger": "y = x\nprint(y)"})}},
	"a step that does not run again": {{whole: true, replies: simple.with(script{"verdict round 1": no, "debugger": "print(x)",
		"cell round 2": "x = 2\nonce()\nprint(x)", "last": "die()"})}},
	"a last cell that prints a constant": {{replies: simple.with(script{"last": "print(42)", "debugger": "print(42)"})}},
	"a last cell that prints nothing":    {{whole: true, replies: simple.with(script{"last": "y = x", "debugger": "y = x"})}},
	"a last cell that prints nothing at first": {{replies: simple.with(script{"last": "y = x", "debugger": "print(x)",
		"cell": "x = \"  a\\nb \"\nprint(x)"})}},
	"a reply asked for again": {{replies: simple.with(script{"verdict round 1": "Hm.", "verdict round 1, asked again": yes,
		"solver round 1": "cut:Step: Load.\n```python\nx = 1", "cell round 1, asked again": "x = 2\nprint(x)"})}},
	"a wrong step that is not there": {{replies: simple.with(script{"verdict round 1": bad,
		"verdict round 1, asked again": bad, "wrong": "9"})}},
	"a step that does not run again, after a route": {{whole: true, replies: simple.with(script{"verdict": no,
		"cell round 2": "x = 2\nonce()\nprint(x)", "verdict round 4": bad, "wrong round 4": "4", "verdict round 5": yes})}},
	"words that would fetch": {{change: asking("![x](http://e.test) </details>\n\n<img src=http://e.test>?", ""),
		replies: simple.with(script{"step": "``a`![x](http://e.test)\u2028 \U0001f600 a\x1b[31mc",
			"verdict": "Verdict: sufficient\nReason: `<img src=http://e.test>` <b>&amp;",
			"cell":    "x = \"a | ![x](http://e.test) ```\"\nprint(x)"})}},
	"no repair": {{replies: simple.with(script{"cell round 1": "die()", "debugger": "raw:No."})}},
	"no reply in a later round": {{replies: simple.with(script{"verdict": no, "solver round 2": "",
		"solver round 2, asked again": ""})}},
	"a guest": {{replies: three, change: hosted}},
	"the paper": {{replies: published,
		change: func(s *stage) { s.config.Method = record.Method{Script: true} }}},

	"a file": {{replies: saved, change: asksFile}},
	"a file of another content": {{change: asksFile, replies: saved.with(script{
		"second":  "s = 2\nsave(out.csv, s)\nagreed()",
		"arbiter": "Ruling: undecided\nReason: who knows"})}},
	"a file with the name of a data file": {{change: asking("Enter it into the provided a.csv.", ""),
		replies: simple.with(filed("a.csv", "1", "2")).with(script{"arbiter": "Ruling: undecided"})}},
	"a file that no question names": {{replies: simple.with(filed("my own.csv", "1", "2")).with(script{"arbiter": "Ruling: undecided"}), change: asking("How many?", "")}},
	"a file that a follow-up overwrites": {{replies: saved, change: asksFile},
		{does: next, replies: onward.with(script{"cell": "b = 2\nsave(out.csv, b)\nprint(b)"})},
		{does: edit(source("step-2-1", "out.csv", "other.csv")), replies: more}},

	"a spent budget, and on": {{replies: three, change: func(s *stage) { s.config.Limits.Calls = 3 }},
		{replies: three}},
	"a last cell that never runs, and on": {{replies: simple.with(script{"last": "die()", "debugger": "die()"}), whole: true},
		{replies: more.with(script{"debugger": "print(x)"})}},
	"a reply that cannot be used, and on": {{replies: simple.with(script{"solver": "I'm sorry, I cannot."})},
		{replies: simple, whole: true}},
	"a budget that no cost is known of": {{replies: simple}, {does: next, replies: onward, change: func(s *stage) {
		s.config.Price = func(string) (llm.Price, bool) { return llm.Price{Input: 1e9, Output: 1e9}, true }
		s.config.Limits.Cost = 0.01
	}}},
	"other data": {{replies: simple},
		{replies: simple, change: func(s *stage) { s.task.Files[0].Size = 7 }}},
	"follow-ups": {{replies: three},
		{does: question("And now?", "A word."), replies: onward.with(script{
			"cell": "v = z\nv += \"4\"\nprint(v)", "last": "print(v)",
			"verdict round 4": bad, "wrong round 4": "1"})},
		{does: question("And then?", ""), replies: fresh}},
	"a question without an answer, asked in another way": {
		{replies: simple.with(script{"cell": "die()", "debugger": "die()"})},
		{does: question("In another way?", "A word."), replies: onward.with(script{"cell": "b = 5\nprint(b)"})}},
	"a follow-up on another derivation":         {{replies: unruled}, {does: next, replies: onward}},
	"a follow-up apart from another derivation": {{replies: unruled}, {does: next, replies: fresh}},
	"a follow-up apart that takes an option":    {{replies: open}, {does: next, replies: apart("\nTakes: 1", "z = 2\nz")}},
	"a follow-up apart that may take an option": {{replies: open}, {does: next, replies: apart("", "z = 2\nz")}},
	"a follow-up apart that no option changes":  {{replies: open}, {does: next, replies: apart("\nTakes: 1", "z = 5\nz")}},
	"a follow-up on a reading":                  {{replies: open}, {does: next, replies: onward}},
	"a follow-up apart from a reading that was not computed": {{replies: open.with(script{"verdict": no})},
		{does: next, replies: apart("\nTakes: 1", "z = 2\nz")}},
	"a follow-up apart": {{replies: open}, {does: next, replies: fresh}},
	"a choice at once": {{replies: open.with(script{"branches": branches("z = 2\nz"),
		"step round 2": "Count some.", "cell round 2": "x = 2\nprint(x)"}), change: choosing(1)}},
	"a choice that the second derivation has found": {{change: choosing(1), replies: open.with(script{
		"branches": branches("z = 2\nz"), "second": "w = 2\nw"})}},
	"a choice of the second derivation's answer": {{change: choosing(1), replies: simple.with(script{
		"second the answer": "z = 2\nz", "arbiter": "Ruling: reading\nReason: both\nReading: Which count.\n" +
			"Option 1: all\nOption 2: some"})}},
	"a choice without an answer": {{change: choosing(1), replies: open.with(script{"branches": branches("die()"),
		"debugger": "die()", "step round 2": "Count some.", "cell round 2": "x = 2\nprint(x)"})}},
	"a choice left open": {{replies: open, change: choosing(-1)}},
	"a choice between two": {{change: choosing(1), replies: open.with(script{"solver round 1": reads(isOpen, isOpen),
		"branches": branches("z = 2\nz", "z = 1\nz"), "branches the readings, again 1": branches("", "z = 2\nz")})}},
	"a reading without an answer in the data": {{replies: open.with(script{"last": "print(\"Not Applicable\")",
		"verdict": "Verdict: inconclusive\nReason: no such column\nTakes: 1"})}},
	"no reading with an answer in the data": {{replies: open.with(script{"last": "print(\"Not Applicable\")",
		"verdict":  "Verdict: inconclusive\nReason: no such column\nTakes: 1",
		"branches": branches("z = \"Not Applicable\"\nz")})}},
	"a choice":                 {{replies: open}, {does: chooses(0, 0, 1), replies: open}},
	"a choice of both at once": {{replies: bothOpen}, {does: chooses(0, 2, 0), replies: bothOpen}},
	"a choice of both others":  {{replies: bothOpen}, {does: chooses(0, 2, 1), replies: bothOpen}},
	"a function that is wrong": {{change: recalled("tool = 1"), replies: another.with(script{
		"cell": "x = tool\nprint(x)", "arbiter two answers": wrongStep + "1"})}},
	"a stranger's run, followed": {{replies: simple}, {does: next, replies: onward}, {replies: more, whole: true,
		does: changed((*record.Trajectory).Disown)}},
	"an earlier cell that gives another output": {{replies: simple}, {replies: onward.with(script{"last round 1": "print(x)"}), whole: true,
		does: then(next, journaled(`"1\n`, `"9\n`))}, {replies: onward}},
	"a choice of an earlier question": {{replies: open}, {does: next, replies: onward},
		{does: chooses(0, 0, 1), replies: onward}},

	"a step edited": {{replies: three}, {does: edit(source("step-2", `"2"`, `"II"`)),
		replies: three.with(script{"verdict": yes})}},
	"a cell added, another removed": {{replies: three},
		{does: edit(insert("step-2", mine), remove("final")),
			replies: three.with(script{"verdict": yes})}},
	"another last cell": {{replies: three},
		{does: edit(shout), replies: more}},
	"a step removed": {{replies: three}, {does: edit(remove("round-3", "step-3", "verdict-3")),
		replies: more}},
	"another order": {{replies: three}, {replies: more.with(script{"last": "print(z)"}),
		does: edit(source("step-1", "x = 1", "x = 1\ny = x"), source("step-2", "y = x\n", ""),
			source("step-3", "z = y", "z = y\ny += \"4\""), move("step-3", "step-1"))}},
	"a note that leads on": {{replies: three}, {does: edit(insert("step-3", note("Mind the gap."))),
		replies: more.with(script{"verdict round 4": no, "cell round 5": `z += "g"`, "last": "print(z)"})}},
	"an edit, and the judge goes back": {{replies: three}, {does: edit(source("step-2", `"2"`, `"II"`)),
		replies: more.with(script{"verdict round 4": bad, "wrong": "3",
			"cell round 5": "z = y\nz += \"a\"\nprint(z)", "last": "print(z)"})}},
	"elsewhere": {{replies: three}, {does: next, replies: onward}, {does: edit(source("parameters", "/data", "/other")), replies: more}},
	"a cell of a person's own fails": {{replies: three}, {does: edit(source("step-2", "", "nothing_like_it\n")), replies: more},
		{does: edit(insert("step-3", note("Mind."))), replies: more},
		{does: edit(source("step-2", "nothing_like_it\n", "")), replies: more}},
	"a last cell of a person's own fails": {{replies: three}, {does: edit(source("final", "", "nothing_like_it\n")), replies: more},
		{does: edit(source("final", "nothing_like_it\n", "")), replies: more}},
	"a step before a last cell of a person's own fails": {{replies: three}, {replies: more, does: then(
		edit(source("final", "print(z)", "# mine\nprint(z)")), changed(func(tr *record.Trajectory) {
			tr.Start.Given[1].Attempts[0].Code = "nothing_like_it" // does not run a second time
		}))}},
	"other data for a last cell of a person's own": {{replies: three},
		{does: edit(source("final", "print(z)", "# mine\nprint(z)")), replies: more},
		{change: func(s *stage) { s.task.Files[0].Size = 7 }, replies: more}},
	"an order that does not run": {{replies: three}, {does: edit(move("step-1", "step-2")), replies: more}},
	"no session for the proof":   {{replies: simple, whole: true, change: refuses(agent.Prove, errors.New("no memory"))}, {replies: script{}}},

	"a person's cell, and a verdict against it":               {{replies: three}, {does: edit(hers), replies: judges(2)}},
	"a person's cell, and a verdict against a step before it": {{replies: three}, {does: edit(hers), replies: judges(1)}},
	"a person's cell, and a verdict against a step after it":  {{replies: three}, {does: edit(hers), replies: judges(3)}},
	"a person's cell, and a ruling against it": {{replies: undecided}, {does: edit(hers),
		replies: more.with(script{"arbiter": wrongStep + "2"})}},
	"a person's cell, and a ruling against a step before it": {{replies: undecided}, {does: edit(hers),
		replies: more.with(script{"arbiter": wrongStep + "1"})}},
	"an earlier question edited": {{replies: simple}, {does: next, replies: onward},
		{does: edit(source("step-1", "1", "7")), replies: onward}},
	"an earlier question edited, of three": {{replies: simple}, {does: next, replies: onward},
		{does: next, replies: fresh.with(script{"cell": "c = 3\nprint(c)", "last": "print(c)"})},
		{does: edit(source("step-1", "1", "7")), replies: more}},
	"cells of two questions edited": {{replies: three}, {does: next, replies: onward.with(script{
		"cell": "v = z\nv += \"4\"\nprint(v)", "last": "print(v)"})},
		{replies: more, does: edit(source("step-1", "1", "7"), shout)},
		{replies: more, does: edit(source("step-2", "y = x", "y = x\nz = y"), source("final", "z += \"!\"\nprint(z)", "print(y)"),
			remove("round-3", "step-3"))},
		{replies: more, does: edit(source("step-1", "x = 7", "nothing_like_it"))}},
	"a note": {{replies: simple}, {does: edit(insert("step-1", note("Only the paid ones."))),
		replies: simple.with(script{"verdict round 2": no, "cell round 3": "x = 4\nprint(x)"})}},
	"a remark": {{replies: simple}, {does: edit(insert("step-1", remark)), replies: simple}},
	"dropped steps": {{replies: three}, {does: dropped(2), replies: three.with(script{
		"cell round 5": "z = x\nz += \"9\"\nprint(z)", "verdict round 4": no, "verdict round 5": yes})}},
	"rejected last cells": {{replies: simple.with(script{"debugger": "print(x)"}), whole: true,
		change: (&critic{answers: map[string]agent.Decision{"the answer, try 1": rejected("no"),
			"the answer, try 2": rejected(""), "the answer, try 3": rejected("no")}}).join}},
	"a last cell by hand": {{replies: simple, change: (&critic{answers: map[string]agent.Decision{
		"round 1, try 1":    {Choice: agent.Accept, Text: "Take seven.", Code: "# \u00e9\r\nx = 7\nprint(x)\n\n"},
		"the answer, try 1": accepted(`print("42.123")`)}}).join}},
	"a cell by hand that fails": {{replies: simple.with(script{"debugger": "x = 2\nprint(x)"}),
		change: (&critic{answers: map[string]agent.Decision{
			"round 1, try 1":    {Choice: agent.Accept, Text: "Mine.", Code: `raise KeyError("mine")`},
			"the answer, try 1": accepted("y = x"), "the answer, try 2": accepted("print(x)")}}).join}},
	"a last cell by hand that fails": {{whole: true, replies: unfit, change: (&critic{answers: map[string]agent.Decision{
		"the answer, try 1": {Choice: agent.Accept, Unseen: true},
		"the answer, try 2": accepted(`raise KeyError("mine")`),
		"the answer, try 3": accepted(`raise KeyError("mine too")`)}}).join}},
	"a form that a person has accepted": {{whole: true, replies: unfit, change: (&critic{}).join}},
	"a slip in a person's cell": {{replies: simple, change: (&critic{answers: map[string]agent.Decision{
		"round 1, try 1":        {Choice: agent.Accept, Text: "Mine.", Code: `raise SyntaxError("slip")`},
		"round 1, try 1, again": accepted("x = 7\nprint(x)")}}).join}},
	"rejected steps": {{replies: simple, change: func(s *stage) {
		s.config.Review = func(context.Context, agent.Proposal) (agent.Decision, error) { return rejected("no"), nil }
	}}},
	"reviewed": {{
		replies: simple.with(script{"verdict round 1": no, "cell round 2": `raise KeyError("k")`,
			"debugger": "x += 8", "cell round 3": "y = x\nprint(y)"}),
		change: func(s *stage) {
			(&critic{answers: map[string]agent.Decision{
				"round 1, try 1": {Choice: agent.Accept, Text: "Mine.", Code: "x = 5\nprint(x)"},
				"round 2, try 2": rejected("no")}}).join(s)
		}}},

	"a cell that runs once": {{whole: true, replies: simple.with(script{"cell": "x = 1\nonce()"})}},
	"a script with another answer": {{whole: true,
		replies: simple.with(script{"cell": "x = tick()", "last": "y = x\nprint(tick())"})}},
	"a script that prints more": {{replies: simple, change: prints(ran(notebook.OK, "more\n  1 \n", "a warning"), nil)}},
	"a script that fails in plain Python": {{replies: simple,
		change: prints(ran(notebook.Raised, "1\n", "Traceback\n  ...\nSyntaxError: magic\n"), nil)}},
	"a script that prints otherwise": {{replies: simple, change: prints(ran(notebook.OK, "11\n", ""), nil)}},
	"a script that does not end":     {{replies: simple, change: prints(ran(notebook.TimedOut, "1\n", ""), nil)}},
	"a script that cannot be run": {{whole: true, replies: simple,
		change: prints(notebook.Execution{}, errors.New("no program"))}, {replies: script{}}},
	"no readings wanted": {{replies: open, change: func(s *stage) { s.config.Method.NoReadings = true }}},
	"finished":           {{replies: simple}, {replies: script{}}},

	// a follow-up leaves the question before it as it was
	"a review followed, with data elsewhere": {{replies: simple, change: (&critic{answers: map[string]agent.Decision{
		"round 1, try 1": accepted("x = 7\nprint(x)")}}).join}, {replies: onward,
		does: then(next, changed(func(tr *record.Trajectory) { tr.Task.Data = "/tmp/../data" }))}},
	"followed with fewer rounds": {{replies: three}, {does: next, change: func(s *stage) { s.config.MaxRounds = 1 },
		replies: onward.with(script{"cell": "v = z\nprint(v)", "last": "print(v)"})}},
	"a time in a step, followed": {
		{whole: true, replies: three.with(script{"cell round 1": "x = 1\nt = tick()\nprint(t)"})},
		{whole: true, does: next, replies: onward.with(script{"cell": "v = z\nprint(v)", "last": "print(v)"})}},
	"functions that only a follow-up uses": {{replies: simple, change: recalled("tool = 1")},
		{does: next, replies: onward.with(script{"cell": "b = tool\nprint(b)"})}},
	"a last cell of a person's own removed": {{replies: three}, {replies: more, does: edit(shout)},
		{does: edit(remove("final")), replies: more.with(script{"finalizer": "print(z)"})}},
	"a step dropped below a last cell of a person's own": {{replies: three}, {replies: more, does: edit(shout)},
		{does: dropped(3), replies: more}},

	// what the judge reads anew after an edit
	"another option after an edit": {{replies: open}, {does: edit(doubled), replies: readsAgain(2, "")}},
	"another point after an edit": {{replies: open}, {does: edit(doubled), replies: readsAgain(1,
		"Reading: Whether it counts.\nOption 1: yes\nOption 2: no\nTaken: 2\n"+isOpen+"\n\n")}},
	"no point after an edit": {{replies: open}, {does: edit(doubled),
		replies: open.with(script{"branches": branches("z = 3\nz"), "judge round 2": judged})}},

	"outputs cleared":         {{replies: simple}, {does: then(showing(nil), next), replies: onward}},
	"outputs that are others": {{replies: simple}, {does: then(showing(ran(notebook.OK, "another\n", "").Outputs), next), replies: onward}},

	// what settled a reading is looked for again
	"a rule in other data": {{replies: byRule, change: ruled(rule)}, {replies: byRule, change: ruled(rule + " So it is.")}},
	"another rule": {{replies: byRule, change: ruled(rule)},
		{replies: byRule, change: ruled("Cancelled orders do count in the revenue.")}},
	"no rule": {{replies: byRule, change: ruled(rule)}, {replies: byRule, change: ruled("")}},
	"another note beside one that settled": {{replies: byRule, change: ruled(rule)},
		{does: then(byNote, edit(insert("data", note("Mind.")))), replies: byRule, change: ruled(rule)}},
	"no note that settled": {{replies: byRule, change: ruled(rule)},
		{does: then(byNote, edit(remove("note-1"))), replies: byRule, change: ruled(rule)}},
}
