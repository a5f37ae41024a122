package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/tidwall/gjson"
)

// maxBody is the maximum size of a response, whether it is a stream or not. The library's decoder
// takes more than that in a line.
const maxBody = 32_000_000

// maxWait is the longest wait between two tries, also if the endpoint asks for more.
const maxWait = 2 * time.Minute

// call sends the params of a request, if there are any, through the library and reads the response
// with read, at each try anew. The library repeats the call. A try is a middleware of it that reads
// the whole response, so that the library also repeats after a reply that breaks off.
func (m *endpoint) call(ctx context.Context, r Request, params any, read func(io.Reader) error) (
	retries int, err error) {
	tries, method := 0, http.MethodPost
	if params == nil {
		method = http.MethodGet
	}
	attempt := func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		tries++
		err := m.try(req, next, read)
		if err == nil || ctx.Err() != nil {
			return &http.Response{StatusCode: http.StatusOK}, err
		}
		err = m.located(err)
		header, again := repeats(ctx, err)
		if again && tries <= m.Retries {
			m.OnRetry(Retry{r.Role, r.Subject, m.line(err.Error())})
		}
		return &http.Response{Header: header}, err
	}
	var done *http.Response
	err = m.client.Execute(ctx, method, m.path, params, &done, option.WithMiddleware(attempt))
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil && tries > 1:
		return 0, fmt.Errorf("%w (tries: %d)", err, tries)
	}
	return tries - 1, err
}

// repeats decides whether a try that failed with err is worth another, and tells it the library in
// the headers that a server would use. It begins no wait that would exceed ctx's deadline: the
// failure is more informative than the deadline.
func repeats(ctx context.Context, err error) (h http.Header, again bool) {
	h, again = http.Header{}, passes(err)
	if refused, ok := errors.AsType[*StatusError](err); ok && refused.after != "" {
		wait, _ := time.ParseDuration(refused.after + "s")
		if date, err := http.ParseTime(refused.after); err == nil {
			wait = time.Until(date)
		}
		if wait > 0 {
			h.Set("Retry-After", refused.after)
		}
		deadline, ends := ctx.Deadline()
		again = again && wait <= maxWait && !(ends && wait >= time.Until(deadline))
	}
	h.Set("X-Should-Retry", strconv.FormatBool(again))
	return h, again
}

// try makes one HTTP call and reads the whole response, within its limits.
func (m *endpoint) try(req *http.Request, next option.MiddlewareNext,
	read func(io.Reader) error) error {
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
	came := 0
	told := arrived(func(n int) error {
		silence.Reset(m.IdleTimeout)
		if came += n; came > maxBody {
			cancel(ErrTooLong)
		}
		return context.Cause(ctx)
	})
	res, err := next(req.WithContext(ctx))
	if err == nil {
		defer res.Body.Close()
		err = m.receive(res, io.TeeReader(res.Body, told), read)
	}
	sent, unsent := errors.AsType[*url.Error](err)
	switch cause := context.Cause(ctx); {
	case err != nil && cause != nil:
		return cause
	case unsent: // its own text has the URL with the query
		return &ConnectionError{sent.Err}
	}
	return err
}

// receive reads a response, or returns the error that it is: of the library's own error nothing is
// left if the body is not in OpenAI's form.
func (m *endpoint) receive(res *http.Response, body io.Reader, read func(io.Reader) error) error {
	if res.StatusCode < 300 {
		return read(body)
	}
	text, _ := io.ReadAll(body) // as far as it comes
	if to, err := res.Location(); err == nil && res.StatusCode < 400 {
		text = []byte("it redirects to " + publicURL(to))
	}
	return m.refusal(res.StatusCode, res.Header, string(text))
}

// arrived is told how many bytes of a response have arrived. Its error ends the reading.
type arrived func(n int) error

func (told arrived) Write(p []byte) (int, error) { return len(p), told(len(p)) }

// skipped may precede a response: white space, which some endpoints send as a keep-alive, and
// a byte order mark.
const skipped = " \t\r\n\xEF\xBB\xBF"

// streamed matches the first bytes of a stream of events.
var streamed = regexp.MustCompile(`^(?:data|event|id|retry)?:`)

// values gives take the JSON values of a response: its body, or the data of the events of a stream.
// The first bytes decide, since content types are often wrong. A stream that does not end with
// [DONE] is [ErrCut].
func (m *endpoint) values(body io.Reader, take func(gjson.Result) error) error {
	r := bufio.NewReader(body)
	first, err := r.ReadByte()
	if err == io.EOF {
		return ErrEmpty
	}
	for err == nil && strings.IndexByte(skipped, first) >= 0 {
		first, err = r.ReadByte()
	}
	if err != nil {
		return cut(err)
	}
	_ = r.UnreadByte() // one was read
	start, _ := r.Peek(len("event:"))
	if streamed.Match(start) {
		return m.events(r, take)
	}
	text, err := io.ReadAll(r)
	switch {
	case err != nil:
		return cut(err)
	case first != '{' && first != '[': // a web page
		return m.misfit(string(text))
	}
	return m.decode(text, take)
}

// events decodes a stream by the library's decoder, but allows empty events and a last event
// without its blank line.
func (m *endpoint) events(r io.Reader, take func(gjson.Result) error) error {
	ended := io.NopCloser(io.MultiReader(r, strings.NewReader("\n\n")))
	events := ssestream.NewDecoder(&http.Response{Body: ended})
	for events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			return nil
		}
		if len(data) > 0 {
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
	err := json.Unmarshal(raw, new(json.RawMessage))
	broken, ok := errors.AsType[*json.SyntaxError](err)
	value := gjson.ParseBytes(raw)
	switch {
	case ok && broken.Offset >= int64(len(raw)):
		return cut(broken)
	case err != nil, value.Get("error").Type != gjson.Null: // also if there is none
		return m.misfit(string(raw))
	}
	return take(value)
}

func cut(err error) error { return fmt.Errorf("%w: %v", ErrCut, err) }
