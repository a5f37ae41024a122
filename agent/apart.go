package agent

import (
	"context"
	"errors"

	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// A site is a session, and where its cells work.
type site struct {
	session Session
	folder  string   // its folder files/ is the one that cells write to
	dirty   bool     // the session is not at the accepted cells
	arrived *arrival // at the state where its branch begins, which it has not left; else nil
}

// An apart is a session of its own for the second derivation: what cells of the first have left in
// files and memory, and their threads, processes and requests, are not there.
type apart struct {
	site    *site
	opening *pendingSession
	cancel  context.CancelFunc
}

// openApart begins to open that session, in a folder of its own, and to run the cells there that
// the second derivation builds on, unless it is open or not needed.
func (r *standard) openApart(ctx context.Context) {
	if s := r.t.Second; r.other != nil || r.t.Method.NoSecond || s != nil &&
		(s.Answer != "" || s.Settled()) {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	at, cells := &site{}, unaided(r.elsewhere())
	r.other = &apart{site: at, cancel: cancel}
	r.other.opening = r.openSession(func() (s Session, err error) {
		if at.folder, err = disk.TempFolder("", "dsstar-second-"); err != nil {
			return nil, err
		}
		if err = record.Folder(r.dir).Lend(at.folder); err != nil {
			return nil, err
		}
		if s, err = r.open(ctx, Second, at.folder); err == nil {
			at.session, at.arrived = s, reach(ctx, s, cells)
		}
		return s, err
	})
}

// inApart calls do with that session in place of the run's, or with the run's if there can be no
// other.
func (r *standard) inApart(ctx context.Context, do func(base []string) error) error {
	r.openApart(ctx)
	_, err := r.other.opening.wait()
	s := r.t.Second
	if s.Together = errors.Is(err, errors.ErrUnsupported); s.Together {
		return do(unaided(r.t))
	}
	if s.Unable = err != nil && ctx.Err() == nil; s.Unable { // there is an answer all the same
		s.Reason = "no session could be opened for it: " + err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	own := r.site
	r.site = r.other.site
	defer func() { r.site = own }()
	return do(unaided(r.elsewhere()))
}

// leaveApart ends that session, in the background: see workspace.ending.
func (r *standard) leaveApart() {
	other := r.other
	if r.other = nil; other == nil {
		return
	}
	r.ending.Go(func() {
		other.cancel() // first, so that a session still opening gives up
		other.opening.close()
		_ = disk.RemoveTemp(other.site.folder) // the next start removes what stays
	})
}
