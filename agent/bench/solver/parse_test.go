package solver

import (
	"testing"

	"pgregory.net/rapid"
)

func TestParseAct(t *testing.T) {
	ls := act{kind: "bash", code: "ls"}
	for _, test := range []struct {
		name, text string
		want       act
		problem    string
	}{
		{"bash", `Action: Bash(code="ls -l")`, act{kind: "bash", code: "ls -l"}, ""},
		{"bold", "**Thought:** look\n**Action:** Bash(code='ls')", ls, ""},
		{"brackets", `Action: Bash(code="echo $(ls) (x)")`, act{kind: "bash", code: "echo $(ls) (x)"},
			""},
		{"escaped quotes", `Action: Bash(code="grep \"a\" b.txt")`,
			act{kind: "bash", code: `grep "a" b.txt`}, ""},
		{"open quotes", `Action: Bash(code="python -c "print(f("x"))"")`,
			act{kind: "bash", code: `python -c "print(f("x"))"`}, ""},
		{"several lines", "Action: Bash(code=\"cat > f <<E\nprint(\"x\")\nE\")",
			act{kind: "bash", code: "cat > f <<E\nprint(\"x\")\nE"}, ""},
		{"made-up observation", "Action: Bash(code=\"ls\")\nObservation: a (b\")", ls, ""},
		{"python", "Action: Python(file_path=\"a.py\"):\n```python\nprint(\"x\")\n```",
			act{kind: "python", file: "a.py", code: `print("x")`}, ""},
		{"python, no fence", "Action: Python(file_path=\"a.py\"): print(1)", act{},
			"its Python action has no code block"},
		{"sql", `Action: SQL(file_path="a.db", command="SELECT 'x, y' FROM t", output="out.csv")`,
			act{kind: "sql", file: "a.db", code: "SELECT 'x, y' FROM t", output: "out.csv"}, ""},
		{"sql, no file", `SQL(command="SELECT 1", output="direct")`, act{},
			"its action has no file_path"},
		{"terminate", `Action: Terminate(output="A (B), "C"")`,
			act{kind: "terminate", code: `A (B), "C"`}, ""},
		{"terminate, empty", `Action: Terminate(output="")`, act{kind: "terminate"}, ""},
		{"not closed", `Action: Bash(code="ls`, act{},
			"the brackets or quotes of its action are not closed"},
		{"no command", `Action: Bash(code="")`, act{}, "its action has no command"},
		{"none", "Thought: I could use Bash for it.", act{}, "it has no action"},
	} {
		if got, problem := parseAct(test.text); got != test.want || problem != test.problem {
			t.Errorf("%s: %+v, %q", test.name, got, problem)
		}
	}
}

// TestParseAnything: the parsers never panic, and an action is complete.
func TestParseAnything(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"Action:", "Thought:", "Bash(", "Python(", "SQL(",
		"Terminate(", "code=", "file_path=", "command=", "output=",
		`"`, "'", "```", "```python\n", "\n", "(", ")", ",", `\`, "Answer:", "**",
		"TERMINATE"}), rapid.StringN(0, 5, -1))
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, s := range rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces") {
			text += s
		}
		a, problem := parseAct(text)
		if problem == "" && a.kind != "terminate" && (a.code == "" || a.cell() == "") {
			t.Fatalf("%q gives %+v", text, a)
		}
		_ = answerIn(text)
		_, _ = parseGraph(text)
		_ = rest(text)
	})
}

func TestAnswerIn(t *testing.T) {
	for text, want := range map[string]string{
		"Answer: 7":                           "7",
		"It is.\n\n**Answer:** 7":             "7",
		"Answer: 6\n\nNo.\n\nfinal answer: 7": "7",
		"Answer:\n```\na, b\n```":             "a, b",
		"Answer: \nfirst\nsecond":             "first\nsecond",
		"The answer is 7":                     "",
		"Answer:":                             "",
	} {
		if got := answerIn(text); got != want {
			t.Errorf("%q has %q", text, got)
		}
	}
}
