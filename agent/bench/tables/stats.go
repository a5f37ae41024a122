// Package tables presents recorded benchmark runs as Markdown: the papers' tables with published
// figures beside ours, and comparisons of two runs. The same records give the same bytes, also in a
// replay: only comparisons have seconds.
package tables

import (
	"math"
	"slices"

	"dsstar/agent/bench/runner"
)

// z is the normal quantile of a 95 % interval.
const z = 1.959963984540054

// wilson returns the 95 % interval of a share p of n tries (E. B. Wilson 1927). It also
// covers means of scores from 0 to 1, which vary less than shares.
func wilson(p float64, n int) (low, high float64) {
	m := float64(n)
	middle := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (middle-half)/(1+z*z/m)), min(1, (middle+half)/(1+z*z/m))
}

// signTest returns the two-sided exact p-value for the numbers of tasks that got better and
// worse. For right and wrong answers this is McNemar's exact test.
func signTest(better, worse int) float64 {
	n := better + worse
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

// Score returns the mean score of a run in per cent, with its interval, or nil if no record has one,
// because the right answers are then not public.
func Score(r runner.Result) *Value { return accuracy(r, nil) }

// Share returns the mean of values from 0 to 1 in per cent, with its interval, or nil.
func Share(values []float64) *Value {
	v := average(values)
	if v == nil {
		return nil
	}
	low, high := wilson(v.Value, v.N)
	low, high = 100*low, 100*high
	return &Value{100 * v.Value, v.N, &low, &high}
}

// average adds in the order of the tasks, so the result is reproducible bit for bit.
func average(values []float64) *Value {
	total := 0.0
	for _, v := range values {
		total += v
	}
	if len(values) == 0 {
		return nil
	}
	return &Value{Value: total / float64(len(values)), N: len(values)}
}

// A choice selects tasks; nil selects all.
type choice func(runner.Item) bool

// A figure is one of a record; ok is false if the record does not have it.
type figure func(runner.Record) (v float64, ok bool)

// A taskRecords holds the records of one task, one for each repeat that has a result.
type taskRecords struct {
	runner.Item
	records []runner.Record
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

// means returns the means of the chosen tasks that have the figure. If all count, those without a
// record do, too.
func means(r runner.Result, chosen choice, of figure, all bool) (values []float64) {
	for _, t := range byTask(r, chosen) {
		repeats := len(t.records)
		if all {
			repeats = max(1, r.Repeat)
		}
		if v, ok := t.mean(of, repeats); ok {
			values = append(values, v)
		}
	}
	return values
}

// score is the score of a record, unless the benchmark leaves the task out.
func score(r runner.Record) (float64, bool) {
	v, ok := r.Value()
	return v, ok && !r.Uncounted
}

func accuracy(r runner.Result, chosen choice) *Value {
	if !slices.ContainsFunc(r.Records, func(one runner.Record) bool { _, ok := score(one); return ok }) {
		return nil
	}
	return Share(means(r, chosen, score, true))
}
