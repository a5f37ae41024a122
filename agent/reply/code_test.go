package reply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/brief"
)

// A reading is a reply and what is read in it, or a part of the problem with it.
type reading[T any] struct {
	reply   string
	want    T
	problem string
}

// read holds a format to readings.
func read[T comparable](t *testing.T, f Format[T], cases ...reading[T]) {
	t.Helper()
	for _, c := range cases {
		got, err := f.readText(c.reply)
		failed := err != nil && c.problem != "" && strings.Contains(err.Error(), c.problem)
		if got != c.want || failed != (c.problem != "") || err != nil && !failed {
			t.Errorf("%q: got %v, %v, want %v, %q", brief.Clip(c.reply, 300), got, err, c.want, c.problem)
		}
	}
}

func TestParseCode(t *testing.T) {
	const block = "```python\nx = 1\n```"
	const whole = "import pandas as pd\ndf = pd.read_csv('data/a.csv')\nprint(len(df))"
	const ofAllKinds = "# load\nfrom a import (\n    b,\n)\n\n@c(1)\ndef f(x: int = 1) -> str:\n" +
		"    \"\"\"It's prose: not code.\"\"\"\n    return f'{x}' if x else None\n\n" +
		"for i, j in enumerate(b):\n    print(i, j)\nelse:\n    pass\nx.y[0] += lambda z: z\nawait f(1)"
	for _, dress := range []string{
		"Sure! Here is the cell:\n\n" + block + "\n\nLet me know if it works.",
		"```\nx = 1\n```",
		"``` Py\nx = 1\n```",
		"```python3.11 title=\"x\"\nx = 1\n```",
		"```{python, echo=FALSE}\nx = 1\n```",
		"~~~ {.python .numberLines}\nx = 1\n~~~",
		"```{code-cell} ipython3\nx = 1\n```",
		"- ```python\n  x = 1\n  ```",
		"\ufeff```py\r\nx = 1\r\n```\r\n",
		"```python\n# %% load\nx = 1\n```",
		"```python\nIn [3]: x = 1\n```",
		"```\npython\nx = 1\n```",
		"```json\n{\"code\": \"x = 1\"}\n```",
		`{"code": "` + "```python\\nx = 1\\n```" + `"}`,
		"<think>\n```python\nwrong = True\n```\n</think>\n" + block,
		"I should\n```python\nwrong = True\n```\n</think>\n" + block,
		block + "\nThis prints:\n```\na much longer text than that\n```",
		"```bash\npip install pandas numpy scipy scikit-learn matplotlib\n```\n" + block,
		"```python\nx = 1\n",
		"x = 1",
	} {
		read(t, Code, reading[string]{dress, "x = 1", ""})
	}
	read(t, Code, []reading[string]{
		{"````python\ns = '''\n```\n'''\n````", "s = '''\n```\n'''", ""},
		{"```python\n\n    x = 1\n      y\n\n```", "    x = 1\n      y", ""},
		{"1. The cell:\n\n   ```python\n   for x in y:\n       print(x)\n   ```\n",
			"for x in y:\n    print(x)", ""},
		{"   ```python\nfor x in y:\n    print(x)\n   ```", "for x in y:\n    print(x)", ""},
		{"```python\n%matplotlib inline\n!echo it's\n```", "%matplotlib inline\n!echo it's", ""},
		{"```python\ns = '&lt;&amp;'\n```", "s = '&lt;&amp;'", ""},
		{"```python\ns = '''\n<think>a</think>\n'''\n```", "s = '''\n<think>a</think>\n'''", ""},
		{`{"code": "x = 1\nprint(x)"}`, "x = 1\nprint(x)", ""},
		{ofAllKinds, ofAllKinds, ""},
		{"The cell:\n```python\n" + whole, whole, ""},
		{"The fault is in\n```python\nprint(len(df))\n```\nThe cell:\n```python\n" + whole + "\n```",
			whole, ""},
		{"```python\n" + whole + "\n```\nThe fault was in\n```python\nprint(len(df))\n```", whole, ""},

		{"```python\nimport pandas\n```\nand then\n```python\nprint(pandas)\n```", "", "several"},
		{block + "\n" + block, "", "several code blocks"},
		{"```python\n" + whole + "\n```\n```python\nprint(df.shape)\n```", "", "none is the whole"},
		{"```python\n>>> x = 1\n>>> x\n1\n```", "", "transcript"},
		{"```python\nIn [1]: x = 1\nOut[1]: 1\n```", "", "transcript"},
		{"```diff\n-x = 1\n+x = 2\n```", "", "no code block"},
		{"```pycon\n>>> x\n```", "", "no code block"},
		{`{"answer": 1}`, "", "no code block"},
		{`{"code": "x = 1", "code": "x = 2"}`, "", "twice"},
		{"```python\nx = 1\n\nThis is the cell.", "", "not closed"},
		{"```python\nx = 1\n~~~", "", "not closed"},
		{block + "\n```python\ny = 1", "", "not closed"},
		{"Here is the cell:\nx = 1\nprint(x)", "x = 1\nprint(x)", ""},
		{"x = 1\nprint(x)\nThis prints 1.", "", "no code block"},
		{"Verdict: sufficient", "", "no code block"},
		{"A, B and C", "", "no code block"},
		{"# Load the file", "", "no code block"},
		{"Step 2 is wrong", "", "no code block"},
		{"```python\n\n```", "", "no code block"},
		{"```python", "", "not closed"},
		{"```\n```", "", "empty"},
		{"<think>\n" + block, "", "empty"},
	}...)
}

