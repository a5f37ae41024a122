package llm

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dsstar/notebook/human"
)

// Kinds of failure, for errors.Is.
var (
	// matches a *StatusError
	ErrContextLength = errors.New("the request exceeds the model's context length")
	ErrIdle          = errors.New("the endpoint stopped responding")
	ErrTimeout       = errors.New("the call timed out") // never retried
	ErrCut           = errors.New("the reply was truncated")
	ErrEmpty         = errors.New("the reply has no content") // never retried
)

// A RedirectedError is a redirect, which is not followed.
type RedirectedError struct {
	Provider string
	Endpoint string // its address, without secrets
	To       string // the new address, without secrets
	Base     string // the base URL that leads there; "": none does
	KeyEnv   string // the variable with the key, if the host stays and is no less secure; may be ""
}

func (e *RedirectedError) Error() string {
	return fmt.Sprintf("%s: %s redirects to %s", e.Provider, e.Endpoint, e.To)
}

// A TooLongError is a response of which dsstar reads no more than Limit bytes.
type TooLongError struct {
	Provider string
	Endpoint string // its address, without secrets
	Limit    int64
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s: %s: the reply is longer than %s, where dsstar stops to read", e.Provider,
		e.Endpoint, human.Bytes(e.Limit))
}

// A StatusError is an error response. It matches ErrContextLength if the response says so.
type StatusError struct {
	Status   int // HTTP status; 200 for an invalid response
	Provider string
	Endpoint string // its address, without secrets
	Message  string // from the endpoint, in one line

	code  string        // such as "insufficient_quota"
	after time.Duration // wait that the endpoint asks for
}

func (e *StatusError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("%s: %s: %d %s: %s",
		e.Provider, e.Endpoint, e.Status, http.StatusText(e.Status), e.Message), ": ")
}

// overflows lists what identifies an error about a request that is too long: the error codes of
// OpenAI, llama.cpp and Copilot, then phrases from their messages and those of vLLM, SGLang,
// Ollama, LM Studio, TGI, Anthropic, Gemini, Mistral, Bedrock, Cohere and xAI.
var overflows = []string{
	"context_length_exceeded", "string_above_max_length", "exceed_context_size",
	"max_prompt_tokens_exceeded",
	"maximum context length", "context window", "context length", "context limit",
	"context the overflows",
	"exceeds the available context", "context size has been exceeded", "maximum model length",
	"maximum prompt length",
	"prompt is too long", "input is too long", "input token count", "exceeds the maximum number " +
		"of tokens",
	"reduce the length", "too many tokens", "too large to process", "`max_new_tokens` must be", "`inputs` must have less than",
}

// Is reports whether target is ErrContextLength and e means that: any 413, or one of
// overflows. llama.cpp answers 500 when a reply outgrows the context.
func (e *StatusError) Is(target error) bool {
	switch {
	case target != ErrContextLength || e.Status < 400 || e.Status > 500 ||
		e.Status == http.StatusTooManyRequests:
		return false
	case e.Status == http.StatusRequestEntityTooLarge:
		return true
	}
	said := strings.ToLower(e.code + " " + e.Message)
	for _, text := range overflows {
		if strings.Contains(said, text) {
			return true
		}
	}
	return false
}

// A CredentialError is a missing key (Err is nil), or one that is malformed, refused or not
// sent (Err is the reason, a *StatusError after a call).
type CredentialError struct {
	Provider string
	KeyEnv   string // the variable to set; may be ""
	Unsent   bool   // no key was configured, and the endpoint requires one
	Err      error
}

func (e *CredentialError) Error() string {
	where := ""
	if e.KeyEnv != "" {
		where = " in " + e.KeyEnv
	}
	if e.Unsent {
		return fmt.Sprintf("provider %s: no key was sent: %v", e.Provider, e.Err)
	}
	if e.Err == nil {
		return fmt.Sprintf("provider %s: there is no key%s", e.Provider, where)
	}
	return fmt.Sprintf("provider %s: the key%s does not work: %v", e.Provider, where, e.Err)
}

func (e *CredentialError) Unwrap() error { return e.Err }

// A ConnectionError is a failure to reach the endpoint.
type ConnectionError struct {
	Provider string
	Endpoint string // its address, without secrets
	Err      error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("%s: %s: %v", e.Provider, e.Endpoint, e.Err)
}

func (e *ConnectionError) Unwrap() error { return e.Err }

// cut returns the error for a reply that has broken off with err.
func (m *endpoint) cut(err error) error {
	var long *TooLongError
	switch {
	case errors.As(err, &long) || errors.Is(err, ErrEmpty): // see watched
		return err
	case errors.Is(err, bufio.ErrTooLong):
		return &TooLongError{m.Provider, m.url, maxLine}
	}
	return fmt.Errorf("%s: %s: %w: %v", m.Provider, m.url, ErrCut, err)
}

