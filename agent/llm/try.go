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

// maxBody is the maximum size of a response that is not a stream.
const maxBody = 64 << 20

// A call sends one request and reads its response.
type call[T any] struct {
	role, subject string // for OnRetry
	// send sends the request through the library, with additional options.
	send func(context.Context, ...option.RequestOption) error
	read func(body io.ReadCloser, contentType string) (T, error)
}

// attempt makes one HTTP call and reads the whole response, under both time-outs.
func attempt[T any](ctx context.Context, m *endpoint, c call[T]) (T, error) {
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

	var none T
	var res *http.Response
	err := c.send(ctx, option.WithResponseBodyInto(&res))
	if err == nil {
		defer res.Body.Close()
		var result T
		if result, err = c.read(watched{res.Body, alive}, res.Header.Get("Content-Type")); err == nil {
			return result, nil
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	var sent *url.Error // its text has the URL with the query
	if errors.As(err, &sent) {
		err = &ConnectionError{Provider: m.Provider, Endpoint: m.url, Err: sent.Err}
	}
	return none, err
}

func (m *endpoint) timedOut(kind error, after time.Duration) error {
	return fmt.Errorf("%s: %s: %w (%s)", m.Provider, m.url, kind, after)
}

// exchange sends a request without the library's headers about this machine, and converts an
// error response to an error itself, because the library discards bodies that are not in
// OpenAI's form.
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

// watched calls alive whenever bytes arrive.
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

// read reads a reply, as a stream or as plain JSON from an endpoint that ignores "stream". The
// first byte decides: content types are often wrong.
func (m chat) read(body io.ReadCloser, contentType string, onText func(string)) (Reply, error) {
	r := bufio.NewReader(body)
	first, err := firstByte(r)
	switch {
	case err != nil:
		return Reply{}, m.cut(err)
	case first == '{' || first == '[':
		return m.readJSON(r, onText)
	case strings.HasPrefix(contentType, "text/event-stream") || startsStream(r):
		return m.readStream(r, body, onText)
	}
	return Reply{}, m.page(r, contentType)
}

// page returns the error for a body that is not JSON, such as a web page.
func (m *endpoint) page(r io.Reader, contentType string) error {
	text, _ := io.ReadAll(io.LimitReader(r, 4096))
	return m.statusError(http.StatusOK, fmt.Sprintf("not %s but %s: %s", m.answer, contentType, text))
}

// skipped may precede a response: white space, which some endpoints send as a keep-alive, and
// a byte order mark.
const skipped = " \t\r\n\xEF\xBB\xBF"

// firstByte peeks at the first byte that is not skipped.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(skipped, b) < 0 {
			return b, r.UnreadByte()
		}
	}
}

func startsStream(r *bufio.Reader) bool {
	start, _ := r.Peek(5)
	return bytes.HasPrefix(start, []byte("data:")) || bytes.HasPrefix(start, []byte("event")) ||
		bytes.HasPrefix(start, []byte(":"))
}

func (m chat) readJSON(r io.Reader, onText func(string)) (Reply, error) {
	var c openai.ChatCompletion
	body, err := m.decode(r, &c)
	if err != nil {
		return Reply{}, err
	}
	if len(c.Choices) == 0 {
		return Reply{}, m.failure(body)
	}
	msg := c.Choices[0].Message
	reply := Reply{
		Text:   either(msg.Content, msg.Refusal),
		Model:  either(c.Model, m.Model),
		Finish: c.Choices[0].FinishReason,
		Usage:  tokens(c.Usage),
	}
	onText(reply.Text)
	return reply, nil
}

// decode reads a whole body as one JSON value. Incomplete JSON counts as truncated, even if
// the connection ended normally.
func (m *endpoint) decode(r io.Reader, into any) (body []byte, err error) {
	body, err = io.ReadAll(io.LimitReader(r, maxBody))
	if err != nil {
		return nil, m.cut(err)
	}
	err = json.Unmarshal(body, into)
	var broken *json.SyntaxError
	switch {
	case errors.As(err, &broken) && broken.Offset >= int64(len(body)):
		return nil, m.cut(io.ErrUnexpectedEOF)
	case err != nil:
		return nil, m.failure(body)
	}
	return body, nil
}

// readStream concatenates the chunks. A stream without a finish reason counts as truncated,
// which the library does not report. Errors after the finish reason are ignored: only the
// usage follows.
func (m chat) readStream(r io.Reader, body io.Closer, onText func(string)) (Reply, error) {
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
				if choice.Delta.Content+choice.Delta.Refusal != "" {
					onText(either(text.String(), refusal.String())) // neither is copied
				}
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

// events decodes server-sent events and works around what the library mishandles:
// `"error":null`, which it takes for an error, empty events, and a last event without its
// blank line.
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

// tokens converts a usage. Gemini counts reasoning only in the total.
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
