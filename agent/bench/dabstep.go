package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
)

// contextFiles are the files of data/context, which all tasks share.
var contextFiles = []string{
	"acquirer_countries.csv", "fees.json", "manual.md", "merchant_category_codes.csv",
	"merchant_data.json", "payments-readme.md", "payments.csv",
}

// openDABStep reads the data set huggingface.co/datasets/adyen/DABstep:
// tasks/{all,dev}.jsonl and context, at path or in path/data. path may also be a tasks file.
// The answers of the split "all" are not public.
func openDABStep(path string, s Setting) (*Suite, error) {
	if s.Split == "" {
		s.Split = "all"
	}
	tasks, root := path, filepath.Dir(filepath.Dir(path))
	if !isFile(path) {
		tasks = firstPresent(path, "data/tasks/"+s.Split+".jsonl", "tasks/"+s.Split+".jsonl")
		if tasks == "" {
			return nil, &MissingError{What: []string{filepath.Join(path, "data", "tasks", s.Split+".jsonl")}}
		}
		root = filepath.Dir(filepath.Dir(tasks))
	}
	suite := &Suite{Secret: []string{filepath.Join(filepath.Dir(tasks), "dev.jsonl")}}
	context := filepath.Join(root, "context")
	for _, name := range contextFiles {
		if file := filepath.Join(context, name); !present(file) {
			suite.Missing = append(suite.Missing, file)
		}
	}
	if !present(context) {
		suite.Missing, context = []string{context}, ""
	}
	published := false
	err := readRows(tasks, func(row struct {
		ID         textID          `json:"task_id"`
		Question   string          `json:"question"`
		Guidelines string          `json:"guidelines"`
		Level      string          `json:"level"`
		Answer     json.RawMessage `json:"answer"`
	}) error {
		task := Task{ID: string(row.ID), Question: row.Question, Guidelines: row.Guidelines,
			Level: row.Level, Data: context, Missing: suite.Missing}
		if row.Answer != nil && string(row.Answer) != "null" {
			gold := (&Answer{Value: row.Answer}).Text()
			task.Gold = Said(gold)
			published = published || gold != "" && gold != "null"
		}
		suite.Tasks = append(suite.Tasks, task)
		return nil
	})
	if published {
		suite.Secret = append(suite.Secret, tasks)
	}
	for i := range suite.Tasks {
		if !published { // the data set hides all answers as ""; a single "" is an answer
			suite.Tasks[i].Gold = nil
		}
	}
	return suite, err
}

// readDABStepAnswers reads lines of {task_id, agent_answer}. For a user's own tasks, answer may
// replace agent_answer, and dir (relative to the file) is the folder of answers that are files.
func readDABStepAnswers(path string) (answers []Answer, err error) {
	err = readRows(path, func(row struct {
		ID     textID          `json:"task_id"`
		Answer json.RawMessage `json:"agent_answer"`
		Plain  json.RawMessage `json:"answer"`
		Dir    string          `json:"dir"`
	}) error {
		a := Answer{ID: string(row.ID), Value: row.Answer}
		if a.Value == nil {
			a.Value = row.Plain
		}
		if a.Dir = row.Dir; a.Dir != "" && !filepath.IsAbs(a.Dir) {
			a.Dir = filepath.Join(filepath.Dir(path), a.Dir)
		}
		answers = append(answers, a)
		return nil
	})
	return answers, err
}

// submitDABStep writes the form that the leaderboard accepts: every task, only strings, no
// other columns.
func submitDABStep(w io.Writer, answers []Answer) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, a := range answers {
		if err := enc.Encode(struct {
			ID     string `json:"task_id"`
			Answer string `json:"agent_answer"`
		}{a.ID, a.Text()}); err != nil {
			return err
		}
	}
	_, err := out.WriteTo(w)
	return err
}

// scoreDABStep compares texts by the rules of the leaderboard
// (dabstep_benchmark/evaluation/scorer.py in its space; the paper's appendix has others).
// Fixed corrects these faults, shown with upstream's verdict:
//
//	-0.94 ~ 0.94            right   the minus sign is ignored (with Fixed, -12.34 ~ -12.3
//	                                are rounded like 12.34 ~ 12.3)
//	1e5 ~ 100000            wrong   exponents are ignored
//	E:13.57 ~ F:13.57       right   words beside a number are ignored
//	2023-01-05 ~ 2023-09-30 right   only the first number is compared
//	0,99 ~ 0.99             wrong   a comma between digits always groups thousands …
//	1,2 ~ 1, 2              wrong   … and never separates decimals or items
//	a: 2, a: 1.0 ~ …        varies  items are sorted as text, then paired by position
//	NexPay ~ any with it    right   a single word matches any text that contains it
//
// A missing answer is wrong; upstream's code fails on it.
func scoreDABStep(ctx context.Context, s Scorer, t Task, a *Answer) (Score, error) {
	score := Score{Metric: "accuracy"}
	if a == nil {
		return score, nil
	}
	gold := (&Answer{Value: t.Gold}).Text()
	got, err := s.text(ctx, t, "dabstep", a.Text(), gold, s.Compat == Fixed)
	score.Value, score.Detail = got.Score, got.Detail
	return score, err
}

// totalDABStep returns the accuracy by level, rounded as on the leaderboard.
func totalDABStep(tasks []Task, scores []Score, _ map[string]*Answer) []Total {
	return append([]Total{mean("", "accuracy", scores, nil, 2)},
		groups("level", tasks, scores, Task.level, 2)...)
}

func (t Task) level() string  { return t.Level }
func (t Task) domain() string { return t.Domain }

// groups returns the mean score of each group of tasks: hard before easy, otherwise sorted by
// name.
func groups(group string, tasks []Task, scores []Score, name func(Task) string,
	decimals int) (totals []Total) {
	var names []string
	for _, t := range tasks {
		names = append(names, name(t))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	order := []string{"hard", "medium", "easy"}
	unknown := func(name string) bool { return !slices.Contains(order, name) }
	if !slices.ContainsFunc(names, unknown) {
		slices.SortFunc(names, func(a, b string) int {
			return slices.Index(order, a) - slices.Index(order, b)
		})
	}
	for _, n := range names {
		totals = append(totals, mean(group, n, scores,
			func(i int) bool { return name(tasks[i]) == n }, decimals))
	}
	return totals
}

// mean returns the mean of the scores that pick selects (nil: all), in per cent. It is rounded
// unless decimals is negative.
func mean(group, name string, scores []Score, pick func(i int) bool, decimals int) Total {
	total := Total{Group: group, Name: name}
	sum := 0.0
	for i, s := range scores {
		if pick == nil || pick(i) {
			sum += s.Value
			total.N++
		}
	}
	if total.N > 0 {
		total.Value = sum / float64(total.N) * 100
	}
	if decimals >= 0 {
		rounded := strconv.FormatFloat(total.Value, 'f', decimals, 64) // exact, as Python's round
		total.Value, _ = strconv.ParseFloat(rounded, 64)
	}
	if math.IsNaN(total.Value) {
		total.Value = 0
	}
	return total
}
