package configs

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Provider is a server that speaks the OpenAI protocol.
type Provider struct {
	Name    string `key:"-"`
	BaseURL string `key:"base_url" is:"URL"`
	// variables that may hold the key; none: no key is needed
	KeyEnv     []string `key:"key_env" is:"NAMES"`
	BaseURLEnv []string `key:"base_url_env"` // variables that may replace BaseURL
	// variables that may replace BaseURL's host and port
	HostEnv []string `key:"host_env"`
}

// Provider splits a model, for instance openai/gpt-5, into the provider and the provider's name for
// the model. It applies base_url and api_key_env. With a base_url, the provider may be unknown or
// left out.
func (s *Settings) Provider(model string) (p Provider, name string, err error) {
	prefix, name, ok := strings.Cut(model, "/")
	p, known := s.Providers[strings.ToLower(prefix)] // viper has lower-cased the names
	p.Name, known = strings.ToLower(prefix), known && ok
	switch {
	case s.BaseURL != "" && !known:
		p, name = Provider{Name: "base_url", BaseURL: s.BaseURL}, model
	case s.BaseURL != "": // the provider's key must not go to another server
		p = Provider{Name: p.Name, BaseURL: s.BaseURL}
	case !known:
		names := slices.Sorted(maps.Keys(s.Providers))
		return p, "", fmt.Errorf("model %q is not provider/name, with one of the providers %s%s", model,
			strings.Join(names, ", "), didYouMean(p.Name, names))
	}
	if s.APIKeyEnv != "" {
		p.KeyEnv = []string{s.APIKeyEnv}
	}
	return p, name, nil
}

// Key returns the API key and the variable that holds it, both "" if no variable does.
func (p Provider) Key(getenv func(string) string) (key, from string) {
	return first(p.KeyEnv, getenv)
}

// URL returns the address for requests and the variable that it comes from; "" if it comes from the
// settings.
func (p Provider) URL(getenv func(string) string) (address, from string, err error) {
	given, from := first(p.BaseURLEnv, getenv)
	address, should := given, forms["URL"]
	if from == "" {
		given, from = first(p.HostEnv, getenv)
		address, should = atHost(p.BaseURL, given), "a host, host:port or URL"
	}
	switch {
	case from == "":
		return p.BaseURL, "", nil
	case !isWebURL(address):
		return "", from, fmt.Errorf("%s: %q is not %s", from, given, should)
	}
	return address, from, nil
}

func first(names []string, getenv func(string) string) (value, name string) {
	for _, name := range names {
		if value := strings.TrimSpace(getenv(name)); value != "" {
			return value, name
		}
	}
	return "", ""
}

// atHost moves base to another host, by the rules of OLLAMA_HOST: a host without a port keeps
// base's, and a wildcard listen address stands for this machine, as localhost does, which may
// resolve to ::1 while the server listens on IPv4 only. It returns "" if host is none.
func atHost(base, host string) string {
	b, err := url.Parse(base)
	bare := !strings.Contains(host, "://")
	if err == nil && bare {
		host = b.Scheme + "://" + host
	}
	h, bad := url.Parse(host)
	if err != nil || bad != nil || h.Host == "" {
		return ""
	}
	name, port := h.Hostname(), h.Port()
	if slices.Contains([]string{"", "0.0.0.0", "localhost", "::"}, name) {
		name = "127.0.0.1"
	}
	if bare && port == "" {
		port = b.Port()
	}
	h.Host = strings.TrimSuffix(net.JoinHostPort(name, port), ":")
	if strings.Trim(h.Path, "/") == "" {
		h.Path = b.Path
	}
	return h.String()
}

// A Price is the price of a model, in US dollars per million tokens.
type Price struct {
	Input  float64 `key:"input" is:"at least 0"`
	Cached float64 `key:"cached" is:"at least 0"` // if the settings have none, as Input
	Output float64 `key:"output" is:"at least 0"`
}

// priceList is prices.yaml, whose prices are those of settings.
var priceList = sync.OnceValue(func() *Settings {
	list, err := decode(embedded(pricesYAML))
	if err != nil {
		panic(err) // it is embedded
	}
	return list
})

// ListDate returns the month of the list prices, for instance 2026-11.
func ListDate() string { return embedded(pricesYAML)["date"].Text() }

// makers lead from models that openrouter sells to those of their makers, at the same prices.
var makers = strings.NewReplacer("openrouter/openai/", "openai/", "openrouter/anthropic/",
	"anthropic/", "openrouter/google/", "gemini/", ".", "-")

// version matches what may follow the name of a model: -latest, -001, -20251001, -2025-08-07,
// -preview-09-2025. It does not match -5, because claude-opus-5-5 is another model than
// claude-opus-5.
var version = regexp.MustCompile(`(-latest|-preview|-\d{3,8}|-\d{2,4}-\d{2,4}(-\d{2})?)+$`)

// Price returns the price of a model, by its name as provider/name: that of the settings, or else
// the list price. List prices are those of the providers' own servers, not of another base_url.
func (s *Settings) Price(model string) (Price, bool) {
	model = strings.ToLower(model)
	if p, ok := s.Prices[model]; ok || s.BaseURL != "" {
		return p, ok
	}
	if strings.HasPrefix(model, "ollama/") && !strings.HasSuffix(model, "cloud") {
		return Price{}, true // on the user's machine, as ollama/gpt-oss:120b-cloud is not
	}
	model = makers.Replace(model)
	p, ok := priceList().Prices[model]
	if !ok {
		p, ok = priceList().Prices[version.ReplaceAllString(model, "")]
	}
	return p, ok
}
