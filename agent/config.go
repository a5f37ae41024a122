package agent

import (
	"context"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A Config is what a run needs beside its task: how the model is asked, how the files are
// described, and the rest.
type Config struct {
	ask.Settings
	describe.Options
	Open      Open
	RunScript RunScript
	Dir       string     // the run folder
	Key       record.Key // of whoever draws the notebook

	Method    record.Method
	Baseline  *Baseline // the method, if it is none of ours
	MaxRounds int       // steps that are tried at most
	Guest     bool      // the session for Work is a [Host]
	Alone     bool      // there can be no session for Second beside it

	Recalled *record.Recalled // of the memory of the data, to show and to use: see [RecallFor]
	Learn    bool             // have the model propose what a verified answer leaves for the memory

	Choice   record.Choice // of the models, for the record
	Sandbox  string        // what confines the cells, for the record
	Memory   int64         // bytes that the session may take, for requests; 0: not known
	Warnings []string      // that the record begins with

	// Observe is told of each event after the trajectory holds it; it may read
	// the trajectory until it returns, and add to its Warnings. Its error ends
	// the run. One call at a time.
	Observe func(Event, *record.Trajectory) error

	// ChooseReading, if set, is asked which option of a reading that changes the answer is meant.
	// The answer of the option that the cells take is given. It returns the option's index, or -1
	// to leave the reading open. Its error ends the run.
	ChooseReading func(ctx context.Context, reading record.Reading, answer string) (int, error)

	// Review, if set, is asked about every cell right before it runs, and waited
	// for: each step's, each repair, and the last one. Cells that have run before are
	// run again unasked, and so are the scripts that describe files. Its error ends
	// the run.
	Review func(context.Context, Proposal) (Decision, error)
}

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
