package llm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
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
	secrets, replace := []string{key, password}, []string(nil)
	for _, values := range base.Query() {
		secrets = append(secrets, values...)
	}
	for _, secret := range secrets {
		if len(secret) >= leastSecret {
			replace = append(replace, secret, "[key]")
		}
	}
	return strings.NewReplacer(replace...).Replace
}
