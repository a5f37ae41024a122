package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/tables"
	"dsstar/agent/bench/trial"
	"dsstar/agent/llm/llmtest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// trialTasks is a folder of n tasks: what is the sum of the numbers, of which the
// i-th task has i. The right answer to the last one is not known, with hidden.
func trialTasks(t testing.TB, n int, hidden bool) string {
	t.Helper()
	dir := t.TempDir()
	var rows []map[string]any
	for i := 1; i <= n; i++ {
		data := filepath.Join(dir, fmt.Sprintf("data-%d", i))
		if err := os.MkdirAll(data, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, "numbers.csv"), []byte(fmt.Sprintf("n\n40\n%d\n", i)), 0o644); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{"id": fmt.Sprintf("sum-%d", i), "question": fmt.Sprintf("What is the total of file %d?", i), "data_dir": fmt.Sprintf("data-%d", i),
			"answer": fmt.Sprint(40 + i), "scorer": "dabstep", "difficulty": []string{"hard", "easy"}[i%2]}
		if hidden && i == n {
			delete(row, "answer")
		}
		rows = append(rows, row)
	}
	data, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.json"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// adds is a model that answers every such task with one cell, but for the second,
// of which it gives a wrong answer. It is asked by any of the agents.
func adds(r llmtest.Request) llmtest.Response {
	all := r.Messages[0].Text
	for _, m := range r.Messages {
		all += m.Text
	}
	wrong := ""
	if strings.Contains(all, "total of file 2?") {
		wrong = " + 1000"
	}
	usage := func(text string) llmtest.Response {
		response := llmtest.Response{Text: text}
		response.Usage.InputTokens, response.Usage.OutputTokens = 1000, 10
		return response
	}
	for _, p := range phrases {
		if strings.Contains(r.Last(), p.phrase) {
			switch p.role {
			case "planner":
				return usage("Add the numbers up.")
			case "coder":
				return usage(cell("import csv\ntotal = sum(int(r['n']) for r in csv.DictReader(open('data/numbers.csv')))" + wrong + "\nprint(total)"))
			case "verifier":
				return usage(sufficient)
			case "finalizer":
				return usage(cell("print(total)"))
			case "checker":
				return usage("Form: fits")
			}
		}
	}
	return usage("The sum.\n\n" + cell("import csv\nfinal_answer(sum(int(r['n']) for r in csv.DictReader(open('data/numbers.csv')))"+wrong+")"))
}

// A benchScene runs dsstar bench.
type benchScene struct {
	t        testing.TB
	env      []string
	settings []string // flags of every run
}

func newBenchScene(t *testing.T, url string, env ...string) *benchScene {
	t.Helper()
	return &benchScene{t, env, []string{"--base-url", url, "--model", "scripted", "--python", pyenvtest.Python(t)}}
}

// run runs a command and returns what it printed; the exit code must be want.
func (s *benchScene) run(want int, args ...string) (stdout, stderr string) {
	s.t.Helper()
	return s.runContext(context.Background(), want, args...)
}

func (s *benchScene) runContext(ctx context.Context, want int, args ...string) (stdout, stderr string) {
	s.t.Helper()
	a, out, errs := testApp(s.t, s.env...)
	if code := a.run(ctx, append([]string{"bench"}, args...)); code != want {
		s.t.Fatalf("bench %v: exit code %d, want %d\n%s%s", args, code, want, out, errs)
	}
	return out.String(), errs.String()
}

func (s *benchScene) bench(want int, args ...string) (stdout, stderr string) {
	s.t.Helper()
	return s.run(want, append(append([]string{"run", "--bench", "dir"}, s.settings...), args...)...)
}

// table is all that is made of a run and must be the same for the same results.
func (s *benchScene) table(out string) string {
	s.t.Helper()
	table, _ := s.run(exitVerified, "table", "--paper", "ds-star:1", "--paper", "data-interpreter:1", out)
	page := filepath.Join(filepath.Dir(out), "report.html")
	s.run(exitVerified, "report", "--out", page, out)
	html, err := os.ReadFile(page)
	if err != nil {
		s.t.Fatal(err)
	}
	return table + string(html)
}

func contains(t testing.TB, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in:\n%s", w, text)
		}
	}
}

