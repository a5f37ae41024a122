package agent

import (
	"context"
	"time"

	"dsstar/notebook"
)

// A Session is a live kernel. What a cell's code can cause is in the Execution; an error is
// something that it cannot cause, and ends the run.
type Session interface {
	// Execute runs one cell.
	Execute(ctx context.Context, code string) (notebook.Execution, error)
	// Rollback puts the session into exactly the state, files of the working
	// folder included, that the cells produce from an empty session, and
	// returns what they gave. It stops at a cell that fails.
	Rollback(ctx context.Context, cells []string) (notebook.Restoration, error)
	// Silently runs code that is not a cell, within limit: nothing counts or shows it, and Rollback
	// does not know of it.
	Silently(ctx context.Context, code string, limit time.Duration) (notebook.Execution, error)
	// Alive reports whether the session has not ended, as far as is known. Rollback works all the
	// same.
	Alive() bool
	Close() error
}

// A Purpose says what a session is opened for.
type Purpose int

const (
	Describe Purpose = iota // run the scripts that describe files
	Work                    // the run's own session
	Prove                   // run the accepted cells from scratch, after the run's own session
	Second                  // derive the answer again, while the run's own session goes on
)

// Open opens a private session that starts in dir; dir/files is the folder that its cells
// may write to. The caller closes it. A session for Work is opened in the run folder, any other in
// a temporary one; those for Work and Prove must look the same to a cell.
type Open func(ctx context.Context, purpose Purpose, dir string) (Session, error)
