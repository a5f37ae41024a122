package bench

import (
	"cmp"
	"path/filepath"
)

// contextFiles are the files of data/context, which all tasks share.
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
	for _, name := range contextFiles {
		if file := filepath.Join(context, name); !present(file) {
			suite.Missing = append(suite.Missing, file)
		}
	}
	if !present(context) {
		suite.Missing, context = []string{context}, ""
	}
	published := false
	err := suite.read(tasks, func(row taskRow, t *Task) error {
		t.Data, t.Missing = context, suite.Missing
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
