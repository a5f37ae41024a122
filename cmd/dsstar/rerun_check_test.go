package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// executed runs a notebook with the cells, so that it has outputs, and returns its path.
func executed(t *testing.T, cells ...notebook.Cell) string {
	t.Helper()
	path := saved(t, "n.ipynb", cells...)
	rerunCode(t.Context(), t, 0, "--sandbox", "off", "--quiet", "--allow-errors", "-o", path, path)
	return path
}

// edit changes a text in a notebook's file.
func edit(t *testing.T, path, old, changed string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s has no %q:\n%s", path, old, b)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte(old), []byte(changed)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree is all that a folder holds, by path.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(data)
		} else if info.Mode()&os.ModeSymlink != 0 {
			content, _ = os.Readlink(path)
		}
		fmt.Fprintf(&b, "%s %v %v %q\n", path, info.Mode(), info.ModTime(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCheckAny: of any notebook, each cell is compared with what it had put out.
func TestCheckAny(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	path := executed(t,
		code("numbers", "import os, sys, random, tempfile\nprint(0.1 + 0.2, object())\nprint(tempfile.mkdtemp(), file=sys.stderr)\nimport warnings; warnings.warn('old')"),
		text("m", "x"),
		code("timed", "%time x = 42\nx"),
		code("figure", "import matplotlib.pyplot as plt\nplt.plot([1, 2])"),
		code("raises", "print('before')\n{}['Kind']"),
		code("table", "import pandas as pd\npd.DataFrame({'a': [1.5, 2], 'b': ['x', 'y']}).style"),
		code("display", "h = display('one', display_id=True)"),
		code("update", "h.update('two')"),
		code("empty", "y = 1"),
	)
	stdout, stderr := rerunCode(t.Context(), t, 0, "--check", path)
	wantText(t, "stdout", stdout, "cell 1   same     import os, sys", "cell 5   same     print('before')", "checked  8 cells in ", ": 8 same\n")
	if stderr != "" || strings.Contains(stdout, "answer") {
		t.Errorf("stdout %s\nstderr %s", stdout, stderr)
	}

	edit(t, path, "0.30000000000000004", "0.3000000000000001") // as another processor may have it
	rerunCode(t.Context(), t, 0, "--check", path)
	edit(t, path, "0.3000000000000001", "0.3001")
	edit(t, path, "plt.plot([1, 2])", "plt.plot([1, 2.1])") // the code, not the record
	edit(t, path, "{}['Kind']", "{}['kind']")
	edit(t, path, `"y = 1"`, `"1/0"`)
	before := tree(t, filepath.Dir(path))
	stdout, stderr = rerunCode(t.Context(), t, exitNotVerified, "--check", path)
	wantText(t, "stdout", stdout,
		"cell 1   differs  import os", "         stdout:\n         -0.3001 <object object at 0x…>\n         +0.30000000000000004 <object object at 0x…>\n         ?^^^^^^^^^^^^^^^^^^^\n",
		"cell 4   differs  ", "         display, image/png:\n         ", " pixels differ (",
		"cell 5   differs  ", "         error:\n         -KeyError: 'Kind'\n         +KeyError: 'kind'\n",
		"cell 6   same ", "cell 9   error    1/0\n         raised ZeroDivisionError: division by zero\n",
		"checked  8 cells in ", ": 4 same, 3 differs, 1 error\n")
	wantText(t, "stderr", stderr, "cell 9 of n.ipynb", "ZeroDivisionError")
	if after := tree(t, filepath.Dir(path)); after != before {
		t.Errorf("a check has left something:\n%s\nbefore:\n%s", after, before)
	}
	rerunCode(t.Context(), t, exitNotVerified, "--check", "--tolerance", "0.001", path)

	out := filepath.Join(filepath.Dir(path), "o.ipynb")
	stdout, _ = rerunCode(t.Context(), t, exitNotVerified, "--check", "--json", "-o", out, path)
	r := decodeRerun(t, stdout)
	if len(r.Checked) != 8 || r.Out != out || r.Failed == nil || r.Failed.Index != 8 || r.Answer != nil {
		t.Fatalf("%+v", r)
	}
	first, last := r.Checked[0], r.Checked[7]
	if first.Index != 0 || first.ID != "numbers" || first.Verdict != differs || len(first.Differences) != 1 || first.Differences[0].What != "stdout" || first.Round != 0 {
		t.Errorf("%+v", first)
	}
	if last.Index != 8 || last.Verdict != failed || last.Reason == "" || len(last.Differences) != 1 || last.Differences[0].What != "error" {
		t.Errorf("%+v", last)
	}
	if cells := cellsOf(t, out); !strings.Contains(plainOf(cells[0]), "0.30000000000000004") {
		t.Errorf("%q", plainOf(cells[0]))
	}
	if rerunCode(t.Context(), t, 0, "--check", "--allow-errors", out); t.Failed() {
		t.Log("of what a check wrote")
	}
}

// TestCheckNotRun: what there is no record of is no difference.
func TestCheckNotRun(t *testing.T) {
	t.Parallel()
	path := executed(t, code("one", "print(1)"), code("two", "print(2)"), code("three", "print(3)"))
	nb, err := openNotebook(path)
	if err != nil {
		t.Fatal(err)
	}
	nb.Cells[1].Outputs, nb.Cells[1].ExecutionCount = nil, 0
	save := func() {
		if err := nb.Save(path); err != nil {
			t.Fatal(err)
		}
	}
	save()
	stdout, _ := rerunCode(t.Context(), t, 0, "--check", path)
	wantText(t, "stdout", stdout, "cell 2   not run  print(2)\n         the notebook has no outputs of it\n", "2 same, 1 not run")

	nb.Cells[1].Source = "1/0" // it never ran: an error as in any rerun, and no difference
	save()
	stdout, stderr := rerunCode(t.Context(), t, exitError, "--check", path)
	wantText(t, "stdout", stdout, "cell 2   error    1/0\n", "cell 3   not run  print(3)\n         the run had ended before it\n")
	wantText(t, "stderr", stderr, "error: cell 2: raised ZeroDivisionError")

	nb.Cells[0].Source = "import os; os._exit(3)"
	save()
	stdout, _ = rerunCode(t.Context(), t, exitNotVerified, "--check", path)
	wantText(t, "stdout", stdout, "cell 1   error    ", "exit status 3", "1 error, 2 not run")
}

// TestCheckInterrupted: a check that is not finished finds nothing.
func TestCheckInterrupted(t *testing.T) {
	t.Parallel()
	path := executed(t, code("one", "import time"), code("two", "time.sleep(globals().get('seconds', 0))"))
	edit(t, path, "import time", "import time; seconds = 60")
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	stdout, stderr := rerunCode(ctx, t, exitInterrupted, "--check", path)
	if wantText(t, "stderr", stderr, "dsstar: interrupted"); stdout != "" || strings.Contains(stderr, "up to there") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

// dropping is a run of the agent with an attempt that failed, and a round that was
// dropped. It prints 42, and the folder of its data.
func dropping(t *testing.T, files map[string]string) *scene {
	t.Helper()
	m := counting()
	m["planner"] = say("Load the numbers.", "Take the wrong ones.", "Plot them and add them up.")
	m["coder"] = say(
		cell("import pandas as pd\nnumbers = pd.read_csv('data/numbers.csv')\nprint(len(numbers), 'rows')\nopen('seen.txt', 'w').write('x')"),
		cell("numbers['m']"),
		cell("import os\nimport matplotlib.pyplot as plt\ntotal = int(numbers['n'].sum())\nplt.bar(range(len(numbers)), numbers['n'])\nplt.show()\nprint(total, os.getcwd(), set('abcdefgh'))"))
	m["debugger"] = say(cell("numbers.loc[0, 'n'] = 100\nprint(int(numbers['n'].max()))"))
	m["verifier"] = say("Verdict: insufficient\nMissing: the total", "Verdict: insufficient\nMissing: the right ones", sufficient)
	m["router"] = say("Add Step", "Step 2")
	s := ask(t, dataFolder(t, files), m.serve(t).URL)
	s.expect(exitVerified)
	if tr := s.trajectory(); s.stdout != "42\n" || len(tr.Rounds) != 3 || len(tr.Rounds[1].Attempts) != 2 || tr.Steps() != 2 {
		t.Fatalf("%q, %+v", s.stdout, tr.Rounds)
	}
	return s
}

// TestCheckOurs: a run is checked on its own data and on others, and its folder
// stays as it is.
func TestCheckOurs(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	s := dropping(t, numbers)
	path := filepath.Join(s.out, "notebook.ipynb")
	// Without --check the answer is told too, and the notebook that is written has the data.
	other := dataFolder(t, map[string]string{"numbers.csv": "n\n1\n2\n40\n"})
	out := filepath.Join(s.out, "o.ipynb")
	_, stderr := rerunCode(t.Context(), t, 0, "--data", other, "-o", out, path)
	wantText(t, "stderr", stderr, "answer   differs: was 42, is 43\n")
	wantText(t, "the parameters", cellsOf(t, out)[2].Source, "data_dir = \""+other+"\"\nquestion = ")
	validate(t, out)
	if tr := readNotebook(t, out); tr.Task.Data != other {
		t.Errorf("the record says %q", tr.Task.Data)
	}
	stdout, _ := rerunCode(t.Context(), t, 0, "--check", "--json", out)
	if r := decodeRerun(t, stdout); r.Answer == nil || !r.Answer.Same || r.Answer.Is != "43" || r.Checked[2].Round != 1 || r.Out != "" {
		t.Errorf("%+v", r)
	}
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}

	before := tree(t, s.out)
	stdout, _ = rerunCode(t.Context(), t, 0, "--check", path)
	wantText(t, "stdout", stdout, "same     round 1: import pandas", "same     round 3: import os", ": 5 same\nanswer   same: 42\n")

	// A changed number is found at the cell where it enters.
	stdout, _ = rerunCode(t.Context(), t, exitNotVerified, "--check", "--data", other, path)
	wantText(t, "stdout", stdout, "same     data_dir = ", "same     round 1: ", "differs  round 3: ", "         -42 "+s.out, "         +43 "+s.out, "         ?^^\n",
		" pixels differ", "         -42\n         +43\n", "answer   differs: was 42, is 43\n")
	// Data that lack a column: the answer is gone.
	none := dataFolder(t, map[string]string{"numbers.csv": "m\n1\n2\n39\n"})
	stdout, stderr = rerunCode(t.Context(), t, exitNotVerified, "--check", "--data", none, path)
	wantText(t, "stdout", stdout, "error    round 3: ", "raised KeyError: 'n'", "not run  print(total)", "answer   differs: was 42, is nothing\n")
	wantText(t, "stderr", stderr, "KeyError: 'n'")

	if after := tree(t, s.out); after != before {
		t.Errorf("the run folder has changed:\n%s\nbefore:\n%s", after, before)
	}
}

// TestRound: the attempts of a round run on the state that it began with, those
// that failed and those of dropped rounds too.
func TestRound(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	s := dropping(t, numbers)
	path := filepath.Join(s.out, "notebook.ipynb")
	before := tree(t, s.out)
	for round, want := range map[string][]string{
		"1": {"round 1  Load the numbers.\n", "try 1    same     ran\n"},
		"2": {"round 2  Take the wrong ones.\n", "try 1    same     raised KeyError: 'm'\n", "try 2    same     ran\n"},
		"3": {"round 3  Plot them", "try 1    same     ran\n"}, // without the 100 of round 2
	} {
		stdout, stderr := rerunCode(t.Context(), t, 0, "--check", "--round", round, path)
		wantText(t, "round "+round, stdout, want...)
		wantText(t, "stderr", stderr, "In [")
	}
	stdout, stderr := rerunCode(t.Context(), t, 0, "--round", "2", path)
	wantText(t, "stderr", stderr, "try 1\nIn [4]: numbers['m']\n", "KeyError: 'm'", "try 2\nIn [4]: numbers.loc", "\n100\n")
	wantText(t, "stdout", stdout, "try 1    same     raised KeyError: 'm', as recorded\n")

	// On data that have the column, the attempt that failed does not.
	other := dataFolder(t, map[string]string{"numbers.csv": "n,m\n1,1\n2,1\n39,1\n"})
	stdout, _ = rerunCode(t.Context(), t, exitNotVerified, "--check", "--round", "2", "--data", other, path)
	wantText(t, "stdout", stdout, "try 1    differs  ran; in the record it raised an exception\n", "try 2    same     ran\n")
	_, stderr = rerunCode(t.Context(), t, exitError, "--round", "2", "--data", other, path)
	wantText(t, "stderr", stderr, "error: round 2: attempt 1 did not end as recorded")

	// Numbers that differ, and a step before the round that fails.
	more := dataFolder(t, map[string]string{"numbers.csv": "n\n1\n2\n400\n"})
	stdout, _ = rerunCode(t.Context(), t, exitNotVerified, "--check", "--round", "2", "--json", "--data", more, path)
	var r roundResult
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Attempts) != 2 || r.Round != 2 || r.Step != "Take the wrong ones." || r.Attempts[0].Verdict != same || r.Attempts[0].Error != "raised KeyError: 'm'" ||
		r.Attempts[1].Verdict != differs || r.Attempts[1].Text != "400\n" || r.Attempts[1].Differences[0].Diff != "-100\n+400\n?^^^\n" {
		t.Errorf("%+v", r)
	}
	_, stderr = rerunCode(t.Context(), t, exitNotVerified, "--check", "--round", "2", "--data", dataFolder(t, map[string]string{"x.csv": "n\n1\n"}), path)
	wantText(t, "stderr", stderr, "the session as it was before round 2 cannot be rebuilt: cell 3 of 3: raised FileNotFoundError")
	_, stderr = rerunCode(t.Context(), t, exitUsage, "--round", "4", path)
	wantText(t, "stderr", stderr, "the run has 3 rounds, and no round 4", "hint: dsstar rerun --round 3 "+path)
	_, stderr = rerunCode(t.Context(), t, exitUsage, "--round", "0", path)
	wantText(t, "stderr", stderr, "the run has 3 rounds, and no round 0")
	if after := tree(t, s.out); after != before {
		t.Errorf("the run folder has changed:\n%s\nbefore:\n%s", after, before)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "dsstar-rerun-*", "files", "seen.txt")); len(left) > 0 {
		t.Logf("temporary folders, maybe of others: %q", left)
	}
}

