package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
)

//go:embed testdata/reviewers.py
var reviewersScript string

// A course is a kind of trajectory that a notebook records.
type course struct {
	name    string
	change  func(roles) // how it differs from counting
	args    []string
	code    int
	answer  string   // what it prints for a total, %d; "": it has no last cell
	told    string   // in the notebook; else the run took another course
	file    string   // besides numbers.csv
	longest int      // minimum size of the notebook in bytes
	shown   []string // by JupyterLab, in this order
}

// courses cover the range of notebooks that runs leave.
var courses = []course{
	{name: "straight", answer: "%d\n", told: "sufficient",
		shown: []string{"Verified", "Step 1", "Round 1", "Answer"}},
	{name: "figures", answer: "%d\n", told: "image/png", shown: verified, change: func(m roles) {
		m["step"] = say("Draw the numbers.", "Add them up.")
		m["cell"] = say(cell(`import matplotlib.pyplot as plt
import pandas as pd
numbers = pd.read_csv('data/numbers.csv')
numbers.plot.bar()
plt.show()
fig, axes = plt.subplots(1, 2)
axes[0].plot(numbers['n'])
fig.savefig('numbers.png')
plt.show()
numbers.plot()`), cell("total = int(numbers['n'].sum())\nprint(total)"))
		m["verdict"] = say(unfinished, sufficient)
	}},
	{
		name:    "big outputs",
		answer:  "%d\n",
		told:    "are left out here",
		longest: 500_000,
		shown:   verified,
		change: func(m roles) {
			m["cell"] = say(cell(strings.TrimSuffix(strings.TrimPrefix(loads, "```python\n"), "\n```") +
				"\nfor i in range(60_000):\n    print(i, 'x' * 30)\ntotal = int(numbers['n'].sum())\nprint(total)"))
		},
	},
	{
		name:   "unicode",
		answer: "סה״כ: %d 🎉 ½ 𝔘\n",
		told:   "שלום",
		file:   "données 数据 \U0001f4c8.csv",
		shown:  odd(),
		change: func(m roles) {
			m["step"] = say(
				"Lies die Zahlen – שלום – 数字を足す 🧮 `a|b` x_1 für $5 oder $7 <script>alert(1)</script>.",
			)
			m["cell"] = say(cell(`import sys
import pandas as pd
numbers = pd.read_csv('data/numbers.csv')
größe = int(numbers['n'].sum())
for i in range(3):
    print(f'\r{i} von 3', end='', flush=True)
print('\n\x1b[31mrot\x1b[0m', 'naïve 数据 🇩🇪 👩‍👩‍👧', '\u202eabc\u202c', 'nul\x00')
print('Wärnung ⚠', file=sys.stderr)
pd.DataFrame({'名前 🎈': ['א', 'ب', '<i>&amp;</i>']})`))
			m["last"] = say(cell("print(f'סה״כ: {größe} 🎉 ½ 𝔘')"))
			m["second"] = say(cell("answer = 'סה״כ: 42 🎉 ½ 𝔘' if os.listdir('data') else ''\nanswer"))
		},
	},
	{
		name:  "budget spent",
		told:  "Stopped",
		code:  exitBudget,
		shown: []string{"Stopped", "Round 2: ", "Step 3", "Proof and cost"},
		args:  []string{"--max-calls", "5"},
		change: func(m roles) {
			m["cell"] = say(loads)
			m["verdict"] = say(unfinished)
		},
	},
}

// verified is what a page shows of a verified run at its top.
var verified = []string{"Verified", "Step 1"}

// odd returns what a page shows of the course unicode.
func odd() []string {
	step := "Lies die Zahlen – שלום – 数字を足す 🧮 a|b x_1 für $5 oder $7 <script>alert(1)</script>."
	return []string{"סה״כ: 42 🎉 ½ 𝔘", step, "2 von 3", "naïve 数据 🇩🇪 👩‍👩‍👧", "Wärnung ⚠", "<i>&amp;</i>"}
}

var loads = cell("import pandas as pd\nnumbers = pd.read_csv('data/numbers.csv')\nprint(numbers)")

// A review is the request to reviewers.py about a run.
type review struct {
	shown   []string // by JupyterLab
	Name    string   `json:"name"`
	Run     string   `json:"run"`
	Again   string   `json:"again"`
	Data    string   `json:"data"`
	Answer  *string  `json:"answer"`
	Changed *string  `json:"changed"`
}

// TestReviewers checks the notebooks of different courses with the tools that reviewers use:
// nbformat's validator, nbconvert --execute, papermill with other data, nbdime, jupytext, VS Code's
// rules, and JupyterLab.
func TestReviewers(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	reviews := make([]review, len(courses))
	var all sync.WaitGroup
	turn := make(chan struct{}, 3)
	begun := time.Now()
	for i, c := range courses {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			reviews[i] = c.run(t)
		})
	}
	all.Wait()
	t.Logf("two runs of each: %.0f s", time.Since(begun).Seconds())
	t.Run("tools", func(t *testing.T) { reviewedByTools(t, reviews) })
	t.Run("JupyterLab", func(t *testing.T) { reviewedByLab(t, reviews) })
}

