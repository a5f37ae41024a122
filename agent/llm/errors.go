package llm

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Kinds of failure, for errors.Is.
var (
	// matches a *StatusError
	ErrContextLength = errors.New("the request exceeds the model's context length")
	ErrIdle          = errors.New("the endpoint stopped responding")
	ErrCut           = errors.New("the reply was truncated")
	// never retried
	ErrTimeout = errors.New("the call timed out")
	ErrEmpty   = errors.New("the reply has no content")
	ErrTooLong = errors.New("the reply is longer than 32 MB, where dsstar stops to read")
)

// A StatusError is an error response, or a redirect, which is not followed. It matches
// ErrContextLength if the response says so.
type StatusError struct {
	Status  int    // HTTP status; 200 for an invalid response
	Message string // from the endpoint, in one line

	code  string // such as "insufficient_quota"
	after string // the response's Retry-After: seconds or a date; "": none
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%d %s: %s", e.Status, http.StatusText(e.Status), e.Message)
	if e.after != "" {
		text += " (Retry-After: " + e.after + ")"
	}
	return strings.TrimSuffix(text, ": ")
}

// overflows lists what identifies an error about a request that is too long: the error codes of
// OpenAI, llama.cpp and Copilot, then phrases from their messages and those of vLLM, SGLang,
// Ollama, LM Studio, TGI, Anthropic, Gemini, Mistral, Bedrock, Cohere and xAI.
var overflows = []string{
	"context_length_exceeded", "string_above_max_length", "exceed_context_size",
	"max_prompt_tokens_exceeded", "maximum context length", "context window", "context length",
	"context limit", "context the overflows", "exceeds the available context",
	"context size has been exceeded", "maximum model length", "maximum prompt length",
	"prompt is too long", "input is too long", "input token count",
	"exceeds the maximum number of tokens", "reduce the length", "too many tokens",
	"too large to process", "`max_new_tokens` must be", "`inputs` must have less than",
}

// Is reports whether target is ErrContextLength and e means that: any 413, or one of
// overflows. llama.cpp answers 500 when a reply outgrows the context.
func (e *StatusError) Is(target error) bool {
	if target != ErrContextLength || e.Status < 400 || e.Status > 500 ||
		e.Status == http.StatusTooManyRequests {
		return false
	}
	return e.Status == http.StatusRequestEntityTooLarge || e.says(overflows)
}

// says reports whether the code or the message has one of the words.
func (e *StatusError) says(words []string) bool {
	said := strings.ToLower(e.code + " " + e.Message)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(said, word) })
}

// A CredentialError is a missing key (Err is nil), or one that is malformed, refused or not
// sent (Err is the reason, with a *StatusError after a call).
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
type ConnectionError struct{ Err error }

func (e *ConnectionError) Error() string { return e.Err.Error() }
func (e *ConnectionError) Unwrap() error { return e.Err }

// passes reports whether a failure may be transient.
func passes(err error) bool {
	if refused, ok := errors.AsType[*StatusError](err); ok {
		switch refused.Status {
		case http.StatusRequestTimeout, http.StatusConflict:
			return true
		case http.StatusTooManyRequests:
			return refused.code != "insufficient_quota" // no credit left
		}
		return refused.Status >= 500 && !errors.Is(err, ErrContextLength)
	}
	if _, ok := errors.AsType[*ConnectionError](err); ok {
		_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
		_, plain := errors.AsType[tls.RecordHeaderError](err)
		unknown, ok := errors.AsType[*net.DNSError](err)
		return !untrusted && !plain && !(ok && unknown.IsNotFound)
	}
	return errors.Is(err, ErrIdle) || errors.Is(err, ErrCut)
}

// located says where a try failed, and that it is about the key.
func (m *endpoint) located(err error) error {
	err = fmt.Errorf("%s: %s: %w", m.Provider, m.url, err)
	if refused, ok := errors.AsType[*StatusError](err); ok &&
		(refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden ||
			refused.says([]string{"api key not valid", "api_key_invalid"})) { // Gemini
		return &CredentialError{Provider: m.Provider, KeyEnv: m.KeyEnv, Unsent: m.Key == "", Err: err}
	}
	return err
}

// line returns a text from the server as one bounded line, with the key redacted.
func (m *endpoint) line(s string) string {
	if m.Key != "" { // even a short one
		s = strings.ReplaceAll(s, m.Key, "[key]")
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(m.hide(s), "?")), " ")
	if r := []rune(s); len(r) > 500 {
		s = string(r[:500]) + "..."
	}
	return s
}

// meant maps error codes and types to statuses. Error objects in a stream that began with 200
// may lack a status.
var meant = map[string]int{
	"context_length_exceeded": 400, "exceed_context_size_error": 400, "invalid_request_error": 400,
	"invalid_api_key": 401, "authentication_error": 401, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413,
	"rate_limit_exceeded": 429, "rate_limit_error": 429, "insufficient_quota": 429,
	"server_error": 500, "internal_server_error": 500, "api_error": 500, "overloaded_error": 503,
	"timeout_error": 504,
}

// retryDelay matches the wait in Gemini's error bodies.
var retryDelay = regexp.MustCompile(`"retryDelay":\s*"([\d.]+)s"`)

// refusal returns the error that a response is: one with an error status, or one with status 200
// whose body is not what was asked for. That may be an error object with a status of its own.
func (m *endpoint) refusal(status int, h http.Header, body string) error {
	e := &StatusError{Status: status, after: m.line(h.Get("Retry-After"))}
	message, own := e.read(body)
	switch {
	case status == http.StatusOK && own >= 400 && own < 600:
		e.Status = own
	case status == http.StatusOK && e.code == "":
		message = "not " + m.answer + ": " + message
	}
	if found := retryDelay.FindStringSubmatch(body); found != nil {
		e.after = found[1]
	}
	e.Message = m.line(message)
	return e
}

// misfit returns the error that a response of status 200 is, or that for what is wrong with it.
func (m *endpoint) misfit(body string) error { return m.refusal(http.StatusOK, nil, body) }

// read reads an error body: {"error":{"message","code","type"}} or an array of it (Gemini),
// {"error":"..."} (Ollama), {"message"}, {"detail"}; any other body is the message itself.
// OpenRouter puts the upstream provider's error in "metadata". status is 0 if the body has none.
func (e *StatusError) read(body string) (message string, status int) {
	all := gjson.Parse(body)
	if all.IsArray() {
		all = all.Get("0")
	}
	message = body
	for _, name := range []string{"error.message", "error", "message", "detail"} {
		if text := all.Get(name); text.Type == gjson.String && text.Str != "" {
			message = text.Str
			break
		}
	}
	if raw := all.Get("error.metadata.raw"); raw.Type == gjson.String {
		behind, _ := new(StatusError).read(raw.Str)
		message += ": " + behind
	}
	code, kind := all.Get("error.code"), all.Get("error.type")
	if code.Type == gjson.String {
		e.code = code.Str
	}
	e.code = cmp.Or(e.code, kind.String())
	return message, cmp.Or(int(code.Int()), meant[code.String()], meant[kind.String()])
}
