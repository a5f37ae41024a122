package main

import (
	"bufio"
	"bytes"
	"cmp"
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
	"strings"
	"testing"
	"time"

	"dsstar/agent/llm/llmtest"
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

// startLab starts a JupyterLab whose kernels have the extension, and the program with the model at
// url.
func startLab(t *testing.T, url string) *lab {
	t.Helper()
	browser, python, bin := browserPath(t), pyenvtest.Lab(t), t.TempDir()
	noError(t, os.Symlink(os.Args[0], filepath.Join(bin, "dsstar")))
	spec := kernel.PythonSpec(pyenvtest.Python(t))
	spec.Env = map[string]string{"PATH": bin + ":" + os.Getenv("PATH"), asProgram: "1",
		"PYTHONPATH": must(filepath.Abs("python")), "DSSTAR_MODEL": "scripted", "DSSTAR_BASE_URL": url}
	if runtime.GOOS == "linux" { // the one place that uses checkpoints
		spec = must(rewind.Spec(spec, t.TempDir()))
	}
	named := maps.Clone(python3)
	named["argv"], named["env"] = spec.Argv, spec.Env
	l := &lab{t: t, err: &bytes.Buffer{},
		Server: kerneltest.JupyterLab(t, python, map[string]map[string]any{"python3": named})}
	cmd := exec.CommandContext(t.Context(), python, "-I", "-c", labDriver, browser, l.URL, l.Token)
	cmd.Stderr = l.err
	cmd.WaitDelay = 20 * time.Second
	in := must(cmd.StdinPipe())
	l.in, l.out = in, bufio.NewScanner(must(cmd.StdoutPipe()))
	l.out.Buffer(nil, 64<<20)
	// The test's context ends before its cleanups run, so closing stdin must close the browser.
	cmd.Cancel = in.Close
	noError(t, cmd.Start())
	t.Cleanup(func() {
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("the browser's driver: %v\n%s", err, l.err)
		}
	})
	return l
}

// do makes the browser perform an action.
func (l *lab) do(action string, arguments ...any) { l.t.Helper(); told[any](l, action, arguments...) }

// told makes the browser perform an action, and returns its result.
func told[T any](l *lab, action string, arguments ...any) T {
	l.t.Helper()
	var answer struct {
		Result T
		Error  string
	}
	_, err := fmt.Fprintf(l.in, "%s\n", must(json.Marshal(append([]any{action}, arguments...))))
	if err != nil || !l.out.Scan() {
		l.t.Fatalf("%s: the browser's driver has ended: %v\n%s", action, cmp.Or(err, l.out.Err()), l.err)
	}
	noError(l.t, json.Unmarshal(l.out.Bytes(), &answer))
	if answer.Error != "" {
		if action != "screenshot" {
			l.picture("failed.png")
		}
		l.t.Fatal(answer.Error)
	}
	return answer.Result
}

// picture saves a screenshot of the open notebook as a test artifact, if those are kept.
func (l *lab) picture(name string) {
	if flag.Lookup("test.artifacts").Value.String() == "true" {
		l.do("screenshot", filepath.Join(l.t.ArtifactDir(), name))
	}
}

// shows waits until the open notebook shows the texts, in this order.
func (l *lab) shows(texts ...string) {
	l.t.Helper()
	l.t.Logf("%q after %.1f s", texts, told[float64](l, "wait_for", texts))
}

// write puts a file into the server's folder.
func (l *lab) write(name, content string) {
	l.t.Helper()
	noError(l.t, os.WriteFile(filepath.Join(l.Root, name), []byte(content), 0o644))
}

// sales is a notebook whose user is about to ask a question.
const sales = `{"cells": [
 {"cell_type": "code", "id": "load", "execution_count": null, "metadata": {}, "outputs": [],
  "source": "import pandas as pd\nsales = pd.read_csv('sales.csv')\ntargets = pd.Series({'North Gate': 50, 'South': 60, 'Harbour': 10})"},
 {"cell_type": "code", "id": "extension", "execution_count": null, "metadata": {}, "outputs": [],
  "source": "%load_ext dsstar"}],
 "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}},
 "nbformat": 4, "nbformat_minor": 5}`

