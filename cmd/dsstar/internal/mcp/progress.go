package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A progress tells a client what its call does, if the client wants to know. It is never silent for
// long: clients give up calls that they hear nothing of.
type progress struct {
	ctx     context.Context
	session *sdk.ServerSession
	token   any // nil: the client does not want to know

	mu    sync.Mutex
	sent  float64
	doing string
	since time.Time
	beat  *time.Timer // nil once the call has ended
}

// silence is the time after which the client is told again what the call waits for.
const silence = 10 * time.Second

func newProgress(ctx context.Context, r *sdk.CallToolRequest) *progress {
	p := &progress{ctx: ctx, session: r.Session, token: r.Params.GetProgressToken()}
	p.beat = time.AfterFunc(silence, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.tell(fmt.Sprintf("%s, %.0f s", p.doing, time.Since(p.since).Seconds()))
	})
	return p
}

func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beat.Stop()
	p.beat = nil
}

// wait says what the call waits for from now on.
func (p *progress) wait(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.since = doing, time.Now()
	p.tell(doing)
}

// line passes on a message of a command. Its other events are in its lines, too.
func (p *progress) line(m message) {
	switch m.Event {
	case "waiting":
		p.wait(m.Text)
	case "line":
		p.mu.Lock()
		defer p.mu.Unlock()
		p.tell(m.Text)
	}
}

// tell sends one notification. A client that has gone is no reason to end: its context says so.
func (p *progress) tell(text string) {
	if text = strings.TrimSpace(text); text == "" || p.token == nil || p.beat == nil {
		return
	}
	p.beat.Reset(silence)
	p.sent++
	_ = p.session.NotifyProgress(p.ctx, &sdk.ProgressNotificationParams{
		ProgressToken: p.token, Progress: p.sent, Message: text})
}
