package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// Open reads all tasks of the benchmark from a copy as its users download it, or from a file of
// tasks. The error is a *MissingError if there are none; the suite and its tasks name whatever else
// is missing. Their paths are absolute.
func (b *Benchmark) Open(path string, s Setting) (*Suite, error) {
	suite := &Suite{Benchmark: b}
	path, err := filepath.Abs(path)
	if err = cmp.Or(err, suite.open(path, s)); err != nil {
		return nil, fmt.Errorf("read %s: %w", b.Title, err)
	}
	return suite, nil
}

func (s *Suite) open(path string, setting Setting) error {
	root, files := s.find(path, cmp.Or(setting.Split, "all"))
	if files == nil {
		return &MissingError{What: s.Missing}
	}
	gold := map[string]json.RawMessage{}
	if name := s.Benchmark.gold; name != "" {
		file := filepath.Join(root, name)
		s.Secret = append(s.Secret, file)
		err := readRows(file, func(row taskRow, raw json.RawMessage) error {
			if row.Label != nil {
				raw = row.Label
			}
			gold[textOf(row.ID)] = raw
			return nil
		})
		if missing, ok := errors.AsType[*MissingError](err); ok {
			s.Missing = append(s.Missing, missing.What...)
		} else if err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := s.read(file, root, gold, setting); err != nil {
			return err
		}
	}
	return nil
}

// find returns the root of the copy at path and its files of tasks, and notes those that it lacks.
func (s *Suite) find(path, split string) (root string, files []string) {
	b := s.Benchmark
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		up := strings.Repeat("../", strings.Count(b.tasks[0], "/"))
		return filepath.Join(filepath.Dir(path), up), []string{path}
	}
	root = filepath.Join(path, b.root)
	for _, name := range b.tasks {
		file := filepath.Join(root, strings.ReplaceAll(name, "SPLIT", split))
		if disk.Exists(file) {
			files = append(files, file)
		} else {
			s.Missing = append(s.Missing, file)
		}
	}
	return root, files
}

// read adds the tasks of a file. A right answer that is empty is not public.
func (s *Suite) read(file, root string, gold map[string]json.RawMessage, setting Setting) error {
	b, published := s.Benchmark, false
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	err := readRows(file, func(row taskRow, _ json.RawMessage) error {
		t := row.task()
		if t.ID == "" || slices.ContainsFunc(s.Tasks, func(o Task) bool { return o.ID == t.ID }) {
			return fmt.Errorf("the id %q is empty or taken", t.ID)
		}
		t.Rules, t.Gold = b.Name, gold[t.ID]
		if b.gold == "" && !nothing(row.Answer) && textOf(row.Answer) != "" {
			t.Gold, published = row.Answer, true
		}
		t.Data = filepath.Join(root, strings.NewReplacer("ID", t.ID, "NAME", name).Replace(b.data))
		if b.task != nil {
			if err := b.task(row, &t, root); err != nil {
				return err
			}
		}
		t.Data = cmp.Or(setting.Data, t.Data)
		if setting.Oracle && row.Sources != nil && disk.Exists(t.Data) {
			t.useSources(row.Sources)
		}
		t.lack()
		s.Tasks = append(s.Tasks, t)
		return nil
	})
	if published {
		s.Secret = append(s.Secret, file)
	}
	return err
}

// lack notes what the task lacks of its data and of its right answer.
func (t *Task) lack() {
	t.NoGold = slices.DeleteFunc(t.goldFiles(), disk.Exists)
	if !disk.Exists(t.Data) {
		t.NoData = append(t.NoData, t.Data)
		return
	}
	for _, name := range t.Files {
		if file := filepath.Join(t.Data, name); name == "" || !disk.Exists(file) {
			t.NoData = append(t.NoData, file)
		}
	}
}

// kramaTask: an id is like archeology-hard-12. All tasks of a domain have its lake.
func kramaTask(_ taskRow, t *Task, _ string) error {
	t.Domain = filepath.Base(filepath.Dir(t.Data))
	if parts := strings.Split(t.ID, "-"); len(parts) > 1 {
		t.Level = parts[1]
	}
	return nil
}

