package runner

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// An Opener opens a confined session for scorers' code, which may read the paths in read and
// write to the path write ("": none). Its working folder is dir/files.
type Opener func(ctx context.Context, dir string, read []string,
	write string) (agent.Session, error)

// A Scoring scores answers that are on disk: those of a run, or of a file.
type Scoring struct {
	Compat bench.Compat
	Judge  bench.Judge  // nil: none
	Plain  bench.Python // runs the scorers of texts
	Open   Opener
	Charts bool // extracts the data of charts from the code of a run that draws them
}

// Score scores answers to tasks of a suite: see [bench.Suite.Score].
func (s Scoring) Score(ctx context.Context, suite *bench.Suite, tasks []bench.Task,
	repeats ...[]bench.Answer) (bench.Scores, error) {
	var read []string
	for _, t := range tasks {
		read = append(read, t.GoldDir)
	}
	for _, a := range slices.Concat(repeats...) {
		read = append(read, a.Dir)
	}
	slices.Sort(read)
	scorer, done := s.scorer(slices.Compact(read))
	defer done()
	return suite.Score(ctx, scorer, tasks, repeats...)
}

// scorer returns a scorer whose sessions may read these paths. The caller ends it with done.
func (s Scoring) scorer(read []string) (scorer bench.Scorer, done func()) {
	session := &scoringSession{open: s.Open, read: read}
	scorer = bench.Scorer{Compat: s.Compat, Judge: s.Judge, Plain: s.Plain, Python: session.run}
	if s.Charts {
		scorer.Chart = s.chart
	}
	return scorer, session.close
}

// chart extracts the data and settings of a task's chart from the code in dir that draws it, and
// leaves them where DA-Code's scorer looks. A failure of that code is no error: the score shows it.
func (s Scoring) chart(ctx context.Context, t bench.Task, dir string) error {
	if _, err := os.Stat(t.Data); t.Data == "" || err != nil {
		return errors.New("its data are not there, which the code of its chart may read")
	}
	session := &scoringSession{open: s.Open, read: []string{t.Data}, write: dir}
	defer session.close() // the code is the agent's: nothing else runs there
	return bench.Chart(ctx, session.run, dir, programOf(record.Folder(filepath.Dir(dir))), s.Compat)
}

// programOf joins the cells of a run that succeeded. The cell "actions" defines what an
// agent has besides plain Python.
func programOf(run record.Folder) string {
	nb, err := notebook.Open(run.Notebook())
	if err != nil {
		return "" // no notebook, so no cells
	}
	var cells []string
	for _, c := range nb.Cells {
		meta, _ := c.Metadata["dsstar"].(map[string]any)
		role, _ := meta["role"].(string)
		status, _ := meta["status"].(string)
		ran := status == "" || status == string(notebook.OK)
		if c.Type == notebook.Code && ran &&
			slices.Contains([]string{"actions", "step", "final", "action"}, role) {
			cells = append(cells, c.Source)
		}
	}
	return strings.Join(cells, "\n\n") + "\n"
}

// A scoringSession runs scorers' code. The session opens for the first code and is reused,
// because starting one takes longer than most scores. After code that failed it is closed,
// because the code may have damaged it. The caller must close the scoringSession.
type scoringSession struct {
	open    Opener
	read    []string
	write   string
	session agent.Session // nil: none is open
	dir     string        // a temporary folder
}

// run implements [bench.Python].
func (s *scoringSession) run(ctx context.Context, code string) (stdout string, err error) {
	if s.session == nil {
		err = s.start(ctx)
	}
	var e notebook.Execution
	if err == nil {
		e, err = s.session.Execute(ctx, code)
	}
	if err == nil && e.Status != notebook.OK {
		why := cmp.Or(strings.TrimSpace(e.PlainText()), e.Reason, string(e.Status))
		err = &bench.CodeError{Text: brief.Clip(brief.OneLine(why), 500)}
	}
	if err != nil {
		s.close()
	}
	return e.Stdout(), err
}

func (s *scoringSession) start(ctx context.Context) (err error) {
	if s.dir, err = disk.TempFolder("", "dsstar-score-"); err == nil {
		err = os.Mkdir(filepath.Join(s.dir, "files"), 0o755)
	}
	if err == nil {
		s.session, err = s.open(ctx, s.dir, s.read, s.write)
	}
	return err
}

func (s *scoringSession) close() {
	if s.session != nil {
		_ = s.session.Close() // it is not used again
	}
	if s.dir != "" {
		_ = disk.RemoveTemp(s.dir)
	}
	s.session, s.dir = nil, ""
}