// aboutStores returns a model that needs two steps, and leaves a reading of the question open.
func aboutStores() roles {
	return roles{
		"solver": say("Reading: Whether returned items count as sold.\nOption 1: They do not\n"+
			"Option 2: They count\nTaken: 1\nEvidence: none\nSettled: no\n\n"+
			"Step: Leave out the returned sales and add up the amounts of each store.\n\n"+
			cell("kept = sale[sale['returned'] == 'no']"),
			"Step: Take the largest.\n\n"+cell("print(by_store.max())"),
			"Step: Compare each store with its target.\n\n"+cell("ranking = by_store.rename('sold')"+
				".to_frame().assign(target=targets)\nranking['above'] = ranking['sold'] - ranking['target']\n"+
				"print(ranking)")),
		"debugger": say(cell("kept = sales[sales['returned'] == 'no']\nby_store = kept.groupby('store')['amount'].sum()" +
			".sort_values(ascending=False)\nprint(by_store)")),
		"verdict": say(unfinished, wrong(2), sufficient),
		"last": say(cell("print(ranking.to_string())\nsummary = 'North Gate sold most, and is the only store " +
			"above its target.'\nsummary")),
		"branches": say("Branch 1.2\nKeeps: 0\n\n" + cell("all = sales.groupby('store')['amount'].sum()"+
			".sort_values(ascending=False).rename('sold').to_frame().assign(target=targets)\n"+
			"all['above'] = all['sold'] - all['target']\nanswer = all.to_string()\nanswer")),
		"second": say(cell("t = sales.loc[sales.returned.eq('no')].pivot_table(index='store', " +
			"values='amount', aggfunc='sum').rename(columns={'amount': 'sold'})" +
			".sort_values('sold', ascending=False)\nt['target'] = targets\nt['above'] = t.sold - t.target\n" +
			"answer = t.to_string()\nanswer")),
	}
}

// TestLab asks a question in a cell of JupyterLab, watches it being answered there, and goes on
// with its cells and its value.
func TestLab(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	goOn := make(chan bool)
	reply := aboutStores().reply()
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		if roleOf(r) == "judge" {
			select { // wait until the test has seen the step
			case <-goOn:
			case <-t.Context().Done():
			}
		}
		return reply(r)
	})
	l := startLab(t, model.URL)
	l.write("sales.csv", "store,amount,returned\nNorth Gate,40,no\nSouth,50,yes\nNorth Gate,22,no\nHarbour,9,no\n")
	l.write("analysis.ipynb", sales)
	l.do("open", "analysis.ipynb")
	l.do("run_all")

	l.do("run_new", "%%dsstar\nWhich store sold most, and is it above its target?")
	for _, step := range []string{"Leave out the returned sales", "Take the largest", "Compare each store"} {
		l.shows(step)
		l.shows("asking the judge")
		l.shows("working", step, "%dsstar stop")
		l.picture("asking.png")
		goOn <- true
	}
	l.shows("It depends on a reading")
	l.shows("%dsstar choose 2", "They count", "North Gate sold most", "Notebook of the run")
	l.picture("depends.png")
	close(goOn)

	l.do("run_new", "%dsstar choose 1")
	l.shows("verified")
	l.do("run_new", "%dsstar insert")
	cells := told[[]string](l, "sources")
	if last := cells[len(cells)-1]; !strings.Contains(last, "ranking = by_store") {
		t.Errorf("the last cell is %q", last)
	}
	printed := told[string](l, "run_new", "table = %dsstar result\nprint(type(table).__name__, table.loc['North Gate', 'above'])")
	if printed != "DataFrame 12\n" {
		t.Errorf("the value is %q", printed)
	}
	l.picture("answered.png")
	l.do("dark")
	l.picture("dark.png")

	// The link leads to the run's notebook, which shows its rounds as a reviewer needs them.
	l.do("follow", "notebook.ipynb")
	l.shows("Which store sold most", "Answer", "North Gate", "Verified", "Question", "Step 1",
		"Leave out", "kept = sales", "go on", "Add Step", "Step 2", "Compare each", "enough",
		"Answer", "Second derivation", "Log", "tried before", "NameError", "Take the largest",
		"Proof and cost")
	if folds := told[[]int](l, "folds"); len(folds) != 2 || folds[0] < 3 || folds[0] != folds[1] {
		t.Errorf("folded sections, and closed ones: %v", folds)
	}
	l.do("run_all")
	if all := told[[]string](l, "printed"); !strings.Contains(all[len(all)-1], "North Gate    62") ||
		strings.Contains(strings.Join(all, ""), "Error") {
		t.Errorf("Run All prints %q", all)
	}
	l.picture("run.png")

	// The notebook is closed and opened again while its kernel lives.
	l.do("open", "analysis.ipynb")
	l.do("run_new", "%dsstar")
	l.shows("verified", "North Gate sold most")
}
