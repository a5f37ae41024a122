package llm

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// An Endpoint says where and how to ask one model over the OpenAI protocol.
// Provider, BaseURL and Model are required.
type Endpoint struct {
	Provider string
	BaseURL  string // with the version: "https://api.openai.com/v1"
	Key      string // "": no Authorization header is sent
	// environment variable that Key came from, for messages; if set, Key is required
	KeyEnv string
	// extra headers, such as OpenAI-Organization; none come from the environment
	Header map[string]string
	Model  string

	Temperature *float64      // nil: not sent; several models refuse it
	CallTimeout time.Duration // of each try, without waits; 0: none
	// longest time without a byte, also before the first; 0: none
	IdleTimeout time.Duration

	// Schema is whether the endpoint takes JSON schemas; nil: the first request with one shows it
	Schema *bool
	// Images is whether the endpoint and its model take images; nil: the first request shows it
	Images *bool

	// Retries is the maximum number of retries after 408, 409, 429, 5xx, a connection error, an
	// idle time-out or a truncated reply.
	Retries int
	// OnRetry, if set, is called before each wait, and concurrently by concurrent calls.
	OnRetry func(Retry)

	HTTP *http.Client // nil: http.DefaultClient
	// nil: waits, or returns ctx.Err() once ctx is done
	Sleep func(context.Context, time.Duration) error
	Rand  func() float64   // in [0,1), jitter of the waits; nil: math/rand
	Now   func() time.Time // nil: time.Now
}

// A Retry describes a failed call that will be repeated after Wait.
type Retry struct {
	Provider, Role, Subject string
	Try                     int // number of the failed try, from 1
	Wait                    time.Duration
	Cause                   string // one line
}

// Open checks e and returns its model, without connecting. The error is a [*CredentialError]
// if a required key is missing or malformed.
//
// Errors of the model's Ask: [*CredentialError], [*StatusError] (which may be
// [ErrContextLength]), [*ConnectionError], [*RedirectedError], [*TooLongError], [ErrEmpty],
// [ErrIdle], [ErrTimeout], [ErrCut], or ctx.Err().
// Transient errors are returned after the retries, or at once if the next wait would exceed
// ctx's deadline.
func (e Endpoint) Open() (Model, error) {
	m, err := e.open("chat/completions", "a chat completion")
	if err != nil {
		return nil, err
	}
	c := chat{endpoint: m, service: openai.NewChatCompletionService(m.options()...),
		schemas: &schemas{}, noImages: &atomic.Bool{}}
	c.noImages.Store(m.Endpoint.Images != nil && !*m.Endpoint.Images)
	c.schemas.refused.Store(m.Schema != nil && !*m.Schema)
	c.schemas.taken.Store(m.Schema != nil)
	return c, nil
}

// open checks e. Calls go to path; answer describes the expected response.
func (e Endpoint) open(path, answer string) (*endpoint, error) {
	base, err := url.Parse(e.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf(
			"provider %s: the base URL must have the form http(s)://host/path",
			e.Provider,
		)
	}
	if e.Model == "" {
		return nil, fmt.Errorf("provider %s: no model name", e.Provider)
	}
	e.Key = strings.TrimSpace(e.Key)
	if e.Key == "" && e.KeyEnv != "" {
		return nil, &CredentialError{Provider: e.Provider, KeyEnv: e.KeyEnv}
	}
	if strings.ContainsFunc(e.Key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, &CredentialError{Provider: e.Provider, KeyEnv: e.KeyEnv,
			Err: errors.New("it contains invalid characters, such as a space or a line break")}
	}
	e.fillDefaults()
	once := *e.HTTP // a POST that is redirected would become a GET, or go to another server
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e.HTTP = &once
	return &endpoint{Endpoint: e, url: publicURL(base.JoinPath(path)), path: path, answer: answer,
		hide: hider(e.Key, base)}, nil
}