// TestBench runs two agents, goes on, replays, and makes everything of it.
func TestBench(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t, adds)
	s := newBenchScene(t, server.URL)
	tasks, dir := trialTasks(t, 3, true), t.TempDir()
	first, second, again := filepath.Join(dir, "a", "run"), filepath.Join(dir, "b", "run"), filepath.Join(dir, "c", "run")

	// One task, then the rest: as if it had been stopped.
	_, stderr := s.bench(exitBudget, "--tasks", tasks, "--agent", "react", "--out", first, "--total-calls", "1")
	contains(t, stderr, "right    sum-1", "1 of 3 done: 1 right, 0 wrong", "the budget is spent: model calls for all tasks: 1",
		"hint: dsstar bench run --total-calls MORE --resume --out "+first)
	stdout, stderr := s.run(exitVerified, "run", "--resume", "--out", first)
	contains(t, stdout, "score 50.00 % (1 of 2 right, 95 % interval 9.5 to 90.5), and 1 not scored")
	level, _ := s.run(exitVerified, "score", first, "--split", "hard")
	contains(t, level, "mean score 0.00 %")
	_, stderr2 := s.run(exitUsage, "score", first, "--split", "dev")
	contains(t, stderr2, "selects tasks to run", "hint: dsstar bench score --split easy")
	contains(t, stderr, "wrong    sum-2, wrong answer", "answer   sum-3")
	if n := len(server.Requests()); n != 3 {
		t.Errorf("%d requests were made for three tasks of one each", n)
	}
	result, err := runner.Read(first)
	if err != nil {
		t.Fatal(err)
	}
	r := result.Records[0]
	if r.Answer != "41" || r.Rounds != 1 || r.Usage.Calls != 1 || r.Usage.InputTokens != 1000 || r.Executions != 1 || r.Notebook != "tasks/sum-1/notebook.ipynb" || r.Level != "easy" {
		t.Errorf("%+v", r)
	}
	for _, record := range result.Records {
		if _, err := os.Stat(filepath.Join(first, record.Notebook)); err != nil {
			t.Error(err)
		}
	}
	_, stderr = s.run(exitUsage, "run", "--resume", "--out", first, "--max-steps", "3")
	contains(t, stderr, "max_steps", "as it was")
	_, stderr = s.bench(exitUsage, "--tasks", tasks, "--agent", "react", "--out", first)
	contains(t, stderr, "it has results already", "--resume")

	// Another agent; and the first again, from its traces, two tasks at once.
	stdout, _ = s.bench(exitVerified, "--tasks", tasks, "--out", second, "--json", "--no-analyzer", "--ids", "sum-1")
	var got benchResult
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Right != 1 || got.Wrong != 0 || got.Tasks != 1 || got.Score.N != 1 || got.CostUSD != nil {
		t.Errorf("%v, %+v", err, got)
	}
	made := s.table(first)
	before := len(server.Requests())
	_, stderr = s.run(exitVerified, "run", "--model", "replay:"+first, "--jobs", "2", "--out", again, "--python", pyenvtest.Python(t))
	if n := len(server.Requests()); n != before {
		t.Errorf("a replay has made %d requests", n-before)
	}
	if other := s.table(again); other != made {
		t.Errorf("a replay makes something else:\n%s\n%s\n%s\n%s", stderr, timeless(t, first), timeless(t, again), firstChange(made, other))
	}

	stdout, _ = s.run(exitVerified, "compare", first, second)
	contains(t, stdout, "0 better in B, 0 worse", "agent: react in A, dsstar in B", "method.analyzer: the default in A, false in B")
	stdout, _ = s.run(exitVerified, "table", "--paper", "data-interpreter:1", second)
	contains(t, stdout, "dsstar, no analyzer")
	stdout, _ = s.run(exitVerified, "score", first, "--json")
	var scores trial.Scores
	if err := json.Unmarshal([]byte(stdout), &scores); err != nil || len(scores.Tasks) != 3 || *scores.Tasks[0].Score != 1 || *scores.Tasks[1].Score != 0 || scores.Tasks[2].Score != nil {
		t.Errorf("%v, %s", err, stdout)
	}
	_, stderr = s.run(exitUsage, "score", second, "--save", "--compat", "fixed")
	contains(t, stderr, "is scored by upstream")
	folder, err := runner.Open(again)
	if err != nil {
		t.Fatal(err)
	}
	torn := result.Records[0] // as if the judge had failed
	torn.Score, torn.Unscored = nil, "no judge"
	if err := errors.Join(folder.Append(torn), folder.Close()); err != nil {
		t.Fatal(err)
	}
	s.run(exitVerified, "score", again, "--save")
	if result, err := runner.Read(again); err != nil || !result.Records[0].Right() || result.Records[0].Unscored != "" {
		t.Errorf("%v, %+v", err, result.Records[0])
	}
	stdout, _ = s.run(exitVerified, "submit", "--format", "dabstep", first)
	if stdout != `{"task_id":"sum-1","agent_answer":"41"}`+"\n"+`{"task_id":"sum-2","agent_answer":"1042"}`+"\n"+`{"task_id":"sum-3","agent_answer":"43"}`+"\n" {
		t.Errorf("%s", stdout)
	}
}

