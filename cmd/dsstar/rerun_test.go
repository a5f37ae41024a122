package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
	begin := time.Now()
	if got := a.run(ctx, append([]string{"rerun", "--python", pyenvtest.Python(t)}, args...)); got != want {
		t.Errorf("exit code %d, want %d\n%s", got, want, errs)
	}
	if d := time.Since(begin); d > 30*time.Second {
		t.Errorf("it took %s", d)
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

func TestRerunFailingCell(t *testing.T) {
	t.Parallel()
	path := saved(t, "n.ipynb", code("one", "a = 1\nprint(a)"), text("m", "x"),
		code("two", "b = 2\n\ndef f():\n    return {}['Kind']\n\nprint('before')\nf()\nprint('after')"), code("three", "print(3)"))
	out := filepath.Join(filepath.Dir(path), "o.ipynb")
	stdout, stderr := rerunCode(t.Context(), t, exitError, "-o", out, path)
	cells := cellsOf(t, out)
	if stdout != out+"\n" || plainOf(cells[0]) != "1\n" || cells[3].ExecutionCount != 0 || len(cells[3].Outputs) != 0 {
		t.Errorf("stdout %q, cells %+v", stdout, cells)
	}
	wantText(t, "the cell", plainOf(cells[2]), "before\n", "KeyError")
	wantText(t, "stderr", stderr, "cell 3 of n.ipynb, In [2]:\n", "→     4      return {}['Kind']\n", "Cell In[2], line 7",
		"KeyError: 'Kind'\n", "error: cell 3: raised KeyError: 'Kind'\n", out)

	_, stderr = rerunCode(t.Context(), t, exitError, "--quiet", path)
	if wantText(t, "stderr", stderr, "cell 3 of n.ipynb", "KeyError"); strings.Contains(stderr, "In [1]") {
		t.Errorf("--quiet, yet: %s", stderr)
	}
	_, stderr = rerunCode(t.Context(), t, 0, "--allow-errors", "-o", out, path)
	wantText(t, "the cell after", plainOf(cellsOf(t, out)[3]), "3\n")
	if wantText(t, "stderr", stderr, "KeyError: 'Kind'\nIn [3]: print(3)\n3\ndone"); strings.Count(stderr, "KeyError: ") != 1 {
		t.Errorf("the error is not shown once: %s", stderr)
	}
	rerunCode(t.Context(), t, 0, "--quiet", "-o", path, saved(t, "good.ipynb", code("a", "pass")))
}

// TestRerunEnds: whatever ends a run, the notebook has what there was.
func TestRerunEnds(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	for _, c := range []struct {
		name, source string
		args         []string
		said         string
		status       notebook.Status
	}{
		{"death", "import os, time\ntime.sleep(0.3)\nos._exit(7)", []string{"--allow-errors"}, "exit status 7", notebook.Died},
		{"time-out", "import time\ntime.sleep(60)", []string{"--timeout", "1"}, "stopped after 1 s", notebook.TimedOut},
		{"deaf to the time-out", "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)", []string{"--timeout", "500ms"}, "ignored the interrupt", notebook.TimedOut},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := saved(t, "n.ipynb", code("one", "print(1)"), code("two", "print('before', flush=True)\n"+c.source, "raises-exception"), code("three", "3"))
			stdout, stderr := rerunCode(t.Context(), t, exitError, append(c.args, "--json", path)...)
			r := decodeRerun(t, stdout)
			cells := cellsOf(t, r.Out)
			if plainOf(cells[0]) != "1\n" || len(cells[2].Outputs) != 0 || cells[1].ExecutionCount != 2 {
				t.Errorf("%+v", cells)
			}
			wantText(t, "the cell", plainOf(cells[1]), "before\n")
			wantText(t, "stderr", stderr, c.said, "cell 2 of n.ipynb", "print('before', flush=True)")
			if f := r.Failed; f == nil || f.Index != 1 || f.ID != "two" || f.Status != c.status || !strings.Contains(f.Reason, c.said) {
				t.Errorf("failed: %+v", f)
			}
			if c.status == notebook.Died {
				validate(t, r.Out)
			}
		})
	}
	path := saved(t, "n.ipynb", code("one", "import time\ntime.sleep(60)"), code("two", "2"))
	stdout, stderr := rerunCode(t.Context(), t, 0, "--timeout", "500ms", "--allow-errors", "--json", path)
	wantText(t, "stderr", stderr, "stopped after 0.5 s", "Out[2]: 2")
	if r := decodeRerun(t, stdout); r.Failed != nil || r.Executed != 2 {
		t.Errorf("%+v", r)
	}
}

