package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/notebook"
)

func TestDACodeSuite(t *testing.T) {
	root := write(t, map[string]string{
		"da_code/configs/task/all.jsonl": dacodeTask("dm-csv-001", "Hard") +
			dacodeTask("plot-bar-001", "Easy") + dacodeTask("ml-cluster-001", "Easy"),
		"da_code/configs/eval/eval_all.jsonl": `{"id": "dm-csv-001",` +
			` "config": {"task": "data manipulation", "type": "csv", "hardness": "Hard"},` +
			` "func": ["compare_csv"], "result": [{"file": "r.csv"}], "options": [{}]}` + "\n" +
			`{"id": "plot-bar-001",` +
			` "config": {"task": "data visualization", "type": "bar", "hardness": "Easy"},` +
			` "func": ["compare_image"], "options": [{"keys": []}], "result": [{"multi": true,` +
			` "file": ["r.png", "dabench/plot.json", "dabench/result.npy"]}]}` + "\n" +
			`{"id": "ml-cluster-001", "config": {"task": "machine learning", "type": "cluster",` +
			` "metric": "silhouette", "hardness": "Easy"}, "func": ["compare_ml"],` +
			` "result": [{"file": "c.csv"}], "options": [{}]}`,
		"da_code/source/dm-csv-001/a.csv": "a\n1\n",
		"da_code/source/ml-cluster-001/a": "a",
		"da_code/gold/dm-csv-001/r.csv":   "a\n1\n",
	})
	suite := open(t, "dacode", root, Setting{})
	var got []string
	for _, task := range suite.Tasks {
		got = append(got, fmt.Sprintf("%s, %s, %s, %v", task.Level, task.Domain, task.Kind,
			below(filepath.Join(root, "da_code"), append(task.NoData, task.NoGold...)...)))
	}
	same(t, "tasks", []string{"hard, data manipulation, csv, []",
		"easy, data visualization, bar, [source/plot-bar-001 gold/plot-bar-001/r.png " +
			"gold/plot-bar-001/plot.json gold/plot-bar-001/result.npy]",
		"easy, machine learning, cluster, []"}, got)
	answers := []Answer{{ID: "dm-csv-001", Value: Said("r.csv"), Dir: suite.Tasks[0].GoldDir},
		{ID: "plot-bar-001", Value: Said("x"), Unfinished: true}}
	var stop *StopError
	if _, err := suite.Score(t.Context(), Scorer{}, suite.Tasks, answers); !errors.As(err, &stop) {
		t.Errorf("without Python: %v", err)
	}
	score := func() (got []string) {
		scores, err := suite.Score(t.Context(), Scorer{Open: real(t)}, suite.Tasks, answers)
		if err != nil {
			t.Fatal(err)
		}
		for _, score := range scores.Tasks {
			got = append(got, fmt.Sprint(score.Value != nil, " ", score.Detail))
		}
		same(t, "missing", len(suite.Tasks[1].NoGold), len(scores.Missing))
		return got
	}
	same(t, "without right answers", []string{"true ", "false the right answer is missing in this copy: " +
		strings.Join(suite.Tasks[1].NoGold, ", "), "true no answer"}, score())
	suite.Tasks[1].GoldDir = write(t, map[string]string{"r.png": "", "plot.json": "", "result.npy": ""})
	suite.Tasks[1].NoGold = nil
	same(t, "with them", []string{"true ", "true not finished", "true no answer"}, score())
}

func dacodeTask(id, hardness string) string {
	return fmt.Sprintf(`{"id": "%s", "type": "T", "instruction": "q", "hardness": "%s"}`, id,
		hardness) + "\n"
}