func (e *Endpoint) fillDefaults() {
	if e.HTTP == nil {
		e.HTTP = http.DefaultClient
	}
	if e.Sleep == nil {
		e.Sleep = sleep
	}
	if e.Rand == nil {
		e.Rand = rand.Float64
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.OnRetry == nil {
		e.OnRetry = func(Retry) {}
	}
}

// publicURL returns a URL without credentials and query.
func publicURL(whole *url.URL) string {
	u := *whole
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// endpoint is an opened Endpoint, shared by chats and embeddings.
type endpoint struct {
	Endpoint
	url    string // for messages
	path   string // of the calls, below the base URL
	answer string // expected response, for messages: "a chat completion"

	// redacts the Endpoint's secrets in a text from the server
	hide func(string) string
}

// leastSecret is the minimum length of a secret to redact. Shorter ones are mostly
// placeholders such as "EMPTY", "not-needed" or "password", which may occur in ordinary
// replies.
const leastSecret = 16

// secretName matches query parameters whose values are secret, as configs.Redact does.
var secretName = regexp.MustCompile(
	`(?i)(?:token|key|secret|signature|credential|passw[a-z]*|pwd|sig)$`,
)

// hider returns a function that replaces the key, and secrets in the base URL, with [key].
func hider(key string, base *url.URL) func(string) string {
	secrets := []string{key}
	if password, ok := base.User.Password(); ok {
		header := base64.StdEncoding.EncodeToString([]byte(base.User.Username() + ":" + password))
		secrets = append(secrets, password, header)
	}
	for name, values := range base.Query() {
		if secretName.MatchString(name) {
			secrets = append(secrets, values...)
		}
	}
	var replace []string
	for _, secret := range secrets {
		if len(secret) >= leastSecret {
			replace = append(replace, secret, "[key]")
		}
	}
	return strings.NewReplacer(replace...).Replace
}

// options configures a bare service of the library: an openai.Client would also read
// OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS and others from the environment and send them to any
// base URL.
func (m *endpoint) options() []option.RequestOption {
	o := []option.RequestOption{
		option.WithBaseURL(m.BaseURL),
		option.WithHTTPClient(m.HTTP),
		option.WithMaxRetries(0), // see repeat
		option.WithHeader("User-Agent", "dsstar"),
		option.WithMiddleware(m.exchange),
	}
	if m.Key != "" {
		o = append(o, option.WithAPIKey(m.Key))
	}
	for name, value := range m.Header {
		o = append(o, option.WithHeader(name, value))
	}
	return o
}

type chat struct {
	*endpoint
	service openai.ChatCompletionService
	schemas *schemas
	// it has refused images: no more are sent
	noImages *atomic.Bool
}

func (m chat) ask(ctx context.Context, r Request) (Reply, error) {
	params, err := m.params(r)
	if err != nil {
		return Reply{}, err
	}
	onText := func(soFar string) {
		if r.OnText != nil {
			r.OnText(func() string { return m.hide(soFar) })
		}
	}
	start := m.Now()
	reply, retries, err := repeat(ctx, m.endpoint, call[Reply]{
		role: r.Role, subject: r.Subject,
		send: func(ctx context.Context, o ...option.RequestOption) error {
			_, err := m.service.New(ctx, params, append(o, option.WithJSONSet("stream", true))...)
			return err
		},
		read: func(body io.ReadCloser, contentType string) (Reply, error) {
			return m.read(body, contentType, onText)
		},
	})
	if err != nil {
		return Reply{}, err
	}
	if !reply.Usage.told() {
		reply.Usage = estimate(r.Messages, reply.Text)
	}
	reply.Text, reply.Model = m.hide(reply.Text), m.hide(reply.Model)
	reply.Finish = m.hide(reply.Finish)
	reply.Retries = retries
	reply.Seconds = m.Now().Sub(start).Seconds()
	return reply, nil
}

// params builds a request body. Every endpoint accepts "max_tokens" except OpenAI's, whose
// newer models refuse it.
func (m chat) params(r Request) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{
		Model:         m.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	images := r.Images
	for _, msg := range r.Messages {
		switch msg.Role {
		case "system":
			p.Messages = append(p.Messages, openai.SystemMessage(msg.Text))
		case "user":
			p.Messages = append(p.Messages, withImages(msg.Text, images))
			images = nil
		case "assistant":
			p.Messages = append(p.Messages, openai.AssistantMessage(msg.Text))
		default:
			return p, fmt.Errorf("ask %s: message role %q is not system, user or assistant",
				m.Provider, msg.Role)
		}
	}
	if s := r.Schema; s != nil {
		p.ResponseFormat.OfJSONSchema = &openai.ResponseFormatJSONSchemaParam{
			JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: s.Name, Schema: s.JSON, Strict: openai.Bool(true)}}
	}
	if m.Temperature != nil {
		p.Temperature = openai.Float(*m.Temperature)
	}
	if r.MaxTokens > 0 && (m.Provider == "openai" || m.Provider == "azure") {
		p.MaxCompletionTokens = openai.Int(int64(r.MaxTokens))
	} else if r.MaxTokens > 0 {
		p.MaxTokens = openai.Int(int64(r.MaxTokens))
	}
	return p, nil
}
