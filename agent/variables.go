package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

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
	// ready for a session that has none of them, and returns it. Names that the cells before it bind
	// are not the user's, and known are variables that need not be carried.
	Carry(ctx context.Context, code string, before []string, known []record.Variable) ([]record.Variable, error)
	// Leave is called once, after the last cell. It returns what the user should
	// know about what the cells leave behind.
	Leave(ctx context.Context, known []record.Variable) (warnings []string, err error)
}

// meet has the variables of the user's session described.
func (r *run) meet(ctx context.Context) error {
	if err := r.work.open(ctx); err != nil {
		return err
	}
	if r.work.host, _ = r.work.session.(Host); r.work.host == nil {
		return nil
	}
	r.work.own = rand.Text() // what it gives is not what its cells alone give
	stop := r.kernel.Start()
	all, err := r.work.host.Variables(ctx)
	stop()
	if err != nil {
		return r.warnAndContinue(ctx, "the variables of the session are not described", err)
	}
	var names []string
	for i, v := range all { // those that the run had read stay as they were
		names = append(names, v.Name)
		r.asker.Mask.Learn(v.Text) // a cell may print what is not shown
		n := named(r.t.Variables, v.Name)
		if n < 0 || !r.t.Variables[n].Known() {
			continue
		}
		if all[i] = r.t.Variables[n]; all[i].Text != v.Text {
			return &record.EditError{Problem: fmt.Sprintf("the variable %s of the session is not what "+
				"it was when cells of this run read it: ask in a new run", v.Name)}
		}
	}
	if r.t.Variables = all; len(all) == 0 {
		return nil
	}
	if len(r.t.Task.Mask) > 0 {
		return &describe.MaskError{Reason: "the session has variables, whose columns are not looked into: " +
			strings.Join(names, ", ")}
	}
	return r.observe(Event{Kind: Met, Text: strings.Join(names, ", ")})
}

// named returns the index of a variable, or -1.
func named(all []record.Variable, name string) int {
	return slices.IndexFunc(all, func(v record.Variable) bool { return v.Name == name })
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
	known := slices.DeleteFunc(slices.Clone(r.run.t.Variables), func(v record.Variable) bool { return !v.Known() })
	carried, err := r.host.Carry(ctx, code, slices.Clone(r.at), known)
	if err != nil {
		return r.run.warnAndContinue(ctx, "what the cell reads of the session's variables is not carried "+
			"to a fresh session", err)
	}
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	all := slices.Clone(r.run.t.Variables) // whoever has the trajectory may still read the old ones
	for _, v := range carried {
		if i := named(all, v.Name); i >= 0 {
			v.Text = all[i].Text
			all[i] = v
		} else {
			all = append(all, v)
		}
	}
	r.run.t.Variables = all
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
	warnings, err := host.Leave(ctx, r.t.Variables)
	if err != nil {
		return r.warnAndContinue(ctx, "what the cells leave behind is not known", err)
	}
	for _, w := range warnings {
		err = cmp.Or(err, r.Warn(w))
	}
	return err
}

// shownVariables returns the variables that the model is shown, with descriptions while there is room,
// and the names of the others.
func (r *run) shownVariables(show record.Sizes) (told []prompts.Variable, others string) {
	all, room := r.t.Variables, show.Context/2
	if r.work.host == nil {
		all = r.t.Loaded() // the session of a run that goes on elsewhere has no others
	}
	for _, v := range all {
		if size := len(v.Text); size > 0 && size <= room {
			told, room = append(told, prompts.Variable{Name: v.Name, Type: v.Type, Description: v.Text}), room-size
		} else if size > 0 || v.Import == "" {
			others += v.Name + ": " + v.Type + "\n"
		}
	}
	return told, brief.Clip(others, show.Description/4)
}
