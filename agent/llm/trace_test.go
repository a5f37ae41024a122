package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

func readTrace(t *testing.T, path string) []llm.Exchange {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := llm.ReadTrace(f)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func openTrace(t *testing.T, path string) *llm.Trace {
	t.Helper()
	trace, err := llm.OpenTrace(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trace.Close() })
	return trace
}

// A call cancelled by the end of a run is recorded as stopped; a later call is not recorded.
func TestTraceStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace := openTrace(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	m := llm.Traced(asking(func(ctx context.Context) error { cancel(); return ctx.Err() }), trace)
	for range 3 {
		if _, err := m.Ask(ctx, llm.Request{Role: "analyzer"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if all := readTrace(t, path); len(all) != 1 || !all[0].Stopped || all[0].Error == "" {
		t.Errorf("%+v", all)
	}
}

// asking is a model that never replies.
type asking func(context.Context) error

func (a asking) Ask(ctx context.Context, _ llm.Request) (llm.Reply, error) {
	return llm.Reply{}, a(ctx)
}

func TestTraceRoundTrip(t *testing.T) {
	counts := llm.Usage{InputTokens: 3, OutputTokens: 2}
	s := llmtest.New(t, llmtest.Each(
		llmtest.Response{Text: "<a> & b", Usage: counts}, llmtest.Refuse(401, "", "no: "+secret)))
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace := openTrace(t, path)
	m := llm.Traced(open(t, endpoint(s)), trace)
	r := question
	r.Ground = llm.GroundOf(nil, "1. look")
	if _, err := m.Ask(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Ask(t.Context(), r); !isCredential(err) {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(path)
	if strings.Count(string(raw), "\n") != 2 || strings.Contains(string(raw), secret) ||
		!strings.Contains(string(raw), "<a> & b") {
		t.Errorf("trace:\n%s", raw)
	}
	got := readTrace(t, path)
	first := got[0]
	if first.N != 1 || first.Role != "planner" || first.Subject != "round 1" || first.Model != "m1" ||
		first.Reply != "<a> & b" ||
		first.Finish != "stop" || first.Usage != counts || first.Time.IsZero() || first.Error != "" ||
		!reflect.DeepEqual(first.Messages, question.Messages) || first.Ground != r.Ground {
		t.Errorf("got %+v", first)
	}
	if got[1].N != 2 || got[1].Error == "" || got[1].Reply != "" {
		t.Errorf("failed exchange %+v", got[1])
	}
}

// TestPrice: cached tokens are part of the input, also if an endpoint counts more of them.
func TestPrice(t *testing.T) {
	p := llm.Price{Input: 2, Cached: 0.5, Output: 8}
	for u, want := range map[llm.Usage]float64{
		{}: 0,
		{InputTokens: 1_000_000, CachedTokens: 400_000, OutputTokens: 100_000, ReasoningTokens: 90_000}: 2.2,
		{InputTokens: 1_000_000, CachedTokens: 2_000_000}:                                               0.5,
	} {
		if got := p.Cost(u); math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v costs %v, want %v", u, got, want)
		}
	}
}

// TestTornTrace: a last line that a crash has cut is not read, and does not spoil the next one.
func TestTornTrace(t *testing.T) {
	const whole = `{"n":1,"role":"planner","reply":"a"}` + "\n"
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(whole+`{"n":2,"role":"co`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readTrace(t, path); len(got) != 1 {
		t.Fatalf("read %+v", got)
	}
	if err := openTrace(t, path).Append(llm.Exchange{Role: "verifier"}); err != nil {
		t.Fatal(err)
	}
	if got := readTrace(t, path); len(got) != 2 || got[1].Role != "verifier" || got[1].N != 2 {
		t.Errorf("after append: %+v", got)
	}
	if _, err := llm.ReadTrace(strings.NewReader("{\n" + whole)); err == nil ||
		!strings.Contains(err.Error(), "line 1") {
		t.Errorf("a bad line inside: %v", err)
	}
}

func TestUnrecordedReplyIsAnError(t *testing.T) {
	trace := openTrace(t, filepath.Join(t.TempDir(), "trace.jsonl"))
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Text: "a"}))
	m := llm.Traced(open(t, endpoint(s)), trace)
	if err := errors.Join(trace.Close(), trace.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Ask(t.Context(), question); err == nil || got.Text != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// record asks a scripted model each request and reads the trace of it.
func record(t *testing.T, requests ...llm.Request) []llm.Exchange {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace := openTrace(t, path)
	s := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		return llmtest.Response{Text: fmt.Sprint("reply ", r.N),
			Usage: llm.Usage{InputTokens: r.N, OutputTokens: 1}}
	})
	m := llm.Traced(open(t, endpoint(s)), trace)
	for _, r := range requests {
		r.Messages = question.Messages
		if _, err := m.Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return readTrace(t, path)
}

// request returns one that rests on code and its output.
func request(role, subject, code, output string) llm.Request {
	return llm.Request{Role: role, Subject: subject, Ground: llm.GroundOf(nil, struct{ Code, Output string }{code, output})}
}

func TestReplay(t *testing.T) {
	trace := record(t,
		request("planner", "round 1", "", ""),
		request("coder", "round 1", "c1", "o"),
		request("coder", "round 1", "c2", "o"),
		request("judge", "round 1", "c1", "o1"),
		request("judge", "round 2", "c2", "o2"),
	)
	trace[0].Error = "cut" // as if that call had failed
	type step struct {
		r    llm.Request
		want string // the reply, or the first exchange that is left
	}
	coder := func(code, output string) llm.Request { return request("coder", "round 1", code, output) }
	judge := func(output string) llm.Request { return request("judge", "round 2", "c2", output) }
	fourth := request("judge", "round 1", "c1", "o1")
	for name, c := range map[string]struct {
		model llm.Model
		steps []step
	}{
		"in order": {llm.Replay(trace, false), []step{
			{judge("o2"), "reply 5"}, {coder("c2", "o"), "reply 3"}, {coder("c1", "o"), "reply 2"},
		}},
		"misfit": {llm.Replay(trace, false), []step{{judge("other"), "5"}, {coder("c3", "o"), "2"}}},
		"elsewhere": {llm.Replay(trace, true), []step{
			{judge("other"), "reply 5"}, {request("judge", "round 1", "c3", "o1"), "4"},
		}},
		"elsewhere, the same first": {llm.Replay(append(trace, record(t, coder("c1", "p"))...), true), []step{
			{coder("c1", "p"), "reply 1"}, {coder("c1", "p"), "reply 2"},
		}},
		"exhausted": {llm.Replay(trace, false), []step{
			{fourth, "reply 4"}, {fourth, "0"}, {request("router", "round 1", "", ""), "0"},
			{request("planner", "round 1", "", ""), "0"},
		}},
	} {
		for _, s := range c.steps {
			got, err := c.model.Ask(t.Context(), s.r)
			if failed, ok := errors.AsType[*llm.ReplayError](err); ok {
				got.Text = fmt.Sprint(failed.N)
			} else if err != nil || got.Seconds != 0 || got.Usage.InputTokens == 0 ||
				got.Model != "m1" || got.Finish != "stop" {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
			if got.Text != s.want {
				t.Errorf("%s: got %s, want %s", name, got.Text, s.want)
			}
		}
	}
}

func TestReplayIgnoresVolatileText(t *testing.T) {
	was := "<object at 0x7f3a12bc44d0> \nFile \"/tmp/ipykernel_123/456.py\", line " +
		"3\n/home/a/.venv/lib/python3.10/site-packages/pandas/core.py:5\n"
	is := "<object at 0x10a2b3c40>\nFile \"/var/folders/x/T/ipykernel_9/8.py\", line " +
		"3\r\n/usr/lib/python3/dist-packages/pandas/core.py:5"
	m := llm.Replay(record(t, request("debugger", "try 1", "", was)), false)
	if _, err := m.Ask(t.Context(), request("debugger", "try 1", "",
		strings.Replace(is, "line 3", "line 4", 1))); err == nil {
		t.Error("another line fits")
	}
	if _, err := m.Ask(t.Context(), request("debugger", "try 1", "", is)); err != nil {
		t.Error(err)
	}
}
