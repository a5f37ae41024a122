package configs

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
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
	if address, from = first(p.BaseURLEnv, getenv); from != "" {
		if !isWebURL(address) {
			return "", from, fmt.Errorf("%s: %q is not a URL that begins with http:// or https://",
				from, address)
		}
		return address, from, nil
	}
	host, from := first(p.HostEnv, getenv)
	if from == "" {
		return p.BaseURL, "", nil
	}
	if address = atHost(p.BaseURL, host); !isWebURL(address) {
		return "", from, fmt.Errorf("%s: %q is not a host, host:port or URL", from, host)
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
