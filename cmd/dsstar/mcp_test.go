package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dsstar/agent/llm/llmtest"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// A client is one of the MCP server, with what it was told of the progress of its calls.
type client struct {
	*sdk.ClientSession
	t     *testing.T
	mu    sync.Mutex
	heard []*sdk.ProgressNotificationParams
}

// mcpProgram is the server's command line, for a folder with numbers and the model behind url.
func mcpProgram(t *testing.T, url string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"mcp"}, args...)...)
	cmd.Dir = dataFolder(t, numbers)
	cmd.Env = append(cleanEnv(), asProgram+"=1", warmAt+"="+string(warmSessions(t)),
		"XDG_CONFIG_HOME="+t.TempDir(), "DSSTAR_PYTHON="+pyenvtest.Python(t), "DSSTAR_MODEL=scripted",
		"DSSTAR_RETRIES=0", "DSSTAR_BASE_URL="+url)
	return cmd
}

func newClient(t *testing.T, transport sdk.Transport) *client {
	t.Helper()
	c := &client{t: t}
	of := sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			checkObeys(t, "the progress", r.Params.Message)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.heard = append(c.heard, r.Params)
		}})
	c.ClientSession = must(of.Connect(t.Context(), transport, nil))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// call calls a tool, which must return what it prints, and an error only if failing is set.
func (c *client) call(failing bool, tool string, args map[string]any, into any) (text string) {
	c.t.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken(tool)
	r, err := c.CallTool(c.t.Context(), params)
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	for _, part := range r.Content {
		text += part.(*sdk.TextContent).Text + "\n"
	}
	checkObeys(c.t, tool, strings.ReplaceAll(text, "\ufffd", "")) // which a description may hold
	checkValues(c.t, tool, r.StructuredContent)
	if r.IsError != failing {
		c.t.Fatalf("%s: error %v\n%s", tool, r.IsError, text)
	}
	if into != nil {
		b, err := json.Marshal(r.StructuredContent)
		if err == nil {
			err = json.Unmarshal(b, into)
		}
		noError(c.t, err)
	}
	return text
}

// checkValues checks that no text in a JSON value contains anything that terminals obey.
func checkValues(t *testing.T, what string, value any) {
	t.Helper()
	switch value := value.(type) {
	case string:
		checkObeys(t, what, strings.ReplaceAll(value, "\ufffd", ""))
	case []any:
		for _, v := range value {
			checkValues(t, what, v)
		}
	case map[string]any:
		for name, v := range value {
			checkObeys(t, what, name)
			checkValues(t, what, v)
		}
	}
}

// told reports whether the client was told a text.
func (c *client) told(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.heard, func(p *sdk.ProgressNotificationParams) bool {
		return strings.Contains(p.Message, text)
	})
}

// TestMCP asks, follows up and checks as an agent does, over standard input and output.
func TestMCP(t *testing.T) {
	t.Parallel()
	m := counting()
	c := newClient(t, &sdk.CommandTransport{Command: mcpProgram(t, m.with(roles{
		"step": say(m["step"][0].Text, "Count them."),
		"cell": say(m["cell"][0].Text, cell("rows = len(numbers)\nopen('rows.txt', 'w').write(str(rows))")),
		"last": say(cell("print(total)"), cell("print(rows)")),
		"second": say(m["second"][0].Text,
			cell("answer = str(len(open('data/numbers.csv').readlines()) - 1)\n"+
				"open('rows.txt', 'w').write(answer)\nanswer")),
	}).serve(t).URL)})
	var r result
	text := c.call(false, "ask", map[string]any{"question": "--json", "guidelines": "@/etc/passwd"}, &r)
	if r.Answer != "42" || !r.Verified || r.Usage.Calls == 0 {
		t.Errorf("ask: %+v", r)
	}
	wantText(t, "the text", text, `"answer": "42"`, "Verified", r.Notebook)
	task := readRun(t, r.RunDir).Task
	if task.Question != "--json" || task.Guidelines != "@/etc/passwd" {
		t.Errorf("asked was %q in the form %q", task.Question, task.Guidelines)
	}
	if !c.told("Load the numbers") {
		t.Error("the client was told nothing of the step")
	}

	name := filepath.Base(r.RunDir)
	question := "@/etc/passwd: how many? Save it as rows.txt."
	text = c.call(false, "follow_up", map[string]any{"question": question, "run": name}, &r)
	wantText(t, "the text", text, filepath.Join(r.RunDir, "files", "rows.txt"))
	if q := readRun(t, r.RunDir).Task.Question; r.Answer != "3" || !r.Verified || q != question {
		t.Errorf("follow_up: %q, %+v", q, r)
	}
	var runs struct{ Runs []listedRun }
	c.call(false, "list_runs", map[string]any{"words": []string{"how many"}}, &runs)
	if len(runs.Runs) != 1 || runs.Runs[0].Standing != "verified" {
		t.Errorf("list_runs: %+v", runs)
	}
	var again struct{ Answers []struct{ Same bool } }
	c.call(false, "rerun_notebook", map[string]any{"notebook": filepath.Base(r.RunDir)}, &again)
	if len(again.Answers) != 2 || !again.Answers[0].Same || !again.Answers[1].Same {
		t.Errorf("rerun_notebook: %+v", again)
	}
	wantText(t, "describe_data", c.call(false, "describe_data", nil, nil), "numbers.csv", "3 rows")
	c.call(false, "list_kernels", nil, &listing{})
	wantText(t, "go_back", c.call(true, "go_back", map[string]any{"step": 9}, nil), "no step 9", "hint")
}

