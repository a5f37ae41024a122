package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/trial"
	"dsstar/cmd/dsstar/internal/term"
)

// scoreWarnings tells what was left out, in one line each.
func scoreWarnings(b trial.Scores) []string {
	var all []string
	if len(b.Missing) > 0 {
		all = append(all, "missing in this copy of the benchmark: "+bench.Some(b.Missing, 5))
	}
	if len(b.Unknown) > 0 {
		all = append(all, "left out are answers to tasks that are not there: "+bench.Some(b.Unknown, 5))
	}
	if b.Nameless > 0 {
		all = append(all, fmt.Sprintf("answers without a task_id are left out: %d", b.Nameless))
	}
	if len(b.Failed) > 0 {
		var each []string
		for _, id := range slices.Sorted(maps.Keys(b.Failed)) {
			each = append(each, id+" ("+term.Fit(b.Failed[id], 200)+")")
		}
		all = append(all, "could not be scored, and are left out: "+bench.Some(each, 3))
	}
	return all
}

// scoresText is the scores for people: the totals, and what is not right.
func scoresText(b trial.Scores) string {
	var out strings.Builder
	if b.Repeat > 1 {
		fmt.Fprintf(&out, "means of %d runs of each task\n", b.Repeat)
	}
	for _, t := range b.Totals {
		name := t.Name
		if t.Group != "" {
			name = t.Group + " " + t.Name
		}
		fmt.Fprintf(&out, "%-28s %7.2f  (n %d)\n", name, t.Value, t.N)
	}
	if b.Score != nil {
		fmt.Fprintf(&out, "mean score %.2f %%, 95 %% interval %.1f to %.1f, by the rules of %s (%s)\n", b.Score.Value, *b.Score.Low, *b.Score.High, b.Bench, b.Compat)
	}
	failed := 0
	for _, t := range b.Tasks {
		if t.Score == nil && b.Failed[t.ID] != "" {
			failed++
		}
	}
	if n := b.Unscored - failed; n > 0 {
		fmt.Fprintf(&out, "%d tasks have no score: their right answers are not public, or missing\n", n)
	}
	if failed > 0 {
		fmt.Fprintf(&out, "%d tasks have no score: what scores them has failed\n", failed)
	}
	for _, t := range b.Tasks {
		if t.Score != nil && *t.Score < 1 {
			fmt.Fprintf(&out, "%-28s %7.2f  %s\n", t.ID, 100**t.Score, term.Printable(t.Detail))
		}
	}
	return out.String()
}