// TestRelativeData: a data folder beside the run folder is found from wherever the cells run.
func TestRelativeData(t *testing.T) {
	dir := dataFolder(t, map[string]string{"data/numbers.csv": numbers["numbers.csv"]})
	t.Chdir(dir)
	m := counting()
	a, _, stderr := testApp(t)
	if exit := a.run(t.Context(), []string{"nb", "--data", "data", "--out", "run", "--base-url", m.serve(t).URL, "--model", "scripted", "--python", pyenvtest.Python(t), "What is the total?"}); exit != 0 {
		t.Fatalf("exit code %d: %s", exit, stderr)
	}
	path := filepath.Join("run", "notebook.ipynb")
	wantText(t, "the parameters", cellsOf(t, path)[2].Source, `data_dir = "../data"`)
	before := tree(t, "run")
	t.Chdir(t.TempDir())
	path = filepath.Join(dir, path)
	stdout, _ := rerunCode(t.Context(), t, 0, "--check", path)
	wantText(t, "stdout", stdout, "answer   same: 42")
	rerunCode(t.Context(), t, 0, "--check", "--round", "1", path)
	out := filepath.Join(dir, "run", "again.ipynb")
	rerunCode(t.Context(), t, 0, "-o", out, path)
	wantText(t, "the parameters", cellsOf(t, out)[2].Source, `data_dir = "../data"`)
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if after := tree(t, "run"); strings.Count(after, "\n") != strings.Count(before, "\n") {
		t.Errorf("the run folder has changed:\n%s\nbefore:\n%s", after, before)
	}
}

