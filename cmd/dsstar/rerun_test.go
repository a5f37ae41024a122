package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/cmd/dsstar/internal/rerun"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// code is a code cell that has run before.
func code(id, source string, tags ...any) notebook.Cell {
	c := notebook.Cell{ID: id, Type: notebook.Code, Source: source, Metadata: map[string]any{}, ExecutionCount: 99,
		Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: "stale\n"}}}
	if len(tags) > 0 {
		c.Metadata["tags"] = tags
	}
	return c
}

func text(id, source string) notebook.Cell {
	return notebook.Cell{ID: id, Type: notebook.Markdown, Source: source}
}

// saved writes a notebook with the cells and returns its path.
func saved(t *testing.T, name string, cells ...notebook.Cell) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	nb := notebook.Notebook{Cells: cells, Metadata: map[string]any{"kernelspec": map[string]any{
		"name": "python3", "display_name": "Python 3", "language": "python"}}}
	if err := nb.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// rerunCode runs the command with the tests' Python, and checks the exit code.
func rerunCode(ctx context.Context, t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	a, out, errs := testApp(t)
	if got := a.run(ctx, append([]string{"rerun", "--python", pyenvtest.Python(t)}, args...)); got != want {
		t.Errorf("exit code %d, want %d\n%s", got, want, errs)
	}
	return out.String(), errs.String()
}

// cellsOf reads an executed notebook, which must be valid.
func cellsOf(t *testing.T, path string) []notebook.Cell {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return nb.Cells
}

// plainOf returns what a cell shows.
func plainOf(c notebook.Cell) string { return notebook.Execution{Outputs: c.Outputs}.PlainText() }

func wantText(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

// TestRerunIsNbclient compares whole notebooks, byte by byte, with what nbclient
// makes of them.
func TestRerunIsNbclient(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	tools := pyenvtest.Tools(t)
	skipped := code("skipped", "1/0", "skip-execution")
	path := saved(t, "n.ipynb",
		text("title", "# Title"),
		code("out", "import sys\nprint('a')\nprint('b', flush=True)\nprint('c', file=sys.stderr)"),
		code("result", "6 * 7"),
		skipped,
		notebook.Cell{ID: "empty", Type: notebook.Code, Source: " \n"},
		code("error", "print('before')\ndef f():\n    raise ValueError('ä\x1b[31m')\nf()", "raises-exception", "other"),
		code("display", "h = display({'text/html': '<b>1</b>', 'text/plain': '1'}, raw=True, display_id='d')\ndisplay('x', display_id='e')"),
		code("again", "display('y', display_id='e')\nh.update('changed')"),
		code("clear", "from IPython.display import clear_output\nprint(1, flush=True)\nclear_output(wait=True)\nprint(2)"),
		code("figure", "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])"),
		code("syntax", "x = = 1", "raises-exception"),
		code("input", "input('name? ')", "raises-exception"),
		code("late", "h.update('last')\nprint(open('n.ipynb').read()[:1], len(In))"),
		notebook.Cell{ID: "raw", Type: notebook.Raw, Source: "raw"},
	)
	theirs := filepath.Join(filepath.Dir(path), "theirs.ipynb")
	script := `import sys, nbformat, nbclient
nb = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(nb, kernel_name="python3", record_timing=False, coalesce_streams=True, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(nb, sys.argv[3])`
	if out, err := exec.Command(tools, "-c", script, path, filepath.Dir(path), theirs).CombinedOutput(); err != nil {
		t.Fatalf("nbclient: %v\n%s", err, out)
	}
	stdout, stderr := rerunCode(t.Context(), t, 0, "--sandbox", "off", "--python", tools, path)
	ours := strings.TrimSuffix(path, ".ipynb") + ".rerun.ipynb"
	if stdout != ours+"\n" {
		t.Errorf("stdout is %q", stdout)
	}
	a, _ := os.ReadFile(ours)
	b, _ := os.ReadFile(theirs)
	if !bytes.Equal(a, b) {
		diff, _ := exec.Command("diff", theirs, ours).Output()
		t.Errorf("nbclient's, and ours:\n%s", diff)
	}
	validate(t, ours)
	wantText(t, "stderr", stderr, "In [1]: import sys …\na\nb\nc\nIn [2]: 6 * 7\nOut[2]: 42\n", "ValueError: ä\n", "<image/png> <Figure size 640x480 with 1 Axes>\n", "done     10 cells")
	if strings.Contains(stderr, "\x1b") {
		t.Errorf("escape sequences outside a terminal: %q", stderr)
	}
}

func decodeRerun(t *testing.T, stdout string) rerun.Result {
	t.Helper()
	var r rerun.Result
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil || dec.More() {
		t.Fatalf("%v in %q", err, stdout)
	}
	return r
}

// TestRerunInterrupted: while a cell runs, the notebook on disk has the cells
// before it; after Ctrl-C, what the cell has put out up to there too.
func TestRerunInterrupted(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	for _, c := range []struct{ name, wait, shows string }{
		{"a sleep", "time.sleep(60)", "KeyboardInterrupt"},
		{"deaf", "signal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := saved(t, "n.ipynb", code("one", "print('first')"), code("two", "import time, signal\nprint('second', flush=True)\n"+c.wait), code("three", "3"))
			ctx, cancel := context.WithCancel(t.Context())
			out := strings.TrimSuffix(path, ".ipynb") + ".rerun.ipynb"
			defer cancel()
			onDisk := make(chan bool, 1)
			go func() {
				found := false
				for deadline := time.Now().Add(20 * time.Second); !found && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
					b, _ := os.ReadFile(out)
					found = bytes.Contains(b, []byte(`"first\n"`))
				}
				onDisk <- found
				cancel()
			}()
			stdout, stderr := rerunCode(ctx, t, exitInterrupted, path)
			if !<-onDisk {
				t.Error("the first cell was not on disk while the second ran")
			}
			cells := cellsOf(t, out)
			if plainOf(cells[0]) != "first\n" || len(cells[2].Outputs) != 0 || stdout != out+"\n" {
				t.Errorf("stdout %q, %+v", stdout, cells)
			}
			if c.shows != "" {
				wantText(t, "the cell", plainOf(cells[1]), "second\n", c.shows)
			}
			wantText(t, "stderr", stderr, "notebook so far: "+out, "dsstar: interrupted")
		})
	}
}

