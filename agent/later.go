package agent

import (
	"context"
)

// A pendingSession is being opened while other work goes on.
type pendingSession struct {
	done    chan struct{}
	session Session
	err     error
	closed  bool // by the run, which is one goroutine
}

func (r *run) open(ctx context.Context, purpose Purpose, dir string) *pendingSession {
	p := &pendingSession{done: make(chan struct{})}
	stop := r.kernel.Start()
	go func() {
		defer close(p.done)
		defer stop()
		p.session, p.err = r.cfg.Open(ctx, purpose, dir)
	}()
	return p
}

func (p *pendingSession) wait() (Session, error) {
	<-p.done
	return p.session, p.err
}

// close closes the session, whether or not anybody waited for it. It may be called
// more than once, and for none.
func (p *pendingSession) close() { p.finish(Session.Close) }

// end is close for a session that must not go on, even if it is a Lasting one.
func (p *pendingSession) end() {
	p.finish(func(s Session) error {
		if lasting, ok := s.(Lasting); ok {
			return lasting.End()
		}
		return s.Close()
	})
}

func (p *pendingSession) finish(close func(Session) error) {
	if p == nil {
		return
	}
	if <-p.done; p.session != nil && !p.closed {
		_ = close(p.session) // nothing of the run depends on it any more
		p.closed = true
	}
}

// stays reports whether the session goes on after close.
func (p *pendingSession) stays() bool {
	<-p.done
	_, lasting := p.session.(Lasting)
	return lasting
}
