package progress

import (
	"context"

	"dsstar/agent"
	"dsstar/kernel"
	"dsstar/notebook"
)

// Watch wraps open so that the view shows the cells of the derivations, and their outputs. Without
// a view it returns open.
func (p *Progress) Watch(open agent.Open) agent.Open {
	if !p.live {
		return open
	}
	return func(ctx context.Context, purpose agent.Purpose, dir string) (agent.Session, error) {
		s, err := open(ctx, purpose, dir)
		cells, ok := s.(cellRunner)
		if !ok || err != nil || purpose != agent.Work && purpose != agent.Second {
			return s, err
		}
		if host, ok := s.(agent.Host); ok {
			return watchedHost{watched{s, cells, p}, host}, nil
		}
		return watched{s, cells, p}, nil
	}
}

// A cellRunner is a session that reports outputs as they arrive.
type cellRunner interface {
	ExecuteCell(context.Context, kernel.Cell) (notebook.Execution, error)
}

type watched struct {
	agent.Session
	cells    cellRunner
	progress *Progress
}

// A watchedHost is a watched session in a kernel of the user's.
type watchedHost struct {
	watched
	agent.Host
}

var _ agent.Host = watchedHost{}

func (w watched) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	w.progress.cell(code)
	return w.cells.ExecuteCell(ctx, kernel.Cell{Code: code, Observe: w.progress.output})
}
