package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/agent/llm/llmtest"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// testKey is that of the user in tests.
var testKey = record.Key(strings.Repeat("k", keyBytes))

// configFolder makes dir a configuration folder of dsstar with testKey.
func configFolder(dir string) error {
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "key"), testKey, 0o600))
}

// testApp returns the program with its own settings and descriptions. It shares the user's managed
// Python environment, so that this is created only once.
func testApp(t testing.TB, env ...string) (a *testProgram, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	watchForKey(t, stdout, stderr)
	a = &testProgram{t: t}
	a.app = &app{stdin: strings.NewReader(""), stdout: stdout, stderr: stderr,
		host:      site.Host{Env: append(cleanEnv(), env...)},
		configDir: t.TempDir()}
	noError(t, configFolder(a.configDir))
	a.host.CacheDir, _, a.noCache = userDirs(a.host.Getenv)
	if !slices.Contains(env, live) {
		if at := warmSessions(t); at != "" {
			a.host.Cells = at
		}
	}
	return a, stdout, stderr
}

// cleanEnv returns the environment without anything that configures dsstar.
func cleanEnv() []string {
	var env []string
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, "PLANTED_") ||
			!strings.HasPrefix(entry, "DSSTAR_") && !strings.Contains(entry, "_API_KEY") {
			env = append(env, entry)
		}
	}
	return env
}

// roles is a scripted model: its replies to each role, in order. The last reply to a role is
// repeated. Those of the solver and of the judge may be given in parts: "step" and "cell"; "verdict",
// and "last" for the last cell of a verdict that has one. The finalizer's are those of "last", too.
type roles map[string][]llmtest.Response

// phrases tell the roles apart by their prompts, those of the published method, too.
var phrases = []struct{ role, phrase string }{
	{"analyzer", "Write a Python script that reads a data file"},
	{"describer", "Write the whole script again"},
	{"solver", "towards an answer and write its cell"},
	{"debugger", "Write the cell again"},
	{"summarizer", "Shorten this report"},
	{"judge", "Judge whether the steps answer"},
	{"finalizer", "Write the notebook's last cell"},
	{"second", "A colleague answers the same question"},
	{"arbiter", "Find out where the derivations part"},
	{"learner", "Note what will help colleagues with other questions"},
	{"branches", "Write a cell for each branch above"},
	{"planner", "towards an answer to the question"},
	{"script", "Write a Python script that carries out this step"},
	{"script", "Write the script again so that it carries out"},
	{"verifier", "Judge whether the plan"},
	{"router", "Decide how the plan goes on"},
	{"finalizer", "so that it prints the answer"},
}

// roleOf returns the role that sent a request; "other" if it is not one of dsstar's.
func roleOf(r llmtest.Request) string {
	for _, p := range phrases {
		if strings.Contains(r.Last(), p.phrase) {
			return p.role
		}
	}
	return "other"
}

func (m roles) serve(t testing.TB) *llmtest.Server { return llmtest.New(t, m.reply()) }

// reply returns the function that answers requests.
func (m roles) reply() func(llmtest.Request) llmtest.Response {
	var mu sync.Mutex
	asked := map[string]int{}
	next := func(role string) llmtest.Response {
		replies := m[role]
		if len(replies) == 0 {
			return llmtest.Refuse(400, "", "the script has no reply for the "+role)
		}
		asked[role]++
		return replies[min(asked[role], len(replies))-1]
	}
	return func(r llmtest.Request) llmtest.Response {
		mu.Lock()
		defer mu.Unlock()
		switch role := roleOf(r); {
		case len(m[role]) > 0:
			return next(role)
		case role == "solver":
			return joined("Step: ", next("step"), next("cell"))
		case role == "judge":
			verdict := next("verdict")
			if !hasLast.MatchString(verdict.Text) {
				return verdict
			}
			return joined("", verdict, next("last"))
		case role == "finalizer":
			return next("last")
		default:
			return next(role)
		}
	}
}

