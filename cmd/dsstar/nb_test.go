package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent/llm/llmtest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

func TestAnswer(t *testing.T) {
	s := ask(t, dataFolder(t, numbers), counting().serve(t).URL)
	s.expect(exitVerified, "verified", "data     "+s.data)
	if s.stdout != "42\n" {
		t.Errorf("stdout is %q, want the answer alone", s.stdout)
	}
	for _, name := range []string{"notebook.ipynb", "solution.py", "trace.jsonl", "files"} {
		if _, err := os.Stat(filepath.Join(s.out, name)); err != nil {
			t.Error(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(s.out), ".*")); len(left) > 0 {
		t.Errorf("left beside the run folder: %v", left)
	}
	again := ask(t, s.data, "http://127.0.0.1:1/v1", "--quiet", "--json", "--model", "replay:"+filepath.Join(s.out, "trace.jsonl"))
	again.expect(exitVerified)
	if again.stderr != "" {
		t.Errorf("--quiet, yet stderr has %q", again.stderr)
	}
	r := decodeResult(t, again.stdout)
	if r.Answer != "42" || !r.Verified || !r.Sufficient || r.Rounds != 1 || r.Steps != 1 || r.Usage.Calls != 6 {
		t.Errorf("--json: %+v", r)
	}
	validate(t, filepath.Join(s.out, "notebook.ipynb"), r.Notebook)
}

func TestReplayThatNoLongerFits(t *testing.T) {
	t.Parallel()
	data := dataFolder(t, numbers)
	s := ask(t, data, counting().serve(t).URL)
	s.expect(exitVerified)
	trace := "replay:" + filepath.Join(s.out, "trace.jsonl")
	if err := os.WriteFile(filepath.Join(data, "numbers.csv"), []byte("n\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ask(t, data, "http://127.0.0.1:1/v1", "--model", trace).expect(exitError, "verifier", "round 1", "results")
	ask(t, data, "http://127.0.0.1:1/v1", "--model", trace, "--guidelines", "a number").expect(exitError, "planner", "guidelines")
}

// TestGoingBack is promise 4 on a real kernel: a dropped step's in-place
// changes, files and use of random numbers leave no trace.
func TestGoingBack(t *testing.T) {
	t.Parallel()
	m := counting()
	m["coder"] = say(
		cell("import random, numpy as np\nlist1 = [40]\nprint(len(list1))"),
		cell("list1.append(100)\nopen('note.txt', 'w').write('x')\nrandom.random(); np.random.rand()\nprint('wrong')"),
		cell("import os\nlist1.append(2)\ntotal = sum(list1)\nprint(total, os.path.exists('note.txt'), random.random() == random.Random(0).random())"),
	)
	m["planner"] = say("First.", "Second, wrong.", "Second.")
	m["verifier"] = say("Verdict: insufficient\nMissing: the total.", "Verdict: insufficient\nMissing: step 2 is wrong.", sufficient)
	m["router"] = say("Add Step", "Step 2")
	s := ask(t, dataFolder(t, numbers), m.serve(t).URL)
	s.expect(exitVerified, "step 2 is wrong")
	tr := s.trajectory()
	if a, _ := tr.Rounds[2].Accepted(); a.Execution.Stdout() != "42 False True\n" {
		t.Errorf("after going back: %q", a.Execution.Stdout())
	}
	if tr.Steps() != 2 || tr.Answer() != "42" {
		t.Errorf("%d steps, answer %q", tr.Steps(), tr.Answer())
	}
	if _, err := os.Stat(filepath.Join(s.out, "files", "note.txt")); err == nil {
		t.Error("the dropped step's file is still there")
	}
}

func TestKernelKilledDuringACell(t *testing.T) {
	t.Parallel()
	m := counting()
	// The pause is for ZeroMQ's own thread, which SIGKILL would end with the line unsent.
	m["coder"] = say(cell("import os, signal, time\nprint('before', flush=True)\ntime.sleep(0.3)\nos.kill(os.getpid(), signal.SIGKILL)"))
	m["debugger"] = say(cell("total = 42\nprint(total)"))
	s := ask(t, dataFolder(t, numbers), m.serve(t).URL)
	s.expect(exitVerified, "SIGKILL")
	first := s.trajectory().Rounds[0].Attempts[0].Execution
	if first.Status != notebook.Died || !strings.Contains(first.PlainText(), "before") {
		t.Errorf("the record of the cell that died: %+v", first)
	}
}

func TestKernelKilledByEveryCell(t *testing.T) {
	t.Parallel()
	m := counting()
	m["coder"] = say(cell("import os\nos._exit(7)"))
	m["debugger"] = m["coder"]
	s := ask(t, dataFolder(t, numbers), m.serve(t).URL, "--max-rounds", "2", "--debug-tries", "1")
	s.expect(exitError, "no step of the plan could be carried out", "notebook.ipynb", "exit status 7")
	validate(t, filepath.Join(s.out, "notebook.ipynb"))
}

func TestCellTimeout(t *testing.T) {
	t.Parallel()
	m := counting()
	m["coder"] = say(cell("import time\ntime.sleep(60)"))
	m["debugger"] = say(cell("total = 42\nprint(total)"))
	ask(t, dataFolder(t, numbers), m.serve(t).URL, "--cell-timeout", "4s").expect(exitVerified, "time-out")
}

func TestNotVerified(t *testing.T) {
	t.Parallel()
	t.Run("insufficient to the end", func(t *testing.T) {
		m := counting()
		m["verifier"] = say("Verdict: insufficient\nMissing: everything.")
		m["router"] = say("Add Step")
		s := ask(t, dataFolder(t, numbers), m.serve(t).URL, "--max-rounds", "2")
		s.expect(exitNotVerified, "NOT verified")
		if s.stdout != "42\n" || len(s.trajectory().Rounds) != 2 {
			t.Errorf("stdout %q, %d rounds", s.stdout, len(s.trajectory().Rounds))
		}
	})
	t.Run("another answer in a fresh session", func(t *testing.T) {
		m := counting()
		m["coder"] = say(cell("import time\ntotal = time.time_ns()\nprint(total > 0)"))
		ask(t, dataFolder(t, numbers), m.serve(t).URL).expect(exitNotVerified, "printed another answer")
	})
	t.Run("the script is not plain Python", func(t *testing.T) {
		m := counting()
		m["coder"] = say(cell("total = 42\ndisplay(total)\nprint(total)"))
		ask(t, dataFolder(t, numbers), m.serve(t).URL).expect(exitNotVerified, "plain Python", "display")
	})
}

// TestChangedData: without a sandbox nothing keeps cells from writing to the data
// folder, but an answer from data that the run has changed is never verified.
func TestChangedData(t *testing.T) {
	t.Parallel()
	m := counting()
	m["coder"] = say(cell("open('data/numbers.csv', 'a').write('1\\n')\nimport pandas as pd\ntotal = int(pd.read_csv('data/numbers.csv')['n'].sum())\nprint(total)"))
	s := ask(t, dataFolder(t, numbers), m.serve(t).URL, "--sandbox", "off")
	s.expect(exitNotVerified, "numbers.csv was changed")
}

// TestConstant: a last cell that gives a known name a value of its own is sent
// back like any other constant.
func TestConstant(t *testing.T) {
	t.Parallel()
	m := counting()
	m["finalizer"] = say(cell("total = 999\nprint(total)"))
	m["debugger"] = say(cell("print(total)"))
	s := ask(t, dataFolder(t, numbers), m.serve(t).URL)
	s.expect(exitVerified, "prints a constant")
	if s.stdout != "42\n" {
		t.Errorf("stdout %q", s.stdout)
	}
}

// TestDescriptionsDoNotMeet: what one file's script changes in its session does
// not show in another file's description.
func TestDescriptionsDoNotMeet(t *testing.T) {
	t.Parallel()
	m := counting()
	m["analyzer"] = say(cell(`import os, pandas as pd
print(pd.get_option("display.max_rows"), os.path.basename(os.getcwd()), os.listdir("."), "LEFT" in os.environ)
pd.set_option("display.max_rows", 7)
os.environ["LEFT"] = "1"
open("left.txt", "w").close()
os.chdir("/")`))
	data := dataFolder(t, map[string]string{"numbers.csv": numbers["numbers.csv"], "b.csv": "n\n1\n", "c.csv": "n\n1\n"})
	s := ask(t, data, m.serve(t).URL, "--jobs", "1", "--no-families")
	s.expect(exitVerified)
	for _, d := range s.trajectory().Descriptions {
		if d.Text != "60 files ['data'] False" {
			t.Errorf("%s: %q", d.File, d.Text)
		}
	}
}

// TestLinkedFolders: runs kept behind a link, as on another disk, and a linked
// data folder.
func TestLinkedFolders(t *testing.T) {
	project := t.TempDir()
	t.Chdir(project)
	if err := os.Symlink(t.TempDir(), "dsstar-runs"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dataFolder(t, numbers), "data"); err != nil {
		t.Fatal(err)
	}
	a, stdout, stderr := testApp(t, "DSSTAR_OUT=dsstar-runs") // else the link may be a stranger's
	code := a.run(t.Context(), []string{"nb", "--data", "data", "--base-url", counting().serve(t).URL, "--model", "scripted",
		"--python", pyenvtest.Python(t), "What is the total?"})
	if code != exitVerified || stdout.String() != "42\n" {
		t.Errorf("exit code %d, stdout %q, stderr %s", code, stdout, stderr)
	}
}

// TestProject: in a project's own folder the notebook names its data relative to
// itself, so that the project can be moved.
func TestProject(t *testing.T) {
	project := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(filepath.Join(project, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "data", "numbers.csv"), []byte(numbers["numbers.csv"]), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	a, stdout, stderr := testApp(t)
	code := a.run(t.Context(), []string{"nb", "--data", "./data", "--json", "--base-url", counting().serve(t).URL, "--model", "scripted",
		"--python", pyenvtest.Python(t), "What is the total?"})
	if code != exitVerified {
		t.Fatalf("exit code %d, stderr %s", code, stderr)
	}
	script := decodeResult(t, stdout.String()).Script
	moved := project + "-moved"
	t.Chdir(t.TempDir())
	if err := os.Rename(project, moved); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(pyenvtest.Python(t), strings.Replace(script, project, moved, 1)).Output()
	if err != nil || string(out) != "42\n42\n" {
		t.Errorf("the moved script: %v, %q", err, out)
	}
}

func TestDataFolders(t *testing.T) {
	server := counting().serve(t)
	ask(t, t.TempDir(), server.URL).expect(exitUsage, "no data files")
	ask(t, filepath.Join(t.TempDir(), "gone"), server.URL).expect(exitUsage, "does not exist")
	ask(t, filepath.Join(dataFolder(t, numbers), "numbers.csv"), server.URL).expect(exitUsage, "not a folder")
	if n := len(server.Requests()); n > 0 {
		t.Errorf("%d model calls were made", n)
	}

	odd := map[string]string{
		"numbers.csv":                     numbers["numbers.csv"],
		"empty.csv":                       "",
		"binary.bin":                      "\x00\xff\xfe\x80PK\x03\x04\x00",
		"it's \"so\" odd,  ünïcode\\.csv": "n\n1\n",
		"deep/er/näme.csv":                "n\n2\n",
	}
	m := counting()
	m["analyzer"] = nil
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		role := roleOf(t, r)
		if role != "analyzer" {
			return m[role][0]
		}
		return llmtest.Response{Text: cell("print(len(open(path, 'rb').read()), 'bytes')")}
	})
	s := ask(t, dataFolder(t, odd), model.URL)
	s.expect(exitVerified)
	for _, d := range s.trajectory().Descriptions {
		if want := "bytes"; !strings.Contains(d.Text, want) || d.Error != "" {
			t.Errorf("%s: %q %s", d.File, d.Text, d.Error)
		}
	}
}

func TestEndpointFaults(t *testing.T) {
	retried := func(first llmtest.Response) func(llmtest.Request) llmtest.Response {
		m := counting()
		return func(r llmtest.Request) llmtest.Response {
			if r.N == 1 {
				return first
			}
			return m[roleOf(t, r)][0]
		}
	}
	always := func(r llmtest.Response) func(llmtest.Request) llmtest.Response {
		return func(llmtest.Request) llmtest.Response { return r }
	}
	for _, test := range []struct {
		name  string
		model func(llmtest.Request) llmtest.Response
		env   string
		code  int
		said  []string
	}{
		{"401", always(llmtest.Refuse(401, "invalid_api_key", "Incorrect API key")), "", exitCredentials, []string{"the key", "Incorrect API key"}},
		{"429 with Retry-After", retried(llmtest.Response{Status: 429, Header: map[string]string{"Retry-After": "1"}}), "", exitVerified, []string{"retry", "429", "again in 1 s"}},
		{"500 for ever", always(llmtest.Refuse(500, "", "overloaded")), "DSSTAR_RETRIES=1", exitError, []string{"500", "overloaded"}},
		{"garbage", always(llmtest.Response{Body: "<html>it works!</html>"}), "DSSTAR_RETRIES=0", exitError, []string{"it works!"}},
		{"half a stream", retried(llmtest.Response{Text: cell("print(1)"), CutAfter: 1}), "", exitVerified, []string{"retry"}},
		{"never", always(llmtest.Response{Stall: true}), "DSSTAR_RETRIES=0 DSSTAR_IDLE_TIMEOUT=500ms", exitError, []string{"silent"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "run")
			a, stdout, stderr := testApp(t, strings.Fields(test.env)...)
			begin := time.Now()
			code := a.run(t.Context(), []string{"nb", "--data", dataFolder(t, numbers), "--out", out, "--base-url", llmtest.New(t, test.model).URL,
				"--model", "scripted", "--python", pyenvtest.Python(t), "What is the total?"})
			s := &scene{t: t, out: out, code: code, stdout: stdout.String(), stderr: stderr.String()}
			s.expect(test.code, test.said...)
			if tr := s.trajectory(); test.code != exitVerified && tr.Failure == "" {
				t.Error("the notebook does not say why the run ended")
			}
			if test.code != exitVerified && s.stdout != "" {
				t.Errorf("stdout: %q", s.stdout)
			}
			if d := time.Since(begin); d > time.Minute {
				t.Errorf("took %s", d)
			}
		})
	}
}

func TestUsageErrors(t *testing.T) {
	data := dataFolder(t, numbers)
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		said string
	}{
		{[]string{"nb", "question"}, "no data folder"},
		{[]string{"nb", "--data", data}, "no question"},
		{[]string{"nb", "--data", data, "two", "words"}, `dsstar nb --data DIR 'two words'`},
		{[]string{"nb", "--data", data, "q"}, "dsstar demo"},
		{[]string{"nb", "--data", data, "--model", "nosuch/m", "q"}, "openai"},
		{[]string{"nb", "--data", data, "--model", "openai/m", "--max-rounds", "x", "q"}, "max-rounds"},
		{[]string{"nb", "--data", data, "--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--guidelines", "@nosuch", "q"}, "nosuch"},
		{[]string{"nb", "--data", data, "--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--kernel", "nosuch", "q"}, "nosuch"},
		{[]string{"nb", "--data", data, "--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--python", "/nosuch", "q"}, "/nosuch"},
		{[]string{"nb", "--data", data, "--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--out", used, "--python", pyenvtest.Python(t), "q"}, "not empty"},
		{[]string{"nosuch"}, "nosuch"},
		{[]string{"nb", "--nosuch"}, "--nosuch"},
	} {
		a, stdout, stderr := testApp(t)
		code := a.run(t.Context(), test.args)
		said := stderr.String()
		if code != exitUsage || !strings.Contains(said, test.said) || stdout.Len() > 0 {
			t.Errorf("%q: exit code %d, stdout %q, stderr %s", test.args, code, stdout, said)
		}
		if !strings.HasPrefix(said, "dsstar: error: ") && !strings.Contains(said, "\ndsstar: error: ") || !strings.Contains(said, "dsstar: hint: ") {
			t.Errorf("%q: no error or no hint: %s", test.args, said)
		}
	}
}

