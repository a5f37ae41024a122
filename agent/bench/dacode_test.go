package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// TestDACodeScores compares scores with those of the public code, and without its faults: an entry
// is a name, an eval configuration, what is right and what was said, both a file (of a database its
// SQL), or a text if nothing is right; and the two scores.
func TestDACodeScores(t *testing.T) {
	err := readRows("testdata/dacode.json", func(raw, _ json.RawMessage) error {
		task := Task{Rules: "dacode"}
		var name, gold, said string
		var upstream, fixed float64
		row := []any{&name, &task.Gold, &gold, &said, &upstream, &fixed}
		if err := json.Unmarshal(raw, &row); err != nil {
			return err
		}
		root := write(t, map[string]string{"gold/r.csv": gold, "out/r.csv": said})
		task.GoldDir = filepath.Join(root, "gold")
		answer := Answer{Value: Said("r.csv"), Dir: filepath.Join(root, "out")}
		switch {
		case gold == "":
			answer.Value = Said(said)
		case strings.HasPrefix(gold, "create table"):
			answer.Value = Said("r.db")
			for folder, sql := range map[string]string{task.GoldDir: gold, answer.Dir: said} {
				do(t, "import sqlite3\ndb = sqlite3.connect(%q)\ndb.executescript(%q)\ndb.commit()\ndb.close()",
					filepath.Join(folder, "r.db"), sql)
			}
		}
		check(t, name, task, answer, upstream, fixed)
		return nil
	})
	pyenvtest.OK(t, err)
}

// TestChart extracts charts from the code that draws them and compares them. Upstream checks that
// gold has every colour of the answer; Fixed also checks the reverse.
func TestChart(t *testing.T) {
	bar := func(values, colours, title string) string {
		return fmt.Sprintf("import matplotlib.pyplot as plt\nfig, ax = plt.subplots(figsize=(8, 6))\n"+
			"ax.bar(['a', 'b'], %s, color=%s)\nax.set_title('%s')\nax.set_xlabel('Month')\n"+
			"plt.savefig('r.png')\nplt.close()\n", values, colours, title)
	}
	config := json.RawMessage(`{"func": ["compare_image"], "config": {"task": "data visualization",
		"type": "bar"}, "result": [{"multi": true, "file": ["r.png", "dabench/plot.json", "dabench/result.npy"]}],
		"options": [{"keys": ["color", "figsize", "graph_title", "x_label", "type"]}]}`)
	right := bar("[3, 1]", "['red', 'blue']", "Sales")
	gold := write(t, map[string]string{"plot.py": right})
	do(t, "import os, runpy; os.chdir(%q); runpy.run_path('plot.py')", gold)
	scorer := Scorer{Compat: Fixed, Open: real(t)}
	pyenvtest.OK(t, scorer.chart(t.Context(), Task{Data: gold}, gold))
	for _, name := range []string{"plot.json", "result.npy"} {
		pyenvtest.OK(t, os.Rename(filepath.Join(gold, "dabench", name), filepath.Join(gold, name)))
	}
	settings, _ := os.ReadFile(filepath.Join(gold, "plot.json"))
	for _, part := range []string{`"type": "bar"`, `"color": ["#0000ff", "#ff0000"]`, `"figsize": [8.0, 6.0]`,
		`"graph_title": "Sales"`, `"x_label": "Month"`, `"y_label": ""`, `"xtick_labels": ["a", "b"]`} {
		if !strings.Contains(string(settings), part) {
			t.Errorf("the settings lack %s: %s", part, settings)
		}
	}
	block := "def main():\n    " + strings.ReplaceAll(strings.TrimSpace(right), "\n", "\n    ") +
		"\nif __name__ == '__main__':\n    main()\n    if True:\n        plt.savefig('r.png')\n"
	for _, v := range []struct {
		name, code      string
		upstream, fixed float64
	}{
		{"the same", bar("[3, 1]", "['#ff0808', '#0808ff']", "sales"), 1, 1}, // 11.3 of 15
		{"other data", bar("[3, 2]", "['red', 'blue']", "Sales"), 0, 0},
		{"another title", bar("[3, 1]", "['red', 'blue']", "Costs"), 0, 0},
		{"another colour", bar("[3, 1]", "['#ff0c0c', 'blue']", "Sales"), 0, 0}, // 17.0
		{"fewer colours", bar("[3, 1]", "'red'", "Sales"), 1, 0},
		{"in a block", "import matplotlib.pyplot as plt\n" + block, 1, 1},
		{"no code", "", 0, 0},
		{"code that fails", "import matplotlib.pyplot as plt\nplt.savefig('x')\n1/0\n", 0, 0},
		{"no chart", "import matplotlib.pyplot as plt\nplt.figure()\nplt.savefig('r.png')\n", 0, 0},
	} {
		dir := write(t, map[string]string{"plot2.py": v.code})
		do(t, "from PIL import Image; Image.new('RGB', (80, 60)).save(%q)", filepath.Join(dir, "r.png"))
		pyenvtest.Check(t, scorer.chart(t.Context(), Task{Data: gold}, dir))
		task := Task{Rules: "dacode", Gold: config, GoldDir: gold}
		check(t, v.name, task, Answer{Value: Said("r.png"), Dir: dir}, v.upstream, v.fixed)
	}
}

// A fake session prints what it is asked to run, or ends as that says. It counts the open ones.
type fake struct {
	open   *int
	closed bool
}

func (*fake) Execute(_ context.Context, code string) (notebook.Execution, error) {
	switch {
	case strings.Contains(code, "it fails"):
		return notebook.Execution{Status: notebook.Died, Reason: "the kernel died"}, nil
	case strings.Contains(code, "it is lost"):
		return notebook.Execution{}, errors.New("no kernel")
	case strings.Contains(code, "odd mark"):
		code = answerMark + "nonsense\n"
	}
	return notebook.Execution{Status: notebook.OK,
		Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: code}}}, nil
}

func (s *fake) Close() error {
	if !s.closed {
		*s.open--
	}
	s.closed = true
	return nil
}

// TestPython: one session runs many pieces of code, until one fails. An answer that ends the scorer's
// code, or has it print something else, is wrong. A kernel that is lost is not the answer's fault.
func TestPython(t *testing.T) {
	opened, open := 0, 0
	s := Scorer{Open: func(_ context.Context, dir string, _ []string, _ string) (Session, error) {
		opened, open = opened+1, open+1
		_, err := os.Stat(filepath.Join(dir, "files"))
		return &fake{open: &open}, err
	}}
	t.Setenv("TMPDIR", t.TempDir())
	task := Task{ID: "a", Rules: "dacode", Gold: Said("gold"), Data: t.TempDir()}
	p := s.reading(nil, nil)
	for _, said := range []string{"other", "odd mark", "it fails", "other", "it is lost", "other"} {
		score, err := s.score(t.Context(), p, task, Answer{Value: Said(said)})
		if lost := said == "it is lost"; (err != nil) != lost || !lost && (*score.Value != 0 || score.Detail == "") {
			t.Errorf("%s: %+v, %v", said, score, err)
		}
		if err := s.chart(t.Context(), task, said); (err != nil) != (said == "it is lost") {
			t.Errorf("%s: chart: %v", said, err)
		}
	}
	p.close()
	p.close()
	left := pyenvtest.Must(os.ReadDir(os.TempDir()))
	if opened != 3+6 || open != 0 || len(left) > 0 { // each chart has its own
		t.Errorf("%d sessions were opened, %d are open, %v is left", opened, open, left)
	}
}
