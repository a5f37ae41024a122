// Package describe gives every data file its description (DS-STAR, Algorithm 1, lines 2 to 6).
// It is the file's profile, which a program makes; the content of a document is its description.
// Of files of one structure, a family, the nearest to the question is described, and of the others
// what differs. As published, the model writes a script for each file that prints its description.
// The files nearest to the question are shown to the model.
//
// A [Describer] does this for one run. It changes the Task and the Descriptions of the run's
// trajectory; concurrent results go through a [Journal].
package describe

import (
	"context"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// Options configure a [Describer].
type Options struct {
	Corrections map[string]string // what a person says of files, by name
	// files and folders outside of the data that links in it may lead to
	Readable []string

	Columns []string // patterns of columns whose values no model sees

	CellTimeout time.Duration // of the kernels that describe files; 0: none

	MaxFiles   int // that are looked at at most; 0: all
	TopK       int // files that are shown to the model at most
	Jobs       int // files that a program looks into at the same time
	DebugTries int // repairs of one script, or cell, at most
}

// A Journal is told what is found. Its errors end the work. Its methods may be called
// concurrently.
type Journal interface {
	// Warn tells of something that the user should know.
	Warn(text string) error
	// Started tells in which Python environment the scripts run.
	Started(environment string) error
	// Described records the description of the task's file i.
	Described(i int, d record.Description) error
}

// A Session is a kernel that runs scripts.
type Session interface {
	Execute(ctx context.Context, code string) (notebook.Execution, error)
	// Rollback puts the session into the state that the cells produce from an empty one.
	Rollback(ctx context.Context, cells []string) (notebook.Restoration, error)
	Close() error
}

// A Describer describes the files of one run.
type Describer struct {
	*ask.Asker
	Options
	journal Journal
	t       *record.Trajectory
	open    func(ctx context.Context, dir string) (Session, error)
	data    string         // the data folder; "": there is none
	kernel  *ask.Stopwatch // of the sessions

	profiles map[string]*profile.Profile // by file
	others   []string                    // files that are not looked at, or not shown
	alone    bool                        // nothing but the descriptions is wanted
}

// New returns a describer for the run of t. open opens a private session that starts in
// dir; dir/files is the folder that its cells may write to.
func New(a *ask.Asker, o Options, t *record.Trajectory, data string, kernel *ask.Stopwatch,
	journal Journal,
	open func(ctx context.Context, dir string) (Session, error)) *Describer {
	return &Describer{Asker: a, Options: o, journal: journal, t: t, open: open,
		data: data, kernel: kernel, profiles: map[string]*profile.Profile{}}
}
