package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// openDABench reads InfiAgent-DABench's development set: questions, labels and
// tables (InfiAgent/InfiAgent, examples/DA-Agent/data).
func openDABench(path string, _ Setting) (*Suite, error) {
	if isFile(path) {
		path = filepath.Dir(path)
	}
	questions := firstPresent(path, "da-dev-questions.jsonl", "data/da-dev-questions.jsonl",
		"examples/DA-Agent/data/da-dev-questions.jsonl")
	if questions == "" {
		return nil, &MissingError{What: []string{filepath.Join(path, "da-dev-questions.jsonl")}}
	}
	root := filepath.Dir(questions)
	suite, labels := &Suite{}, map[textID]json.RawMessage{}
	suite.Secret = []string{filepath.Join(root, "da-dev-labels.jsonl")}
	if file := suite.Secret[0]; !present(file) {
		suite.Missing = append(suite.Missing, file)
	} else if err := readRows(file, func(row struct {
		ID      textID          `json:"id"`
		Answers json.RawMessage `json:"common_answers"`
	}) error {
		labels[row.ID] = row.Answers
		return nil
	}); err != nil {
		return nil, err
	}
	tables := filepath.Join(root, "da-dev-tables")
	err := readRows(questions, func(row struct {
		ID          textID   `json:"id"`
		Question    string   `json:"question"`
		Constraints string   `json:"constraints"`
		Format      string   `json:"format"`
		File        string   `json:"file_name"`
		Level       string   `json:"level"`
		Concepts    []string `json:"concepts"`
	}) error {
		task := Task{ID: string(row.ID), Question: row.Question, Level: row.Level,
			Kind:       strings.Join(row.Concepts, ", "),
			Guidelines: "Constraints: " + row.Constraints + "\nAnswer format: " + row.Format,
			Data:       tables, Files: []string{row.File}, Gold: labels[row.ID]}
		if file := filepath.Join(tables, row.File); row.File == "" || !present(file) {
			task.Missing = append(task.Missing, file)
		}
		if task.Gold == nil {
			task.Missing = append(task.Missing, "label of question "+task.ID)
		}
		suite.Tasks = append(suite.Tasks, task)
		return nil
	})
	return suite, err
}

// readDABenchAnswers reads lines of {id, response}.
func readDABenchAnswers(path string) (answers []Answer, err error) {
	err = readRows(path, func(row struct {
		ID       textID          `json:"id"`
		Response json.RawMessage `json:"response"`
	}) error {
		answers = append(answers, Answer{ID: string(row.ID), Value: row.Response})
		return nil
	})
	return answers, err
}

// scoreDABench compares the fields @name[value] that the label names (eval_closed_form.py).
// Value is the share of correct fields; for ABQ an answer is correct if all its fields are.
// Fixed corrects these faults:
//
//   - a value ends at its first ']', and is not found if it contains a line break
//   - case, surrounding blanks and thousands separators make a value wrong
//   - if a label has a field twice (id 734), only the last value is required
//
// Labels that do not follow from their question are kept, and Detail says so (8: the sample's
// deviation, not the population's; 674: depends on a random state that is not given).
func scoreDABench(ctx context.Context, s Scorer, t Task, a *Answer) (Score, error) {
	var label [][2]string
	if err := json.Unmarshal(t.Gold, &label); err != nil {
		return Score{}, fmt.Errorf("a label is [[name, value], …]: %w", err)
	}
	said := ""
	if a != nil {
		said = a.Text()
	}
	got, err := s.text(ctx, t, "dabench", said, label, s.Compat == Fixed)
	score := Score{Metric: "fields", Value: got.Score, Parts: got.Parts, Detail: got.Detail}
	if doubt := doubtfulLabels[t.ID]; doubt != "" {
		score.Detail = doubt
	}
	return score, err
}

var doubtfulLabels = map[string]string{
	"8":   "the label has the sample's deviation, the question asks for the population's",
	"674": "the label depends on a random state that the question does not give",
}

// totalDABench returns the accuracy by question (ABQ), by question in proportion to its
// fields (PSAQ) and by field (UASQ), and ABQ by level and by concept. Unlike in the public
// code, unanswered questions count.
func totalDABench(tasks []Task, scores []Score, _ map[string]*Answer) []Total {
	whole := slices.Clone(scores)
	var fields []Score
	for i := range whole {
		whole[i].Value = math.Floor(whole[i].Value) // all fields or nothing
		for _, right := range scores[i].Parts {
			fields = append(fields, Score{Value: right})
		}
	}
	totals := []Total{mean("", "ABQ", whole, nil, 2), mean("", "PSAQ", scores, nil, 2),
		mean("", "UASQ", fields, nil, 2)}
	totals = append(totals, groups("level", tasks, whole, Task.level, 2)...)
	concepts := func(i int) []string { return strings.Split(tasks[i].Kind, ", ") }
	var all []string
	for i := range tasks {
		all = append(all, concepts(i)...)
	}
	slices.Sort(all)
	for _, c := range slices.Compact(all) {
		if c != "" {
			totals = append(totals, mean("concept", c, whole,
				func(i int) bool { return slices.Contains(concepts(i), c) }, 2))
		}
	}
	return totals
}
