package main

import (
	"context"
	"fmt"
	"strings"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
)

// mayReview rejects --review without a terminal.
func (a *app) mayReview(f runFlags) error {
	what := "standard input is not one"
	switch {
	case !f.review || a.stdinTTY && a.stderrTTY:
		return nil
	case !a.stdinTTY && !a.stderrTTY:
		what = "neither standard input nor standard error is one"
	case a.stdinTTY:
		what = "standard error is not one"
	}
	text := fmt.Sprintf("--review needs a terminal: %s", what)
	return usage.New(text, usage.Without("review").Note("nobody is asked"))
}

// review returns the function that asks the user about each cell, or nil without --review.
func (a *app) review(j job) func(context.Context, agent.Proposal) (agent.Decision, error) {
	if !j.review {
		return nil
	}
	v := &reviewer{app: a, progress: j.progress, colours: j.progress.Colours()}
	j.progress.Reviewed(func() bool { return !v.all })
	return v.review
}

// A reviewer asks the user about the cells of a run.
type reviewer struct {
	app      *app
	progress *ui.Progress
	colours  bool
	all      bool // the user has accepted all further cells
}

const reviewPrompt = "         [a]ccept  [e]dit  [r]eject  accept a[l]l  [s]top  ? "

// review shows a cell and asks until there is a decision. Enter alone decides nothing. At the end of
// input the run stops.
func (v *reviewer) review(ctx context.Context, p agent.Proposal) (agent.Decision, error) {
	if v.all {
		d := accept(p)
		d.Unseen = true
		return d, nil
	}
	v.progress.Wait("") // remove the view
	v.show(p, p.Failed)
	asked := p
	for {
		line, err := v.app.typed(ctx, reviewPrompt)
		key := strings.ToLower(strings.TrimSpace(line))
		if line == "" || key == "s" {
			v.keep(p, asked)
			return agent.Decision{Choice: agent.Stop}, err
		}
		switch key {
		case "a", "l":
			v.all = key == "l"
			return accept(p), nil
		case "e":
			edited, err := v.edit(ctx, p)
			if err != nil {
				return agent.Decision{}, err
			}
			if edited != p {
				p = edited
				v.show(p, asked.Code)
			}
		case "r":
			reason, err := v.app.typed(ctx, "         reason (none: back to the question): ")
			if err != nil {
				return agent.Decision{}, err
			}
			if reason = strings.TrimSpace(ui.Clean(reason)); reason != "" {
				return agent.Decision{Choice: agent.Reject, Reason: reason}, nil
			}
		default:
			v.tell(reviewHelp(p))
		}
	}
}

func accept(p agent.Proposal) agent.Decision {
	return agent.Decision{Choice: agent.Accept, Text: p.Text, Code: p.Code}
}

func reviewHelp(p agent.Proposal) string {
	rejected := "it does not run: the step is dropped, and the solver reads your reason"
	if p.Step == 0 {
		rejected = "it does not run: another one is written by your reason"
	}
	return `         a  the cell runs as it stands here
         e  edit the step and its cell, and be asked again
         r  ` + rejected + `
         l  this cell and all others run without a question
         s  the run ends here; dsstar resume goes on with it`
}

// tell writes a line, even with --quiet.
func (v *reviewer) tell(text string) { fmt.Fprintln(v.app.stderr, text) }
