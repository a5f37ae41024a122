package llm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

// chunk is an event with some text and, unless "", a reason to finish.
func chunk(text, finish string) string {
	reason := "null"
	if finish != "" {
		reason = `"` + finish + `"`
	}
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q},"finish_reason":%s}]}`,
		text, reason) + "\n\n"
}

// Valid replies in forms that compatible endpoints send but OpenAI's does not.
func TestQuirks(t *testing.T) {
	whole := chunk("o", "") + chunk("k", "stop")
	cases := map[string]struct{ body, finish string }{
		"no [DONE]":             {whole, "stop"},
		"no reason, but [DONE]": {chunk("o", "") + chunk("k", "") + "data: [DONE]\n\n", ""},
		"an event that is the whole reply": {`data: {"object":"chat.completion","choices":[{"index":0,` +
			`"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}` + "\n\n", "stop"},
		"lines end with CR LF": {strings.ReplaceAll(whole+"data: [DONE]\n\n", "\n", "\r\n"),
			"stop"},
		"a byte order mark":        {"\xEF\xBB\xBF" + whole, "stop"},
		"no space after the colon": {strings.ReplaceAll(whole, "data: ", "data:"), "stop"},
		"event names, ids, comments": {": OPENROUTER PROCESSING\n\nevent: message\nid: 1\nretry: 10\n" +
			whole, "stop"},
		"chunks without choices": {`data: {"choices":[],"prompt_filter_results":[{}]}` + "\n\n" +
			"data: {}\n\n" + `data: {"choices":null}` + "\n\n" + whole, "stop"},
		"error is null": {strings.ReplaceAll(whole, `{"choices"`, `{"error":null,"choices"`),
			"stop"},
		"JSON without a reason": {`{"choices":[{"message":{"content":"ok"}}]}`, ""},
		"reasoning apart": {`data: {"choices":[{"index":0,"delta":{"content":null,` +
			`"reasoning_content":"hm","reasoning":"hm","role":"assistant"}}]}` + "\n\n" +
			whole, "stop"},
		"another choice": {strings.ReplaceAll(chunk("not this", "stop"), `"index":0`, `"index":1`) +
			whole, "stop"},
		"an error after the end": {whole + "data: {\"error\":{\"message\":\"late\"}}\n\n", "stop"},
	}
	for name, c := range cases {
		for _, kind := range []string{"text/event-stream", "application/json"} {
			response := llmtest.Response{Body: c.body, Header: map[string]string{"Content-Type": kind}}
			s := llmtest.New(t, llmtest.Each(response))
			got, err := open(t, endpoint(s, &waits{})).Ask(t.Context(), question)
			if err != nil || got.Text != "ok" || got.Finish != c.finish || !got.Usage.Estimated ||
				got.Retries != 0 {
				t.Errorf("%s as %s: %+v, %v", name, kind, got, err)
			}
		}
	}
}

// A reply without a sign of completeness is retried, then an error.
func TestNotWhole(t *testing.T) {
	for name, body := range map[string]string{
		"no reason to finish": chunk("half", ""),
		"only white space":    "\n\n\n",
		"half of JSON":        `{"choices":[{"message":{"content":"ha`,
	} {
		s := llmtest.New(t, llmtest.Each(llmtest.Response{Body: body}))
		_, err := open(t, endpoint(s, &waits{})).Ask(t.Context(), question)
		if !errors.Is(err, llm.ErrCut) || len(s.Requests()) != 4 {
			t.Errorf("%s: %v after %d tries", name, err, len(s.Requests()))
		}
	}
}

// A failure that would come again is final: there is one try.
func TestPermanent(t *testing.T) {
	to := func(status int, address string) llmtest.Response {
		return llmtest.Response{Status: status, Header: map[string]string{"Location": address}}
	}
	moved := func(address, base string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*llm.RedirectedError](err)
			return ok && e.To == address && e.Base == base && strings.Contains(err.Error(), address)
		}
	}
	long := func(err error) bool {
		e, ok := errors.AsType[*llm.TooLongError](err)
		return ok && e.Limit > 1<<20 && !errors.Is(err, llm.ErrCut)
	}
	empty := func(err error) bool { return errors.Is(err, llm.ErrEmpty) }
	event := "data: " + strings.Repeat("x", 35<<20)
	for name, c := range map[string]struct {
		response llmtest.Response
		check    func(error) bool
	}{
		"another host": {to(301, "https://user:pw@new.example/v1/chat/completions?key="+secret),
			moved("https://new.example/v1/chat/completions", "https://new.example/v1")},
		"a page to sign in": {to(302, "https://sso.example/login"), moved("https://sso.example/login", "")},
		"a POST kept": {to(307, "https://b.example/chat/completions"),
			moved("https://b.example/chat/completions", "https://b.example")},
		"nowhere":              {llmtest.Response{Status: 300, Body: "many"}, isStatus(300, "many")},
		"no content":           {llmtest.Response{Status: 204}, empty},
		"an empty body":        {llmtest.Response{Header: map[string]string{"Content-Length": "0"}}, empty},
		"a stream without end": {llmtest.Response{Body: strings.Repeat(": waiting\n", 7<<20)}, long},
		"JSON without end":     {llmtest.Response{Body: `{"choices":[` + strings.Repeat("0,", 33<<20)}, long},
		"a line without end":   {llmtest.Response{Body: event}, long},
	} {
		s := llmtest.New(t, llmtest.Each(c.response))
		_, err := open(t, endpoint(s, &waits{})).Ask(t.Context(), question)
		if err == nil || !c.check(err) || len(s.Requests()) != 1 ||
			strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v after %d tries", name, err, len(s.Requests()))
		}
	}
	loop := llmtest.New(t, llmtest.Each(to(302, "/v1/chat/completions")))
	_, err := open(t, endpoint(loop, &waits{})).Ask(t.Context(), question)
	if !moved(loop.URL+"/chat/completions", loop.URL)(err) || len(loop.Requests()) != 1 {
		t.Errorf("loop: %v after %d requests", err, len(loop.Requests()))
	}
}

