package llm

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/tidwall/gjson"

	"dsstar/agent/brief"
)

// An Endpoint says where and how to ask one model over the OpenAI protocol. Provider, BaseURL and
// Model are required.
type Endpoint struct {
	Provider string
	BaseURL  string // with the version: "https://api.openai.com/v1"
	Key      string // "": no Authorization header is sent
	KeyEnv   string // the variable that Key came from; if set, Key is required
	Model    string

	Temperature *float64      // nil: not sent; several models refuse it
	CallTimeout time.Duration // of each try, without waits; 0: none
	IdleTimeout time.Duration // longest time without a byte, also before the first; 0: none

	// Retries is the maximum number of retries after 408, 409, 429, 5xx, a connection error, an
	// idle time-out or a reply that is empty or truncated. The wait before one doubles from half a
	// second on, unless the endpoint asks for another.
	Retries int
	// OnRetry, if set, is called before each wait, also concurrently. cause is one line, with the
	// endpoint.
	OnRetry func(r Request, cause string)

	HTTP *http.Client // nil: http.DefaultClient
}

// endpoint is an opened Endpoint.
type endpoint struct {
	Endpoint
	client openai.Client
	url    string // of the calls, for messages

	hide func(string) string // redacts the Endpoint's secrets in a text from the server
}

// callsPath is the path of the calls, below the base URL.
const callsPath = "chat/completions"

// Open checks e and returns its model, without connecting. The error is a [*CredentialError] if a
// required key is missing.
//
// Ask returns a [*CredentialError], a [*StatusError], which may be [ErrContextLength], a
// [ErrConnection], [ErrEmpty], [ErrIdle], [ErrTimeout], [ErrCut] or ctx.Err(): what may pass after
// the retries, or at once if the endpoint asks for a wait that is too long.
func (e Endpoint) Open() (Model, error) {
	base, err := url.Parse(e.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("provider %s: the base URL must have the form http(s)://host/path",
			e.Provider)
	}
	e.Key = strings.TrimSpace(e.Key)
	if e.Key == "" && e.KeyEnv != "" {
		return nil, &CredentialError{Provider: e.Provider, KeyEnv: e.KeyEnv}
	}
	if strings.ContainsFunc(e.Key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, &CredentialError{Provider: e.Provider, KeyEnv: e.KeyEnv,
			Err: errors.New("it contains invalid characters, such as a space or a line break")}
	}
	e.CallTimeout = cmp.Or(e.CallTimeout, math.MaxInt64)
	e.IdleTimeout = cmp.Or(e.IdleTimeout, math.MaxInt64)
	public := base.JoinPath(callsPath)
	public.User, public.RawQuery, public.Fragment = nil, "", ""
	return &endpoint{Endpoint: e, client: openai.Client{Options: e.options(base.Query())},
		url: public.String(), hide: hider(e.Key, base)}, nil
}

// options configures a client of the library, which would leave out the base URL's query.
// openai.NewClient would also read OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS and others from the
// environment and send them to any base URL.
func (e Endpoint) options(query url.Values) []option.RequestOption {
	// a POST that is redirected would become a GET, or go to another server
	once := *cmp.Or(e.HTTP, http.DefaultClient)
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o := []option.RequestOption{option.WithBaseURL(e.BaseURL), option.WithHTTPClient(&once),
		option.WithMaxRetries(e.Retries), option.WithHeader("User-Agent", "dsstar")}
	if e.Key != "" {
		o = append(o, option.WithAPIKey(e.Key))
	}
	for name := range query {
		o = append(o, option.WithQuery(name, query.Get(name)))
	}
	return o
}

// leastSecret is the minimum length of a secret to redact. Shorter ones are mostly placeholders
// such as "EMPTY" or "not-needed", or versions, which may occur in ordinary replies.
const leastSecret = 16

