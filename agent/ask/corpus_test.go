package ask

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// A group are replies of one role that read alike: as a value, in JSON ("": as none), or with a
// problem, of which it has a part.
type group struct {
	As      string
	Reads   json.RawMessage
	Problem string
	Replies []string
}

var asked, twoPoints = []Branch{{Point: 1, Option: 2}, {Point: 2, Option: 1}}, prompts.JudgementForm{Late: true, Points: true, Quoted: true}

// readers read a reply in each form that a role may be asked for.
var verdict = Format[record.Verdict]{Parse: reads(judgement.verdict, append(onPoints, "readings")...)}

var readers = map[string]func(string) (any, error){
	"code": as(Code), "step": as(Step), "yes or no": as(YesNo), "verdict": as(verdict),
	"route of 3 steps": as(Route(3)), "route of no steps": as(Route(0)),
	"solution": as(Solutions(prompts.SolutionForm{})), "solution with readings": as(Solutions(prompts.SolutionForm{Readings: true})),
	"later solution": as(Solutions(prompts.SolutionForm{Late: true})), "second derivation": as(Solutions(prompts.SolutionForm{Late: true, Second: true})),
	"judgement": as(Judgements(prompts.JudgementForm{}, 3, 0, nil)), "judgement that names readings": as(Judgements(prompts.JudgementForm{Readings: true}, 3, 0, nil)),
	"judgement of two readings": as(Judgements(twoPoints, 3, 0, asked)),
	"branches":                  as(Branches(asked, 3)), "one branch": as(Branches(asked[:1], 3)), "ruling": as(Rulings(3)),
}

func as[T any](f Format[T]) func(string) (any, error) {
	return func(reply string) (any, error) { return f.Read(llm.Reply{Text: reply, Finish: "stop"}) }
}

