package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
)

// chooseReading returns a function that asks the user which option of a reading is meant, with the
// answers beside the options; nil if nobody can be asked. The recorded replies of a demo know of no
// choice.
func (a *app) chooseReading(j job) func(context.Context, record.Reading, string) (int, error) {
	if !a.canAsk(j) {
		return nil
	}
	return func(ctx context.Context, r record.Reading, answer string) (int, error) {
		j.progress.Wait("")
		fmt.Fprintln(a.stderr, term.Printable(r.Point))
		for i, o := range r.Options {
			if i == r.Chosen {
				o.Answer = answer
			}
			fmt.Fprintf(a.stderr, "  %d  %s: %s\n", i+1, term.Printable(o.Text),
				term.Printable(term.Fit(o.Answer, 200)))
		}
		return a.number(ctx, fmt.Sprintf("Which is meant? [1-%d, or Enter to leave it open] ",
			len(r.Options)), len(r.Options))
	}
}

// canAsk reports whether a person can be asked what the question or a cell means.
func (a *app) canAsk(j job) bool {
	return j.ask != "never" && !j.json && !j.quiet && !j.shown && a.stdinTTY && a.stderrTTY
}

// insist returns a function that asks the user what becomes of a cell of theirs that is found wrong;
// nil if nobody can be asked.
func (a *app) insist(j job) func(context.Context, int, string) (agent.Choice, error) {
	if !a.canAsk(j) {
		return nil
	}
	return func(ctx context.Context, step int, reason string) (agent.Choice, error) {
		j.progress.Wait("")
		fmt.Fprintf(a.stderr, "Your cell of step %d is found wrong: %s\n  1  it is meant as it is\n"+
			"  2  drop it, and the steps after it\n", step, term.Printable(reason))
		n, err := a.number(ctx, "Which? [1-2, or Enter to leave it, not verified] ", 2)
		return []agent.Choice{"", agent.Accept, agent.Reject}[n+1], err
	}
}

// choose records that option n is meant. The options of all open readings are numbered from 1, as
// --json lists them.
func choose(t *record.Trajectory, n int) error {
	options := 0
	for i, r := range t.Readings {
		if !r.Open() || !r.Matters() {
			continue
		}
		if n > options && n <= options+len(r.Options) {
			agent.Choose(t, i, n-options-1)
			return nil
		}
		options += len(r.Options)
	}
	if options == 0 {
		return usage.New("--choose: the answer depends on no open reading of the question",
			usage.Shell("dsstar resume --help"))
	}
	return usage.New(fmt.Sprintf("--choose %d: the options are 1 to %d", n, options),
		usage.Again("--choose", "2"))
}

// number asks for a number from 1 to most and returns it less one. Anything else is -1.
func (a *app) number(ctx context.Context, question string, most int) (int, error) {
	fmt.Fprint(a.stderr, question)
	answered := make(chan string, 1)
	go func() { // a read from a terminal cannot be cancelled; it ends with the program
		line, _ := bufio.NewReader(a.stdin).ReadString('\n')
		answered <- strings.TrimSpace(line)
	}()
	select {
	case answer := <-answered:
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= most {
			return n - 1, nil
		}
		return -1, nil
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return -1, ctx.Err()
	}
}
