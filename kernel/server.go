package kernel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/user"
	"slices"
	"strings"
	"time"
	"unicode"

	"dsstar/notebook/lists"
)

// A Server is a Jupyter Server, a JupyterHub user's server, a Kernel Gateway or an Enterprise
// Gateway, reached over REST and WebSocket (jupyter_server, services/api/api.yaml). Its zero value
// is no server.
type Server struct {
	URL    string // with the base path: "http://localhost:8888/", "https://hub.example.org/user/ada/"
	Token  string // "" if the server requires none
	Socket string // path of the Unix socket that it listens on; "" for TCP
	Root   string // its root folder, if it runs on this machine; "" if unknown
	PID    int    // likewise; 0 if unknown
}

// NewServer returns the server at an address as people copy it: the URL of a page or of the API,
// with or without a token in it. The token argument is used if the URL has none.
func NewServer(address, token string) (Server, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		address, _, _ = strings.Cut(address, "?") // the query may hold a token
		return Server{}, fmt.Errorf("not the address of a Jupyter server: %q "+
			"(http://localhost:8888/?token=… is one)", address)
	}
	token = cmp.Or(u.Query().Get("token"), token)
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: basePath(u.Path)}
	return Server{URL: clean.String(), Token: token}, nil
}

// basePath returns path without what a page of the server adds to it. The segment after "user" is
// the name of a hub's user, and kept whatever it is.
func basePath(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, part := range parts {
		if i > 0 && parts[i-1] == "user" {
			continue
		}
		if slices.Contains([]string{"lab", "tree", "notebooks", "doc", "api", "nbclassic"}, part) {
			parts = parts[:i]
			break
		}
	}
	if base := strings.Join(parts, "/"); base != "" {
		return "/" + base + "/"
	}
	return "/"
}

// A ServerError is a server's refusal of a request.
type ServerError struct {
	URL     string // of the server
	Status  int    // HTTP status
	Message string // the server's reason, in one line
}

func (e *ServerError) Error() string {
	text := fmt.Sprintf("%s answers %d %s", e.URL, e.Status, http.StatusText(e.Status))
	if e.Message != "" && e.Message != http.StatusText(e.Status) {
		text += ": " + e.Message
	}
	return text
}

// Credentials reports whether the server requires a token or refuses the one it got.
func (e *ServerError) Credentials() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
}

// restTimeout bounds a request to a server.
const restTimeout = 30 * time.Second

// maxBody bounds the bytes that are read of a response.
const maxBody = 64 << 20

// dial connects to the server or to its proxy. Addresses of this machine need no proxy
// (http.ProxyFromEnvironment).
func (s Server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	if s.Socket != "" {
		network, address = "unix", s.Socket
	}
	return dialer.DialContext(ctx, network, address)
}

// do carries out one request without a body in at most restTimeout. into may be nil.
func (s Server) do(ctx context.Context, method, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	return s.patiently(ctx, method, path, nil, into)
}

// patiently is do without restTimeout, and with a body, which may be nil: only ctx limits it.
func (s Server) patiently(ctx context.Context, method, path string, body, into any) error {
	var data []byte
	if body != nil {
		data, _ = json.Marshal(body) // plain data
	}
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header = s.header()
	request.Header.Set("Content-Type", "application/json")
	// Requests are few, so each has its own connection and none is left open.
	client := http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: s.dial,
			DisableKeepAlives: true},
		// A redirect leads to a login page, whose status 200 would be taken for an answer.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL twice
		}
		return fmt.Errorf("%s cannot be reached: %w", s.URL, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		return fmt.Errorf("%s: %w", s.URL, err)
	}
	return s.decode(response, answer, into)
}

// decode turns an answer into a value or an error.
func (s Server) decode(response *http.Response, answer []byte, into any) error {
	status := response.StatusCode
	if status >= 300 && status < 400 &&
		strings.Contains(response.Header.Get("Location"), "/hub/user/") {
		return &ServerError{URL: s.URL, Status: http.StatusFailedDependency,
			Message: "the hub says that this server is not running"}
	}
	if status >= 300 && status < 400 { // to a login page
		return &ServerError{URL: s.URL, Status: http.StatusForbidden,
			Message: "it wants a login, which means a token"}
	}
	if status >= 400 {
		var said struct{ Message, Reason string }
		_ = json.Unmarshal(answer, &said) // an HTML page says nothing
		return &ServerError{URL: s.URL, Status: status, Message: tame(cmp.Or(said.Message, said.Reason))}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("%s does not answer as a Jupyter server does: %w", s.URL, err)
	}
	return nil
}

// tame returns the first line of a server's message, shortened and without control characters: it
// may be printed on a terminal.
func tame(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, line[:min(len(line), 300)])
	return strings.ToValidUTF8(line, "")
}

func (s Server) header() http.Header {
	h := http.Header{}
	if s.Token != "" {
		h.Set("Authorization", "token "+s.Token) // with it, the server requires no XSRF cookie
	}
	return h
}

// serverKernel is a kernel as the API describes it.
type serverKernel struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	State       string `json:"execution_state"`
	Activity    any    `json:"last_activity"` // a time as text, if the server has one
	Connections int    `json:"connections"`
}

