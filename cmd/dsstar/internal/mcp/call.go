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
	said := make(chan message)
	var told sync.WaitGroup
	told.Go(func() { tell(ctx, r, said) })
	defer told.Wait() // nothing is told after the result
	defer close(said)
	said <- message{"waiting", "waiting for its turn"}
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.slots }()
	said <- message{"waiting", "at work"}
	end, err := s.execute(ctx, args, func(m message) { said <- m })
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
	result.StructuredContent = out
	text := strings.TrimSpace(end.said + "\n" + string(out))
	result.Content = []sdk.Content{&sdk.TextContent{Text: text}}
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

// silence is the time after which a client is told again what its call waits for: clients give up
// calls that they hear nothing of.
const silence = 10 * time.Second

// tell passes on the messages of a command, if the client wants to know. Its other events are in
// its lines, too. A client that has gone is no reason to end: its context says so.
func tell(ctx context.Context, r *sdk.CallToolRequest, messages <-chan message) {
	token, doing, sent := r.Params.GetProgressToken(), "", 0.0
	beat := time.NewTimer(silence)
	defer beat.Stop()
	for {
		text := ""
		select {
		case m, more := <-messages:
			if !more {
				return
			}
			if m.Event == "waiting" {
				doing = m.Text
			}
			if m.Event == "waiting" || m.Event == "line" {
				text = strings.TrimSpace(m.Text)
			}
		case <-beat.C:
			text = "still " + doing
		}
		if text == "" || token == nil {
			continue
		}
		beat.Reset(silence)
		sent++
		_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: sent, Message: clean(text).(string)})
	}
}
