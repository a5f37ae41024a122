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
	"strings"
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
		pyenvtest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		pyenvtest.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("%s:\n%s", what, d)
	}
}

const stepTask = `{"task_id": 5, "question": "q", "guidelines": "g", "level": "easy", "answer": ""}`

// copies are copies of benchmarks, as their users download them.
var copies = map[string]map[string]string{
	"dabstep": {
		"data/tasks/all.jsonl": stepTask + "\n" + `{"task_id": 6, "answer": NaN}`,
		"data/tasks/dev.jsonl": strings.Replace(stepTask, `""`, `"NL"`, 1) + "\n\n" +
			`{"task_id": "70", "question": "q2", "level": "hard", "answer": "1.5"}` + "\n",
		"data/context/fees.json": "",
	},
	"kramabench": {
		"workload/legal.json": `[{"id": "legal-hard-1", "query": "q", "answer": 3.5,
			"answer_type": "numeric_exact", "subtasks": [],
			"data_sources": ["a.csv", "state MSA/*", "b.csv", "other.csv", "gone.csv"]}]`,
		"workload/wildfire.json": `[{"id": "wildfire-easy-1", "query": "q", "answer": "Yes",
			"answer_type": "string_exact", "data_sources": ["x"]}]`,
		"workload/legal-tiny.json": `[{"id": "legal-hard-1", "query": "q", "answer": 3.5}]`,
		"data/legal/input/a.csv":   "", "data/legal/input/sub/b.csv": "",
		"data/legal/input/State MSA/DC.csv": "", "data/legal/input/other.csv": "",
		"data/legal/input/sub/other.csv": "",
	},
	"dabench": {
		"da-dev-questions.jsonl": `{"id": 0, "question": "q", "concepts": ["A", "B"], "constraints": "c", ` +
			`"format": "@m[v]", "file_name": "t.csv", "level": "easy"}` + "\n" +
			`{"id": 7, "question": "q", "concepts": ["A"], "constraints": "c", "format": "@m[v]", ` +
			`"file_name": "gone.csv", "level": "hard"}`,
		"da-dev-labels.jsonl": `{"id": 0, "common_answers": [["m", "1.50"], ["n", "x"]]}` + "\n" +
			`{"id": 7, "common_answers": [["m", "1.50"]]}`,
		"da-dev-tables/t.csv": "",
	},
	"dacode": {
		"da_code/configs/task/all.jsonl": `{"id": "dm-csv-001", "instruction": "q", "hardness": "Hard"}` + "\n" +
			`{"id": "plot-bar-001", "instruction": "q", "hardness": "Easy"}` + "\n" +
			`{"id": "ml-cluster-001", "instruction": "q", "hardness": "Easy"}`,
		"da_code/configs/eval/eval_all.jsonl": `{"id": "dm-csv-001", "func": ["compare_csv"], ` +
			`"config": {"task": "data manipulation", "type": "csv"}, "result": [{"file": "r.csv"}]}` + "\n" +
			`{"id": "plot-bar-001", "config": {"task": "data visualization", "type": "bar"}, ` +
			`"func": ["compare_image"], "result": [{"multi": true, "file": ["r.png", "dabench/plot.json"]}]}` + "\n" +
			`{"id": "ml-cluster-001", "config": {"task": "machine learning", "type": "cluster"}, ` +
			`"func": ["compare_ml"], "result": [{"file": "c.csv"}]}`,
		"da_code/source/dm-csv-001/a.csv": "", "da_code/source/ml-cluster-001/a": "",
		"da_code/gold/dm-csv-001/r.csv": "",
	},
	"dir": { // with every kind of rules
		"index.json": `[
{"id": "a", "question": "q", "guidelines": "g", "data_dir": "data/a", "answer": 43,
 "scorer": "dabstep", "difficulty": "easy", "benchmark": "mine"},
{"id": "b", "question": "q", "data_dir": "data/a", "answer": ["x", "y"],
 "answer_type": "list_exact", "scorer": "kramabench", "data_sources": ["b.csv"]},
{"id": "c", "question": "q", "data_dir": "data/a", "answer": {"n": "1.5", "m": 2},
 "scorer": "infiagent"},
{"id": "d", "question": "q", "data_dir": "data/gone", "answer": {"k": ["v<"]},
 "scorer": "dacode", "scorer_config": {"func": "compare_text", "options": {}}},
{"id": "e", "question": "q", "data_dir": "data/a", "scorer": "dacode",
 "answer": {"gold_files": ["gold/e/r.csv"], "output_file": "r.csv"},
 "scorer_config": {"func": "compare_csv", "options": {"condition_cols": [0]}}}]`,
		"data/a/b.csv": "x", "gold/e/r.csv": "a,b\n1,2\n", "gold/e/x.csv": "",
		"gold/index.json": `[{"id": "e", "data_dir": "e", "data_sources": ["x.csv"], "scorer": "dacode",
 "answer": {"gold_files": ["e/r.csv"]}, "scorer_config": {"func": "compare_csv"}}]`,
		"bad/index.json": `[{"id": "a", "answer": 1, "scorer": "x"}]`,
	},
}

