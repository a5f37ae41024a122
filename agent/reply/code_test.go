package reply

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/brief"
)

func TestParseCodeDresses(t *testing.T) {
	const whole = "import pandas as pd\ndf = pd.read_csv('data/a.csv')\nprint(len(df))"
	cases := []struct{ name, reply, want, problem string }{
		{"Python3", "```Python3\nx = 1\n```", "x = 1", ""},
		{"python3.11", "```python3.11\nx = 1\n```", "x = 1", ""},
		{"a title", "``` python title=\"x\"\nx = 1\n```", "x = 1", ""},
		{"Quarto with options", "```{python, echo=FALSE}\nx = 1\n```", "x = 1", ""},
		{"Pandoc", "~~~ {.python .numberLines}\nx = 1\n~~~", "x = 1", ""},
		{"MyST", "```{code-cell} ipython3\nx = 1\n```", "x = 1", ""},
		{"in a list item", "1. The cell:\n\n   ```python\n   for x in y:\n       print(x)\n   ```\n", "for x in y:\n    print(x)", ""},
		{"as a list item", "- ```python\n  x = 1\n  ```", "x = 1", ""},
		{"fences indented, code not", "   ```python\nfor x in y:\n    print(x)\n   ```", "for x in y:\n    print(x)", ""},
		{"quoted", "> ```python\n> if x:\n>     y = 1\n> ```", "if x:\n    y = 1", ""},
		{"old Mac and Windows", "\ufeff```py\r\nx = 1\r\n```\r\n", "x = 1", ""},
		{"cell mark", "```python\n# %% load\nx = 1\n```", "x = 1", ""},
		{"prompt", "```python\nIn [3]: x = 1\n```", "x = 1", ""},
		{"language on its own line", "```\npython\nx = 1\n```", "x = 1", ""},
		{"magics stay", "```python\n%matplotlib inline\n!echo it's\nx = 1\n```", "%matplotlib inline\n!echo it's\nx = 1", ""},
		{"entities stay", "```python\ns = '&lt;&amp;'\n```", "s = '&lt;&amp;'", ""},
		{"thoughts in code stay", "```python\ns = '''\n<think>a</think>\n'''\n```", "s = '''\n<think>a</think>\n'''", ""},
		{"code tag", "Here:\n<code>\nx = 1\n</code>\nDone.", "x = 1", ""},
		{"python tag", "<python>\nx = 1\n</python>", "x = 1", ""},
		{"pre and code", "<pre><code class=\"language-python\">x = 1\ny = 2</code></pre>", "x = 1\ny = 2", ""},
		{"JSON", `{"code": "x = 1\nprint(x)"}`, "x = 1\nprint(x)", ""},
		{"JSON in a fence", "```json\n{\"code\": \"x = 1\"}\n```", "x = 1", ""},
		{"JSON around a fence", `{"code": "` + "```python\\nx = 1\\n```" + `"}`, "x = 1", ""},
		{"nothing but Python", whole, whole, ""},
		{"Python of all kinds", "# load\nfrom a import (\n    b,\n)\n\n@c(1)\ndef f(x: int = 1) -> str:\n    \"\"\"It's prose: not code.\"\"\"\n    return f'{x}' if x else None\n\nfor i, j in enumerate(b):\n    print(i, j)\nelse:\n    pass\nx.y[0] += lambda z: z\nawait f(1)",
			"# load\nfrom a import (\n    b,\n)\n\n@c(1)\ndef f(x: int = 1) -> str:\n    \"\"\"It's prose: not code.\"\"\"\n    return f'{x}' if x else None\n\nfor i, j in enumerate(b):\n    print(i, j)\nelse:\n    pass\nx.y[0] += lambda z: z\nawait f(1)", ""},
		{"never closed", "The cell:\n```python\n" + whole, whole, ""},
		{"an excerpt behind the whole", "```python\n" + whole + "\n```\nThe fault was in\n```python\nprint(len(df))\n```", whole, ""},
		{"shell beside it", "```bash\npip install pandas numpy scipy scikit-learn matplotlib\n```\n```python\nx = 1\n```", "x = 1", ""},

		{"a piece before", "```python\nimport pandas as pd\n```\n```python\ndf = pd.read_csv('data/a.csv')\nprint(len(df))\n```", "", "needs another"},
		{"a piece behind", "```python\n" + whole + "\n```\n```python\nprint(df.shape)\n```", "", "needs another"},
		{"the whole may be the one not marked", "```python\nx = 2\n```\n```\nx = 1\nprint(x)\n```\n```\nx = 3\nprint(x)\n```", "", "several code blocks"},
		{"a session", "```python\n>>> x = 1\n>>> x\n1\n```", "", "transcript"},
		{"a session with prompts", "```python\nIn [1]: x = 1\nOut[1]: 1\n```", "", "transcript"},
		{"diff", "```diff\n-x = 1\n+x = 2\n```", "", "no code block"},
		{"REPL", "```pycon\n>>> x\n```", "", "no code block"},
		{"shell", "```bash\npython x.py\n```", "", "no code block"},
		{"tagged SQL", "<pre><code class=\"language-sql\">select 1</code></pre>", "", "no code block"},
		{"two pairs of tags", "<code>\nx = 1\n</code>\n<code>\ny = 1\n</code>", "", "no code block"},
		{"a fence in a string", "```python\ns = '''\n```\nx\n```\n'''\n```", "", "within a string"},
		{"JSON without code", `{"answer": 1}`, "", "no code block"},
		{"JSON with two", `{"code": "x = 1", "code": "x = 2"}`, "", "twice"},
		{"never closed, with talk", "```python\nx = 1\n\nThis is the cell.", "", "not closed"},
		{"never closed, cut", "```python\nx = f(1,\n", "", "not closed"},
		{"never closed, cut in a block", "```python\nfor x in y:\n", "", "not closed"},
		{"never closed behind another", "```python\nx = 1\n```\n```python\ny = 1", "", "not closed"},
		{"talk and Python", "Here is the cell:\nx = 1\nprint(x)", "", "no code block"},
		{"Python and talk", "x = 1\nprint(x)\nThis prints 1.", "", "no code block"},
		{"talk that is nearly Python", "Verdict: sufficient", "", "no code block"},
		{"a word", "Done", "", "no code block"},
		{"a list of words", "A, B and C", "", "no code block"},
		{"a comment", "# Load the file", "", "no code block"},
		{"a route", "Step 2 is wrong", "", "no code block"},
		{"an empty fence", "```python\n```", "", "empty"},
		{"an opening fence alone", "```python", "", "empty"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Code.readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
}

func TestParseStepDresses(t *testing.T) {
	cases := []struct{ reply, want, problem string }{
		{`{"step": "Load a.csv."}`, "Load a.csv.", ""},
		{"- Load a.csv.", "Load a.csv.", ""},
		{"1. Load a.csv.", "Load a.csv.", ""},
		{"Next step: Load a.csv.", "Load a.csv.", ""},
		{"**Next step:** Load `a.csv` and print `df.shape`.", "Load `a.csv` and print `df.shape`.", ""},
		{"> Load a.csv\n> and count.", "Load a.csv and count.", ""},
		{`"Load a.csv."`, "Load a.csv.", ""},
		{"“Load a.csv.”", "Load a.csv.", ""},
		{`Group "x" by "y"`, `Group "x" by "y"`, ""},
		{"Step 3: \"Load a.csv.\"", "Load a.csv.", ""},
		{"I cannot tell yet which column holds the date, so load a.csv and print its columns.", "I cannot tell yet which column holds the date, so load a.csv and print its columns.", ""},
		{"Keep the stations that cannot be matched; drop none.", "Keep the stations that cannot be matched; drop none.", ""},

		{"1. Load a.csv.\n2. Count.\n3. Print.", "", "several steps"},
		{"Step 1: Load a.csv.\nStep 2: Count.", "", "several steps"},
		{"1. Load a.csv. 2. Count. 3. Print.", "", "several steps"},
		{"<pre>\nx = 1\n</pre>", "", "code"},
		{`{"plan": "Load"}`, "", "no step"},
		{"I cannot assist with that.", "", "refusal"},
		{"Unfortunately, I can't help here.", "", "refusal"},
		{"As an AI, I have no opinion.", "", "refusal"},
		{"Step 1: I'm sorry, but I can’t help with that.", "", "refusal"},
	}
	for _, c := range cases {
		t.Run(brief.Clip(c.reply, 40), func(t *testing.T) {
			got, err := Step.readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
}

func TestBlocks(t *testing.T) {
	got := Blocks("Words.\n```py\nx = 1\n```\n~~~ sh -e\nls\n~~~\n````\n```\n````\n```json\nnot closed")
	if d := cmp.Diff([]Block{{"python", "x = 1"}, {"sh", "ls"}, {"", "```"}}, got); d != "" {
		t.Error(d)
	}
}
