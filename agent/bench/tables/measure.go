// Package tables shows recorded benchmark runs as Markdown: the papers' tables with published
// figures beside ours, and comparisons of two runs. The same records give the same bytes, also in a
// replay: only comparisons have seconds.
package tables

import (
	"maps"
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
)

// A choice selects tasks; nil selects all.
type choice func(runner.Item) bool

// figures returns the figures of a record, which columns of published.csv name: money in US
// dollars. It leaves out what the record does not have.
func figures(r runner.Record) map[string]float64 {
	all := map[string]float64{}
	maps.Copy(all, r.Scores) // CS and CR are among them, if anything computes them
	maps.Copy(all, map[string]float64{
		"completion": share[r.Finished], "one round": share[r.Rounds == 1],
		"more rounds": share[r.Rounds > 1], "rounds": float64(r.Rounds),
		"repairs": float64(r.DebugTries), "calls": float64(r.Usage.Calls),
		"input tokens": float64(r.Usage.InputTokens), "output tokens": float64(r.Usage.OutputTokens),
		"tokens":  float64(r.Usage.InputTokens + r.Usage.OutputTokens),
		"seconds": r.Seconds.Total, "executions": float64(r.Executions), "failed": float64(r.Failed),
	})
	delete(all, "cost")
	delete(all, "score")
	if r.Cost != nil {
		all["cost"] = *r.Cost
	}
	if r.Score != nil && !r.Uncounted {
		all["score"] = *r.Score
	}
	return all
}

var share = map[bool]float64{true: 1}

// Score returns the mean score of a run in per cent, with its interval, or nil if no record has
// one, because the right answers are then not public.
func Score(r runner.Result) *bench.Value { return measured(r, "score", nil) }

// measured returns a figure of the chosen tasks of a run, as the mean over those all of whose
// records have it; nil if no record has it. Shares are in per cent. Tasks and repeats without a
// record have no score and are not complete; for other figures they do not count.
func measured(r runner.Result, name string, chosen choice) *bench.Value {
	switch name {
	case "total cost": // of running all tasks once, if that of each is known
		v := measured(r, "cost", chosen)
		if v == nil || v.N < len(byTask(r, chosen)) {
			return nil
		}
		return &bench.Value{Value: v.Value * float64(v.N), N: v.N}
	case "executable": // the share of executions without an error
		all, failed := measured(r, "executions", chosen), measured(r, "failed", chosen)
		if all == nil || all.Value == 0 {
			return nil
		}
		return &bench.Value{Value: 100 - 100*failed.Value/all.Value, N: all.N}
	}
	has := func(r runner.Record) bool { _, ok := figures(r)[name]; return ok }
	if !slices.ContainsFunc(r.Records, has) {
		return nil
	}
	var values []float64
	for _, t := range byTask(r, chosen) {
		repeats := len(t.records)
		if name == "score" || name == "completion" {
			repeats = max(1, r.Repeat)
		}
		if v, ok := t.mean(name, repeats); ok {
			values = append(values, v)
		}
	}
	if slices.Contains([]string{"score", "completion", "one round", "more rounds"}, name) {
		return bench.Share(values)
	}
	return bench.Mean(values)
}

// A taskRecords holds the records of one task, one for each repeat that has a result.
type taskRecords struct {
	runner.Item
	records []runner.Record
}

// mean returns the mean of a figure over all repeats; those without a record count as 0. ok is
// false if a record does not have the figure.
func (t taskRecords) mean(name string, repeats int) (mean float64, ok bool) {
	for _, record := range t.records {
		v, has := figures(record)[name]
		if !has {
			return 0, false
		}
		mean += v
	}
	return mean / float64(repeats), repeats > 0
}

// byTask returns the chosen tasks of a run, in order.
func byTask(r runner.Result, chosen choice) (all []taskRecords) {
	of := map[string][]runner.Record{}
	for _, record := range r.Records {
		of[record.Task] = append(of[record.Task], record)
	}
	for _, item := range r.Items {
		if chosen == nil || chosen(item) {
			all = append(all, taskRecords{item, of[item.ID]})
		}
	}
	return all
}

// chosenBy selects the tasks whose level or domain is one of names; a name that ends in * is a
// beginning. Case, spaces and hyphens are ignored, because papers and data sets differ in them.
func chosenBy(by string, names []string) choice {
	if by == "" {
		return nil
	}
	return func(i runner.Item) bool {
		of := plain(map[string]string{"level": i.Level, "domain": i.Domain}[by])
		return slices.ContainsFunc(names, func(name string) bool {
			begin, is := strings.CutSuffix(name, "*")
			return of == plain(name) || is && strings.HasPrefix(of, plain(begin))
		})
	}
}

// plain returns the lower-case letters and digits of a name.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}
