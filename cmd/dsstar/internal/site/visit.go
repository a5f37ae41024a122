package site

import (
	"context"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
)

// attach connects to the guest's kernel.
func (g *Guest) attach(ctx context.Context, o kernel.Options) (*kernel.Kernel, error) {
	if !g.dial {
		return kernel.Attach(ctx, g.File, o)
	}
	o.Discard = g.discard
	return kernel.Dial(ctx, g.Server, g.ID, o)
}

// kept says which names keep their new values.
func (g *Guest) kept() string {
	if len(g.Keep) == 0 {
		return ""
	}
	return ", but for " + strings.Join(g.Keep, ", ")
}

// A visit is the main session in a kernel of the user's.
type visit struct {
	*rewind.Session
	folder record.Folder
	keep   []string
}

// clearNames removes names that would mislead the set-up cell. They are restored at the end of the
// visit.
const clearNames = `for _name in ("base_dir", "__file__"):
    globals().pop(_name, None)`

// visit opens the main session in the guest's kernel.
func (g *Guest) visit(ctx context.Context, o kernel.Options) (agent.Session, error) {
	k, err := g.attach(ctx, o)
	if err != nil {
		return nil, err
	}
	s := rewind.New(k, rewind.Options{})
	if _, err := s.Execute(ctx, clearNames); err != nil {
		_ = s.Close() // the first error says more
		return nil, err
	}
	return visit{s, record.Folder(o.Dir), g.Keep}, nil
}

// Rollback restores the user's names first, then clears the misleading ones again.
func (v visit) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	back, err := v.Session.Rollback(ctx, slices.Concat([]string{clearNames}, cells))
	if all := back.Executions; len(all) > 0 && all[0].Status == notebook.OK {
		back.Executions, back.Kept = all[1:], max(0, back.Kept-1)
	}
	return back, err
}