// TestDACodeScores compares scores with those of the public code, and without its faults: an entry
// is a name, an eval configuration, what is right and what was said, both a file (of a database its
// SQL), or a text if nothing is right; and the two scores.
func TestDACodeScores(t *testing.T) {
	err := readLines("testdata/dacode.json", func(raw json.RawMessage) error {
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
		for compat, want := range map[Compat]float64{Upstream: upstream, Fixed: fixed} {
			score := scoreOf(t, Scorer{Compat: compat, Open: real(t)}, task, answer)
			if math.Abs(*score.Value-want) > 1e-9 {
				t.Errorf("%s, %s: %+v, not %v", name, compat, score, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDACodeLinks: results outside the folder are refused, since an agent may link to what
// only its scorer can read.
func TestDACodeLinks(t *testing.T) {
	root := write(t, map[string]string{"gold/r.csv": "a\n1\n", "gold/plot.json": `{"type": "bar"}`,
		"out/own.csv": "a\n1\n", "out/folder.csv/x": ""})
	gold, out := filepath.Join(root, "gold"), filepath.Join(root, "out")
	code := `import sqlite3, os, numpy
from PIL import Image
os.chdir(%q)
db = sqlite3.connect('r.db')
db.executescript('create table t (a); insert into t values (1)')
db.close()
numpy.save('result.npy', numpy.array([1, 2]))
Image.new('RGB', (8, 6)).save('r.png')`
	do(t, code, gold)
	drawImage(t, filepath.Join(out, "r.png"))
	for from, to := range map[string]string{"../gold/r.csv": "r.csv", "../gold/r.db": "r.db",
		"../gold": "dabench", "own.csv": "inner.csv"} {
		if err := os.Symlink(from, filepath.Join(out, to)); err != nil {
			t.Fatal(err)
		}
	}
	csv := `{"func": ["compare_csv"], "result": [{"file": ["r.csv"]}]}`
	for _, v := range []struct {
		config, said string
		want         float64
	}{
		{csv, "r.csv", 0},
		{csv, "I wrote it", 0}, // by the name in the configuration
		{csv, "folder.csv", 0},
		{csv, "inner.csv", 1},
		{`{"func": ["compare_sqlite"], "result": [{"file": ["r.db"]}]}`, "r.db", 0},
		{string(image("color")), "r.png", 0},
	} {
		task := Task{ID: "x", Rules: "dacode", Gold: json.RawMessage(v.config), GoldDir: gold}
		score := scoreOf(t, Scorer{Open: real(t)}, task, Answer{Value: Said(v.said), Dir: out})
		if *score.Value != v.want || v.want == 0 &&
			!strings.Contains(score.Detail, "is not a file that the agent wrote") {
			t.Errorf("%s of %s: %+v", v.said, v.config, score)
		}
	}
}

// TestChart extracts charts from the code that draws them and compares them. Upstream checks that
// gold has every colour of the answer; Fixed also checks the reverse.
func TestChart(t *testing.T) {
	bar := func(values, colours, title string) string {
		return fmt.Sprintf("import matplotlib.pyplot as plt\nfig, ax = plt.subplots(figsize=(8, 6))\n"+
			"ax.bar(['a', 'b'], %s, color=%s)\nax.set_title('%s')\nax.set_xlabel('Month')\n"+
			"plt.savefig('r.png')\nplt.close()\n", values, colours, title)
	}
	config := image("color", "figsize", "graph_title", "x_label", "type")
	right := bar("[3, 1]", "['red', 'blue']", "Sales")
	gold := write(t, map[string]string{"plot.py": right})
	do(t, "import os, runpy; os.chdir(%q); runpy.run_path('plot.py')", gold)
	scorer := Scorer{Compat: Fixed, Open: real(t)}
	if err := scorer.chart(t.Context(), Task{Data: gold}, gold); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plot.json", "result.npy"} {
		if err := os.Rename(filepath.Join(gold, "dabench", name), filepath.Join(gold, name)); err != nil {
			t.Fatal(err)
		}
	}
	var settings map[string]any
	text, _ := os.ReadFile(filepath.Join(gold, "plot.json"))
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	same(t, "settings", map[string]any{"type": "bar", "color": []any{"#0000ff", "#ff0000"},
		"figsize": []any{8., 6.}, "graph_title": "Sales", "x_label": "Month", "y_label": "",
		"legend_title": "", "labels": []any{}, "xtick_labels": []any{"a", "b"},
		"ytick_labels": settings["ytick_labels"]}, settings)
	block := "def main():\n    " + strings.ReplaceAll(strings.TrimSpace(right), "\n", "\n    ") +
		"\nif __name__ == '__main__':\n    main()\n    if True:\n        plt.savefig('r.png')\n"
	for _, v := range []struct {
		name, code      string
		upstream, fixed float64
	}{
		{"the same", bar("[3, 1]", "['#ff0808', '#0808ff']", "sales"), 1, 1}, // 11.3 of 15
		{"other data", bar("[3, 2]", "['red', 'blue']", "Sales"), 0, 0},
		{"another colour", bar("[3, 1]", "['#ff0c0c', 'blue']", "Sales"), 0, 0}, // 17.0
		{"fewer colours", bar("[3, 1]", "'red'", "Sales"), 1, 0},
		{"in a block", "import matplotlib.pyplot as plt\n" + block, 1, 1},
		{"no code", "", 0, 0},
		{"code that fails", "import matplotlib.pyplot as plt\nplt.savefig('x')\n1/0\n", 0, 0},
		{"no chart", "import matplotlib.pyplot as plt\nplt.figure()\nplt.savefig('r.png')\n", 0, 0},
	} {
		dir := write(t, map[string]string{"plot2.py": v.code})
		drawImage(t, filepath.Join(dir, "r.png"))
		if err := scorer.chart(t.Context(), Task{Data: gold}, dir); err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		task := Task{ID: "x", Rules: "dacode", Gold: config, GoldDir: gold}
		for compat, want := range map[Compat]float64{Upstream: v.upstream, Fixed: v.fixed} {
			score := scoreOf(t, Scorer{Compat: compat, Open: real(t)}, task, Answer{Value: Said("r.png"), Dir: dir})
			if *score.Value != want {
				t.Errorf("%s, %s: %+v", v.name, compat, score)
			}
		}
	}
	if err := scorer.chart(t.Context(), Task{Data: gold}, t.TempDir()); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
}

// image configures the comparison of images with their plots by these keys.
func image(keys ...string) json.RawMessage {
	list, _ := json.Marshal(keys)
	return json.RawMessage(`{"func": ["compare_image"],
		"config": {"task": "data visualization", "type": "bar"}, "result": [{"multi": true,
		"file": ["r.png", "dabench/plot.json", "dabench/result.npy"]}],
		"options": [{"keys": ` + string(list) + `}]}`)
}

// drawImage writes an image that differs from gold's.
func drawImage(t *testing.T, path string) {
	t.Helper()
	do(t, "from PIL import Image; Image.new('RGB', (80, 60)).save(%q)", path)
}

// TestExposed refuses data that contain right answers, unless the task names other files of them.
func TestExposed(t *testing.T) {
	for data, want := range map[string]string{"": "index.json", "gold": "r.csv", "data": ""} {
		root := write(t, map[string]string{"gold/r.csv": "a", "data/x.csv": "a", "index.json": `[{"id": "a",
			"question": "q", "data_dir": "` + data + `", "scorer": "dacode", "data_sources": ["x.csv"],
			"answer": {"gold_files": ["gold/r.csv"]}, "scorer_config": {"func": "compare_csv"}}]`})
		err := open(t, "dir", root, Setting{}).Exposed()
		if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("data_dir %q: %v, not %q", data, err, want)
		}
		suite := open(t, "dir", root, Setting{Oracle: true}) // only the files that are named
		if err := suite.Exposed(); err != nil {
			t.Errorf("data_dir %q, x.csv alone: %v", data, err)
		}
	}
	root := write(t, map[string]string{"data/legal/input/a.csv": "a", "workload/legal.json": `[
		{"id": "legal-hard-1", "query": "q", "answer": 3.5, "answer_type": "numeric_exact"}]`})
	suite := open(t, "kramabench", root, Setting{})
	suite.Tasks[0].Data = root // as --data can have it
	if err := suite.Exposed(); err == nil {
		t.Error("the workload is in the data")
	}
}

// TestDir reads a user's own tasks, with every kind of rules.
func TestDir(t *testing.T) {
	root := write(t, map[string]string{
		"index.json": `[
{"id": "a", "question": "q", "guidelines": "g", "data_dir": "data/a", "answer": 43,
 "scorer": "dabstep", "difficulty": "easy", "benchmark": "mine"},
{"id": "b", "question": "q", "data_dir": "data/a", "answer": ["x", "y"],
 "answer_type": "list_exact", "scorer": "kramabench", "data_sources": ["b.csv"]},
{"id": "c", "question": "q", "data_dir": "data/a", "answer": {"n": "1.5", "m": 2},
 "scorer": "infiagent"},
{"id": "d", "question": "q", "data_dir": "data/gone", "answer": {"k": ["v"]},
 "scorer": "dacode", "scorer_config": {"func": "compare_text", "options": {}}},
{"id": "e", "question": "q", "data_dir": "data/a", "scorer": "dacode",
 "answer": {"gold_files": ["gold/e/r.csv"], "output_file": "r.csv"},
 "scorer_config": {"func": "compare_csv", "options": {"condition_cols": [0]}}}]`,
		"data/a/b.csv": "x", "gold/e/r.csv": "a,b\n1,2\n",
	})
	suite := open(t, "dir", root, Setting{Oracle: true})
	if got := below(root, suite.Tasks[3].NoData...); !slices.Equal(got, []string{"data/gone"}) ||
		!slices.Equal(suite.Tasks[1].Files, []string{"b.csv"}) {
		t.Errorf("tasks are %+v", suite.Tasks)
	}
	lines := write(t, map[string]string{"out/e/r.csv": "a,b\n1,3\n",
		"answers.jsonl": `{"task_id": "a", "answer": 43}
{"task_id": "b", "answer": ["Y", "X"]}
{"task_id": "c", "agent_answer": "@n[1.50] @m[2]"}
{"task_id": "d", "agent_answer": "{'K': 'V'}"}
{"task_id": "e", "agent_answer": "r.csv", "dir": "out/e"}`})
	answers, err := ReadAnswers(filepath.Join(lines, "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	scores, err := suite.Score(t.Context(), Scorer{Open: real(t)}, suite.Tasks, answers)
	if err != nil || scores.Score == nil || scores.Score.Value != 100 || scores.Totals[0].N != 5 {
		t.Errorf("%+v, %v", scores, err)
	}
	b, _ := Find("dir")
	if _, err := b.Open(write(t,
		map[string]string{"index.json": `[{"id": "a", "answer": 1, "scorer": "x"}]`}),
		Setting{}); err == nil || !strings.Contains(err.Error(), `no scorer "x"`) {
		t.Errorf("an unknown scorer: %v", err)
	}
	if _, err := Find("gaia"); err == nil {
		t.Error("there is a benchmark gaia")
	}
}

// A fake session prints what it is asked to run, or ends as that says.
type fake struct {
	ran    []string
	closed bool
}

func (s *fake) Execute(_ context.Context, code string) (notebook.Execution, error) {
	s.ran = append(s.ran, code)
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

func (s *fake) Close() error { s.closed = true; return nil }

// TestPython: one session runs many pieces of code, until one fails.
func TestPython(t *testing.T) {
	var opened []*fake
	var dirs []string
	p := &python{open: func(_ context.Context, dir string, _ []string, _ string) (Session, error) {
		if _, err := os.Stat(filepath.Join(dir, "files")); err != nil {
			t.Error(err)
		}
		opened, dirs = append(opened, &fake{}), append(dirs, dir)
		return opened[len(opened)-1], nil
	}}
	for _, code := range []string{"a", "b", "it fails", "c", "it is lost", "d"} {
		_, err := p.run(t.Context(), code)
		if failed := errors.As(err, new(*CodeError)); failed != (code == "it fails") ||
			(err != nil) != (failed || code == "it is lost") {
			t.Errorf("%s: %v", code, err)
		}
	}
	p.close()
	p.close()
	if len(opened) != 3 || len(opened[0].ran) != 3 || len(opened[1].ran) != 2 {
		t.Errorf("%d sessions were opened", len(opened))
	}
	for i, one := range opened {
		if _, err := os.Stat(dirs[i]); !one.closed || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("session %d is left: %v", i+1, err)
		}
	}
}

// TestBroughtDown: an answer that ends the scorer's code, or has it print something else, is wrong. A
// kernel that is lost is not the answer's fault.
func TestBroughtDown(t *testing.T) {
	s := Scorer{Open: func(context.Context, string, []string, string) (Session, error) { return &fake{}, nil }}
	for said, scored := range map[string]bool{"it fails": true, "other": true, "odd mark": true, "it is lost": false} {
		task := Task{ID: "a", Rules: "dacode", Gold: Said("gold"), Data: t.TempDir()}
		score, err := s.Score(t.Context(), task, &Answer{ID: "a", Value: Said(said)})
		if (err == nil) != scored || scored && (*score.Value != 0 || score.Detail == "") {
			t.Errorf("%s: %+v, %v", said, score, err)
		}
		if err := s.chart(t.Context(), task, said); (err == nil) != scored {
			t.Errorf("%s: chart: %v", said, err)
		}
	}
}
