package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
)

// consent names the unsandboxed kernels that the run will use and asks the user to agree.
func (a *app) consent(ctx context.Context, j *job) error {
	at, agreed := j.site.About(), j.yes
	if at.Running != nil && a.host.Within(*at.Running) {
		if a.extension == 0 {
			return usage.New("a cell of the kernel "+at.Name+" has started this process: the run would "+
				"wait for the kernel, and the kernel for the cell",
				usage.Shell("%load_ext dsstar   # in a cell,"),
				usage.Shell("%%dsstar           # then this above the question, in another cell"))
		}
		agreed = agreed || !j.perhapsTheirs // the question was asked there
	}
	return a.agree(ctx, j.progress, agreed, at.Consent)
}

// agree shows what is to be agreed to, and asks the user. --yes agrees in advance.
func (a *app) agree(ctx context.Context, p *ui.Progress, yes bool, to site.Consent) error {
	if to.Lines == nil {
		return nil
	}
	p.Wait("")
	if yes {
		for _, line := range to.Lines {
			p.Say("%s", line)
		}
		return nil
	}
	if !a.stdinTTY || !a.stderrTTY {
		return usage.New(to.What+" needs --yes where nobody can be asked\n"+strings.Join(to.Lines, "\n"),
			usage.Again("--yes"))
	}
	for _, line := range to.Lines {
		fmt.Fprintln(a.stderr, "\r\x1b[K"+ui.Clean(line))
	}
	return a.ask(ctx, "         Go on? [y/N] ")
}

var errDeclined = errors.New("declined; nothing was run")

// ask asks a yes-or-no question; no is errDeclined.
func (a *app) ask(ctx context.Context, question string) error {
	answer, err := a.typed(ctx, question)
	answer = strings.ToLower(strings.TrimSpace(answer))
	if err == nil && answer != "y" && answer != "yes" {
		err = errDeclined
	}
	return err
}

// typed asks for a line on the terminal, which ends with a line break unless the input has ended. What
// was typed before the question is no answer to it.
func (a *app) typed(ctx context.Context, question string) (string, error) {
	if f, ok := a.stdin.(*os.File); ok {
		ui.DropInput(int(f.Fd()))
	}
	fmt.Fprint(a.stderr, question)
	answered := make(chan string, 1)
	go func() { // a read from a terminal cannot be cancelled; it ends with the program
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		answered <- line
	}()
	line := ""
	select {
	case line = <-answered:
	case <-ctx.Done():
	}
	if !strings.HasSuffix(line, "\n") { // Enter was not pressed
		fmt.Fprintln(a.stderr)
	}
	return line, ctx.Err()
}

// chooseReading returns a function that asks the user which option of a reading is meant, with the
// answers beside the options; nil if nobody can be asked. The recorded replies of a demo know of no
// choice.
func (a *app) chooseReading(j job) func(context.Context, record.Reading, string) (int, error) {
	if j.ask == "never" || j.json || j.quiet || j.shown || !a.stdinTTY || !a.stderrTTY {
		return nil
	}
	return func(ctx context.Context, r record.Reading, answer string) (int, error) {
		j.progress.Wait("")
		fmt.Fprintln(a.stderr, ui.Printable(r.Point))
		for i, o := range r.Options {
			gives := ui.Fit(r.Gives(i, answer), 200)
			fmt.Fprintf(a.stderr, "  %d  %s: %s\n", i+1, ui.Printable(o.Text), ui.Printable(gives))
		}
		line, err := a.typed(ctx, fmt.Sprintf("Which is meant? [1-%d, or Enter to leave it open] ",
			len(r.Options)))
		if n, numErr := strconv.Atoi(strings.TrimSpace(line)); err == nil && numErr == nil &&
			n >= 1 && n <= len(r.Options) {
			return n - 1, nil
		}
		return -1, err
	}
}

// choose records which option is meant. It is named by its number among those of all open readings
// of the last question, from 1, or, after the number of a question and a point, of that one: as
// --json does.
func choose(t *record.Trajectory, named string) error {
	all := chooseable(t)
	for _, c := range all {
		if c.name == named {
			return agent.Choose(t, c.question, c.reading, c.option)
		}
	}
	if len(all) == 0 && len(t.Edits()) > 0 {
		return &record.EditError{Problem: "the notebook was edited, and which readings change the answer is " +
			"not known until it is computed again"}
	}
	if len(all) == 0 {
		return usage.New("--choose: as far as is known, the answer depends on no open reading of the question",
			usage.Again().But("choose"))
	}
	return usage.New(fmt.Sprintf("--choose %s: the options are %s to %s", named, all[0].name, all[len(all)-1].name),
		usage.Again("--choose", all[0].name))
}

// A namedOption is an option of an open reading, by its question, reading and number, from 0.
type namedOption struct {
	name                      string // for --choose
	question, reading, option int
}

// chooseable returns the options of the open readings that change the last answer, or that of an
// earlier question: first those of the last one.
func chooseable(t *record.Trajectory) (all []namedOption) {
	for k, q := range slices.Backward(t.Questions) {
		n, of := 0, ""
		if k < t.Earlier() {
			of = fmt.Sprintf("%d.", k+1)
		}
		for i, r := range q.Readings {
			for option := range r.Options {
				if r.Open() && r.Matters() {
					n++
					all = append(all, namedOption{fmt.Sprintf("%s%d", of, n), k, i, option})
				}
			}
		}
	}
	return all
}