// TestSuites: what is read of the benchmarks' files, and what a copy lacks. Data that contain right
// answers are told, unless the task names other files of them.
func TestSuites(t *testing.T) {
	for _, c := range []struct {
		bench, path string
		setting     Setting
		want        []string
	}{
		{"dabstep", "", Setting{Split: "dev"}, []string{
			`5 q g, easy//, data/context [], "NL", lacks []`,
			`70 q2 , hard//, data/context [], "1.5", lacks []`}},
		{"dabstep", "data/tasks/all.jsonl", Setting{Data: "/none"}, []string{
			"5 q g, easy//, /none [], , lacks [/none]", "6  , //, /none [], , lacks [/none]"}},
		{"dabstep", "x", Setting{}, []string{"read DABStep: missing: x/data/tasks/all.jsonl"}},
		{"kramabench", "", Setting{}, []string{
			"legal-hard-1 q , hard/legal/numeric_exact, data/legal/input [], 3.5, lacks []",
			`wildfire-easy-1 q , easy/wildfire/string_exact, data/wildfire/input [], "Yes", lacks ` +
				"[data/wildfire/input]", "workload/archeology.json", "workload/astronomy.json",
			"workload/biomedical.json", "workload/environment.json"}},
		{"kramabench", "workload/legal.json", Setting{Oracle: true}, []string{
			"legal-hard-1 q , hard/legal/numeric_exact, data/legal/input [State MSA/DC.csv a.csv other.csv " +
				"sub/b.csv], 3.5, lacks [data/legal/input/gone.csv]"}},
		{"dabench", "", Setting{}, []string{
			"0 q Constraints: c\nAnswer format: @m[v], easy//A, B, da-dev-tables [t.csv], " +
				`[["m", "1.50"], ["n", "x"]], lacks []`,
			"7 q Constraints: c\nAnswer format: @m[v], hard//A, da-dev-tables [gone.csv], " +
				`[["m", "1.50"]], lacks [da-dev-tables/gone.csv]`}},
		{"dacode", "", Setting{}, []string{
			"dm-csv-001 q , hard/data manipulation/csv, da_code/source/dm-csv-001 [], eval, lacks []",
			"plot-bar-001 q , easy/data visualization/bar, da_code/source/plot-bar-001 [], eval, lacks " +
				"[da_code/source/plot-bar-001 da_code/gold/plot-bar-001/r.png da_code/gold/plot-bar-001/plot.json]",
			"ml-cluster-001 q , easy/machine learning/cluster, da_code/source/ml-cluster-001 [], eval, lacks []"}},
		{"dir", "", Setting{Oracle: true}, []string{`a q g, easy/mine/, data/a [], 43, lacks []`,
			`b q , //list_exact, data/a [b.csv], ["x", "y"], lacks []`,
			`c q , //, data/a [], {"n": "1.5", "m": 2}, lacks []`,
			"d q , //, data/gone [], eval, lacks [data/gone]", "e q , //, data/a [], eval, lacks []"}},
		{"dir", "bad", Setting{}, []string{"read tasks of your own: bad/index.json: row 1: there is no scorer " +
			`"x"; there are dabstep, kramabench, infiagent, dacode`}},
		{"dir", "gold", Setting{}, []string{"e  , //, gold/e [], eval, lacks []",
			"task e: its data folder gold/e holds right answers: r.csv"}},
		{"dir", "gold", Setting{Oracle: true}, []string{
			"e  , //, gold/e [x.csv], eval, lacks []"}},
		{"gaia", "", Setting{}, []string{
			`there is no benchmark "gaia"; there are dabstep, kramabench, dacode, dabench, dir`}},
	} {
		root := write(t, copies[c.bench])
		var suite *Suite
		b, err := Find(c.bench)
		if err == nil {
			suite, err = b.Open(filepath.Join(root, c.path), c.setting)
		}
		var got []string
		if err != nil {
			got = []string{err.Error()}
		} else {
			for _, t := range suite.Tasks {
				gold := string(t.Gold)
				if strings.Contains(gold, `"func"`) {
					gold = "eval"
				}
				got = append(got, fmt.Sprintf("%s %s %s, %s/%s/%s, %s %v, %s, lacks %v", t.ID, t.Question,
					t.Guidelines, t.Level, t.Domain, t.Kind, t.Data, t.Files, gold, append(t.NoData, t.NoGold...)))
			}
			got = append(got, suite.Missing...)
			if err := suite.Exposed(); err != nil {
				got = append(got, err.Error())
			}
		}
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], root+"/", "")
		}
		same(t, c.bench+" "+c.path, c.want, got)
	}
}

