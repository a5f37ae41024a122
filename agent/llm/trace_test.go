package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	ctx, cancel := context.WithCancel(t.Context())
	s := llmtest.New(t, func(llmtest.Request) llmtest.Response {
		cancel()
		return llmtest.Response{Stall: true}
	})
	m := llm.Traced(open(t, endpoint(s)), openTrace(t, path))
	for range 3 {
		if _, err := m.Ask(ctx, question); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if all := readTrace(t, path); len(all) != 1 || !all[0].Stopped || all[0].Error == "" {
		t.Errorf("%+v", all)
	}
}

func TestTraceRoundTrip(t *testing.T) {
	counts := llm.Usage{InputTokens: 3, OutputTokens: 2}
	s := llmtest.New(t, llmtest.Each(
		llmtest.Response{Text: "<a> & b", Usage: counts}, llmtest.Refuse(401, "", "no: "+secret)))
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace := openTrace(t, path)
	m, r := llm.Traced(open(t, endpoint(s)), trace), question
	r.Ground = llm.GroundOf(nil, "1. look")
	_, err := m.Ask(t.Context(), r)
	if _, refused := m.Ask(t.Context(), r); err != nil || !isCredential(refused) {
		t.Fatal(err, refused)
	}
	raw, _ := os.ReadFile(path)
	if strings.Count(string(raw), "\n") != 2 || strings.Contains(string(raw), secret) ||
		!strings.Contains(string(raw), "<a> & b") {
		t.Errorf("trace:\n%s", raw)
	}
	got := readTrace(t, path)
	want := llm.Exchange{Time: got[0].Time, Role: "planner", Subject: "round 1", Model: "m1",
		Messages: question.Messages, Ground: r.Ground, Reply: "<a> & b", Finish: "stop", Usage: counts,
		Seconds: got[0].Seconds}
	if d := cmp.Diff(want, got[0]); d != "" || got[0].Time.IsZero() {
		t.Error(d)
	}
	if got[1].Error == "" || got[1].Reply != "" {
		t.Errorf("failed exchange %+v", got[1])
	}
	if err := errors.Join(trace.Close(), trace.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Ask(t.Context(), r); err == nil || got.Text != "" {
		t.Errorf("not recorded: %+v, %v", got, err)
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

// recorded returns exchanges that a trace has of requests.
func recorded(requests ...llm.Request) (all []llm.Exchange) {
	for i, r := range requests {
		all = append(all, llm.Exchange{Role: r.Role, Subject: r.Subject, Ground: r.Ground,
			Reply: fmt.Sprint("reply ", i+1), Finish: "stop", Model: "m1", Usage: llm.Usage{InputTokens: 1}})
	}
	return all
}

// request returns one that rests on code and its output.
func request(role, subject, code, output string) llm.Request {
	return llm.Request{Role: role, Subject: subject, Ground: llm.GroundOf(nil, struct{ Code, Output string }{code, output})}
}

func TestReplay(t *testing.T) {
	trace := recorded(
		request("planner", "round 1", "", ""),
		request("coder", "round 1", "c1", "o"),
		request("coder", "round 1", "c2", "o"),
		request("judge", "round 1", "c1", "o1"),
		request("judge", "round 2", "c2", "o2"),
	)
	trace[0].Error = "cut" // as if that call had failed
	type step struct {
		r    llm.Request
		want string // the reply; "": there is none
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
		"misfit": {llm.Replay(trace, false), []step{{judge("other"), ""}, {coder("c3", "o"), ""}}},
		"elsewhere": {llm.Replay(trace, true), []step{
			{judge("other"), "reply 5"}, {request("judge", "round 1", "c3", "o1"), ""},
		}},
		"elsewhere, the same first": {llm.Replay(append(trace, recorded(coder("c1", "p"))...), true), []step{
			{coder("c1", "p"), "reply 1"}, {coder("c1", "p"), "reply 2"},
		}},
		"exhausted": {llm.Replay(trace, false), []step{
			{fourth, "reply 4"}, {fourth, ""}, {request("router", "round 1", "", ""), ""},
			{request("planner", "round 1", "", ""), ""},
		}},
	} {
		for _, s := range c.steps {
			got, err := c.model.Ask(t.Context(), s.r)
			_, lacks := errors.AsType[*llm.ReplayError](err)
			if got.Text != s.want || lacks != (s.want == "") || !lacks && (err != nil || got.Seconds != 0 ||
				got.Usage.InputTokens != 1 || got.Model != "m1" || got.Finish != "stop") {
				t.Errorf("%s: got %+v, %v, want %s", name, got, err, s.want)
			}
		}
	}
}

func TestReplayIgnoresVolatileText(t *testing.T) {
	was := "<object at 0x7f3a12bc44d0> \nFile \"/tmp/ipykernel_123/456.py\", line " +
		"3\n/home/a/.venv/lib/python3.10/site-packages/pandas/core.py:5\n"
	is := "<object at 0x10a2b3c40>\nFile \"/var/folders/x/T/ipykernel_9/8.py\", line " +
		"3\r\n/usr/lib/python3/dist-packages/pandas/core.py:5"
	ground := func(output string) llm.Ground { return request("", "", "", output).Ground }
	if ground(was) != ground(is) || ground(was) == ground(strings.Replace(is, "line 3", "line 4", 1)) {
		t.Error("the same output does not fit, or another does")
	}
}
