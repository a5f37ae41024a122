package bench

import (
	"context"
	"errors"
	"os"
	"slices"

	"dsstar/agent"
	"dsstar/agent/bench/trial"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/kernels"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/sandbox"
)

// site returns a site for one task.
func (r *run) site(i int) trial.Site {
	p := r.siteOf(i)
	return trial.Site{
		Sandbox: p.Sandbox(),
		Sessions: func(folder record.Folder, data string) (agent.Open, agent.RunScript) {
			p.Show(folder, data)
			p.Box.Own = append(p.Box.Own, r.folder.Path())
			return r.Open(&p, r.settings), r.RunScript(&p, r.settings)
		},
		Scoring: r.scoringAt(r.settings,
			func(context.Context) (kernels.Site, error) { return r.siteOf(i), nil }),
		Fatal: func(err error) bool {
			_, usage := errors.AsType[*usage.Error](err)
			return usage || errors.Is(err, sandbox.ErrNone) || errors.Is(err, sandbox.ErrExposed) ||
				errors.Is(err, sandbox.ErrUnsearched)
		},
		Lost: func(ctx context.Context, err error) bool { return r.lost(ctx, i, err) },
	}
}

// lost reports whether an error means that the server is gone. If the error does not tell, it asks
// the server.
func (r *run) lost(ctx context.Context, i int, err error) bool {
	if r.sites[i].url == "" {
		return false
	}
	refused := func(err error) bool {
		_, ok := errors.AsType[*kernel.ServerError](err)
		return ok
	}
	if _, gone := errors.AsType[*kernel.ServerLostError](err); gone || refused(err) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, kernels.SurveyTime)
	defer cancel()
	_, _, err = r.siteOf(i).Server.Specs(ctx)
	return err != nil && !refused(err)
}

// A siteFinder returns the site at which to open a kernel.
type siteFinder func(context.Context) (kernels.Site, error)

// scoringAt opens confined kernels for scorers' code.
func (a *App) scoringAt(s *configs.Settings, at siteFinder) trial.Opener {
	return func(ctx context.Context, dir string, read []string, write string) (agent.Session, error) {
		p, err := at(ctx)
		if err != nil {
			return nil, err
		}
		p.Box.Read = slices.Clone(p.Box.Read)
		for _, path := range read {
			if _, err := os.Stat(path); path != "" && err == nil {
				p.Box.Read = append(p.Box.Read, absolute(path))
			}
		}
		if write != "" {
			p.Box.Write = append(slices.Clone(p.Box.Write), absolute(write))
		}
		return a.Open(&p, s)(ctx, agent.Describe, dir)
	}
}
