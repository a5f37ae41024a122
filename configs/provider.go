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
	BaseURL string `key:"base_url"`
	// variables that may hold the key; none: no key is needed
	KeyEnv     []string `key:"key_env"`
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
	if !ok || !known {
		if s.BaseURL == "" {
			names := slices.Sorted(maps.Keys(s.Providers))
			if !ok {
				return p, "", fmt.Errorf("model %q is not provider/name; the providers are %s", model,
					strings.Join(names, ", "))
			}
			return p, "", fmt.Errorf("model %q has an unknown provider%s; the providers are %s", model,
				didYouMean(strings.ToLower(prefix), names), strings.Join(names, ", "))
		}
		p, name = Provider{Name: "base_url"}, model
	}
	if s.BaseURL != "" {
		// The provider's key must not go to another server.
		p.BaseURL, p.KeyEnv, p.BaseURLEnv, p.HostEnv = s.BaseURL, nil, nil, nil
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
	address, err = atHost(p.BaseURL, host)
	if err != nil {
		return "", from, fmt.Errorf("%s: %w", from, err)
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

// atHost moves base to another host, by the rules of OLLAMA_HOST: a bare host keeps base's port, an
// http or https URL without a port has its scheme's, and a wildcard listen address (0.0.0.0, ::)
// stands for this machine. localhost becomes 127.0.0.1, because it may resolve to ::1 while the
// server listens on IPv4 only.
func atHost(base, host string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	port := b.Port()
	if !strings.Contains(host, "://") {
		host = b.Scheme + "://" + bracket(host)
	} else {
		port = ""
	}
	h, err := url.Parse(host)
	if err != nil || h.Hostname() == "" && h.Port() == "" || h.Scheme != "http" &&
		h.Scheme != "https" {
		return "", fmt.Errorf("%q is not a host, host:port or URL", host)
	}
	if h.Port() != "" {
		port = h.Port()
	}
	name := h.Hostname()
	switch name {
	case "", "0.0.0.0", "localhost":
		name = "127.0.0.1"
	case "::":
		name = "::1"
	}
	h.Host = bracket(name)
	if port != "" {
		h.Host = net.JoinHostPort(name, port)
	}
	if strings.TrimSuffix(h.Path, "/") == "" {
		h.Path = b.Path
	}
	return h.String(), nil
}

// bracket puts an IPv6 address without a port in brackets, as URLs require.
func bracket(host string) string {
	if ip := net.ParseIP(host); ip != nil && strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
