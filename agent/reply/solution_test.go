package reply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/record"
)

// readAll holds a format to replies that are read as one value, or not at all.
func readAll[T any](t *testing.T, f Format[T], want T, problem string, replies ...string) {
	t.Helper()
	for _, reply := range replies {
		got, err := f.readText(reply)
		switch {
		case problem != "" && (err == nil || !strings.Contains(err.Error(), problem)):
			t.Errorf("%s\ngot %+v, %v, want %q", reply, got, err, problem)
		case problem == "" && err != nil:
			t.Errorf("%s\n%v", reply, err)
		case problem == "":
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s\n(-want +got)\n%s", reply, d)
			}
		}
	}
}

const cellX = "```python\nx = 1\nprint(x)\n```"

func TestSolution(t *testing.T) {
	want := Solution{Step: "Load a.csv and count.", Code: "x = 1\nprint(x)"}
	readAll(t, Solutions(false), want, "",
		"Step: Load a.csv and count.\n\n"+cellX,
		"**Step:** Load a.csv and count.\n"+cellX,
		"**Step: Load a.csv and count.**\n"+cellX,
		"**Step**: Load a.csv\nand count.\n\n**Code:**\n"+cellX,
		"## Step 3: Load a.csv and count.\n\n## Code\n\n"+cellX+"\n\nThis prints 1.",
		"### Step\n\nLoad a.csv and count.\n\n### Cell\n"+cellX,
		"step - Load a.csv and count.\nCell:\n"+cellX,
		"1. **Step:** Load a.csv and count.\n2. **Code:**\n   ```python\n   x = 1\n   print(x)\n   ```",
		"- Step: Load a.csv and count.\n- Code:\n"+cellX,
		"> Step: Load a.csv and count.\n\n"+cellX,
		"| Step | Load a.csv and count. |\n|---|---|\n\n"+cellX,
		"Sure! Here is the next step:\n\nLoad a.csv and count.\n\n"+cellX,
		"Load a.csv and count.\n"+cellX,
		"Step: Load a.csv and count.\nCode:\nx = 1\nprint(x)",
		"Step: Load a.csv and count.\n```\nx = 1\nprint(x)\n```",
		"Step: Load a.csv and count.\n```python\nx = 1\nprint(x)\n",
		"<think>\nStep: Guess.\n"+cellX+"\n</think>\nStep: Load a.csv and count.\n"+cellX,
		"Step: Load a.csv and count.\nReadings: none\n"+cellX,
		"Step 1: Load a.csv\nStep 2: and count.\n"+cellX,

		`{"step": "Load a.csv and count.", "code": "x = 1\nprint(x)"}`,
		`{"step": "Load a.csv and count.", "code": "x = 1\nprint(x)", "readings": []}`,
		"```json\n{\"step\": \"Load a.csv and count.\", \"code\": \"x = 1\\nprint(x)\",}\n```",
		"Here it is:\n{\n  \"step\": \"Load a.csv and count.\",\n"+
			"  \"code\": \"x = 1\nprint(x)\"\n}\nDone.",
		"<think>{\"step\": \"no\"}</think>"+
			`{"Step": "Load a.csv and count.", "Code": "x = 1\nprint(x)"}`,
		`{"next_step": "Load a.csv and count.", "python_code": "`+
			"```python\\nx = 1\\nprint(x)\\n```\"}",
		"{\"step\": \"Load a.csv and count.\", \"code\": \"\"\"\nx = 1\nprint(x)\n\"\"\"}",
		"{'step': 'Load a.csv and count.', 'code': 'x = 1\\nprint(x)', 'readings': None}",
		`{"step": "Load a.csv and count.", "code": ["x = 1", "print(x)"]}`,
		`{"name": "solution", "arguments": {"step": "Load a.csv and count.", "code": "x = 1\nprint(x)"}}`,
		`{"name": "f", "arguments": "{\"step\": \"Load a.csv and count.\", `+
			`\"code\": \"x = 1\\nprint(x)\"}"}`,
		`{"type": "object", "properties": {"step": "Load a.csv and count.", "code": "x = 1\nprint(x)"}}`,
		`[{"step": "Load a.csv and count.", "code": "x = 1\nprint(x)"}]`,
		"{\"step\": \"Load a.csv and count.\"}\n\n"+cellX,
		"{\"step\": \"Load a.csv and count.\",\n \"code\": \"\n```python\nx = 1\nprint(x)\n```\n\"\n}",
	)
	readAll(t, Solutions(false),
		Solution{Step: "Find \"b\".", Code: "s = re.sub('\\d', \"b\", 'é😀\\n')"}, "",
		`{"step": "Find "b".", "code": "s = re.sub('\d', \"b\", '\u00e9\ud83d\ude00\\n')"}`,
		"Step: Find \"b\".\n```python\ns = re.sub('\\d', \"b\", 'é😀\\n')\n```")
	for problem, replies := range map[string][]string{
		"no code":    {"Step: Load a.csv.", `{"step": "Load"}`, `{"step": "Load", "code": null}`},
		"no step":    {cellX, "Here is the code:\n\n" + cellX, `{"code": "x = 1"}`, "Step:\n" + cellX},
		"JSON":       {`{"step": "Load", "code": "x = 1`, "```json\n{\"step\": \"Load\", \"co"},
		"twice":      {`{"step": "Load", "step": "Count", "code": "x = 1"}`},
		"two JSON":   {"{\"step\": \"a\", \"code\": \"b = 1\"}\n{\"step\": \"c\", \"code\": \"d = 1\"}"},
		"several":    {"Step: a\n```python\nimport a\n```\n```python\nprint(a)\n```"},
		"refusal":    {"I'm sorry, but I can't help with that.", "Step: I cannot help.\n" + cellX},
		"empty":      {"", "```\n```", "<think>Step: x"},
		"not closed": {"Step: a\n```python\nx = 1\n\nThis is it."},
	} {
		readAll(t, Solutions(false), Solution{}, problem, replies...)
	}
}

