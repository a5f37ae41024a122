// Package mcp lets other programs' agents ask: a server of the Model Context Protocol whose tools
// are commands of dsstar. Each call runs the program itself in a process of its own, so that a
// tool does what its command does, no run can harm another, and what ends a run is an interrupt.
package mcp

import (
	"context"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Config says what a server may do.
type Config struct {
	Program string   // dsstar
	Env     []string // of Program
	Version string
	Data    []string                // what questions are about that name no data
	MayRead func(data string) error // whether data may be named
	// Run returns the folder of the run, or the notebook, that a client names: the newest run for ""
	Run      func(name string) (string, error)
	Kernels  bool // whether questions may use running kernels
	Parallel int  // how many calls may compute at once
}

// A Server answers calls of tools.
type Server struct {
	Config
	sdk   *sdk.Server
	ctx   context.Context // ends every call
	slots chan struct{}
	calls sync.WaitGroup
}

const instructions = `dsstar answers questions about data files by working in a notebook: it
writes and runs code in a sandbox, checks the answer by a second derivation, and proves it in a fresh
session. Ask whole questions in plain language; dsstar looks at the files itself. A call takes from
half a minute to many minutes. Tell the user whether an answer is verified, the doubts if it is not,
and the answers under other readings of the question.`

// New returns a server whose calls end with ctx.
func New(ctx context.Context, config Config) *Server {
	s := &Server{Config: config, ctx: ctx, slots: make(chan struct{}, config.Parallel)}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "dsstar", Title: "dsstar", Version: config.Version},
		&sdk.ServerOptions{Instructions: oneLine(instructions), Capabilities: &sdk.ServerCapabilities{}})
	for _, t := range tools {
		s.sdk.AddTool(&sdk.Tool{Name: t.name, Title: t.title, Description: oneLine(t.text),
			Annotations: t.hints, InputSchema: t.schema(), OutputSchema: &jsonschema.Schema{Type: "object"}},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				s.calls.Add(1)
				defer s.calls.Done()
				return s.call(ctx, t, r), nil
			})
	}
	return s
}

// Serve serves one client over standard input and output, until the client goes or the server's
// context ends, and its calls have ended.
func (s *Server) Serve() error {
	err := s.sdk.Run(s.ctx, &sdk.StdioTransport{})
	s.calls.Wait()
	if s.ctx.Err() != nil {
		return nil
	}
	return err
}

// Path is where ServeHTTP serves.
const Path = "/mcp"

// ServeHTTP serves clients that have the token, until the server's context ends. The listener must
// be on the loopback interface: then no page of the web can have a browser call a tool, even if its
// name resolves to this machine.
func (s *Server) ServeHTTP(l net.Listener, token string) error {
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk },
		&sdk.StreamableHTTPOptions{PropagateRequestCancellation: true})
	mux := http.NewServeMux()
	mux.Handle(Path, http.NewCrossOriginProtection().Handler(bearer(token)(handler)))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(s.ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(l)
	s.calls.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// bearer lets only requests with the token pass.
func bearer(token string) func(http.Handler) http.Handler {
	return auth.RequireBearerToken(
		func(_ context.Context, given string, _ *http.Request) (*auth.TokenInfo, error) {
			if subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
				return nil, auth.ErrInvalidToken
			}
			return &auth.TokenInfo{}, nil
		}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
}
