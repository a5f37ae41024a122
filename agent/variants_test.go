package agent_test

import (
	"maps"
	"strconv"
	"strings"

	"dsstar/agent/describe/profile"
	"dsstar/notebook"
)

// variants are recordings of simple with these replies.
var variants = map[string]script{
	"an answer like an address":     {"cell": `x = "at 0x08048000"`},
	"another seed":                  {"cell": "x = seed"},
	"a merge that doubles rows":     {"cell": "# with pandas\nx = 1\nprint(x)"},
	"a file, another in the proof":  filed("out.csv", "purpose()", "work"),
	"a file with another seed":      filed("out.csv", "seed", "0"),
	"a picture with another seed":   filed("out.png", "\"a|\"\nx += seed", "a|0"),
	"a picture that looks the same": filed("out.png", "\"a|5\"\nx += purpose()", "a|5work"),
	"a drawing of other bytes":      filed("out.svg", "purpose()", "work"),
	"a workbook of other bytes":     filed("out.xlsx", "purpose()", "work"),

	"branches that keep steps": {"solver round 1": reads(isOpen, isOpen), "verdict round 1": no,
		"cell round 2": "x += 2\nprint(x)", "branches": branches("z = 12\nz", "x += 3\nx")},
	"readings of a new plan": {"solver round 1": reads(isOpen), "verdict round 1": bad, "wrong round 1": "1",
		"solver round 2": reads(isOpen, isSettled), "verdict round 2": yes + "\nTakes: 1, 1\nDecided: 2",
		"branches": branches("z = 1\nz", "z = 2\nz")},
	"settled, says the judge": {"solver round 1": reads(isSettled), "verdict": yes + "\nTakes: 1\nDecided: 1"},
	"settled, which changes the answer": {"solver round 1": reads(isSettled),
		"judge round 1": saying("Takes: 1\nDecided: 1") + branches("z = 2\nz")},
	"settled, which the judge does not find": {"solver round 1": reads(isSettled), "branches": branches("z = 2\nz"),
		"verdict": yes + "\nTakes: 1\nDecided: none"},
	"settled by dsstar's words": {"branches": branches("z = 2\nz"),
		"solver round 1": reads("Evidence: \"All files are in the folder\"\nSettled: yes")},
	"settled by a profile": {"branches": branches("z = 2\nz"), "analyzer": "print(\"a table of 200 rows\")",
		"solver round 1": reads("Evidence: \"a table of 200 rows\" (a.csv)\nSettled: yes")},
	"settled, and the cells take the other": {"solver round 1": reads(isSettled), "branches": taken("w = 2\nw"),
		"judge round 1": saying("Takes: 2\nDecided: 1") + branches("z = 1\nz")},
	"the same answer": {"solver round 1": reads(isOpen), "branches": branches("z = 1\nz"),
		"verdict": yes + "\nTakes: 1"},
	"the same answer, and the cells take the option":         alike(taken("w = 1\nw"), yes),
	"the same answer, which is that of the cells":            alike(taken("w = 2\nw"), yes),
	"the same answer, says the judge":                        alike(taken("w = 2\nw"), yes+"\nTakes: 2"),
	"the same answer, and nothing shows what the cells take": alike(branches("z = 1\nz"), yes),
	"two that change nothing together": {"solver round 1": reads(isOpen, isOpen), "verdict": yes + "\nTakes: 1, 1",
		"branches": branches("z = 1\nz", "z = 1\nz"),
		"branches the readings, what is in doubt": "Branch 3.2\nKeeps: 0\n\n```python\nz = 1\nz\n```"},
	"a typed-in branch": {"solver round 1": reads(isOpen), "branches": branches("# typed in\nz = 1\nz"),
		"debugger": "# typed in\nz = 1\nz"},
	"a constant that no row has": {"solver round 1": reads(isOpen), "branches": branches("# with pandas\nz = 1\nz"),
		"debugger": "# with pandas\nz = 1\nz"},
	"a branch left out":         {"solver round 1": reads(isOpen, isOpen), "branches": branches("z = 1\nz")},
	"branches with the verdict": {"solver round 1": reads(isOpen), "judge round 1": judged + branches("z = 2\nz")},
	"one branch with the verdict": {"solver round 1": reads(isOpen, isOpen), "judge round 1": judged + branches("z = 1\nz"),
		"branches": "Branch 2.2\nKeeps: 1\n\n```python\nx += 2\nx\n```"},
	"a reading that cannot be read": {"solver round 1": unread, "solver round 1, asked again": reads(isOpen),
		"branches": branches("z = 2\nz")},
	"a reading that cannot be read, and no reply": {"solver round 1": unread, "solver round 1, asked again": "Hm."},
}

// saying is judged with more lines on the readings.
func saying(lines string) string { return strings.Replace(judged, "\n\n", "\n"+lines+"\n\n", 1) }

