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
func (m *endpoint) call(ctx context.Context, r Request, params any,
	read func(io.Reader) error) error {
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