func decodeRerun(t *testing.T, stdout string) rerunResult {
	t.Helper()
	var r rerunResult
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
			wantText(t, "stderr", stderr, "the notebook up to there: "+out, "dsstar: interrupted")
		})
	}
}

func TestRerunUsage(t *testing.T) {
	t.Parallel()
	dir := dataFolder(t, map[string]string{
		"empty.ipynb": "", "list.ipynb": "[]", "text.ipynb": "print(1)", "three.ipynb": `{"worksheets": [], "nbformat": 3, "nbformat_minor": 0, "metadata": {}}`,
		"r.ipynb":    `{"cells": [], "nbformat": 4, "nbformat_minor": 4, "metadata": {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}}`,
		"good.ipynb": `{"cells": [], "nbformat": 4, "nbformat_minor": 4, "metadata": {}}`,
	})
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args []string
		said []string
	}{
		{[]string{in("gone.ipynb")}, []string{"there is no file", "hint: ls " + dir + "/*.ipynb"}},
		{[]string{dir}, []string{"is a folder"}},
		{[]string{in("empty.ipynb")}, []string{"it is empty"}},
		{[]string{in("list.ipynb")}, []string{"not a notebook of nbformat 4"}},
		{[]string{in("text.ipynb")}, []string{"invalid character"}},
		{[]string{in("three.ipynb")}, []string{"old format 3", "hint: jupyter nbconvert --to notebook --nbformat 4 " + in("three.ipynb")}},
		{[]string{in("r.ipynb")}, []string{"in R, not in Python", "hint: dsstar rerun --kernel ir " + in("r.ipynb")}},
		{[]string{}, []string{"one notebook is wanted"}},
		{[]string{in("good.ipynb"), in("r.ipynb")}, []string{"2 are given"}},
		{[]string{"-o", dir, in("good.ipynb")}, []string{"is a folder", "hint: dsstar rerun -o " + in("good.ipynb")}},
		{[]string{"-o", in("no/o.ipynb"), in("good.ipynb")}, []string{"there is no folder", "hint: mkdir -p " + in("no")}},
		{[]string{"-o", os.DevNull, in("good.ipynb")}, []string{"is not a file"}},
		{[]string{"-o", "-", "--json", in("good.ipynb")}, []string{"both want standard output"}},
		{[]string{"--timeout", "soon", in("good.ipynb")}, []string{`"soon" is neither a time such as 90s or 10m nor none`}},
		{[]string{"--kernel", "x", in("good.ipynb")}, []string{"--python and --kernel cannot both"}},
		{[]string{"--python", "", "--kernel", "no-such", in("good.ipynb")}, []string{`no kernelspec "no-such"`, "hint: dsstar rerun " + in("good.ipynb")}},
	} {
		stdout, stderr := rerunCode(t.Context(), t, exitUsage, c.args...)
		if wantText(t, strings.Join(c.args, " "), stderr, append(c.said, "dsstar: hint: ")...); stdout != "" {
			t.Errorf("stdout %q", stdout)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) != 6 || len(hidden) != 0 {
		t.Errorf("files were made: %q %q", left, hidden)
	}
}

func TestRerunStdoutAndInPlace(t *testing.T) {
	t.Parallel()
	path := saved(t, "n.ipynb", code("one", "print(1)"), code("two", "1/0"))
	stdout, _ := rerunCode(t.Context(), t, exitError, "-o", "-", path)
	nb, err := notebook.Read(strings.NewReader(stdout))
	if err != nil || plainOf(nb.Cells[0]) != "1\n" {
		t.Errorf("%v in %q", err, stdout)
	}
	link := filepath.Join(t.TempDir(), "link.ipynb")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	rerunCode(t.Context(), t, exitError, "--quiet", "-o", link, link)
	if plainOf(cellsOf(t, path)[0]) != "1\n" {
		t.Error("the file behind the link was not written")
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("also written: %q", left)
	}
}

