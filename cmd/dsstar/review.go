package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
)

// mayReview rejects --review without a terminal.
func (a *app) mayReview(f runFlags) error {
	if !f.review || a.stdinTTY && a.stderrTTY {
		return nil
	}
	return usage.New("--review needs a terminal on standard input and standard error",
		usage.Without("review").Note("nobody is asked"))
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
	all      bool   // the user has accepted all further cells
	draft    string // the path of the user's text of this cell; "": none
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
	v.show(p)
	v.draft = ""
	for {
		line, err := v.app.typed(ctx, reviewPrompt)
		key := strings.ToLower(strings.TrimSpace(line))
		if line == "" || key == "s" {
			if v.draft != "" { // a resumed run asks about the model's cell again
				v.tell("         your text: " + ui.Clean(v.draft))
			}
			return agent.Decision{Choice: agent.Stop}, err
		}
		switch key {
		case "a", "l":
			v.all = key == "l"
			_ = os.Remove(v.draft) // best effort: it is a temporary file
			return accept(p), nil
		case "e":
			code, err := v.edit(ctx, p.Code)
			if err != nil {
				return agent.Decision{}, err
			}
			if code != p.Code {
				p.Code = code
				v.show(p)
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
         e  edit the cell, and be asked again
         r  ` + rejected + `
         l  this cell and all others run without a question
         s  the run ends here; dsstar resume goes on with it`
}

// tell writes a line, even with --quiet.
func (v *reviewer) tell(text string) { fmt.Fprintln(v.app.stderr, text) }
