package llm_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

const secret = "sk-very-secret-1234"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// waits is a fake clock: it does not sleep and records the waits.
type waits struct {
	mu   sync.Mutex
	all  []time.Duration
	told []llm.Retry
}

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
	return ctx.Err()
}

// endpoint asks s without waiting; its jitter is nil.
func endpoint(s *llmtest.Server, w *waits) llm.Endpoint {
	return llm.Endpoint{
		Provider: "acme", BaseURL: s.URL, Key: secret, KeyEnv: "ACME_KEY", Model: "m1",
		Retries: 3, CallTimeout: 20 * time.Second, IdleTimeout: 10 * time.Second,
		Sleep:   w.sleep,
		Rand:    func() float64 { return 0.5 },
		Now:     func() time.Time { return noon },
		OnRetry: func(r llm.Retry) { w.told = append(w.told, r) },
	}
}

// served asks a model of a server that sends the responses in order.
func served(t *testing.T, all ...llmtest.Response) (s *llmtest.Server, got llm.Reply, err error) {
	t.Helper()
	s = llmtest.New(t, llmtest.Each(all...))
	got, err = open(t, endpoint(s, &waits{})).Ask(t.Context(), question)
	return s, got, err
}

func open(t *testing.T, e llm.Endpoint) llm.Model {
	t.Helper()
	m, err := e.Open()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var question = llm.Request{
	Role: "planner", Subject: "round 1",
	Messages: []llm.Message{{Role: "system", Text: "be brief"}, {Role: "user", Text: "how many <b>?"},
		{Role: "assistant", Text: "2"}},
}

func TestStreamedReply(t *testing.T) {
	counts := llm.Usage{InputTokens: 30, CachedTokens: 10, OutputTokens: 20, ReasoningTokens: 5}
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Text: "Grüße: there are 42 & more <of> them",
		Usage: counts}))
	e := endpoint(s, &waits{})
	warm := 0.25
	e.Temperature = &warm
	r := question
	r.MaxTokens = 77
	got, err := open(t, e).Ask(t.Context(), r)
	want := llm.Reply{Text: "Grüße: there are 42 & more <of> them", Model: "m1", Finish: "stop",
		Usage: counts}
	if err != nil || got != want {
		t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
	}
	asked := s.Requests()[0]
	if !asked.Stream || len(asked.Messages) != 3 || asked.Messages[1] != question.Messages[1] ||
		asked.Last() != "2" {
		t.Errorf("sent %+v", asked)
	}
	e.Provider = "openai"
	if _, err := open(t, e).Ask(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if body := s.Requests()[1].Body; !strings.Contains(body, `"max_completion_tokens":77`) ||
		strings.Contains(body, `"max_tokens"`) {
		t.Error(body)
	}
	for _, part := range []string{`"max_tokens":77`, `"temperature":0.25`, `"include_usage":true`} {
		if !strings.Contains(asked.Body, part) {
			t.Errorf("no %s in %s", part, asked.Body)
		}
	}
	if asked.Header.Get("Authorization") != "Bearer "+secret ||
		asked.Header.Get("User-Agent") != "dsstar" {
		t.Errorf("headers %v", asked.Header)
	}
}

// Each failure is followed by a good reply; the wait between them is checked.
func TestRetried(t *testing.T) {
	header := func(name, value string) map[string]string { return map[string]string{name: value} }
	cases := []struct {
		name     string
		response llmtest.Response
		wait     time.Duration
		cause    string
	}{
		{"429 with seconds", llmtest.Response{Status: 429, Header: header("Retry-After", "7"),
			Body: "slow down"}, 7 * time.Second, "429 Too Many Requests: slow down"},
		{"429 with a date", llmtest.Response{Status: 429,
			Header: header("Retry-After", noon.Add(90*time.Second).Format(http.TimeFormat)), Body: "x"},
			90 * time.Second, "429"},
		{"429 of Gemini", llmtest.Response{Status: 429,
			Body: `[{"error":{"code":429,"message":"quota","details":[{"retryDelay": "34s"}]}}]`},
			34 * time.Second, "quota"},
		{"500", llmtest.Refuse(500, "", "oops\nagain"), time.Second,
			"500 Internal Server Error: oops again"},
		{"half a stream", llmtest.Response{Text: "this one is cut off", CutAfter: 2}, time.Second,
			"truncated"},
		{"never answers", llmtest.Response{Stall: true}, time.Second, "stopped responding (300ms)"},
		{"falls silent", llmtest.Response{Text: "this one falls silent", CutAfter: 2, Stall: true},
			time.Second, "stopped responding"},
		{"an error in the stream", llmtest.Response{Header: header("Content-Type", "text/event-stream"),
			Body: "data: {\"error\":{\"code\":502,\"message\":\"upstream\"}}\n\n"}, time.Second,
			"502 Bad Gateway: upstream"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := llmtest.New(t, llmtest.Each(c.response, llmtest.Response{Text: "fine"}))
			w := &waits{}
			e := endpoint(s, w)
			if c.response.Stall {
				e.IdleTimeout = 300 * time.Millisecond
			}
			got, err := open(t, e).Ask(t.Context(), question)
			if err != nil || got.Text != "fine" || got.Retries != 1 {
				t.Fatalf("got %+v, %v", got, err)
			}
			if len(w.all) != 1 || w.all[0] != c.wait {
				t.Errorf("waited %v, want %v", w.all, c.wait)
			}
			if told := w.told[0]; told.Try != 1 || told.Role != "planner" || told.Wait != c.wait ||
				!strings.Contains(told.Cause, c.cause) || strings.Contains(told.Cause, "\n") {
				t.Errorf("told %+v, want the cause %q", told, c.cause)
			}
		})
	}
}

