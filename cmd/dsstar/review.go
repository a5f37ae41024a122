package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	tty "golang.org/x/term"

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

// show shows all of a proposal.
func (v *reviewer) show(p agent.Proposal) {
	what := "the last cell"
	if p.Step > 0 {
		what = fmt.Sprintf("step %d", p.Step)
	}
	columns, _ := v.app.size()
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

// edit lets the user edit a cell. If that fails or changes nothing, it says so and returns the code
// unchanged. The error is that of ctx.
func (v *reviewer) edit(ctx context.Context, code string) (string, error) {
	editor := strings.TrimSpace(cmp.Or(v.app.host.Getenv("VISUAL"), v.app.host.Getenv("EDITOR"), "vi"))
	var err error
	if v.draft == "" {
		v.draft, err = writeDraft(code)
	}
	var text string
	if err == nil {
		text, err = v.app.edited(ctx, editor, v.draft)
	}
	if err != nil { // an editor that failed may have saved the text
		v.tell(fmt.Sprintf("         %s; the cell is as it was\n         your text: %s",
			ui.Clean(err.Error()), ui.Clean(v.draft)))
		return code, ctx.Err()
	}
	switch text = tidy(text); {
	case !utf8.ValidString(text):
		v.tell("         what you wrote is not text in UTF-8; the cell is as it was")
	case text == "":
		v.tell("         the cell is empty; it is as it was")
	case text == tidy(code):
		v.tell("         nothing has changed")
	default:
		return text, nil
	}
	return code, nil
}

// writeDraft writes a cell to a temporary file for an editor.
func writeDraft(code string) (path string, err error) {
	f, err := os.CreateTemp("", "dsstar-review-*.py")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(code + "\n")
	return f.Name(), errors.Join(err, f.Close())
}

var lineEnd = regexp.MustCompile("\r+\n")

// tidy removes white space that editors add; it changes nothing of a text that it has tidied.
func tidy(text string) string {
	text = strings.TrimLeft(lineEnd.ReplaceAllString(text, "\n"), "\ufeff")
	return strings.TrimRight(text, " \t\n")
}

// edited runs the editor on a file, on the user's terminal, and returns the edited text. The
// editor may have arguments, as in code --wait. Ctrl-C goes to the editor. The terminal's mode
// is restored.
func (a *app) edited(ctx context.Context, editor, path string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, editor, path)
	if whole, err := exec.LookPath(editor); err == nil { // a path with spaces
		cmd = exec.CommandContext(ctx, whole, path)
	}
	cmd.Env = a.host.Env
	// stdout may be a file, so stderr is the terminal.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, ui.Unwrapped(a.stderr), ui.Unwrapped(a.stderr)
	// SIGTERM first, on which most editors save the text.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if f, ok := a.stdin.(*os.File); ok {
		if was, err := tty.GetState(int(f.Fd())); err == nil {
			defer tty.Restore(int(f.Fd()), was)
		}
	}
	a.editors.Store(math.MaxInt64)
	// A Ctrl-C that ended the editor may arrive here only afterwards.
	defer func() { a.editors.Store(time.Now().Add(time.Second).UnixNano()) }()
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %s: %w", editor, err)
	}
	text, err := disk.ReadFile(path, disk.MaxDocument)
	if err != nil {
		return "", fmt.Errorf("read the edited text: %w", err)
	}
	return string(text), nil
}
