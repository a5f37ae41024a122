// Package site finds the kernels and servers that a run can use, chooses among them, confines
// new ones, and opens sessions in them.
package site

import (
	"context"
	"math"
	"path/filepath"
	"time"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// A Host is this machine with the user's environment.
type Host struct {
	Env      []string
	CacheDir string // dsstar's, in the user's cache folder
	// Managed has cells run in the managed environment, also if the program is installed in another.
	Managed bool
	// Databases are those that cells reach.
	Databases []Database
	Cells     Cells // of tests; nil: kernels of this machine
}

// Cells run the cells and the script of a run in place of new local kernels.
type Cells interface {
	Open(kernel.Options) (agent.Session, error)
	RunScript(context.Context, kernel.Options) (notebook.Execution, error)
}

// Getenv returns a variable of the environment.
func (h Host) Getenv(name string) string { return disk.Getenv(h.Env, name) }

// A Site is where the sessions of a run are opened: in new kernels of this machine or of a server,
// or, for the run's own session, in a running kernel of the user's.
type Site interface {
	// About says what users and records are told of the site.
	About() About
	// Look checks the kernels before a run folder is created: they must be IPython with the required
	// modules, and see the same folders.
	Look(ctx context.Context, folders ...string) error
	// Open opens a session for a purpose, in dir. The cells of derivations are shown to see, if it is
	// not nil.
	Open(ctx context.Context, p agent.Purpose, dir string, see Observer) (agent.Session, error)
	// RunScript runs the script of a proof: in plain Python, or, where only kernels can be started
	// (on a server or by a launcher), in a new kernel.
	RunScript(ctx context.Context, dir string, limit time.Duration) (notebook.Execution, error)
	// With returns the site with more that new local kernels reach.
	With(Reach) Site
}

// About is what users and records are told of a [Site].
type About struct {
	Name     string          // of the kernel of the run's own session
	Running  *kernel.Running // that kernel, if it is the user's
	Spec     kernel.Spec     // of new kernels
	Server   string          // the address of theirs; "": this machine
	Sandbox  string          // of the run's own session
	Confined bool            // dsstar's sandbox confines all cells
	Alone    bool            // no session can be beside the run's own
	Memory   int64           // limit of the run's own session in bytes; 0: none
	Warnings []string        // for the record
	Consent  Consent
}

// A Consent is what the user must agree to before cells run without a sandbox.
type Consent struct {
	Lines []string // nil: nothing
	What  string
}

// A Reach is what cells may read and write; in Own, nothing that other runs have left.
type Reach struct{ Own, Read, Write []string }

// Of lets cells read the run's variables and data but nothing else in the run folder.
func Of(folder record.Folder, data string) Reach {
	r := Reach{Own: []string{string(folder)}, Read: []string{folder.Variables()}}
	if data = folder.Data(data); data != "" {
		r.Read = append(r.Read, data)
	}
	return r
}

// An Observer is shown the cells of a session, and their outputs as they arrive.
type Observer interface {
	Cell(code string)
	Output(notebook.Output)
}

// Opening returns the function that opens the sessions of a run.
func Opening(s Site, see Observer) agent.Open {
	return func(ctx context.Context, p agent.Purpose, dir string) (agent.Session, error) {
		return s.Open(ctx, p, dir, see)
	}
}

// A session shows its cells to an observer.
type session struct {
	*rewind.Session
	see Observer // nil: nobody
}

// observed returns a session for a purpose.
func observed(k *rewind.Session, p agent.Purpose, see Observer) session {
	if p != agent.Work && p != agent.Second {
		see = nil
	}
	return session{k, see}
}

// Execute shows what it runs.
func (s session) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	c := kernel.Cell{Code: code}
	if s.see != nil {
		s.see.Cell(code)
		c.Observe = s.see.Output
	}
	return s.ExecuteCell(ctx, c)
}

// keptOutputs is the limit in bytes on outputs kept in a run's notebook, which is rewritten
// after each step.
const keptOutputs = 64 << 20

// profiles is the limit in bytes on what a cell prints that profiles files. Nothing keeps it.
const profiles = 32 << 20

// plain returns the options of any kernel whose cells work in dir.
func (h Host) plain(s *configs.Settings, spec kernel.Spec, dir string) kernel.Options {
	return kernel.Options{Spec: spec, Dir: dir, Scratch: filepath.Join(dir, "files"),
		Env: h.KernelEnv(s), CellTimeout: s.CellTimeout, StartTimeout: s.StartTimeout,
		Outputs: kernel.Outputs{Secrets: h.SecretTexts()}}
}

// options returns the options of a session, whatever its kernel, and how it goes back.
func (h Host) options(s *configs.Settings, spec kernel.Spec, p agent.Purpose,
	dir string) (o kernel.Options, back rewind.Options) {
	o = h.plain(s, spec, dir)
	o.Prelude, o.Outputs.Run, back.Replay = agent.Prelude(p), keptOutputs, s.Rollback == "replay"
	if p == agent.Describe {
		o.Outputs.Limits, o.Outputs.Run = notebook.Limits{Stream: profiles}, math.MaxInt64
	} else { // the main session and the proof look the same to cells
		back.Branches = !s.Method.Paper
	}
	if p == agent.Prove {
		o.Env = append(o.Env, "PYTHONHASHSEED=1") // so that what rests on the order of a set differs
	}
	return o, back
}