func corpus(t testing.TB) (all []group) {
	t.Helper()
	data, err := os.ReadFile("testdata/corpus.json")
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCorpus: what is read from each reply of testdata/corpus.json, or why nothing is.
func TestCorpus(t *testing.T) {
	for _, g := range corpus(t) {
		for _, reply := range g.Replies {
			got, err := readers[g.As](reply)
			var read, want any
			if data, _ := json.Marshal(got); !reflect.ValueOf(got).IsZero() {
				_ = json.Unmarshal(data, &read)
			}
			_ = json.Unmarshal(g.Reads, &want) // fails if there is none
			if d := cmp.Diff(want, read); d != "" || (err != nil) != (g.Problem != "") ||
				err != nil && !strings.Contains(err.Error(), g.Problem) {
				t.Errorf("%s: %s\n%v, want %q\n(-want +got)\n%s", g.As, reply, err, g.Problem, d)
			}
		}
	}
}

// TestUnread: what is no reply, or not all of it, is not read.
func TestUnread(t *testing.T) {
	for _, c := range []struct {
		reply llm.Reply
		want  error
	}{
		{llm.Reply{Text: " \n\t\r"}, errEmpty},
		{llm.Reply{Finish: "length", Text: "Yes"}, errCut},
		{llm.Reply{Finish: "content_filter"}, errRefusal},
		{llm.Reply{Finish: "stop", Text: "Yes"}, nil},
	} {
		if _, err := YesNo.Read(c.reply); !errors.Is(err, c.want) {
			t.Errorf("%.40q as yes or no is %v, want %v", c.reply.Text, err, c.want)
		}
	}
}

func readText[T any](f Format[T], reply string) (T, error) { return f.Read(llm.Reply{Text: reply}) }

// FuzzReplies: whatever a model says, what is read of it is whole, within what was asked, and in words of
// the reply.
func FuzzReplies(f *testing.F) {
	f.Add("\xff")
	for _, g := range corpus(f) {
		for _, reply := range g.Replies {
			f.Add(reply)
		}
	}
	f.Fuzz(func(t *testing.T, reply string) {
		check := func(ok bool, what string, got any) {
			if !ok {
				t.Errorf("%s: %+v", what, got)
			}
		}
		lower, lines := strings.ToLower(reply), strings.Contains(reply, "\r")
		code, err := readText(Code, reply)
		first, _, _ := strings.Cut(strings.TrimSpace(code), "\n")
		check((err == nil) == (first != "") && (lines || strings.Contains(reply, first)), "code", code)
		v, _ := readText(verdict, reply)
		check(!v.Inconclusive || v.Sufficient && v.Reason != "", "verdict", v)
		check(!v.Sufficient || v.Inconclusive || lines || strings.Contains(lower, "enough") ||
			strings.Contains(lower, "sufficient") || strings.Contains(lower, "yes"), "verdict", v)
		route, err := readText(Route(3), reply)
		check(route.Back >= 0 && route.Back <= 3 && (err == nil || route.Back == 0) &&
			(err != nil || route.Back > 0 || lines || strings.Contains(lower, "add")), "route", route)
		step, err := readText(Step, reply)
		check((err == nil) == (step != "") && !strings.ContainsAny(step, "\n") && len(step) <= 2000, "step", step)
		s, err := readText(Solutions(prompts.SolutionForm{Readings: true}), reply)
		check((err == nil) == (s.Step != "" && s.Code != ""), "solution", s)
		for _, r := range s.Readings {
			read := len(r.Options) > 1 && r.Chosen >= 0 && r.Chosen < len(r.Options) && r.Point != ""
			check(read == (r.Problem == "") && (!r.Settled || r.Evidence != ""), "reading", r)
		}
		j, _ := readText(Judgements(twoPoints, 3, 0, asked), reply)
		for _, r := range j.Readings {
			check(r.Point != "" && (r.Problem != "" || len(r.Options) > 1), "reading", r)
		}
		for _, p := range j.Printed {
			check(p.Point >= 0 && p.Option >= 0 && !strings.Contains(p.Quote, "\n"), "printed", p)
		}
		check(j.Wrong >= 0 && j.Wrong <= 3 && j.Sufficient == (j.Code != "") && !(j.Sufficient && j.Wrong > 0), "judgement", j)
		all, err := readText(Branches(asked, 3), reply)
		check((err == nil) == (len(all) > 0), "branches", all)
		for _, b := range append(all, j.Branches...) {
			check(slices.Contains(asked, Branch{Point: b.Point, Option: b.Option}) && b.Steps >= 0 && b.Steps <= 3 && b.Code != "", "branch", b)
		}
		r, err := readText(Rulings(3), reply)
		check((err == nil) == (r.Ruling != "") && (r.Ruling != "second" || r.Reason != "") && r.Wrong >= 0 && r.Wrong <= 3 &&
			(r.Ruling != "reading" || len(r.Options) == 2 && r.Point != ""), "ruling", r)
	})
}

// TestForm: a request ends with the form, once, also if it is asked again.
func TestForm(t *testing.T) {
	form := Judgements(prompts.JudgementForm{}, 1, 0, nil)
	m := &llmtest.Model{Replies: []string{"Verdict: maybe", "Verdict: unfinished\nReason: x"}}
	asker := NewAsker(Settings{Model: m}, func() prompts.Part { return prompts.Workplace{} }, nil)
	request := Request{Role: "judge", Words: func() []prompts.Part { return []prompts.Part{prompts.Answer{}} }}
	if got, err := Role(t.Context(), asker, request, form); err != nil || !got.Unfinished || len(m.Asked) != 2 {
		t.Fatalf("%+v, %v, %d calls", got, err, len(m.Asked))
	}
	for i, r := range m.Asked {
		if !strings.HasSuffix(r.Messages[1].Text, "\n\n"+form.Form) || len(r.Messages) != 2+2*i {
			t.Errorf("request %d: %q", i+1, r.Messages)
		}
	}
}

// TestAskedAgain: of a reply that could not be read the model is shown neither nothing, which servers refuse,
// nor all of what fills its context.
func TestAskedAgain(t *testing.T) {
	for _, reply := range []string{"", "<think>hm", "```\n```", strings.Repeat("Let me check that again.\n", 900)} {
		m := &llmtest.Model{Replies: []string{reply, "yes"}}
		request := Request{Words: func() []prompts.Part { return []prompts.Part{prompts.Answer{}} }}
		if _, err := Role(t.Context(), NewAsker(Settings{Model: m}, nil, nil), request, YesNo); err != nil || len(m.Asked) != 2 {
			t.Fatalf("%.40q: %v, %d calls", reply, err, len(m.Asked))
		}
		if said := m.Asked[1].Messages[1].Text; strings.TrimSpace(said) == "" || len(said) > 2100 {
			t.Errorf("%.40q is sent back as %q", reply, said)
		}
	}
}

// TestCutByServer: a server that has read far less than was sent, as much as its context or half of it holds,
// has cut the request.
func TestCutByServer(t *testing.T) {
	for _, c := range []struct {
		usage llm.Usage
		sent  int
		cut   bool
	}{
		{llm.Usage{InputTokens: 4096}, 24_000, true},
		{llm.Usage{InputTokens: 2050}, 18_000, true},
		{llm.Usage{InputTokens: 4096}, 16_000, false},                  // four bytes a token
		{llm.Usage{InputTokens: 4100}, 24_000, false},                  // much of it blank
		{llm.Usage{InputTokens: 4096, Estimated: true}, 24_000, false}, // by nobody who knows
		{llm.Usage{InputTokens: 10}, 24_000, false},                    // the rest was cached
	} {
		a := NewAsker(Settings{Model: readAs(c.usage)}, nil, nil)
		_, err := a.Call(t.Context(), llm.Request{Messages: []llm.Message{{Text: strings.Repeat("x", c.sent)}}})
		if errors.Is(err, llm.ErrContextLength) != c.cut || err != nil != c.cut {
			t.Errorf("%+v of %d bytes: %v", c.usage, c.sent, err)
		}
	}
}

// readAs is a model whose server says what it has read.
type readAs llm.Usage

func (u readAs) Ask(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: "yes", Usage: llm.Usage(u)}, nil
}

