package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/kernels/kernelstest"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// These tests look at runs as a person does: in JupyterLab, in a browser. Their screenshots are
// test artifacts:
//
//	go test ./cmd/dsstar -run TestLab -artifacts -outputdir DIR

//go:embed testdata/lab.py
var labDriver string

// browserPath finds Chromium or Chrome. A machine without one skips the test, unless
// $DSSTAR_BROWSER is "required"; it may also name the program.
func browserPath(t *testing.T) string {
	t.Helper()
	wanted := os.Getenv("DSSTAR_BROWSER")
	names := []string{"chromium", "chromium-browser", "google-chrome",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"}
	if wanted != "" && wanted != "required" {
		names = []string{wanted}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	message := "no browser: install Chromium (Debian: apt-get install chromium) or name one in DSSTAR_BROWSER"
	if wanted != "" {
		t.Fatal(message)
	}
	t.Skip(message)
	return ""
}

// A lab is a JupyterLab open in a browser. Its kernels are those that dsstar itself starts.
type lab struct {
	*kerneltest.Server
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
	err *bytes.Buffer
}

func startLab(t *testing.T, collaboration bool) *lab {
	t.Helper()
	return startLabWith(t, collaboration, nil)
}

// startLabWith is startLab with more variables in the environment of the kernels.
func startLabWith(t *testing.T, collaboration bool, env map[string]string) *lab {
	t.Helper()
	browser := browserPath(t)
	python := pyenvtest.Lab(t)
	spec := kernel.PythonSpec(pyenvtest.Python(t))
	spec.Env = map[string]string{}
	if !collaboration && runtime.GOOS == "linux" { // the one place that uses checkpoints
		var err error
		if spec, err = checkpoint.Spec(spec, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	if own := spec.Env["PYTHONPATH"]; own != "" && env["PYTHONPATH"] != "" {
		env["PYTHONPATH"] += string(filepath.ListSeparator) + own
	}
	maps.Copy(spec.Env, env)
	kernels := map[string]map[string]any{"python3": {
		"argv": spec.Argv, "env": spec.Env, "display_name": "Python 3 (ipykernel)", "language": "python",
		"metadata": map[string]any{"debugger": collaboration},
	}}
	l := &lab{Server: kerneltest.JupyterLab(t, python, kernels, collaboration), t: t,
		err: &bytes.Buffer{}}
	cmd := exec.CommandContext(t.Context(), python, "-I", "-c", labDriver, browser, l.URL, l.Token)
	cmd.Stderr = l.err
	cmd.WaitDelay = 20 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	l.in, l.out = in, bufio.NewScanner(out)
	l.out.Buffer(nil, 64<<20)
	// The test's context ends before its cleanups run, so closing stdin must close the browser.
	cmd.Cancel = in.Close
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("the browser's driver: %v\n%s", err, l.err)
		}
	})
	return l
}

// do makes the browser perform an action, and decodes the result unless result is nil.
func (l *lab) do(result any, action string, arguments ...any) {
	l.t.Helper()
	request, err := json.Marshal(append([]any{action}, arguments...))
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(l.in, "%s\n", request); err != nil {
		l.t.Fatalf("%s: %v\n%s", action, err, l.err)
	}
	if !l.out.Scan() {
		l.t.Fatalf("%s: the browser's driver has ended: %v\n%s", action, l.out.Err(), l.err)
	}
	var answer struct {
		Result json.RawMessage
		Error  string
	}
	if err := json.Unmarshal(l.out.Bytes(), &answer); err != nil {
		l.t.Fatal(err)
	}
	if answer.Error != "" {
		l.picture("failed.png")
		l.t.Fatal(answer.Error)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			l.t.Fatalf("%s: %v", action, err)
		}
	}
}

// picture saves a screenshot of the open notebook as a test artifact, if those are kept.
func (l *lab) picture(name string) {
	if flag.Lookup("test.artifacts").Value.String() != "true" {
		return
	}
	request, _ := json.Marshal([]any{"screenshot", filepath.Join(l.t.ArtifactDir(), name)}) // strings
	if _, err := fmt.Fprintf(l.in, "%s\n", request); err != nil || !l.out.Scan() {
		l.t.Errorf("no picture %s: %v", name, err)
	}
}