func TestReadings(t *testing.T) {
	option := func(texts ...string) (all []record.Option) {
		for _, text := range texts {
			all = append(all, record.Option{Text: text})
		}
		return all
	}
	want := Solution{Step: "Count.", Code: "x = 1\nprint(x)", Readings: []record.Reading{
		{Point: "What is an order?", Options: option("all rows", "paid rows"), Chosen: 1,
			Evidence: `"status: paid" (readme.md)`, Settled: true},
		{Point: "Which year?", Options: option("2019", "2020", "both"), Chosen: 0},
	}}
	readAll(t, Solutions(true), want, "",
		`Step: Count.

Reading: What is an order?
Option 1: all rows
Option 2: paid rows
Taken: 2
Evidence: "status: paid" (readme.md)
Settled: yes

Reading: Which year?
Option 1: 2019
Option 2: 2020
Option 3: both
Taken: 1
Evidence: none
Settled: no

`+cellX,
		`**Step:** Count.

### Reading 1: What is an order?
- **Option 1:** all rows
- **Option 2:** paid rows
- **Taken:** Option 2
- **Evidence:** "status: paid" (readme.md)
- **Settled:** Yes

### Reading 2: Which year?
- **Option A:** 2019
- **Option B:** 2020
- **Option C:** both
- **Taken:** A
- **Evidence:** None.
- **Settled:** No

### Code
`+cellX,
		`## Step
Count.

## Readings
1. **Point:** What is an order?
   Options:
   - all rows
   - paid rows
   Taken 2
   Evidence: "status: paid" (readme.md)
   Settled: yes
2. **Point:** Which year?
   Options: (1) 2019 (2) 2020 (3) both
   Taken: 2019
   Settled: no, nothing says it

`+cellX,
		`{"step": "Count.", "readings": [
{"point": "What is an order?", "options": ["all rows", "paid rows"], "taken": 2,
 "evidence": "\"status: paid\" (readme.md)", "settled": true},
{"point": "Which year?", "options": ["2019", "2020", "both"], "taken": 1, "evidence": null,
 "settled": false}],
"code": "x = 1\nprint(x)"}`,
		`{"step": "Count.", "readings": [
{"reading": "What is an order?", "option_1": "all rows", "option_2": "paid rows",
 "chosen": "Option 2", "evidence": "\"status: paid\" (readme.md)", "settled": "yes"},
{"point": "Which year?", "options": {"1": "2019", "2": "2020", "3": "both"}, "taken": "A",
 "evidence": "none"}, {"point": "none", "options": []}],
"code": "x = 1\nprint(x)"}`,
		`{"step": "Count.", "readings": [
{"point": "What is an order?", "options": [{"id": 1, "text": "all rows"},
 {"id": 2, "text": "paid rows"}], "taken": "paid rows", "evidence": "\"status: paid\" (readme.md)",
 "settled": true},
{"point": "Which year?", "options": "2019 / 2020 / both", "taken": "1", "evidence": "",
 "settled": true}],
"code": "x = 1\nprint(x)"}`,
	)
}