// TestFilled: a reply for which the context has no room is asked for with less, unless it is long itself.
func TestFilled(t *testing.T) {
	for first, filled := range map[llm.Usage]bool{
		{InputTokens: 7326, OutputTokens: 866}: true, {InputTokens: 4000, OutputTokens: 4192}: false,
		{InputTokens: 7000, OutputTokens: 500}: false, // a limit of its own
	} {
		second := llm.Usage{InputTokens: 7855, OutputTokens: 337}
		cut := []llm.Reply{{Finish: "length", Usage: first}, {Finish: "length", Usage: second}}
		a := NewAsker(Settings{Model: inTurn(cut)}, nil, nil)
		_, err := askTwice(t.Context(), a, llm.Request{Messages: []llm.Message{{}}}, YesNo)
		if errors.Is(err, llm.ErrContextLength) != filled || err != nil != filled {
			t.Errorf("%+v: %v", first, err)
		}
	}
}

// inTurn is a model with these replies: the second is that to a request with an earlier reply.
type inTurn []llm.Reply

func (all inTurn) Ask(_ context.Context, r llm.Request) (llm.Reply, error) {
	return all[len(r.Messages)/2], nil
}

// TestCalls: calls at the same time do not go beyond the limit together, and are counted by role.
func TestCalls(t *testing.T) {
	m := &llmtest.Model{Replies: []string{"yes"}}
	a := NewAsker(Settings{Model: m, Limits: Limits{Calls: 7},
		Price: func(string) (llm.Price, bool) { return llm.Price{Input: 1e6, Output: 0}, true }}, nil, nil)
	var refused atomic.Int64
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			_, err := a.Call(t.Context(), llm.Request{Role: []string{"a", "b"}[n%2], Messages: []llm.Message{{}}})
			if _, spent := errors.AsType[*BudgetError](err); spent {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	s, _ := a.Spent()
	if len(m.Asked) != 7 || refused.Load() != 13 || s.Usage.Calls != 7 || *s.Cost != 70 ||
		s.ByRole["a"].Calls+s.ByRole["b"].Calls != 7 {
		t.Errorf("%d calls, %d refused, %+v, %v", len(m.Asked), refused.Load(), s, *s.Cost)
	}
}

// TestGroundIsMasked: nobody can try values of what is masked on the ground of a request.
func TestGroundIsMasked(t *testing.T) {
	m := &llmtest.Model{Replies: []string{"yes"}}
	a := NewAsker(Settings{Model: m}, nil, nil)
	const text = "key AKIAIOSFODNN7EXAMPLE \"quoted\""
	request := llm.Request{RestsOn: []any{text}, Messages: []llm.Message{{Text: text}}}
	if _, err := a.Call(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	asIs := func(texts []string) []string { return texts }
	ground, masked := m.Asked[0].Ground, a.Mask.Mask(text)
	if ground == llm.GroundOf(asIs, text) || ground != llm.GroundOf(asIs, masked) {
		t.Errorf("the ground is that of other words: %q", masked)
	}
}

// TestWarnings: a sufficient verdict answers each warning on rows, in any of the ways that models number
// things. One that does not is asked for again, and then taken.
func TestWarnings(t *testing.T) {
	format := Judgements(prompts.JudgementForm{Warnings: 2}, 3, 0, nil)
	for lines, answers := range map[string]bool{
		"":                                  false,
		"Warnings: 1: it is a lookup":       false,
		"Warnings: I did not look at them.": false,
		"Warnings: 1: it is a lookup\n- I did not look at the other":     false,
		"**Warnings:**\n- **1:** it is a lookup\n- **2:** none are lost": true,
		"Warnings: 1: it is a lookup; 2: none are lost that count":       true,
		"Warnings: 1. it is a lookup, by design. 2. nothing is summed":   true,
		"Warnings:\n1. it is a lookup\n2. nothing is summed":             true,
		"Warning 1: it is a lookup\nWarning 2: nothing is summed":        true,
		"Warnings: both are of a cell that only looks":                   true,
	} {
		reply := llm.Reply{Text: "Verdict: enough\nReason: it is printed\n" + lines + "\n```python\nprint(1)\n```"}
		if serves, why := format.problem(reply); !serves || (why == nil) != answers {
			t.Errorf("%q: %t, %v", lines, serves, why)
		}
	}
	unfinished := llm.Reply{Text: "Verdict: go on\nReason: more"}
	if serves, why := format.problem(unfinished); !serves || why != nil {
		t.Errorf("go on: %t, %v", serves, why)
	}
}

// TestSizes: what is shown fits the context, with the words around it and a reply.
func TestSizes(t *testing.T) {
	for _, tokens := range []int{8192, 16384, 32768, 131072} {
		s := firstSizes(Settings{Context: tokens, ResultChars: 12_000, DescriptionChars: 24_000, ContextChars: 80_000})
		if all := s.Context + s.Results + s.Earlier + around; all > 3*tokens || s.Result > s.Results || s.Description > s.Context {
			t.Errorf("of %d tokens: %+v, together %d bytes", tokens, s, all)
		}
	}
}
