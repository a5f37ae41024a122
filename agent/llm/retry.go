package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

const (
	maxBackoff = time.Minute     // between tries, unless the endpoint asks for a wait
	maxAfter   = 2 * time.Minute // the longest wait that an endpoint may ask for
)

// repeat makes a call until it succeeds, fails permanently or has no retry left, and returns
// the number of retries. It does not begin a wait that would exceed ctx's deadline: the
// failure is more informative than the deadline.
func repeat[T any](ctx context.Context, m *endpoint, c call[T]) (result T, retries int, err error) {
	for try := 1; ; try++ {
		result, err := attempt(ctx, m, c)
		if err == nil {
			return result, try - 1, nil
		}
		var none T
		if ctx.Err() != nil {
			return none, 0, ctx.Err()
		}
		cause := m.line(err.Error())
		wait, err := m.wait(ctx, err, try)
		if err != nil {
			return none, 0, err
		}
		m.OnRetry(Retry{Provider: m.Provider, Role: c.role, Subject: c.subject, Try: try, Wait: wait,
			Cause: cause})
		if err := m.Sleep(ctx, wait); err != nil {
			return none, 0, err
		}
	}
}

// wait returns how long to wait after a try failed with err, or the final error.
func (m *endpoint) wait(ctx context.Context, err error, try int) (time.Duration, error) {
	if !passes(err) {
		return 0, err
	}
	wait := m.backoff(try)
	var refused *StatusError
	if errors.As(err, &refused) && refused.after > 0 {
		wait = refused.after
	}
	if wait > maxAfter {
		return 0, fmt.Errorf("%w (it asks for a wait of %s; the maximum is %s)", err, wait, maxAfter)
	}
	if try > m.Retries {
		return 0, fmt.Errorf("%w (tries: %d)", err, try)
	}
	if deadline, ok := ctx.Deadline(); ok && wait >= time.Until(deadline) {
		return 0, fmt.Errorf("%w (too little time is left for a retry after %s)", err, wait.Round(time.Millisecond))
	}
	return wait, nil
}

// backoff is 1 s, 2 s, 4 s, ..., up to 25 % more or less.
func (m *endpoint) backoff(try int) time.Duration {
	d := maxBackoff
	if try < 7 {
		d = time.Second << (try - 1)
	}
	return time.Duration(float64(d) * (0.75 + m.Rand()/2))
}

// passes reports whether a failure may be transient.
func passes(err error) bool {
	if errors.Is(err, ErrContextLength) {
		return false
	}
	var refused *StatusError
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusRequestTimeout, http.StatusConflict:
			return true
		case http.StatusTooManyRequests:
			return refused.code != "insufficient_quota" // no credit left
		}
		return refused.Status >= 500
	}
	var lost *ConnectionError
	if errors.As(err, &lost) {
		var untrusted *tls.CertificateVerificationError
		var plain tls.RecordHeaderError
		var unknown *net.DNSError
		return !errors.As(err, &untrusted) && !errors.As(err, &plain) &&
			!(errors.As(err, &unknown) && unknown.IsNotFound)
	}
	return errors.Is(err, ErrIdle) || errors.Is(err, ErrCut)
}

// retryDelay matches the wait in Gemini's error bodies.
var retryDelay = regexp.MustCompile(`"retryDelay":\s*"(\d+(?:\.\d+)?s)"`)

// retryAfter returns the wait that an error response asks for; 0: none.
func retryAfter(h http.Header, body []byte, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, at.Sub(now))
	}
	if found := retryDelay.FindSubmatch(body); found != nil {
		d, _ := time.ParseDuration(string(found[1]))
		return d
	}
	return 0
}

// seconds converts an untrusted number: the result is not negative and does not overflow.
func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, 1e6) * float64(time.Second))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
