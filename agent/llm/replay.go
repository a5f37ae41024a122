package llm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// ReplayOptions determine how closely a request must match.
type ReplayOptions struct {
	Loose []string // names of inputs that may differ from the recorded ones
}

// Replay answers from the exchanges of a trace, to rerun everything but the model. A request
// takes the first unused exchange of its role and subject with the same inputs, or else one
// that differs only in loose inputs. If there is none, Ask returns a [*ReplayError]. Failed
// exchanges are skipped. Replies come at once, unstreamed, with the recorded usage.
func Replay(exchanges []Exchange, o ReplayOptions) Model { return newReplay(exchanges, o) }

func newReplay(exchanges []Exchange, o ReplayOptions) *replay {
	m := &replay{loose: slices.Clone(o.Loose)}
	for _, e := range exchanges {
		if e.Error == "" {
			m.left = append(m.left, e)
		}
	}
	return m
}

type replay struct {
	loose []string
	mu    sync.Mutex
	left  []Exchange // unused, in order
}

// A ReplayError is a request without a matching reply in the trace.
type ReplayError struct {
	Role, Subject string
	N             int      // number of the nearest exchange; 0: none
	Differs       []string // inputs that differ from exchange N; nil if N has another subject
	Next          string   // subject of exchange N, if no exchange is left for Subject
}

func (e *ReplayError) Error() string {
	request := e.Role + "'s request"
	if e.Subject != "" {
		request += " for " + e.Subject
	}
	switch {
	case len(e.Differs) > 0:
		return fmt.Sprintf("replay: the %s no longer fits exchange %d of the trace: its %s the "+
			"recorded %s",
			request, e.N, differ(e.Differs), oneOrOnes(e.Differs))
	case e.N > 0:
		return fmt.Sprintf("replay: the trace has no reply left to the %s; its next for the %s is "+
			"exchange %d, %s",
			request, e.Role, e.N, either(e.Next, "without a subject"))
	}
	return fmt.Sprintf("replay: the trace has no reply left to the %s, nor any other for the %s",
		request, e.Role)
}

func differ(names []string) string {
	if plural(names) {
		return join(names) + " differ from"
	}
	return join(names) + " differs from"
}

func oneOrOnes(names []string) string {
	if plural(names) {
		return "ones"
	}
	return "one"
}

func plural(names []string) bool {
	return len(names) > 1 || strings.HasSuffix(names[0], "s")
}

func join(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func (m *replay) Ask(ctx context.Context, r Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	e, err := m.take(r)
	if err != nil {
		return Reply{}, err
	}
	if r.OnText != nil {
		r.OnText(func() string { return e.Reply })
	}
	return Reply{Text: e.Reply, Model: e.Model, Finish: e.Finish, Usage: e.Usage,
		Schema: e.Schema != ""}, nil
}

// take removes and returns the exchange that matches r best.
func (m *replay) take(r Request) (Exchange, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked := hashes(r.Inputs)
	loose, next := -1, -1
	var nearest *ReplayError
	for i, e := range m.left {
		if e.Role != r.Role {
			continue
		}
		if e.Subject != r.Subject {
			if next < 0 {
				next = i
			}
			continue
		}
		differs := differing(e.Inputs, asked)
		if len(differs) == 0 {
			return m.use(i), nil
		}
		differs = slices.DeleteFunc(differs, func(name string) bool {
			return slices.Contains(m.loose, name)
		})
		if len(differs) == 0 && loose < 0 {
			loose = i
		}
		if nearest == nil || len(differs) < len(nearest.Differs) {
			nearest = &ReplayError{Role: r.Role, Subject: r.Subject, N: e.N, Differs: differs}
		}
	}
	switch {
	case loose >= 0:
		return m.use(loose), nil
	case nearest != nil:
		return Exchange{}, nearest
	case next >= 0:
		return Exchange{}, &ReplayError{Role: r.Role, Subject: r.Subject, N: m.left[next].N,
			Next: m.left[next].Subject}
	}
	return Exchange{}, &ReplayError{Role: r.Role, Subject: r.Subject}
}

func (m *replay) use(i int) Exchange {
	e := m.left[i]
	m.left = slices.Delete(m.left, i, i+1)
	return e
}

// differing returns the names of the inputs that differ, sorted.
func differing(recorded, asked map[string]string) []string {
	both := maps.Clone(recorded)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, asked)
	var names []string
	for name := range both {
		was, had := recorded[name]
		is, has := asked[name]
		if had != has || was != is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