func daBenchTask(row taskRow, t *Task, _ string) error {
	t.Kind, t.Files = strings.Join(row.Concepts, ", "), []string{row.File}
	t.Guidelines = "Constraints: " + row.Constraints + "\nAnswer format: " + row.Format
	return nil
}

// daCodeTask: the repository has 100 of the 500 folders; the others are missing until its archives
// are unpacked there.
func daCodeTask(_ taskRow, t *Task, root string) error {
	t.GoldDir = filepath.Join(root, "gold", t.ID)
	config := t.eval()
	t.Domain, t.Kind = config.Config.Task, cmp.Or(config.Config.Type, config.Config.Task)
	return nil
}

// ownTask: a row of the user's own tasks is
//
//	{"id", "question", "guidelines", "data_dir", "answer", "scorer", …}
//
// with data_dir relative to the index. scorer is dabstep, kramabench (answer_type
// says which of its metrics), infiagent (answer is an object of fields) or dacode
// (scorer_config is a line of its eval configuration without id and result).
func ownTask(row taskRow, t *Task, root string) error {
	t.Domain, t.Data = row.Benchmark, filepath.Join(root, row.DataDir)
	t.Rules = cmp.Or(map[string]string{"infiagent": "dabench"}[row.Scorer], row.Scorer, "dabstep")
	b, err := Find(t.Rules)
	switch {
	case t.Gold == nil:
		return nil
	case err != nil || b.scorer.function == "":
		return fmt.Errorf("there is no scorer %q; there are dabstep, kramabench, infiagent, dacode",
			row.Scorer)
	case t.Rules == "dabench" && !bytes.HasPrefix(bytes.TrimSpace(t.Gold), []byte("{")):
		return errors.New("the answer of an infiagent task is an object of fields")
	case t.Rules == "dacode":
		return t.evaluate(row.Config, root)
	}
	return nil
}

// evaluate makes the right answer a line of DA-Code's eval configuration.
func (t *Task) evaluate(config map[string]any, root string) (err error) {
	var files struct {
		Gold []string `json:"gold_files"`
	}
	result := map[string]any{"number": []any{t.Gold}}
	if json.Unmarshal(t.Gold, &files); len(files.Gold) > 0 { // otherwise the answer itself
		t.GoldDir = filepath.Join(root, filepath.Dir(files.Gold[0]))
		result = map[string]any{"file": lists.Map(files.Gold, filepath.Base)}
	}
	line := map[string]any{"result": []any{result}}
	maps.Copy(line, config)
	t.Gold, err = json.Marshal(line)
	return err
}

// useSources restricts the task to the files below Data that sources name. A source is the
// path of a file or folder in the lake, or the end of that path, possibly with wildcards. "./"
// is the whole lake.
func (t *Task) useSources(sources []string) {
	if slices.Equal(sources, []string{"./"}) {
		return
	}
	var names []string
	_ = fs.WalkDir(os.DirFS(t.Data), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	t.Files = []string{}
	for _, source := range sources {
		found := named(names, source)
		if found == nil {
			t.NoData = append(t.NoData, filepath.Join(t.Data, source))
		}
		t.Files = append(t.Files, found...)
	}
	slices.Sort(t.Files)
	t.Files = slices.Compact(t.Files)
}

// named returns the names that a source means from the top of the lake or, if there are none, those
// of which any part is the source. Case is ignored, because some workloads misspell it.
func named(names []string, source string) (found []string) {
	wild := regexp.QuoteMeta(path.Clean(source))
	wild = strings.NewReplacer(`\*`, `[^/]*`, `\?`, `[^/]`).Replace(wild)
	for _, from := range []string{"^", "/"} {
		pattern := regexp.MustCompile("(?i)" + from + wild + "(?:/|$)")
		found = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !pattern.MatchString(name) })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

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