// alike is a run whose other option has the same answer: doubted are cells of what is in doubt.
func alike(doubted, verdict string) script {
	return script{"solver round 1": reads(isOpen), "branches": branches("z = 1\nz"), "verdict": verdict,
		"branches the readings, what is in doubt": doubted}
}

// filed is a run that saves a value, which the second derivation saves as it is in the run's session.
func filed(name, value, first string) script {
	return script{"cell": "x = " + value + "\nsave(" + name + ", x)", "last": "y = x\nprint(\"" + name + "\")",
		"second": "z = \"" + first + "\"\nsave(" + name + ", z)\na = \"" + name + "\"\na"}
}

// ruled has a document with a rule, which settles the reading of byRule, beside the data.
func ruled(rule string) func(*stage) {
	return func(s *stage) {
		s.task.Files = filesOf("a.csv", "rules.md")
		s.task.Files[0].Size, s.task.Files[1].Size = int64(len(rule)+1), int64(len(rule))
		profiled(map[string]profile.Profile{"a.csv": table(9, "a"), "rules.md": {Format: "text", Document: rule, Whole: true}})(s)
		if rule == "" {
			s.task.Files = s.task.Files[:1]
		}
	}
}

const rule, mind = "Cancelled orders do not count in the revenue.", "Mind the orders of all stores."

// ofFiles are what two derivations answer and save, some with what only the session can say of a file.
var ofFiles = []struct{ question, name, first, file, second, other string }{
	{"Save it as out.csv. How many?", "out.csv", "5, out.csv", "x,1", "out.csv, 5", "x,1"},
	{"Save it as out.csv. How many?", "out.csv", "5, out.csv", "x,1", "5", "x,1.0"},
	{"Save it as out.csv. How many?", "out.csv", "5, out.csv", "x,1", "3, out.csv", "x,1"},
	{"Save it as out.csv. How many?", "out.csv", "5, out.csv", "x,1", "5, out.csv", "x,2"},
	{"How many?", "other.csv", "5 (other.csv)", "x,1", "3 (other.csv)", "x,1"},
	{"How many of what you saved as out.csv?", "out.csv", "5", "x,1", "3", "x,1"},
	{"How many of what you saved as out.csv?", "out.csv", "5", "x,1", "5", "x,1"},
	{"Save it as o.png.", "o.png", "o.png", `a|{"bars": [{"at": "N", "value": 1}]}`, "o.png",
		`b|{"bars": [{"at": "N", "value": 1}]}`},
	{"Save it as o.png.", "o.png", "o.png", `a|{"bars": [{"at": "N", "value": 1}]}`, "o.png",
		`b|{"bars": [{"at": "N", "value": 2}]}`},
	{"Save it as o.png.", "o.png", "o.png", "a|{}", "o.png", "a|{}"},
	{"Save it as o.png.", "o.png", "o.png", "a", "o.png", "b"},
	{"Save it as o.xlsx.", "o.xlsx", "o.xlsx", `a|[{"s": "N", "n": 1}, {"s": "S", "n": 2}]`, "o.xlsx",
		`b|[{"s": "S", "n": 2}, {"s": "N", "n": 1}]`},
	{"Save it as o.xlsx.", "o.xlsx", "o.xlsx", `a|[{"n": 1}]`, "o.xlsx", `b|[{"n": 2}]`},
	{"Save it as o.html.", "o.html", "o.html", "a1", "o.html", "a2"},
}

// noted are what a person does to the notes of two questions, after a choice for the first.
var noted = map[string]func(reporter, *notebook.Notebook){
	"a note above all":         insert("question", note("Mind.")),
	"a note below the first":   insert("answer", note("Mind.")),
	"a note below the last":    insert("answer-2", note("Mind.")),
	"a note removed":           remove("note-1"),
	"a remark below the first": insert("answer", remark),
}

// allRecordings returns all recordings, by name.
func allRecordings() map[string][]turn {
	all := maps.Clone(recordings)
	for name, replies := range troubled {
		all[name] = []turn{{replies: replies}}
	}
	for name, replies := range variants {
		all[name] = []turn{{replies: simple.with(replies)}}
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
		all[name] = []turn{{replies: derived, change: asking(c.question, "")}}
		all[name+" of a reading"] = []turn{{replies: read, change: asking(c.question, "")}}
	}
	for name, change := range noted {
		follow := script{"step": "On.", "cell": "b = 5\nprint(b)", "last": "print(b)", "verdict": yes, "second": "agreed()",
			"branches": branches("z = 2\nz")}
		all[name] = []turn{{replies: open}, {does: chooses(0, 0, 0), replies: follow}, {does: next, replies: follow},
			{does: edit(change), replies: follow}}
	}
	return all
}
