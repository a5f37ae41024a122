package solver

import "testing"

// TestActions: what runs for an action, or what is wrong with it.
func TestActions(t *testing.T) {
	for text, want := range map[string]move{
		"Action:\n```bash\nls -l\n```":                            {cell: `bash("ls -l")`},
		"```sh\ncat <<E\nx\nE\n```\nObservation:\nAnswer: x":      {cell: `bash("cat <<E\nx\nE")`},
		"```python\n# file: a.py\nx = 1\n```\n```sh\nls\n```":     {cell: `python("a.py", "x = 1")`},
		"```sql\n-- output: o.csv\n--file:a b.db \nSELECT 1\n```": {cell: `sql("a b.db", "SELECT 1", "o.csv")`},
		"```python\nprint(1)\n```":                                {problem: notAction},
		"```r\n# file: a.r\nx\n```":                               {problem: notAction},
		"```sql\n-- file: a.db\n```":                              {problem: "its action is empty"},
		"Thought: done.\n\nAnswer: 7":                             {answer: "7", ends: true, finished: true},
		"I could use Bash for it.":                                {problem: "it has no action"},
	} {
		if got := actionOf(text); got != want {
			t.Errorf("%q is %+v", text, got)
		}
	}
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
