package bench

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// contextFiles are the files of DABStep's data/context, which all tasks share.
var contextFiles = []string{
	"acquirer_countries.csv", "fees.json", "manual.md", "merchant_category_codes.csv",
	"merchant_data.json", "payments-readme.md", "payments.csv",
}

// openDABStep reads the data set huggingface.co/datasets/adyen/DABstep:
// tasks/{all,dev}.jsonl and context, at path or in path/data. path may also be a tasks file.
// The answers of the split "all" are not public.
func openDABStep(path string, s Setting) (*Suite, error) {
	tasks, name := path, cmp.Or(s.Split, "all")+".jsonl"
	if !isFile(path) {
		var err error
		if tasks, err = firstPresent(path, "data/tasks/"+name, "tasks/"+name); err != nil {
			return nil, err
		}
	}
	folder := filepath.Dir(tasks)
	suite := &Suite{Secret: []string{filepath.Join(folder, "dev.jsonl")}}
	context := filepath.Join(filepath.Dir(folder), "context")
	var missing []string
	for _, name := range contextFiles {
		missing = append(missing, filepath.Join(context, name))
	}
	if missing = slices.DeleteFunc(missing, present); !present(context) {
		missing, context = []string{context}, ""
	}
	published := false
	err := suite.read(tasks, func(row taskRow, t *Task) error {
		t.Data, t.NoData = context, missing
		if !nothing(row.Answer) {
			gold := textOf(row.Answer)
			t.Gold = Said(gold)
			published = published || gold != "" && gold != "null"
		}
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
	file, labels := filepath.Join(root, "da-dev-labels.jsonl"), map[string]json.RawMessage{}
	suite := &Suite{Secret: []string{file}}
	err = suite.lacks(readRows(file, func(row taskRow) error {
		labels[textOf(row.ID)] = row.Label
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return suite, suite.read(questions, func(row taskRow, t *Task) error {
		t.Kind, t.Data = strings.Join(row.Concepts, ", "), filepath.Join(root, "da-dev-tables")
		t.Files, t.Gold = []string{row.File}, labels[t.ID]
		t.Guidelines = "Constraints: " + row.Constraints + "\nAnswer format: " + row.Format
		return nil
	})
}

// kramaDomains are the domains of KramaBench, each with a workload and a data lake. Other workloads
// of a checkout (legal-tiny, quick-start-questions) do not belong to the benchmark.
var kramaDomains = []string{"archeology", "astronomy", "biomedical", "environment",
	"legal", "wildfire"}

// openKramaBench reads a checkout of github.com/mitdbg/KramaBench, or one of its workload
// files. A task's data is the whole lake of its domain or, in the oracle setting, the files
// that it names.
func openKramaBench(root string, s Setting) (*Suite, error) {
	suite := &Suite{Secret: []string{root}}
	if isFile(root) {
		root = filepath.Dir(filepath.Dir(root))
	} else {
		suite.Secret = nil
		for _, domain := range kramaDomains {
			suite.Secret = append(suite.Secret, filepath.Join(root, "workload", domain+".json"))
		}
	}
	for _, file := range suite.Secret {
		domain := strings.TrimSuffix(filepath.Base(file), ".json")
		lake := filepath.Join(root, "data", domain, "input")
		err := suite.lacks(suite.read(file, func(row taskRow, t *Task) error {
			t.Data, t.Domain = lake, domain
			if !nothing(row.Answer) {
				t.Gold = row.Answer
			}
			if parts := strings.Split(t.ID, "-"); len(parts) > 1 {
				t.Level = parts[1] // archeology-hard-12
			}
			if s.Oracle && present(lake) {
				t.useSources(row.Sources)
			}
			return nil
		}))
		if err != nil {
			return nil, err
		}
	}
	if len(suite.Missing) == len(suite.Secret) {
		return nil, &MissingError{What: []string{filepath.Join(root, "workload", "*.json")}}
	}
	return suite, nil
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
		for _, name := range names {
			if pattern.MatchString(name) {
				found = append(found, name)
			}
		}
		if found != nil {
			break
		}
	}
	return found
}
