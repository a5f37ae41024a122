package solver

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/kernel"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/rewind"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
	"dsstar/notebook/compare"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args) // returns unless this is a sandbox process
	goleak.VerifyTestMain(m)
}

// TestLive: an agent in a real kernel, in the sandbox that works here, with the actions that run Bash,
// Python files and SQL. Its notebook runs in a fresh kernel as in nbclient, which continues after cells
// tagged raises-exception, and gives the same outputs. Only the tests of this package may import package
// kernel.
func TestLive(t *testing.T) {
	tier, why, err := sandbox.Choose("auto")
	if t.Log(why, err); err != nil {
		tier = sandbox.Off
	}
	data, dir := t.TempDir(), record.Folder(t.TempDir())
	python := func(code string) string { return "```python\n" + code + "\n```" }
	model := &llmtest.Model{Replies: []string{
		"```python\naction_seconds = 1\nfee = 7.0\n```\n```sh\nsleep 60 & sleep 60\n```",
		"```sh\ncat data/a.txt; echo out >&2; ls data | wc -l\n```\n```sh\nls nowhere\n```",
		python("action_seconds = 60\n" +
			"python('work/make.py', '''import sqlite3\nc = sqlite3.connect('x.sqlite')\n" +
			"c.execute('CREATE TABLE t (a, b)')\nc.executemany('INSERT INTO t VALUES (?, ?)', " +
			"[(1, 'x, y'), (6, None)])\nc.commit()\nprint('made')''')"),
		python("sql('x.sqlite', 'SELECT * FROM t')\n" +
			"sql('x.sqlite', 'SELECT sum(a) AS total FROM t', 'total.csv')"),
		python("sql('y.sqlite', 'SELECT 1')"),
		python("python('plot.py', '''import matplotlib.pyplot as plt\nplt.bar([1], [2])\n" +
			"plt.savefig('plot.png')''')"),
		"```sh\ncat total.csv; ls . work\n```", "Answer: 7.0\nTERMINATE",
	}}
	box := sandbox.Box{Tier: tier, Read: []string{data}, Limits: sandbox.Limits{Processes: 256}}
	open := func(ctx context.Context, _ agent.Purpose, dir string) (agent.Session, error) {
		k, err := kernel.Start(ctx, kernel.Options{Spec: kernel.PythonSpec(pyenvtest.Python(t)), Dir: dir,
			Scratch: record.Folder(dir).Files(), Env: os.Environ(), CellTimeout: time.Minute,
			StartTimeout: time.Minute, Sandbox: box})
		if err != nil {
			return nil, err
		}
		return rewind.New(k, rewind.Options{}), nil
	}
	pyenvtest.OK(t, os.Mkdir(dir.Files(), 0o755))
	pyenvtest.OK(t, os.WriteFile(filepath.Join(data, "a.txt"), []byte("the fee is 7\n"), 0o600))
	autogen := Find("autogen")
	got, err := autogen.New(Options{})(t.Context(), agent.Config{
		Settings: ask.Settings{Model: model}, Options: describe.Options{TopK: 1}, Dir: string(dir), Open: open,
	}, record.Task{Question: "What is the fee?", Data: data, Files: []record.File{{Name: "a.txt", Size: 13}}})
	if err != nil || got.Answer != "7.0" {
		t.Fatalf("%v, %+v", err, got)
	}
	for n, parts := range [][]string{{"the action ran longer than 1 s"},
		{"the fee is 7\nout\n1", "nowhere", "exit status 2"}, {"made"},
		{"a,b\n1,\"x, y\"\n6,", "1 rows are in total.csv"}, {"there is no database y.sqlite"},
		{"The code ran, and printed nothing."},
		{"total\n7\n.:\ndata\nplot.png\nplot.py\ntotal.csv\nwork\nx.sqlite\n\nwork:\nmake.py"}} {
		told := model.Asked[n+1].Messages
		for _, part := range parts {
			if text := told[len(told)-1].Text; !strings.Contains(text, part) {
				t.Errorf("message %d lacks %q:\n%s", n+2, part, text)
			}
		}
	}
	again := pyenvtest.Must(open(t.Context(), agent.Prove, t.TempDir()))
	defer again.Close()
	for _, c := range pyenvtest.Must(notebook.Open(dir.Notebook())).Cells {
		if c.Type != notebook.Code {
			continue
		}
		e, err := again.Execute(t.Context(), c.Source)
		raises := slices.Contains(c.Tags(), "raises-exception")
		differ := compare.Outputs(c.Outputs, notebook.Rewritten(e.Outputs, notebook.Steady), 0)
		if err != nil || (e.Status == notebook.OK) == raises || strings.HasPrefix(c.ID, "step-") && len(differ) > 0 {
			t.Errorf("%s: %v, %s, %+v\n%s", c.ID, err, e.Status, differ, e.PlainText())
		}
	}
}

// TestActions: what runs for an action, or what is wrong with it.
func TestActions(t *testing.T) {
	final := func(answer string) move { return move{answer: answer, ends: true, finished: true} }
	for text, want := range map[string]move{
		"Action:\n```bash\nls -l\n```":                            {cell: `bash("ls -l")`},
		"```sh\ncat <<E\nx\nE\n```\nObservation:\nAnswer: x":      {cell: `bash("cat <<E\nx\nE")`},
		"```python\n# file: a.py\nx = 1\n```\n```sh\nls\n```":     {cell: `python("a.py", "x = 1")`},
		"```sql\n-- output: o.csv\n--file:a b.db \nSELECT 1\n```": {cell: `sql("a b.db", "SELECT 1", "o.csv")`},
		"```python\nprint(1)\n```":                                {problem: notAction},
		"```r\n# file: a.r\nx\n```":                               {problem: notAction},
		"```sql\n-- file: a.db\n```":                              {problem: "its action is empty"},
		"Thought: done.\n\nAnswer: 7":                             final("7"),
		"It is.\n\n**Answer:** 7":                                 final("7"),
		"Answer: 6\n\nNo.\n\nfinal answer: 7":                     final("7"),
		"Answer: \nfirst\nsecond":                                 final("first\nsecond"),
		"The answer is 7":                                         {problem: "it has no action"},
		"Answer:":                                                 {problem: "it has no action"},
		"I could use Bash for it.":                                {problem: "it has no action"},
	} {
		if got := actionOf(text); got != want {
			t.Errorf("%q is %+v", text, got)
		}
	}
	if got := answerIn("Answer:\n```\na, b\n```"); got != "a, b" {
		t.Errorf("the answer in a block is %q", got)
	}
}

func TestUnreadPlans(t *testing.T) {
	task := func(id, on string) string {
		return `{"task_id": "` + id + `", "instruction": "a", "dependent_task_ids": [` + on + `]}`
	}
	for _, plan := range []string{"First I load it.", "[]", "[" + task("1", "") + "," + task("1", "") + "]",
		"[" + task("1", `"2"`) + "]", "[" + task("1", `"2"`) + "," + task("2", `"1"`) + "]"} {
		if order, err := parseGraph(plan); err == nil {
			t.Errorf("%s is %v", plan, order)
		}
	}
}
