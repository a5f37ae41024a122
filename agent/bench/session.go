package bench

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// An Opener opens a confined session for scorers' code, which may read the paths in read and
// write to the path write ("": none). Its working folder is dir/files.
type Opener func(ctx context.Context, dir string, read []string,
	write string) (agent.Session, error)

// within returns the scorer with the Python of a session that may read these paths. The caller ends
// it with done.
func (s Scorer) within(read ...string) (_ Scorer, done func()) {
	if s.python != nil || s.Open == nil {
		return s, func() {}
	}
	slices.Sort(read)
	session := &session{open: s.Open, read: slices.Compact(read)}
	s.python = session.run
	return s, session.close
}

// chart extracts the data and settings of a task's chart from the code in dir that draws it, and
// leaves them where DA-Code's scorer looks. A failure of that code is no error: the score shows it.
func (s Scorer) chart(ctx context.Context, t Task, dir string) error {
	if _, err := os.Stat(t.Data); t.Data == "" || err != nil {
		return errors.New("its data are not there, which the code of its chart may read")
	}
	session := &session{open: s.Open, read: []string{t.Data}, write: dir}
	defer session.close() // the code is the agent's: nothing else runs there
	return chartOf(ctx, session.run, dir, programOf(record.Folder(filepath.Dir(dir))), s.Compat)
}

// programOf joins the cells of a run that succeeded.
func programOf(run record.Folder) string {
	nb, err := notebook.Open(run.Notebook())
	if err != nil {
		return "" // no notebook, so no cells
	}
	var cells []string
	for _, c := range nb.Cells {
		meta, _ := c.Metadata["dsstar"].(map[string]any)
		raised := slices.Contains(c.Tags(), "raises-exception")
		if c.Type == notebook.Code && !raised && (meta["role"] == "step" || meta["role"] == "final") {
			cells = append(cells, c.Source)
		}
	}
	return strings.Join(cells, "\n\n") + "\n"
}

// A session runs scorers' code. The session opens for the first code and is reused,
// because starting one takes longer than most scores. After code that failed it is closed,
// because the code may have damaged it. The caller must close the session.
type session struct {
	open   Opener
	read   []string
	write  string
	kernel agent.Session // nil: none is open
	dir    string        // a temporary folder
}

// run implements [Python].
func (s *session) run(ctx context.Context, code string) (stdout string, err error) {
	if s.kernel == nil {
		err = s.start(ctx)
	}
	var e notebook.Execution
	if err == nil {
		e, err = s.kernel.Execute(ctx, code)
	}
	if err == nil && e.Status != notebook.OK {
		why := cmp.Or(strings.TrimSpace(e.PlainText()), e.Reason, string(e.Status))
		err = &CodeError{Text: brief.Clip(brief.OneLine(why), 500)}
	}
	if err != nil {
		s.close()
	}
	return e.Stdout(), err
}

func (s *session) start(ctx context.Context) (err error) {
	if s.dir, err = disk.TempFolder("", "dsstar-score-"); err == nil {
		err = os.Mkdir(filepath.Join(s.dir, "files"), 0o755)
	}
	if err == nil {
		s.kernel, err = s.open(ctx, s.dir, s.read, s.write)
	}
	return err
}

func (s *session) close() {
	if s.kernel != nil {
		_ = s.kernel.Close() // it is not used again
	}
	if s.dir != "" {
		_ = disk.RemoveTemp(s.dir)
	}
	s.kernel, s.dir = nil, ""
}