func isCredential(err error) bool { _, ok := errors.AsType[*llm.CredentialError](err); return ok }
func isTooLong(err error) bool    { return errors.Is(err, llm.ErrContextLength) }
func isStatus(status int, message string) func(error) bool {
	return func(err error) bool {
		e, ok := errors.AsType[*llm.StatusError](err)
		return ok && e.Status == status && e.Message == message && e.Provider == "acme" &&
			strings.HasSuffix(e.Endpoint, "/v1/chat/completions")
	}
}

// If no key was sent, the message must not call it wrong.
func TestNoKeySent(t *testing.T) {
	e := endpoint(llmtest.New(t, llmtest.Each(llmtest.Refuse(401, "", "who are you?"))), &waits{})
	e.Key, e.KeyEnv = "", ""
	_, err := open(t, e).Ask(t.Context(), question)
	bad, ok := errors.AsType[*llm.CredentialError](err)
	if !ok || !bad.Unsent || !strings.Contains(err.Error(), "no key was sent") ||
		!strings.Contains(err.Error(), "who are you?") {
		t.Errorf("%v", err)
	}
}

func TestTimeOuts(t *testing.T) {
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Stall: true}))
	e := endpoint(s, &waits{})
	e.IdleTimeout, e.Retries = 200*time.Millisecond, 1
	if _, err := open(t, e).Ask(t.Context(), question); !errors.Is(err, llm.ErrIdle) ||
		len(s.Requests()) != 2 {
		t.Errorf("idle: %v after %d tries", err, len(s.Requests()))
	}
	e.IdleTimeout, e.CallTimeout = 0, 200*time.Millisecond
	if _, err := open(t, e).Ask(t.Context(), question); !errors.Is(err, llm.ErrTimeout) ||
		len(s.Requests()) != 3 {
		t.Errorf("call: %v after %d tries", err, len(s.Requests()))
	}
}

// A reply that takes longer than IdleTimeout is fine as long as bytes come.
func TestSlowIsNotSilent(t *testing.T) {
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Text: "worth waiting for",
		Pace: 400 * time.Millisecond}))
	e := endpoint(s, &waits{})
	e.IdleTimeout, e.Retries = time.Second, 0 // the three chunks take longer
	if got, err := open(t, e).Ask(t.Context(), question); err != nil ||
		got.Text != "worth waiting for" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCancel(t *testing.T) {
	cases := map[string]llmtest.Response{
		"before the answer": {Stall: true},
		"in the stream":     {Text: "one two three four", CutAfter: 1, Stall: true},
		"in a wait":         {Status: 500, Header: map[string]string{"Retry-After": "60"}},
	}
	for name, response := range cases {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t, llmtest.Each(response))
			e := endpoint(s, &waits{})
			e.Sleep = nil // the real one
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			start := time.Now()
			_, err := open(t, e).Ask(ctx, question)
			if !errors.Is(err, context.Canceled) || time.Since(start) > 5*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	}
}

