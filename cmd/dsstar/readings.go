package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/term"
)

// chooseReading returns a function that asks the user which option of a reading is meant, with the
// answers beside the options; nil if nobody can be asked. The recorded replies of a demo know of no
// choice.
func (a *app) chooseReading(j job) func(context.Context, record.Reading, string) (int, error) {
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
