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
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook/disk"
)

// call carries out a call of a tool. What goes wrong is a result, which a model reads.
func (s *Server) call(ctx context.Context, t tool, r *sdk.CallToolRequest) *sdk.CallToolResult {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	var result *sdk.CallToolResult
	values, err := t.read(r.Params.Arguments)
	if err == nil {
		err = s.permit(t, values)
	}
	if err == nil {
		result, err = s.carryOut(ctx, r, t.line(values))
	}
	if err != nil {
		result = &sdk.CallToolResult{}
		result.SetError(errors.New(clean(err.Error()).(string)))
	}
	return result
}

// carryOut runs a command for a call, when there is a slot for it. Nothing of what the command says
// is lost: an error is text beside what the command has printed until then.
func (s *Server) carryOut(ctx context.Context, r *sdk.CallToolRequest,
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
	printed, problem, code, err := s.execute(ctx, args, func(m message) { said <- m })
	if err != nil {
		return nil, err
	}
	var value any
	in := json.NewDecoder(&printed)
	in.UseNumber()
	if in.Decode(&value) != nil {
		return nil, errors.New(cmp.Or(problem, fmt.Sprintf("exit code %d", code)))
	}
	if runs, ok := value.([]any); ok {
		value = map[string]any{"runs": s.listed(runs)}
	}
	result := &sdk.CallToolResult{IsError: code != exitDone && code != exitNotVerified}
	if object, ok := value.(map[string]any); ok && result.IsError {
		object["error"] = problem // many clients show a model the object only
	}
	result.StructuredContent = clean(value)
	var text strings.Builder
	text.WriteString(clean(problem + "\n").(string))
	err = ui.JSON(&text, result.StructuredContent)
	result.Content = []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(text.String())}}
	return result, err
}

// listed are the runs of a list with absolute paths: a client may be elsewhere. A run that a client
// may not name, such as a link that leads out, is not among them.
func (s *Server) listed(runs []any) []any {
	return slices.DeleteFunc(runs, func(one any) bool {
		r, _ := one.(map[string]any)
		for _, key := range []string{"run", "notebook"} {
			path, _ := r[key].(string)
			r[key] = disk.Absolute(path)
		}
		_, err := s.Run(r["run"].(string))
		return err != nil
	})
}

// clean returns a JSON value without what terminals obey: texts come from models, files and cells,
// and clients print them on terminals.
func clean(value any) any {
	switch value := value.(type) {
	case string:
		return new(ui.Cleaner{Still: true}).Text(value)
	case []any:
		for i := range value {
			value[i] = clean(value[i])
		}
	case map[string]any:
		named := map[string]any{}
		for name, v := range value {
			named[clean(name).(string)] = clean(v)
		}
		return named
	}
	return value
}

// Exit codes of commands that are no error of a tool; docs/results.md.
const (
	exitDone        = 0
	exitNotVerified = 3
)

// execute runs a command to its end, and returns what it has printed, its error and hints, and its exit
// code. The end of ctx interrupts it, as Ctrl-C does: a run is saved and can be continued.
func (s *Server) execute(ctx context.Context, args []string, line func(message)) (printed bytes.Buffer,
	said string, code int, err error) {
	cmd := exec.CommandContext(ctx, s.Program, args...)
	cmd.Env, cmd.Stdout = s.Env, &printed
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return printed, "", 0, err
	}
	said = messages(stderr, line)
	err = cmd.Wait()
	if _, ended := errors.AsType[*exec.ExitError](err); ended || ctx.Err() != nil {
		err = nil
	}
	return printed, said, cmd.ProcessState.ExitCode(), err
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