// TestInjectedData: in a notebook of somebody else the data folder is a parameter,
// as papermill has it.
func TestInjectedData(t *testing.T) {
	t.Parallel()
	data := dataFolder(t, numbers)
	path := executed(t,
		code("parameters", "data_dir = '"+data+"'\nk = 1", "parameters"),
		code("sum", "print(sum(int(n) for n in open(data_dir + '/numbers.csv').read().split()[1:]) * k)"))
	other := dataFolder(t, map[string]string{"numbers.csv": "n\n7\n"})
	stdout, _ := rerunCode(t.Context(), t, exitNotVerified, "--check", "--data", other, path)
	wantText(t, "stdout", stdout, "cell 1   same ", "cell 3   differs  print(sum", "-42\n", "+7\n", "checked  2 cells")
	out := filepath.Join(t.TempDir(), "o.ipynb")
	for range 2 { // a second time the cell is there
		rerunCode(t.Context(), t, 0, "--quiet", "--data", other, "-o", out, path)
		cells := cellsOf(t, out)
		if len(cells) != 3 || cells[1].Source != "# Parameters\ndata_dir = \""+other+"\"\n" || !slices.Equal(cells[1].Tags(), []string{"injected-parameters"}) || plainOf(cells[2]) != "7\n" {
			t.Errorf("%+v", cells)
		}
		path = out
	}
	validate(t, out)
}