// shows waits until the open notebook shows the texts, in this order.
func (l *lab) shows(texts ...string) {
	l.t.Helper()
	var took float64
	l.do(&took, "wait_for", texts)
	l.t.Logf("%q after %.1f s", texts, took)
}

// write puts a file into the server's folder.
func (l *lab) write(name, content string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.Root, name), []byte(content), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

// analysis is the notebook that a user works in.
const analysis = `{"cells": [
 {"cell_type": "code", "id": "load", "execution_count": null, "metadata": {}, "outputs": [],
  "source": "import pandas as pd\ndf = pd.read_csv('sales.csv')\nuntouched = df.copy()\nseed, total = 7, 'mine'"}],
 "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}},
 "nbformat": 4, "nbformat_minor": 5}`

// fromDF returns a model that goes back once and computes its answer from the user's df.
func fromDF() roles {
	m := counting()
	m["step"] = say(
		"Count the rows of `df`.",
		"Add up everything.",
		"Add up the amounts of the stores of the north.",
	)
	m["cell"] = say(
		cell("rows = len(dff)"),
		cell("df = df[['amount']]\nseed = 99\nprint(df['amount'].sum())"),
		cell(
			"north = df[df['store'].str.startswith('N')]\ntotal = int(north['amount'].sum())\nprint(north)\nprint(total)",
		),
	)
	m["debugger"] = say(cell("rows = len(df)\nprint(rows)"))
	m["verdict"] = say(unfinished, wrong(2), sufficient)
	m["second"] = say(cell("answer = str(sum(df['amount'][n] for n in range(len(df)) " +
		"if df['store'][n][0] == 'N'))\nanswer"))
	return m
}

// TestLab follows a user: data in a JupyterLab notebook, a question to dsstar about them in that
// kernel, and the resulting notebook, opened and run in JupyterLab.
func TestLab(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	for name, collaboration := range map[string]bool{"alone": false, "with collaboration": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := startLab(t, collaboration)
			l.write("sales.csv", "store,amount\nNorth Gate,40\nSouth,50\nNørrebro,2\n")
			l.write("analysis.ipynb", analysis)
			l.do(nil, "open", "analysis.ipynb")
			l.do(nil, "run_all")
			before := l.userNames()

			out := filepath.Join(l.Root, "run")
			s := l.ask(fromDF().serve(t).URL, out)
			s.expect(exitVerified, "verified")
			if s.stdout != "42\n" {
				t.Errorf("the answer is %q", s.stdout)
			}
			if after := l.userNames(); after != before {
				t.Errorf("the user's names were %s and are %s", before, after)
			}

			l.do(nil, "open", "run/notebook.ipynb")
			l.showsRun()
			l.do(nil, "run_all")
			var printed []string
			l.do(&printed, "printed")
			if last := printed[len(printed)-1]; last != "42\n" ||
				slices.ContainsFunc(printed, func(p string) bool { return strings.Contains(p, "Error") }) {
				t.Errorf("Run All prints %q", printed)
			}
			l.picture("run.png")
		})
	}
}

// ask asks about the data in the user's notebook.
func (l *lab) ask(url, out string) *scene {
	l.t.Helper()
	return runNB(l.t, kernelstest.Env(l.t, l.RuntimeDir), out,
		"--kernel", "analysis.ipynb", "--yes", "--base-url", url)
}

// userNames returns the contents of the user's kernel, from a new cell of the user's notebook.
func (l *lab) userNames() (state string) {
	l.t.Helper()
	code := "print(df.equals(untouched), seed, total, sorted(n for n in globals() if not n.startswith('_') and n not in ('In', 'Out')))"
	l.do(&state, "run_new", code)
	if !strings.HasPrefix(state, "True 7 mine") {
		l.t.Errorf("the user's names: %q", state)
	}
	return state
}