func TestConnectionError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String() + "/v1?key=" + secret
	l.Close()
	w := &waits{}
	e := llm.Endpoint{Provider: "acme", BaseURL: base, Model: "m1", Retries: 2, Sleep: w.sleep}
	_, err = open(t, e).Ask(t.Context(), question)
	lost, ok := errors.AsType[*llm.ConnectionError](err)
	if !ok || len(w.all) != 2 || !strings.Contains(err.Error(), "connection refused") {
		t.Fatalf("%v after waits %v", err, w.all)
	}
	if strings.Contains(err.Error()+lost.Endpoint, secret) {
		t.Errorf("the key is in %q", err)
	}
}

func TestOpenChecks(t *testing.T) {
	good := llm.Endpoint{Provider: "acme", BaseURL: "https://example.org/v1", Model: "m"}
	for name, change := range map[string]func(*llm.Endpoint){
		"no scheme": func(e *llm.Endpoint) { e.BaseURL = "example.org/v1" },
		"no url":    func(e *llm.Endpoint) { e.BaseURL = "" },
		"bad url":   func(e *llm.Endpoint) { e.BaseURL = "https://user:" + secret + "@exa mple.org" },
		"no model":  func(e *llm.Endpoint) { e.Model = "" },
		"no key":    func(e *llm.Endpoint) { e.KeyEnv = "ACME_KEY" },
		"two keys":  func(e *llm.Endpoint) { e.Key = secret + "\n" + secret },
	} {
		e := good
		change(&e)
		_, err := e.Open()
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.HasSuffix(name, "key") && !isCredential(err) {
			t.Errorf("%s: %v is no CredentialError", name, err)
		}
	}
	if _, err := good.Open(); err != nil {
		t.Error(err)
	}
}

// OpenAI's environment variables are ignored.
func TestEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "env-key")
	t.Setenv("OPENAI_ADMIN_KEY", "env-admin")
	t.Setenv("OPENAI_ORG_ID", "env-org")
	t.Setenv("OPENAI_PROJECT_ID", "env-project")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Env: env-header")
	s := llmtest.New(t, llmtest.Script("a", "b", "c"))
	e := llm.Endpoint{Provider: "acme", BaseURL: s.URL, Model: "m1"}
	ask := func() http.Header {
		if _, err := open(t, e).Ask(t.Context(), question); err != nil {
			t.Fatal(err)
		}
		all := s.Requests()
		return all[len(all)-1].Header
	}
	embed := func() http.Header {
		if _, err := ranker(t, e).Rank(t.Context(), "q", []string{"a"}); err != nil {
			t.Fatal(err)
		}
		return s.Requests()[1].Header
	}
	for _, sent := range []http.Header{ask(), embed()} {
		for name, values := range sent {
			if strings.Contains(strings.Join(values, " "), "env-") || name == "Authorization" ||
				strings.HasPrefix(name, "X-Stainless") {
				t.Errorf("sent %s: %v", name, values)
			}
		}
	}
	e.Header = map[string]string{"OpenAI-Organization": "mine"}
	if got := ask().Get("OpenAI-Organization"); got != "mine" {
		t.Errorf("own header is %q", got)
	}
}

func TestByRole(t *testing.T) {
	s := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		return llmtest.Response{Text: r.Model}
	})
	small, big := endpoint(s, &waits{}), endpoint(s, &waits{})
	small.Model, big.Model = "small", "big"
	m := llm.ByRole(open(t, small), map[string]llm.Model{"planner": open(t, big)})
	for role, want := range map[string]string{"planner": "big", "coder": "small"} {
		if got, err := m.Ask(t.Context(), llm.Request{Role: role,
			Messages: question.Messages}); err != nil || got.Text != want {
			t.Errorf("%s: %q, %v", role, got.Text, err)
		}
	}
}

// A wait that would outlast the deadline is not begun.
func TestWaitsKnowTheDeadline(t *testing.T) {
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Status: 429, Body: "slow down",
		Header: map[string]string{"Retry-After": "60"}}))
	w := &waits{}
	e := endpoint(s, w)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err := open(t, e).Ask(ctx, question)
	if !isStatus(429, "slow down")(err) || errors.Is(err, context.DeadlineExceeded) ||
		len(w.all) != 0 || len(w.told) != 0 || len(s.Requests()) != 1 ||
		!strings.Contains(err.Error(), "too little time is left for a retry after 1m0s") {
		t.Errorf("%v after waits %v", err, w.all)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if _, err := open(t, e).Ask(ctx, question); !strings.Contains(err.Error(), "(tries: 4)") ||
		len(w.all) != 3 {
		t.Errorf("with time enough: %v after waits %v", err, w.all)
	}
}
