package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// openDir reads the user's own tasks: an index.json, which is an array of
//
//	{"id", "question", "guidelines", "data_dir", "answer", "scorer", …}
//
// with data_dir relative to the index. scorer is dabstep, kramabench (answer_type
// says which of its metrics), infiagent (answer is an object of fields) or dacode
// (scorer_config is a line of its eval configuration without id and result).
func openDir(path string, s Setting) (*Suite, error) {
	index := path
	if !isFile(index) {
		index = filepath.Join(path, "index.json")
	}
	suite := &Suite{Secret: []string{index}}
	return suite, suite.read(index, func(row taskRow, t *Task) error {
		root := filepath.Dir(index)
		t.Domain, t.Rules, t.Data = row.Benchmark, row.Scorer, filepath.Join(root, row.DataDir)
		if s.Oracle && len(row.Sources) > 0 {
			t.useSources(row.Sources)
		}
		return row.own(t, root)
	})
}

// own sets the right answer of a user's own task, in the form of the rules that it names.
func (row taskRow) own(t *Task, root string) error {
	if nothing(row.Answer) {
		return nil
	}
	t.Gold = row.Answer
	switch t.Rules {
	case "", "dabstep":
		t.Rules, t.Gold = "dabstep", Said(textOf(row.Answer))
	case "kramabench":
	case "infiagent", "dabench":
		if t.Rules = "dabench"; !bytes.HasPrefix(bytes.TrimSpace(row.Answer), []byte("{")) {
			return errors.New("the answer of an infiagent task is an object of fields")
		}
	case "dacode":
		return row.dacode(t, root)
	default:
		return fmt.Errorf("there is no scorer %q; there are dabstep, kramabench, infiagent, dacode",
			t.Rules)
	}
	return nil
}

// dacode sets t.Gold to a line of DA-Code's eval configuration.
func (row taskRow) dacode(t *Task, root string) error {
	config := map[string]any{}
	if len(row.Config) > 0 {
		if err := json.Unmarshal(row.Config, &config); err != nil {
			return fmt.Errorf("scorer_config: %w", err)
		}
	}
	var files struct {
		Gold   []string `json:"gold_files"`
		Output string   `json:"output_file"`
	}
	result := map[string]any{"number": []any{row.Answer}}
	if json.Unmarshal(row.Answer, &files); len(files.Gold) > 0 { // otherwise the answer itself
		t.GoldDir = filepath.Join(root, filepath.Dir(files.Gold[0]))
		var names []string
		for _, gold := range files.Gold {
			names = append(names, filepath.Base(gold))
		}
		if files.Output != "" && len(names) == 1 && names[0] != files.Output {
			return fmt.Errorf("the file with the right answer must be named %s, as the output is",
				files.Output)
		}
		result = map[string]any{"file": names}
	}
	config["id"], config["result"] = t.ID, []any{result}
	var err error
	t.Gold, err = json.Marshal(config)
	return err
}