// Kernels returns the kernels that run on the server, with their notebooks.
func (s Server) Kernels(ctx context.Context) ([]Running, error) {
	var list []serverKernel
	if err := s.do(ctx, http.MethodGet, "api/kernels", &list); err != nil {
		return nil, err
	}
	var sessions []struct {
		Path     string
		Notebook struct{ Path string }
		Kernel   struct{ ID string }
	}
	// Gateways have no sessions; the kernels are returned without notebooks then.
	_ = s.do(ctx, http.MethodGet, "api/sessions", &sessions)
	notebooks := map[string]string{}
	for _, session := range sessions {
		notebooks[session.Kernel.ID] = cmp.Or(session.Notebook.Path, session.Path)
	}
	kernels := make([]Running, len(list))
	for i, k := range list {
		text, _ := k.Activity.(string)
		since, _ := time.Parse(time.RFC3339Nano, text) // else the zero time
		kernels[i] = Running{
			ID: k.ID, Spec: k.Name, State: k.State, Since: since, Connections: k.Connections,
			Notebook: notebooks[k.ID], Server: s,
		}
	}
	return kernels, nil
}

// Specs returns the kernelspecs of the server, by name, and the name of its
// default. Only [Dial] can start them, on the server.
func (s Server) Specs(ctx context.Context) (specs []Spec, preferred string, err error) {
	var answer struct {
		Default     string
		Kernelspecs map[string]struct{ Spec Spec }
	}
	if err := s.do(ctx, http.MethodGet, "api/kernelspecs", &answer); err != nil {
		return nil, "", err
	}
	for name, k := range answer.Kernelspecs {
		k.Spec.Name = name
		specs = append(specs, k.Spec)
	}
	sortSpecs(specs)
	return specs, answer.Default, nil
}

// start starts a kernel on the server and returns its id.
func (s Server) start(ctx context.Context, spec string, env []string) (string, error) {
	// This also shows whether it is a Jupyter server, with a better error than a POST.
	specs, _, err := s.Specs(ctx)
	if err != nil {
		return "", err
	}
	body := map[string]any{"env": gatewayEnv(env)}
	if spec != "" { // else the server's default
		body["name"] = spec
		missing := &SpecNotFoundError{Name: spec, Searched: []string{s.URL},
			Available: lists.Map(specs, func(s Spec) string { return s.Name })}
		if !slices.Contains(missing.Available, spec) {
			return "", missing
		}
	}
	return s.post(ctx, body)
}

// orphanage is how long post waits, after its caller has given up, for the id of a kernel that the
// server may still start, to delete that kernel.
const orphanage = 2 * time.Minute

// post has the server start a kernel, and returns its id. On a cluster this can take long. If ctx
// ends first, the kernel is deleted when it has started.
func (s Server) post(ctx context.Context, body any) (id string, err error) {
	type answer struct {
		kernel serverKernel
		err    error
	}
	answered := make(chan answer, 1)
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		var a answer
		a.err = s.patiently(detached, http.MethodPost, "api/kernels", body, &a.kernel)
		if answered <- a; ctx.Err() != nil && a.kernel.ID != "" {
			_ = s.delete(context.WithoutCancel(ctx), a.kernel.ID) // the caller has given up
		}
	}()
	select {
	case a := <-answered:
		if a.err == nil && a.kernel.ID == "" {
			a.err = fmt.Errorf("%s does not answer as a Jupyter server does: a kernel without an id", s.URL)
		}
		return a.kernel.ID, a.err
	case <-ctx.Done():
		time.AfterFunc(orphanage, cancel)
		return "", context.Cause(ctx)
	}
}

// gatewayEnv returns the variables KERNEL_* of env, for gateways. KERNEL_USERNAME, which Enterprise
// Gateway requires, defaults to the current user. Other servers ignore them.
func gatewayEnv(env []string) map[string]string {
	all := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		// Gateways refuse values that a shell would interpret.
		if strings.HasPrefix(name, "KERNEL_") && !strings.ContainsAny(value, "$`\n\r\x00") {
			all[name] = value
		}
	}
	if u, err := user.Current(); err == nil && all["KERNEL_USERNAME"] == "" {
		all["KERNEL_USERNAME"] = u.Username
	}
	return all
}

// kernel returns the present state of a kernel.
func (s Server) kernel(ctx context.Context, id string) (k serverKernel, err error) {
	err = s.do(ctx, http.MethodGet, "api/kernels/"+url.PathEscape(id), &k)
	return k, err
}

func (s Server) delete(ctx context.Context, id string) error {
	err := s.do(ctx, http.MethodDelete, "api/kernels/"+url.PathEscape(id), nil)
	if e, ok := errors.AsType[*ServerError](err); ok && e.Status == http.StatusNotFound {
		return nil // it is gone already
	}
	return err
}

func (s Server) interrupt(ctx context.Context, id string) error {
	return s.do(ctx, http.MethodPost, "api/kernels/"+url.PathEscape(id)+"/interrupt", nil)
}
