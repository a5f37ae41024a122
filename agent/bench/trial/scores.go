package trial

import (
	"cmp"
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/tables"
)

// Scores are the scores of all tasks of a suite. As JSON they are what dsstar bench score
// --json prints; docs/benchmarks.md documents the fields.
type Scores struct {
	Bench  string        `json:"bench"`
	Compat string        `json:"compat"`
	Repeat int           `json:"repeat"` // how often each task was run: scores and totals are means
	Score  *tables.Value `json:"score"`  // per cent; null: nothing can be scored
	Tasks  []TaskScore   `json:"tasks"`
	Totals []bench.Total `json:"totals"` // the benchmark's own
	// tasks without a public right answer, or whose scorer failed
	Unscored int `json:"unscored"`
	// what this copy of the benchmark lacks for scoring, as ends of paths
	Missing  []string `json:"missing"`
	Unknown  []string `json:"unknown"`  // ids of answers to no task
	Nameless int      `json:"nameless"` // answers without an id

	Failed map[string]string `json:"-"` // why scoring a task failed, by id
}

// A TaskScore is the score of one task.
type TaskScore struct {
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

func newScores(suite *bench.Suite, compat bench.Compat) Scores {
	return Scores{
		Bench: suite.Benchmark.Name, Compat: string(compat), Repeat: 1,
		Totals: []bench.Total{}, Tasks: []TaskScore{}, Missing: []string{}, Unknown: []string{},
	}
}

// Mean merges the scores of repeats. A task's score is the mean over its repeats.
func Mean(all []Scores) Scores {
	mean := all[0]
	if mean.Repeat = len(all); len(all) == 1 {
		return mean
	}
	mean.Tasks, mean.Totals = slices.Clone(mean.Tasks), slices.Clone(mean.Totals)
	mean.Unscored, mean.Failed = 0, nil
	var values []float64
	for i := range mean.Tasks {
		t := &mean.Tasks[i]
		if mean.average(t, i, all); t.Score == nil {
			mean.Unscored++
		} else if !t.Uncounted {
			values = append(values, *t.Score)
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

// average makes the i-th task's score the mean over all repeats that have one.
func (s *Scores) average(t *TaskScore, i int, all []Scores) {
	sum, n, parts := 0.0, 0.0, map[string]float64{}
	t.Score = nil
	for _, one := range all {
		u := one.Tasks[i]
		t.Missing, t.Detail = t.Missing || u.Missing, cmp.Or(t.Detail, u.Detail)
		if u.Score == nil {
			if why := one.Failed[u.ID]; why != "" {
				s.fails(u.ID, why)
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
		return
	}
	for name := range parts {
		parts[name] /= n
	}
	value := sum / n
	t.Score, t.Parts = &value, parts
}

// fails notes why scoring a task failed.
func (s *Scores) fails(id, why string) {
	if s.Failed == nil {
		s.Failed = map[string]string{}
	}
	s.Failed[id] = strings.ReplaceAll(why, "\n", " ")
}

// lacks notes what the suite lacks, and returns why tasks cannot be scored, by id.
func (s *Scores) lacks(suite *bench.Suite) map[string]string {
	hidden, data := map[string]string{}, map[string]bool{}
	for _, t := range suite.Tasks {
		why, missing := t.Unscorable()
		for i, what := range missing {
			missing[i] = pathEnd(what)
		}
		if len(missing) > 0 {
			why += ": " + bench.Some(missing, 3)
		}
		if why != "" {
			hidden[t.ID] = why
		}
		s.Missing = append(s.Missing, missing...)
		for _, what := range t.Missing {
			data[what] = true
		}
	}
	for _, what := range suite.Missing {
		if !data[what] { // scoring needs no data
			s.Missing = append(s.Missing, pathEnd(what))
		}
	}
	return hidden
}

// pathEnd returns the end of a long path, which tells where in a benchmark it is.
func pathEnd(path string) string {
	const shown = 3
	parts := strings.Split(path, "/")
	if len(parts) <= shown+1 {
		return path
	}
	return "…/" + strings.Join(parts[len(parts)-shown:], "/")
}

func (s *Scores) fill(suite *bench.Suite, scores []bench.Score, hidden map[string]string) {
	of := map[string]bench.Score{}
	for _, score := range scores {
		if score.Unscored != "" {
			s.fails(score.ID, score.Unscored)
		} else {
			of[score.ID] = score
		}
	}
	var values []float64
	for _, t := range suite.Tasks {
		one := TaskScore{ID: t.ID, Level: t.Level, Domain: t.Domain}
		if score, ok := of[t.ID]; ok {
			if !score.Uncounted {
				values = append(values, score.Value)
			}
			one.Score, one.Metric, one.Parts = &score.Value, score.Metric, score.Parts
			one.Missing, one.Detail, one.Uncounted = score.Missing, score.Detail, score.Uncounted
		} else {
			s.Unscored++
			one.Detail = cmp.Or(hidden[t.ID], shorten(s.Failed[t.ID], 300))
		}
		s.Tasks = append(s.Tasks, one)
	}
	s.Score = tables.Share(values)
}

// Strange notes answers that belong to none of the tasks.
func (s *Scores) Strange(answers []bench.Answer) {
	for _, a := range answers {
		switch {
		case a.ID == "":
			s.Nameless++
		case !slices.Contains(s.Unknown, a.ID):
			s.Unknown = append(s.Unknown, a.ID)
		}
	}
}
