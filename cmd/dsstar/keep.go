package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/kernels"
	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// A keeper leaves the main kernel running after the run, for --keep-kernel. info and err are set
// when the session is closed.
type keeper struct {
	saver  *saver
	server kernel.Server // of the kernel; zero for a local process
	info   kernel.Info   // zero: no kernel was ready
	err    error         // why it could not be kept

	patience time.Duration // with the server; 0: keepPatience
}

// wrap returns a function that wraps a run's sessions so that Close keeps their kernel; nil if no
// kernel is to be kept.
func (k *keeper) wrap() func(*checkpoint.Session) agent.Session {
	if k == nil {
		return nil
	}
	return func(s *checkpoint.Session) agent.Session { return keptSession{s, k} }
}

// A keptSession is a session whose kernel is kept: the main session, or the proof's, which replaces
// it.
type keptSession struct {
	*checkpoint.Session
	keeper *keeper
}

var _ agent.Lasting = keptSession{}

// End shuts the kernel down. The run then keeps no kernel, unless a later session is closed.
func (s keptSession) End() error {
	s.keeper.err = errUnfinished
	return s.Session.Close()
}

var errUnfinished = errors.New(
	"not all cells ran in the proof's fresh kernel")

func (s keptSession) Close() error {
	k := s.keeper
	k.info = s.Info() // Leave changes it
	k.err = s.Leave(k.saver.notebook.Path())
	return k.err
}

// resultKept describes a kept kernel in --json. Missing values are "" or 0.
type resultKept struct {
	ID             string `json:"id"`
	PID            int    `json:"pid"`
	ConnectionFile string `json:"connection_file"`
	Server         string `json:"server"`
	Notebook       string `json:"notebook"` // the path at which the server has registered it
}

// result describes the kept kernel; nil if there is none. A server's kernel is registered for the
// notebook; the error says why that failed.
func (k *keeper) result(ctx context.Context) (*resultKept, error) {
	if k == nil || k.info.ID == "" || k.err != nil {
		return nil, nil
	}
	r := &resultKept{ID: k.info.ID, PID: k.info.PID, ConnectionFile: k.info.File,
		Server: k.info.Server}
	if k.server.URL == "" {
		return r, nil
	}
	// also after Ctrl-C
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(k.patience, keepPatience))
	defer cancel()
	path, err := k.server.Path(ctx, k.saver.notebook.Path())
	if err != nil {
		return r, err
	}
	id, err := k.server.Register(ctx, path, r.ID)
	if err == nil && id != r.ID {
		err = errOtherKernel
	}
	if err == nil {
		r.Notebook = path
	}
	return r, err
}

var errOtherKernel = errors.New("the notebook is open with another kernel")

// tell explains how to connect to the kernel and how to end it. ended is the error that cut the run
// short.
func (k *keeper) tell(p *progress.Progress, r *resultKept, unregistered, ended error) {
	state := "with all variables"
	if ended != nil {
		state = "with its variables as they were when the run ended"
	}
	switch {
	case k == nil:
	case k.err != nil:
		p.Say("kernel   it does not stay: %v", k.err)
	case r == nil:
		p.Say("kernel   none stays: none was ready")
	case r.Server == "":
		p.Say("kernel   process %d stays, %s", r.PID, state)
		p.Paste("connect  jupyter console --existing %s", human.Shell(r.ConnectionFile))
		p.Paste("or       dsstar nb --kernel %s --data DIR \"question\"", short(r.ID))
		p.Say("end it   kill %d", r.PID)
	case unregistered != nil:
		p.Say("kernel   %s stays on %s, %s", short(r.ID), r.Server, state)
		p.Say("connect  in JupyterLab by Kernel > Change Kernel: %v", unregistered)
	default:
		p.Say("kernel   %s stays on %s, %s", short(r.ID), r.Server, state)
		p.Say("connect  open %s in JupyterLab: it is the kernel of the notebook there", r.Notebook)
	}
	if r != nil && r.Server != "" {
		p.Say("end it   in JupyterLab by Kernel > Shut Down Kernel, or DELETE %sapi/kernels/%s",
			r.Server, r.ID)
	}
}

func short(id string) string { return id[:min(len(id), kernels.ShortName)] }

// keepPatience is the time limit for a server that the user has not named to start a kernel, and
// for any server to register one.
const keepPatience = 20 * time.Second

// placeToKeep chooses the kernel to keep if the user has not: one on a local server that serves
// the run folder, so that JupyterLab connects the notebook to it. It reports whether there is a
// usable one.
func (a *app) placeToKeep(ctx context.Context, j *job) bool {
	s := *j.settings
	if !j.keep || j.here || s.Kernel+s.Server+s.Python != "" {
		return false
	}
	server, ok := serverWith(kernel.LocalServers(a.Lookup()),
		filepath.Join(disk.Existing(cmp.Or(j.out, s.Out)), "notebook.ipynb"))
	if !ok {
		return false
	}
	s.Server = server.URL
	hurried, cancel := context.WithTimeout(ctx, keepPatience) // a local process will do instead
	defer cancel()
	var err error
	if j.place, err = a.Place(hurried, &s, func(string) {}); err == nil {
		err = a.Look(hurried, &j.place, &s, j.folders()...)
	}
	if err == nil && a.consent(ctx, j) != nil { // without the deadline: the user may take time
		err = errors.New("its kernels are not sandboxed, and you have not agreed (--yes)")
	}
	if err == nil {
		j.progress.Say(
			"server   %s serves the run folder: the kernel that stays will run there",
			server.URL,
		)
		return true
	}
	j.place = kernels.Place{}
	j.progress.Say("server   %s, which serves the run folder, cannot be used: %v", server.URL, err)
	return false
}

// serverWith returns the server whose root contains path; of several, the one with the deepest
// root.
func serverWith(servers []kernel.Server, path string) (nearest kernel.Server, ok bool) {
	for _, s := range servers {
		if s.Has(path) && (!ok || len(s.Root) > len(nearest.Root)) {
			nearest, ok = s, true
		}
	}
	return nearest, ok
}