// TestUnreadableReadings: a reading that cannot be read is a problem of the reply, which has it by its
// point; what says that there is none is no reading.
func TestUnreadableReadings(t *testing.T) {
	step := `"step": "Count.", "code": "x = 1\nprint(x)"`
	for reading, problem := range map[string]string{
		`{"point": "Which?", "options": ["a", "b"], "taken": null}`:       "which option",
		`{"point": "Which?", "options": ["a", "b"]}`:                      "which option",
		`{"point": "Which?", "options": ["a", "b"], "taken": 3}`:          "which option",
		`{"point": "Which?", "options": ["a", "b"], "taken": 0}`:          "which option",
		`{"point": "Which?", "options": ["a"], "taken": 1}`:               "two different",
		`{"point": "Which?", "options": ["a", "A"], "taken": 1}`:          "two different",
		`{"point": "Which?", "options": ["a b", "“A b”."], "taken": 1}`:   "two different",
		`{"point": "Which?", "options": ["a 1.5", "a 15"], "taken": 1}`:   "",
		`{"point": "Which?", "options": ["n > 0", "n >= 0"], "taken": 1}`: "",
		`{"point": "Which?", "options": ["a", "none"], "taken": 1}`:       "two different",
		`{"point": "Which?", "options": []}`:                              "two different",
		`"Which?"`:                                                        "two different",
		`{"options": ["Which?"], "taken": 1}`:                             "what is left open",
		`{"point": "none", "options": []}`:                                "",
		`{"point": "There is no point left open.", "options": []}`:        "",
		`{"point": "Which?", "options": ["a", "b", "none"], "taken": 2}`:  "",
	} {
		for _, text := range []string{"{" + step + `, "readings": [` + reading + "]}",
			`{"readings": [{"point": "What?", "options": ["c", "d"], "taken": 2}, ` + reading + "], " + step + "}"} {
			s, err := Solutions(true).readText(text)
			if s.Code == "" || IsPart(err) != (problem != "") || err != nil && !strings.Contains(err.Error(), problem) {
				t.Errorf("%s: %+v, %v", text, s, err)
			}
			if n := len(s.Readings); problem != "" && (s.Readings[n-1].Problem == "" || s.Readings[n-1].Point != "Which?") {
				t.Errorf("%s: %+v", text, s.Readings)
			}
		}
	}
	s, err := Solutions(true).readText("Reading: Which?\nOption 1: a\nOption 2: b\n\nStep: Count.\n\n" + cellX)
	if !IsPart(err) || len(s.Readings) != 1 || s.Code == "" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestJudgementWithReadings(t *testing.T) {
	want := Judgement{Verdict: record.Verdict{Sufficient: true, Reason: "all is there"}, Code: "x = 1\nprint(x)",
		Readings: []record.Reading{{Point: "What is an order?", Chosen: 1,
			Options: []record.Option{{Text: "all rows"}, {Text: "paid rows"}}}}}
	readAll(t, Judgements(3, 0, nil, true), want, "",
		"Reading: What is an order?\nOption 1: all rows\nOption 2: paid rows\nTaken: 2\nEvidence: none\n"+
			"Settled: no\n\nVerdict: sufficient\nReason: all is there\n\n"+cellX,
		"Verdict: sufficient\nReason: all is there\n\n"+cellX+"\n\n**Reading:** What is an order?\n"+
			"Option 1: all rows\nOption 2: paid rows\nTaken: paid rows\nSettled: no",
		`{"readings": [{"point": "What is an order?", "options": ["all rows", "paid rows"], "taken": 2,
			"evidence": null, "settled": false}], "verdict": "sufficient", "reason": "all is there",
			"wrong_step": null, "code": "x = 1\nprint(x)"}`)
	want.Readings = nil
	readAll(t, Judgements(3, 0, nil, true), want, "",
		"Verdict: sufficient\nReason: all is there\n\n"+cellX,
		`{"readings": [], "verdict": "sufficient", "reason": "all is there", "wrong_step": null,
			"code": "x = 1\nprint(x)"}`)
	readAll(t, Judgements(3, 0, nil, true), Judgement{Verdict: record.Verdict{Reason: "it loses rows"}, Wrong: 2}, "",
		"Reading: none\n\nVerdict: insufficient\nReason: it loses rows\nWrong step: 2")
}

func TestJudgement(t *testing.T) {
	lacks := func(reason string, wrong int) Judgement {
		return Judgement{Verdict: record.Verdict{Reason: reason}, Wrong: wrong}
	}
	enough := Judgement{Verdict: record.Verdict{Sufficient: true, Reason: "all is there"},
		Code: "x = 1\nprint(x)"}
	readAll(t, Judgements(3, 0, nil, false), enough, "",
		"Verdict: sufficient\nReason: all is there\n\n"+cellX,
		"**Verdict:** Sufficient\n**Reason:** all is there\n**Wrong step:** none\n\n**Code:**\n"+cellX,
		"## Verdict\nsufficient\n\n## Reason\nall is there\n\n## Last cell\n"+cellX,
		"Verdict: sufficient.\nReason: all is there\nWrong step: 0\n"+cellX,
		`{"verdict": "sufficient", "reason": "all is there", "wrong_step": null,
			"code": "x = 1\nprint(x)"}`,
		`{"verdict": "Sufficient.", "reason": "all is there", "wrong_step": 0, "code": "`+
			"```python\\nx = 1\\nprint(x)\\n```"+`"}`,
		"{\"verdict\": \"sufficient\", \"reason\": \"all is there\"}\n"+cellX,
	)
	readAll(t, Judgements(3, 0, nil, false), lacks("the join loses rows", 2), "",
		"Verdict: insufficient\nReason: the join loses rows\nWrong step: 2",
		"Verdict: insufficient\nWrong step: Step 2\nReason: the join loses rows\n"+cellX,
		"- **Verdict**: insufficient\n- **Reason**: the join loses rows\n- **Wrong step**: two",
		"1. Verdict: insufficient\n2. Reason: the join loses rows\n3. Wrong step 2",
		"Verdict: unfinished\nReason: the join loses rows\nWrong: step 2",
		`{"verdict": "insufficient", "reason": "the join loses rows", "wrong_step": 2, "code": null}`,
		`{"verdict": "insufficient", "reason": "the join loses rows", "wrong_step": "Step 2",
			"code": ""}`,
		"```json\n{\"verdict\": \"insufficient\", \"reason\": \"the join loses rows\",\n"+
			"\"wrong_step\": [2],}\n```",
	)
	readAll(t, Judgements(3, 0, nil, false), lacks("Step 2 is wrong: it loses rows", 2), "",
		"Verdict: insufficient\nReason: Step 2 is wrong: it loses rows")
	readAll(t, Judgements(3, 0, nil, false), lacks("the mean", 0), "",
		"Verdict: insufficient\nMissing: the mean", "Insufficient: the mean",
		`{"verdict": "insufficient", "missing": "the mean"}`)
	readAll(t, Judgements(3, 0, nil, false),
		Judgement{Verdict: record.Verdict{Unfinished: true, Reason: "the mean"}}, "",
		"Verdict: unfinished\nReason: the mean",
		"Verdict: unfinished\nReason: the mean\nWrong step: none")
	readAll(t, Judgements(3, 0, nil, false), Judgement{Code: "x = 1\nprint(x)",
		Verdict: record.Verdict{Sufficient: true, Inconclusive: true, Reason: "no prices"}}, "",
		"Verdict: inconclusive\nReason: no prices\n"+cellX)
	asked := []Branch{{Point: 1, Option: 2}, {Point: 2, Option: 1}}
	branched := enough
	branched.Branches = []Branch{{Point: 1, Option: 2, Steps: 0, Code: "x = 1\nprint(x)"},
		{Point: 2, Option: 1, Steps: 3, Code: "x = 1\nprint(x)"}}
	readAll(t, Judgements(3, 2, asked, false), branched, "",
		"Verdict: sufficient\nReason: all is there\n\n"+cellX+"\n\nBranch 1.2\nKeeps: 0\n\n"+cellX+
			"\n\nBranch 2.1\nKeeps: 3\n\n"+cellX,
		"**Verdict:** sufficient\n**Reason:** all is there\n\n"+cellX+"\n\n## Branch 1.2\n**Keeps:** 0\n\n"+
			cellX+"\n\n## Branch 2.1: the other\n**Keeps:** 3 steps\n\n"+cellX,
		`{"verdict": "sufficient", "reason": "all is there", "wrong_step": null, "code": "x = 1\nprint(x)",
			"branches": [{"reading": 1, "option": 2, "keeps": 0, "code": "x = 1\nprint(x)"},
			{"reading": 2, "option": 1, "keeps": 3, "code": "x = 1\nprint(x)"}]}`,
	)
	weighed := enough
	weighed.Takes, weighed.Decided = []int{2, 1}, []int{}
	readAll(t, Judgements(3, 2, nil, false), weighed, "",
		"Verdict: sufficient\nReason: all is there\nTakes: 2, 1\nDecided: none\n\n"+cellX,
		"**Verdict:** sufficient\n**Reason:** all is there\n**Takes:** option 2 and option 1\n**Decided:** -\n\n"+cellX,
		`{"verdict": "sufficient", "reason": "all is there", "wrong_step": null, "code": "x = 1\nprint(x)",
			"takes": "2, 1", "decided": "none", "branches": []}`,
		`{"verdict": "sufficient", "reason": "all is there", "code": "x = 1\nprint(x)", "takes": [2, 1], "decided": []}`)
	weighed.Decided = []int{1}
	readAll(t, Judgements(3, 2, asked, false), weighed, "",
		"Verdict: sufficient\nReason: all is there\nTakes: 2, 1\nDecided: 1\n\n"+cellX)
	readAll(t, Judgements(3, 2, asked, false), enough, "", "Verdict: sufficient\nReason: all is there\n\n"+cellX)
	branched.Inconclusive = true
	readAll(t, Judgements(3, 2, asked, false), branched, "",
		"Verdict: inconclusive\nReason: all is there\n\n"+cellX+"\n\nBranch 1.2\nKeeps: 0\n\n"+cellX+
			"\n\nBranch 2.1\nKeeps: 3\n\n"+cellX)
	readAll(t, Judgements(3, 2, asked, false), enough, "",
		"Verdict: sufficient\nReason: all is there\n\n"+cellX,
		"Verdict: sufficient\nReason: all is there\n\n"+cellX+"\n\nBranch 3.1\nKeeps: 0\n\n"+cellX)
	readAll(t, Judgements(3, 2, asked, false), lacks("Step 2 is wrong: it loses rows", 2), "",
		"Verdict: insufficient\nReason: Step 2 is wrong: it loses rows\n\nBranch 1.2\nKeeps: 0\n\n"+cellX)
	for problem, replies := range map[string][]string{
		"no code":    {"Verdict: sufficient\nReason: x", `{"verdict": "sufficient", "reason": "x"}`},
		"no verdict": {"Wrong step: 2", `{"reason": "x"}`, cellX},
		"two verdicts": {"Verdict: sufficient\nVerdict: insufficient\n" + cellX,
			"Verdict: sufficient\nReason: x\nWrong step: 2\n" + cellX,
		},
		"twice":          {`{"verdict": "sufficient", "verdict": "insufficient"}`},
		"more than one":  {"Verdict: insufficient\nWrong step: 1\nWrong step: 3"},
		"names step 4":   {"Verdict: insufficient\nReason: x\nWrong step: 4"},
		"a reason":       {"Verdict: inconclusive\n" + cellX},
		"of those asked": {"Verdict: sufficient / insufficient\n" + cellX, "Verdict: maybe\n" + cellX, `{"verdict": "maybe", "code": "x = 1"}`},
	} {
		readAll(t, Judgements(3, 0, nil, false), Judgement{}, problem, replies...)
	}
}

func TestBranches(t *testing.T) {
	asked := []Branch{{Point: 1, Option: 2}, {Point: 2, Option: 1}}
	want := []Branch{{1, 2, 1, "x = 1\nprint(x)"}, {2, 1, 0, "y = 1\nprint(y)"}}
	const cellY = "```python\ny = 1\nprint(y)\n```"
	readAll(t, Branches(asked, 3), want, "",
		"Branch 1.2\nKeeps: 1\n\n"+cellX+"\n\nBranch 2.1\nKeeps: 0\n\n"+cellY,
		"### Branch 1.2\n**Keeps:** 1 step\n"+cellX+"\n### Branch 2.1\n**Keeps:** none\n"+cellY,
		"**Branch 1.2: paid rows in 2019**\nKeeps: step 1\n"+cellX+
			"\n**Branch 2.1**:\nKeeps: 0 of 3\n"+cellY,
		"1. Branch 1.2\n   Keeps: 1\n   ```python\n   x = 1\n   print(x)\n   ```\n"+
			"2. Branch 2.1\n   Keeps: 0\n   ```python\n   y = 1\n   print(y)\n   ```",
		"Reading 1\nOption 2\nKeeps: 1\n"+cellX+"\nReading 2\nOption 1\nKeeps: 0\n"+cellY,
		"Branch 1.2\nKeeps: 1\nCode:\nx = 1\nprint(x)\n\nBranch 2.1\nKeeps: 0\nCode:\ny = 1\nprint(y)",
		"Branch 1.2\nKeeps: 1\n"+cellX+"\nBranch 2.1\nKeeps: 0\n"+cellY+"\nBranch 3.1\nKeeps: 0\n"+cellY,
		`{"branches": [{"reading": 1, "option": 2, "keeps": 1, "code": "x = 1\nprint(x)"},
			{"reading": 2, "option": 1, "keeps": 0, "code": "y = 1\nprint(y)"}]}`,
		`[{"branch": "1.2", "keeps": "1", "code": "x = 1\nprint(x)"},
			{"branch": "2.1", "keeps": "none", "code": "y = 1\nprint(y)"}, {"branch": "1.1"}]`,
	)
	readAll(t, Branches(asked[:1], 3), want[:1], "",
		"Branch 1.2\nKeeps: 1\n"+cellX+"\nBranch 2.1\nKeeps: 9\n"+cellY, "Keeps: 1\n"+cellX,
		`{"keeps": 1, "code": "x = 1\nprint(x)"}`)
	for problem, replies := range map[string][]string{
		"no branch": {"Branch 1.2\nKeeps: 1", "Branch 1.2\n" + cellX, "Branch 3.1\nKeeps: 0\n" + cellX,
			"Branch 1.2\nKeeps: 4\n" + cellX, `{"branches": []}`, cellX},
		"two cells": {"Branch 1.2\nKeeps: 1\n" + cellX + "\nBranch 1.2\nKeeps: 1\n" + cellY},
		"several":   {"Branch 1.2\nKeeps: 1\n" + cellX + "\n" + cellY},
	} {
		readAll(t, Branches(asked, 3), nil, problem, replies...)
	}
}

func TestRuling(t *testing.T) {
	first := Ruling{Ruling: "first", Reason: "the join loses rows", Wrong: 2}
	readAll(t, Rulings(3), first, "",
		"Ruling: first\nReason: the join loses rows\nWrong step: 2",
		"**Ruling:** First\n**Reason:** the join loses rows\n**Wrong step:** Step 2",
		"## Ruling\nfirst\n\n## Reason\nthe join loses rows\n\n## Wrong step\n2",
		"Ruling: the first derivation has a mistake\nReason: the join loses rows\nWrong step 2",
		"1. Ruling: first.\n2. Reason: the join loses rows\n3. Wrong step: 2",
		"first\nReason: the join loses rows\nWrong step: 2",
		"| Ruling | first |\n|---|---|\n| Reason | the join loses rows |\n| Wrong step | 2 |",
		"Ruling: first - the join loses rows\nWrong step: 2",
		`{"ruling": "first", "reason": "the join loses rows", "wrong_step": 2,
			"code": null, "reading": null, "options": null}`,
		"```json\n{'ruling': 'First', 'reason': 'the join loses rows', 'wrong_step': '2',}\n```",
	)
	readAll(t, Rulings(3),
		Ruling{Ruling: "second", Reason: "it drops a file"}, "", "Ruling: second\nReason: it drops a file",
		"Ruling: second\nReason: it drops a file\n\n"+cellX,
		`{"ruling": "second", "reason": "it drops a file"}`)
	readAll(t, Rulings(3), Ruling{Ruling: "reading", Reason: "both are right",
		Point: "Which year?", Options: []string{"2019", "2020"}}, "",
		"Ruling: reading\nReason: both are right\nReading: Which year?\nOption 1: 2019\nOption 2: 2020",
		"**Ruling**: reading\n**Reason**: both are right\n**Reading**: Which year?\n"+
			"- **Option 1**: 2019\n- **Option 2**: 2020",
		`{"ruling": "reading", "reason": "both are right", "reading": "Which year?",
			"options": ["2019", "2020"]}`,
		`{"ruling": "reading", "reason": "both are right",
			"reading": {"point": "Which year?", "options": ["2019", "2020"]}}`)
	readAll(t, Rulings(3), Ruling{Ruling: "same", Reason: "1 % is 0.01"}, "",
		"Ruling: same\nReason: 1 % is 0.01", `{"ruling": "same", "reason": "1 % is 0.01"}`)
	readAll(t, Rulings(3), Ruling{Ruling: "undecided"}, "", "Ruling: undecided", "Undecided.")
	for problem, replies := range map[string][]string{
		"no ruling": {"Ruling: both", "It is hard to say.", `{"ruling": "", "reason": "x"}`},
		"two rulings": {"Ruling: first or second", "Ruling: first\nReason: x\nRuling: second",
			"Ruling: first is correct", "Ruling: the second derivation is right"},
		"mistake":      {"Ruling: second", "Ruling: second\n" + cellX},
		"options":      {"Ruling: reading\nReason: x", "Ruling: reading\nReading: y\nOption 1: a"},
		"names step 7": {"Ruling: first\nWrong step: 7"},
	} {
		readAll(t, Rulings(3), Ruling{}, problem, replies...)
	}
}
