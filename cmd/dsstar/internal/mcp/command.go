package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A command is a command line of dsstar that prints JSON. Arguments from outside must be values of
// flags, as in --flag=value, or stand after --.
type command struct {
	args   []string
	input  string                       // standard input
	change func([]byte) ([]byte, error) // what it prints to an object; nil: it is one
}

// What a command has left.
type outcome struct {
	printed []byte
	said    string // its error and hints
	code    int
}

// Exit codes of commands that are no error of a tool; docs/results.md.
const (
	exitDone        = 0
	exitNotVerified = 3
)

const headerTimeout = 10 * time.Second

// carryOut runs a command for a call, when there is a slot for it. Nothing of what the command says
// is lost: an error is text beside what the command has printed until then.
func (s *Server) carryOut(ctx context.Context, r *sdk.CallToolRequest, c command,
	inWords func(json.RawMessage) string) (*sdk.CallToolResult, error) {
	p := newProgress(ctx, r)
	defer p.stop()
	select {
	case s.slots <- struct{}{}:
	default:
		p.wait("waiting for another call to end")
		select {
		case s.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() { <-s.slots }()
	p.wait("at work")
	end, err := s.execute(ctx, c, p.line)
	if err != nil {
		return nil, err
	}
	out := json.RawMessage(end.printed)
	if !json.Valid(out) {
		return nil, fmt.Errorf("%s", firstOf(end.said, fmt.Sprintf("exit code %d", end.code)))
	}
	if c.change != nil {
		if out, err = c.change(out); err != nil {
			return nil, err
		}
	}
	result := &sdk.CallToolResult{IsError: end.code != exitDone && end.code != exitNotVerified}
	if result.IsError {
		if out, err = withError(out, end.said); err != nil {
			return nil, err
		}
	}
	words := string(out)
	if inWords != nil {
		words = inWords(out)
	}
	for _, text := range []string{end.said, words} {
		if text = strings.TrimSpace(text); text != "" {
			result.Content = append(result.Content, &sdk.TextContent{Text: text})
		}
	}
	result.StructuredContent = out
	return result, nil
}

// withError adds an error to an object: many clients show a model the object only.
func withError(out json.RawMessage, said string) (json.RawMessage, error) {
	all := map[string]any{}
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, err
	}
	all["error"] = strings.TrimSpace(said)
	return json.Marshal(all)
}

// execute runs a command to its end. The end of ctx interrupts it, as Ctrl-C does: a run is saved
// and can be continued.
func (s *Server) execute(ctx context.Context, c command, line func(message)) (outcome, error) {
	var printed bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Program, c.args...)
	cmd.Env, cmd.Stdin, cmd.Stdout = s.Env, strings.NewReader(c.input), &printed
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return outcome{}, err
	}
	said := messages(stderr, line)
	err = cmd.Wait()
	if _, ended := errors.AsType[*exec.ExitError](err); !ended && err != nil && ctx.Err() == nil {
		return outcome{}, err
	}
	return outcome{printed.Bytes(), said, cmd.ProcessState.ExitCode()}, nil
}

// A message is a line of --progress json; docs/results.md.
type message struct {
	Event string `json:"event"`
	Text  string `json:"text"`
}

// maxSaid bounds the text of an error.
const maxSaid = 64 << 10

// messages passes on the messages of a command and returns its other lines: the error and hints.
func messages(r io.Reader, pass func(message)) string {
	var said strings.Builder
	in := bufio.NewReader(r)
	for {
		text, err := in.ReadString('\n')
		var m message
		if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &m) == nil {
			pass(m)
		} else if said.Len()+len(text) <= maxSaid {
			said.WriteString(text)
		}
		if err != nil {
			return said.String()
		}
	}
}

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}
