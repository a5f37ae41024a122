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
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// maxBody is the maximum size of a response, whether it is a stream or not.
const maxBody = 32_000_000

// maxWait is the longest wait between two tries, also if the endpoint asks for more.
const maxWait = 2 * time.Minute

// call sends the params of a request, if there are any, and reads the response with read. It repeats
// a try that failed and may succeed.
func (m *endpoint) call(ctx context.Context, r Request, params any, read func(io.Reader) error) (
	retries int, err error) {
	for ; ; retries++ {
		err = m.try(ctx, params, read)
		if err == nil || ctx.Err() != nil {
			return retries, ctx.Err()
		}
		err = m.located(err)
		wait, again := pause(ctx, err, retries)
		if !again || retries >= m.Retries {
			if retries > 0 {
				err = fmt.Errorf("%w (tries: %d)", err, retries+1)
			}
			return 0, err
		}
		m.OnRetry(Retry{r.Role, r.Subject, m.line(err.Error())})
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// pause decides whether a try that failed with err is worth another, and after which wait. None
// may exceed ctx's deadline: the failure is more informative than the deadline.
func pause(ctx context.Context, err error, retries int) (wait time.Duration, again bool) {
	wait = min(time.Second/2<<min(retries, 16), maxWait)
	wait -= rand.N(wait / 4)
	if refused, ok := errors.AsType[*StatusError](err); ok {
		if seconds, err := time.ParseDuration(refused.after + "s"); err == nil && seconds > 0 {
			wait = seconds
		} else if date, err := http.ParseTime(refused.after); err == nil {
			wait = time.Until(date)
		}
	}
	deadline, ends := ctx.Deadline()
	return wait, passes(err) && wait <= maxWait && !(ends && wait >= time.Until(deadline))
}

// try makes one HTTP call and reads the whole response, within its limits.
func (m *endpoint) try(ctx context.Context, params any, read func(io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	after := func(limit time.Duration, kind error) *time.Timer {
		return time.AfterFunc(limit, func() { cancel(fmt.Errorf("%w (%s)", kind, limit)) })
	}
	defer after(m.CallTimeout, ErrTimeout).Stop()
	silence := after(m.IdleTimeout, ErrIdle)
	defer silence.Stop()
	req, err := m.request(ctx, params)
	if err != nil {
		return err
	}
	came := 0
	told := arrived(func(n int) error {
		silence.Reset(m.IdleTimeout)
		if came += n; came > maxBody {
			cancel(ErrTooLong)
		}
		return context.Cause(ctx)
	})
	res, err := m.client.Do(req)
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

// request returns the HTTP request for params, which may be nil. Nothing of it comes from the
// environment.
func (m *endpoint) request(ctx context.Context, params any) (*http.Request, error) {
	method, body := http.MethodGet, []byte(nil)
	if params != nil {
		text, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		method, body = http.MethodPost, text
	}
	req, err := http.NewRequestWithContext(ctx, method, m.to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "dsstar")
	req.Header.Set("Content-Type", "application/json")
	if m.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.Key)
	}
	for name, value := range m.Header {
		req.Header.Set(name, value)
	}
	return req, nil
}

// receive reads a response, or returns the error that it is.
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

// events decodes a stream. Events may be empty, and the last one may lack its blank line.
func (m *endpoint) events(r io.Reader, take func(gjson.Result) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxBody+1)
	var data []byte
	for more := true; more; {
		more = lines.Scan()
		line := lines.Bytes()
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimSpace(value)...), '\n')
		}
		if len(line) > 0 {
			continue
		}
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			return nil
		}
		if event := bytes.TrimSpace(data); len(event) > 0 {
			if err := m.decode(event, take); err != nil {
				return err
			}
		}
		data = nil
	}
	return cut(cmp.Or(lines.Err(), io.ErrUnexpectedEOF))
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