// run runs a course twice.
func (c course) run(t *testing.T) review {
	files := map[string]string{"numbers.csv": numbers["numbers.csv"]}
	other := map[string]string{"numbers.csv": "n\n1\n2\n40\n"}
	if c.file != "" {
		files[c.file] = "a,b\n1,2\n"
	}
	data := dataFolder(t, files)
	r := review{shown: c.shown, Name: c.name, Data: dataFolder(t, other)}
	if c.answer != "" {
		answer, changed := fmt.Sprintf(c.answer, 42), fmt.Sprintf(c.answer, 43)
		r.Answer, r.Changed = &answer, &changed
	}
	for _, out := range []*string{&r.Run, &r.Again} {
		m := counting()
		if c.change != nil {
			c.change(m)
		}
		s := askNB(t, data, m.serve(t).URL, c.args...)
		s.expect(c.code)
		*out = s.out
		book, err := os.ReadFile(filepath.Join(s.out, "notebook.ipynb"))
		if err != nil || !bytes.Contains(book, []byte(c.told)) || len(book) < c.longest {
			t.Errorf("%s: the notebook of %d bytes does not tell of %q: %v", c.name, len(book), c.told, err)
		}
	}
	return r
}

func reviewedByTools(t *testing.T, reviews []review) {
	home := t.TempDir()
	spec := filepath.Join(home, "kernels", "python3")
	kernel, err := json.Marshal(map[string]any{
		"argv":         []string{pyenvtest.Python(t), "-m", "ipykernel_launcher", "-f", "{connection_file}"},
		"display_name": "Python 3 (ipykernel)", "language": "python",
	})
	asked, askedErr := json.Marshal(reviews)
	if err := errors.Join(err, askedErr, os.MkdirAll(spec, 0o755),
		os.WriteFile(filepath.Join(spec, "kernel.json"), kernel, 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), pyenvtest.Lab(t), "-c", reviewersScript)
	cmd.Env = append(cleanEnv(), "JUPYTER_DATA_DIR="+home, "JUPYTER_PATH=",
		"JUPYTER_PREFER_ENV_PATH=0", "JUPYTER_RUNTIME_DIR="+t.TempDir(),
		"IPYTHONDIR="+t.TempDir(), "JUPYTER_CONFIG_DIR="+t.TempDir(), "PYTHONUTF8=1")
	cmd.Stdin = bytes.NewReader(asked)
	var said bytes.Buffer
	cmd.Stderr = &said
	begun := time.Now()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	t.Logf("%.0f s", time.Since(begun).Seconds())
	var complaints map[string][]string
	if err := json.Unmarshal(out, &complaints); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	for name, all := range complaints {
		for _, complaint := range all {
			t.Errorf("%s: %s", name, complaint)
		}
	}
	if len(complaints) != len(reviews) {
		t.Errorf("%d of %d notebooks were reviewed", len(complaints), len(reviews))
	}
}

// reviewedByLab opens and saves each notebook in JupyterLab without running it. That must change
// nothing but Lab's trust metadata, and what the kernel that it starts says of its language.
func reviewedByLab(t *testing.T, reviews []review) {
	l := startLab(t, nil)
	begun := time.Now()
	for i, r := range reviews {
		name := fmt.Sprintf("run%d", i)
		before, err := os.ReadFile(filepath.Join(r.Run, "notebook.ipynb"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(l.Root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		l.write(name+"/notebook.ipynb", string(before))
		l.do(nil, "open", name+"/notebook.ipynb")
		l.shows(r.shown...)
		written := l.modified(name + "/notebook.ipynb")
		l.do(nil, "save")
		if !l.modified(name + "/notebook.ipynb").After(written) {
			t.Errorf("%s: Lab has saved nothing", r.Name)
		}
		l.picture(strings.ReplaceAll(r.Name, " ", "-") + ".png")
		after, err := os.ReadFile(filepath.Join(l.Root, name, "notebook.ipynb"))
		if err != nil {
			t.Fatal(err)
		}
		if after, before := untrusted(t, after), untrusted(t, before); !bytes.Equal(before, after) {
			at := 0
			for at < min(len(before), len(after)) && before[at] == after[at] {
				at++
			}
			t.Errorf("%s: saving in Lab makes\n%.300s\nof\n%.300s", r.Name,
				after[max(0, at-60):], before[max(0, at-60):])
		}
	}
	t.Logf("%.0f s", time.Since(begun).Seconds())
}

func (l *lab) modified(name string) time.Time {
	l.t.Helper()
	info, err := os.Stat(filepath.Join(l.Root, name))
	if err != nil {
		l.t.Fatal(err)
	}
	return info.ModTime()
}

// untrusted returns a notebook without what Lab adds: its trust metadata and the kernel's language.
func untrusted(t *testing.T, data []byte) []byte {
	t.Helper()
	var nb map[string]any
	if err := json.Unmarshal(data, &nb); err != nil {
		t.Fatal(err)
	}
	delete(nb["metadata"].(map[string]any), "language_info")
	for _, c := range nb["cells"].([]any) {
		delete(c.(map[string]any)["metadata"].(map[string]any), "trusted")
	}
	b, err := json.Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
