package llm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

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
		_, got, err := served(t, unchanged, llmtest.Response{Body: body})
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
	} {
		s, _, err := served(t, unchanged, c.response)
		if err == nil || !c.check(err) || len(s.Requests()) != c.tries || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v after %d tries", name, err, len(s.Requests()))
		}
	}
	_, _, err := served(t, func(e *llm.Endpoint) { e.Key = "sk-short" }, llmtest.Refuse(400, "", "Bearer sk-short is not for it"))
	if err == nil || strings.Contains(err.Error(), "sk-short") {
		t.Errorf("with a short key: %v", err)
	}
	if _, err := (llm.Endpoint{BaseURL: "http://llmtest/v1", Key: "one\ntwo"}).Open(); !isCredential(err) {
		t.Errorf("with two lines as a key: %v", err)
	}
	_, _, err = served(t, func(e *llm.Endpoint) { e.Key, e.KeyEnv = "", "" }, llmtest.Refuse(401, "", "who are you?"))
	bad, ok := errors.AsType[*llm.CredentialError](err)
	if !ok || !bad.Unsent || !strings.Contains(err.Error(), "no key was sent") || !strings.Contains(err.Error(), "who are you?") {
		t.Errorf("without a key: %v", err)
	}
}
