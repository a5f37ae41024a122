package tables

import (
	"fmt"
	"math"
	"strconv"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
)

// figure returns a figure of a record, money in US dollars; none if the record does not have it.
func figure(r runner.Record, name string) (values []float64) {
	switch {
	case name == "score" && r.Score != nil && !r.Uncounted:
		return []float64{*r.Score}
	case name == "cost" && r.Cost != nil:
		return []float64{*r.Cost}
	case name == "completion" && r.Finished:
		return []float64{1}
	}
	if of, ok := map[string]int{"completion": 0, "rounds": r.Rounds, "repairs": r.DebugTries,
		"calls": r.Usage.Calls, "input tokens": r.Usage.InputTokens, "output tokens": r.Usage.OutputTokens}[name]; ok {
		return []float64{float64(of)}
	}
	return nil
}

// Score returns the mean score of a run in per cent, with its interval, or nil if no record has
// one, because the right answers are then not public.
func Score(r runner.Result) *bench.Value {
	return measured(r, "score", column{}.has)
}

// measured returns a figure of the chosen tasks of a run, as the mean over those that have it; nil if
// no task has. Shares are in per cent. A task without a record has no score and is not complete; for
// other figures it does not count.
func measured(r runner.Result, name string, chosen func(runner.Item) bool) *bench.Value {
	of, some := map[string]runner.Record{}, false
	for _, record := range r.Records {
		of[record.Task] = record
		some = some || figure(record, name) != nil
	}
	if !some {
		return nil
	}
	share := name == "score" || name == "completion"
	var values []float64
	for _, item := range r.Items {
		if record, done := of[item.ID]; !chosen(item) {
			continue
		} else if done {
			values = append(values, figure(record, name)...)
		} else if share {
			values = append(values, 0)
		}
	}
	if share {
		return bench.Share(values)
	}
	return bench.Mean(values)
}

const absent = "–"

// valueText formats a value like "50.00 (n 10, 23.66 to 76.34)".
func valueText(v *bench.Value) string {
	switch {
	case v == nil:
		return absent
	case v.Low == nil:
		return fmt.Sprintf("%s (n %d)", number(v.Value), v.N)
	}
	return fmt.Sprintf("%.2f (n %d, %.2f to %.2f)", v.Value, v.N, *v.Low, *v.High)
}

// number rounds to four decimals.
func number(v float64) string { return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64) }
