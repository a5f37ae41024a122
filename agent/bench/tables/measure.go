// Package tables presents recorded benchmark runs as Markdown: the papers' tables with published
// figures beside ours, and comparisons of two runs. The same records give the same bytes, also in a
// replay: only comparisons have seconds.
package tables

import (
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
)

// A choice selects tasks; nil selects all.
type choice func(runner.Item) bool

// A figure is one of a record; ok is false if the record does not have it.
type figure func(runner.Record) (v float64, ok bool)

// A measure computes a figure of the chosen tasks of a run: money in US dollars, all figures a task.
type measure struct {
	of    figure
	share bool // in per cent, with its interval
	all   bool // tasks and repeats without a record count as 0
}

// measures are those that columns of published.csv name, besides total cost and executable.
var measures = map[string]measure{
	"score":         {score, true, true},
	"completion":    {is(func(r runner.Record) bool { return r.Finished }), true, true},
	"one round":     {is(func(r runner.Record) bool { return r.Rounds == 1 }), true, false},
	"more rounds":   {is(func(r runner.Record) bool { return r.Rounds > 1 }), true, false},
	"cost":          {of: cost},
	"calls":         {of: number(func(r runner.Record) int { return r.Usage.Calls })},
	"input tokens":  {of: number(func(r runner.Record) int { return r.Usage.InputTokens })},
	"output tokens": {of: number(func(r runner.Record) int { return r.Usage.OutputTokens })},
	"tokens":        {of: number(func(r runner.Record) int { return r.Usage.InputTokens + r.Usage.OutputTokens })},
	"seconds":       {of: func(r runner.Record) (float64, bool) { return r.Seconds.Total, true }},
	"rounds":        {of: number(func(r runner.Record) int { return r.Rounds })},
	"repairs":       {of: number(func(r runner.Record) int { return r.DebugTries })},
	"CS":            {of: func(r runner.Record) (float64, bool) { v, ok := r.Scores["CS"]; return v, ok }},
	"CR":            {of: func(r runner.Record) (float64, bool) { v, ok := r.Scores["CR"]; return v, ok }},
}

// score is the score of a record, unless the benchmark leaves the task out.
func score(r runner.Record) (float64, bool) {
	v, ok := r.Value()
	return v, ok && !r.Uncounted
}

func cost(r runner.Record) (float64, bool) {
	if r.Cost == nil {
		return 0, false
	}
	return *r.Cost, true
}

func number(of func(runner.Record) int) figure {
	return func(r runner.Record) (float64, bool) { return float64(of(r)), true }
}

func is(of func(runner.Record) bool) figure {
	return number(func(r runner.Record) int {
		if of(r) {
			return 1
		}
		return 0
	})
}

// Score returns the mean score of a run in per cent, with its interval, or nil if no record has one,
// because the right answers are then not public.
func Score(r runner.Result) *bench.Value { return measured(r, "score", nil) }

// measured returns a figure of the chosen tasks of a run, as the mean over those all of whose records
// have it; nil if no record has it.
func measured(r runner.Result, name string, chosen choice) *bench.Value {
	switch name {
	case "total cost":
		return totalCost(r, chosen)
	case "executable":
		return executable(r, chosen)
	}
	m := measures[name]
	if !slices.ContainsFunc(r.Records, func(r runner.Record) bool { _, ok := m.of(r); return ok }) {
		return nil
	}
	var values []float64
	for _, t := range byTask(r, chosen) {
		repeats := len(t.records)
		if m.all {
			repeats = max(1, r.Repeat)
		}
		if v, ok := t.mean(m.of, repeats); ok {
			values = append(values, v)
		}
	}
	if m.share {
		return bench.Share(values)
	}
	return bench.Mean(values)
}

// totalCost returns the cost of running all tasks once, or nil if the cost of one is unknown.
func totalCost(r runner.Result, chosen choice) *bench.Value {
	v := measured(r, "cost", chosen)
	if v == nil || v.N < len(byTask(r, chosen)) {
		return nil
	}
	return &bench.Value{Value: v.Value * float64(v.N), N: v.N}
}

// executable returns the share of executions without an error.
func executable(r runner.Result, chosen choice) *bench.Value {
	all, failed, n := 0, 0, 0
	for _, t := range byTask(r, chosen) {
		before := all
		for _, record := range t.records {
			all, failed = all+record.Executions, failed+record.Failed
		}
		if all > before {
			n++
		}
	}
	if all == 0 {
		return nil
	}
	return &bench.Value{Value: 100 * float64(all-failed) / float64(all), N: n}
}

// A taskRecords holds the records of one task, one for each repeat that has a result.
type taskRecords struct {
	runner.Item
	records []runner.Record
}

// mean returns the mean of a figure over all repeats; those without a record count as 0. ok is false
// if a record does not have the figure.
func (t taskRecords) mean(of figure, repeats int) (mean float64, ok bool) {
	for _, record := range t.records {
		v, has := of(record)
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
		of := plain(i.Domain)
		if by == "level" {
			of = plain(i.Level)
		}
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
