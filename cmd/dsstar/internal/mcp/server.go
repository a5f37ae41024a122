// Package mcp lets other programs' agents ask: a server of the Model Context Protocol whose tools
// are commands of dsstar. Each call runs the program itself in a process of its own, so that a
// tool does what its command does, no run can harm another, and what ends a run is an interrupt.
package mcp

import (
	"context"
	"os"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Config says what a server may do.
type Config struct {
	Program  string   // dsstar
	Env      []string // of Program
	Version  string
	Answer   *jsonschema.Schema      // of the object that nb --json prints
	Data     []string                // what questions are about that name no data
	MayRead  func(data string) error // whether data, or a notebook, may be named
	Kernels  bool                    // whether questions may use running kernels
	Parallel int                     // how many calls may compute at once
}

// A server answers calls of tools.
type server struct {
	Config
	ctx   context.Context // ends every call
	slots chan struct{}
	calls sync.WaitGroup
}

const instructions = `dsstar answers questions about data files by working in a notebook: it
writes and runs code in a sandbox, checks the answer by a second derivation, and proves it in a fresh
session. Ask whole questions in plain language; dsstar looks at the files itself. A call takes from
half a minute to many minutes. Tell the user whether an answer is verified, the doubts if it is not,
and the answers under other readings of the question.`

// Serve serves one client over standard input and output, until the client goes or ctx ends, which
// ends every call.
func Serve(ctx context.Context, config Config) error {
	s := &server{Config: config, ctx: ctx, slots: make(chan struct{}, config.Parallel)}
	of := sdk.NewServer(&sdk.Implementation{Name: "dsstar", Title: "dsstar", Version: config.Version},
		&sdk.ServerOptions{Instructions: oneLine(instructions), Capabilities: &sdk.ServerCapabilities{}})
	for _, t := range tools {
		in, out := t.schema(), &jsonschema.Schema{Type: "object"}
		if t.hints == answers {
			out = s.Answer
		}
		of.AddTool(&sdk.Tool{Name: t.name, Title: t.title, Description: oneLine(t.text),
			Annotations: t.hints, InputSchema: in, OutputSchema: out},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				s.calls.Add(1)
				defer s.calls.Done()
				return s.call(ctx, t, r), nil
			})
	}
	err := of.Run(ctx, &sdk.IOTransport{Reader: os.Stdin, Writer: cleaner{os.Stdout}})
	s.calls.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}