// TestOwnTasks scores answers by every kind of rules. What has no right answer has no score.
func TestOwnTasks(t *testing.T) {
	suite := pyenvtest.Must(pyenvtest.Must(Find("dir")).Open(write(t, copies["dir"]), Setting{}))
	left := write(t, map[string]string{"r.csv": "a,b\n1,3\n"})
	answers := []Answer{{ID: "a", Value: json.RawMessage("43")}, {ID: "b", Value: json.RawMessage(`["Y", "X"]`)},
		{ID: "c", Value: Said("@n[1.50] @m[2]")}, {ID: "d", Value: Said("{'K': 'V<'}")},
		{ID: "e", Value: Said("r.csv"), Dir: left}}
	if _, err := suite.Score(t.Context(), Scorer{}, answers); !errors.As(err, new(*StopError)) {
		t.Errorf("without Python: %v", err)
	}
	answers[1].Unfinished, answers[2].Value = true, nil
	suite.Tasks[3].NoGold = []string{"gold/d"}
	scores, err := suite.Score(t.Context(), Scorer{Open: real(t)}, answers)
	var got []string
	for _, s := range scores.Tasks {
		got = append(got, fmt.Sprintf("%v %v %s", s.Value == nil, s.Missing, s.Detail))
	}
	same(t, "scores", []string{"false false ", "false true not finished", "false true no answer",
		"true false the right answer is missing in this copy: gold/d", "false false "}, got)
	if err != nil || scores.Score.Value != 50 || scores.Totals[0].N != 4 || len(scores.Missing) != 1 {
		t.Errorf("%+v, %v", scores, err)
	}
}

// sameVowels judges that texts with equally many vowels mean the same.
func sameVowels(_ context.Context, a, b string) (bool, error) {
	vowels := regexp.MustCompile("(?i)[aeiou]")
	return len(vowels.FindAllString(a, -1)) == len(vowels.FindAllString(b, -1)), nil
}

// scored returns the score of an answer.
func scored(t *testing.T, compat Compat, task Task, a Answer) Score {
	t.Helper()
	task.ID = cmp.Or(task.ID, "1")
	score, err := Scorer{Compat: compat, Open: real(t), Judge: sameVowels}.Score(t.Context(), task, a)
	if err != nil || score.Value == nil {
		t.Fatalf("%s: %+v, %v", a.Value, score, err)
	}
	return score
}

// check compares the score of an answer with that of the public code, and of one without faults.
func check(t *testing.T, what string, task Task, a Answer, upstream, fixed float64) {
	t.Helper()
	for compat, want := range map[Compat]float64{Upstream: upstream, Fixed: fixed} {
		if score := scored(t, compat, task, a); math.Abs(*score.Value-want) > 1e-9 {
			t.Errorf("%s, %s: %+v, not %v", compat, what, score, want)
		}
	}
}

// TestRecordedScores compares scores with recorded ones: an entry is rules, the kind of answer,
// what was said, the right answer, the score of the public code, and the score without its faults.
func TestRecordedScores(t *testing.T) {
	compared := 0
	err := readRows("testdata/scores.json", func(raw, _ json.RawMessage) error {
		var task Task
		var said json.RawMessage
		var upstream, fixed float64
		row := []any{&task.Rules, &task.Kind, &said, &task.Gold, &upstream, &fixed}
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}
		check(t, string(raw), task, Answer{Value: said}, upstream, fixed)
		compared++
		return nil
	})
	if err != nil || compared < 400 {
		t.Errorf("%d lines: %v", compared, err)
	}
}

