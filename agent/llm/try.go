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

// maxBody is the maximum size of a response, whether it is a stream or not.
const maxBody = 64_000_000

// maxLine is the maximum length of a line of a stream, which the library's decoder takes.
const maxLine = bufio.MaxScanTokenSize << 9

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
		body := &watched{ReadCloser: res.Body, endpoint: m, alive: alive}
		if result, err = c.read(body, res.Header.Get("Content-Type")); err == nil {
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
	if err != nil || res.StatusCode < 300 {
		return res, err
	}
	defer res.Body.Close()
	if to, err := res.Location(); err == nil && res.StatusCode < 400 {
		return nil, m.redirected(to)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil && len(body) == 0 {
		body = []byte(err.Error())
	}
	return nil, m.refusal(res.StatusCode, res.Header, body)
}

// watched calls alive whenever bytes arrive, and fails for a response that has none or too many.
type watched struct {
	io.ReadCloser
	endpoint *endpoint
	alive    func()
	came     int64 // bytes
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.alive()
	}
	w.came += int64(n)
	m := w.endpoint
	switch {
	case w.came > maxBody:
		return 0, &TooLongError{m.Provider, m.url, maxBody}
	case err == io.EOF && w.came == 0:
		return 0, fmt.Errorf("%s: %s: %w", m.Provider, m.url, ErrEmpty)
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
	body, err = io.ReadAll(r)
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

// readWhole reads a body that is one JSON value. fits reports whether that is what was asked for.
func readWhole[T any](m *endpoint, body io.Reader, contentType string, fits func(T) bool) (value T, err error) {
	r := bufio.NewReader(body)
	first, err := firstByte(r)
	switch {
	case err != nil:
		return value, m.cut(err)
	case first != '{' && first != '[':
		return value, m.page(r, contentType)
	}
	raw, err := m.decode(r, &value)
	if err == nil && !fits(value) {
		err = m.failure(raw)
	}
	return value, err
}

// readStream concatenates the chunks. A stream without a finish reason and without [DONE] counts as
// truncated, which the library does not report. Errors after the finish reason are ignored: only
// the usage follows. A chunk may be the whole reply, in the form of one that is not streamed.
func (m chat) readStream(r io.Reader, body io.Closer, onText func(string)) (Reply, error) {
	reply := Reply{Model: m.Model}
	var text, refusal strings.Builder
	events := newEvents(r, body)
	stream := ssestream.NewStream[openai.ChatCompletionChunk](events, nil)
	for stream.Next() {
		c := stream.Current()
		reply.Model = either(c.Model, reply.Model)
		if u := tokens(c.Usage); u != (Usage{}) {
			reply.Usage = u
		}
		for _, choice := range c.Choices {
			if choice.Index == 0 {
				delta := choice.Delta
				if whole, ok := choice.JSON.ExtraFields["message"]; ok {
					_ = json.Unmarshal([]byte(whole.Raw()), &delta) // it is valid
				}
				text.WriteString(delta.Content)
				refusal.WriteString(delta.Refusal)
				reply.Finish = either(choice.FinishReason, reply.Finish)
				if delta.Content+delta.Refusal != "" {
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
	case events.done():
		return reply, nil
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

// done reports whether the last event says that the stream has ended.
func (e *events) done() bool { return bytes.HasPrefix(e.data, []byte("[DONE]")) }

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

// maxTokens bounds the counts of one call that may be true.
const maxTokens = 100_000_000

// impossible stands for a usage whose counts cannot be true.
var impossible = Usage{Estimated: true}

// told reports whether the endpoint has sent counts that may be true.
func (u Usage) told() bool { return u != (Usage{}) && u != impossible }

// tokens converts a usage. Gemini counts reasoning only in the total.
func tokens(u openai.CompletionUsage) Usage {
	for _, n := range []int64{u.PromptTokens, u.PromptTokensDetails.CachedTokens, u.CompletionTokens,
		u.CompletionTokensDetails.ReasoningTokens, u.TotalTokens} {
		if n < 0 || n > maxTokens {
			return impossible
		}
	}
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