// Counts that cannot be true are replaced by an estimate.
func TestImpossibleUsage(t *testing.T) {
	for _, counts := range []string{
		`"prompt_tokens":-5,"completion_tokens":2`, `"prompt_tokens":5,"completion_tokens":-1`,
		`"prompt_tokens":1e30,"completion_tokens":2`, `"prompt_tokens":5,"completion_tokens":999999999999`,
		`"prompt_tokens":5,"completion_tokens":2,"total_tokens":1e18`,
		`"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":-9}`,
	} {
		usage := `"usage":{` + counts + `}}`
		for _, body := range []string{
			`{"choices":[{"message":{"content":"12345678"},"finish_reason":"stop"}],` + usage,
			chunk("12345678", "stop") + `data: {"choices":[],` + usage + "\n\n",
		} {
			s := llmtest.New(t, llmtest.Each(llmtest.Response{Body: body}))
			got, err := open(t, endpoint(s, &waits{})).Ask(t.Context(), question)
			want := llm.Usage{InputTokens: 7, OutputTokens: 2, Estimated: true}
			if err != nil || got.Usage != want {
				t.Errorf("%s: %+v, %v", body, got.Usage, err)
			}
		}
	}
	for _, count := range []string{"-5", "1e30"} {
		s := llmtest.New(t, llmtest.Each(llmtest.Response{
			Body: `{"data":[{"embedding":[1]},{"embedding":[1]}],"usage":{"prompt_tokens":` + count + `}}`}))
		got, err := ranker(t, endpoint(s, &waits{})).Rank(t.Context(), "1234", []string{"12345678"})
		if want := (llm.Usage{InputTokens: 3, Estimated: true}); err != nil || got.Usage != want {
			t.Errorf("embeddings, %s: %+v, %v", count, got.Usage, err)
		}
	}
}

// Errors sent with status 200 mean another status.
func TestErrorsWithinSuccess(t *testing.T) {
	event := func(data string) string {
		return chunk("so far", "") + "event: error\ndata: " + data +
			"\n\n"
	}
	cases := map[string]struct {
		body  string
		tries int
		check func(error) bool
	}{
		"without a code": {`{"error":{"message":"odd"}}`, 1,
			isStatus(200, "not a chat completion: odd")},
		"with a code": {`{"error":{"message":"odd","code":"odd_code"}}`, 1,
			isStatus(200, "odd")},
		"with a number": {`{"error":{"message":"no such model","code":404}}`, 1,
			isStatus(404, "no such model")},
		"with a number's text": {`{"error":{"message":"busy","code":"503"}}`, 4, isStatus(503, "busy")},
		"Anthropic, overloaded": {event(`{"type":"error",` +
			`"error":{"type":"overloaded_error","message":"Overloaded"}}`), 4,
			isStatus(503, "Overloaded")},
		"llama.cpp, too long": {event(`{"error":{"code":400,"type":"exceed_context_size_error",` +
			`"message":"the request exceeds the available context size"}}`), 1,
			isTooLong},
		"a bad key": {event(`{"error":{"type":"authentication_error","message":"bad ` + secret + `"}}`),
			1, isCredential},
	}
	for name, c := range cases {
		s := llmtest.New(t, llmtest.Each(llmtest.Response{Body: c.body}))
		_, err := open(t, endpoint(s, &waits{})).Ask(t.Context(), question)
		if err == nil || !c.check(err) || strings.Contains(err.Error(), secret) ||
			len(s.Requests()) != c.tries {
			t.Errorf("%s: %v after %d tries", name, err, len(s.Requests()))
		}
	}
}