// TestKramaBench: one version omits a metric, the other corrects answers.
func TestKramaBench(t *testing.T) {
	for compat, omits := range map[Compat]bool{Upstream: true, Fixed: false} {
		for kind, omitted := range map[string]bool{"list_approximate": omits, "list_exact": false} {
			for _, said := range []string{"null", "[1]"} {
				task := Task{Kind: kind, Rules: "kramabench", Gold: json.RawMessage("[1]")}
				score := scored(t, compat, task, Answer{Value: json.RawMessage(said)})
				if score.Uncounted != omitted {
					t.Errorf("%s %s: %+v", compat, kind, score)
				}
			}
		}
	}
	corrected := Task{ID: "legal-hard-15", Kind: "numeric_exact", Rules: "kramabench",
		Gold: json.RawMessage("593524")}
	check(t, "the corrected answer", corrected, Answer{Value: json.RawMessage("243377")}, 0, 1)
}

// TestTotals: the metric that one version leaves out counts by itself alone. Of DABench only full
// scores count, for each concept of a task.
func TestTotals(t *testing.T) {
	for bench, want := range map[string][]string{
		"kramabench": {"/total 75 of 2", "domain/legal 75 of 2",
			"level/easy 100 of 1", "level/hard 50 of 1", "metric/f1 50 of 1",
			"metric/f1_approximate (not in the total) 100 of 1", "metric/success 100 of 1"},
		"dabench": {"/ABQ 50 of 2", "level/easy 100 of 1", "level/hard 0 of 1",
			"concept/A 50 of 2", "concept/B 100 of 1"},
	} {
		b, _ := Find(bench)
		var got []string
		for _, total := range b.totals(map[string][]Score{"kramabench": {
			{Value: new(1.), Metric: "success", Domain: "legal", Level: "easy"},
			{Value: new(0.5), Metric: "f1", Domain: "legal", Level: "hard"},
			{Value: new(1.), Metric: "f1_approximate (not in the total)", Uncounted: true,
				Domain: "wildfire", Level: "hard"},
		}, "dabench": {{Value: new(1.), Level: "easy", task: Task{Kind: "A, B"}},
			{Value: new(0.5), Level: "hard", task: Task{Kind: "A"}}}}[bench]) {
			got = append(got, fmt.Sprintf("%s/%s %.4g of %d", total.Group, total.Name, total.Value, total.N))
		}
		same(t, bench, want, got)
	}
	suite := pyenvtest.Must(pyenvtest.Must(Find("dabench")).Open(write(t, copies["dabench"]), Setting{}))
	scores, err := suite.Score(t.Context(), Scorer{Compat: Fixed, Open: real(t)},
		[]Answer{{ID: "0", Value: Said("@m[1.5] @n[ X]")}})
	if last := scores.Totals[len(scores.Totals)-1]; err != nil || last.Name != "B" || last.Value != 100 || scores.Totals[0].N != 2 {
		t.Errorf("%+v, %v", scores.Totals, err)
	}
}

// A kept session is that of all tests, with the managed packages. It ends with the test program.
type kept struct{ *kernel.Kernel }

func (kept) Close() error { return nil }

var all kept

// real returns an opener of the kept session.
func real(t testing.TB) Opener {
	t.Helper()
	if all.Kernel == nil {
		k, err := kernel.Start(context.Background(), kernel.Options{
			Spec: kernel.PythonSpec(pyenvtest.Python(t)), Dir: os.TempDir(), CellTimeout: 5 * time.Minute,
			Env: append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MPLBACKEND=Agg")})
		pyenvtest.OK(t, err)
		all.Kernel = k
	}
	return func(context.Context, string, []string, string) (Session, error) { return all, nil }
}

// do runs code in the kept session.
func do(t testing.TB, code string, args ...any) {
	t.Helper()
	p := &python{open: real(t)}
	defer p.close()
	_, err := p.run(t.Context(), fmt.Sprintf(code, args...))
	pyenvtest.OK(t, err)
}