func TestParseStep(t *testing.T) {
	for _, dress := range []string{
		" Load\na.csv.\n\n", "Step 3: Load a.csv.", "**Step 3:** Load a.csv.", "**Step 3**: Load a.csv.",
		"### Next step: Load a.csv.", "## Step 3\n\nLoad a.csv.", "3. Load a.csv.",
		"Step 3 - Load a.csv.", "**Load a.csv.**", "- Load a.csv.", "> Load\n> a.csv.",
		"Sure! Here is the next step:\n\nStep 3: Load a.csv.", "<think>Load b.csv?</think>Load a.csv.",
		`{"step": "Load a.csv."}`, `"Load a.csv."`, "“Load a.csv.”", "Step 3: \"Load a.csv.\"",
	} {
		read(t, Step, reading[string]{dress, "Load a.csv.", ""})
	}
	for _, bare := range []string{
		"**Load** a.csv", "Group by `x` and sum __y__", `Group "x" by "y"`, "Step-by-step sums of x.",
		"1.5 times the range is the limit: drop the rest.", "2024 only: load a.csv.",
		"I cannot tell yet which column holds the date, so load a.csv and print its columns.",
		"Keep the stations that cannot be matched; drop none.",
	} {
		read(t, Step, reading[string]{bare, bare, ""})
	}
	read(t, Step, []reading[string]{
		{"Load it:\n```python\nx\n```", "", "code"},
		{"~~~\nx\n~~~", "", "code"},
		{"1. Load a.csv.\n2. Count.\n3. Print.", "", "several steps"},
		{"Step 1: Load a.csv.\nStep 2: Count.", "", "several steps"},
		{"1. Load a.csv. 2. Count. 3. Print.", "", "several steps"},
		{`{"plan": "Load"}`, "", "no step"},
		{"Step 3:", "", "no step"},
		{"<thinking>hm", "", "empty"},
		{strings.Repeat("Load. ", 400), "", "longer"},
		{"I cannot assist with that.", "", "refusal"},
		{"Unfortunately, I can't help here.", "", "refusal"},
		{"As an AI, I have no opinion.", "", "refusal"},
		{"Step 1: I'm sorry, but I can’t help with that.", "", "refusal"},
	}...)
}

func TestBlocks(t *testing.T) {
	got := Blocks("Words.\n```py\nx = 1\n```\n~~~ sh -e\nls\n~~~\n````\n```\n````\n```json\nopen")
	if d := cmp.Diff([]Block{{"python", "x = 1"}, {"sh", "ls"}, {"", "```"}}, got); d != "" {
		t.Error(d)
	}
}
