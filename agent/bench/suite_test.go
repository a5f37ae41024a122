package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"dsstar/kernel"
	"dsstar/kernel/pyenv/pyenvtest"
)

// write creates files below a folder, by name.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
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
			p = rel
		}
		names = append(names, p)
	}
	return names
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("%s:\n%s", what, d)
	}
}

// sameVowels judges that texts with equally many vowels mean the same.
func sameVowels(_ context.Context, a, b string) (bool, error) {
	vowels := func(s string) int {
		return len(regexp.MustCompile("[aeiou]").FindAllString(strings.ToLower(s), -1))
	}
	return vowels(a) == vowels(b), nil
}

// scored returns the score of an answer that is a JSON value.
func scored(t *testing.T, compat Compat, task Task, said string) Score {
	t.Helper()
	return scoreOf(t, Scorer{Compat: compat, Open: real(t), Judge: sameVowels}, task,
		Answer{Value: json.RawMessage(said)})
}

func scoreOf(t *testing.T, scorer Scorer, task Task, a Answer) Score {
	t.Helper()
	task.ID = cmp.Or(task.ID, "1")
	score, err := scorer.Score(t.Context(), task, &a)
	if err != nil || score.Value == nil {
		t.Fatalf("%s: %+v, %v", a.Value, score, err)
	}
	return score
}

// inWords returns totals as "group/name value of n".
func inWords(totals []Total) (all []string) {
	for _, total := range totals {
		all = append(all, fmt.Sprintf("%s/%s %.4g of %d", total.Group, total.Name, total.Value, total.N))
	}
	return all
}

