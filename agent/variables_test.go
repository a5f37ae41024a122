package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
)

// A host is a session that is somebody else's, which can do nothing for its guest but describe
// variables.
type host struct {
	*session
	has []record.Variable // nil: they cannot be described
}

var errShy = errors.New("not now")

func (h host) Variables(context.Context) ([]record.Variable, error) {
	if h.has == nil {
		return nil, errShy
	}
	return slices.Clone(h.has), nil
}
func (host) Carry(context.Context, string, []string, []record.Variable) ([]record.Variable, error) {
	return []record.Variable{{Name: "x"}}, errShy
}
func (host) Leave(context.Context, []record.Variable) ([]string, error) { return nil, errShy }

// hosted has the cells of the steps run in a session that is somebody else's.
func hosted(s *stage) { hosting(s, nil) }

func hosting(s *stage, has []record.Variable) {
	open := s.config.Open
	s.config.Guest = true
	s.config.Open = func(ctx context.Context, purpose agent.Purpose,
		dir string) (agent.Session, error) {
		one, err := open(ctx, purpose, dir)
		if purpose == agent.Work && err == nil {
			return host{one.(*session), has}, nil
		}
		return one, err
	}
}

// TestHostFails: what a host cannot do costs a warning, and no more.
func TestHostFails(t *testing.T) {
	p := play(t, simple, hosted)
	if p.err != nil || !p.Verified() || len(p.Variables) != 0 {
		t.Errorf("%v, %q, %+v", p.err, p.Doubts(), p.Variables)
	}
	contains(t, strings.Join(p.Warnings, "\n"), "not described: not now",
		"not carried to a fresh session: not now", "is not known: not now")
}

// TestNoData: a question about variables alone has no data folder in its cells.
func TestNoData(t *testing.T) {
	p := play(t, simple, func(s *stage) { s.task.Data, s.task.Files = "", nil }).noError(t)
	if !p.Verified() {
		t.Errorf("%q", p.Doubts())
	}
	lacks(t, p.Script(), "data_", "data/")
	for _, asked := range p.model.asked {
		lacks(t, p.model.prompt(t, asked), "data/")
	}
}
