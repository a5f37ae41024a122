package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"dsstar/agent/describe"
	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/human"
)

// consent names the unsandboxed kernels that the run will use and asks the user to agree.
func (a *app) consent(ctx context.Context, j *job) error {
	lines, what, question := j.place.NotOurs()
	if lines == nil {
		return nil
	}
	if g := j.place.Guest; g != nil {
		g.MayDrop(j.yes)
	}
	return a.agree(ctx, j.progress, j.yes, lines, what, question)
}

// agree shows lines and asks the user to agree. --yes agrees in advance.
func (a *app) agree(ctx context.Context, p *progress.Progress, yes bool, lines []string,
	what, question string) error {
	p.Wait("")
	if yes {
		for _, line := range lines {
			p.Say("%s", line)
		}
		return nil
	}
	if !a.stdinTTY || !a.stderrTTY {
		return usage.New(what+" needs --yes where nobody can be asked\n"+strings.Join(lines, "\n"),
			usage.Again("--yes"))
	}
	for _, line := range lines {
		fmt.Fprintln(a.stderr, "\r\x1b[K"+term.Clean(line))
	}
	return a.ask(ctx, question)
}

var errDeclined = errors.New("declined; nothing was run")

// ask asks a yes-or-no question; no is errDeclined.
func (a *app) ask(ctx context.Context, question string) error {
	fmt.Fprint(a.stderr, question)
	answered := make(chan string, 1)
	go func() { // a read from a terminal cannot be cancelled; it ends with the program
		// at the end of input, what was read is the answer
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
		return errDeclined
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return ctx.Err()
	}
}

// A priceError is an estimate above ask_above_tokens when nobody can be asked.
type priceError struct{ text string }

func (e *priceError) Error() string { return e.text }

// anyPrice is the hint to continue without asking about the cost.
var anyPrice = usage.Again("--ask-above-tokens", "0")

// afford returns a function that reports the estimated cost of describing the files, and asks the
// user if it exceeds the setting.
func (a *app) afford(j job) func(context.Context, describe.Estimate) error {
	return func(ctx context.Context, e describe.Estimate) error {
		cost := ""
		if e.Cost != nil {
			cost = fmt.Sprintf(", %.2f US dollars", *e.Cost)
		}
		what, question, rest := "describing "+
			human.Plural(e.Files, "file"), "Describe them?", "the rounds come on top"
		if e.Ranking {
			what, question, rest = "ranking "+human.Plural(e.Files, "file")+
				" by the embedding model", "Rank them?", "descriptions and rounds come on top"
		}
		about := fmt.Sprintf("%s: %s with about %s input tokens%s", what,
			human.Plural(e.Calls, "model call"), human.Count(e.InputTokens), cost)
		most := j.settings.AskAboveTokens
		if most == 0 || e.InputTokens <= most || j.yes {
			j.progress.Say("estimate %s; %s", about, rest)
			return nil
		}
		lines := []string{"estimate " + about,
			fmt.Sprintf("         That exceeds ask_above_tokens (%s). A folder with fewer files "+
				"takes fewer tokens.", human.Count(most))}
		if !a.stdinTTY || !a.stderrTTY {
			text := what + " takes more than ask_above_tokens, and nobody can be asked: " +
				"--ask-above-tokens 0 goes on without asking\n" + strings.Join(lines, "\n")
			return &priceError{text}
		}
		defer j.progress.Wait(progress.DescribingFiles)
		return a.agree(ctx, j.progress, false, lines, "", "         "+question+" [y/N] ")
	}
}
