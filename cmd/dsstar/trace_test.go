package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/llm"
)

// runTrace writes the exchanges as the trace of a run and returns its folder.
func runTrace(t *testing.T, exchanges ...llm.Exchange) string {
	t.Helper()
	dir := t.TempDir()
	trace, err := llm.OpenTrace(filepath.Join(dir, "trace.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	for _, e := range exchanges {
		if err := trace.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// asked is an exchange about a text, whose role counts 4 bytes.
func asked(role, subject, text string, u llm.Usage) llm.Exchange {
	return llm.Exchange{Role: role, Subject: subject, Model: "m", Messages: []llm.Message{{Role: "user", Text: text}}, Usage: u, Seconds: 1.5}
}

// aRun is a run of two rounds: a ranking of three requests, a reply asked for
// again, a call that failed.
func aRun() []llm.Exchange {
	u := llm.Usage{InputTokens: 100, CachedTokens: 10, OutputTokens: 7}
	ranked := asked("retriever", "files", "question", llm.Usage{InputTokens: 50})
	ranked.Calls = 3
	failed := asked("planner", "round 2", "plan the rest", llm.Usage{})
	failed.Error = "no"
	stopped := asked("planner", "round 3", "", llm.Usage{})
	stopped.Error, stopped.Stopped, stopped.Seconds = "context canceled", true, 0
	about := asked("coder", "round 1", "code", llm.Usage{InputTokens: 1, OutputTokens: 1, Estimated: true})
	return []llm.Exchange{
		ranked, asked("planner", "round 1", "plan a", u), asked("planner", "round 1, asked again", "plan b", u), failed, stopped, about,
	}
}

func tell(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	a, out, err := testApp(t)
	code = a.run(t.Context(), append([]string{"trace"}, args...))
	return code, out.String(), err.String()
}

func TestTrace(t *testing.T) {
	dir := runTrace(t, aRun()...)
	code, stdout, stderr := tell(t, dir)
	want := dir + `/trace.jsonl
ROLE       CALLS AGAIN FAILED     INPUT   CACHED CACHEABLE    %   OUTPUT SECONDS
retriever      3     0      0        50        0         0    0        0     1.5
planner        2     1      1       200       20        90   45       14     4.5
coder          1     0      0        ~1        0        ~0    0       ~1     1.5
total          6     1      1      ~251       20       ~90   36      ~15     7.5
`
	if code != 0 || stdout != want || stderr != "" {
		t.Errorf("exit code %d, %s\n%s\nwant\n%s", code, stderr, stdout, want)
	}
	for _, line := range strings.Split(stdout, "\n")[1:] {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestTraceJSON(t *testing.T) {
	dir := runTrace(t, aRun()...)
	code, stdout, stderr := tell(t, "--json", dir, filepath.Join("demo", "trace.jsonl"))
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	var got struct {
		Traces []struct {
			Trace string
			Roles []map[string]any
			Total map[string]any
		}
		Roles []map[string]any
		Total map[string]any
	}
	dec := json.NewDecoder(strings.NewReader(stdout))
	if err := dec.Decode(&got); err != nil || dec.More() {
		t.Fatalf("%v in %s", err, stdout)
	}
	planner, _ := json.Marshal(got.Traces[0].Roles[1])
	if want := `{"asked_again":1,"cacheable_percent":45,"cacheable_tokens":90,"cached_tokens":20,"calls":2,"estimated":false,` +
		`"failed":1,"input_tokens":200,"output_tokens":14,"role":"planner","seconds":4.5}`; string(planner) != want {
		t.Errorf("got  %s\nwant %s", planner, want)
	}
	// The texts of the demo's trace are not shipped.
	if demo := got.Traces[1]; len(got.Traces) != 2 || demo.Trace != "demo/trace.jsonl" || demo.Total["calls"] == 0.0 || demo.Total["cacheable_tokens"] != nil {
		t.Errorf("got %+v", got.Traces)
	}
	if v, known := got.Total["cacheable_percent"]; v != nil || !known || len(got.Roles) < 4 {
		t.Errorf("in total %+v", got.Total)
	}
	if _, stdout, _ := tell(t, "--json", runTrace(t)); !strings.Contains(stdout, `"roles": []`) || strings.Contains(stdout, `: null,
  "total"`) {
		t.Errorf("of an empty trace\n%s", stdout)
	}
}
