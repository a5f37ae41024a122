package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

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
