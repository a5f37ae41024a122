package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"dsstar/notebook/disk"
)

// A MissingError names required files or values that are missing.
type MissingError struct{ What []string }

func (e *MissingError) Error() string { return "missing: " + strings.Join(e.What, ", ") }

// A taskRow is a task as the benchmarks write it; each has some of the fields.
type taskRow struct {
	ID                                       json.RawMessage
	TaskID                                   json.RawMessage `json:"task_id"`
	Question, Query, Instruction, Guidelines string
	Level, Difficulty, Hardness              string
	Answer                                   json.RawMessage
	AnswerType                               string    `json:"answer_type"`
	Sources                                  oneOrMore `json:"data_sources"`
	Constraints, Format                      string    // DABench
	File                                     string    `json:"file_name"`
	Concepts                                 []string
	Label                                    json.RawMessage `json:"common_answers"`
	DataDir                                  string          `json:"data_dir"` // a user's own tasks
	Scorer, Benchmark                        string
	Config                                   map[string]any `json:"scorer_config"`
}

// task returns what all benchmarks write of a task.
func (row taskRow) task() Task {
	return Task{ID: cmp.Or(textOf(row.ID), textOf(row.TaskID)), Guidelines: row.Guidelines,
		Kind:     row.AnswerType,
		Question: cmp.Or(row.Question, row.Query, row.Instruction),
		Level:    cmp.Or(row.Level, row.Difficulty, strings.ToLower(row.Hardness))}
}

// stringOrNaN matches a JSON string, or the NaN that Python writes for missing values.
var stringOrNaN = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|NaN`)

// readRows calls row for each JSON object of a file, one per line or in an array. NaN is read as
// null. The error is a *MissingError if the file does not exist.
func readRows[T any](path string, row func(value T, raw json.RawMessage) error) error {
	text, err := disk.ReadFile(path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return &MissingError{What: []string{path}}
	}
	if err != nil {
		return err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	text = stringOrNaN.ReplaceAllFunc(text, func(found []byte) []byte {
		if found[0] == 'N' {
			return []byte("null")
		}
		return found
	})
	var rows []json.RawMessage
	if json.Unmarshal(text, &rows) != nil {
		rows = nil
		for line := range bytes.Lines(text) {
			rows = append(rows, bytes.TrimSpace(line))
		}
	}
	for i, raw := range rows {
		if len(raw) == 0 {
			continue
		}
		var value T
		err := json.Unmarshal(raw, &value)
		if err == nil {
			err = row(value, raw)
		}
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", path, i+1, err)
		}
	}
	return nil
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

// present reports whether path exists.
func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isFile reports whether path is a file.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
