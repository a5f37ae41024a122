package main

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	t     testing.TB
	mu    sync.Mutex
	heard strings.Builder
}

// mcpProgram is the server's command line, for a folder and the model behind url, of a user with
// another key than testKey.
func mcpProgram(t testing.TB, dir, url string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"mcp"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(cleanEnv(), asProgram+"=1", warmAt+"="+string(warmSessions(t)),
		"XDG_CONFIG_HOME="+t.TempDir(), "DSSTAR_PYTHON="+pyenvtest.Python(t), "DSSTAR_MODEL=scripted",
		"DSSTAR_RETRIES=0", "DSSTAR_BASE_URL="+url)
	return cmd
}

func newClient(t testing.TB, transport sdk.Transport) *client {
	t.Helper()
	c := &client{t: t}
	of := sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			checkObeys(t, "the progress", r.Params.Message)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.heard.WriteString(r.Params.Message + "\n")
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
func checkValues(t testing.TB, what string, value any) {
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

// told returns what the client was told of the progress of its calls.
func (c *client) told() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heard.String()
}

// TestMCPTexts: no text of a client's obeys what names of files, questions, cells and errors hold.
func TestMCPTexts(t *testing.T) {
	t.Parallel()
	program := mcpProgram(t, dataFolder(t, numbers), llmtest.New(t, func(llmtest.Request) llmtest.Response {
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
	wantText(t, "the progress", c.told(), "nu")
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
	program := mcpProgram(t, dataFolder(t, numbers), server.URL, "--parallel", "1")
	c := newClient(t, &sdk.CommandTransport{Command: program})
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
	cmd := mcpProgram(t, dataFolder(t, numbers), "", "--http", "127.0.0.1:0")
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
