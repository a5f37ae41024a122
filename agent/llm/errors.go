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
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Kinds of failure, for errors.Is.
var (
	ErrContextLength = errors.New("the request exceeds the model's context length") // a *StatusError
	ErrIdle          = errors.New("the endpoint stopped responding")
	ErrCut           = errors.New("the reply was truncated")
	ErrEmpty         = errors.New("the reply has no content")
	ErrTimeout       = errors.New("the call timed out") // never retried
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

// What errors say, in codes and phrases of the endpoints that are known.
var (
	// of a request that is too long: OpenAI, llama.cpp, Copilot, vLLM, SGLang, Ollama, LM Studio,
	// TGI, Anthropic, Gemini, Mistral, Bedrock, Cohere and xAI
	overflows = []string{
		"context_length_exceeded", "string_above_max_length", "exceed_context_size",
		"max_prompt_tokens_exceeded", "maximum context length", "context window", "context length",
		"context limit", "context the overflows", "exceeds the available context",
		"context size has been exceeded", "maximum model length", "maximum prompt length",
		"prompt is too long", "input is too long", "input token count",
		"exceeds the maximum number of tokens", "reduce the length", "too many tokens",
		"too large to process", "`max_new_tokens` must be", "`inputs` must have less than",
	}
	badKeys = []string{"api key not valid", "api_key_invalid", "authentication_error"}
	// of a schema and of images that are not taken
	schemaWords = []string{
		"response_format", "response format", "schema", "structured output", "grammar", "guided",
	}
	imageWords = []string{
		"image", "vision", "multimodal", "multi-modal", "content type", "content must be a string",
		"content should be a string", "content: invalid type",
	}
)

// says reports whether the code or the message has one of the words.
func (e *StatusError) says(words []string) bool {
	said := strings.ToLower(e.code + " " + e.Message)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(said, word) })
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

// refuses reports whether an error response is about what the words name.
func refuses(err error, words []string) bool {
	refused, ok := errors.AsType[*StatusError](err)
	return ok && !errors.Is(err, ErrContextLength) && refused.says(words) && slices.Contains([]int{
		http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotFound,
		http.StatusNotImplemented, http.StatusUnsupportedMediaType}, refused.Status)
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
	text := "provider " + e.Provider + ": the key"
	if e.KeyEnv != "" {
		text += " in " + e.KeyEnv
	}
	switch {
	case e.Unsent:
		return fmt.Sprintf("provider %s: no key was sent: %v", e.Provider, e.Err)
	case e.Err == nil:
		return text + " is missing"
	}
	return fmt.Sprintf("%s does not work: %v", text, e.Err)
}

func (e *CredentialError) Unwrap() error { return e.Err }

// A ConnectionError is a failure to reach the endpoint.
type ConnectionError struct{ Err error }

func (e *ConnectionError) Error() string { return e.Err.Error() }
func (e *ConnectionError) Unwrap() error { return e.Err }

// passes reports whether a failure may be transient, and the wait that the endpoint asks for is no
// reason to give up.
func passes(err error) bool {
	if _, bad := errors.AsType[*CredentialError](err); bad {
		return false
	}
	if refused, ok := errors.AsType[*StatusError](err); ok {
		seconds, _ := strconv.Atoi(refused.after)
		noCredit := refused.code == "insufficient_quota"
		return seconds <= maxWait && !noCredit && !errors.Is(err, ErrContextLength) &&
			(refused.Status >= 500 || slices.Contains([]int{http.StatusRequestTimeout,
				http.StatusConflict, http.StatusTooManyRequests}, refused.Status))
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	host, unknown := errors.AsType[*net.DNSError](err)
	return !errors.Is(err, ErrTimeout) && !untrusted && !(unknown && host.IsNotFound)
}

// located says where a try failed, and that it is about the key.
func (m *endpoint) located(err error) error {
	err = fmt.Errorf("%s: %s: %w", m.Provider, m.url, err)
	if refused, ok := errors.AsType[*StatusError](err); ok && (refused.says(badKeys) ||
		refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden) {
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

// retryDelay matches the wait in Gemini's error bodies.
var retryDelay = regexp.MustCompile(`"retryDelay":\s*"(\d+)[\d.]*s"`)

// refusal returns the error that a response is: one with an error status, or one with status 200
// whose body is not what was asked for. That may be an error object, with a status of its own or
// else a failure of the server.
func (m *endpoint) refusal(status int, h http.Header, body string) error {
	all, message := errorIn(body)
	failed := all.Get("error")
	e := &StatusError{Status: status, after: m.line(h.Get("Retry-After")),
		code: cmp.Or(failed.Get("code").Str, failed.Get("type").Str)}
	switch own := int(failed.Get("code").Int()); {
	case status != http.StatusOK:
	case failed.Type == gjson.Null:
		message = "not a chat completion: " + message
	case own < 400 || own > 599:
		e.Status = http.StatusInternalServerError
	default:
		e.Status = own
	}
	if found := retryDelay.FindStringSubmatch(body); found != nil {
		e.after = found[1]
	}
	e.Message = m.line(message)
	return e
}

// misfit returns the error that a response of status 200 is, or that for what is wrong with it.
func (m *endpoint) misfit(body string) error { return m.refusal(http.StatusOK, nil, body) }

// errorIn reads an error body: {"error":{"message","code","type"}} or an array of it (Gemini),
// {"error":"..."} (Ollama), {"message"}, {"detail"}; any other body is the message itself. In
// "metadata" OpenRouter has the error of the provider behind it.
func errorIn(body string) (all gjson.Result, message string) {
	if all = gjson.Parse(body); all.IsArray() {
		all = all.Get("0")
	}
	for _, name := range []string{"error.message", "error", "message", "detail"} {
		if text := all.Get(name); text.Type == gjson.String {
			message = cmp.Or(message, text.Str)
		}
	}
	message = cmp.Or(message, body)
	if raw := all.Get("error.metadata.raw").Str; raw != "" {
		_, behind := errorIn(raw)
		message += ": " + behind
	}
	return all, message
}
