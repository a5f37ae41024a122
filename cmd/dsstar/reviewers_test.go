package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	{name: "big outputs", answer: "%d\n", told: "are left out here", longest: 500_000, shown: verified,
		change: func(m roles) {
			m["cell"] = say(cell(loads +
				"\nfor i in range(60_000):\n    print(i, 'x' * 30)\ntotal = int(numbers['n'].sum())\nprint(total)"))
		}},
	{name: "unicode", answer: "סה״כ: %d 🎉 ½ 𝔘\n", told: "שלום", file: "données 数据 \U0001f4c8.csv",
		shown: []string{"סה״כ: 42 🎉 ½ 𝔘",
			"Lies die Zahlen – שלום – 数字を足す 🧮 a|b x_1 für $5 oder $7 <script>alert(1)</script>.",
			"2 von 3", "naïve 数据 🇩🇪 👩‍👩‍👧", "Wärnung ⚠", "<i>&amp;</i>"},
		change: func(m roles) {
			m["step"] = say("Lies die Zahlen – שלום – 数字を足す 🧮 `a|b` x_1 für $5 oder $7 <script>alert(1)</script>.")
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
		}},
	{name: "budget spent", told: "Stopped", code: exitBudget, args: []string{"--max-calls", "5"},
		shown: []string{"Stopped", "Round 2: ", "Step 3", "Proof and cost"}, change: func(m roles) {
			m["cell"], m["verdict"] = say(cell(loads)), say(unfinished)
		}},
}

// verified is what a page shows of a verified run at its top.
var verified = []string{"Verified", "Step 1"}

const loads = "import pandas as pd\nnumbers = pd.read_csv('data/numbers.csv')\nprint(numbers)"

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
	for i, c := range courses {
		all.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			reviews[i] = c.run(t)
		})
	}
	all.Wait()
	t.Run("tools", func(t *testing.T) { reviewedByTools(t, reviews) })
	t.Run("JupyterLab", func(t *testing.T) { reviewedByLab(t, reviews) })
}

// run runs a course twice.
func (c course) run(t *testing.T) review {
	data := dataFolder(t, numbers)
	if c.file != "" {
		noError(t, os.WriteFile(filepath.Join(data, c.file), []byte("a,b\n1,2\n"), 0o644))
	}
	r := review{shown: c.shown, Name: c.name, Data: dataFolder(t, map[string]string{"numbers.csv": "n\n1\n2\n40\n"})}
	if c.answer != "" {
		answer, changed := fmt.Sprintf(c.answer, 42), fmt.Sprintf(c.answer, 43)
		r.Answer, r.Changed = &answer, &changed
	}
	for _, out := range []*string{&r.Run, &r.Again} {
		m := counting()
		if c.change != nil {
			c.change(m)
		}
		*out = filepath.Join(t.TempDir(), "run")
		if s := runNB(t, m, nil, data, *out, c.args...); s.code != c.code {
			t.Errorf("%s: exit code %d\n%s%s", c.name, s.code, s.stdout, s.stderr)
		}
		book := content(filepath.Join(*out, "notebook.ipynb"))
		if !strings.Contains(book, c.told) || len(book) < c.longest {
			t.Errorf("%s: the notebook of %d bytes does not tell of %q", c.name, len(book), c.told)
		}
	}
	return r
}

func reviewedByTools(t *testing.T, reviews []review) {
	spec := must(json.Marshal(map[string]any{"display_name": "Python 3 (ipykernel)", "language": "python",
		"argv": []string{pyenvtest.Python(t), "-m", "ipykernel_launcher", "-f", "{connection_file}"}}))
	home := dataFolder(t, map[string]string{"kernels/python3/kernel.json": string(spec)})
	cmd := exec.CommandContext(t.Context(), pyenvtest.Lab(t), "-c", reviewersScript)
	cmd.Env = append(cleanEnv(), "JUPYTER_DATA_DIR="+home, "JUPYTER_PATH=",
		"JUPYTER_PREFER_ENV_PATH=0", "JUPYTER_RUNTIME_DIR="+t.TempDir(),
		"IPYTHONDIR="+t.TempDir(), "JUPYTER_CONFIG_DIR="+t.TempDir(), "PYTHONUTF8=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(must(json.Marshal(reviews))), os.Stderr
	var complaints map[string][]string
	noError(t, json.Unmarshal(must(cmd.Output()), &complaints))
	for name, all := range complaints {
		if len(all) > 0 {
			t.Errorf("%s: %q", name, all)
		}
	}
	if len(complaints) != len(reviews) {
		t.Errorf("%d of %d notebooks were reviewed", len(complaints), len(reviews))
	}
}

// reviewedByLab opens and saves each notebook in JupyterLab without running it. That must change
// nothing but Lab's trust metadata, and what the kernel that it starts says of its language.
func reviewedByLab(t *testing.T, reviews []review) {
	l := startLab(t, "")
	for i, r := range reviews {
		name := fmt.Sprintf("run%d.ipynb", i)
		path := filepath.Join(l.Root, name)
		before := content(filepath.Join(r.Run, "notebook.ipynb"))
		l.write(name, before)
		l.do("open", name)
		l.shows(r.shown...)
		written := must(os.Stat(path)).ModTime()
		l.do("save")
		if !must(os.Stat(path)).ModTime().After(written) {
			t.Errorf("%s: Lab has saved nothing", r.Name)
		}
		l.picture(strings.ReplaceAll(r.Name, " ", "-") + ".png")
		if diff := cmp.Diff(untrusted(t, before), untrusted(t, content(path))); diff != "" {
			t.Errorf("%s: saving in Lab makes (-before +after)\n%.2000s", r.Name, diff)
		}
	}
}

// untrusted returns a notebook without what Lab adds: its trust metadata and the kernel's language.
func untrusted(t *testing.T, text string) (nb map[string]any) {
	t.Helper()
	noError(t, json.Unmarshal([]byte(text), &nb))
	delete(nb["metadata"].(map[string]any), "language_info")
	for _, c := range nb["cells"].([]any) {
		delete(c.(map[string]any)["metadata"].(map[string]any), "trusted")
	}
	return nb
}
