package agent

import (
	"context"

	"dsstar/notebook"
)

// A later session is one that is being opened while other work goes on.
type later struct {
	done    chan struct{}
	session Session
	err     error
	dir     string // to remove with the session, if not ""
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

// close closes the session, whether or not anybody waited for it.
func (l *later) close() {
	if <-l.done; l.session != nil {
		_ = l.session.Close() // nothing of the run depends on it any more
	}
	if l.dir != "" {
		_ = notebook.RemoveTemp(l.dir)
	}
}
