package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/tables"
	"dsstar/cmd/dsstar/internal/term"
)

// A benchScores is the object that bench score prints with --json. Its fields are a
// contract: see docs/benchmarks.md.
type benchScores struct {
	Bench    string        `json:"bench"`
	Compat   string        `json:"compat"`
	Repeat   int           `json:"repeat"` // how often each task was run: scores and totals are means
	Score    *tables.Value `json:"score"`  // per cent; null: nothing can be scored
	Tasks    []taskScore   `json:"tasks"`
	Totals   []bench.Total `json:"totals"`   // as the benchmark sums up
	Unscored int           `json:"unscored"` // tasks whose right answers are not public, or missing, or whose scorer failed
	Missing  []string      `json:"missing"`  // what the copy of the benchmark lacks for scoring, as the ends of paths
	Unknown  []string      `json:"unknown"`  // ids that are answered and are no task's
	Nameless int           `json:"nameless"` // answers without an id

	failed map[string]string // why tasks have no score that could have one, by id
}

type taskScore struct {
	ID      string             `json:"task_id"`
	Score   *float64           `json:"score"` // 0 to 1; null: it cannot be scored
	Level   string             `json:"level,omitempty"`
	Domain  string             `json:"domain,omitempty"`
	Metric  string             `json:"metric,omitempty"`
	Parts   map[string]float64 `json:"parts,omitempty"`
	Missing bool               `json:"missing"` // there is no answer, or it is not finished
	Detail  string             `json:"detail,omitempty"`

	Uncounted bool `json:"uncounted,omitempty"` // the benchmark leaves it out of its total
}

// meanScores are the scores of repeats as one: a task's is the mean of its own.
func meanScores(all []benchScores) benchScores {
	mean := all[0]
	if mean.Repeat = len(all); len(all) == 1 {
		return mean
	}
	mean.Tasks, mean.Totals, mean.Unscored, mean.failed = slices.Clone(mean.Tasks), slices.Clone(mean.Totals), 0, nil
	var values []float64
	for i := range mean.Tasks {
		t := &mean.Tasks[i]
		sum, n, parts := 0.0, 0.0, map[string]float64{}
		for _, one := range all {
			u := one.Tasks[i]
			t.Missing, t.Detail = t.Missing || u.Missing, cmp.Or(t.Detail, u.Detail)
			if u.Score == nil { // of this repeat
				if why := one.failed[u.ID]; why != "" {
					mean.fails(u.ID, why)
				}
				continue
			}
			sum, n = sum+*u.Score, n+1
			t.Metric, t.Uncounted = cmp.Or(t.Metric, u.Metric), t.Uncounted || u.Uncounted
			for name, value := range u.Parts {
				parts[name] += value
			}
		}
		if n == 0 {
			mean.Unscored++
			continue
		}
		value := sum / n
		for name := range parts {
			parts[name] /= n
		}
		t.Score, t.Parts = &value, parts
		if !t.Uncounted {
			values = append(values, value)
		}
	}
	mean.Score = tables.Share(values)
	for i := range mean.Totals {
		t := &mean.Totals[i]
		sum, found := 0.0, 0.0
		for _, one := range all {
			for _, u := range one.Totals {
				if u.Group == t.Group && u.Name == t.Name {
					sum, found = sum+u.Value, found+1
				}
			}
		}
		t.Value = sum / found
	}
	return mean
}

// fails notes that what scores a task has failed.
func (b *benchScores) fails(id, why string) {
	if b.failed == nil {
		b.failed = map[string]string{}
	}
	b.failed[id] = strings.ReplaceAll(why, "\n", " ")
}

// lacks notes what is not there of the suite, and returns why tasks that have no
// score have none, by id.
func (b *benchScores) lacks(suite *bench.Suite) map[string]string {
	hidden, data := map[string]string{}, map[string]bool{}
	for _, t := range suite.Tasks {
		why, missing := t.Unscorable()
		for i, what := range missing {
			missing[i] = pathEnd(what)
		}
		if len(missing) > 0 {
			why += ": " + someOf(missing, 3)
		}
		if why != "" {
			hidden[t.ID] = why
		}
		b.Missing = append(b.Missing, missing...)
		for _, what := range t.Missing {
			data[what] = true
		}
	}
	for _, what := range suite.Missing {
		if !data[what] { // data are not needed here
			b.Missing = append(b.Missing, pathEnd(what))
		}
	}
	return hidden
}

// pathEnd is the end of a long path, which tells where in a benchmark it is.
func pathEnd(path string) string {
	const shown = 3
	parts := strings.Split(filepath.ToSlash(path), "/")
	if len(parts) <= shown+1 {
		return path
	}
	return "…/" + strings.Join(parts[len(parts)-shown:], "/")
}

func (b *benchScores) fill(suite *bench.Suite, scores []bench.Score, hidden map[string]string) {
	of := map[string]bench.Score{}
	for _, s := range scores {
		if s.Unscored != "" {
			b.fails(s.ID, s.Unscored)
		} else {
			of[s.ID] = s
		}
	}
	var values []float64
	for _, t := range suite.Tasks {
		one := taskScore{ID: t.ID, Level: t.Level, Domain: t.Domain}
		if s, ok := of[t.ID]; ok {
			if !s.Uncounted {
				values = append(values, s.Value)
			}
			one.Score, one.Metric, one.Parts, one.Missing, one.Detail, one.Uncounted = &s.Value, s.Metric, s.Parts, s.Missing, s.Detail, s.Uncounted
		} else {
			b.Unscored++
			one.Detail = cmp.Or(hidden[t.ID], term.Fit(b.failed[t.ID], 300))
		}
		b.Tasks = append(b.Tasks, one)
	}
	b.Score = tables.Share(values)
}

// strange notes answers that are to none of the tasks.
func (b *benchScores) strange(answers []bench.Answer) {
	for _, a := range answers {
		switch {
		case a.ID == "":
			b.Nameless++
		case !slices.Contains(b.Unknown, a.ID):
			b.Unknown = append(b.Unknown, a.ID)
		}
	}
}

// warnings are what was left out, one line each.
func (b benchScores) warnings() []string {
	var all []string
	if len(b.Missing) > 0 {
		all = append(all, "missing in this copy of the benchmark: "+someOf(b.Missing, 5))
	}
	if len(b.Unknown) > 0 {
		all = append(all, "left out are answers to tasks that are not there: "+someOf(b.Unknown, 5))
	}
	if b.Nameless > 0 {
		all = append(all, fmt.Sprintf("left out are answers without a task_id: %d", b.Nameless))
	}
	if len(b.failed) > 0 {
		var each []string
		for _, id := range slices.Sorted(maps.Keys(b.failed)) {
			each = append(each, id+" ("+term.Fit(b.failed[id], 200)+")")
		}
		all = append(all, "could not be scored, and are left out: "+someOf(each, 3))
	}
	return all
}

// text is the scores for people: the sums, and what is not right.
func (b benchScores) text() string {
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
		if t.Score == nil && b.failed[t.ID] != "" {
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
