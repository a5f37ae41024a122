package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// openDABench reads InfiAgent-DABench's development set: questions, labels and
// tables (InfiAgent/InfiAgent, examples/DA-Agent/data).
func openDABench(path string, _ Setting) (*Suite, error) {
	if isFile(path) {
		path = filepath.Dir(path)
	}
	questions := firstPresent(path, "da-dev-questions.jsonl", "data/da-dev-questions.jsonl", "examples/DA-Agent/data/da-dev-questions.jsonl")
	if questions == "" {
		return nil, &MissingError{What: []string{filepath.Join(path, "da-dev-questions.jsonl")}}
	}
	root := filepath.Dir(questions)
	suite, labels := &Suite{}, map[textID]json.RawMessage{}
	suite.Secret = []string{filepath.Join(root, "da-dev-labels.jsonl")}
	if file := suite.Secret[0]; !present(file) {
		suite.Missing = append(suite.Missing, file)
	} else if err := readLines(file, func(raw json.RawMessage) error {
		var row struct {
			ID      textID          `json:"id"`
			Answers json.RawMessage `json:"common_answers"`
		}
		err := json.Unmarshal(raw, &row)
		labels[row.ID] = row.Answers
		return err
	}); err != nil {
		return nil, err
	}
	tables := filepath.Join(root, "da-dev-tables")
	err := readLines(questions, func(raw json.RawMessage) error {
		var row struct {
			ID          textID   `json:"id"`
			Question    string   `json:"question"`
			Constraints string   `json:"constraints"`
			Format      string   `json:"format"`
			File        string   `json:"file_name"`
			Level       string   `json:"level"`
			Concepts    []string `json:"concepts"`
		}
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}
		task := Task{ID: string(row.ID), Question: row.Question, Level: row.Level, Kind: strings.Join(row.Concepts, ", "),
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

// readDABenchAnswers reads {id, response} by the line.
func readDABenchAnswers(path string) ([]Answer, error) {
	var answers []Answer
	err := readLines(path, func(raw json.RawMessage) error {
		var row struct {
			ID       textID          `json:"id"`
			Response json.RawMessage `json:"response"`
		}
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}
		answers = append(answers, Answer{ID: string(row.ID), Value: row.Response})
		return nil
	})
	return answers, err
}

// submitDABench writes {id, response} by the line, ids as numbers, as the
// labels have them.
func submitDABench(w io.Writer, _ []Task, answers []Answer) error {
	type row struct {
		ID       json.RawMessage `json:"id"`
		Response string          `json:"response"`
	}
	rows := make([]row, len(answers))
	for i, a := range answers {
		id := json.RawMessage(a.ID)
		if !json.Valid(id) {
			id = Said(a.ID)
		}
		rows[i] = row{id, a.Text()}
	}
	return writeLines(w, rows)
}

// scoreDABench compares the fields @name[value] that the label names
// (eval_closed_form.py). Value is the part of them that is right; an answer
// counts as right in ABQ when all are. What Fixed puts right:
//
//   - a value with a ']' in it is cut there, one with a line break is not seen
//   - case, blanks around a value and thousands' commas make it wrong
//   - of a field that a label has twice (id 734) only the last is asked for
//
// Labels that do not follow from their question (8: sample, not population,
// deviation; 674: depends on a random state that is not given) stay: see Detail.
func scoreDABench(_ context.Context, s Scorer, t Task, a *Answer) (Score, error) {
	var label [][2]string
	if err := json.Unmarshal(t.Gold, &label); err != nil {
		return Score{}, fmt.Errorf("a label is [[name, value], …]: %w", err)
	}
	fixed := s.Compat == Fixed
	gold := fieldsOf(label, fixed)
	said := map[string][]string{}
	if a != nil {
		said = fieldsOf(extractFields(a.Text(), fixed), fixed)
	}
	score := Score{Metric: "fields", Parts: map[string]float64{}}
	right, of := 0, 0
	for name, values := range gold {
		for i, value := range values {
			of++
			key := name
			if i > 0 {
				key = fmt.Sprintf("%s#%d", name, i+1)
			}
			score.Parts[key] = 0
			if i < len(said[name]) && sameField(said[name][i], value, fixed) {
				score.Parts[key] = 1
				right++
			}
		}
	}
	if of > 0 {
		score.Value = float64(right) / float64(of)
	}
	if doubt := map[string]string{"8": "the label has the sample's deviation, the question asks for the population's",
		"674": "the label depends on a random state that the question does not give"}[t.ID]; doubt != "" {
		score.Detail = doubt
	}
	return score, nil
}

var simpleField = regexp.MustCompile(`@(` + pyWord + `+)\[(.*?)\]`)

// extractFields finds @name[value] in a text. Fixed lets values hold balanced
// brackets and line breaks.
func extractFields(text string, fixed bool) [][2]string {
	var found [][2]string
	if !fixed {
		for _, m := range simpleField.FindAllStringSubmatch(text, -1) {
			found = append(found, [2]string{m[1], m[2]})
		}
		return found
	}
	head := regexp.MustCompile(`@(` + pyWord + `+)\[`)
	for {
		at := head.FindStringSubmatchIndex(text)
		if at == nil {
			return found
		}
		name, rest := text[at[2]:at[3]], text[at[1]:]
		depth := 1
		end := strings.IndexFunc(rest, func(r rune) bool {
			switch r {
			case '[':
				depth++
			case ']':
				depth--
			}
			return depth == 0
		})
		if end < 0 { // never closed: as far as the first bracket, if any
			end = strings.IndexByte(rest, ']')
		}
		if end < 0 {
			return found
		}
		found = append(found, [2]string{name, rest[:end]})
		text = rest[end+1:]
	}
}

// fieldsOf gathers values by name: the last of each or, in order, all.
func fieldsOf(pairs [][2]string, all bool) map[string][]string {
	fields := map[string][]string{}
	for _, p := range pairs {
		if all {
			fields[p[0]] = append(fields[p[0]], p[1])
		} else {
			fields[p[0]] = []string{p[1]}
		}
	}
	return fields
}

var thousands = regexp.MustCompile(`^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$`)

func sameField(said, gold string, fixed bool) bool {
	if fixed {
		tidy := func(s string) string {
			s = strings.Trim(pyLower(pyStrip(s)), `"'`)
			if thousands.MatchString(s) {
				s = strings.ReplaceAll(s, ",", "")
			}
			return s
		}
		said, gold = tidy(said), tidy(gold)
	}
	if said == gold {
		return true
	}
	x, ok := pyFloat(said)
	y, okToo := pyFloat(gold)
	return ok && okToo && math.Abs(x-y) < 1e-6
}

// totalDABench is accuracy by question (ABQ), by question in proportion to its
// fields (PSAQ) and by field (UASQ), and ABQ by level and by concept. The public
// code leaves questions without an answer out; here they count.
func totalDABench(tasks []Task, scores []Score, _ map[string]*Answer) []Total {
	whole := slices.Clone(scores)
	var fields []Score
	for i := range whole {
		whole[i].Value = math.Floor(whole[i].Value) // all fields or nothing
		for _, right := range scores[i].Parts {
			fields = append(fields, Score{Value: right})
		}
	}
	totals := []Total{mean("", "ABQ", whole, nil, 2), mean("", "PSAQ", scores, nil, 2), mean("", "UASQ", fields, nil, 2)}
	totals = append(totals, groups("level", tasks, whole, func(t Task) string { return t.Level }, 2)...)
	var concepts []string
	for _, t := range tasks {
		for _, c := range strings.Split(t.Kind, ", ") {
			if c != "" && !slices.Contains(concepts, c) {
				concepts = append(concepts, c)
			}
		}
	}
	slices.Sort(concepts)
	for _, c := range concepts {
		totals = append(totals, mean("concept", c, whole, func(i int) bool { return slices.Contains(strings.Split(tasks[i].Kind, ", "), c) }, 2))
	}
	return totals
}
