// Package tables presents recorded benchmark runs: the papers' tables with published figures
// beside ours, comparisons of two runs, and a page with plots. The same records give the same
// bytes: tables and pages contain nothing that differs in a replay, such as seconds.
package tables

import (
	"math"

	"dsstar/agent/bench/runner"
)

// z is the normal quantile of a 95 % interval.
const z = 1.959963984540054

// Wilson returns the 95 % interval of a share p of n tries (E. B. Wilson 1927). It also
// covers means of scores from 0 to 1, which vary less than shares.
func Wilson(p float64, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	m := float64(n)
	middle := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (middle-half)/(1+z*z/m)), min(1, (middle+half)/(1+z*z/m))
}

// SignTest returns the two-sided exact p-value for the numbers of tasks that got better and
// worse. For right and wrong answers this is McNemar's exact test.
func SignTest(better, worse int) float64 {
	n := better + worse
	if n == 0 {
		return 1
	}
	logHalf := float64(n) * math.Log(0.5)
	all, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for k := range min(better, worse) + 1 {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(all - a - b + logHalf)
	}
	return min(1, 2*sum)
}

// A Value is one figure of a run.
type Value struct {
	Value float64  `json:"value"`
	N     int      `json:"n"`              // number of tasks behind it
	Low   *float64 `json:"low,omitempty"`  // of the 95 % interval, for shares and scores
	High  *float64 `json:"high,omitempty"` //
}

// A taskRecords holds the records of one task, one for each repeat that has a result.
type taskRecords struct {
	runner.Item
	records []runner.Record
}

// byTask returns the chosen tasks of a run, in order.
func byTask(r runner.Result, chosen func(runner.Item) bool) []taskRecords {
	of := map[string][]runner.Record{}
	for _, record := range r.Records {
		of[record.Task] = append(of[record.Task], record)
	}
	var all []taskRecords
	for _, item := range r.Items {
		if chosen == nil || chosen(item) {
			all = append(all, taskRecords{item, of[item.ID]})
		}
	}
	return all
}

// score returns the mean score over all repeats; those without a record count as wrong. ok
// is false if the task cannot be scored, or the benchmark leaves it out.
func (t taskRecords) score(repeats int) (mean float64, ok bool) {
	for _, record := range t.records {
		v, scored := record.Value()
		if !scored || record.Uncounted {
			return 0, false
		}
		mean += v
	}
	return mean / float64(max(1, repeats)), true
}

// scores returns the scores of the tasks that can be scored. It returns none if no record has
// a score, because the right answers are then not public.
func scores(r runner.Result, chosen func(runner.Item) bool) []float64 {
	known := false
	for _, record := range r.Records {
		_, scored := record.Value()
		known = known || scored
	}
	if !known {
		return nil
	}
	var all []float64
	for _, t := range byTask(r, chosen) {
		if v, ok := t.score(r.Repeat); ok {
			all = append(all, v)
		}
	}
	return all
}

// accuracy returns the mean score in per cent, with its interval.
func accuracy(r runner.Result, chosen func(runner.Item) bool) *Value {
	return share(scores(r, chosen))
}

// share returns the mean of values from 0 to 1, in per cent.
func share(values []float64) *Value {
	if len(values) == 0 {
		return nil
	}
	p := sum(values) / float64(len(values))
	low, high := Wilson(p, len(values))
	low, high = 100*low, 100*high
	return &Value{100 * p, len(values), &low, &high}
}

// mean returns the mean of a figure over all records that have it.
func mean(r runner.Result, chosen func(runner.Item) bool,
	of func(runner.Record) (float64, bool)) *Value {
	var values []float64
	n := 0
	for _, t := range byTask(r, chosen) {
		counted := false
		for _, record := range t.records {
			if v, ok := of(record); ok {
				values, counted = append(values, v), true
			}
		}
		if counted {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &Value{Value: sum(values) / float64(len(values)), N: n}
}

// sum adds in the order of the tasks, so the result is reproducible bit for bit.
func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// Score returns the mean score of a run in per cent, with its interval, or nil.
func Score(r runner.Result) *Value { return accuracy(r, nil) }

// Share returns the mean of scores from 0 to 1 in per cent, with its interval, or nil.
func Share(scores []float64) *Value { return share(scores) }
