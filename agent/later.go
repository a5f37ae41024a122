package agent

import "context"

// A later session is one that is being opened while other work goes on.
type later struct {
	done    chan struct{}
	session Session
	err     error
	closed  bool // by the run, which is one goroutine
}

func (r *run) openLater(ctx context.Context, purpose Purpose, dir string) *later {
	l := &later{done: make(chan struct{})}
	stop := r.kernel.start()
	go func() {
		defer close(l.done)
		defer stop()
		l.session, l.err = r.cfg.Open(ctx, purpose, dir)
	}()
	return l
}

func (l *later) wait() (Session, error) {
	<-l.done
	return l.session, l.err
}

// close closes the session, whether or not anybody waited for it. It may be called
// more than once, and for none.
func (l *later) close() { l.finish(Session.Close) }

// end is close for a session that must not go on, even if it is a Lasting one.
func (l *later) end() {
	l.finish(func(s Session) error {
		if lasting, ok := s.(Lasting); ok {
			return lasting.End()
		}
		return s.Close()
	})
}

func (l *later) finish(close func(Session) error) {
	if l == nil {
		return
	}
	if <-l.done; l.session != nil && !l.closed {
		_ = close(l.session) // nothing of the run depends on it any more
		l.closed = true
	}
}

// stays reports whether the session goes on after close.
func (l *later) stays() bool {
	<-l.done
	_, lasting := l.session.(Lasting)
	return lasting
}
