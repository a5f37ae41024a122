package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/notebook/disk"
)

// openDACode reads a checkout of github.com/yiyihum/da-code, or its folder
// da_code: configs/task/all.jsonl, configs/eval/eval_all.jsonl, source/<id> and
// gold/<id>. The repository has 100 of the 500 folders; the others are missing until its
// archives are unpacked there.
func openDACode(path string, _ Setting) (*Suite, error) {
	tasks := firstPresent(path, "da_code/configs/task/all.jsonl", "configs/task/all.jsonl")
	if tasks == "" {
		all := filepath.Join(path, "da_code", "configs", "task", "all.jsonl")
		return nil, &MissingError{What: []string{all}}
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(tasks)))
	eval := filepath.Join(root, "configs", "eval", "eval_all.jsonl")
	evals, suite := map[string]json.RawMessage{}, &Suite{Secret: []string{eval}}
	err := readLines(eval, func(raw json.RawMessage) error {
		var row struct {
			ID string `json:"id"`
		}
		err := json.Unmarshal(raw, &row)
		evals[row.ID] = slices.Clone(raw)
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
		if task.Gold == nil {
			task.Missing = append(task.Missing, "the eval configuration of "+row.ID)
		} else if err := task.dacode(); err != nil {
			return err
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
func (t *Task) goldFiles() []string {
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
func (t *Task) missingGold() []string {
	return slices.DeleteFunc(t.goldFiles(), present)
}

// Unscorable returns why answers to the task cannot be scored with this copy of the
// benchmark, and the paths that it lacks. why is "" if they can be scored.
func (t *Task) Unscorable() (why string, missing []string) {
	if missing = t.missingGold(); t.Gold == nil {
		for _, what := range t.Missing {
			if !filepath.IsAbs(what) { // otherwise it is data
				missing = append(missing, what)
			}
		}
	}
	switch {
	case len(missing) > 0:
		return "the right answer is missing in this copy", missing
	case t.Gold == nil:
		return "the right answer is not public", nil
	}
	return "", nil
}

// IsChart reports whether the task asks for a chart, by DA-Code's rules.
func (t *Task) IsChart() bool {
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

// A oneOrMore is a string or a list of strings.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(raw []byte) error {
	var single string
	if json.Unmarshal(raw, &single) == nil {
		*o = oneOrMore{single}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(o))
}

// readDACodeAnswers reads DA-Code's output folder: <id>/dabench/result.json
// beside the files that the agent left in <id>.
func readDACodeAnswers(dir string) ([]Answer, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{What: []string{dir}}
	}
	if err != nil {
		return nil, err
	}
	var answers []Answer
	for _, entry := range entries {
		file := filepath.Join(dir, entry.Name(), "dabench", "result.json")
		if !ownFile(filepath.Join(dir, entry.Name()), file) {
			continue // an unfinished run has none: the task counts as unanswered
		}
		a, err := readResult(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		a.ID, a.Dir = entry.Name(), filepath.Join(dir, entry.Name())
		answers = append(answers, a)
	}
	if answers == nil {
		return nil, &MissingError{What: []string{filepath.Join(dir, "<task>", "dabench", "result.json")}}
	}
	return answers, nil
}

func readResult(file string) (Answer, error) {
	text, err := disk.ReadFile(file, disk.MaxDocument)
	if err != nil {
		return Answer{}, err
	}
	var row struct {
		Finished   bool            `json:"finished"`
		Steps      int             `json:"steps"`
		Result     json.RawMessage `json:"result"`
		Trajectory []struct {
			Action      string `json:"action"`
			Observation string `json:"observation"`
		} `json:"trajectory"`
	}
	if err := json.Unmarshal(text, &row); err != nil {
		return Answer{}, err
	}
	a := Answer{Value: row.Result, Unfinished: !row.Finished, Steps: row.Steps}
	for i := 0; i+1 < len(row.Trajectory); i++ { // an action's output is in the next entry
		begins := func(kind string) bool { return strings.HasPrefix(row.Trajectory[i].Action, kind) }
		if !slices.ContainsFunc([]string{"Bash", "Python", "SQL"}, begins) {
			continue
		}
		a.Actions++
		if failedAction(row.Trajectory[i+1].Observation) {
			a.Failed++
		}
	}
	return a, nil
}

// failedAction recognizes errors by the words that the public evaluator looks for.
func failedAction(observation string) bool {
	return !strings.Contains(observation, "executed successfully. No output.") &&
		(strings.HasPrefix(observation, "ERROR:") || strings.Contains(observation, "Traceback (") ||
			strings.HasPrefix(observation, "bash: -c: line ") || strings.Contains(observation, "Error: "))
}

// totalDACode returns the mean score by the groups of evaluate.py, the completion rate, the
// mean number of steps and the share of actions without an error. Tasks without a result,
// which evaluate.py leaves out, count as 0.
func totalDACode(tasks []Task, scores []Score, answers map[string]*Answer) []Total {
	totals := []Total{mean("", "score", scores, nil, -1)}
	finished, steps, actions, failed := 0, 0, 0, 0
	for _, t := range tasks {
		if a := answers[t.ID]; a != nil {
			if !a.Unfinished {
				finished++
			}
			steps, actions, failed = steps+a.Steps, actions+a.Actions, failed+a.Failed
		}
	}
	if len(answers) > 0 && len(tasks) > 0 {
		totals = append(totals, Total{Name: "completion rate",
			Value: float64(finished) / float64(len(tasks)) * 100, N: len(tasks)},
			Total{Name: "steps", Value: float64(steps) / float64(len(answers)), N: len(answers)})
	}
	if actions > 0 {
		totals = append(totals, Total{Name: "executable code",
			Value: float64(actions-failed) / float64(actions) * 100, N: actions})
	}
	for _, g := range []struct {
		name string
		of   func(Task) string
	}{
		{"task type", daCodeType},
		{"hardness", Task.level},
		{"big type", func(t Task) string {
			if slices.Contains([]string{"data insight", "data manipulation", "data visualization",
				"statistical analysis"}, t.Domain) {
				return "EDA"
			}
			return daCodeType(t)
		}},
		{"result type", func(t Task) string {
			if slices.Contains([]string{"line", "pie", "bar", "scatter"}, t.Kind) {
				return "plot"
			}
			return t.Kind
		}},
	} {
		totals = append(totals, groups(g.name, tasks, scores, g.of, -1)...)
	}
	return totals
}

// daCodeType returns the type of a task. Competitions count as machine learning.
func daCodeType(t Task) string {
	if strings.Contains(t.Domain, "machine learning") {
		return "machine learning"
	}
	return t.Domain
}
