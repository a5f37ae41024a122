package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// call carries out a call of a tool. What goes wrong is a result, which a model reads.
func (s *Server) call(ctx context.Context, t tool, r *sdk.CallToolRequest) *sdk.CallToolResult {
	s.calls.Add(1)
	defer s.calls.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	var result *sdk.CallToolResult
	values, err := t.read(r.Params.Arguments)
	if err == nil {
		err = s.permit(ctx, t, values)
	}
	if err == nil {
		result, err = s.carryOut(ctx, r, t, t.line(values))
	}
	if err != nil {
		result = &sdk.CallToolResult{}
		result.SetError(err)
	}
	return result
}

// carryOut runs a command for a call, when there is a slot for it. Nothing of what the command says
// is lost: an error is text beside what the command has printed until then.
func (s *Server) carryOut(ctx context.Context, r *sdk.CallToolRequest, t tool,
	args []string) (*sdk.CallToolResult, error) {
	p := newProgress(ctx, r)
	defer p.stop()
	p.line(message{"waiting", "waiting for its turn"})
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.slots }()
	p.line(message{"waiting", "at work"})
	end, err := s.execute(ctx, args, p.line)
	if err != nil {
		return nil, err
	}
	out := json.RawMessage(end.printed)
	switch {
	case !json.Valid(out):
		return nil, errors.New(cmp.Or(end.said, fmt.Sprintf("exit code %d", end.code)))
	case t.change != nil:
		out, err = t.change(s, out)
	}
	result := &sdk.CallToolResult{IsError: end.code != exitDone && end.code != exitNotVerified}
	if result.IsError && err == nil {
		out, err = withError(out, end.said)
	}
	if err != nil {
		return nil, err
	}
	words := string(out)
	if t.hints == answers {
		words = answerInWords(out)
	}
	for _, text := range []string{end.said, words} {
		if text != "" {
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
	all["error"] = said
	return json.Marshal(all)
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

// execute runs a command to its end. The end of ctx interrupts it, as Ctrl-C does: a run is saved
// and can be continued.
func (s *Server) execute(ctx context.Context, args []string, line func(message)) (outcome, error) {
	var printed bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Program, args...)
	cmd.Env, cmd.Stdout = s.Env, &printed
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
			return strings.TrimSpace(said.String())
		}
	}
}

// A progress tells a client what its call does, if the client wants to know. It is never silent for
// long: clients give up calls that they hear nothing of.
type progress struct {
	ctx     context.Context
	request *sdk.CallToolRequest

	mu    sync.Mutex
	sent  float64
	doing string
	over  bool
	beat  *time.Timer
}

// silence is the time after which the client is told again what the call waits for.
const silence = 10 * time.Second

func newProgress(ctx context.Context, r *sdk.CallToolRequest) *progress {
	p := &progress{ctx: ctx, request: r}
	p.beat = time.AfterFunc(silence, func() { p.line(message{Event: "silence"}) })
	return p
}

func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.beat.Stop()
}

// line passes on a message of a command. Its other events are in its lines, too. A client that has
// gone is no reason to end: its context says so.
func (p *progress) line(m message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, token := strings.TrimSpace(m.Text), p.request.Params.GetProgressToken()
	switch m.Event {
	case "waiting":
		p.doing = text
	case "silence":
		text = "still " + p.doing
	case "line":
	default:
		return
	}
	if text == "" || token == nil || p.over {
		return
	}
	p.beat.Reset(silence)
	p.sent++
	_ = p.request.Session.NotifyProgress(p.ctx, &sdk.ProgressNotificationParams{
		ProgressToken: token, Progress: p.sent, Message: text})
}