func TestCheckUsage(t *testing.T) {
	t.Parallel()
	path := executed(t, code("one", "print(1)"))
	bare := saved(t, "bare.ipynb", notebook.Cell{Type: notebook.Code, Source: "1"})
	for _, c := range []struct {
		args []string
		said []string
	}{
		{[]string{"--check", bare}, []string{"has no outputs that could be compared", "hint: dsstar rerun " + bare}},
		{[]string{"--check", "-o", "-", path}, []string{"--check and --out - both", "hint: dsstar rerun --check -o "}},
		{[]string{"--tolerance", "1e-3", path}, []string{"--tolerance is for --check"}},
		{[]string{"--check", "--tolerance", "-1", path}, []string{"at least 0 and less than 1", "hint: dsstar rerun --check --tolerance 1e-6 "}},
		{[]string{"--check", "--tolerance", "NaN", path}, []string{"at least 0 and less than 1"}},
		{[]string{"--round", "1", path}, []string{"was not written by dsstar", "hint: dsstar rerun " + path}},
		{[]string{"--round", "one", path}, []string{`"one" is not a number`}},
		{[]string{"--round", "1", "-o", "x.ipynb", path}, []string{"no use for --out"}},
		{[]string{"--data", t.TempDir(), path}, []string{"no cell of " + path + " has the tag parameters and sets data_dir"}},
		{[]string{"--data", path + "/no", path}, []string{"--data:", "hint: ls"}},
		{[]string{"--data", path, path}, []string{"not a folder"}},
	} {
		stdout, stderr := rerunCode(t.Context(), t, exitUsage, c.args...)
		if wantText(t, strings.Join(c.args, " "), stderr, append(c.said, "dsstar: hint: ")...); stdout != "" {
			t.Errorf("stdout %q", stdout)
		}
	}
}
