package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// again resumes the run of a scene with the model behind url.
func (s *scene) again(url string, args ...string) *scene {
	s.t.Helper()
	a, stdout, stderr := testApp(s.t)
	args = append([]string{"resume", "--base-url", url, "--model", "scripted", "--python", pyenvtest.Python(s.t)}, args...)
	next := &scene{t: s.t, data: s.data, out: s.out}
	next.code = a.run(s.t.Context(), append(args, s.out))
	next.stdout, next.stderr = stdout.String(), stderr.String()
	return next
}

// editCells changes the notebook of a run as an editor does.
func (s *scene) editCells(change func(nb *notebook.Notebook)) {
	s.t.Helper()
	path := filepath.Join(s.out, "notebook.ipynb")
	nb, err := openNotebook(path)
	if err != nil {
		s.t.Fatal(err)
	}
	change(nb)
	if err := nb.Save(path); err != nil {
		s.t.Fatal(err)
	}
}

// cellNamed is the cell with an id.
func cellNamed(t *testing.T, nb *notebook.Notebook, id string) *notebook.Cell {
	t.Helper()
	for i := range nb.Cells {
		if nb.Cells[i].ID == id {
			return &nb.Cells[i]
		}
	}
	t.Fatalf("there is no cell %s", id)
	return nil
}

// steps is a model that needs three of them.
func steps() roles {
	return counting().with(roles{
		"planner": say("Load the numbers.", "Double them.", "Add them up."),
		"coder": say(cell("import pandas as pd\nnumbers = pd.read_csv('data/numbers.csv')\nprint(len(numbers))"),
			cell("numbers['n'] *= 2\nopen('doubled.txt', 'w').write('yes')\nprint(numbers['n'].max())"), cell("total = int(numbers['n'].sum())\nprint(total)")),
		"verifier": say("Verdict: unfinished\nMissing: the rest.", "Verdict: unfinished\nMissing: the rest.", sufficient),
	})
}

func (m roles) with(more roles) roles {
	all := roles{}
	for _, some := range []roles{m, more} {
		for role, replies := range some {
			all[role] = replies
		}
	}
	return all
}

