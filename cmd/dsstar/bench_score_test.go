package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/trial"
	"dsstar/agent/llm/llmtest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// madeRun is the folder of a run of these tasks, whose i-th task answers what of says.
func madeRun(t *testing.T, tasks string, ids []string, repeat int, of func(i, repeat int) string) string {
	t.Helper()
	return madeRunOf(t, "dir", "upstream", tasks, ids, repeat, of)
}

// madeRunOf is one of another benchmark, scored by those rules.
func madeRunOf(t *testing.T, name, compat, tasks string, ids []string, repeat int, of func(i, repeat int) string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	about := runner.About{Bench: name, Agent: "react", Model: "m", Repeat: repeat, Setup: map[string]string{"tasks": tasks, "compat": compat}}
	for _, id := range ids {
		about.Items = append(about.Items, runner.Item{ID: id})
	}
	folder, err := runner.Create(out, about)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= repeat; n++ {
		for i, id := range ids {
			err = errors.Join(err, folder.Append(runner.Record{Task: id, Repeat: n, Answer: of(i+1, n), Finished: true}))
		}
	}
	if err := errors.Join(err, folder.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBenchScoreRepeats scores all repeats of a run: a task's score is their mean.
func TestBenchScoreRepeats(t *testing.T) {
	t.Parallel()
	s := &benchScene{t: t}
	out := madeRun(t, trialTasks(t, 2, false), []string{"sum-1", "sum-2"}, 2, func(i, repeat int) string {
		if i == 2 && repeat == 2 {
			return "wrong"
		}
		return fmt.Sprint(40 + i)
	})
	stdout, _ := s.run(exitVerified, "score", out, "--json")
	var got trial.Scores
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Repeat != 2 || len(got.Tasks) != 2 || *got.Tasks[0].Score != 1 ||
		*got.Tasks[1].Score != 0.5 || got.Score.Value != 75 || got.Score.N != 2 || got.Totals[0].Value != 75 {
		t.Errorf("%v, %s", err, stdout)
	}
	stdout, _ = s.run(exitVerified, "score", out)
	contains(t, stdout, "means of 2 runs of each task", "mean score 75.00 %")
	s.run(exitVerified, "score", out, "--save")
	result, err := runner.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range result.Records {
		if want := r.Task == "sum-1" || r.Repeat == 1; r.Right() != want {
			t.Errorf("%s is recorded as right: %v", r.Key(), r.Right())
		}
	}
}

// TestBenchSubmitWhole hands in a run of a part of the tasks: it is refused.
func TestBenchSubmitWhole(t *testing.T) {
	t.Parallel()
	s := &benchScene{t: t}
	tasks := trialTasks(t, 3, false)
	said := func(i, _ int) string { return fmt.Sprint(i) }
	stdout, stderr := s.run(exitUsage, "submit", "--format", "dabstep", madeRun(t, tasks, []string{"sum-1", "sum-3"}, 1, said))
	contains(t, stderr, "2 tasks were run, and all 3 are submitted together", "hint: dsstar bench run --bench dir")
	if stdout != "" {
		t.Errorf("%s", stdout)
	}
	stdout, _ = s.run(exitVerified, "submit", "--format", "dabstep", madeRun(t, tasks, []string{"sum-1", "sum-2", "sum-3"}, 1, said))
	contains(t, stdout, `"task_id":"sum-3"`)
}

// TestBenchScoreJudgeFails has a judge that fails at one of two answers: that one has no
// score, and is not recorded. Without a judge, or with a key that is refused, nothing is
// scored.
func TestBenchScoreJudgeFails(t *testing.T) {
	t.Parallel()
	row := `{"id": "%s", "question": "q", "data_dir": ".", "answer": "gold", "answer_type": "string_approximate", "scorer": "kramabench"}`
	tasks := dataFolder(t, map[string]string{"index.json": "[" + fmt.Sprintf(row, "a") + ", " + fmt.Sprintf(row, "b") + "]"})
	said := func(i, _ int) string { return []string{"alpha", "beta"}[i-1] }
	out := madeRun(t, tasks, []string{"a", "b"}, 1, said)
	status := 400
	server := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		if strings.Contains(r.Last(), "Second: alpha") {
			return llmtest.Refuse(status, "", "no such thing")
		}
		return llmtest.Response{Text: "Yes."}
	})
	s := &benchScene{t: t}
	stdout, stderr := s.run(exitVerified, "score", out, "--save", "--json", "--model", "scripted", "--base-url", server.URL)
	contains(t, stderr, "warning: could not be scored, and are left out: a (score a: ", "no such thing")
	var got trial.Scores
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Unscored != 1 || got.Tasks[0].Score != nil || !strings.Contains(got.Tasks[0].Detail, "no such thing") ||
		got.Tasks[1].Score == nil || *got.Tasks[1].Score != 1 || got.Score.N != 1 || got.Totals[0].N != 1 {
		t.Errorf("%v, %s", err, stdout)
	}
	result, err := runner.Read(out)
	if err != nil || result.Records[0].Score != nil || result.Records[1].Score == nil || *result.Records[1].Score != 1 {
		t.Errorf("%v, %+v", err, result.Records)
	}
	stdout, _ = s.run(exitVerified, "score", out, "--model", "scripted", "--base-url", server.URL)
	contains(t, stdout, "1 tasks have no score: what scores them has failed", "mean score 100.00 %")
	repeated := madeRun(t, tasks, []string{"a", "b"}, 2, func(i, repeat int) string { return said(min(i, repeat), 0) })
	stdout, _ = s.run(exitVerified, "score", repeated, "--json", "--model", "scripted", "--base-url", server.URL)
	got = trial.Scores{}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Unscored != 1 || got.Tasks[0].Score != nil || got.Tasks[1].Score == nil || *got.Tasks[1].Score != 1 {
		t.Errorf("of b one repeat has a score: %v, %s", err, stdout)
	}
	s.run(exitUsage, "score", out)
	status = 401
	s.run(exitCredentials, "score", out, "--model", "scripted", "--base-url", server.URL)
}

