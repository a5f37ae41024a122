package bench

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
)

// openDABench reads InfiAgent-DABench's development set: questions, labels and
// tables (InfiAgent/InfiAgent, examples/DA-Agent/data).
func openDABench(path string, _ Setting) (*Suite, error) {
	if isFile(path) {
		path = filepath.Dir(path)
	}
	questions, err := firstPresent(path, "da-dev-questions.jsonl", "data/da-dev-questions.jsonl",
		"examples/DA-Agent/data/da-dev-questions.jsonl")
	if err != nil {
		return nil, err
	}
	root := filepath.Dir(questions)
	file, labels := filepath.Join(root, "da-dev-labels.jsonl"), map[textID]json.RawMessage{}
	suite := &Suite{Secret: []string{file}}
	err = readRows(file, func(row taskRow) error {
		labels[row.ID] = row.Label
		return nil
	})
	if missing, ok := errors.AsType[*MissingError](err); ok {
		suite.Missing = missing.What
	} else if err != nil {
		return nil, err
	}
	tables := filepath.Join(root, "da-dev-tables")
	err = suite.read(questions, func(row taskRow, t *Task) error {
		t.Kind, t.Data, t.Files = strings.Join(row.Concepts, ", "), tables, []string{row.File}
		t.Guidelines = "Constraints: " + row.Constraints + "\nAnswer format: " + row.Format
		t.Gold = labels[row.ID]
		return nil
	})
	return suite, err
}

// daBenchTotals returns the accuracy by question in proportion to its fields (PSAQ) and by field
// (UASQ); the main figure is that by question (ABQ). Unlike in the public code, unanswered questions
// count.
func daBenchTotals(scores []Score) []Total {
	var fields []Score
	for _, score := range scores {
		for _, right := range score.Parts {
			fields = append(fields, Score{Value: &right})
		}
	}
	return []Total{meanOf("", "PSAQ", scores), meanOf("", "UASQ", fields)}
}