// hasLast matches verdicts that a last cell comes with.
var hasLast = regexp.MustCompile(`(?m)^Verdict: (?:enough|no answer)`)

// joined is one reply of two parts; the first of them that is none of text is the whole reply.
func joined(label string, a, b llmtest.Response) llmtest.Response {
	for _, part := range []llmtest.Response{a, b} {
		if part.Status != 0 || part.Stall {
			return part
		}
	}
	return llmtest.Response{Text: label + a.Text + "\n\n" + b.Text, Delay: a.Delay + b.Delay}
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

func say(texts ...string) []llmtest.Response {
	var all []llmtest.Response
	for _, text := range texts {
		all = append(all, llmtest.Response{Text: text})
	}
	return all
}

func cell(code string) string { return "```python\n" + code + "\n```" }

const (
	sufficient = "Verdict: enough\nReason: the total is computed."
	unfinished = "Verdict: go on\nReason: the total is missing."
)

// wrong is the verdict that a step is wrong.
func wrong(step int) string {
	return fmt.Sprintf("Verdict: step %d is wrong\nReason: it takes other numbers.", step)
}

// counting returns a model that adds up the numbers in data/numbers.csv, in two ways that agree.
func counting() roles {
	return roles{
		"step": say("Load the numbers and add them up."),
		"cell": say(cell("numbers = [int(line) for line in " +
			"open('data/numbers.csv').read().split()[1:]]\ntotal = sum(numbers)\nprint(total)")),
		"verdict": say(sufficient),
		"last":    say(cell("print(total)")),
		"second": say(cell("import pandas as pd\n" +
			"answer = str(pd.read_csv('data/numbers.csv')['n'].sum())\nanswer")),
	}
}

// A scene is one run of nb: a data folder, a model and the results.
type scene struct {
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
		noError(t, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

var numbers = map[string]string{"numbers.csv": "n\n1\n2\n39\n"}

// runNB runs nb on data with a model and a run folder at out.
func runNB(t *testing.T, m roles, env []string, data, out string, args ...string) *scene {
	t.Helper()
	a, stdout, stderr := testApp(t, env...)
	args = append([]string{"nb", "--out", out, "--model", "scripted", "--data", data, "--base-url",
		m.serve(t).URL, "--python", pyenvtest.Python(t)}, args...)
	code := a.run(t.Context(), append(args, "What is the total?"))
	return &scene{data, out, code, stdout.String(), stderr.String()}
}

// must returns a value that a test needs.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// noError ends a test that cannot go on.
func noError(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func wantText(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

// readRun reads the notebook of a run, which must be valid.
func readRun(t *testing.T, out string) *record.Trajectory {
	t.Helper()
	return must(page.Read(must(notebook.Open(filepath.Join(out, "notebook.ipynb")))))
}

func content(path string) string { return string(must(os.ReadFile(path))) }

// validate checks notebooks with Python's nbformat.
func validate(t *testing.T, paths ...string) {
	t.Helper()
	code := "import sys, nbformat\n" +
		"for p in sys.argv[1:]:\n    nbformat.validate(nbformat.read(p, as_version=4))"
	args := append([]string{"-c", code}, paths...)
	if out, err := exec.Command(pyenvtest.Tools(t), args...).CombinedOutput(); err != nil {
		t.Errorf("nbformat: %v\n%s", err, out)
	}
}

// python3 is the kernelspec that notebooks name.
var python3 = map[string]any{
	"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python",
}

// code returns a code cell that has run before.
func code(id, source string, outputs ...notebook.Output) notebook.Cell {
	return notebook.Cell{ID: id, Type: notebook.Code, Source: source,
		Metadata: map[string]any{}, ExecutionCount: 99, Outputs: outputs}
}

func text(id, source string) notebook.Cell {
	return notebook.Cell{ID: id, Type: notebook.Markdown, Source: source}
}

// waitFor waits until something has happened.
func waitFor(t testing.TB, what string, happened func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for ; !happened(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("did not come to pass: %s", what)
		}
	}
}