// TestResumeBudget: a run whose budget is spent goes on to the same end, and asks
// nothing twice.
func TestResumeBudget(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	data := dataFolder(t, numbers)
	s := ask(t, data, steps().serve(t).URL, "--max-calls", "6")
	s.expect(exitBudget, "the budget is spent: 6 model calls", "dsstar resume --model scripted --base-url", s.out+"   # goes on")
	before, err := answered(record.Folder(s.out))
	if err != nil || len(before) != 6 {
		t.Fatalf("%d exchanges, %v", len(before), err)
	}
	left := filepath.Join(s.out, "files", "left.txt")
	if err := os.WriteFile(left, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	rest := steps().with(roles{"planner": say("Add them up."), "coder": steps()["coder"][2:], "verifier": steps()["verifier"][1:]})
	again := s.again(rest.serve(t).URL)
	again.expect(exitVerified, "verified 3 rounds, 12 model calls")
	if again.stdout != "84\n" {
		t.Errorf("the answer is %q", again.stdout)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed session has left in files/ is still there")
	}
	finished := s.again("http://127.0.0.1:1/v1")
	finished.expect(exitVerified, "nothing left to do")
	if finished.stdout != "84\n" {
		t.Errorf("the answer is %q", finished.stdout)
	}
}

// TestResumeEdit: an edit in the middle of a finished notebook; only what follows
// is run again, and script and proof follow.
func TestResumeEdit(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	s := ask(t, dataFolder(t, numbers), steps().serve(t).URL)
	s.expect(exitVerified)
	before, err := openNotebook(filepath.Join(s.out, "notebook.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	s.editCells(func(nb *notebook.Notebook) {
		c := cellNamed(t, nb, "step-2")
		c.Source = strings.Replace(c.Source, "*= 2", "*= 3", 1)
		note := notebook.Cell{ID: "mine", Type: notebook.Markdown, Source: "Three times, please.", Metadata: map[string]any{"tags": []any{"dsstar:note"}}}
		nb.Cells = append(nb.Cells, note)
	})
	m := roles{"verifier": say(sufficient), "checker": say("Form: fits")}
	again := s.again(m.serve(t).URL)
	again.expect(exitVerified, "edited   the cell of step 2 was changed", "edited   a note was left: Three times, please.")
	if again.stdout != "126\n" {
		t.Errorf("the answer is %q", again.stdout)
	}
	after, err := openNotebook(filepath.Join(s.out, "notebook.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"data", "parameters", "setup", "round-1", "step-1", "verdict-1"} {
		if diff := cmp.Diff(cellNamed(t, before, id), cellNamed(t, after, id)); diff != "" {
			t.Errorf("the cell %s, which is before the change (-before +after)\n%s", id, diff)
		}
	}
	if text := cellNamed(t, after, "step-2").Outputs[0].Text; text != "117\n" {
		t.Errorf("step 2 shows %q", text)
	}
	cellNamed(t, after, "mine")
	script, err := os.ReadFile(filepath.Join(s.out, "solution.py"))
	if err != nil || !strings.Contains(string(script), "*= 3") {
		t.Errorf("%v\n%s", err, script)
	}
	tr := again.trajectory()
	exchanges, err := answered(record.Folder(s.out))
	if err != nil || !tr.Verified() || tr.Usage.Calls != len(exchanges) || !strings.Contains(exchanges[len(exchanges)-1].Messages[1].Text, "Three times, please.") {
		t.Errorf("verified %v, %d calls, %d exchanges", tr.Verified(), tr.Usage.Calls, len(exchanges))
	}
	validate(t, filepath.Join(s.out, "notebook.ipynb"))
}

// TestResumeFails: a cell of the person's own that fails leaves the notebook with
// it.
func TestResumeFails(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	s := ask(t, dataFolder(t, numbers), counting().serve(t).URL)
	s.expect(exitVerified)
	s.editCells(func(nb *notebook.Notebook) { cellNamed(t, nb, "step-1").Source += "\nnothing_like_it" })
	again := s.again(roles{}.serve(t).URL)
	again.expect(exitError, "the cell of step 1 fails: NameError", "as you left it", s.out+"   # when it is mended in "+filepath.Join(s.out, "notebook.ipynb"))
	nb, err := openNotebook(filepath.Join(s.out, "notebook.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	if c := cellNamed(t, nb, "step-1"); c.Type != notebook.Code || !strings.HasSuffix(c.Source, "nothing_like_it") {
		t.Errorf("%+v", c)
	}
}

// TestResumeAsk: another question in the same session. A check tells of the answers to both.
func TestResumeAsk(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	s := ask(t, dataFolder(t, numbers), counting().serve(t).URL)
	s.expect(exitVerified)
	more := roles{
		"planner": say("Count them."), "coder": say(cell("rows = len(numbers)\nprint(rows)")), "verifier": say(sufficient),
		"finalizer": say(cell("print(f'{rows:.1f}')")), "checker": say("Form: fits"),
	}
	again := s.again(more.serve(t).URL, "--ask", "And how many are they?", "--guidelines", "one decimal", "--json")
	again.expect(exitVerified)
	if r := decodeResult(t, again.stdout); r.Answer != "3.0" || !r.Verified || r.Steps != 1 {
		t.Errorf("%+v", r)
	}
	path := filepath.Join(s.out, "notebook.ipynb")
	validate(t, path)
	stdout, _ := rerunCode(t.Context(), t, 0, "--check", "--json", path)
	want := []sameAnswer{{Question: "What is the total?", Same: true, Was: "42", Is: "42"}, {Question: "And how many are they?", Same: true, Was: "3.0", Is: "3.0"}}
	if r := decodeRerun(t, stdout); !slices.Equal(r.Answers, want) || r.Answer == nil || *r.Answer != want[1] {
		t.Errorf("%+v", r.Answers)
	}
	other := dataFolder(t, map[string]string{"numbers.csv": "n\n1\n2\n40\n"})
	out := filepath.Join(t.TempDir(), "o.ipynb")
	stdout, _ = rerunCode(t.Context(), t, exitNotVerified, "--check", "--data", other, "-o", out, path)
	wantText(t, "stdout", stdout, "answer 1 differs: was 42, is 43\nanswer 2 same: 3.0\n")
	if tr := readNotebook(t, out); tr.Earlier[0].Proof != nil || tr.Proof != nil {
		t.Errorf("proved: %+v %+v", tr.Earlier[0].Proof, tr.Proof)
	}
	wantText(t, "the first question", cellsOf(t, out)[0].Source, "43", "Not verified")
}

// TestResumeUsage: what cannot be resumed is said, with a hint, and nothing is run.
func TestResumeUsage(t *testing.T) {
	t.Parallel()
	s := ask(t, dataFolder(t, numbers), counting().serve(t).URL)
	s.expect(exitVerified)
	other := filepath.Join(t.TempDir(), "other.ipynb")
	if err := (&notebook.Notebook{}).Save(other); err != nil {
		t.Fatal(err)
	}
	release, err := record.Folder(s.out).Lock()
	if err != nil {
		t.Fatal(err)
	}
	a, _, stderr := testApp(t)
	if code := a.run(t.Context(), []string{"resume", s.out}); code == 0 || !strings.Contains(stderr.String(), "another dsstar is at work") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	release()
	for text, args := range map[string][]string{
		"one run is wanted, and 0 are given":  {},
		"there is no run nowhere":             {"nowhere"},
		"not written by dsstar":               {other},
		"is not a run folder":                 {filepath.Dir(other)},
		"--guidelines are for the question":   {"--guidelines", "x", s.out},
		"the run's data folder is not there:": {moved(t, s, "/gone")},
	} {
		a, stdout, stderr := testApp(t)
		if code := a.run(t.Context(), append([]string{"resume"}, args...)); code != exitUsage || !strings.Contains(stderr.String(), text) || !strings.Contains(stderr.String(), "hint: ") {
			t.Errorf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
	}
	strangersData(t, s)
}

// strangersData: a notebook cannot have dsstar or its cells look into a folder where keys are, unless the user says so.
func strangersData(t *testing.T, s *scene) {
	t.Helper()
	keys := filepath.Join(dataFolder(t, map[string]string{".ssh/numbers.csv": "n\n123454321\n"}), ".ssh")
	link := filepath.Join(t.TempDir(), "data")
	if err := os.Symlink(keys, link); err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{keys, link, "/etc", "/proc/self", "/var/lib", home, filepath.Dir(home), "/"} {
		run := moved(t, s, data)
		a, stdout, stderr := testApp(t)
		code := a.run(t.Context(), []string{"resume", "--python", pyenvtest.Python(t), run})
		if said := "dsstar resume --allow-read DIR " + run; code != exitUsage || !strings.Contains(stderr.String(), said) {
			t.Errorf("%s: exit code %d\n%s%s", data, code, stdout, stderr)
		}
	}
	run := moved(t, s, link)
	a, stdout, stderr := testApp(t)
	if code := a.run(t.Context(), []string{"resume", "--allow-read", keys, "--model", "replay:/dev/null", "--python", pyenvtest.Python(t), run}); !strings.Contains(stderr.String(), "edited   the data folder is now") {
		t.Errorf("allowed: exit code %d\n%s%s", code, stdout, stderr)
	}
	run = moved(t, s, link)
	out, said := rerunCode(t.Context(), t, exitError, run)
	if !strings.Contains(said, "is hidden or the system's: cells read it only with --data") || strings.Contains(out+said, "123454321") {
		t.Errorf("rerun: %s\n%s", out, said)
	}
	if err := os.Symlink(keys, filepath.Join(s.out, "variables")); err != nil {
		t.Fatal(err)
	}
	s.again("http://127.0.0.1:1/v1").expect(exitUsage, "variables is not a folder, as a run leaves it")
}

// moved is a copy of a run with another data folder.
func moved(t *testing.T, s *scene, data string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.out, "notebook.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	was, _ := json.Marshal(s.data)
	run := t.TempDir()
	if err := os.WriteFile(filepath.Join(run, "notebook.ipynb"), bytes.ReplaceAll(content, bytes.Trim(was, `"`), []byte(data)), 0o644); err != nil {
		t.Fatal(err)
	}
	return run
}

// TestResumeOfSkipped: a run of a version that skipped nothing sees the files that it had.
func TestResumeOfSkipped(t *testing.T) {
	data := t.TempDir()
	for name, text := range map[string]string{"venv/pyvenv.cfg": "home = /usr\n", "venv/a.csv": "n\n1\n", "b.csv": "n\n2\n"} {
		path := filepath.Join(data, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ had, want []string }{
		{[]string{"b.csv"}, []string{"b.csv"}},
		{[]string{"b.csv", "venv/a.csv", "venv/pyvenv.cfg"}, []string{"b.csv", "venv/a.csv", "venv/pyvenv.cfg"}},
		{[]string{"b.csv", "gone.csv"}, []string{"b.csv"}},
	} {
		r := pastRun{t: &record.Trajectory{Task: record.Task{Data: data}}}
		for _, name := range c.had {
			size := int64(4)
			if name == "venv/pyvenv.cfg" {
				size = 12
			}
			r.t.Task.Files = append(r.t.Task.Files, record.File{Name: name, Size: size})
		}
		for range 2 { // and once more, which adds nothing to what is included
			now, err := r.dataFiles(t.Context(), []string{"b.csv"})
			var names []string
			for _, f := range now {
				names = append(names, f.Name)
			}
			included := slices.Compact(slices.Sorted(slices.Values(r.t.Task.Include)))
			if err != nil || !slices.Equal(names, c.want) || len(included) != len(r.t.Task.Include) {
				t.Errorf("of %q there are %q, including %q: %v", c.had, names, r.t.Task.Include, err)
			}
		}
	}
}
