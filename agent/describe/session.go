package describe

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// A scratch is the session that looks into files, in a folder of its own. It runs one cell at a
// time.
type scratch struct {
	Session
	folder string // removed by close
	setUp  string
	kernel *ask.Stopwatch
	mu     sync.Mutex
}

// environment prints which Python runs, with which packages.
//
//go:embed environment.py
var environment string

// openScratch opens the session and asks it for what the notebook runs on. The cell that sets it up
// makes it see the data folder as the run's own would, and nothing else: it takes all names out of
// the session, and gives it back one that every module has, which PySpark reads. A child or a
// frozen copy of the session has at once what is loaded.
func (r *Describer) openScratch(ctx context.Context) (*scratch, error) {
	folder, err := disk.TempFolder("", "dsstar-describe-")
	if err != nil {
		return nil, err
	}
	s := &scratch{folder: folder, kernel: r.kernel, setUp: strings.Join([]string{
		"data_dir = " + brief.Python(r.data), record.SetUpCell(record.Task{Data: r.data}),
		profile.Load, environment, "%reset -f", "__spec__ = None"}, "\n")}
	stop := s.kernel.Start()
	var e notebook.Execution
	if s.Session, err = r.open(ctx, folder); err == nil {
		e, err = s.Execute(ctx, s.setUp)
	}
	stop()
	if err = cmp.Or(err, asSetUp(e)); err == nil {
		err = r.journal.Started(strings.TrimSpace(e.Stdout()))
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *scratch) close() {
	if s.Session != nil {
		_ = s.Close() // nothing of the run depends on it any more
	}
	_ = disk.RemoveTemp(s.folder) // a temporary folder; the system clears what stays
}

// asSetUp returns an error if a cell that sets the session up has failed.
func asSetUp(e notebook.Execution) error {
	if e.Status == notebook.OK {
		return nil
	}
	return fmt.Errorf("set up the session: %s", brief.Problem(e))
}

func (s *scratch) run(ctx context.Context, code string) (notebook.Execution, error) {
	defer s.kernel.Start()()
	return s.Execute(ctx, code)
}

// runAlone runs a script as a cell of its own: what another one has left does not show.
func (s *scratch) runAlone(ctx context.Context, code string) (notebook.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.kernel.Start()()
	back, err := s.Rollback(ctx, []string{s.setUp})
	for _, e := range back.Executions {
		err = cmp.Or(err, asSetUp(e))
	}
	if err != nil {
		return notebook.Execution{}, err
	}
	return s.Execute(ctx, code)
}
