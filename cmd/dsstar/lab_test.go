package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
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

	"dsstar/cmd/dsstar/internal/site/sitetest"
	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/rewind"
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

// startLab starts a JupyterLab; env are more variables in the environment of its kernels.
func startLab(t *testing.T, env map[string]string) *lab {
	t.Helper()
	browser := browserPath(t)
	python := pyenvtest.Lab(t)
	spec := kernel.PythonSpec(pyenvtest.Python(t))
	spec.Env = map[string]string{}
	if runtime.GOOS == "linux" { // the one place that uses checkpoints
		var err error
		if spec, err = rewind.Spec(spec, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	if own := spec.Env["PYTHONPATH"]; own != "" && env["PYTHONPATH"] != "" {
		env["PYTHONPATH"] += string(filepath.ListSeparator) + own
	}
	maps.Copy(spec.Env, env)
	kernels := map[string]map[string]any{"python3": {
		"argv": spec.Argv, "env": spec.Env, "display_name": "Python 3 (ipykernel)", "language": "python",
	}}
	l := &lab{Server: kerneltest.JupyterLab(t, python, kernels), t: t,
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
	l := startLab(t, nil)
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
}

// ask asks about the data in the user's notebook.
func (l *lab) ask(url, out string) *scene {
	l.t.Helper()
	return runNB(l.t, sitetest.Env(l.t, l.RuntimeDir), out,
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
		"tried before",
		"NameError",
		"Add up everything",
		"Proof and cost",
	)
	var folds []int
	if l.do(&folds, "folds"); len(folds) != 2 || folds[0] < 3 || folds[0] != folds[1] {
		l.t.Errorf("folded sections, and closed ones: %v", folds)
	}
}
