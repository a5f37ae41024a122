package trial

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// An Opener opens a confined session for scorers' code, which may read the paths in read and
// write to the path write ("": none). Its working folder is dir/files.
type Opener func(ctx context.Context, dir string, read []string,
	write string) (agent.Session, error)

// python runs each piece of code in a session of its own.
func (open Opener) python(read []string, write string) bench.Python {
	return func(ctx context.Context, code string) (string, error) {
		s := scoringSession{open: open, read: read, write: write}
		defer s.close()
		return s.run(ctx, code)
	}
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
func (s *scoringSession) run(ctx context.Context, code string) (string, error) {
	if s.session == nil {
		if err := s.start(ctx); err != nil {
			s.close()
			return "", err
		}
	}
	e, err := s.session.Execute(ctx, code)
	if err != nil {
		s.close()
		return "", err
	}
	if e.Status != notebook.OK {
		s.close()
		why := cmp.Or(strings.TrimSpace(e.PlainText()), e.Reason, string(e.Status))
		return "", &bench.CodeError{Text: shorten(why, 500)}
	}
	return e.Stdout(), nil
}

func (s *scoringSession) start(ctx context.Context) (err error) {
	if s.dir, err = disk.TempFolder("", "dsstar-score-"); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(s.dir, "files"), 0o755); err != nil {
		return err
	}
	s.session, err = s.open(ctx, s.dir, s.read, s.write)
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