func TestRerunOddNames(t *testing.T) {
	for _, name := range []string{"it's \"so\" ünïcode $(x).ipynb", "-n.ipynb", "no ending", "line\nbreak.ipynb"} {
		dir := t.TempDir()
		t.Chdir(dir)
		if err := os.Rename(saved(t, "n.ipynb", code("one", "import os\nprint(os.getcwd())")), name); err != nil {
			t.Fatal(err)
		}
		stdout, _ := rerunCode(t.Context(), t, 0, "--quiet", "--", name)
		out := strings.TrimSuffix(name, ".ipynb") + ".rerun.ipynb"
		if stdout != out+"\n" || plainOf(cellsOf(t, out)[0]) != dir+"\n" {
			t.Errorf("%q: stdout %q, %+v", name, stdout, cellsOf(t, out)[0].Outputs)
		}
	}
}

// TestRerunManyCells: the first cell does not wait, and a cell costs little.
func TestRerunManyCells(t *testing.T) {
	t.Parallel()
	cells := []notebook.Cell{}
	for range 300 {
		cells = append(cells, code("", "#"), notebook.Cell{Type: notebook.Code})
	}
	path := saved(t, "n.ipynb", append(cells, code("end", "len(In)"))...)
	begin := time.Now()
	stdout, _ := rerunCode(t.Context(), t, 0, "--json", "--quiet", path)
	r := decodeRerun(t, stdout)
	end := cellsOf(t, r.Out)[600]
	if plainOf(end) != "302\n" || end.ExecutionCount != 301 || r.Cells != 301 || r.Executed != 301 || r.Failed != nil || r.Incomplete == nil || r.Kernel.Language != "python" {
		t.Errorf("%+v, %+v", r, end)
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("301 cells took %s", d)
	}
}

// TestRerunLate: what a task puts out after its cell goes to its cell. (Of a
// thread, ipykernel says that it belongs to the cell that runs.)
func TestRerunLate(t *testing.T) {
	t.Parallel()
	path := saved(t, "n.ipynb",
		code("task", "import asyncio\nasync def late():\n    await asyncio.sleep(.2)\n    print('late', flush=True); display('shown')\ntask = asyncio.create_task(late())\nprint('first')"),
		code("other", "await task; await asyncio.sleep(.3)\nprint('second')"))
	rerunCode(t.Context(), t, 0, "-o", path, path)
	cells := cellsOf(t, path)
	if plainOf(cells[0]) != "first\nlate\n'shown'\n" || len(cells[0].Outputs) != 2 || plainOf(cells[1]) != "second\n" {
		t.Errorf("%+v", cells)
	}
}

func TestRerunLongOutput(t *testing.T) {
	t.Parallel()
	path := saved(t, "n.ipynb", code("much", "for i in range(20_000): print('x' * 99)"))
	_, stderr := rerunCode(t.Context(), t, 0, "-o", strings.TrimSuffix(path, "n.ipynb")+"o.ipynb", path)
	whole, err := os.ReadFile(filepath.Join(filepath.Dir(path), "o_files", "much-stdout.txt"))
	if err != nil || bytes.Count(whole, []byte("\n")) != 20_000 {
		t.Errorf("%v, %d lines", err, bytes.Count(whole, []byte("\n")))
	}
	wantText(t, "the cell", plainOf(cellsOf(t, filepath.Join(filepath.Dir(path), "o.ipynb"))[0]), "all of it is in o_files/much-stdout.txt")
	wantText(t, "stderr", stderr, "In [1]: for i", "\ndone")
}

