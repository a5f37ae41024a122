package reply

import (
	"strings"
	"testing"

	"dsstar/agent/brief"
	"dsstar/agent/record"
)

func TestParseCode(t *testing.T) {
	cases := []struct{ name, reply, want, problem string }{
		{"plain", "```python\nx = 1\n```", "x = 1", ""},
		{"politeness", "Sure! Here is the cell:\n\n```python\nx = 1\n```\n\nLet me know if it works.", "x = 1", ""},
		{"no language", "```\nx = 1\n```", "x = 1", ""},
		{"other names of Python", "``` Py\nx = 1\n```", "x = 1", ""},
		{"Quarto", "```{python}\nx = 1\n```", "x = 1", ""},
		{"tildes", "~~~python\nx = 1\n~~~", "x = 1", ""},
		{"four marks", "````python\ns = '''\n```\n'''\n````", "s = '''\n```\n'''", ""},
		{"Windows", "```python\r\nx = 1\r\ny = 2\r\n```\r\n", "x = 1\ny = 2", ""},
		{"indents stay", "```python\n\n    x = 1\n      y\n\n```", "    x = 1\n      y", ""},
		{"excerpt beside the whole", "The fault is in\n```python\nx = y\n```\nThe cell:\n```python\ny = 1\nx = y\nprint(x)\n```", "y = 1\nx = y\nprint(x)", ""},
		{"output is no code", "```python\nx = 1\n```\nThis prints:\n```\na much longer text than that\n```", "x = 1", ""},
		{"other languages are no code", "```json\n{\"a\": [1, 2, 3, 4]}\n```\n```python\nx = 1\n```", "x = 1", ""},
		{"thoughts", "<think>\n```python\nwrong = True\n```\n</think>\n```python\nx = 1\n```", "x = 1", ""},
		{"thoughts without their beginning", "I should\n```python\nwrong = True\n```\n</think>\n```python\nx = 1\n```", "x = 1", ""},
		{"two halves", "```python\nimport pandas\n```\nand then\n```python\nprint(pandas)\n```", "", "several code blocks"},
		{"the same twice", "```python\nx = 1\n```\n```python\nx = 1\n```", "", "several code blocks"},
		{"only another language", "```sql\nselect 1\n```", "", "no code block"},
		{"not closed", "```python\nx = 1\n", "x = 1", ""},
		{"closed by another mark", "```python\nx = 1\n~~~", "", "not closed"},
		{"no block", "x = 1", "x = 1", ""},
		{"empty block", "```python\n\n```", "", "empty"},
		{"refusal", "I'm sorry, but I cannot do that.", "", "refusal"},
		{"empty", " \n", "", "empty"},
		{"thoughts alone", "<think>x</think>", "", "empty"},
		{"thoughts that do not end", "<think>\n```python\nx = 1\n```", "", "empty"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Code.readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
}

// check compares what was read, or the problem.
func check[T comparable](t *testing.T, got T, err error, want T, problem string) {
	t.Helper()
	if (err != nil) != (problem != "") || err != nil && !strings.Contains(err.Error(), problem) {
		t.Fatalf("got %v and the problem %v, want %v and %q", got, err, want, problem)
	}
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParseStep(t *testing.T) {
	cases := []struct{ reply, want, problem string }{
		{"Load a.csv.", "Load a.csv.", ""},
		{" Load a.csv\nand count.\n\n", "Load a.csv and count.", ""},
		{"Step 3: Load a.csv.", "Load a.csv.", ""},
		{"**Step 3:** Load a.csv.", "Load a.csv.", ""},
		{"**Step 3**: Load a.csv.", "Load a.csv.", ""},
		{"### Next step: Load a.csv.", "Load a.csv.", ""},
		{"## Step 3\n\nLoad a.csv.", "Load a.csv.", ""},
		{"3. Load a.csv.", "Load a.csv.", ""},
		{"Step 3 - Load a.csv.", "Load a.csv.", ""},
		{"**Load a.csv.**", "Load a.csv.", ""},
		{"Sure! Here is the next step:\n\nStep 3: Load a.csv.", "Load a.csv.", ""},
		{"<think>Load b.csv?</think>Load a.csv.", "Load a.csv.", ""},
		{"**Load** a.csv", "**Load** a.csv", ""},
		{"Group by `x` and sum __y__", "Group by `x` and sum __y__", ""},
		{"1.5 times the range is the limit: drop the rest.", "1.5 times the range is the limit: drop the rest.", ""},
		{"Step-by-step sums of x.", "Step-by-step sums of x.", ""},
		{"2024 only: load a.csv.", "2024 only: load a.csv.", ""},
		{"Load it:\n```python\nx\n```", "", "code"},
		{"~~~\nx\n~~~", "", "code"},
		{"", "", "empty"},
		{"Step 3:", "", "empty"},
		{"<thinking>hm", "", "empty"},
		{"I'm sorry, but I can't help with that.", "", "refusal"},
		{strings.Repeat("Load. ", 400), "", "longer"},
	}
	for _, c := range cases {
		t.Run(brief.Clip(c.reply, 40), func(t *testing.T) {
			got, err := Step.readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
}

func TestParseVerdict(t *testing.T) {
	enough := func(reason string) record.Verdict { return record.Verdict{Sufficient: true, Reason: reason} }
	lacks := func(reason string) record.Verdict { return record.Verdict{Reason: reason} }
	cases := []struct {
		reply   string
		want    record.Verdict
		problem string
	}{
		{"Verdict: sufficient\nReason: all is there", enough("all is there"), ""},
		{"Verdict: insufficient\nMissing: the mean", lacks("the mean"), ""},
		{"**Verdict:** Sufficient.\n**Reason:** all is there", enough("all is there"), ""},
		{"## Final verdict: **INSUFFICIENT**\n\n- Missing: the mean", lacks("the mean"), ""},
		{"verdict - not sufficient\nmissing - the mean", lacks("the mean"), ""},
		{"Verdict: not yet sufficient", lacks(""), ""},
		{"Verdict:\nsufficient", enough(""), ""},
		{"My verdict is sufficient.", enough(""), ""},
		{"`Verdict: sufficient`", enough(""), ""},
		{"> Verdict: insufficient, the mean is missing", lacks("the mean is missing"), ""},
		{`{"verdict": "insufficient"}`, lacks(""), ""},
		{"Sure, here is my judgement.\n\nVerdict: sufficient\nReason: x", enough("x"), ""},
		{"The filter seemed insufficient, but it is right.\nVerdict: sufficient\nReason: but for rounding all is there", enough("but for rounding all is there"), ""},
		{"<think>Verdict: sufficient</think>Verdict: insufficient\nMissing: y", lacks("y"), ""},
		{"Yes.", enough(""), ""},
		{"No.", lacks(""), ""},
		{"**YES**", enough(""), ""},
		{"sufficient", enough(""), ""},
		{"Insufficient: the mean is missing.", lacks("the mean is missing."), ""},
		{"Yes, the plan is sufficient.", enough("the plan is sufficient."), ""},
		{"The plan is sufficient.", enough(""), ""},
		{"The plan is not sufficient.", lacks(""), ""},
		{"No, the plan isn't sufficient yet.", lacks("the plan isn't sufficient yet."), ""},
		{"No, because the mean is missing", lacks("because the mean is missing"), ""},

		{"", record.Verdict{}, "empty"},
		{"<think>Verdict: sufficient", record.Verdict{}, "empty"},
		{"It is as it is.", record.Verdict{}, "no verdict"},
		{"I'm sorry, but I can't judge that.", record.Verdict{}, "refusal"},
		{"No further steps are needed; the plan is sufficient.", record.Verdict{}, "no verdict"},
		{"The plan is not entirely what I call sufficient.", record.Verdict{}, "no verdict"},
		{"Hardly sufficient.", record.Verdict{}, "no verdict"},
		{"Is the plan sufficient?", record.Verdict{}, "no verdict"},
		{"Not so fast: sufficiently close is not enough.", record.Verdict{}, "no verdict"},
		{"Verdict: sufficient or insufficient", record.Verdict{}, "two verdicts"},
		{"Verdict: sufficient / insufficient", record.Verdict{}, "two verdicts"},
		{"Verdict: sufficient\nVerdict: insufficient", record.Verdict{}, "two verdicts"},
		{"Yes. The plan is not sufficient.", record.Verdict{}, "two verdicts"},
		{"No. The plan is sufficient.", record.Verdict{}, "two verdicts"},
		{"Yes\nNo", record.Verdict{}, "two verdicts"},
		{"Verdict: sufficient, but step 2 is wrong", record.Verdict{}, "condition"},
		{"Verdict: sufficient if the join is right", record.Verdict{}, "condition"},
		{"Sufficient.\nHowever, the mean is missing.", record.Verdict{}, "condition"},
	}
	for _, c := range cases {
		t.Run(brief.Clip(c.reply, 40), func(t *testing.T) {
			got, err := Verdict.readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
}
