package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// kramaDomains are KramaBench's, each a workload and a lake. Other workloads of
// a checkout (legal-tiny, quick-start-questions) are no part of the benchmark.
var kramaDomains = []string{"archeology", "astronomy", "biomedical", "environment", "legal", "wildfire"}

// openKramaBench reads a checkout of github.com/mitdbg/KramaBench, or one of its
// workload files. A task's data is the whole lake of its domain, or, in the
// oracle setting, the files that it names.
func openKramaBench(root string, s Setting) (*Suite, error) {
	suite := &Suite{}
	workloads := []string{root}
	if isFile(root) {
		root = filepath.Dir(filepath.Dir(root))
	} else {
		workloads = nil
		for _, domain := range kramaDomains {
			file := filepath.Join(root, "workload", domain+".json")
			if present(file) {
				workloads = append(workloads, file)
			} else {
				suite.Missing = append(suite.Missing, file)
			}
		}
		if workloads == nil {
			return nil, &MissingError{What: []string{filepath.Join(root, "workload", "*.json")}}
		}
	}
	for _, file := range workloads {
		domain := strings.TrimSuffix(filepath.Base(file), ".json")
		err := readLines(file, func(raw json.RawMessage) error {
			task, err := kramaTask(raw, domain, filepath.Join(root, "data", domain, "input"), s)
			suite.Tasks = append(suite.Tasks, task)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return suite, nil
}

func kramaTask(raw json.RawMessage, domain, lake string, s Setting) (Task, error) {
	var row struct {
		ID      textID          `json:"id"`
		Query   string          `json:"query"`
		Answer  json.RawMessage `json:"answer"`
		Type    string          `json:"answer_type"`
		Sources []string        `json:"data_sources"`
	}
	if err := json.Unmarshal(raw, &row); err != nil {
		return Task{}, err
	}
	task := Task{ID: string(row.ID), Question: row.Query, Data: lake, Domain: domain, Kind: row.Type}
	if string(row.Answer) != "null" {
		task.Gold = row.Answer
	}
	if parts := strings.Split(task.ID, "-"); len(parts) > 1 {
		task.Level = parts[1] // archeology-hard-12
	}
	switch {
	case !present(lake):
		task.Missing = append(task.Missing, lake)
	case s.Oracle:
		task.useSources(row.Sources)
	}
	return task, nil
}

// useSources gives the task the files below Data that sources name: a file, a
// folder, or a pattern such as "reports/*".
func (t *Task) useSources(sources []string) {
	t.Files = []string{}
	names := filesBelow(t.Data)
	for _, source := range sources {
		pattern := path.Clean(filepath.ToSlash(source))
		found := false
		for _, name := range names {
			matched, _ := path.Match(pattern, name) // a bad pattern matches nothing and is told as missing
			if matched || name == pattern || strings.HasPrefix(name, strings.TrimSuffix(pattern, "/*")+"/") {
				found = true
				if !slices.Contains(t.Files, name) {
					t.Files = append(t.Files, name)
				}
			}
		}
		if !found {
			t.Missing = append(t.Missing, filepath.Join(t.Data, filepath.FromSlash(source)))
		}
	}
	slices.Sort(t.Files)
}

// filesBelow are the names of the files below dir, with slashes.
func filesBelow(dir string) []string {
	var names []string
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// A kramaResponse is what a system under test answers with (its response cache
// has it under model_output, serve_query under explanation).
type kramaResponse struct {
	ID          textID          `json:"task_id"`
	ModelOutput json.RawMessage `json:"model_output,omitempty"`
	Explanation json.RawMessage `json:"explanation,omitempty"`
	Answer      json.RawMessage `json:"answer,omitempty"`
	Code        string          `json:"code"`
}

// readKramaBenchAnswers reads a response cache of its harness, or lines of
// {task_id, answer}.
func readKramaBenchAnswers(file string) ([]Answer, error) {
	var answers []Answer
	err := readLines(file, func(raw json.RawMessage) error {
		var row kramaResponse
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}
		if row.ID == "" {
			return fmt.Errorf("no task_id")
		}
		a := Answer{ID: string(row.ID), Value: row.Answer, Code: row.Code}
		for _, output := range []json.RawMessage{row.ModelOutput, row.Explanation} {
			var said struct {
				Answer json.RawMessage `json:"answer"`
			}
			if a.Value == nil && output != nil && json.Unmarshal(output, &said) == nil { // anything else has no answer in it
				a.Value = said.Answer
			}
		}
		answers = append(answers, a)
		return nil
	})
	return answers, err
}

// submitKramaBench writes a response cache, which its harness scores with
// --use_system_cache: one array, the fields of serve_query beside.
func submitKramaBench(w io.Writer, _ []Task, answers []Answer) error {
	type row struct {
		ID     string                     `json:"task_id"`
		Output map[string]json.RawMessage `json:"model_output"`
		Code   string                     `json:"code"`
		Usage  int                        `json:"token_usage_sut"`
		Input  int                        `json:"token_usage_sut_input"`
		Result int                        `json:"token_usage_sut_output"`
	}
	rows := make([]row, len(answers))
	for i, a := range answers {
		rows[i] = row{a.ID, map[string]json.RawMessage{"answer": a.Value}, a.Code, a.Tokens[0] + a.Tokens[1], a.Tokens[0], a.Tokens[1]}
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// totalKramaBench is the mean over tasks (that is, over metrics by their
// support), as a whole and by domain, level and metric. Upstream's first version
// leaves list_approximate out of it.
func totalKramaBench(tasks []Task, scores []Score, _ map[string]*Answer) []Total {
	counts := func(i int) bool { return scores[i].Metric != juneListApproximate }
	totals := []Total{mean("", "total", scores, counts, -1)}
	for _, g := range []struct {
		name string
		of   func(Task) string
	}{{"domain", func(t Task) string { return t.Domain }}, {"level", func(t Task) string { return t.Level }}} {
		var names []string
		for _, t := range tasks {
			if !slices.Contains(names, g.of(t)) {
				names = append(names, g.of(t))
			}
		}
		slices.Sort(names)
		for _, n := range names {
			totals = append(totals, mean(g.name, n, scores, func(i int) bool { return counts(i) && g.of(tasks[i]) == n }, -1))
		}
	}
	var metrics []string
	for _, s := range scores {
		if !slices.Contains(metrics, s.Metric) {
			metrics = append(metrics, s.Metric)
		}
	}
	slices.Sort(metrics)
	for _, m := range metrics {
		totals = append(totals, mean("metric", m, scores, func(i int) bool { return scores[i].Metric == m }, -1))
	}
	return totals
}