// chartTask is a copy of DA-Code with one task that asks for a bar chart of 3 and 1.
func chartTask(t *testing.T) (root string) {
	t.Helper()
	header := "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	npy := append([]byte("\x93NUMPY\x01\x00\x76\x00"), header...)
	for _, f := range []float64{3, 1} {
		bits := math.Float64bits(f)
		for i := range 8 {
			npy = append(npy, byte(bits>>(8*i)))
		}
	}
	return dataFolder(t, map[string]string{
		"da_code/configs/task/all.jsonl": `{"id": "plot-bar-001", "type": "Data Visualization", "instruction": "q", "hardness": "Easy", "post_process": ["plot_process"]}`,
		"da_code/configs/eval/eval_all.jsonl": `{"id": "plot-bar-001", "config": {"task": "data visualization", "type": "bar", "hardness": "Easy"}, "func": ["compare_image"], ` +
			`"result": [{"multi": true, "file": ["r.png", "dabench/plot.json", "dabench/result.npy"]}], "options": [{"keys": ["type"]}]}`,
		"da_code/source/plot-bar-001/x.csv":    "x",
		"da_code/gold/plot-bar-001/plot.json":  `{"type": "bar"}`,
		"da_code/gold/plot-bar-001/result.npy": string(npy),
		"da_code/gold/plot-bar-001/r.png":      picture(t, 255),
	})
}

// picture is a PNG all of one grey.
func picture(t *testing.T, grey uint8) string {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 8, 6))
	for i := range img.Pix {
		img.Pix[i] = grey
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestBenchScoreCharts scores a run whose charts were never extracted from their code: they
// are, by the rules of this scoring.
func TestBenchScoreCharts(t *testing.T) {
	t.Parallel()
	root := chartTask(t)
	out := madeRunOf(t, "dacode", "fixed", root, []string{"plot-bar-001"}, 1, func(int, int) string { return "r.png" })
	files := filepath.Join(out, "tasks", "plot-bar-001", "files")
	// By upstream's rule only pyplot's savefig marks a program that draws.
	code := "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.bar(['a', 'b'], [3, 1])\nfig.savefig('r.png')\n"
	if err := errors.Join(os.MkdirAll(files, 0o755), os.WriteFile(filepath.Join(files, "draw.py"), []byte(code), 0o644),
		os.WriteFile(filepath.Join(files, "r.png"), []byte(picture(t, 0)), 0o644)); err != nil {
		t.Fatal(err)
	}
	s := &benchScene{t: t}
	score := func(args ...string) trial.Scores {
		t.Helper()
		stdout, stderr := s.run(exitVerified, append([]string{"score", out, "--json", "--python", pyenvtest.Python(t)}, args...)...)
		var got trial.Scores
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Tasks) != 1 {
			t.Fatalf("%v, %s%s", err, stdout, stderr)
		}
		return got
	}
	if got := score("--compat", "fixed", "--save"); got.Tasks[0].Score == nil || *got.Tasks[0].Score != 1 {
		t.Errorf("%+v", got.Tasks)
	}
	saved := func() {
		t.Helper()
		if result, err := runner.Read(out); err != nil || len(result.Records) != 1 || !result.Records[0].Right() {
			t.Errorf("%v, %+v", err, result.Records)
		}
	}
	saved()
	if got := score("--compat", "upstream"); got.Tasks[0].Score == nil || *got.Tasks[0].Score != 0 {
		t.Errorf("upstream scores a chart that only fixed finds: %+v", got.Tasks)
	}
	if err := os.RemoveAll(filepath.Join(root, "da_code", "source")); err != nil {
		t.Fatal(err)
	}
	if got := score("--compat", "fixed", "--save"); got.Tasks[0].Score != nil || got.Unscored != 1 || !strings.Contains(got.Tasks[0].Detail, "its data are not there") {
		t.Errorf("a chart whose code lacks its data is scored: %+v", got.Tasks)
	}
	saved()
}