// TestBenchScoreFile scores a file of answers.
func TestBenchScoreFile(t *testing.T) {
	t.Parallel()
	dir := dataFolder(t, map[string]string{
		"tasks.jsonl": `{"task_id": 1, "question": "q", "guidelines": "", "level": "easy", "answer": "12.34"}` + "\n" +
			`{"task_id": "2", "question": "q", "level": "hard", "answer": "a, b"}` + "\n" + `{"task_id": "3", "question": "q", "level": "hard", "answer": "c"}` + "\n",
		"answers.jsonl": `{"task_id": "1", "agent_answer": "12.3"}` + "\n" + `{"task_id": 2, "agent_answer": "b; c"}` + "\n",
		"mixed.jsonl":   `{"task_id": "1", "agent_answer": "12.3"}` + "\n" + `{"agent_answer": "x"}` + "\n" + `{"task_id": "9", "agent_answer": NaN}` + "\n",
		"stray.jsonl":   `{"task_id": "9", "agent_answer": "12.3"}` + "\n",
	})
	s := &benchScene{t: t}
	score := func(want int, answers string, more ...string) (string, string) {
		return s.run(want, append([]string{"score", "--bench", "dabstep", "--tasks", filepath.Join(dir, "tasks.jsonl"), "--answers", filepath.Join(dir, answers)}, more...)...)
	}
	stdout, _ := score(exitVerified, "answers.jsonl", "--json")
	var got struct {
		Compat string
		Tasks  []struct {
			TaskID  string  `json:"task_id"`
			Score   float64 `json:"score"`
			Missing bool    `json:"missing"`
		} `json:"tasks"`
		Totals []map[string]any
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Tasks) != 3 || got.Tasks[0].TaskID != "1" || got.Tasks[0].Score != 1 || got.Tasks[1].Score != 0 || !got.Tasks[2].Missing || got.Compat != "upstream" || len(got.Totals) == 0 {
		t.Errorf("%s", stdout)
	}
	stdout, _ = score(exitVerified, "answers.jsonl")
	contains(t, stdout, "level easy", "mean score 33.33 %")
	stdout, stderr := score(exitVerified, "mixed.jsonl", "--json")
	contains(t, stderr, "warning: left out are answers to tasks that are not there: 9", "warning: answers without a task_id are left out: 1")
	contains(t, stdout, `"unknown": [`, `"9"`, `"nameless": 1`, `"score": 1,`)
	stdout, stderr = score(exitVerified, "mixed.jsonl", "--json", "--split", "easy")
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Tasks) != 1 || got.Tasks[0].TaskID != "1" || !strings.Contains(stdout, `"value": 100,`) {
		t.Errorf("%v, %s", err, stdout)
	}
	contains(t, stderr, "not there: 9")
	_, stderr = score(exitUsage, "mixed.jsonl", "--split", "medium")
	contains(t, stderr, "no task has level medium", "hint:")
	stdout, _ = score(exitVerified, "answers.jsonl", "--split", "hard")
	contains(t, stdout, "mean score 0.00 %", "(n 2)")
	if strings.Contains(stdout, "level easy") {
		t.Errorf("tasks of another level are scored:\n%s", stdout)
	}
	_, stderr = score(exitUsage, "stray.jsonl")
	contains(t, stderr, "answers to tasks that are not there: 9", "hint:")
	_, stderr = score(exitUsage, "none.jsonl")
	contains(t, stderr, "missing", "none.jsonl")
	_, stderr = score(exitUsage, "answers.jsonl", "--compat", "none")
	contains(t, stderr, "--compat is upstream or fixed")
}

