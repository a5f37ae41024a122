package tables

import (
	"strings"

	"dsstar/agent/bench/runner"
)

// A measure computes a figure of a run, or returns nil if the run does not have it.
type measure func(runner.Result) *Value

func level(name string) func(runner.Item) bool {
	return func(i runner.Item) bool { return strings.EqualFold(i.Level, name) }
}

// domain selects the tasks whose domain begins with one of names. It ignores case, spaces and
// hyphens, because papers and data sets differ in them.
func domain(names ...string) func(runner.Item) bool {
	return func(i runner.Item) bool {
		for _, name := range names {
			if strings.HasPrefix(plain(i.Domain), plain(name)) {
				return true
			}
		}
		return false
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

// accuracyOf measures the mean score of the chosen tasks, in per cent.
func accuracyOf(chosen func(runner.Item) bool) measure {
	return func(r runner.Result) *Value { return accuracy(r, chosen) }
}

// partOf measures the mean of another score of the benchmark, 0 to 1.
func partOf(name string, chosen func(runner.Item) bool) measure {
	return func(r runner.Result) *Value {
		return mean(r, chosen, func(record runner.Record) (float64, bool) {
			v, ok := record.Scores[name]
			return v, ok
		})
	}
}

func meanOf(chosen func(runner.Item) bool, of func(runner.Record) float64) measure {
	return func(r runner.Result) *Value {
		return mean(r, chosen, func(record runner.Record) (float64, bool) { return of(record), true })
	}
}

func calls(r runner.Record) float64      { return float64(r.Usage.Calls) }
func inTokens(r runner.Record) float64   { return float64(r.Usage.InputTokens) }
func outTokens(r runner.Record) float64  { return float64(r.Usage.OutputTokens) }
func rounds(r runner.Record) float64     { return float64(r.Rounds) }
func debugTries(r runner.Record) float64 { return float64(r.DebugTries) }

// meanCost measures the mean cost of a task in US dollars, over the records with known prices.
func meanCost(chosen func(runner.Item) bool) measure {
	return func(r runner.Result) *Value {
		return mean(r, chosen, func(record runner.Record) (float64, bool) {
			if record.Cost == nil {
				return 0, false
			}
			return *record.Cost, true
		})
	}
}

// totalCost returns the cost of running all tasks once, or nil if the cost of one is unknown.
func totalCost(r runner.Result) *Value {
	v := meanCost(nil)(r)
	if v == nil || v.N < len(r.Items) {
		return nil
	}
	return &Value{Value: v.Value * float64(v.N), N: v.N}
}

// refined measures the share of tasks that took more than one round, in per cent.
func refined(chosen func(runner.Item) bool) measure {
	return shareOf(chosen, func(r runner.Record) bool { return r.Rounds > 1 })
}

func once(chosen func(runner.Item) bool) measure {
	return shareOf(chosen, func(r runner.Record) bool { return r.Rounds == 1 })
}

// completion returns the share of finished tasks, in per cent; tasks without a record are
// not finished.
func completion(r runner.Result) *Value {
	var values []float64
	for _, t := range byTask(r, nil) {
		finished := 0.0
		for _, record := range t.records {
			if record.Finished {
				finished++
			}
		}
		values = append(values, finished/float64(max(1, r.Repeat)))
	}
	return share(values)
}

// executable returns the share of executions without an error, in per cent.
func executable(r runner.Result) *Value {
	all, failed, n := 0, 0, 0
	for _, record := range r.Records {
		all, failed = all+record.Executions, failed+record.Failed
		if record.Executions > 0 {
			n++
		}
	}
	if all == 0 {
		return nil
	}
	return &Value{Value: 100 * float64(all-failed) / float64(all), N: n}
}

func shareOf(chosen func(runner.Item) bool, is func(runner.Record) bool) measure {
	return func(r runner.Result) *Value {
		var values []float64
		for _, t := range byTask(r, chosen) {
			count := 0.0
			for _, record := range t.records {
				if is(record) {
					count++
				}
			}
			if len(t.records) > 0 {
				values = append(values, count/float64(len(t.records)))
			}
		}
		return share(values)
	}
}