// TestMCPRefuses: what a client may not name, and what is no call.
func TestMCPRefuses(t *testing.T) {
	t.Parallel()
	outside := dataFolder(t, numbers)
	web := httptest.NewServer(http.RedirectHandler("/private/x.csv", http.StatusFound))
	defer web.Close()
	program := mcpProgram(t, "", "--root", ".", "--root", "https://example.org/open/", "--root",
		web.URL+"/open/")
	noError(t, os.Symlink(outside, filepath.Join(program.Dir, "link")),
		os.MkdirAll(filepath.Join(program.Dir, ".ssh"), 0o700))
	c := newClient(t, &sdk.CommandTransport{Command: program})
	type args map[string]any
	type refusal struct {
		tool string
		args args
		says string
	}
	rows := []refusal{
		{"describe_data", args{"data": outside}, unread}, {"rerun_notebook", args{"notebook": outside}, unread},
		{"continue_run", args{"run": outside}, unread},
		{"ask", args{"question": "?", "data": []string{"--out=x"}}, "no such file or folder: --out=x"},
		{"ask", args{"question": "?", "data": []string{"--out=x"}}, "hint: "},
		{"ask", args{"question": "?", "kernel": "newest"}, "--allow-kernels"},
		{"ask", args{"question": " "}, "/properties/question"},
		{"ask", args{"question": []string{"?"}}, "/properties/question"},
		{"ask", nil, `missing properties: ["question"]`},
		{"ask", args{"question": "?", "sandbox": "off"}, "sandbox"},
		{"describe_data", args{"data": 7}, "/properties/data"},
		{"list_runs", args{"words": []int{7}}, "/properties/words"},
		{"go_back", args{"step": "one"}, "/properties/step"},
		{"rerun_notebook", args{"data": 1}, "/properties/data"},
	}
	for _, data := range []string{outside, "link", ".ssh", "..", "x=" + outside, "file://" + outside,
		outside + "/*.csv", "sqlite:///" + outside + "/numbers.csv", "https://example.org/",
		"https://example.org/open/../x.csv", "https://example.org/open/%2e%2e/x.csv",
		"postgresql://localhost/postgres", "env:HOME", "s3://bucket/x", web.URL + "/x.csv",
		web.URL + "/open/x.csv"} { // which leads elsewhere
		rows = append(rows, refusal{"ask", args{"question": "?", "data": []string{data}}, unread})
	}
	for _, r := range rows {
		wantText(t, fmt.Sprint(r), c.call(true, r.tool, r.args, nil), r.says)
	}
}

// unread is what the server says of data that it may not read.
const unread = "not among what this server may read"

// TestMCPTexts: no text of a client's obeys what names of files, questions, cells and errors hold.
func TestMCPTexts(t *testing.T) {
	t.Parallel()
	program := mcpProgram(t, llmtest.New(t, func(llmtest.Request) llmtest.Response {
		return llmtest.Refuse(400, "", "no"+obeyed)
	}).URL)
	name := "nu" + strings.ReplaceAll(obeyed, "/", "") + "m.csv"
	run := filepath.Join(program.Dir, "dsstar-runs", "old")
	path := filepath.Join(program.Dir, name)
	noError(t, cmp.Or(os.MkdirAll(run, 0o700), os.WriteFile(path, []byte("n\n\u202e1\n"), 0o600)))
	saveRun(t, filepath.Join(run, "notebook.ipynb"), "What"+obeyed+"?", "42"+obeyed)
	c := newClient(t, &sdk.CommandTransport{Command: program})
	for _, data := range []any{name, []string{name, "numbers.csv"}} {
		wantText(t, "describe_data", c.call(false, "describe_data", map[string]any{"data": data}, nil), "nu")
	}
	wantText(t, "list_runs", c.call(false, "list_runs", nil, nil), "What")
	c.call(true, "ask", map[string]any{"question": "What" + obeyed + "?", "data": []string{name}}, nil)
	c.call(true, "rerun_notebook", map[string]any{"notebook": obeyed}, nil)
	if !c.told("nu") {
		t.Error("the client was not told of the file")
	}
}

