package llm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

const secret = "sk-very-secret-1234"

// endpoint asks s.
func endpoint(s *llmtest.Server) llm.Endpoint {
	return llm.Endpoint{Provider: "acme", BaseURL: s.URL, Key: secret, KeyEnv: "ACME_KEY", Model: "m1",
		Retries: 3, CallTimeout: 20 * time.Second, IdleTimeout: 10 * time.Second, HTTP: s.Client}
}

// must is for what is only set up.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var question = llm.Request{
	Role: "planner", Subject: "round 1",
	Messages: []llm.Message{{Role: "system", Text: "be brief"}, {Role: "user", Text: "how many <b>?"},
		{Role: "assistant", Text: "2"}},
}

// served asks a model of a server that sends the responses in order, at the time of a fake clock.
func served(t *testing.T, change func(*llm.Endpoint), all ...llmtest.Response) (s *llmtest.Server,
	got llm.Reply, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s = llmtest.NewPiped(t, llmtest.Each(all...))
		e := endpoint(s)
		change(&e)
		got, err = must(e.Open()).Ask(t.Context(), question)
	})
	return s, got, err
}

func unchanged(*llm.Endpoint) {}

// TestStreamedReply: what is sent, with the limit of tokens as the provider names it, and what comes. Of
// OpenAI's variables nothing is sent, and nothing about the machine.
func TestStreamedReply(t *testing.T) {
	for name, value := range map[string]string{"API_KEY": "env-key", "ADMIN_KEY": "env-admin", "ORG_ID": "env-org",
		"PROJECT_ID": "env-project", "BASE_URL": "http://127.0.0.1:1/v1", "CUSTOM_HEADERS": "X-Env: env-header"} {
		t.Setenv("OPENAI_"+name, value)
	}
	want := llm.Reply{Text: "Grüße: there are 42 & more <of> them", Model: "m1", Finish: "stop",
		Usage: llm.Usage{InputTokens: 30, CachedTokens: 10, OutputTokens: 20, ReasoningTokens: 5}}
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Text: want.Text, Usage: want.Usage}))
	e, r := endpoint(s), question
	e.Temperature, r.MaxTokens = new(0.25), 77
	for provider, limit := range map[string]string{"acme": `"max_tokens":77`, "openai": `"max_completion_tokens":77`} {
		e.Provider = provider
		got, err := must(e.Open()).Ask(t.Context(), r)
		if got.Seconds = 0; err != nil || got != want {
			t.Fatalf("got %+v, %v", got, err)
		}
		all := s.Requests()
		asked := all[len(all)-1]
		if !slices.Equal(asked.Messages, question.Messages) {
			t.Errorf("sent %+v", asked)
		}
		headers := fmt.Sprint(asked.Header)
		for _, part := range []string{limit, `"stream":true`, `"temperature":0.25`, `"include_usage":true`, "Authorization:[Bearer " + secret + "]",
			"User-Agent:[dsstar]"} {
			if !strings.Contains(asked.Body+headers, part) {
				t.Errorf("no %s in %s, %s", part, asked.Body, headers)
			}
		}
		if strings.Contains(headers, "env-") || strings.Contains(headers, "X-Stainless") {
			t.Error(headers)
		}
	}
	e.Key, e.KeyEnv = "", ""
	if _, err := must(e.Open()).Ask(t.Context(), r); err != nil || s.Requests()[2].Header.Get("Authorization") != "" {
		t.Errorf("%v, sent %s", err, s.Requests()[2].Header)
	}
}

// TestRetried: each failure is followed by a good reply, after a wait.
func TestRetried(t *testing.T) {
	wait := llmtest.Response{Status: 429, Body: "slow down", Header: map[string]string{"Retry-After": "7"}}
	for cause, c := range map[string]struct {
		response llmtest.Response
		seconds  float64 // at most; jitter takes an eighth off
	}{
		"429 Too Many Requests: slow down (Retry-After: 7)": {wait, 7},
		"429 Too Many Requests: quota": {llmtest.Response{Status: 429,
			Body: `[{"error":{"code":429,"message":"quota","details":[{"retryDelay": "34s"}]}}]`}, 34},
		"500 Internal Server Error: oops again": {llmtest.Refuse(500, "", "oops\nagain"), 0.5},
		"truncated":                             {llmtest.Response{Text: "this one is cut off", CutAfter: 2}, 0.5},
		"stopped responding (10s)":              {llmtest.Response{Text: "this one falls silent", CutAfter: 2, Stall: true}, 10.5},
	} {
		var told []string
		tell := func(r llm.Request, why string) { told = append(told, r.Role, r.Subject, why) }
		_, got, err := served(t, func(e *llm.Endpoint) { e.OnRetry = tell },
			c.response, llmtest.Response{Text: "fine"})
		if err != nil || got.Text != "fine" || got.Seconds > c.seconds || got.Seconds < c.seconds-0.13 || len(told) != 3 ||
			told[0] != "planner" || told[1] != "round 1" || !strings.Contains(told[2], cause) {
			t.Errorf("%s: got %+v, %v, told %+v", cause, got, err, told)
		}
	}
}

// TestTimeOuts: silence may pass, a call that takes too long does not; one that is slow does neither.
func TestTimeOuts(t *testing.T) {
	for _, c := range []struct {
		idle, call time.Duration
		response   llmtest.Response
		want       error
		tries      int
	}{
		{time.Second, 0, llmtest.Response{Stall: true}, llm.ErrIdle, 4},
		{0, time.Second, llmtest.Response{Stall: true}, llm.ErrTimeout, 1},
		{2 * time.Second, 20 * time.Second, llmtest.Response{Text: "slow is not silent", Pace: time.Second}, nil, 1},
		{2 * time.Second, 2 * time.Second, llmtest.Response{Text: "this one takes for ever", Pace: time.Second}, llm.ErrTimeout, 1},
	} {
		s, _, err := served(t, func(e *llm.Endpoint) { e.IdleTimeout, e.CallTimeout = c.idle, c.call }, c.response)
		if !errors.Is(err, c.want) || len(s.Requests()) != c.tries {
			t.Errorf("%+v: %v after %d tries", c, err, len(s.Requests()))
		}
	}
}

