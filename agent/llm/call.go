package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/tidwall/gjson"
)

// maxBody is the size of a response, whether it is a stream or not, where reading ends.
const maxBody = 32_000_000

// maxWait is the longest wait between two tries, also if the endpoint asks for more.
const maxWait = 120 // seconds

// call sends the params of a request through the library and reads the response with read, at each
// try anew. The library waits and repeats the call. A try is a middleware of it that reads the whole
// response, so that it also repeats after a reply that breaks off.
func (m *endpoint) call(ctx context.Context, r Request, params any, read func(io.Reader) error) error {
	tries := 0
	attempt := func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		tries++
		err := m.try(req, next, read)
		if err == nil || ctx.Err() != nil {
			return &http.Response{StatusCode: http.StatusOK}, err
		}
		err = m.located(err)
		again := http.Header{"X-Should-Retry": {strconv.FormatBool(passes(err))}}
		if refused, ok := errors.AsType[*StatusError](err); ok && refused.after != "" {
			again.Set("Retry-After", refused.after)
		}
		if passes(err) && tries <= m.Retries && m.OnRetry != nil {
			m.OnRetry(r, m.line(err.Error()))
		}
		return &http.Response{Header: again}, err
	}
	var done *http.Response
	err := m.client.Post(ctx, callsPath, params, &done, option.WithMiddleware(attempt))
	return cmp.Or(ctx.Err(), err)
}

// try makes one HTTP call and reads the whole response, within its limits.
func (m *endpoint) try(req *http.Request, next option.MiddlewareNext, read func(io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	after := func(limit time.Duration, kind error) *time.Timer {
		return time.AfterFunc(limit, func() { cancel(fmt.Errorf("%w (%s)", kind, limit)) })
	}
	defer after(m.CallTimeout, ErrTimeout).Stop()
	silence := after(m.IdleTimeout, ErrIdle)
	defer silence.Stop()
	for name := range req.Header { // about this machine
		if strings.HasPrefix(name, "X-Stainless-") {
			req.Header.Del(name)
		}
	}
	res, err := next(req.WithContext(ctx))
	if err == nil {
		defer res.Body.Close()
		came := arrival(func() { silence.Reset(m.IdleTimeout) })
		body := io.TeeReader(io.LimitReader(res.Body, maxBody), came)
		if res.StatusCode >= 300 { // the library's own error is empty if the body is not in OpenAI's form
			text, _ := io.ReadAll(body) // as far as it comes
			err = m.refusal(res.StatusCode, res.Header, string(text))
		} else {
			err = read(body)
		}
	}
	sent, unsent := errors.AsType[*url.Error](err)
	switch cause := context.Cause(ctx); {
	case err != nil && cause != nil:
		return cause
	case unsent: // its own text has the URL with the query
		return fmt.Errorf("%w: %w", ErrConnection, sent.Err)
	}
	return err
}

// arrival is told when a part of a response has arrived.
type arrival func()

func (told arrival) Write(p []byte) (int, error) {
	told()
	return len(p), nil
}

// values gives take the JSON values of a response: the data of the events of a stream, or its body.
// The first byte decides, since content types are often wrong. A stream that does not end with
// [DONE] is [ErrCut].
func (m *endpoint) values(body io.Reader, take func(gjson.Result) error) error {
	from := bufio.NewReader(body)
	switch first, _ := from.Peek(1); {
	case len(first) == 0:
		return ErrEmpty
	case strings.Contains("{[<", string(first)):
		whole, _ := io.ReadAll(from) // as far as it comes
		return m.decode(whole, take)
	}
	events := ssestream.NewDecoder(&http.Response{Body: io.NopCloser(from)})
	for events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			return nil
		}
		if len(data) > 0 { // else it keeps the connection alive
			if err := m.decode(data, take); err != nil {
				return err
			}
		}
	}
	return cut(cmp.Or(events.Err(), io.ErrUnexpectedEOF))
}

// decode gives take a JSON value, unless it has broken off or is an error object. "error" may be
// null.
func (m *endpoint) decode(raw []byte, take func(gjson.Result) error) error {
	value, whole := gjson.ParseBytes(raw), gjson.ValidBytes(raw)
	switch {
	case whole && value.Get("error").Type == gjson.Null: // also if there is none
		return take(value)
	case !whole && (raw[0] == '{' || raw[0] == '['):
		return cut(io.ErrUnexpectedEOF)
	}
	return m.misfit(string(raw)) // a web page, too
}

func cut(err error) error { return fmt.Errorf("%w: %v", ErrCut, err) }

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
	reply.Usage = cmp.Or(reply.Usage, Usage{Estimated: true, // by four bytes a token
		InputTokens: (len(fmt.Sprint(r.Messages)) + 3) / 4, OutputTokens: (len(reply.Text) + 3) / 4})
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
