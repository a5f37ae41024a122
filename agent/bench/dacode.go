package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// openDACode reads a checkout of github.com/yiyihum/da-code, or its folder
// da_code: configs/task/all.jsonl, configs/eval/eval_all.jsonl, source/<id> and
// gold/<id>. The repository has 100 of the 500 folders; the others are missing until its
// archives are unpacked there.
func openDACode(path string, _ Setting) (*Suite, error) {
	tasks, err := firstPresent(path, "da_code/configs/task/all.jsonl", "configs/task/all.jsonl")
	if err != nil {
		return nil, err
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(tasks)))
	eval := filepath.Join(root, "configs", "eval", "eval_all.jsonl")
	evals, suite := map[string]json.RawMessage{}, &Suite{Secret: []string{eval}}
	err = readLines(eval, func(raw json.RawMessage) error {
		var row struct {
			ID string `json:"id"`
		}
		err := json.Unmarshal(raw, &row)
		evals[row.ID] = raw
		return err
	})
	if err != nil {
		return nil, err
	}
	return suite, readRows(tasks, func(row struct {
		ID          string `json:"id"`
		Instruction string `json:"instruction"`
		Hardness    string `json:"hardness"`
	}) error {
		task := Task{ID: row.ID, Question: row.Instruction, Level: strings.ToLower(row.Hardness),
			Data: filepath.Join(root, "source", row.ID),
			Gold: evals[row.ID], GoldDir: filepath.Join(root, "gold", row.ID)}
		if !present(task.Data) {
			task.Missing = append(task.Missing, task.Data)
		}
		if task.Gold != nil {
			if err := task.dacode(); err != nil {
				return err
			}
		}
		suite.Tasks = append(suite.Tasks, task)
		return nil
	})
}

// dacode sets the task's fields from its eval configuration.
func (t *Task) dacode() error {
	config, err := readEval(t.Gold)
	if err != nil {
		return err
	}
	t.Domain, t.Kind = config.Config.Task, cmp.Or(config.Config.Type, config.Config.Task)
	t.Missing = append(t.Missing, t.missingGold()...)
	return nil
}

// goldFiles returns the files that hold the task's right answer, if any. Clustering tasks have
// none.
func (t Task) goldFiles() []string {
	if t.Rules != "dacode" && t.Rules != "" || t.Gold == nil || t.GoldDir == "" {
		return nil
	}
	config, err := readEval(t.Gold)
	if err != nil || slices.Contains(config.Func, "compare_ml") &&
		strings.Contains(strings.ToLower(config.Config.Type), "cluster") {
		return nil
	}
	var files []string
	for _, result := range config.Result {
		for _, file := range result.File {
			files = append(files, filepath.Join(t.GoldDir, filepath.Base(file)))
		}
	}
	return files
}

// missingGold returns the goldFiles that do not exist.
func (t Task) missingGold() []string {
	return slices.DeleteFunc(t.goldFiles(), present)
}

// unscorable returns why answers to the task cannot be scored with this copy of the
// benchmark, and the paths that it lacks. why is "" if they can be scored.
func (t Task) unscorable() (why string, missing []string) {
	switch missing = t.missingGold(); {
	case len(missing) > 0:
		return "the right answer is missing in this copy", missing
	case t.Gold == nil:
		return "the right answer is not public", nil
	}
	return "", nil
}

// isChart reports whether the task asks for a chart, by DA-Code's rules.
func (t Task) isChart() bool {
	charts := []string{"line", "pie", "bar", "scatter", "plot"}
	return t.Rules == "dacode" && slices.Contains(charts, t.Kind)
}

// An evalConfig is a line of DA-Code's eval configuration.
type evalConfig struct {
	Func   oneOrMore `json:"func"`
	Config struct {
		Task string `json:"task"`
		Type string `json:"type"`
	} `json:"config"`
	Result []struct {
		File oneOrMore `json:"file"`
	} `json:"result"`
}

func readEval(raw json.RawMessage) (evalConfig, error) {
	var config evalConfig
	if err := json.Unmarshal(raw, &config); err != nil {
		return config, fmt.Errorf("eval configuration: %w", err)
	}
	return config, nil
}

// daCodeGroups are those of evaluate.py. Tasks without a result, which it leaves out, count as 0.
var daCodeGroups = []group{
	by("task type", daCodeType),
	by("hardness", Task.level),
	by("big type", func(t Task) string {
		if slices.Contains([]string{"data insight", "data manipulation", "data visualization",
			"statistical analysis"}, t.Domain) {
			return "EDA"
		}
		return daCodeType(t)
	}),
	by("result type", func(t Task) string {
		if slices.Contains([]string{"line", "pie", "bar", "scatter"}, t.Kind) {
			return "plot"
		}
		return t.Kind
	}),
}

// daCodeType returns the type of a task. Competitions count as machine learning.
func daCodeType(t Task) string {
	if strings.Contains(t.Domain, "machine learning") {
		return "machine learning"
	}
	return t.Domain
}
