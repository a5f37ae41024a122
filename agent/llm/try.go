package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// maxBody bounds an answer that is not a stream.
const maxBody = 64 << 20

// try makes one HTTP call and reads its whole reply, under both time-outs.
func (m *endpoint) try(ctx context.Context, p openai.ChatCompletionNewParams) (Reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if m.CallTimeout > 0 {
		bound := time.AfterFunc(m.CallTimeout, func() { cancel(m.timedOut(ErrTimeout, m.CallTimeout)) })
		defer bound.Stop()
	}
	alive := func() {}
	if m.IdleTimeout > 0 {
		silence := time.AfterFunc(m.IdleTimeout, func() { cancel(m.timedOut(ErrIdle, m.IdleTimeout)) })
		defer silence.Stop()
		alive = func() { silence.Reset(m.IdleTimeout) }
	}

	var res *http.Response
	_, err := m.chat.New(ctx, p, option.WithJSONSet("stream", true), option.WithResponseBodyInto(&res))
	if err == nil {
		defer res.Body.Close()
		var reply Reply
		if reply, err = m.read(watched{res.Body, alive}, res.Header.Get("Content-Type")); err == nil {
			return reply, nil
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	var sent *url.Error // its text repeats the URL, query and all
	if errors.As(err, &sent) {
		err = &ConnectionError{Provider: m.Provider, Endpoint: m.url, Err: sent.Err}
	}
	return Reply{}, err
}

func (m *endpoint) timedOut(kind error, after time.Duration) error {
	return fmt.Errorf("%s: %s: %w (%s)", m.Provider, m.url, kind, after)
}

// exchange sends a request without the library's report about this machine, and
// turns a refusal into a StatusError: the library keeps nothing of an error body
// that is not shaped as OpenAI's.
func (m *endpoint) exchange(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			req.Header.Del(name)
		}
	}
	res, err := next(req)
	if err != nil || res.StatusCode < 400 {
		return res, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil && len(body) == 0 {
		body = []byte(err.Error())
	}
	return nil, m.refusal(res.StatusCode, res.Header, body)
}

// watched reports every arrival of bytes.
type watched struct {
	io.ReadCloser
	alive func()
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.alive()
	}
	return n, err
}

// read takes the reply from a body, which an endpoint that ignores "stream"
// answers as plain JSON. The first byte tells: content types are often wrong.
func (m *endpoint) read(body io.ReadCloser, contentType string) (Reply, error) {
	r := bufio.NewReader(body)
	first, err := firstByte(r)
	switch {
	case err != nil:
		return Reply{}, m.cut(err)
	case first == '{' || first == '[':
		return m.readJSON(r)
	case strings.HasPrefix(contentType, "text/event-stream") || startsStream(r):
		return m.readStream(r, body)
	}
	text, _ := io.ReadAll(io.LimitReader(r, 4096))
	return Reply{}, m.statusError(http.StatusOK, fmt.Sprintf("not a chat completion but %s: %s", contentType, text))
}

// firstByte skips white space, which some endpoints send to keep a call alive.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !bytes.ContainsAny([]byte{b}, " \t\r\n") {
			return b, r.UnreadByte()
		}
	}
}

func startsStream(r *bufio.Reader) bool {
	start, _ := r.Peek(5)
	return bytes.HasPrefix(start, []byte("data:")) || bytes.HasPrefix(start, []byte("event")) || bytes.HasPrefix(start, []byte(":"))
}

func (m *endpoint) readJSON(r io.Reader) (Reply, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxBody))
	if err != nil {
		return Reply{}, m.cut(err)
	}
	var c openai.ChatCompletion
	if err := json.Unmarshal(body, &c); err != nil || len(c.Choices) == 0 {
		return Reply{}, m.failure(body)
	}
	msg := c.Choices[0].Message
	return Reply{
		Text:   either(msg.Content, msg.Refusal),
		Model:  either(c.Model, m.Model),
		Finish: c.Choices[0].FinishReason,
		Usage:  tokens(c.Usage),
	}, nil
}

// readStream adds up the chunks. A stream that ends without a finish reason was
// cut, though the library sees no error in it. What comes after the finish
// reason is only the usage, and not worth a failure.
func (m *endpoint) readStream(r io.Reader, body io.Closer) (Reply, error) {
	reply := Reply{Model: m.Model}
	var text, refusal strings.Builder
	stream := ssestream.NewStream[openai.ChatCompletionChunk](newEvents(r, body), nil)
	for stream.Next() {
		c := stream.Current()
		reply.Model = either(c.Model, reply.Model)
		if u := tokens(c.Usage); u != (Usage{}) {
			reply.Usage = u
		}
		for _, choice := range c.Choices {
			if choice.Index == 0 {
				text.WriteString(choice.Delta.Content)
				refusal.WriteString(choice.Delta.Refusal)
				reply.Finish = either(choice.FinishReason, reply.Finish)
			}
		}
	}
	reply.Text = either(text.String(), refusal.String())
	var told *ssestream.StreamError
	switch err := stream.Err(); {
	case reply.Finish != "":
		return reply, nil
	case errors.As(err, &told):
		return Reply{}, m.failure(told.Event.Data)
	case err != nil:
		return Reply{}, m.cut(err)
	}
	return Reply{}, m.cut(io.ErrUnexpectedEOF)
}

// events decodes server-sent events, and mends what the library stumbles over:
// `"error":null`, which it takes for an error, empty events, and a last event
// without the blank line that should end it.
type events struct {
	ssestream.Decoder
	data []byte
}

func newEvents(r io.Reader, body io.Closer) *events {
	ended := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(r, strings.NewReader("\n\n")), body}
	return &events{Decoder: ssestream.NewDecoder(&http.Response{Body: ended})}
}

func (e *events) Next() bool {
	for e.Decoder.Next() {
		e.data = bytes.TrimSpace(e.Decoder.Event().Data)
		if len(e.data) == 0 {
			continue
		}
		if bytes.Contains(e.data, []byte(`"error"`)) {
			e.data = withoutNullError(e.data)
		}
		return true
	}
	return false
}

func (e *events) Event() ssestream.Event {
	return ssestream.Event{Type: e.Decoder.Event().Type, Data: e.data}
}

func withoutNullError(data []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || string(fields["error"]) != "null" {
		return data
	}
	delete(fields, "error")
	mended, err := json.Marshal(fields)
	if err != nil {
		return data
	}
	return mended
}

// tokens reads a usage. Gemini counts reasoning in the total alone.
func tokens(u openai.CompletionUsage) Usage {
	v := Usage{
		InputTokens:     int(u.PromptTokens),
		CachedTokens:    int(u.PromptTokensDetails.CachedTokens),
		OutputTokens:    int(u.CompletionTokens),
		ReasoningTokens: int(u.CompletionTokensDetails.ReasoningTokens),
	}
	if hidden := int(u.TotalTokens) - v.InputTokens - v.OutputTokens; hidden > 0 && v.InputTokens > 0 {
		v.OutputTokens += hidden
		v.ReasoningTokens = max(v.ReasoningTokens, hidden)
	}
	return v
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