// stuck is a terminal that takes nothing.
type stuck chan struct{}

func (s stuck) Write(p []byte) (int, error) { <-s; return len(p), nil }

func TestRerunStuckTerminal(t *testing.T) {
	t.Parallel()
	path := saved(t, "n.ipynb", code("one", "print('x' * 3_000_000)"))
	a, stdout, _ := testApp(t)
	terminal := make(stuck)
	defer close(terminal)
	a.stderr = terminal
	if exit := a.run(t.Context(), []string{"rerun", "--python", pyenvtest.Python(t), path}); exit != 0 || stdout.Len() == 0 {
		t.Errorf("exit code %d", exit)
	}
}

// TestRerunEnds: whatever ends a run, the notebook has what there was.
func TestRerunEnds(t *testing.T) {
	t.Parallel()
	t.Run("death", func(t *testing.T) {
		t.Parallel()
		path := saved(t, "n.ipynb", code("one", "print(1)"),
			code("two", "print('before', flush=True)\nimport os, time\ntime.sleep(0.3)\nos._exit(7)", "raises-exception"), code("three", "3"))
		stdout, stderr := rerunCode(t.Context(), t, exitError, "--allow-errors", "--json", path)
		r := decodeRerun(t, stdout)
		cells := cellsOf(t, r.Out)
		if plainOf(cells[0]) != "1\n" || len(cells[2].Outputs) != 0 || cells[1].ExecutionCount != 2 {
			t.Errorf("%+v", cells)
		}
		wantText(t, "the cell", plainOf(cells[1]), "before\n")
		wantText(t, "stderr", stderr, "exit status 7", "cell 2 of n.ipynb")
		if f := r.Failed; f == nil || f.Index != 1 || f.ID != "two" || f.Status != notebook.Died || !strings.Contains(f.Reason, "exit status 7") {
			t.Errorf("failed: %+v", f)
		}
		validate(t, r.Out)
	})
	t.Run("time-out", func(t *testing.T) {
		t.Parallel()
		path := saved(t, "n.ipynb", code("one", "import time\ntime.sleep(60)"), code("two", "2"))
		stdout, stderr := rerunCode(t.Context(), t, 0, "--timeout", "500ms", "--allow-errors", "--json", path)
		wantText(t, "stderr", stderr, "stopped after 0.5 s", "Out[2]: 2")
		if r := decodeRerun(t, stdout); r.Failed != nil || r.Executed != 2 {
			t.Errorf("%+v", r)
		}
	})
}

// TestRerunOutputs: long outputs are kept in a file, late ones go to the cell that caused them, and
// a notebook may have any name.
func TestRerunOutputs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "-it's \"so\" ünïcode\n$(x)")
	// Of a thread, ipykernel says that its output belongs to the cell that runs.
	if err := os.Rename(saved(t, "n.ipynb",
		code("task", "import asyncio\nasync def late():\n    await asyncio.sleep(.2)\n    print('late', flush=True); display('shown')\ntask = asyncio.create_task(late())\nprint('first')"),
		code("other", "await task; await asyncio.sleep(.3)\nimport os; print(os.getcwd())"),
		code("much", "for i in range(20_000): print('x' * 99)")), path); err != nil {
		t.Fatal(err)
	}
	stdout, stderr := rerunCode(t.Context(), t, 0, "--", path)
	if stdout != path+".rerun.ipynb\n" {
		t.Errorf("stdout %q", stdout)
	}
	cells := cellsOf(t, strings.TrimSuffix(stdout, "\n"))
	if plainOf(cells[0]) != "first\nlate\n'shown'\n" || len(cells[0].Outputs) != 2 || plainOf(cells[1]) != dir+"\n" {
		t.Errorf("%+v", cells)
	}
	whole, err := os.ReadFile(path + ".rerun_files/much-stdout.txt")
	if err != nil || bytes.Count(whole, []byte("\n")) != 20_000 {
		t.Errorf("%v, %d lines", err, bytes.Count(whole, []byte("\n")))
	}
	wantText(t, "the cell", plainOf(cells[2]), "all of it is in ")
	wantText(t, "stderr", stderr, "In [3]: for i", "\ndone")
}
