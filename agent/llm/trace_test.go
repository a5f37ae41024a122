package llm_test

import (
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
	"dsstar/notebook/disk"
)

func asIs(texts []string) []string { return texts }

func readTrace(path string) []llm.Exchange {
	return must(disk.ReadLines[llm.Exchange](must(os.ReadFile(path))))
}

func openTrace(t *testing.T, path string) *disk.Lines {
	trace := must(disk.OpenLines(path))
	t.Cleanup(func() { trace.Close() })
	return trace
}

// TestTraceRoundTrip: exchanges are recorded as they were sent and came, failed ones too, without the key;
// one that cannot be recorded has failed.
func TestTraceRoundTrip(t *testing.T) {
	counts := llm.Usage{InputTokens: 3, OutputTokens: 2}
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Text: "<a> & b", Usage: counts}, llmtest.Refuse(401, "", "no: "+secret)))
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace := openTrace(t, path)
	m, r := llm.Traced(must(endpoint(s).Open()), trace, nil), question
	r.Ground = llm.GroundOf(asIs, "1. look")
	_, err := m.Ask(t.Context(), r)
	_, refused := m.Ask(t.Context(), r)
	raw, _ := os.ReadFile(path)
	if err != nil || !isCredential(refused) || strings.Count(string(raw), "\n") != 2 ||
		strings.Contains(string(raw), secret) || !strings.Contains(string(raw), "<a> & b") {
		t.Fatalf("%v, %v, trace:\n%s", err, refused, raw)
	}
	got := readTrace(path)
	want := llm.Exchange{Time: got[0].Time, Role: "planner", Subject: "round 1", Model: "m1",
		Messages: question.Messages, Ground: r.Ground, Reply: "<a> & b", Finish: "stop", Usage: counts,
		Seconds: got[0].Seconds}
	if d := cmp.Diff(want, got[0]); d != "" || got[0].Time.IsZero() || got[1].Error == "" || got[1].Reply != "" {
		t.Errorf("%s, failed exchange %+v", d, got[1])
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
		{InputTokens: 1_000_000, CachedTokens: 400_000, OutputTokens: 100_000, ReasoningTokens: 90_000}: 2.2,
		{InputTokens: 1_000_000, CachedTokens: 2_000_000}:                                               0.5,
	} {
		if got := p.Cost(u); math.Abs(got-want) > 1e-12 {
			t.Errorf("%+v costs %v, want %v", u, got, want)
		}
	}
}

// request returns one of a role in a round, which rests on code and its output: four words.
func request(words string) llm.Request {
	of := strings.Fields(words)
	return llm.Request{Role: of[0], Subject: "round " + of[1], Ground: llm.GroundOf(asIs, struct{ Code, Output string }{of[2], of[3]})}
}

// TestReplay: a request takes the first exchange that fits, each once.
func TestReplay(t *testing.T) {
	var trace []llm.Exchange
	for i, words := range []string{"planner 1 - -", "coder 1 c1 o", "coder 1 c2 o", "judge 1 c1 o1", "judge 2 c2 o2"} {
		r := request(words)
		trace = append(trace, llm.Exchange{Role: r.Role, Subject: r.Subject, Ground: r.Ground, Reply: fmt.Sprint(i + 1),
			Finish: "stop", Model: "m1", Usage: llm.Usage{InputTokens: 1}})
	}
	trace[0].Error = "cut" // as if that call had failed
	again := trace[1]
	again.Ground, again.Reply = request("coder 1 c1 p").Ground, "6"
	for name, c := range map[string]struct {
		model llm.Model
		steps []string // requests, and the reply; "none"
	}{
		"in order":                  {llm.Replay(trace, false), []string{"judge 2 c2 o2 5", "coder 1 c2 o 3", "coder 1 c1 o 2"}},
		"misfit":                    {llm.Replay(trace, false), []string{"judge 2 c2 other none", "coder 1 c3 o none"}},
		"elsewhere":                 {llm.Replay(trace, true), []string{"judge 2 c2 other 5", "judge 1 c3 o1 none"}},
		"elsewhere, the same first": {llm.Replay(append(trace, again), true), []string{"coder 1 c1 p 6", "coder 1 c1 p 2"}},
		"exhausted":                 {llm.Replay(trace, false), []string{"judge 1 c1 o1 4", "judge 1 c1 o1 none", "router 1 - - none", "planner 1 - - none"}},
	} {
		for _, step := range c.steps {
			got, err := c.model.Ask(t.Context(), request(step))
			_, lacks := errors.AsType[*llm.ReplayError](err)
			want := llm.Reply{Text: strings.Fields(step)[4], Finish: "stop", Model: "m1", Usage: llm.Usage{InputTokens: 1}}
			if lacks != (want.Text == "none") || !lacks && (err != nil || got != want) {
				t.Errorf("%s: %s: got %+v, %v", name, step, got, err)
			}
		}
	}
}

// TestReplayIgnoresVolatileText: addresses, temporary files and folders of packages are in no ground.
func TestReplayIgnoresVolatileText(t *testing.T) {
	was := "<object at 0x7f3a12bc44d0> \nFile \"/tmp/ipykernel_123/456.py\", line " +
		"3\n/home/a/.venv/lib/python3.10/site-packages/pandas/core.py:5\n"
	is := "<object at 0x10a2b3c40>\nFile \"/var/folders/x/T/ipykernel_9/8.py\", line " +
		"3\r\n/usr/lib/python3/dist-packages/pandas/core.py:5"
	ground := func(output string) llm.Ground { return llm.GroundOf(asIs, struct{ Output string }{output}) }
	if ground(was) != ground(is) || ground(was) == ground(strings.Replace(is, "line 3", "line 4", 1)) {
		t.Error("the same output does not fit, or another does")
	}
}
