package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
	"dsstar/cmd/dsstar/internal/kernels/kernelstest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// isAnalyzer tells what the analyzer is asked from what all others are.
const isAnalyzer = "reads a data file and prints a description"

// describer is a model whose description scripts count lines, and that then
// answers like counting.
func describer(t *testing.T) *llmtest.Server {
	m := counting()
	return llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		if strings.Contains(r.Last(), isAnalyzer) {
			return llmtest.Response{Text: cell("print('rows:', len(open(path).readlines()) - 1)"), Usage: llm.Usage{InputTokens: 1000, OutputTokens: 100}}
		}
		return m[roleOf(t, r)][0]
	})
}

// table is a CSV file that is too large to be its own description.
func table(column string) string { return column + "\n" + strings.Repeat("12345\n", 500) }

// A describing is a user of describe with a cache and settings of their own, at
// a terminal.
type describing struct {
	t              *testing.T
	data, url      string
	home           string
	editor, typed  string
	code           int
	stdout, stderr string
}

func newDescribing(t *testing.T, data map[string]string) *describing {
	return &describing{t: t, data: dataFolder(t, data), url: describer(t).URL, home: t.TempDir()}
}

// run runs a command as the user; the model and Python are added to it.
func (d *describing) run(args ...string) *describing {
	d.t.Helper()
	a, stdout, stderr := testApp(d.t, "EDITOR="+d.editor, "VISUAL=")
	a.descriptionDir, a.configDir = filepath.Join(d.home, "descriptions"), filepath.Join(d.home, "config")
	a.stdinTTY, a.stderrTTY = d.editor != "", d.editor != ""
	a.stdin = strings.NewReader(d.typed)
	args = append(args, "--base-url", d.url, "--model", "scripted", "--python", pyenvtest.Python(d.t))
	d.code = a.run(d.t.Context(), args)
	d.stdout, d.stderr = stdout.String(), stderr.String()
	return d
}

// expect checks the exit code and that stderr says each of the texts.
func (d *describing) expect(code int, said ...string) *describing {
	d.t.Helper()
	(&scene{t: d.t, code: d.code, stdout: d.stdout, stderr: d.stderr}).expect(code, said...)
	return d
}

func (d *describing) decode() descriptions {
	d.t.Helper()
	var all descriptions
	dec := json.NewDecoder(strings.NewReader(d.stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&all); err != nil {
		d.t.Fatalf("%v in %q", err, d.stdout)
	}
	return all
}

// TestDescribeMaxFiles: a named file is described however many others there are.
func TestDescribeMaxFiles(t *testing.T) {
	d := newDescribing(t, map[string]string{"a.csv": "n\n1\n", "b.csv": "n\n2\n", "c.csv": "n\n3\n"})
	t.Setenv("DSSTAR_MAX_FILES", "") // not from outside
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "dsstar.yaml"), []byte("max_files: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	d.run("describe", d.data, "--question", "what is in b").expect(exitVerified, "2 files not looked at", "max_files")
	if !strings.Contains(d.stdout, "== b.csv") || strings.Contains(d.stdout, "== a.csv") {
		t.Errorf("stdout: %s", d.stdout)
	}
	d.run("describe", d.data, "c.csv").expect(exitVerified)
	if !strings.Contains(d.stdout, "== c.csv") || strings.Count(d.stdout, "==") != 1 {
		t.Errorf("stdout: %s", d.stdout)
	}
}

func TestDescribeBudgetAndCredentials(t *testing.T) {
	t.Parallel()
	d := newDescribing(t, map[string]string{"a.csv": table("n"), "c.csv": table("other"), "rules.md": "Round up."})
	d.run("describe", d.data, "--max-calls", "1", "--json").expect(exitBudget, "1 model call", "dsstar describe --max-calls MORE")
	reached := 0
	for _, f := range d.decode().Files {
		if f.Error == "" {
			reached++
		}
	}
	if reached < 1 || reached == 3 {
		t.Errorf("stdout: %s", d.stdout)
	}
	d.url = llmtest.New(t, func(llmtest.Request) llmtest.Response {
		return llmtest.Refuse(401, "invalid_api_key", "Incorrect API key")
	}).URL
	d.run("describe", d.data, "--no-cache").expect(exitCredentials, "Incorrect API key")
	if !strings.Contains(d.stdout, "Round up.") || strings.Contains(d.stdout, "a.csv") {
		t.Errorf("stdout should have what was described: %s", d.stdout)
	}
}

// TestEditDescription is what a correction is for: describe, edit, and then the
// planner of nb works from the user's text, which the notebook says.
func TestEditDescription(t *testing.T) {
	t.Parallel()
	d := newDescribing(t, map[string]string{"a.csv": table("n"), "numbers.csv": numbers["numbers.csv"]})
	script := filepath.Join(t.TempDir(), "my editor")
	pyenvtest.WriteProgram(t, script, []byte("#!/bin/sh\n[ \"$1\" = --wait ] || exit 9\ncp \"$2\" \""+d.home+"/seen\"\necho 'n is in cents.' >> \"$2\"\n"))
	d.editor = `"` + script + `" --wait`
	d.run("describe", d.data, "--edit", "a.csv").expect(exitVerified, "a.csv: later runs on")
	if seen, err := os.ReadFile(filepath.Join(d.home, "seen")); err != nil || string(seen) != "rows: 500\n" {
		t.Errorf("the editor was shown %q: %v", seen, err)
	}
	if d.stdout != "" {
		t.Errorf("stdout: %q", d.stdout)
	}
	const corrected = "rows: 500\nn is in cents."
	d.editor = ""
	d.run("describe", d.data, "a.csv").expect(exitVerified)
	if !strings.Contains(d.stdout, " · corrected by hand\n"+corrected+"\n") {
		t.Errorf("stdout: %s", d.stdout)
	}

	var planner string
	d.url = llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		planner = r.Last()
		return llmtest.Refuse(400, "", "that is all")
	}).URL
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(d.data, link); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "run")
	d.run("nb", "--data", link, "--out", out, "What is the total?").expect(exitError, "that is all")
	if !strings.Contains(planner, corrected) {
		t.Errorf("the planner was asked:\n%s", planner)
	}
	if nb, err := os.ReadFile(filepath.Join(out, "notebook.ipynb")); err != nil || !strings.Contains(string(nb), "corrected by hand") {
		t.Errorf("the notebook does not say so: %v", err)
	}
}

