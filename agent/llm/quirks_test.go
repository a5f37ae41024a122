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
	reason := "null"
	if finish != "" {
		reason = `"` + finish + `"`
	}
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q},"finish_reason":%s}]}`,
		text, reason) + "\n\n"
}

// TestReplies: valid replies, also in forms that compatible endpoints send but OpenAI's does not.
func TestReplies(t *testing.T) {
	whole := chunk("o", "") + chunk("k", "stop")
	ok := llm.Reply{Text: "ok", Model: "m1", Finish: "stop", Usage: llm.Usage{InputTokens: 6, OutputTokens: 1, Estimated: true}}
	bare, counted, thought, limited := ok, ok, ok, ok
	bare.Finish, limited.Finish = "", "length"
	counted.Model, counted.Usage = "m2", llm.Usage{InputTokens: 3, OutputTokens: 2}
	thought.Usage = llm.Usage{InputTokens: 5, OutputTokens: 12, ReasoningTokens: 10}
	const message = `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]`
	for body, want := range map[string]llm.Reply{
		// plain JSON though a stream was asked for, and an event of it
		`{"model":"m2","usage":{"prompt_tokens":3,"completion_tokens":2},` + message[1:] + "}":       counted,
		"\n\n" + `{"choices":[{"message":{"content":"ok"}}]}`:                                        bare,
		"data: " + message + "}\n\n":                                                                 ok,
		"{\n \"error\": null,\n" + message[1:] + "\n}":                                               ok,
		message + `,"usage":{"prompt_tokens":-5,"completion_tokens":2}}`:                             ok,
		whole + `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2e18}}` + "\n\n": ok,
		// no last blank line, reasoning in the total alone
		"\n: hi\n\ndata:\n\ndata: " + message +
			`,"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":17}}`: thought,
		chunk("o", "") + chunk("k", "length"): limited,
		whole:                                 ok, // no [DONE]
		chunk("o", "") + chunk("k", "") + "data: [DONE]\n\n":                                         bare,
		strings.ReplaceAll(whole+"data: [DONE]\n\n", "\n", "\r\n"):                                   ok,
		"\xEF\xBB\xBF" + strings.ReplaceAll(whole, "data: ", "data:"):                                ok,
		": PROCESSING\n\nevent: message\nid: 1\nretry: 10\n" + whole:                                 ok,
		"data: {}\n\n" + `data: {"choices":null}` + "\n\n" + whole:                                   ok,
		strings.ReplaceAll(chunk("not this", "stop"), `"index":0`, `"index":1`) + whole:              ok,
		whole + "data: {\"error\":{\"message\":\"late\"}}\n\n":                                       ok,
		`data: {"choices":[{"index":0,"delta":{"content":null,"reasoning":"hm"}}]}` + "\n\n" + whole: ok,
	} {
		_, got, err := served(t, unchanged, llmtest.Response{Body: body})
		if got.Seconds = 0; err != nil || got != want {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", body, got, err, want)
		}
	}
}

func isCredential(err error) bool { _, ok := errors.AsType[*llm.CredentialError](err); return ok }
func isTooLong(err error) bool    { return errors.Is(err, llm.ErrContextLength) }
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
	to := func(status int, address string) llmtest.Response {
		return llmtest.Response{Status: status, Header: map[string]string{"Location": address}}
	}
	event := func(data string) llmtest.Response {
		return body(200, chunk("so far", "")+"event: error\ndata: "+data+"\n\n")
	}
	is := func(kind error) func(error) bool { return func(err error) bool { return errors.Is(err, kind) } }
	type failure struct {
		response llmtest.Response
		tries    int
		check    func(error) bool
	}
	all := map[string]failure{
		"a bad key": {llmtest.Refuse(401, "invalid_api_key", "Incorrect API key provided: "+secret), 1, func(err error) bool {
			bad, ok := errors.AsType[*llm.CredentialError](err)
			return ok && bad.Provider == "acme" && bad.KeyEnv == "ACME_KEY" && !bad.Unsent
		}},
		"a bad key, without a word": {llmtest.Response{Status: 401, Header: map[string]string{"Content-Length": "0"}},
			1, isCredential},
		"a bad key at Gemini": {body(400, `[{"error":{"code":400,"message":"API key not valid. Please pass one."}}]`),
			1, isCredential},
		"a list of errors": {body(400, `[{"error":{"code":400,"message":"Unknown name \"x\""}}]`), 1,
			isStatus(400, `Unknown name "x"`)},
		"no money left": {llmtest.Refuse(429, "insufficient_quota", "pay"), 1, isStatus(429, "pay")},
		"a wait that is too long": {llmtest.Response{Status: 429, Body: "tomorrow",
			Header: map[string]string{"Retry-After": "7200"}}, 1, isStatus(429, "tomorrow")},
		"a web page": {body(200, "<!doctype html>\n<title>Hi</title>"), 1,
			isStatus(200, "not a chat completion: <!doctype html> <title>Hi</title>")},

		"no reason to finish": {body(200, chunk("half", "")), 4, is(llm.ErrCut)},
		"half of JSON":        {body(200, `{"choices":[{"message":{"content":"ha`), 4, is(llm.ErrCut)},
		"a line without end":  {body(200, "data: "+strings.Repeat("x", 33<<20)), 4, is(llm.ErrCut)},
		"only white space":    {body(200, "\n\n\n"), 4, is(llm.ErrEmpty)},
		"no content":          {body(204, "\n"), 4, is(llm.ErrEmpty)},

		"another host": {to(301, "https://user:pw@new.example/v1/chat/completions?key="+secret), 1,
			isStatus(301, "it redirects to https://new.example/v1/chat/completions")},
		"itself": {to(302, "/v1/chat/completions"), 1,
			isStatus(302, "it redirects to http://llmtest/v1/chat/completions")},

		"an error alone in a stream": {
			body(200, `data: {"error":{"code":502,"message":"upstream"}}`+"\n\n"), 4, isStatus(502, "upstream")},
		"an error of no code":      {body(200, `{"error":{"message":"odd"}}`), 4, isStatus(500, "odd")},
		"an error with a number":   {body(200, `{"error":{"message":"none","code":404}}`), 1, isStatus(404, "none")},
		"an error, number as text": {body(200, `{"error":{"message":"busy","code":"503"}}`), 4, isStatus(503, "busy")},
		"an error in a stream":     {event(`{"error":{"type":"overloaded_error","message":"Full"}}`), 4, isStatus(500, "Full")},
		"a bad key in a stream":    {event(`{"error":{"type":"authentication_error","message":"` + secret + `"}}`), 1, isCredential},
		"too long, in a stream":    {event(`{"error":{"code":400,"type":"exceed_context_size_error"}}`), 1, isTooLong},
		"too many tokens a minute": {llmtest.Refuse(429, "", "Too many tokens, please wait"), 4, isStatus(429, "Too many tokens, please wait")},
		"too long a reply wanted":  {llmtest.Refuse(400, "", "max_tokens is too large"), 1, isStatus(400, "max_tokens is too large")},
		"overload":                 {llmtest.Refuse(503, "", "no context length"), 4, isStatus(503, "no context length")},
	}
	for name, response := range map[string]llmtest.Response{ // that exceeds the context length
		"OpenAI":              llmtest.Refuse(400, "context_length_exceeded", "Too much"),
		"llama.cpp, replying": body(500, `{"error":{"code":500,"message":"Context size has been exceeded."}}`),
		"Ollama":              body(400, `{"error":"the input length exceeds the context length"}`),
		"OpenRouter, behind": body(400, `{"error":{"message":"Provider returned error","code":400,`+
			`"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long\"}}"}}}`),
	} {
		all[name+", too long"] = failure{response, 1, isTooLong}
	}
	for name, c := range all {
		s, _, err := served(t, unchanged, c.response)
		if err == nil || !c.check(err) || len(s.Requests()) != c.tries || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v after %d tries", name, err, len(s.Requests()))
		}
	}
	_, _, err := served(t, func(e *llm.Endpoint) { e.Key, e.KeyEnv = "", "" }, llmtest.Refuse(401, "", "who are you?"))
	bad, ok := errors.AsType[*llm.CredentialError](err)
	if !ok || !bad.Unsent || !strings.Contains(err.Error(), "no key was sent") ||
		!strings.Contains(err.Error(), "who are you?") {
		t.Errorf("without a key: %v", err)
	}
}