// saveRun writes the notebook of a verified run.
func saveRun(t *testing.T, path, question, answer string) {
	t.Helper()
	attempt := func(code, text string) []record.Attempt {
		return []record.Attempt{{Code: code, Execution: notebook.Execution{Status: notebook.OK,
			Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: text}}}}}
	}
	tr := record.New(record.Task{Question: question, Data: "data"}, record.Question{
		Rounds: []record.Round{{Number: 1, Step: "Add.", Attempts: attempt("n = 42", "")}},
		Final:  &record.Final{Derived: record.Derived{Answer: answer, Attempts: attempt("print(n)", answer)}}})
	tr.Ended, tr.Described = true, true
	noError(t, page.Draw(tr).Save(path))
}

// TestMCPCancel: a run that fails or whose call is cancelled can be continued.
func TestMCPCancel(t *testing.T) {
	t.Parallel()
	reply := counting().with(roles{
		"verdict": {llmtest.Refuse(400, "", "no such thing"), {Stall: true}, {Text: sufficient}},
	}).reply()
	stalled := make(chan struct{}, 1)
	server := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		response := reply(r)
		if response.Stall {
			stalled <- struct{}{}
		}
		return response
	})
	c := newClient(t, &sdk.CommandTransport{Command: mcpProgram(t, server.URL, "--parallel", "1")})
	type answer struct {
		result
		Error string
	}
	var r answer
	text := c.call(true, "ask", map[string]any{"question": "What is the total?"}, &r)
	wantText(t, "the text", text, "no such thing", "hint: dsstar resume")
	wantText(t, "the error", r.Error, "no such thing", "hint: dsstar resume")

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "continue_run"})
		ended <- err
	}()
	<-stalled
	cancel()
	if err := <-ended; err == nil {
		t.Error("the call was not cancelled")
	}
	r = answer{}
	c.call(false, "continue_run", nil, &r) // waits for the one slot, and so for the run's end
	if r.Answer != "42" || !r.Verified || r.Rounds != 1 || r.Error != "" {
		t.Errorf("%+v", r)
	}
}

// TestMCPHTTP serves whom the token says, and no page of the web.
func TestMCPHTTP(t *testing.T) {
	t.Parallel()
	cmd := mcpProgram(t, "", "--http", "127.0.0.1:0")
	said := filepath.Join(t.TempDir(), "stderr")
	stderr := must(os.Create(said))
	cmd.Stderr = stderr
	noError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if code := exitCode(t, cmd); code != 0 {
			t.Errorf("exit code %d\n%s", code, content(said))
		}
	})
	where := regexp.MustCompile(`serving  (http\S+)\ntoken    (\S+)\n`)
	var at []string
	waitFor(t, "the server says where it is", func() bool {
		at = where.FindStringSubmatch(content(said))
		return at != nil
	})
	for name, want := range map[string]struct {
		token, host, origin string
		status              int
	}{
		"no token":       {"", "", "", http.StatusUnauthorized},
		"a wrong token":  {at[2] + "x", "", "", http.StatusUnauthorized},
		"a name":         {at[2], "evil.example.org", "", http.StatusForbidden},
		"another's page": {at[2], "", "https://evil.example.org", http.StatusForbidden},
	} {
		r := must(http.NewRequestWithContext(t.Context(), http.MethodPost, at[1],
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)))
		r.Host = want.host
		r.Header = http.Header{"Content-Type": {"application/json"}, "Origin": {want.origin},
			"Accept": {"application/json, text/event-stream"}}
		response := must(withToken(want.token).RoundTrip(r))
		_ = response.Body.Close()
		if response.StatusCode != want.status {
			t.Errorf("%s: status %d", name, response.StatusCode)
		}
	}
	c := newClient(t, &sdk.StreamableClientTransport{Endpoint: at[1],
		HTTPClient: &http.Client{Transport: withToken(at[2])}})
	c.call(false, "list_runs", nil, &struct{ Runs []listedRun }{})

	a, _, errs := testApp(t)
	for _, address := range []string{"0.0.0.0:0", ":0", "example.org:80", "8765"} {
		if code := a.run(t.Context(), []string{"mcp", "--http", address}); code != exitUsage {
			t.Errorf("--http %s: exit code %d\n%s", address, code, errs)
		}
	}
}

// withToken sends requests with a token.
type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}