// hider returns a function that replaces the key, and what may be one in the base URL, with [key].
func hider(key string, base *url.URL) func(string) string {
	password, _ := base.User.Password()
	secrets, replace := append([][]string{{key, password}}, slices.Collect(maps.Values(base.Query()))...), []string(nil)
	for _, secret := range slices.Concat(secrets...) {
		if len(secret) >= leastSecret {
			replace = append(replace, secret, "[key]")
		}
	}
	return strings.NewReplacer(replace...).Replace
}

// Kinds of failure, for errors.Is.
var (
	ErrContextLength = errors.New("the request exceeds the model's context length") // a *StatusError
	ErrConnection    = errors.New("the endpoint was not reached")
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
	// of a request that is too long: OpenAI, llama.cpp, vLLM, SGLang, Ollama, LM Studio, Anthropic,
	// Gemini, Mistral and xAI
	overflows = []string{
		"context_length_exceeded", "string_above_max_length", "exceed_context_size",
		"context window", "context length", "context limit", "exceeds the available context",
		"context size has been exceeded", "maximum model length", "maximum prompt length",
		"prompt is too long", "input token count", "reduce the length", "too many tokens",
	}
	badKeys = []string{"api key not valid", "api_key_invalid", "authentication_error"}
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

// A CredentialError is a missing key (Err is nil), or one that is malformed, refused or not
// sent (Err is the reason, with a *StatusError after a call).
type CredentialError struct {
	Provider string
	KeyEnv   string // the variable to set; may be ""
	Unsent   bool   // no key was configured, and the endpoint requires one
	Err      error
}

func (e *CredentialError) Error() string {
	switch key := strings.TrimSuffix("the key in "+e.KeyEnv, " in "); {
	case e.Unsent:
		return fmt.Sprintf("provider %s: no key was sent: %v", e.Provider, e.Err)
	case e.Err == nil:
		return fmt.Sprintf("provider %s: %s is missing", e.Provider, key)
	default:
		return fmt.Sprintf("provider %s: %s does not work: %v", e.Provider, key, e.Err)
	}
}

func (e *CredentialError) Unwrap() error { return e.Err }

// passes reports whether a failure may be transient, and the wait that the endpoint asks for is no
// reason to give up.
func passes(err error) bool {
	_, bad := errors.AsType[*CredentialError](err)
	if refused, ok := errors.AsType[*StatusError](err); ok {
		seconds, _ := strconv.Atoi(refused.after)
		return !bad && seconds <= maxWait && refused.code != "insufficient_quota" && !errors.Is(err, ErrContextLength) &&
			(refused.Status >= 500 || slices.Contains([]int{408, 409, 429}, refused.Status))
	}
	unknown, is := errors.AsType[*net.DNSError](err)
	return !errors.Is(err, ErrTimeout) && !(is && unknown.IsNotFound)
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

// line returns a text from the server as one bounded line, with the key redacted, however short.
func (m *endpoint) line(text string) string {
	if m.Key != "" {
		text = strings.ReplaceAll(text, m.Key, "[key]")
	}
	return brief.OneLine(brief.Clip(strings.ToValidUTF8(m.hide(text), "?"), 500))
}

// retryDelay matches the wait in Gemini's error bodies.
var retryDelay = regexp.MustCompile(`"retryDelay":\s*"(\d+)[\d.]*s"`)

// refusal returns the error that a response is: one with an error status, or one with status 200
// whose body is not what was asked for. That may be an error object, with a status of its own or
// else a failure of the server. An error body is {"error":{"message","code","type"}} or an array of
// it (Gemini), {"error":"..."} (Ollama), {"message"}, {"detail"}; any other body is the message
// itself. In "metadata" OpenRouter has the error of the provider behind it.
func (m *endpoint) refusal(status int, h http.Header, body string) error {
	all := gjson.Parse(strings.TrimLeft(body, "[ \n"))
	failed := all.Get("error")
	message := cmp.Or(failed.Get("message").Str, failed.Str, all.Get("message").Str,
		all.Get("detail").Str, body) + " " + failed.Get("metadata.raw").Str
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
