package llm

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Ask sends the request, and repeats it as far as the endpoint's retries say.
func (m *endpoint) Ask(ctx context.Context, r Request) (reply Reply, err error) {
	start := time.Now()
	err = m.call(ctx, r, m.params(r), func(body io.Reader) (err error) {
		reply, err = m.read(body, r)
		return err
	})
	if err != nil {
		return Reply{}, err
	}
	reply.Seconds = time.Since(start).Seconds()
	return reply, nil
}

// object is a JSON object of a request.
type object = map[string]any

// params builds a request body. Every endpoint accepts "max_tokens" except OpenAI's, whose
// newer models refuse it.
func (m *endpoint) params(r Request) object {
	var messages []object
	for _, msg := range r.Messages {
		messages = append(messages, object{"role": msg.Role, "content": msg.Text})
	}
	p := object{"model": m.Model, "messages": messages, "stream": true,
		"stream_options": object{"include_usage": true}}
	if m.Temperature != nil {
		p["temperature"] = *m.Temperature
	}
	if r.MaxTokens > 0 && (m.Provider == "openai" || m.Provider == "azure") {
		p["max_completion_tokens"] = r.MaxTokens
	} else if r.MaxTokens > 0 {
		p["max_tokens"] = r.MaxTokens
	}
	return p
}

// read reads a reply, as a stream or whole from an endpoint that ignores "stream"; some endpoints
// do not tell a completion from a chunk of one. What fails after the finish reason is ignored: only
// the usage follows.
func (m *endpoint) read(body io.Reader, r Request) (Reply, error) {
	reply := Reply{Model: m.Model}
	var text strings.Builder
	last, answered := "", false
	err := m.values(body, func(c gjson.Result) error {
		last = c.Raw
		reply.Model = m.hide(cmp.Or(c.Get("model").Str, reply.Model))
		reply.Usage = cmp.Or(tokens(c.Get("usage")), reply.Usage)
		choice := c.Get("choices.0")
		answered = answered || choice.Exists()
		reply.Finish = m.hide(cmp.Or(choice.Get("finish_reason").Str, reply.Finish))
		content := choice.Get("delta.content").Str + choice.Get("message.content").Str
		text.WriteString(content)
		if content != "" && r.OnText != nil {
			soFar := text.String() // is not copied
			r.OnText(func() string { return m.hide(soFar) })
		}
		return nil
	})
	switch {
	case err == nil && reply.Finish == "" && !answered:
		return reply, m.misfit(last)
	case err != nil && reply.Finish == "":
		return reply, err
	}
	reply.Text = m.hide(text.String())
	reply.Usage = cmp.Or(reply.Usage, estimate(len(fmt.Sprint(r.Messages)), len(reply.Text)))
	return reply, nil
}

// tokens converts a usage. Gemini counts reasoning only in the total.
func tokens(u gjson.Result) (v Usage) {
	count := func(name string) int { return max(0, int(u.Get(name).Int())) }
	v.InputTokens, v.OutputTokens = count("prompt_tokens"), count("completion_tokens")
	v.CachedTokens = count("prompt_tokens_details.cached_tokens")
	v.ReasoningTokens = count("completion_tokens_details.reasoning_tokens")
	hidden := count("total_tokens") - v.InputTokens - v.OutputTokens
	if hidden > 0 && v.InputTokens > 0 {
		v.OutputTokens += hidden
		v.ReasoningTokens = max(v.ReasoningTokens, hidden)
	}
	return v
}
