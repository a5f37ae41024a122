package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
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
			if code := v.edit(ctx, p.Code); code != p.Code {
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

// show shows all of a proposal.
func (v *reviewer) show(p agent.Proposal) {
	what := "the last cell"
	if p.Step > 0 {
		what = fmt.Sprintf("step %d", p.Step)
	}
	columns, _ := ui.Size(v.app.stderr)
	v.paragraph(ui.Strong, fmt.Sprintf("%-*s%s: %s", ui.Margin, "review", what, ui.Clean(p.Text)), columns)
	if p.Error != "" {
		v.paragraph(ui.Bad, fmt.Sprintf("%-*s%s", ui.Margin, "after", ui.Clean(p.Error)), columns)
	}
	for line := range strings.SplitSeq(p.Code, "\n") {
		for _, row := range rows(line, columns-1) {
			v.tell(row)
		}
	}
}

func (v *reviewer) paragraph(style ui.Style, text string, columns int) {
	for i, line := range ui.Wrap(text, columns-1, len(text)+1) {
		v.tell(style.Paint(line, v.colours && i == 0))
	}
}

// rows wraps a line of code into rows of the terminal. Those that go on are marked, so that one
// line never looks like two.
func rows(line string, columns int) (all []string) {
	frame := strings.Repeat(" ", ui.Margin) + "│ "
	for rest := revealed(line); ; {
		head, more := ui.Split(rest, max(1, columns-ui.Width(frame)))
		all = append(all, strings.TrimRight(frame+head, " "))
		if more == "" {
			return all
		}
		frame, rest = strings.Replace(frame, "│", "┊", 1), more
	}
}

// revealed returns code with control and invisible characters shown as escapes.
func revealed(code string) string {
	var b strings.Builder
	marks := 0
	for _, r := range code {
		if !unicode.Is(unicode.M, r) {
			marks = 0
		} else {
			marks++
		}
		switch {
		case r == '\t':
			b.WriteString("    ")
		case unicode.IsPrint(r) && marks <= ui.MaxMarks:
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteToASCII(string(r)), `"`))
		}
	}
	return b.String()
}

// edit returns a cell as the user leaves it in a file, with any editor. If that is no cell, it says why
// and returns the cell as it was.
func (v *reviewer) edit(ctx context.Context, code string) string {
	text, err := v.edited(ctx, code)
	switch {
	case err == nil && !utf8.ValidString(text):
		err = errors.New("that is not text in UTF-8")
	case err == nil && text == "":
		err = errors.New("the cell is empty")
	}
	if err != nil {
		v.tell(fmt.Sprintf("         %s; the cell is as it was", ui.Clean(err.Error())))
		return code
	}
	return text
}

var lineEnd = regexp.MustCompile("\r+\n")

// edited writes a text to a temporary file, and returns it when the user has edited it. White space that
// editors add is left out.
func (v *reviewer) edited(ctx context.Context, text string) (string, error) {
	if v.draft == "" {
		f, err := os.CreateTemp("", "dsstar-review-*.py")
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(text + "\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
		v.draft = f.Name()
	}
	if _, err := v.app.typed(ctx, "         edit "+ui.Clean(v.draft)+", then press Enter "); err != nil {
		return "", err
	}
	data, err := disk.ReadFile(v.draft, disk.MaxDocument)
	text = strings.TrimLeft(lineEnd.ReplaceAllString(string(data), "\n"), "\ufeff")
	return strings.TrimRight(text, " \t\n"), err
}
