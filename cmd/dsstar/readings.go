package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
)

// chooseReading returns a function that asks the user which option of a reading is meant, with the
// answers beside the options; nil if nobody can be asked. The recorded replies of a demo know of no
// choice.
func (a *app) chooseReading(j job) func(context.Context, record.Reading, string) (int, error) {
	if j.chosen != nil {
		return func(_ context.Context, r record.Reading, _ string) (int, error) {
			if r.Point == j.chosen.Point {
				return j.chosen.Chosen, nil
			}
			return -1, nil
		}
	}
	if j.ask == "never" || j.json || j.quiet || j.shown || !a.stdinTTY || !a.stderrTTY {
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

// chosenReading returns the reading of which option n is meant, with that as its chosen one. The
// options of all open readings are numbered from 1, as --json lists them.
func chosenReading(t *record.Trajectory, n int) (*record.Reading, error) {
	all := t.OpenReadings()
	if len(all) == 0 {
		return nil, usage.New("--choose: the answer depends on no open reading of the question",
			usage.Shell("dsstar resume --help"))
	}
	options := 0
	for _, r := range all {
		if before := options; n > before && n <= before+len(r.Options) {
			r.Chosen = n - before - 1
			return &r, nil
		}
		options += len(r.Options)
	}
	return nil, usage.New(fmt.Sprintf("--choose %d: the options are 1 to %d", n, options),
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