// TestCancel: the end of a run ends its calls and waits at once. Then a call is recorded as stopped, and a
// later one is not.
func TestCancel(t *testing.T) {
	for name, response := range map[string]llmtest.Response{
		"before the answer": {Stall: true},
		"in the stream":     {Text: "one two three four", CutAfter: 1, Stall: true},
		"in a wait":         {Status: 429, Body: "slow down", Header: map[string]string{"Retry-After": "60"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			start, path := time.Now(), filepath.Join(t.TempDir(), "trace.jsonl")
			m := llm.Traced(must(endpoint(llmtest.NewPiped(t, llmtest.Each(response))).Open()), openTrace(t, path), nil)
			_, err := m.Ask(ctx, question)
			_, later := m.Ask(ctx, question)
			all := readTrace(path)
			if took := time.Since(start).Seconds(); took != 5 || err != context.DeadlineExceeded || later != err ||
				len(all) != 1 || !all[0].Stopped || all[0].Error == "" {
				t.Errorf("%s: %v, %v after %v s, %+v", name, err, later, took, all)
			}
		})
	}
}

// TestOpenChecks: no error about where an endpoint is has what is secret in its URL.
func TestOpenChecks(t *testing.T) {
	for name, e := range map[string]llm.Endpoint{
		"no scheme": {BaseURL: "example.org/v1"},
		"bad url":   {BaseURL: "https://user:" + secret + "@exa mple.org"},
		"no key":    {BaseURL: "https://example.org/v1", KeyEnv: "ACME_KEY"},
		"nobody":    {BaseURL: "http://127.0.0.1:1/v1?key=" + secret},
	} {
		m, err := e.Open()
		if (err == nil) != (name == "nobody") || isCredential(err) != (name == "no key") {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_, err = m.Ask(t.Context(), question)
		}
		if strings.Contains(err.Error(), secret) || errors.Is(err, llm.ErrConnection) != (name == "nobody") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKeyIsHidden: a key, also one in the query of the base URL, is sent and appears in no message and no
// record, whatever the endpoint echoes. Other values are not hidden, since replies may have the word.
func TestKeyIsHidden(t *testing.T) {
	const other = "2024-10-21"
	path, replies := filepath.Join(t.TempDir(), "trace.jsonl"), []llmtest.Response{
		llmtest.Refuse(400, "", "Bearer "+secret+" is not for this model"),
		{Status: 429, Header: map[string]string{"Retry-After": secret}},
		{Body: "<html>" + secret + "</html>"},
		{Body: chunk("so far", "") + `data: {"error":{"message":"` + secret + `"}}` + "\n\n"},
		{Status: 400, Body: `{"error":{"message":"no","metadata":{"raw":"` + secret + `"}}}`},
		{Text: "print('" + secret + other + "')"}, {Text: "a", Finish: secret},
		{Body: strings.Replace(chunk("a", "stop"), `"choices"`, `"model":"`+secret+`","choices"`, 1)},
	}
	for _, response := range replies {
		for _, inQuery := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var seen []any
				s := llmtest.NewPiped(t, llmtest.Each(response))
				e := endpoint(s)
				e.OnRetry = func(_ llm.Request, why string) { seen = append(seen, why) }
				if inQuery {
					e.Key, e.BaseURL = other, e.BaseURL+"?api-version="+other+"&key="+secret
				}
				trace := openTrace(t, path)
				told, reply, err := watch(t, llm.Traced(must(e.Open()), trace, nil))
				all, sent := fmt.Sprint(append(seen, told, reply, err)...), s.Requests()[0]
				if strings.Contains(all, secret) || !strings.Contains(all, "[key]") || strings.Contains(response.Text, other) != strings.Contains(all, other) ||
					!strings.Contains(sent.Query+fmt.Sprint(sent.Header), secret) {
					t.Errorf("%+v gives %s", response, all)
				}
			})
		}
	}
	if raw, _ := os.ReadFile(path); strings.Contains(string(raw), secret) || len(readTrace(path)) != 2*len(replies) {
		t.Errorf("trace\n%s", raw)
	}
}

// watch asks m and returns what OnText was told.
func watch(t *testing.T, m llm.Model) (told []string, reply llm.Reply, err error) {
	t.Helper()
	r := question
	r.OnText = func(soFar func() string) { told = append(told, soFar()) }
	reply, err = m.Ask(t.Context(), r)
	return told, reply, err
}

func TestOnText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := "one two three four five"
		m := must(endpoint(llmtest.NewPiped(t, llmtest.Each(
			llmtest.Response{Text: long},
			llmtest.Response{Text: "cut off half-way, alas", CutAfter: 2}, llmtest.Response{Text: "short"},
			llmtest.Response{Body: `{"choices":[{"message":{"content":"whole"}}]}`},
			llmtest.Refuse(400, "", "no"),
		))).Open())
		for _, want := range [][]string{
			{"one two", "one two three ", "one two three four fi", long},
			{"cut off", "cut off half-w", "short"},
			{"whole"},
			nil,
		} {
			told, reply, err := watch(t, m)
			if !slices.Equal(told, want) || err == nil && reply.Text != want[len(want)-1] {
				t.Errorf("told %q, want %q; replied %q", told, want, reply.Text)
			}
		}
	})
}
