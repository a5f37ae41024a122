package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write creates files below a folder, by name.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func open(t *testing.T, name, path string, s Setting) *Suite {
	t.Helper()
	b, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	suite, err := b.Open(path, s)
	if err != nil {
		t.Fatal(err)
	}
	return suite
}

// below makes paths below root relative, so that tests can name them.
func below(root string, paths ...string) []string {
	var names []string
	for _, p := range paths {
		if rel, err := filepath.Rel(root, p); err == nil && !strings.HasPrefix(rel, "..") {
			p = filepath.ToSlash(rel)
		}
		names = append(names, p)
	}
	return names
}

func TestDABStepSuite(t *testing.T) {
	files := map[string]string{
		"data/tasks/all.jsonl": `{"task_id": 5, "question": "q", "guidelines": "g", "level": "easy", "answer": ""}`,
		"data/tasks/dev.jsonl": `{"task_id": "5", "question": "q", "guidelines": "g", "level": "easy", "answer": "NL"}` + "\n\n" +
			`{"task_id": "70", "question": "q2", "guidelines": "", "level": "hard", "answer": "1.5"}` + "\n",
	}
	for _, name := range contextFiles[1:] {
		files["data/context/"+name] = "x"
	}
	root := write(t, files)
	suite := open(t, "dabstep", root, Setting{Split: "dev"})
	want := []Task{
		{ID: "5", Question: "q", Guidelines: "g", Level: "easy", Rules: "dabstep", Gold: json.RawMessage(`"NL"`)},
		{ID: "70", Question: "q2", Level: "hard", Rules: "dabstep", Gold: json.RawMessage(`"1.5"`)},
	}
	for i := range want {
		want[i].Data, want[i].Missing = filepath.Join(root, "data", "context"), suite.Missing
	}
	if diff := cmp.Diff(want, suite.Tasks); diff != "" {
		t.Error(diff)
	}
	if got := below(root, suite.Missing...); !slices.Equal(got, []string{"data/context/acquirer_countries.csv"}) {
		t.Errorf("missing are %v", got)
	}
	all := open(t, "dabstep", filepath.Join(root, "data", "tasks", "all.jsonl"), Setting{})
	if len(all.Tasks) != 1 || all.Tasks[0].Gold != nil || all.Tasks[0].Data != want[0].Data {
		t.Errorf("tasks are %+v", all.Tasks)
	}
	var missing *MissingError
	if _, err := (Scorer{}).Score(t.Context(), all.Tasks[0], nil); !errors.As(err, &missing) {
		t.Errorf("a task without a right answer: %v", err)
	}
	_, err := suite.Benchmark.Open(t.TempDir(), Setting{})
	if !errors.As(err, &missing) || !strings.HasSuffix(missing.What[0], filepath.Join("data", "tasks", "all.jsonl")) {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestDABStepGold distinguishes empty right answers from hidden ones.
func TestDABStepGold(t *testing.T) {
	for text, want := range map[string][]string{
		`{"task_id": 1, "answer": ""}` + "\n" + `{"task_id": 2, "answer": "null"}` + "\n" + `{"task_id": 3, "answer": NaN}`:                         {"", "", ""},
		`{"task_id": 1, "answer": ""}` + "\n" + `{"task_id": 2, "answer": "null"}` + "\n" + `{"task_id": 3, "answer": 5}` + "\n" + `{"task_id": 4}`: {`""`, `"null"`, `"5"`, ""},
	} {
		suite := open(t, "dabstep", filepath.Join(write(t, map[string]string{"tasks.jsonl": text}), "tasks.jsonl"), Setting{})
		var got []string
		for _, task := range suite.Tasks {
			got = append(got, string(task.Gold))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the right answers are %q, not %q", text, got, want)
		}
	}
}

func TestKramaBenchSuite(t *testing.T) {
	root := write(t, map[string]string{
		"workload/legal.json": `[{"id": "legal-hard-1", "query": "q", "answer": 3.5, "answer_type": "numeric_exact",
			"data_sources": ["a.csv", "state MSA/*", "b.csv", "other.csv", "gone.csv"], "subtasks": []},
			{"id": "legal-easy-2", "query": "q", "answer": ["x"], "answer_type": "list_exact", "data_sources": ["sub/b.csv"]}]`,
		"workload/wildfire.json":            `[{"id": "wildfire-easy-1", "query": "q", "answer": "Yes", "answer_type": "string_exact", "data_sources": ["x"]}]`,
		"workload/legal-tiny.json":          `[{"id": "legal-hard-1", "query": "q", "answer": 3.5, "answer_type": "numeric_exact"}]`,
		"data/legal/input/a.csv":            "a",
		"data/legal/input/sub/b.csv":        "a",
		"data/legal/input/State MSA/DC.csv": "a",
		"data/legal/input/other.csv":        "a",
		"data/legal/input/sub/other.csv":    "a",
	})
	suite := open(t, "kramabench", root, Setting{})
	if len(suite.Tasks) != 3 || suite.Tasks[0].Files != nil || suite.Tasks[0].Missing != nil || suite.Tasks[0].Level != "hard" || suite.Tasks[0].Domain != "legal" {
		t.Errorf("tasks are %+v", suite.Tasks)
	}
	if got := below(root, suite.Tasks[2].Missing...); !slices.Equal(got, []string{"data/wildfire/input"}) {
		t.Errorf("missing for wildfire are %v", got)
	}
	if got := below(root, suite.Missing...); !slices.Equal(got, []string{"workload/archeology.json", "workload/astronomy.json", "workload/biomedical.json", "workload/environment.json"}) {
		t.Errorf("missing are %v", got)
	}
	oracle := open(t, "kramabench", filepath.Join(root, "workload", "legal.json"), Setting{Oracle: true})
	if got := oracle.Tasks[0].Files; !slices.Equal(got, []string{"State MSA/DC.csv", "a.csv", "other.csv", "sub/b.csv"}) {
		t.Errorf("files are %v", got)
	}
	if got := below(root, oracle.Tasks[0].Missing...); !slices.Equal(got, []string{"data/legal/input/gone.csv"}) {
		t.Errorf("missing files are %v", got)
	}
}

func TestDABenchSuite(t *testing.T) {
	root := write(t, map[string]string{
		"da-dev-questions.jsonl": `{"id": 0, "question": "q", "concepts": ["A", "B"], "constraints": "c", "format": "@m[v]", "file_name": "t.csv", "level": "easy"}
{"id": 7, "question": "q", "concepts": ["A"], "constraints": "c", "format": "@m[v]", "file_name": "gone.csv", "level": "hard"}
{"id": 9, "question": "q", "concepts": ["A"], "constraints": "c", "format": "@m[v]", "file_name": "t.csv", "level": "hard"}`,
		"da-dev-labels.jsonl": `{"id": 0, "common_answers": [["m", "1.50"], ["n", "x"]]}` + "\n" + `{"id": 7, "common_answers": [["m", "1.50"]]}`,
		"da-dev-tables/t.csv": "a",
	})
	suite := open(t, "dabench", root, Setting{})
	got := [][]string{}
	for _, task := range suite.Tasks {
		got = append(got, below(root, task.Missing...))
	}
	if diff := cmp.Diff([][]string{nil, {"da-dev-tables/gone.csv"}, {"label of question 9"}}, got); diff != "" {
		t.Error(diff)
	}
	first := suite.Tasks[0]
	if !slices.Equal(first.Files, []string{"t.csv"}) || first.Guidelines != "Constraints: c\nAnswer format: @m[v]" || first.Kind != "A, B" {
		t.Errorf("the first task is %+v", first)
	}
	suite.Tasks = suite.Tasks[:2]
	answers, err := suite.Benchmark.Answers(filepath.Join(write(t, map[string]string{"a.jsonl": `{"id": 0, "response": "@m[1.5] @n[ X]"}`}), "a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for compat, want := range map[Compat][]float64{Upstream: {0, 25, 33.33, 0, 0, 0, 0}, Fixed: {50, 50, 66.67, 0, 100, 50, 100}} {
		scores, err := suite.Score(t.Context(), Scorer{Compat: compat, Plain: python(t)}, answers)
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, total := range suite.Totals(scores, answers) {
			got = append(got, total.Value) // ABQ, PSAQ, UASQ, hard, easy, A, B
		}
		if !slices.Equal(got, want) || !scores[1].Missing || scores[1].Detail != "no answer" {
			t.Errorf("%s: totals are %v, scores %+v", compat, got, scores)
		}
	}
}

func TestDABenchFields(t *testing.T) {
	label := `[["a", "1,234.5"], ["b", "[1, 2]"], ["c", "Yes"], ["c", "No"]]`
	said := "@a[1234.5] and @b[[1, 2]], @c[ yes ]\n@c[\nno]"
	close := Task{ID: "1", Rules: "dabench", Gold: json.RawMessage(`[["a", "1.0"], ["b", "1.0"]]`)}
	score, err := Scorer{Plain: python(t)}.Score(t.Context(), close, &Answer{ID: "1", Value: Said("@a[1.0000001] @b[1.001]")})
	if err != nil || score.Value != 0.5 {
		t.Errorf("numbers are equal to 1e-6: %+v, %v", score, err)
	}
	for compat, want := range map[Compat]float64{Upstream: 0, Fixed: 1} {
		score, err := Scorer{Compat: compat, Plain: python(t)}.Score(t.Context(), Task{ID: "1", Rules: "dabench", Gold: json.RawMessage(label)}, &Answer{ID: "1", Value: Said(said)})
		if err != nil || score.Value != want {
			t.Errorf("%s: %+v, %v", compat, score, err)
		}
		score, err = Scorer{Compat: compat, Plain: python(t)}.Score(t.Context(),
			Task{ID: "1", Rules: "dabench", Gold: json.RawMessage(`[["a", "1.5"], ["b", "1.5"]]`)},
			&Answer{ID: "1", Value: Said("@a[1.5000001] @b[1.5001]")}) // equal to 1e-6, and not
		if err != nil || score.Value != 0.5 {
			t.Errorf("%s: %+v, %v", compat, score, err)
		}
	}
}

// TestAnswers covers the errors of answers that do not fit the tasks.
func TestAnswers(t *testing.T) {
	suite := &Suite{Tasks: []Task{{ID: "1", Rules: "dabstep", Gold: Said("a")}, {ID: "2", Rules: "dabstep", Gold: Said("b")}, {ID: "3", Rules: "dabstep", Gold: Said("c")}}}
	suite.Benchmark, _ = Find("dabstep")
	read := func(text string) ([]Answer, error) {
		return suite.Benchmark.Answers(filepath.Join(write(t, map[string]string{"a.jsonl": text}), "a.jsonl"))
	}
	answers, err := read("\ufeff" + `{"task_id": 1, "agent_answer": "A", "reasoning_trace": "t"}` + "\r\n" + `{"task_id": "2", "agent_answer": null}`)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := suite.Score(t.Context(), Scorer{Plain: python(t)}, answers)
	want := []Score{{ID: "1", Value: 1, Metric: "accuracy"}, {ID: "2", Metric: "accuracy", Detail: "no answer", Missing: true}, {ID: "3", Metric: "accuracy", Detail: "no answer", Missing: true}}
	if diff := cmp.Diff(want, scores); diff != "" || err != nil {
		t.Error(diff, err)
	}
	var bad *AnswersError
	var out bytes.Buffer
	if err := suite.Submit(&out, answers); !errors.As(err, &bad) || err.Error() != "null answers to: 2; no answer to: 3" || out.Len() > 0 {
		t.Errorf("submitted: %v, %q", err, out.String())
	}
	answers, err = read(`{"task_id": "1", "agent_answer": "A"}` + "\n" + `{"task_id": "1", "agent_answer": "B"}` + "\n" + `{"task_id": "x", "agent_answer": "B"}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := suite.Score(t.Context(), Scorer{Plain: python(t)}, answers); !errors.As(err, &bad) || err.Error() != "answers to tasks that are not there: x; more than one answer to: 1" {
		t.Errorf("scored: %v", err)
	}
	for text, want := range map[string]string{
		`{"task_id": "1", "agent_answer": "A"` + "\n":   "a.jsonl: line 1: unexpected end of JSON input",
		"\n" + `{"task_id": "1", "agent_answer": NaN0}`: "a.jsonl: line 2: invalid character '0' after object key:value pair",
		`{"task_id": {}, "agent_answer": "A"}`:          "a.jsonl: line 1: an id must be text or a number, not {}",
	} {
		if _, err := read(text); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	answers, err = read(`{"task_id": "1", "agent_answer": NaN}` + "\n" + `{"agent_answer": "b \"NaN"}` + "\n" + `{"task_id": "2", "agent_answer": "\" NaN", "reasoning_trace": NaN}`)
	if err != nil || len(answers) != 3 || answers[0].Text() != "" || answers[1].ID != "" || answers[2].Text() != `" NaN` || answers[2].Trace != "" {
		t.Errorf("NaN: %+v, %v", answers, err)
	}
	to, strange := suite.Split(answers)
	if len(to) != 2 || len(strange) != 1 || to[1].ID != "2" {
		t.Errorf("split into %+v and %+v", to, strange)
	}
	if scores, err := suite.Score(t.Context(), Scorer{Plain: python(t)}, to); err != nil || !scores[0].Missing || scores[0].Value != 0 {
		t.Errorf("an answer of NaN: %+v, %v", scores, err)
	}
	if _, err := (Scorer{Compat: "exact"}).Score(t.Context(), suite.Tasks[0], nil); err == nil {
		t.Error("a third way to score")
	}
}

// TestSubmit checks that submissions have the form that leaderboards and harnesses take.
func TestSubmit(t *testing.T) {
	tasks := []Task{{ID: "1"}, {ID: "2"}}
	for name, want := range map[string]string{
		"dabstep": `{"task_id":"1","agent_answer":"A < B","reasoning_trace":"so"}` + "\n" + `{"task_id":"2","agent_answer":"","reasoning_trace":""}` + "\n",
		"dabench": `{"id":1,"response":"A < B"}` + "\n" + `{"id":2,"response":""}` + "\n",
		"kramabench": `[
  {
    "task_id": "1",
    "model_output": {
      "answer": "A \u003c B"
    },
    "code": "print(1)",
    "token_usage_sut": 12,
    "token_usage_sut_input": 10,
    "token_usage_sut_output": 2
  },
  {
    "task_id": "2",
    "model_output": {
      "answer": ""
    },
    "code": "",
    "token_usage_sut": 0,
    "token_usage_sut_input": 0,
    "token_usage_sut_output": 0
  }
]
`,
	} {
		suite := &Suite{Tasks: tasks}
		suite.Benchmark, _ = Find(name)
		answers := []Answer{{ID: "1", Value: Said("A < B"), Trace: "so", Code: "print(1)", Tokens: [2]int{10, 2}}, {ID: "2", Value: Said("")}}
		var out bytes.Buffer
		if err := suite.Submit(&out, answers); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
		// A submission reads back as the answers.
		path := filepath.Join(write(t, map[string]string{"a": out.String()}), "a")
		back, err := suite.Benchmark.Answers(path)
		if err != nil || len(back) != 2 || back[0].ID != "1" || back[0].Text() != "A < B" || back[1].Value == nil || back[1].Text() != "" {
			t.Errorf("%s: read back %+v, %v", name, back, err)
		}
	}
	suite := &Suite{Tasks: tasks}
	suite.Benchmark, _ = Find("dacode")
	if err := suite.Submit(&bytes.Buffer{}, nil); err == nil {
		t.Error("DA-Code has no such file")
	}
}

// TestKramaBench covers both versions of the rules.
func TestKramaBench(t *testing.T) {
	for _, v := range []struct {
		kind, said, gold string
		upstream, fixed  float64
	}{
		{"numeric_exact", `3`, `3.0`, 0, 1},
		{"numeric_exact", `"3.0"`, `3`, 0, 1},
		{"numeric_exact", `"12%"`, `0.12`, 0, 1},
		{"numeric_exact", `7.954e-13`, `7.95e-13`, 0, 1},
		{"numeric_exact", `"Wollaston beach "`, `"Wollaston Beach"`, 1, 1},
		{"numeric_exact", `4.6`, `5`, 0, 1},
		{"numeric_exact", `[5]`, `5`, 0, 0},
		{"numeric_approximate", `"none"`, `4`, 0.5, 0},
		{"numeric_approximate", `8`, `4`, 0.5, 0.5},
		{"numeric_approximate", `1`, `0`, 0.5, 0},
		{"string_exact", `" yes"`, `"Yes"`, 1, 1},
		{"string_exact", `["b", "A"]`, `["a", "b"]`, 0, 1},
		{"string_exact", `5`, `"5"`, 1, 0},
		{"list_exact", `"['b', 'a']"`, `["a", "b"]`, 0.8235294117647058, 1}, // not 1: a quote meets only the first quote
		{"list_exact", `["x", "y"]`, `["a", "b"]`, 0.6153846153846154, 0},
		{"list_exact", `[1.0000001, "2"]`, `[1, 2, 2]`, 0.5454545454545454, 1},
		{"list_exact", `[]`, `[]`, 1, 1},
		{"list_approximate", `[100.5, "eat"]`, `[100, "bay"]`, 0, 0.5},
		{"list_approximate", `[100.5, "tea"]`, `["eat", 100]`, 0, 1},
		{"string_approximate", `"eat"`, `"tea"`, 1, 1},
		{"string_approximate", `"the cat sat on the mat today"`, `"the cat sat on the mat"`, 0.923076923076923, 0},
	} {
		for compat, want := range map[Compat]float64{Upstream: v.upstream, Fixed: v.fixed} {
			scorer := Scorer{Compat: compat, Plain: python(t), Judge: func(_ context.Context, a, b string) (bool, error) { return vowels(a) == vowels(b), nil }}
			score, err := scorer.Score(t.Context(), Task{ID: "1", Kind: v.kind, Rules: "kramabench", Gold: json.RawMessage(v.gold)}, &Answer{ID: "1", Value: json.RawMessage(v.said)})
			if err != nil || score.Value != want {
				t.Errorf("%s %s: %s ~ %s is %v (%v), not %v", compat, v.kind, v.said, v.gold, score.Value, err, want)
			}
		}
	}
	var need *NeedError
	_, err := Scorer{Plain: python(t)}.Score(t.Context(), Task{ID: "1", Kind: "string_approximate", Rules: "kramabench", Gold: Said("a")}, &Answer{ID: "1", Value: Said("b")})
	if !errors.As(err, &need) {
		t.Errorf("without a judge: %v", err)
	}
	for _, answer := range []*Answer{nil, {ID: "1", Value: json.RawMessage("[1]")}} { // only the first version leaves it out of the total
		for _, kind := range []string{"list_approximate", "list_exact"} {
			for compat, want := range map[Compat]bool{Upstream: kind == "list_approximate", Fixed: false} {
				score, err := Scorer{Compat: compat, Plain: python(t)}.Score(t.Context(), Task{ID: "1", Kind: kind, Rules: "kramabench", Gold: json.RawMessage("[1]")}, answer)
				if err != nil || score.Uncounted != want {
					t.Errorf("%s %s: %+v, %v", compat, kind, score, err)
				}
			}
		}
	}
	old := Task{ID: "legal-hard-15", Kind: "numeric_exact", Rules: "kramabench", Gold: json.RawMessage("593524")}
	for compat, want := range map[Compat]float64{Upstream: 0, Fixed: 1} {
		score, err := Scorer{Compat: compat, Plain: python(t)}.Score(t.Context(), old, &Answer{ID: old.ID, Value: json.RawMessage("243377")})
		if err != nil || score.Value != want {
			t.Errorf("%s: the corrected answer: %+v, %v", compat, score, err)
		}
	}
}

func TestKramaBenchTotals(t *testing.T) {
	tasks := []Task{{Domain: "legal", Level: "easy"}, {Domain: "legal", Level: "hard"}, {Domain: "wildfire", Level: "hard"}}
	scores := []Score{{Value: 1, Metric: "success"}, {Value: 0.5, Metric: "f1"}, {Value: 1, Metric: juneListApproximate, Uncounted: true}}
	var got []string
	for _, total := range totalKramaBench(tasks, scores, nil) {
		text, _ := json.Marshal(total)
		got = append(got, string(text))
	}
	want := []string{
		`{"group":"","name":"total","value":75,"n":2}`,
		`{"group":"domain","name":"legal","value":75,"n":2}`, `{"group":"domain","name":"wildfire","value":0,"n":0}`,
		`{"group":"level","name":"easy","value":100,"n":1}`, `{"group":"level","name":"hard","value":50,"n":1}`,
		`{"group":"metric","name":"f1","value":50,"n":1}`, `{"group":"metric","name":"f1_approximate (not in the total)","value":100,"n":1}`,
		`{"group":"metric","name":"success","value":100,"n":1}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