// redirected returns the error for a redirect to another address.
func (m *endpoint) redirected(to *url.URL) error {
	e := &RedirectedError{Provider: m.Provider, Endpoint: m.url, To: m.line(publicURL(to))}
	if base, ok := strings.CutSuffix(e.To, "/"+m.path); ok {
		e.Base = base
	}
	if from, err := url.Parse(m.url); err == nil && to.Hostname() == from.Hostname() &&
		(to.Scheme == "https" || to.Scheme == from.Scheme) {
		e.KeyEnv = m.KeyEnv
	}
	return e
}

func (m *endpoint) statusError(status int, message string) *StatusError {
	return &StatusError{Status: status, Provider: m.Provider, Endpoint: m.url,
		Message: m.line(message)}
}

// line returns a text from the server as one bounded line, with the key redacted.
func (m *endpoint) line(s string) string {
	if m.Key != "" { // even a short one
		s = strings.ReplaceAll(s, m.Key, "[key]")
	}
	s = m.hide(s)
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if r := []rune(s); len(r) > 500 {
		s = string(r[:500]) + "..."
	}
	return s
}

// refusal returns the error for an HTTP status of 400 or more.
func (m *endpoint) refusal(status int, h http.Header, body []byte) error {
	said := parseFailure(body)
	e := m.statusError(status, said.message)
	e.code = said.code
	e.after = retryAfter(h, body, m.Now())
	gemini := strings.Contains(e.Message, "API key not valid") || strings.Contains(e.Message, "API_KEY_INVALID")
	if status == http.StatusUnauthorized || status == http.StatusForbidden || gemini {
		return &CredentialError{Provider: m.Provider, KeyEnv: m.KeyEnv, Unsent: m.Key == "", Err: e}
	}
	return e
}

// failure returns the error for an invalid body with status 200. The body may be an error
// object with a status of its own.
func (m *endpoint) failure(body []byte) error {
	said := parseFailure(body)
	if said.status >= 400 && said.status < 600 {
		return m.refusal(said.status, nil, body)
	}
	e := m.statusError(http.StatusOK, said.message)
	e.code = said.code
	if said.code == "" {
		e.Message = m.line("not " + m.answer + ": " + said.message)
	}
	return e
}

type failure struct {
	message, code string
	status        int // given in the error object; 0: none
}

// meant maps error codes and types to statuses. Error objects in a stream that began with 200
// may lack a status.
var meant = map[string]int{
	"context_length_exceeded": 400, "exceed_context_size_error": 400, "invalid_request_error": 400,
	"invalid_api_key": 401, "authentication_error": 401, "permission_error": 403, "not_found_error": 404, "request_too_large": 413,
	"rate_limit_exceeded": 429, "rate_limit_error": 429, "insufficient_quota": 429,
	"server_error": 500, "internal_server_error": 500, "api_error": 500, "overloaded_error": 503, "timeout_error": 504,
}

// parseFailure reads an error body: {"error":{"message","code","type"}} or an array of it
// (Gemini), {"error":"..."} (Ollama), {"message"}, {"detail"}; any other body is the message
// itself. OpenRouter puts the upstream provider's error in "metadata".
func parseFailure(body []byte) failure {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error           json.RawMessage
		Message, Detail any
	}
	if json.Unmarshal(body, &outer) != nil {
		return failure{message: string(body)}
	}
	var inner struct {
		Message, Code, Type any
		Metadata            struct{ Raw any }
	}
	_ = json.Unmarshal(outer.Error, &inner) // fails if "error" is a string or missing
	f := failure{message: string(body)}
	var text string
	_ = json.Unmarshal(outer.Error, &text)
	for _, candidate := range []any{inner.Message, text, outer.Message, outer.Detail} {
		if s, ok := candidate.(string); ok && s != "" {
			f.message = s
			break
		}
	}
	if raw, ok := inner.Metadata.Raw.(string); ok && raw != "" {
		f.message += ": " + parseFailure([]byte(raw)).message
	}
	code, _ := inner.Code.(string)
	kind, _ := inner.Type.(string)
	f.code = either(code, kind)
	f.status = statusOf(inner.Code, code, kind)
	return f
}

// statusOf returns the status of an error object, 0 if unknown. Some endpoints send the number
// as a string.
func statusOf(number any, code, kind string) int {
	if n, ok := number.(float64); ok {
		return int(n)
	}
	if n, err := strconv.Atoi(code); err == nil {
		return n
	}
	if n, ok := meant[code]; ok {
		return n
	}
	return meant[kind]
}
