package tables

import (
	"slices"
	"strings"

	"dsstar/agent/bench/runner"
)

// A measure computes a figure of the chosen tasks of a run, or returns nil if the run does not have
// it: scores and shares in per cent, money in US dollars, all but the total a task.
type measure func(runner.Result, choice) *Value

// measures are those that columns of published.csv name.
var measures = map[string]measure{
	"score": accuracy, "total cost": totalCost, "executable": executable,
	"completion":    shareOf(true, func(r runner.Record) bool { return r.Finished }),
	"one round":     shareOf(false, func(r runner.Record) bool { return r.Rounds == 1 }),
	"more rounds":   shareOf(false, func(r runner.Record) bool { return r.Rounds > 1 }),
	"cost":          meanOf(cost),
	"calls":         meanOf(func(r runner.Record) (float64, bool) { return float64(r.Usage.Calls), true }),
	"input tokens":  meanOf(func(r runner.Record) (float64, bool) { return float64(r.Usage.InputTokens), true }),
	"output tokens": meanOf(func(r runner.Record) (float64, bool) { return float64(r.Usage.OutputTokens), true }),
	"rounds":        meanOf(func(r runner.Record) (float64, bool) { return float64(r.Rounds), true }),
	"repairs":       meanOf(func(r runner.Record) (float64, bool) { return float64(r.DebugTries), true }),
	"CS":            meanOf(func(r runner.Record) (float64, bool) { v, ok := r.Scores["CS"]; return v, ok }),
	"CR":            meanOf(func(r runner.Record) (float64, bool) { v, ok := r.Scores["CR"]; return v, ok }),
}

func meanOf(of figure) measure {
	return func(r runner.Result, chosen choice) *Value { return average(means(r, chosen, of, false)) }
}

func shareOf(all bool, is func(runner.Record) bool) measure {
	of := func(r runner.Record) (float64, bool) {
		if is(r) {
			return 1, true
		}
		return 0, true
	}
	return func(r runner.Result, chosen choice) *Value { return Share(means(r, chosen, of, all)) }
}

func cost(r runner.Record) (float64, bool) {
	if r.Cost == nil {
		return 0, false
	}
	return *r.Cost, true
}

// totalCost returns the cost of running all tasks once, or nil if the cost of one is unknown.
func totalCost(r runner.Result, chosen choice) *Value {
	v := meanOf(cost)(r, chosen)
	if v == nil || v.N < len(byTask(r, chosen)) {
		return nil
	}
	return &Value{Value: v.Value * float64(v.N), N: v.N}
}

// executable returns the share of executions without an error.
func executable(r runner.Result, chosen choice) *Value {
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
	return &Value{Value: 100 * float64(all-failed) / float64(all), N: n}
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