// showsRun checks that the page shows the rounds of fromDF as a reviewer needs them.
func (l *lab) showsRun() {
	l.t.Helper()
	l.shows(
		"What is the total?",
		"Answer",
		"42",
		"Verified",
		"Key figures",
		"Question",
		"Step 1",
		"Count the rows",
		"rows = len(df)",
		"unfinished",
		"Add Step",
		"Step 2",
		"north = df",
		"sufficient",
		"Answer",
		"42",
		"Second derivation",
		"Log",
		"Try 1 failed",
		"NameError",
		"Add up everything",
		"Proof and cost",
	)
	var folds []int
	if l.do(&folds, "folds"); len(folds) != 2 || folds[0] < 3 || folds[0] != folds[1] {
		l.t.Errorf("folded sections, and closed ones: %v", folds)
	}
}

// TestLabLive keeps a run's notebook open during the run: with jupyter-collaboration, new rounds
// appear by themselves; without it, after a reload.
func TestLabLive(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	for name, collaboration := range map[string]bool{"alone": false, "with collaboration": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := startLab(t, collaboration)
			planned := make(chan bool)
			reply := threeSteps().reply()
			model := llmtest.New(t, llmtest.RefuseSchemas(func(r llmtest.Request) llmtest.Response {
				if roleOf(r) == "solver" {
					select { // wait until the test has seen the previous step
					case <-planned:
					case <-t.Context().Done():
					}
				}
				return reply(r)
			}))
			out := filepath.Join(l.Root, "run")
			ended := make(chan *scene, 1)
			go func() {
				ended <- runNB(t, kernelstest.Env(t, l.RuntimeDir), out, "--base-url", model.URL,
					"--data", dataFolder(t, numbers), "--python", pyenvtest.Python(t))
			}()
			waitFor(t, "the notebook", func() bool {
				_, err := os.Stat(filepath.Join(out, "notebook.ipynb"))
				return err == nil
			})
			l.do(nil, "open", "run/notebook.ipynb")
			l.shows("What is the total?", "Running")
			for step := 1; step <= 3; step++ {
				planned <- true
				l.appears(fmt.Sprintf("Step %d", step), collaboration)
			}
			l.appears("Verified", collaboration)
			s := <-ended
			s.expect(exitVerified)
			var dialogs []string
			if l.do(&dialogs, "dialogs"); len(dialogs) > 0 {
				t.Errorf("dialogs: %q", dialogs)
			}
			l.shows("42", "Step 1", "Step 2", "Step 3", "sufficient", "Answer", "Proof and cost")
			l.picture("live.png")
			time.Sleep(2 * time.Second) // collaboration saves its copy meanwhile
			tr := readRun(t, out)
			if !tr.Verified() || len(tr.Rounds) != 3 {
				t.Errorf("on disk is a notebook of %d rounds, verified %t", len(tr.Rounds), tr.Verified())
			}
			ours, err := record.Draw(tr).Encode()
			disk, e := os.ReadFile(filepath.Join(out, "notebook.ipynb"))
			if err := errors.Join(err, e); err != nil {
				t.Fatal(err)
			}
			if ours, disk := untrusted(t, ours), untrusted(t, disk); !bytes.Equal(ours, disk) {
				t.Errorf("on disk is\n%s\nnot\n%s", disk, ours)
			}
		})
	}
}

func threeSteps() roles {
	m := counting()
	m["step"] = say("Load the numbers.", "Look at them.", "Add them up.")
	m["cell"] = say(
		cell("import pandas as pd\nnumbers = pd.read_csv('data/numbers.csv')\nprint(len(numbers))"),
		cell("print(numbers.to_string())"),
		cell("total = int(numbers['n'].sum())\nprint(total)"),
	)
	m["verdict"] = say(unfinished, unfinished, sufficient)
	return m
}

// appears waits until the open notebook shows a text: by itself, or after a reload.
func (l *lab) appears(text string, byItself bool) {
	l.t.Helper()
	if byItself {
		l.shows(text)
		return
	}
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		l.do(nil, "reload")
		var cells []string
		l.do(&cells, "shown")
		if strings.Contains(strings.Join(cells, "\n"), text) {
			return
		}
		if time.Since(begun) > time.Minute {
			l.t.Fatalf("%q does not appear:\n%s", text, strings.Join(cells, "\n--\n"))
		}
	}
}