// The messages of servers about a request that exceeds the context length.
func TestTooLong(t *testing.T) {
	openAI := func(status int, message string) llmtest.Response {
		return llmtest.Refuse(status, "",
			message)
	}
	body := func(status int, body string) llmtest.Response {
		return llmtest.Response{Status: status,
			Body: body}
	}
	for name, response := range map[string]llmtest.Response{
		"OpenAI": llmtest.Refuse(400, "context_length_exceeded", "Your input exceeds the limit"),
		"vLLM": body(400, `{"object":"error","message":"This model's maximum context length is 4096 `+
			`tokens. However, you requested 5000 tokens.",`+
			`"type":"BadRequestError","param":null,"code":400}`),
		"SGLang": openAI(400,
			"The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
		"llama.cpp": body(400,
			`{"error":{"code":400,"message":"request (9000 tokens) exceeds the `+
				`available context size (4096 tokens)","type":"exceed_context_size_error","n_ctx":4096}}`),
		"llama.cpp, replying": body(500,
			`{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`),
		"llama.cpp, embedding": openAI(500,
			"input (600 tokens) is too large to process. increase the physical batch size (current batch "+
				"size: 512)"),
		"Ollama": body(400, `{"error":"the input length exceeds the context length"}`),
		"LM Studio": body(400,
			`{"error":"The number of tokens to keep from the initial prompt `+
				`is greater than the context length."}`),
		"TGI": body(422,
			`{"error":"Input validation error: `+"`inputs` tokens + "+
				"`max_new_tokens`"+` must be <= 4096. Given: 5000","error_type":"validation"}`),
		"Anthropic": body(400,
			`{"type":"error","error":{"type":"invalid_request_error",`+
				`"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`),
		"Anthropic, with more": openAI(400,
			"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
		"Gemini": body(400,
			`[{"error":{"code":400,"message":"The input token count (1200000) exceeds `+
				`the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`),
		"OpenRouter, behind": body(400,
			`{"error":{"message":"Provider returned error","code":400,`+
				`"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long\"}}","provider_name":"X"}}}`),
		"Mistral": openAI(400,
			"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "+
				"context length"),
		"xAI": openAI(400,
			"This model's maximum prompt length is 131072 but the request contains 140000 tokens."),
		"Bedrock": openAI(400, "Input is too long for requested model."),
	} {
		s := llmtest.New(t, llmtest.Each(response))
		_, err := open(t, endpoint(s, &waits{})).Ask(t.Context(), question)
		if !isTooLong(err) || len(s.Requests()) != 1 {
			t.Errorf("%s: %v after %d tries", name, err, len(s.Requests()))
		}
	}
	for name, response := range map[string]llmtest.Response{
		"a limit a minute": openAI(429, "Too many tokens, please wait before trying again."),
		"too long a reply wanted": openAI(400,
			"max_tokens is too large: 100000. This model supports at most 16384 completion tokens"),
		"overload": openAI(503, "no context length is free"),
	} {
		s := llmtest.New(t, llmtest.Each(response))
		if _, err := open(t, endpoint(s, &waits{})).Ask(t.Context(), question); err == nil ||
			isTooLong(err) {
			t.Errorf("%s: %v", name, err)
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

// The jitter is 25 % either way, and waits are capped at a minute.
func TestJitter(t *testing.T) {
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Status: 503}))
	for _, chance := range []float64{0, 0.25, 0.999, rand.Float64()} {
		w := &waits{}
		e := endpoint(s, w)
		e.Retries, e.Rand = 9, func() float64 { return chance }
		if _, err := open(t, e).Ask(t.Context(), question); err == nil {
			t.Fatal("no error")
		}
		for i, got := range w.all {
			base := min(time.Second<<i, time.Minute)
			if want := time.Duration(float64(base) * (0.75 + chance/2)); got != want {
				t.Errorf("chance %v: wait %d is %v, want %v", chance, i+1, got, want)
			}
		}
	}
}