// TestRerunKernelOfTheNotebook: the kernelspec that the notebook names, if there
// is one, in the user's own environment.
func TestRerunKernelOfTheNotebook(t *testing.T) {
	t.Parallel()
	spec, _ := json.Marshal(map[string]any{"display_name": "Mine", "language": "python", "env": map[string]string{"MINE": "yes"},
		"argv": []string{pyenvtest.Python(t), "-m", "ipykernel_launcher", "-f", "{connection_file}"}})
	jupyter := dataFolder(t, map[string]string{"kernels/mine/kernel.json": string(spec)})
	path := saved(t, "n.ipynb", code("one", "import os\nprint(os.environ.get('MINE'), os.environ['MY_API_KEY'], get_ipython().history_manager.hist_file)"))
	b, _ := os.ReadFile(path)
	for name, want := range map[string]string{"mine": "yes", "not-here": "None"} {
		if err := os.WriteFile(path, bytes.Replace(b, []byte(`"python3"`), []byte(`"`+name+`"`), 1), 0o644); err != nil {
			t.Fatal(err)
		}
		a, stdout, stderr := testApp(t, "JUPYTER_PATH="+jupyter, "MY_API_KEY=key")
		if exit := a.run(t.Context(), []string{"rerun", "--allow-env", "MY_API_KEY", "-o", "-", path}); exit != 0 {
			t.Fatalf("exit code %d: %s", exit, stderr)
		}
		wantText(t, "the notebook", stdout.String(), want+` key :memory:\n`, `"name": "`+name+`"`)
		wantText(t, "stderr", stderr.String(), "kernel   ", name)
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

// TestCleaner: of what cells put out, a terminal gets text and colours only.
func TestCleaner(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\r\nc\b":                         "a\tb\r\nc\b",
		"\x1b[31mred\x1b[0m":                  "\x1b[31mred\x1b[0m",
		"\x1b[1;38:5:9mx\x1b[m":               "\x1b[1;38:5:9mx\x1b[m",
		"\x1b[2J\x1b[H\x1b[?25lx":             "x",
		"\x1b]0;title\x07x\x1b]52;c;AA\x1b\\": "x",
		"\x1b]0;no end\nx":                    "x",
		"\x1bPq#0\x1b\\x\x1bcy\x1b(Bz":        "xyz",
		"\u009b31mx\u009d0;t\u009cy\x00\x07":  "\x1b[31mxy",
		"\x1b[>4;2mx\x1b\x1b[32my":            "x\x1b[32my",
		"ünï ☃\u0085\u2028":                   "ünï ☃\u2028",
	} {
		whole := cleaner{colours: true}
		if got := whole.text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		pieces, got := cleaner{colours: true}, ""
		for _, r := range in {
			got += pieces.text(string(r))
		}
		if got != want {
			t.Errorf("%q in pieces: %q, want %q", in, got, want)
		}
		if none := (&cleaner{}).text(in); strings.ContainsRune(none, 0x1b) {
			t.Errorf("%q without colours: %q", in, none)
		}
	}
	if got := excerpt("a\nb\nc", 0); !slices.Contains(strings.Split(got, "\n"), "      3  c") {
		t.Errorf("%q", got)
	}
}

// TestRerunOutLink: nothing is written through a link that stands where a result would go and that nobody has named.
func TestRerunOutLink(t *testing.T) {
	t.Parallel()
	path := saved(t, "a.ipynb", code("a", "1"))
	page := filepath.Join(t.TempDir(), "page.html")
	exported(t, 0, "-o", page, path) // which could be replaced as an earlier export
	before := content(t, page)
	for _, args := range [][]string{{"rerun"}, {"export"}, {"export", "--to", "md"}} {
		link := strings.TrimSuffix(path, ".ipynb") + map[string]string{"rerun": ".rerun.ipynb", "export": ".html", "md": ".md"}[args[len(args)-1]]
		if err := os.Symlink(page, link); err != nil {
			t.Skip(err)
		}
		a, stdout, stderr := testApp(t)
		if got := a.run(t.Context(), append(args, path)); got != exitUsage || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d\n%s", args, got, stdout)
		}
		wantText(t, "stderr", stderr.String(), "is a link", "hint: rm "+link)
		if content(t, page) != before {
			t.Errorf("%v: written through the link", args)
		}
	}
}

// TestOutFileHeld: the executed notebook goes where it was to go, whatever cells put in the place of its folder.
func TestOutFileHeld(t *testing.T) {
	t.Parallel()
	dir, outside := filepath.Join(t.TempDir(), "dir"), t.TempDir()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o, err := newOutFile(filepath.Join(dir, "a.ipynb"), "", &notebook.Notebook{})
	if err == nil {
		err = errors.Join(os.Rename(dir, dir+"-moved"), os.Symlink(outside, dir), o.save())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir+"-moved", "a.rerun.ipynb")); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v %v", entries, err)
	}
}

// TestRerunBeside: cells that write beside their notebook are refused, with the command that allows it.
func TestRerunBeside(t *testing.T) {
	t.Parallel()
	path := saved(t, "a.ipynb", code("a", "open('out.txt', 'w').write('1')"))
	allow := "--allow-write " + filepath.Dir(path)
	_, stderr := rerunCode(t.Context(), t, exitError, path)
	wantText(t, "stderr", stderr, "hint: dsstar rerun "+allow+" "+path)
	rerunCode(t.Context(), t, 0, append(strings.Fields(allow), path)...)
	if content(t, filepath.Join(filepath.Dir(path), "out.txt")) != "1" {
		t.Error("it is not written")
	}
}
