package agent

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/describe"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// A Host is a [Session] that belongs to the user, whose variables are data. An error leaves
// the session unchanged.
type Host interface {
	// Variables describes the variables that the user has there. It changes and
	// computes nothing.
	Variables(ctx context.Context) ([]record.Variable, error)
	// Carry makes what a cell, which is about to run, reads of the user's variables
	// ready for a session that has none of them, and returns it.
	Carry(ctx context.Context, what Reading) ([]record.Variable, error)
	// Leave is called once, after the last cell. It returns what the user should
	// know about what the cells leave behind.
	Leave(ctx context.Context, carried []record.Variable) (warnings []string, err error)
}

// A Reading describes a cell whose variables are to be carried.
type Reading struct {
	Code   string
	Before []string // the cells before it, whose names are not the user's
	Known  []string // names that have been carried, or cannot be
	Room   int64    // bytes that may be written
}

// MaxCarried limits how many bytes of the user's variables a run writes to files.
const MaxCarried = 1 << 30

// meet has the variables of the user's session described.
func (r *run) meet(ctx context.Context) error {
	if err := r.work.open(ctx); err != nil {
		return err
	}
	var host bool
	if r.work.host, host = r.work.session.(Host); !host {
		return nil
	}
	r.work.own = rand.Text() // what it gives is not what its cells alone give
	stop := r.kernel.Start()
	all, err := r.work.host.Variables(ctx)
	stop()
	if err != nil {
		return r.warnAndContinue(ctx, "the variables of the session are not described", err)
	}
	for i, v := range all { // those that the run had read stay as they were
		r.asker.Mask.Learn(v.Text) // a cell may print what is not shown
		n := slices.IndexFunc(r.t.Variables, func(o record.Variable) bool {
			return o.Name == v.Name && o.Known()
		})
		if n < 0 {
			continue
		}
		if was := r.t.Variables[n]; was.Text != v.Text {
			return &record.EditError{Problem: fmt.Sprintf("the variable %s of the session is not what "+
				"it was when cells of this run read it: ask in a new run", v.Name)}
		}
		all[i] = r.t.Variables[n]
	}
	if r.t.Variables = all; len(all) == 0 {
		return nil
	}
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.Name
	}
	if len(r.t.Task.Mask) > 0 {
		return &describe.MaskError{Reason: "the session has variables, whose columns are not looked into: " +
			strings.Join(names, ", ")}
	}
	return r.observe(Event{Kind: Met, Text: strings.Join(names, ", ")})
}

// warnAndContinue warns that a host has failed, or returns the error if the run has ended.
func (r *run) warnAndContinue(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return r.Warn(fmt.Sprintf("%s: %v", what, err))
}

// carry saves the user's variables that a cell reads for a fresh session, before the cell
// can change them in place.
func (r *workspace) carry(ctx context.Context, code string) error {
	if r.host == nil {
		return nil
	}
	what := Reading{Code: code, Before: slices.Clone(r.at), Room: MaxCarried}
	for _, v := range r.t.Variables {
		if v.Known() {
			what.Known = append(what.Known, v.Name)
			what.Room -= v.Bytes
		}
	}
	carried, err := r.host.Carry(ctx, what)
	if err != nil {
		return r.warnAndContinue(ctx, "what the cell reads of the session's variables is not carried "+
			"to a fresh session", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.t.Variables) // whoever has the trajectory may still read the old ones
	for _, v := range carried {
		if i := slices.IndexFunc(all, func(o record.Variable) bool { return o.Name == v.Name }); i >= 0 {
			v.Text = all[i].Text
			all[i] = v
		} else {
			all = append(all, v)
		}
	}
	r.t.Variables = all
	return nil
}

// leavePatience is the time limit for [Host.Leave].
const leavePatience = 20 * time.Second

// takeLeave reports what the cells leave behind in the user's session, however the run has
// ended.
func (r *run) takeLeave(ctx context.Context) error {
	host := r.work.host
	if host == nil {
		return nil
	}
	r.work.host = nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leavePatience)
	defer cancel()
	carried := slices.DeleteFunc(slices.Clone(r.t.Variables),
		func(v record.Variable) bool { return v.File == "" })
	warnings, err := host.Leave(ctx, carried)
	if err != nil {
		return r.warnAndContinue(ctx, "what the cells leave behind is not known", err)
	}
	for _, w := range warnings {
		if err := r.Warn(w); err != nil {
			return err
		}
	}
	return nil
}

// shownVariables returns the variables that the model is shown, with descriptions for those
// nearest to the question while there is room, and the names of the others.
func (r *run) shownVariables(show ask.Sizes) (told []prompts.Variable, others string) {
	var texts []string
	var described []record.Variable
	var rest strings.Builder
	all := r.t.Variables
	if r.work.host == nil {
		all = r.t.Loaded("") // the session of a run that goes on elsewhere has no others
	}
	for _, v := range all {
		if v.Text != "" {
			described, texts = append(described, v), append(texts, v.Name+"\n"+v.Name+"\n"+v.Text)
		} else if v.Import == "" {
			fmt.Fprintf(&rest, "%s: %s\n", v.Name, v.Type)
		}
	}
	room, taken := show.Context/2, make([]bool, len(described))
	for _, n := range describe.ByWords(r.t.Task.Question, texts) {
		if taken[n] = len(described[n].Text) <= room; taken[n] {
			room -= len(described[n].Text)
		}
	}
	for n, v := range described {
		if taken[n] {
			told = append(told, prompts.Variable{Name: v.Name, Type: v.Type, Description: v.Text})
		} else {
			fmt.Fprintf(&rest, "%s: %s\n", v.Name, v.Type)
		}
	}
	return told, brief.Lines(rest.String(), show.Description/4)
}