func TestMissingKeyIsACredentialError(t *testing.T) {
	a, _, stderr := testApp(t)
	code := a.run(t.Context(), []string{"nb", "--data", dataFolder(t, numbers), "--model", "openai/m", "q"})
	if code != exitCredentials || !strings.Contains(stderr.String(), "export OPENAI_API_KEY") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestKeysStayOut: what the environment holds in keys is not in the kernel's.
func TestKeysStayOut(t *testing.T) {
	t.Parallel()
	m := counting()
	m["coder"] = say(cell("import os\nleft = [k for k in os.environ if 'KEY' in k or 'TOKEN' in k]\ntotal = len(left)\nprint(left)"))
	out := filepath.Join(t.TempDir(), "run")
	a, stdout, stderr := testApp(t, "MY_OWN=sk-1", "OPENAI_API_KEY=sk-2", "HF_TOKEN=hf-3")
	code := a.run(t.Context(), []string{"nb", "--data", dataFolder(t, numbers), "--out", out, "--base-url", m.serve(t).URL,
		"--api-key-env", "MY_OWN", "--model", "scripted", "--python", pyenvtest.Python(t), "What is the total?"})
	if !strings.Contains(stderr.String(), "key from MY_OWN") {
		t.Errorf("stderr does not say whose key is used: %s", stderr)
	}
	if code != exitVerified || stdout.String() != "0\n" {
		t.Errorf("exit code %d, stdout %q, stderr %s", code, stdout, stderr)
	}
	for _, name := range []string{"notebook.ipynb", "trace.jsonl"} {
		if b, err := os.ReadFile(filepath.Join(out, name)); err != nil || strings.Contains(string(b), "sk-") {
			t.Errorf("%s: %v, or a key is in it", name, err)
		}
	}
}

// TestOwnKernelspec runs on a kernelspec of the user's, whose Python is named
// as Jupyter names it: by "python" alone, in the environment that it lies in.
func TestOwnKernelspec(t *testing.T) {
	t.Parallel()
	python := pyenvtest.Python(t)
	prefix := t.TempDir()
	spec := filepath.Join(prefix, "share", "jupyter", "kernels", "mine")
	for _, dir := range []string{spec, filepath.Join(prefix, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	wrapper := "#!/bin/sh\nexec '" + python + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(prefix, "bin", "python"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	kernelJSON := `{"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Mine", "language": "python"}`
	if err := os.WriteFile(filepath.Join(spec, "kernel.json"), []byte(kernelJSON), 0o644); err != nil {
		t.Fatal(err)
	}
	a, stdout, stderr := testApp(t, "JUPYTER_PATH="+filepath.Join(prefix, "share", "jupyter"))
	code := a.run(t.Context(), []string{"nb", "--data", dataFolder(t, numbers), "--out", filepath.Join(t.TempDir(), "run"),
		"--base-url", counting().serve(t).URL, "--model", "scripted", "--kernel", "MINE", "--json", "What is the total?"})
	if code != exitVerified {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if r := decodeResult(t, stdout.String()); r.Kernel.Name != "Mine" || r.Answer != "42" {
		t.Errorf("%+v", r)
	}
}
