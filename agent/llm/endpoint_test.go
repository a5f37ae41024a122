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
		if change != nil {
			change(&e)
		}
		got, err = must(e.Open()).Ask(t.Context(), question)
	})
	return s, got, err
}

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
		"two lines": {BaseURL: "https://example.org/v1", Key: secret + "\n" + secret},
		"nobody":    {BaseURL: "http://127.0.0.1:1/v1?key=" + secret},
	} {
		m, err := e.Open()
		ofKey := name == "no key" || name == "two lines"
		if (err == nil) != (name == "nobody") || isCredential(err) != ofKey {
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

// chunk is an event with some text and, unless "", a reason to finish.
func chunk(text, finish string) string {
	reason := strings.Replace(`"`+finish+`"`, `""`, "null", 1)
	return fmt.Sprintf("data: "+`{"choices":[{"index":0,"delta":{"content":%q},"finish_reason":%s}]}`, text, reason) + "\n\n"
}

// TestReplies: valid replies, also in forms that compatible endpoints send but OpenAI's does not.
func TestReplies(t *testing.T) {
	whole := chunk("o", "") + chunk("k", "stop")
	ok := llm.Reply{Text: "ok", Model: "m1", Finish: "stop", Usage: llm.Usage{InputTokens: 14, OutputTokens: 1, Estimated: true}}
	bare, counted, thought, limited := ok, ok, ok, ok
	bare.Finish, limited.Finish = "", "length"
	counted.Model, counted.Usage = "m2", llm.Usage{InputTokens: 3, OutputTokens: 2}
	thought.Usage = llm.Usage{InputTokens: 5, OutputTokens: 12, ReasoningTokens: 10}
	const message = `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]`
	for body, want := range map[string]llm.Reply{
		// plain JSON though a stream was asked for, and an event of it
		`{"model":"m2","usage":{"prompt_tokens":3,"completion_tokens":2},` + message[1:] + "}":                                 counted,
		"{\n \"error\": null,\n" + message[1:] + "\n}":                                                                         ok,
		": hi\n\ndata:\n\ndata: " + message + `,"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":17}}` + "\n\n": thought,
		chunk("o", "") + chunk("k", "length"):                                                                                  limited,
		chunk("o", "") + chunk("k", "") + "data: [DONE]\n\n":                                                                   bare,
		strings.ReplaceAll(whole+"data: [DONE]\n\n", "\n", "\r\n"):                                                             ok,
		": PROCESSING\n\nevent: message\nid: 1\ndata: {\"choices\":null}\n\ndata: {}\n\n" + whole:                              ok, // no [DONE]
		whole + "data: {\"error\":{\"message\":\"late\"}}\n\n":                                                                 ok,
		`data: {"choices":[{"index":0,"delta":{"content":null,"reasoning":"hm"}}]}` + "\n\n" + whole:                           ok,
	} {
		_, got, err := served(t, nil, llmtest.Response{Body: body})
		if got.Seconds = 0; err != nil || got != want {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", body, got, err, want)
		}
	}
}

func isCredential(err error) bool { _, ok := errors.AsType[*llm.CredentialError](err); return ok }
func isStatus(status int, message string) func(error) bool {
	return func(err error) bool {
		e, ok := errors.AsType[*llm.StatusError](err)
		return ok && e.Status == status && e.Message == message && strings.HasPrefix(err.Error(),
			fmt.Sprintf("acme: http://llmtest/v1/chat/completions: %d ", status))
	}
}

// TestFailures: a failure that may pass is tried four times, any other once. No message has the key.
// Silence may pass, a call that takes too long does not; one that is slow is neither.
func TestFailures(t *testing.T) {
	body := func(status int, text string) llmtest.Response { return llmtest.Response{Status: status, Body: text} }
	headed := func(status int, name, value string) llmtest.Response {
		return llmtest.Response{Status: status, Body: "why", Header: map[string]string{name: value}}
	}
	event := func(data string) llmtest.Response {
		return body(200, chunk("so far", "")+"event: error\ndata: "+data+"\n\n")
	}
	is := func(kind error) func(error) bool { return func(err error) bool { return errors.Is(err, kind) } }
	isTooLong := is(llm.ErrContextLength)
	within := func(idle, call time.Duration) func(*llm.Endpoint) {
		return func(e *llm.Endpoint) { e.IdleTimeout, e.CallTimeout = idle, call }
	}
	changes := map[string]func(*llm.Endpoint){
		"a short key":    func(e *llm.Endpoint) { e.Key = "sk-short" },
		"no key":         func(e *llm.Endpoint) { e.Key, e.KeyEnv = "", "" },
		"silence":        within(time.Second, 0),
		"no end":         within(0, time.Second),
		"slowness":       within(2*time.Second, 20*time.Second),
		"too much of it": within(2*time.Second, 2*time.Second),
	}
	for name, c := range map[string]struct {
		response llmtest.Response
		tries    int
		check    func(error) bool
	}{
		"a bad key": {llmtest.Refuse(401, "invalid_api_key", "Incorrect API key provided: "+secret), 1, func(err error) bool {
			bad, ok := errors.AsType[*llm.CredentialError](err)
			return ok && bad.Provider == "acme" && bad.KeyEnv == "ACME_KEY" && !bad.Unsent
		}},
		"a bad key at Gemini":     {body(400, `[{"error":{"code":400,"message":"API key not valid. Please pass one."}}]`), 1, isCredential},
		"no money left":           {llmtest.Refuse(429, "insufficient_quota", "pay"), 1, isStatus(429, "pay")},
		"a wait that is too long": {headed(429, "Retry-After", "7200"), 1, isStatus(429, "why")},
		"a web page": {body(200, "<!doctype html>\n<title>Hi</title>"), 1,
			isStatus(200, "not a chat completion: <!doctype html> <title>Hi</title>")},
		"another place": {headed(302, "Location", "/v1/chat/completions?key="+secret), 1, isStatus(302, "why")},

		"no reason to finish": {body(200, chunk("half", "")), 4, is(llm.ErrCut)},
		"half of JSON":        {body(200, `{"choices":[{"message":{"content":"ha`), 4, is(llm.ErrCut)},
		"a line without end":  {body(200, "data: "+strings.Repeat("x", 33<<20)), 4, is(llm.ErrCut)},
		"no content":          {body(204, ""), 4, is(llm.ErrEmpty)},

		"an error of no code":      {body(200, `{"error":{"message":"odd"}}`), 4, isStatus(500, "odd")},
		"an error with a number":   {body(200, `{"error":{"message":"none","code":404}}`), 1, isStatus(404, "none")},
		"an error in a stream":     {event(`{"error":{"type":"overloaded_error","message":"Full"}}`), 4, isStatus(500, "Full")},
		"a bad key in a stream":    {event(`{"error":{"type":"authentication_error","message":"` + secret + `"}}`), 1, isCredential},
		"too long, in a stream":    {event(`{"error":{"code":400,"type":"exceed_context_size_error"}}`), 1, isTooLong},
		"too many tokens a minute": {llmtest.Refuse(429, "", "Too many tokens, please wait"), 4, isStatus(429, "Too many tokens, please wait")},
		"too long a reply wanted":  {llmtest.Refuse(400, "", "max_tokens is too large"), 1, isStatus(400, "max_tokens is too large")},
		"overload":                 {llmtest.Refuse(503, "", "no context length"), 4, isStatus(503, "no context length")},

		"too long for OpenAI":    {llmtest.Refuse(400, "context_length_exceeded", "Too much"), 1, isTooLong},
		"too long for vLLM":      {llmtest.Refuse(400, "", "This model's maximum context length is 9 tokens"), 1, isTooLong},
		"too long for llama.cpp": {body(500, `{"error":{"code":500,"message":"Context size has been exceeded."}}`), 1, isTooLong},
		"too long for Ollama":    {body(400, `{"error":"the input length exceeds the context length"}`), 1, isTooLong},
		"too long for Anthropic": {llmtest.Refuse(400, "", "input length and `max_tokens` exceed context limit: 9 + 9 > 10"), 1, isTooLong},
		"too long behind OpenRouter": {body(400, `{"error":{"message":"Provider returned error","code":400,`+
			`"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long\"}}"}}}`), 1, isTooLong},

		"a short key": {llmtest.Refuse(400, "", "Bearer sk-short is not for it"), 1,
			isStatus(400, "Bearer [key] is not for it")},
		"no key": {llmtest.Refuse(401, "", "who are you?"), 1, func(err error) bool {
			bad, ok := errors.AsType[*llm.CredentialError](err)
			return ok && bad.Unsent && strings.Contains(err.Error(), "no key was sent") &&
				strings.Contains(err.Error(), "who are you?")
		}},
		"silence":  {llmtest.Response{Stall: true}, 4, is(llm.ErrIdle)},
		"no end":   {llmtest.Response{Stall: true}, 1, is(llm.ErrTimeout)},
		"slowness": {llmtest.Response{Text: "slow is not silent", Pace: time.Second}, 1, is(nil)},
		"too much of it": {llmtest.Response{Text: "this one takes for ever", Pace: time.Second}, 1,
			is(llm.ErrTimeout)},
	} {
		s, _, err := served(t, changes[name], c.response)
		if !c.check(err) || len(s.Requests()) != c.tries || strings.Contains(fmt.Sprint(err), secret) {
			t.Errorf("%s: %v after %d tries", name, err, len(s.Requests()))
		}
	}
}
