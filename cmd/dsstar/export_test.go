package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// exported runs dsstar export and checks its exit code.
func exported(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	a, out, errs := testApp(t)
	if got := a.run(t.Context(), append([]string{"export"}, args...)); got != want {
		t.Errorf("%q: exit code %d, want %d\n%s", args, got, want, errs)
	}
	return out.String(), errs.String()
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestExportRun exports what a real run left.
func TestExportRun(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	model := counting()
	model["coder"] = say(cell("import pandas as pd\nimport matplotlib.pyplot as plt\nnumbers = pd.read_csv('data/numbers.csv')\n" +
		"total = int(numbers['n'].sum())\nprint(total)\nplt.plot(numbers['n'])\nplt.show()\nnumbers"))
	run := ask(t, dataFolder(t, numbers), model.serve(t).URL)
	run.expect(exitVerified)

	page, _ := exported(t, 0, run.out)
	if page != filepath.Join(run.out, "notebook.html")+"\n" {
		t.Errorf("stdout is %q", page)
	}
	wantText(t, "the page", content(t, strings.TrimSpace(page)), `<body class="run verified">`, "<title>What is the total?</title>",
		"<section class=\"markdown question\">\n<h1 id=\"n-What-is-the-total?\">What is the total?</h1>\n<p><strong>Answer</strong></p>\n<pre><code>42\n</code></pre>\n<p>✔ <strong>Verified</strong>",
		`<img src="data:image/png;base64,`, `<table class="dataframe">`, "<details>\n<summary><code>numbers.csv</code>")
	md, _ := exported(t, 0, "--to", "md", "-o", "-", run.out)
	wantText(t, "the Markdown", md, "# What is the total?\n\n**Answer**\n\n```\n42\n```\n", "](data:image/png;base64,", "```python\nimport pandas as pd\n")
	script, stderr := exported(t, 0, "--to", "script", "-o", "-", run.out)
	if script != content(t, filepath.Join(run.out, "solution.py")) || stderr != "" {
		t.Errorf("the script is not solution.py\n%s%s", script, stderr)
	}

	// A cell that somebody has changed is in the script too.
	nb, err := openNotebook(filepath.Join(run.out, "notebook.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	nb.Cells = append(nb.Cells, code("mine", "%time x = 1\nmine = 2"))
	own := filepath.Join(run.out, "own.ipynb")
	if err := nb.Save(own); err != nil {
		t.Fatal(err)
	}
	script, stderr = exported(t, 0, "-o", own+".py", own)
	wantText(t, "the script", content(t, strings.TrimSpace(script)), "# %%\ndata_dir = ", "print(total)", "# %%\n# %time x = 1\nmine = 2\n")
	wantText(t, "stderr", stderr, "warning: lines that only IPython understands are comments in the script: 1")
}

// TestExportedScriptRuns holds that Python runs the script of a notebook with lines
// of IPython's.
func TestExportedScriptRuns(t *testing.T) {
	t.Parallel()
	path := saved(t, "a.ipynb", code("a", "%matplotlib inline\nx = [\"\"\"\n!no\n%no\"\"\",\n  7\n  % 4]\nif x:\n    !ls\nfiles = !ls\nlen?"),
		text("words", "not code"), code("b", "%%bash\nexit 1"), code("c", "%%time\nprint(len(x), x[1])"))
	script, stderr := exported(t, 0, "--to", "script", path)
	if want := strings.TrimSuffix(path, ".ipynb") + ".py\n"; script != want {
		t.Errorf("stdout is %q", script)
	}
	wantText(t, "stderr", stderr, "comments in the script: 7")
	out, err := exec.Command(pyenvtest.Python(t), strings.TrimSpace(script)).CombinedOutput()
	if err != nil || string(out) != "2 3\n" {
		t.Errorf("%v\n%s\n%s", err, out, content(t, strings.TrimSpace(script)))
	}
}

// TestExportReplaces holds what is replaced, and what is not.
func TestExportReplaces(t *testing.T) {
	t.Parallel()
	path := saved(t, "README.ipynb", text("t", "# One"))
	readme := strings.TrimSuffix(path, ".ipynb") + ".md"
	if err := os.WriteFile(readme, []byte("# By hand\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stdout, stderr := exported(t, exitUsage, "--to", "md", path)
	wantText(t, "stderr", stderr, "README.md is there already", "hint: dsstar export --to md "+path+" -o "+readme)
	if stdout != "" || content(t, readme) != "# By hand\n" {
		t.Errorf("stdout %q, the file is %q", stdout, content(t, readme))
	}
	exported(t, 0, "-o", readme, path)
	wantText(t, "the file", content(t, readme), "# One")

	if err := (&notebook.Notebook{Cells: []notebook.Cell{text("t", "# Two")}}).Save(path); err != nil {
		t.Fatal(err)
	}
	exported(t, 0, "--to", "md", path) // an export
	wantText(t, "the file", content(t, readme), "# Two")
	exported(t, 0, path)
	exported(t, 0, path)

	link := filepath.Join(t.TempDir(), "link.html")
	if err := os.Symlink(readme, link); err != nil {
		t.Skip(err)
	}
	exported(t, 0, "-o", link, path)
	wantText(t, "behind the link", content(t, readme), "<!DOCTYPE html>")
}

func TestExportUsage(t *testing.T) {
	t.Parallel()
	path := saved(t, "a.ipynb", text("t", "# One"))
	before := content(t, path)
	dir := filepath.Dir(path)
	for _, c := range []struct {
		args []string
		says string
		hint string
	}{
		{nil, "one run folder or notebook is wanted, and 0 are given", "dsstar export RUN"},
		{[]string{path, path}, "2 are given", "dsstar export RUN"},
		{[]string{"--to", "pdf", path}, `there is no format "pdf"`, "dsstar export --to html RUN"},
		{[]string{dir}, "is no run folder: it has no notebook.ipynb", "ls -d dsstar-runs/*"},
		{[]string{filepath.Join(dir, "none.ipynb")}, "there is no file", "ls "},
		{[]string{"-o", path, path}, "is the notebook itself", "dsstar export --to html " + path + " -o -"},
		{[]string{"-o", dir, path}, "is a folder", "-o " + filepath.Join(dir, "report.html")},
		{[]string{"-o", "/dev/null", path}, "is not a file", "-o -"},
		{[]string{"-o", filepath.Join(dir, "no", "x.md"), path}, "there is no folder", "mkdir -p"},
	} {
		stdout, stderr := exported(t, exitUsage, c.args...)
		if stdout != "" || !strings.Contains(stderr, c.says) || !strings.Contains(stderr, "hint: ") || !strings.Contains(stderr, c.hint) {
			t.Errorf("%q: stdout %q, stderr\n%s", c.args, stdout, stderr)
		}
	}
	if content(t, path) != before {
		t.Error("the notebook has changed")
	}
}