// TestEditUnchangedAndEmpty: a text that is left alone is no correction, and an
// empty one takes the correction back.
func TestEditUnchangedAndEmpty(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	d := newDescribing(t, map[string]string{"rules.md": "Round up."})
	d.editor = "true"
	d.run("describe", d.data, "--edit", "rules.md").expect(exitVerified, "nothing has changed")
	d.editor = ": >"
	d.run("describe", d.data, "--edit", "rules.md").expect(exitVerified, "no correction to take back")
	d.run("describe", d.data, "--set", "rules.md=Round down.").expect(exitVerified, "use your text")
	d.run("describe", d.data, "--edit", "rules.md").expect(exitVerified, "taken back")
	d.editor = "false"
	d.run("describe", d.data, "--edit", "rules.md").expect(exitError, "exit status 1", "unchanged", "hint: export EDITOR")
	d.editor = ""
	d.run("describe", d.data).expect(exitVerified)
	if strings.Contains(d.stdout, "corrected") || !strings.Contains(d.stdout, "Round up.") {
		t.Errorf("stdout: %s", d.stdout)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "dsstar-description-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSetDescription needs neither model nor kernel nor terminal.
func TestSetDescription(t *testing.T) {
	d := newDescribing(t, map[string]string{"a=b.csv": "n\n1\n", "c.csv": "n\n2\n"})
	d.url = "http://127.0.0.1:1/v1"
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("From a file.\r\n\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	kept := func() map[string]string {
		a, _, _ := testApp(t)
		a.configDir = filepath.Join(d.home, "config")
		all, err := a.corrections(d.data)
		if err != nil {
			t.Error(err)
		}
		return all
	}
	d.typed = "Typed.\n"
	d.run("describe", d.data, "--set", "a=b.csv=@"+text).expect(exitVerified, "a=b.csv")
	d.run("describe", d.data, "--set", "c.csv=-").expect(exitVerified)
	if all := kept(); len(all) != 2 || all["a=b.csv"] != "From a file." || all["c.csv"] != "Typed." {
		t.Errorf("%q", all)
	}
	d.run("describe", d.data, "--set", "c.csv=Typed.").expect(exitVerified, "nothing has changed")
	d.run("describe", d.data, "--set", "c.csv=").expect(exitVerified, "taken back")
	d.run("describe", d.data, "--set", "a=b.csv=\xff").expect(exitUsage, "UTF-8")
	if all := kept(); len(all) != 1 || all["a=b.csv"] != "From a file." {
		t.Errorf("%q", all)
	}
}

func TestDescribeUsage(t *testing.T) {
	d := newDescribing(t, map[string]string{"sales_2023.csv": "n\n1\n", "sub/terms.md": "x"})
	for _, test := range []struct {
		args []string
		said []string
	}{
		{nil, []string{"no data folder", "hint: dsstar describe DIR"}},
		{[]string{filepath.Join(d.data, "gone")}, []string{"does not exist"}},
		{[]string{d.data, "sales-2023.csv"}, []string{"no data file sales-2023.csv", "hint: dsstar describe " + d.data + " sales_2023.csv"}},
		{[]string{d.data, "--edit", "Terms.md"}, []string{"hint: dsstar describe " + d.data + " --edit sub/terms.md"}},
		{[]string{d.data, "--set", "terms.md=x"}, []string{"--set sub/terms.md=x"}},
		{[]string{d.data, "--set", "sub/terms.md"}, []string{"FILE=TEXT"}},
		{[]string{d.data, "--set", "sub/terms.md=@nosuch"}, []string{"no such file: nosuch"}},
		{[]string{d.data, "--edit", "sub/terms.md"}, []string{"needs a terminal", "--set sub/terms.md=@PATH"}},
		{[]string{d.data, "sub"}, []string{"not a file", "hint: ls"}},
		{[]string{d.data, "--edit", "sub/terms.md", "--json"}, []string{"cannot be combined"}},
		{[]string{d.data, "sales_2023.csv", "--edit", "sub/terms.md"}, []string{"one too many"}},
		{[]string{d.data, "--max-cost", "1"}, []string{"the price of scripted"}},
	} {
		d.run(append([]string{"describe"}, test.args...)...).expect(exitUsage, append(test.said, "dsstar: hint: ")...)
		if d.stdout != "" {
			t.Errorf("%q: stdout %q", test.args, d.stdout)
		}
	}
	a, _, stderr := testApp(t)
	if code := a.run(t.Context(), []string{"describe", d.data}); code != exitUsage || !strings.Contains(stderr.String(), "dsstar describe --model ollama/MODEL "+d.data) {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestDescribeRunsAlone: a kernel that is the user's is not used, nor asked for.
func TestDescribeRunsAlone(t *testing.T) {
	runtime := t.TempDir()
	kernelstest.Start(t, runtime, "mine")
	a, stdout, stderr := testApp(t, kernelstest.Env(t, runtime)...)
	code := a.run(t.Context(), []string{"describe", dataFolder(t, numbers), "--kernel", "mine", "--base-url", "http://127.0.0.1:1/v1", "--model", "m"})
	if code != exitUsage || !strings.Contains(stderr.String(), "mine is a running kernel") || stdout.Len() > 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestDescribeLinks: what a link leads to out of the folder is neither shown nor told to the model, until the user allows it.
func TestDescribeLinks(t *testing.T) {
	d := newDescribing(t, map[string]string{"a.csv": "n\n1\n", "near.md": "kept here"})
	far := dataFolder(t, map[string]string{"one.md": "planted-secret", "other.md": "planted-secret"})
	for link, to := range map[string]string{"far.md": "one.md", "farther.md": "other.md"} {
		if err := os.Symlink(filepath.Join(far, to), filepath.Join(d.data, link)); err != nil {
			t.Fatal(err)
		}
	}
	d.run("describe", d.data).expect(exitVerified, "links that lead out of the data folder are not read: \"data/far.md\", \"data/farther.md\"", "allow it with --allow-read "+far)
	if strings.Contains(d.stdout+d.stderr, "planted") || !strings.Contains(d.stdout, "kept here") || !strings.Contains(d.stdout, "it is a link that leads out of the data folder, and is not read") {
		t.Errorf("%s\n%s", d.stdout, d.stderr)
	}
	if err := os.Rename(filepath.Join(far, "other.md"), filepath.Join(far, ".other.md")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(d.data, "farther.md")), os.Symlink(filepath.Join(far, ".other.md"), filepath.Join(d.data, "farther.md"))); err != nil {
		t.Fatal(err)
	}
	d.run("describe", d.data).expect(exitVerified, "allow it with --allow-read "+filepath.Join(far, "one.md"))
	if strings.Contains(d.stderr, ".other.md") { // a link may be there for the user to paste the flag
		t.Error(d.stderr)
	}
	d.run("describe", d.data, "--allow-read", far).expect(exitVerified)
	if strings.Count(d.stdout, "planted-secret") != 2 || strings.Contains(d.stderr, "not read") {
		t.Errorf("%s\n%s", d.stdout, d.stderr)
	}
}
