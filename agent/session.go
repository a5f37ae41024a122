package agent

import (
	"context"

	"dsstar/notebook"
)

// A Session is a live kernel as the agent needs it. What a cell's code can
// cause is in the Execution; an error is something that it cannot cause and
// ends the run.
type Session interface {
	// Execute runs one cell.
	Execute(ctx context.Context, code string) (notebook.Execution, error)
	// Rollback puts the session into exactly the state, files of the working
	// folder included, that the cells produce from an empty session, and
	// returns what they gave. It stops at a cell that fails.
	Rollback(ctx context.Context, cells []string) (notebook.Restoration, error)
	Close() error
}

// A Purpose says what a session is opened for.
type Purpose int

const (
	Describe Purpose = iota // run the scripts that describe files
	Work                    // the run's own session
	Prove                   // run the accepted cells from nothing, in the place of the run's own session
)

// A Lasting session stays when the run has ended: Close leaves it running, and End
// ends it all the same.
type Lasting interface {
	Session
	End() error
}

// Open opens a private session that starts in dir; dir/files is the folder
// that its cells may write to. The caller closes it. Those to Work and to Prove
// are opened in the run folder, one after the other, and must look the same to a
// cell.
type Open func(ctx context.Context, purpose Purpose, dir string) (Session, error)
