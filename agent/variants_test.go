package agent_test

import (
	"maps"
	"strconv"
	"strings"
)

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
	"a branch left out":                           {"solver round 1": reads(isOpen, isOpen), "branches": branches("z = 1\nz")},
	"branches with the verdict":                   {"solver round 1": reads(isOpen), "judge round 1": judged + branches("z = 2\nz")},
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
