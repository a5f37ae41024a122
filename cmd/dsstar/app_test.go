package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/kernels"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// testApp is the program with settings and descriptions of its own; the managed
// Python environment is the user's, so that it is made only once.
func testApp(t testing.TB, env ...string) (a *testProgram, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	watchForKey(t, stdout, stderr)
	a = &testProgram{t: t}
	a.app = &app{
		stdin: strings.NewReader(""), stdout: stdout, stderr: stderr,
		Host: kernels.Host{Env: append(cleanEnv(), env...)}, width: func() int { return 80 },
		configDir: t.TempDir(), descriptionDir: t.TempDir(),
	}
	a.CacheDir, _ = userDirs(a.Getenv)
	return a, stdout, stderr
}

// cleanEnv is the environment without anything that configures dsstar.
func cleanEnv() []string {
	var env []string
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, "PLANTED_") || !strings.HasPrefix(entry, "DSSTAR_") && !strings.Contains(entry, "_API_KEY") {
			env = append(env, entry)
		}
	}
	return env
}

// A roles is a scripted model: what it replies to each role, in order; the last
// reply of a role is repeated.
type roles map[string][]llmtest.Response

// phrases tell the roles apart by what they are asked.
var phrases = []struct{ role, phrase string }{
	{"analyzer", "Write a Python script that reads a data file"},
	{"describer", "Write the whole script again"},
	{"planner", "Propose"},
	{"coder", "Write the notebook's next cell"},
	{"debugger", "Write the cell again"},
	{"summarizer", "Shorten this report"},
	{"picker", "Pick the candidate"},
	{"verifier", "Judge whether the plan"},
	{"router", "Decide how the plan goes on"},
	{"finalizer", "Write the notebook's last cell"},
	{"checker", "Check the answer before it is given"},
}

// paperPhrases are those of the method as published.
var paperPhrases = []struct{ role, phrase string }{
	{"script", "Write a Python script that carries out this step"},
	{"script", "Write the script again so that it carries out"},
	{"finalizer", "so that it prints the answer"},
}

func roleOf(t testing.TB, r llmtest.Request) string {
	for _, p := range slices.Concat(phrases, paperPhrases) {
		if strings.Contains(r.Last(), p.phrase) {
			return p.role
		}
	}
	t.Errorf("no role asks like this:\n%s", r.Last())
	return ""
}

func (m roles) serve(t testing.TB) *llmtest.Server { return llmtest.New(t, m.reply(t)) }

// reply is what the model does with a request.
func (m roles) reply(t testing.TB) func(llmtest.Request) llmtest.Response {
	asked := map[string]int{}
	turn := make(chan struct{}, 1)
	return func(r llmtest.Request) llmtest.Response {
		role := roleOf(t, r)
		turn <- struct{}{}
		n := asked[role]
		asked[role]++
		<-turn
		replies := m[role]
		if len(replies) == 0 {
			return llmtest.Refuse(400, "", "the script has no reply for the "+role)
		}
		return replies[min(n, len(replies)-1)]
	}
}

func say(texts ...string) []llmtest.Response {
	var all []llmtest.Response
	for _, text := range texts {
		all = append(all, llmtest.Response{Text: text})
	}
	return all
}

func cell(code string) string { return "```python\n" + code + "\n```" }

const sufficient = "Verdict: sufficient\nReason: the total is computed."

// counting is a model that answers how many there are in data/numbers.csv.
func counting() roles {
	return roles{
		"planner":   say("Load the numbers and add them up."),
		"coder":     say(cell("numbers = [int(line) for line in open('data/numbers.csv').read().split()[1:]]\ntotal = sum(numbers)\nprint(total)")),
		"verifier":  say(sufficient),
		"finalizer": say(cell("print(total)")),
		"checker":   say("Form: fits"),
	}
}

// A scene is one run of nb: a data folder, a model, and what came of it.
type scene struct {
	t      *testing.T
	data   string
	out    string
	code   int
	stdout string
	stderr string
}

func dataFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var numbers = map[string]string{"numbers.csv": "n\n1\n2\n39\n"}

// askNB runs nb on data with the model behind url.
func askNB(t *testing.T, data, url string, args ...string) *scene {
	t.Helper()
	return runNB(t, data, filepath.Join(t.TempDir(), "run"), url, args...)
}

// runNB runs nb with a run folder at out.
func runNB(t *testing.T, data, out, url string, args ...string) *scene {
	t.Helper()
	s := &scene{t: t, data: data, out: out}
	a, stdout, stderr := testApp(t)
	args = append([]string{"nb", "--data", data, "--out", s.out, "--base-url", url, "--model", "scripted",
		"--python", pyenvtest.Python(t)}, args...)
	s.code = a.run(t.Context(), append(args, "What is the total?"))
	s.stdout, s.stderr = stdout.String(), stderr.String()
	return s
}

// expect checks the exit code, and that stderr says each of the texts.
func (s *scene) expect(code int, said ...string) {
	s.t.Helper()
	if s.code != code {
		s.t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", s.code, code, s.stdout, s.stderr)
	}
	for _, text := range said {
		if !strings.Contains(s.stderr, text) {
			s.t.Errorf("stderr does not say %q:\n%s", text, s.stderr)
		}
	}
}

// trajectory reads the notebook that the run left, which must be valid.
func (s *scene) trajectory() *record.Trajectory {
	s.t.Helper()
	return readRun(s.t, s.out)
}

func readRun(t *testing.T, out string) *record.Trajectory {
	t.Helper()
	return readNotebook(t, filepath.Join(out, "notebook.ipynb"))
}

func readNotebook(t *testing.T, path string) *record.Trajectory {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := record.Read(nb)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// validate lets Python's nbformat judge notebooks.
func validate(t *testing.T, paths ...string) {
	t.Helper()
	code := "import sys, nbformat\nfor p in sys.argv[1:]:\n    nbformat.validate(nbformat.read(p, as_version=4))"
	out, err := exec.Command(pyenvtest.Tools(t), append([]string{"-c", code}, paths...)...).CombinedOutput()
	if err != nil {
		t.Errorf("nbformat: %v\n%s", err, out)
	}
}

func decodeResult(t *testing.T, stdout string) result {
	t.Helper()
	var r result
	dec := json.NewDecoder(strings.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	if dec.More() {
		t.Errorf("more than one document on stdout: %q", stdout)
	}
	return r
}

// waitFor waits until something has happened.
func waitFor(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !happened(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("did not come to pass: %s", what)
		}
	}
}