// TestBenchMissingGold leaves tasks unscored whose right answer is not in the copy.
func TestBenchMissingGold(t *testing.T) {
	t.Parallel()
	dir := dataFolder(t, map[string]string{
		"index.json": `[{"id": "a", "question": "q", "data_dir": "data", "answer": {"gold_files": ["gold/a/r.csv"]}, "scorer": "dacode",
			"scorer_config": {"func": "compare_csv"}}, {"id": "b", "question": "q", "data_dir": "data", "answer": 5}, {"id": "c", "question": "q", "data_dir": "data"}]`,
		"data/x.csv": "x", "answers.jsonl": `{"task_id": "a", "answer": "r.csv", "dir": "."}` + "\n" + `{"task_id": "b", "answer": 5}`, "r.csv": "a",
	})
	s := &benchScene{t: t}
	stdout, stderr := s.run(exitVerified, "score", "--bench", "dir", "--tasks", dir, "--answers", filepath.Join(dir, "answers.jsonl"), "--json")
	contains(t, stderr, "warning: missing in this copy of the benchmark: …/gold/a/r.csv")
	var got trial.Scores
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Unscored != 2 || got.Tasks[0].Score != nil || *got.Tasks[1].Score != 1 || len(got.Missing) != 1 ||
		got.Tasks[0].Detail != "the right answer is missing in this copy: …/gold/a/r.csv" || got.Tasks[2].Detail != "the right answer is not public" {
		t.Errorf("%v, %s", err, stdout)
	}
	_, stderr = s.run(exitUsage, "run", "--bench", "dir", "--tasks", dir, "--data", dir, "--model", "ollama/m", "--out", filepath.Join(t.TempDir(), "out"))
	contains(t, stderr, "task a: its data folder "+dir+" holds right answers: index.json", "hint: dsstar bench run --data DIR --bench dir")
}

// TestBenchUsage has command lines that cannot be carried out.
func TestBenchUsage(t *testing.T) {
	t.Parallel()
	tasks, out := trialTasks(t, 2, false), filepath.Join(t.TempDir(), "out")
	s := &benchScene{t: t}
	run := func(args ...string) []string {
		return append([]string{"run", "--out", out, "--model", "ollama/m"}, args...)
	}
	for want, args := range map[string][]string{
		"--bench is not given":             run("--tasks", tasks),
		`there is no benchmark "x"`:        run("--bench", "x"),
		"--tasks is not given":             run("--bench", "dir"),
		"index.json":                       run("--bench", "dir", "--tasks", out),
		`unknown agent "x"`:                run("--bench", "dir", "--tasks", tasks, "--agent", "x"),
		`there is no task "x"`:             run("--bench", "dir", "--tasks", tasks, "--ids", "x"),
		"no task is left":                  run("--bench", "dir", "--tasks", tasks, "--domain", "x"),
		"--jobs must be at least 1":        run("--bench", "dir", "--tasks", tasks, "--jobs", "0"),
		"the price of ollama/m is unknown": run("--bench", "dir", "--tasks", tasks, "--total-cost", "3"),
		"needs --yes where nobody can be asked\n  server   http://127.0.0.1:9/": run("--bench", "dir", "--tasks", tasks, "--server", "http://127.0.0.1:9/?token=s"),
		"--retry needs --resume": run("--retry", "budget"),
		"no benchmark run in":    {"run", "--resume", "--out", out},
		"--paper is missing":     {"table"},
		`unknown table "x"`:      {"table", "--paper", "x"},
		"expected two runs":      {"compare", out},
		"no run is given":        {"report"},
		"one run or one file":    {"score"},
	} {
		_, stderr := s.run(exitUsage, args...)
		contains(t, stderr, want, "hint: ")
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a command line that is wrong has made its folder")
	}
}

// TestBenchKeepsNoSecret has keys in addresses, which bench.json would hold.
func TestBenchKeepsNoSecret(t *testing.T) {
	t.Parallel()
	tasks, out := trialTasks(t, 1, false), filepath.Join(t.TempDir(), "out")
	s := &benchScene{t: t}
	for _, address := range []string{"http://u:hunter2@h/v1", "http://h/v1?token=hunter2", "http://h/v1?api-version=1&key=hunter2"} {
		_, stderr := s.run(exitUsage, "run", "--bench", "dir", "--tasks", tasks, "--out", out, "--model", "m", "--base-url", address)
		contains(t, stderr, "contains a key", "hint: dsstar bench run --base-url http://h/v1 --api-key-env NAME")
		if strings.Contains(stderr, "hunter2") {
			t.Errorf("the key is shown: %s", stderr)
		}
	}
	if err := noSecret("https://h/v1?api-version=2"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the run was begun")
	}
}

