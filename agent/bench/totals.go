package bench

import (
	"math"
	"slices"
	"strings"
)

// A Total is one number of a benchmark's result.
type Total struct {
	Group string  `json:"group"` // "" for the benchmark as a whole
	Name  string  `json:"name"`
	Value float64 `json:"value"` // per cent
	N     int     `json:"n"`     // number of tasks; for UASQ, of fields
}

// sums say how a benchmark sums up the scores of its tasks.
type sums struct {
	total  string // name of the mean over all tasks
	whole  bool   // only full scores count
	more   func(scores []Score) []Total
	groups []group
}

// A group sums up scores by a property of their tasks, of which one may have several.
type group struct {
	name string
	of   func(Task, Score) []string
}

// by makes a group of a property that a task has once; "": it has not.
func by(name string, of func(Task) string) group {
	return group{name, func(t Task, _ Score) []string { return []string{of(t)} }}
}

var (
	byLevel     = by("level", Task.level)
	byDomain    = by("domain", Task.domain)
	byBenchmark = by("benchmark", Task.domain)
	byRules     = by("rules", func(t Task) string { return t.Rules })
	byMetric    = group{"metric", func(_ Task, s Score) []string { return []string{s.Metric} }}
	byConcept   = group{"concept", func(t Task, _ Score) []string { return strings.Split(t.Kind, ", ") }}
)

func (t Task) level() string  { return t.Level }
func (t Task) domain() string { return t.Domain }

// totals sums up the scores of tasks, as the benchmark does; of each task in the first repeat, then
// in the second. Those without a value are left out; uncounted ones are counted by their metric
// alone.
func (s sums) totals(tasks []Task, each []Score) []Total {
	all := []Total{}
	var of []Task
	var scores, counted []Score
	for i, score := range each {
		if score.Value == nil {
			continue
		}
		of, scores = append(of, tasks[i%len(tasks)]), append(scores, score)
		if s.whole {
			score.Value = new(math.Floor(*score.Value))
		}
		counted = append(counted, score)
	}
	if len(scores) == 0 {
		return all
	}
	all = append(all, meanOf("", s.total, counted, nil))
	if s.more != nil {
		all = append(all, s.more(scores)...)
	}
	for _, g := range s.groups {
		var names []string
		for i := range of {
			names = append(names, g.of(of[i], scores[i])...)
		}
		for _, name := range inOrder(names) {
			all = append(all, meanOf(g.name, name, counted,
				func(i int) bool { return slices.Contains(g.of(of[i], scores[i]), name) }))
		}
	}
	for i := range all {
		all[i].N /= len(each) / len(tasks) // as many repeats
	}
	return all
}

// inOrder returns each name once: hard before easy, otherwise sorted.
func inOrder(names []string) []string {
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	order := []string{"hard", "medium", "easy"}
	if slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(order, name) }) {
		return names
	}
	return slices.DeleteFunc(order, func(name string) bool { return !slices.Contains(names, name) })
}

// meanOf returns the mean of the scores that pick selects (nil: all), in per cent.
func meanOf(group, name string, scores []Score, pick func(i int) bool) Total {
	var values []float64
	for i, s := range scores {
		if (pick == nil || pick(i)) && (!s.Uncounted || group == byMetric.name) {
			values = append(values, *s.Value)
		}
	}
	total := Total{Group: group, Name: name, N: len(values)}
	if mean := Mean(values); mean != nil {
		total.Value = 100 * mean.Value
	}
	return total
}

// A Value is one figure of a run.
type Value struct {
	Value float64  `json:"value"`
	N     int      `json:"n"`              // number of tasks behind it
	Low   *float64 `json:"low,omitempty"`  // of the 95 % interval, for shares and scores
	High  *float64 `json:"high,omitempty"` //
}

// Mean returns the mean of values, or nil. It adds in their order, so that the result is
// reproducible bit for bit.
func Mean(values []float64) *Value {
	total := 0.0
	for _, v := range values {
		total += v
	}
	if len(values) == 0 {
		return nil
	}
	return &Value{Value: total / float64(len(values)), N: len(values)}
}

// Share returns the mean of values from 0 to 1 in per cent, with its interval, or nil.
func Share(values []float64) *Value {
	v := Mean(values)
	if v == nil {
		return nil
	}
	low, high := wilson(v.Value, v.N)
	return &Value{100 * v.Value, v.N, new(100 * low), new(100 * high)}
}

// wilson returns the 95 % interval of a share p of n tries (E. B. Wilson 1927). It also
// covers means of scores from 0 to 1, which vary less than shares.
func wilson(p float64, n int) (low, high float64) {
	const z = 1.959963984540054 // the normal quantile
	m := float64(n)
	middle := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (middle-half)/(1+z*z/m)), min(1, (middle+half)/(1+z*z/m))
}