func TestDABStepSuite(t *testing.T) {
	const all = `{"task_id": 5, "question": "q", "guidelines": "g", "level": "easy", "answer": ""}`
	files := map[string]string{
		"data/tasks/all.jsonl": all,
		"data/tasks/dev.jsonl": strings.Replace(all, `""`, `"NL"`, 1) + "\n\n" +
			`{"task_id": "70", "question": "q2", "level": "hard", "answer": "1.5"}` + "\n",
	}
	for _, name := range contextFiles[1:] {
		files["data/context/"+name] = "x"
	}
	root := write(t, files)
	suite := open(t, "dabstep", root, Setting{Split: "dev"})
	want := []Task{
		{ID: "5", Question: "q", Guidelines: "g", Level: "easy", Gold: Said("NL")},
		{ID: "70", Question: "q2", Level: "hard", Gold: Said("1.5")},
	}
	for i := range want {
		want[i].Rules, want[i].NoData = "dabstep", suite.Tasks[0].NoData
		want[i].Data = filepath.Join(root, "data", "context")
	}
	same(t, "tasks", want, suite.Tasks)
	same(t, "missing", []string{"data/context/" + contextFiles[0]}, below(root, suite.Tasks[0].NoData...))
	hidden := open(t, "dabstep", filepath.Join(root, "data", "tasks", "all.jsonl"), Setting{})
	if len(hidden.Tasks) != 1 || hidden.Tasks[0].Gold != nil || hidden.Tasks[0].Data != want[0].Data {
		t.Errorf("tasks are %+v", hidden.Tasks)
	}
	if score, err := (Scorer{}).Score(t.Context(), hidden.Tasks[0], nil); err != nil || score.Value != nil {
		t.Errorf("a task without a right answer: %+v, %v", score, err)
	}
	var missing *MissingError
	_, err := suite.Benchmark.Open(t.TempDir(), Setting{})
	if !errors.As(err, &missing) || filepath.Base(missing.What[0]) != "all.jsonl" {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestDABStepGold distinguishes empty right answers from hidden ones.
func TestDABStepGold(t *testing.T) {
	const empty = `{"task_id": 1, "answer": ""}` + "\n" + `{"task_id": 2, "answer": "null"}` + "\n"
	for text, want := range map[string][]string{
		empty + `{"task_id": 3, "answer": NaN}`:                      {"", "", ""},
		empty + `{"task_id": 3, "answer": 5}` + "\n{\"task_id\": 4}": {`""`, `"null"`, `"5"`, ""},
	} {
		root := write(t, map[string]string{"tasks.jsonl": text})
		var got []string
		for _, task := range open(t, "dabstep", filepath.Join(root, "tasks.jsonl"), Setting{}).Tasks {
			got = append(got, string(task.Gold))
		}
		same(t, text, want, got)
	}
}

func TestKramaBenchSuite(t *testing.T) {
	root := write(t, map[string]string{
		"workload/legal.json": `[{"id": "legal-hard-1", "query": "q", "answer": 3.5,
			"answer_type": "numeric_exact", "subtasks": [],
			"data_sources": ["a.csv", "state MSA/*", "b.csv", "other.csv", "gone.csv"]}]`,
		"workload/wildfire.json": `[{"id": "wildfire-easy-1", "query": "q", "answer": "Yes",
			"answer_type": "string_exact", "data_sources": ["x"]}]`,
		"workload/legal-tiny.json": `[{"id": "legal-hard-1", "query": "q", "answer": 3.5,
			"answer_type": "numeric_exact"}]`,
		"data/legal/input/a.csv":            "a",
		"data/legal/input/sub/b.csv":        "a",
		"data/legal/input/State MSA/DC.csv": "a",
		"data/legal/input/other.csv":        "a",
		"data/legal/input/sub/other.csv":    "a",
	})
	suite := open(t, "kramabench", root, Setting{})
	first := suite.Tasks[0]
	if len(suite.Tasks) != 2 || first.Files != nil || first.NoData != nil ||
		first.Level != "hard" || first.Domain != "legal" {
		t.Errorf("tasks are %+v", suite.Tasks)
	}
	same(t, "missing", []string{"data/wildfire/input"}, below(root, suite.Tasks[1].NoData...))
	if n := len(suite.Missing); n != 4 {
		t.Errorf("%d workloads are missing", n)
	}
	path := filepath.Join(root, "workload", "legal.json")
	oracle := open(t, "kramabench", path, Setting{Oracle: true}).Tasks[0]
	same(t, "files", []string{"State MSA/DC.csv", "a.csv", "other.csv", "sub/b.csv"}, oracle.Files)
	same(t, "missing", []string{"data/legal/input/gone.csv"}, below(root, oracle.NoData...))
}

func TestDABenchSuite(t *testing.T) {
	question := func(id int, concepts, file, level string) string {
		return fmt.Sprintf(`{"id": %d, "question": "q", "concepts": [%s], "constraints": "c",
			"format": "@m[v]", "file_name": "%s", "level": "%s"}`, id, concepts, file, level)
	}
	lines := strings.Join([]string{question(0, `"A", "B"`, "t.csv", "easy"),
		question(7, `"A"`, "gone.csv", "hard"), question(9, `"A"`, "t.csv", "hard")}, "\f")
	root := write(t, map[string]string{
		"da-dev-questions.jsonl": strings.NewReplacer("\n", " ", "\f", "\n").Replace(lines),
		"da-dev-labels.jsonl": `{"id": 0, "common_answers": [["m", "1.50"], ["n", "x"]]}` + "\n" +
			`{"id": 7, "common_answers": [["m", "1.50"]]}`,
		"da-dev-tables/t.csv": "a",
	})
	suite := open(t, "dabench", root, Setting{})
	got := [][]string{}
	for _, task := range suite.Tasks {
		got = append(got, below(root, task.NoData...))
	}
	same(t, "missing", [][]string{nil, {"da-dev-tables/gone.csv"}, nil}, got)
	first := suite.Tasks[0]
	if !slices.Equal(first.Files, []string{"t.csv"}) || first.Kind != "A, B" ||
		first.Guidelines != "Constraints: c\nAnswer format: @m[v]" {
		t.Errorf("the first task is %+v", first)
	}
	suite.Tasks = suite.Tasks[:2]
	said := write(t, map[string]string{"a.jsonl": `{"id": 0, "response": "@m[1.5] @n[ X]"}`})
	answers, err := ReadAnswers(filepath.Join(said, "a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for compat, want := range map[Compat][]string{
		Upstream: {"/ABQ 0 of 2", "/PSAQ 25 of 2", "/UASQ 33.33 of 3", "level/easy 0 of 1", "level/hard 0 of 1",
			"concept/A 0 of 2", "concept/B 0 of 1"},
		Fixed: {"/ABQ 50 of 2", "/PSAQ 50 of 2", "/UASQ 66.67 of 3", "level/easy 100 of 1", "level/hard 0 of 1",
			"concept/A 50 of 2", "concept/B 100 of 1"},
	} {
		scorer := Scorer{Compat: compat, Open: real(t)}
		for _, repeats := range [][][]Answer{{answers}, {answers, answers}} {
			scores, err := suite.Score(t.Context(), scorer, suite.Tasks, repeats...)
			if err != nil || !scores.Tasks[1].Missing || scores.Tasks[1].Detail != "no answer" {
				t.Fatalf("%+v, %v", scores, err)
			}
			same(t, string(compat), want, inWords(scores.Totals))
		}
	}
}

// TestRecordedScores compares scores with recorded ones: an entry is rules, the kind of answer,
// what
// was said, the right answer, the score of the public code, and the score without its faults.
func TestRecordedScores(t *testing.T) {
	compared := 0
	err := readLines("testdata/scores.json", func(raw json.RawMessage) error {
		var task Task
		var said json.RawMessage
		var upstream, fixed float64
		row := []any{&task.Rules, &task.Kind, &said, &task.Gold, &upstream, &fixed}
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}
		for compat, want := range map[Compat]float64{Upstream: upstream, Fixed: fixed} {
			if score := scored(t, compat, task, string(said)); *score.Value != want {
				t.Errorf("%s: %s is %v", compat, raw, *score.Value)
			}
		}
		compared++
		return nil
	})
	if err != nil || compared < 400 {
		t.Errorf("%d lines: %v", compared, err)
	}
}

// TestAnswers covers the errors of answers that do not fit the tasks.
func TestAnswers(t *testing.T) {
	suite := &Suite{}
	for _, id := range []string{"1", "2", "3"} {
		suite.Tasks = append(suite.Tasks, Task{ID: id, Rules: "dabstep", Gold: Said("a")})
	}
	suite.Benchmark, _ = Find("dabstep")
	scorer := Scorer{Open: real(t)}
	read := func(lines ...string) ([]Answer, error) {
		root := write(t, map[string]string{"a.jsonl": strings.Join(lines, "\n")})
		return ReadAnswers(filepath.Join(root, "a.jsonl"))
	}
	const one = `{"task_id": "1", "agent_answer": "A"}`
	for name, c := range map[string]struct {
		lines []string
		want  string // of the scores, and of the answers left out
		bad   string // what the error says
	}{
		"some": {[]string{"\ufeff" + `{"task_id": 1, "agent_answer": "A", "reasoning_trace": "t"}` + "\r",
			`{"task_id": "2", "agent_answer": null}`}, "1 0- 0- [] 0", ""},
		"NaN": {[]string{`{"task_id": "1", "agent_answer": NaN}`, `{"agent_answer": "b \"NaN"}`,
			`{"task_id": "2", "agent_answer": "\" NaN", "reasoning_trace": NaN}`}, "0- 0 0- [] 1", ""},
		"strange": {[]string{one, strings.Replace(one, "1", "x", 1)}, "1 0- 0- [x] 0", ""},
		"twice":   {[]string{one, one}, "", "more than one answer to: 1"},
		"none":    {[]string{strings.Replace(one, "1", "x", 1)}, "", "not there: x"},
		"cut":     {[]string{`{"task_id": "1", "agent_answer": "A"`, ""}, "", "a.jsonl: line 1: "},
		"no JSON": {[]string{"", `{"task_id": "1", "agent_answer": NaN0}`}, "", "a.jsonl: line 2: "},
	} {
		answers, err := read(c.lines...)
		var scores Scores
		if err == nil {
			scores, err = suite.Score(t.Context(), scorer, suite.Tasks, answers)
		}
		if c.bad != "" || err != nil {
			if err == nil || c.bad == "" || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		got := ""
		for _, score := range scores.Tasks {
			got += fmt.Sprint(*score.Value) + map[bool]string{true: "- ", false: " "}[score.Missing]
		}
		same(t, name, c.want, got+fmt.Sprint(scores.Unknown, " ", scores.Nameless))
	}
}

// TestSubmission: a submission reads back as the answers. It is refused if one lacks.
func TestSubmission(t *testing.T) {
	suite := &Suite{Tasks: []Task{{ID: "1"}, {ID: "2"}}}
	suite.Benchmark, _ = Find("dabstep")
	answers := []Answer{{ID: "1", Value: Said("A < B")}, {ID: "2", Value: Said("")}}
	page, err := suite.Submission(answers)
	back, unread := ReadAnswers(filepath.Join(write(t, map[string]string{"a": string(page)}), "a"))
	if errors.Join(err, unread) != nil || !strings.Contains(string(page), "A < B") || len(back) != 2 ||
		back[0].Text() != "A < B" || back[1].Value == nil || back[1].Text() != "" {
		t.Errorf("%v, %v: %s", err, unread, page)
	}
	if _, err := suite.Submission(answers[:1]); !errors.As(err, new(*AnswersError)) {
		t.Errorf("submitted although one lacks: %v", err)
	}
}

// TestKramaBench: a judge is needed, and one version omits a metric, the other corrects answers.
func TestKramaBench(t *testing.T) {
	task := Task{ID: "1", Kind: "string_approximate", Rules: "kramabench", Gold: Said("a")}
	_, err := Scorer{Open: real(t)}.Score(t.Context(), task, &Answer{ID: "1", Value: Said("b")})
	if !errors.Is(err, ErrNoJudge) {
		t.Errorf("without a judge: %v", err)
	}
	for _, said := range []string{"null", "[1]"} { // only the first version omits it from the total
		for _, kind := range []string{"list_approximate", "list_exact"} {
			task := Task{Kind: kind, Rules: "kramabench", Gold: json.RawMessage("[1]")}
			for compat, want := range map[Compat]bool{Upstream: kind == "list_approximate", Fixed: false} {
				if score := scored(t, compat, task, said); score.Uncounted != want {
					t.Errorf("%s %s: %+v", compat, kind, score)
				}
			}
		}
	}
	corrected := Task{ID: "legal-hard-15", Kind: "numeric_exact", Rules: "kramabench",
		Gold: json.RawMessage("593524")}
	for compat, want := range map[Compat]float64{Upstream: 0, Fixed: 1} {
		if score := scored(t, compat, corrected, "243377"); *score.Value != want {
			t.Errorf("%s: the corrected answer: %+v", compat, score)
		}
	}
}

// TestTotals: the metric that one version leaves out counts by itself alone.
func TestTotals(t *testing.T) {
	krama, _ := Find("kramabench")
	same(t, "kramabench", []string{"/total 75 of 2", "domain/legal 75 of 2", "domain/wildfire 0 of 0",
		"level/easy 100 of 1", "level/hard 50 of 1", "metric/f1 50 of 1",
		"metric/f1_approximate (not in the total) 100 of 1", "metric/success 100 of 1"},
		inWords(krama.sums.totals([]Score{
			{Value: new(1.), Metric: "success", Domain: "legal", Level: "easy"},
			{Value: new(0.5), Metric: "f1", Domain: "legal", Level: "hard"},
			{Value: new(1.), Metric: "f1_approximate (not in the total)", Uncounted: true,
				Domain: "wildfire", Level: "hard"},
		}, 1)))
	code, _ := Find("dacode")
	same(t, "dacode", []string{"/score 100 of 1", "task type/data visualization 100 of 1",
		"hardness/hard 100 of 1", "big type/EDA 100 of 1", "result type/plot 100 of 1"},
		inWords(code.sums.totals([]Score{
			{Value: new(1.), Domain: "data visualization", Level: "hard", task: Task{Kind: "bar"}},
			{Domain: "machine learning competition", task: Task{Kind: "f1"}},
		}, 1)))
}

// TestWilson has values from R: prop.test(x, n, correct = FALSE).
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		x, n      int
		low, high float64
	}{{5, 10, 0.2366, 0.7634}, {0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {63, 72, 0.7792, 0.9328},
		{1, 1, 0.2065, 1}} {
		low, high := wilson(float64(c.x)/float64(c.n), c.n)
		if math.Abs(low-c.low) > 5e-5 || math.Abs(high-c.high) > 5e-5 {
			t.Errorf("%d of %d: %v to %v", c.x, c.n, low, high)
		}
	}
}

// A kept session is that of all tests, with the managed packages. It ends with the test program.
type kept struct{ *kernel.Kernel }

func (kept) Close() error { return nil }

var (
	interpreter string
	started     = sync.OnceValues(func() (*kernel.Kernel, error) {
		return kernel.Start(context.Background(), kernel.Options{Spec: kernel.PythonSpec(interpreter),
			Dir: os.TempDir(), CellTimeout: 5 * time.Minute, Env: append(os.Environ(), "OMP_NUM_THREADS=1",
				"OPENBLAS_NUM_THREADS=1", "MPLBACKEND=Agg")})
	})
)

// real returns an opener of the kept session.
func real(t testing.TB) Opener {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it needs the managed Python")
	}
	interpreter = pyenvtest.Python(t)
	return func(context.Context, string, []string, string) (Session, error) {
		k, err := started()
		return kept{k}, err
	}
}

// do runs code in the kept session.
func do(t testing.TB, code string, args ...any) {
	t.Helper()
	p := &python{open: real(t)}
	defer p.close()
	if _, err := p.run(t.Context(), fmt.Sprintf(code, args...)); err != nil {
		t.Fatal(err)
	}
}
