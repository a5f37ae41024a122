package solver

import (
	"testing"

	"pgregory.net/rapid"
)

// TestActions: what runs for an action, or what is wrong with it.
func TestActions(t *testing.T) {
	for text, want := range map[string]move{
		`Action: Bash(code="ls -l")`:                     {cell: `bash("ls -l")`},
		"**Thought:** look\n**Action:** Bash(code='ls')": {cell: `bash("ls")`},
		`Action: Bash(code="echo $(ls) (x)")`:            {cell: `bash("echo $(ls) (x)")`},
		`Action: Bash(code="grep \"a\" b.txt")`:          {cell: `bash("grep \"a\" b.txt")`},
		`Action: Bash(code="python -c "print(f("x"))"")`: {cell: `bash("python -c \"print(f(\"x\"))\"")`},
		"Action: Bash(code=\"cat > f <<E\nprint(\"x\")\nE\")": {
			cell: "bash(r'''\ncat > f <<E\nprint(\"x\")\nE\n''')"},
		"Action: Bash(code=\"ls\")\nObservation: a (b\")":            {cell: `bash("ls")`},
		"Action: Python(file_path=\"a.py\"):\n```python\nx = 1\n```": {cell: `python("a.py", "x = 1")`},
		"Action: Python(file_path=\"a.py\"): print(1)":               {problem: "its Python action has no code"},
		`SQL(file_path="a.db", command="SELECT 'x, y' FROM t", output="out.csv")`: {
			cell: `sql("a.db", "SELECT 'x, y' FROM t", "out.csv")`},
		`SQL(command="SELECT 1", output="direct")`: {problem: "its SQL action has no path"},
		`Action: Terminate(output="A (B), "C"")`:   {answer: `A (B), "C"`, ends: true, finished: true},
		`Action: Terminate(output="")`:             {ends: true, finished: true},
		`Action: Bash(code="ls`:                    {problem: "the brackets or quotes of its action are not closed"},
		`Action: Bash(code="")`:                    {problem: "its Bash action has no code"},
		"Thought: I could use Bash for it.":        {problem: "it has no action"},
	} {
		if got := actionOf(text); got != want {
			t.Errorf("%q is %+v", text, got)
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
		if m := actionOf(text); (m.cell != "") == (m.problem != "" || m.ends) {
			t.Fatalf("%q gives %+v", text, m)
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