// TestBenchFailures has a model that fails, a task that takes too long, and a judge.
func TestBenchFailures(t *testing.T) {
	t.Parallel()
	tasks, out := trialTasks(t, 3, false), filepath.Join(t.TempDir(), "out")
	broken := true
	server := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		text := fmt.Sprint(r.Messages)
		switch {
		case strings.Contains(text, "file 1?") && broken:
			return llmtest.Refuse(400, "", "no such thing")
		case strings.Contains(text, "file 2?"):
			return llmtest.Response{Text: cell("import time\ntime.sleep(30)")}
		}
		return adds(r)
	})
	s := newBenchScene(t, server.URL)
	stdout, stderr := s.bench(exitVerified, "--tasks", tasks, "--agent", "react", "--out", out, "--jobs", "2", "--ids", "sum-1,sum-3")
	contains(t, stderr, "wrong    sum-1, model error", "right    sum-3")
	contains(t, stdout, "1 of 2 right")
	broken = false
	stdout, _ = s.run(exitVerified, "run", "--resume", "--out", out, "--retry", "model-error")
	contains(t, stdout, "2 of 2 right")
	_, stderr = s.bench(exitVerified, "--tasks", tasks, "--agent", "react", "--out", out+"-2", "--timeout-task", "2s", "--ids", "sum-2")
	contains(t, stderr, "wrong    sum-2, time-out")
	_, stderr = s.run(exitUsage, "run", "--resume", "--out", out, "--retry", "bad-luck")
	contains(t, stderr, `unknown cause "bad-luck"`)
}

// TestBenchBesideThePaper has runs as the README's example makes them: both stand in rows
// of the paper's.
func TestBenchBesideThePaper(t *testing.T) {
	t.Parallel()
	root, dir := dataFolder(t, map[string]string{
		"data/tasks/dev.jsonl": `{"task_id": "1", "question": "What is the total of file 1?", "guidelines": "a number", "level": "easy", "answer": "41"}` + "\n",
		"data/context/a.csv":   "n\n41\n",
	}), t.TempDir()
	server := llmtest.New(t, func(llmtest.Request) llmtest.Response { return llmtest.Refuse(400, "", "no such thing") })
	s := &benchScene{t, []string{"DSSTAR_METHOD_DOCUMENTS=true"}, []string{"--base-url", server.URL, "--model", "gemini-2.5-pro", "--python", pyenvtest.Python(t)}}
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for out, agent := range map[string][]string{first: {"--paper"}, second: {"--agent", "react"}} {
		s.run(exitVerified, slices.Concat([]string{"run", "--bench", "dabstep", "--tasks", root, "--split", "dev", "--out", out}, agent, s.settings)...)
	}
	stdout, _ := s.run(exitVerified, "table", "--paper", "ds-star:6", "--json", first, second)
	var got struct{ Tables []tables.Table }
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	beside := map[string]string{}
	for _, row := range got.Tables[0].Rows {
		if row.Published[0] != nil {
			beside[row.Framework] = row.Run
		}
	}
	if beside["DS-STAR"] != first || beside["ReAct"] != second {
		t.Errorf("beside the published figures stand %v:\n%s", beside, stdout)
	}
}

var measuredText = regexp.MustCompile(`"seconds":\{[^}]*\}`)

// timeless is a file of results without what no two runs have in common.
func timeless(t testing.TB, out string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(measuredText.ReplaceAll(bytes.TrimSpace(data), nil))
}

// firstChange is where two texts begin to differ.
func firstChange(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + "\n" + y[i]
		}
	}
	return "one is longer"
}

// TestBenchKill kills the program at any moment of a run, and goes on: each task has
// one result, and the tables are those of a run that nobody killed.
func TestBenchKill(t *testing.T) {
	pyenvtest.Long(t)
	dsstar := build(t)
	server := llmtest.New(t, adds)
	s := newBenchScene(t, server.URL)
	tasks, dir := trialTasks(t, 3, false), t.TempDir()
	whole, killed := filepath.Join(dir, "a", "run"), filepath.Join(dir, "b", "run")
	begin := time.Now()
	s.bench(exitVerified, "--tasks", tasks, "--agent", "react", "--jobs", "2", "--out", whole)
	took := time.Since(begin)
	args := append([]string{"bench", "run", "--bench", "dir", "--tasks", tasks, "--agent", "react", "--jobs", "2", "--quiet", "--out", killed}, s.settings...)
	at := rand.N(took)
	for n := 0; killAfter(t, at, dsstar, args...); n++ {
		if _, err := os.Stat(filepath.Join(killed, "bench.json")); err == nil {
			args = []string{"bench", "run", "--resume", "--quiet", "--out", killed, "--python", pyenvtest.Python(t)}
		}
		if at = rand.N(took); n > *kills {
			at = time.Minute
		}
	}
	if a, b := s.table(whole), s.table(killed); a != b {
		t.Errorf("a run that was killed makes something else: %s", firstChange(a, b))
	}
	if n := strings.Count(timeless(t, killed), "\n") + 1; n != 3 {
		t.Errorf("%d results of 3 tasks", n)
	}
}
