package bench

import (
	"bytes"
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

// A MissingError names required files or values that are missing.
type MissingError struct {
	What []string
}

func (e *MissingError) Error() string {
	return "missing: " + strings.Join(e.What, ", ")
}

// An AnswersError lists the answers that do not fit the tasks, by task id.
type AnswersError struct {
	Unknown    []string // no such task
	Twice      []string // more than one answer
	Null       []string // no value (only for a submission)
	Unanswered []string // no answer (only for a submission)
}

func (e *AnswersError) Error() string {
	var parts []string
	for _, part := range []struct {
		what string
		ids  []string
	}{
		{"answers to tasks that are not there", e.Unknown}, {"more than one answer to", e.Twice},
		{"null answers to", e.Null}, {"no answer to", e.Unanswered},
	} {
		if len(part.ids) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", part.what, Some(part.ids, 5)))
		}
	}
	return strings.Join(parts, "; ")
}

// Some joins the first names, up to most of them, and says how many more there are.
func Some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Split separates the answers to the suite's tasks from all others, keeping their order.
func (s *Suite) Split(answers []Answer) (to, strange []Answer) {
	tasks := s.ByID()
	for _, a := range answers {
		if _, known := tasks[a.ID]; known {
			to = append(to, a)
		} else {
			strange = append(strange, a)
		}
	}
	return to, strange
}

// match returns the answers by task id. whole requires one for every task.
func (s *Suite) match(answers []Answer, whole bool) (map[string]*Answer, error) {
	tasks := s.ByID()
	byID := make(map[string]*Answer, len(answers))
	var bad AnswersError
	for i := range answers {
		a := &answers[i]
		switch _, known := tasks[a.ID]; {
		case !known:
			bad.Unknown = append(bad.Unknown, cmp.Or(a.ID, "(no id)"))
		case byID[a.ID] != nil:
			if !slices.Contains(bad.Twice, a.ID) {
				bad.Twice = append(bad.Twice, a.ID)
			}
		default:
			byID[a.ID] = a
			if whole && (a.Value == nil || string(a.Value) == "null") {
				bad.Null = append(bad.Null, a.ID)
			}
		}
	}
	for _, t := range s.Tasks {
		if whole && byID[t.ID] == nil {
			bad.Unanswered = append(bad.Unanswered, t.ID)
		}
	}
	if len(bad.Unknown)+len(bad.Twice)+len(bad.Null)+len(bad.Unanswered) > 0 {
		return byID, &bad
	}
	return byID, nil
}

// readRows calls row for each JSON object of a file: see readLines.
func readRows[T any](path string, row func(T) error) error {
	return readLines(path, func(raw json.RawMessage) error {
		var value T
		if err := json.Unmarshal(raw, &value); err != nil {
			return err
		}
		return row(value)
	})
}

// readLines calls row for each JSON object of a file, one per line or in an array. NaN, which
// Python writes for missing values, is read as null.
func readLines(path string, row func(raw json.RawMessage) error) error {
	text, err := readFile(path)
	if err != nil {
		return err
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '[' {
		var rows []json.RawMessage
		if err := json.Unmarshal(withoutNaN(trimmed), &rows); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for i, raw := range rows {
			if err := row(raw); err != nil {
				return fmt.Errorf("%s: entry %d: %w", path, i+1, err)
			}
		}
		return nil
	}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := row(withoutNaN(line)); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, i+1, err)
		}
	}
	return nil
}

// withoutNaN replaces each NaN outside of strings with null.
func withoutNaN(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) || json.Valid(text) {
		return text
	}
	var out []byte
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case !quoted && bytes.HasPrefix(text[i:], []byte("NaN")):
			out = append(out, "null"...)
			i += len("NaN") - 1
			continue
		case quoted && c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
		case c == '"':
			quoted = !quoted
		}
		out = append(out, text[i])
	}
	return out
}

// readFile reads a file. The error is a *MissingError if the file does not exist.
func readFile(path string) ([]byte, error) {
	text, err := disk.ReadFile(path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{What: []string{path}}
	}
	return text, err
}

// A textID is an id that some files write as a number and others as a string.
type textID string

func (id *textID) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*id = textID(text)
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(raw, &number); err != nil {
		return fmt.Errorf("an id must be text or a number, not %s", raw)
	}
	*id = textID(number)
	return nil
}

// present reports whether path exists.
func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// firstPresent returns the first of the paths below root that exists, or "".
func firstPresent(root string, names ...string) string {
	for _, name := range names {
		if path := filepath.Join(root, name); present(path) {
			return path
		}
	}
	return ""
}

// isFile reports whether path is a file.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
