package trial

import (
	"context"
	"errors"
	"os"
	"slices"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
)

// A Scorer scores answers that are on disk: those of a run, or of a file.
type Scorer struct {
	Compat bench.Compat
	Judge  bench.Judge  // nil: none
	Plain  bench.Python // runs the scorers of texts
	Open   Opener
}

// Score scores answers to the suite's tasks. Tasks without a public right answer and tasks
// whose scorer failed have no score. With charts, Score first extracts the data of charts from
// the code that draws them; the answers must then be those of a run.
func (s Scorer) Score(ctx context.Context, suite *bench.Suite, answers []bench.Answer,
	charts bool) (Scores, error) {
	all := newScores(suite, s.Compat)
	of := map[string]bench.Answer{}
	for _, answer := range answers {
		of[answer.ID] = answer
	}
	session := s.session(suite, of)
	defer session.close()
	hidden := all.lacks(suite)
	known := *suite
	known.Tasks = without(suite.Tasks, func(t bench.Task) bool { return hidden[t.ID] != "" })
	if charts {
		if err := s.extractCharts(ctx, known.Tasks, of, &all); err != nil {
			return all, err
		}
		known.Tasks = without(known.Tasks, func(t bench.Task) bool { return all.Failed[t.ID] != "" })
	}
	public := without(answers, func(a bench.Answer) bool {
		return hidden[a.ID] != "" || all.Failed[a.ID] != ""
	})
	scorer := bench.Scorer{Compat: s.Compat, Judge: s.Judge, Plain: s.Plain, Python: session.run}
	scores, err := known.Score(ctx, scorer, public)
	if err != nil {
		return all, err
	}
	all.fill(suite, scores, hidden)
	if all.Unscored < len(suite.Tasks) {
		all.Totals = known.Totals(scores, public)
	}
	return all, nil
}

func without[T any](all []T, drop func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), drop)
}

// session returns a session that may read the answers and what they are compared with.
func (s Scorer) session(suite *bench.Suite, answers map[string]bench.Answer) *scoringSession {
	var read []string
	for _, t := range suite.Tasks {
		read = append(read, t.GoldDir, answers[t.ID].Dir)
	}
	slices.Sort(read)
	return &scoringSession{open: s.Open, read: slices.Compact(read)}
}

// extractCharts extracts the charts of a run's answers. A task whose data is missing, or for
// which no kernel starts, cannot be scored.
func (s Scorer) extractCharts(ctx context.Context, tasks []bench.Task,
	answers map[string]bench.Answer, all *Scores) error {
	for _, t := range tasks {
		answer, given := answers[t.ID]
		if !t.IsChart() || !given || answer.Unfinished {
			continue
		}
		_, err := os.Stat(t.Data)
		if t.Data == "" || err != nil {
			err = errors.New("its data are not there, which the code of its chart may read")
		} else {
			err = extractChart(ctx, s.Open.python([]string{t.Data}, answer.Dir), t, answer.Dir, s.Compat)
		}
		if bench.Stops(ctx, err) {
			return err
		}
		if err != nil {
			all.fails(t.ID, err.Error())
		}
	}
	return nil
}

// Save records in a run the scores that differ from its own. There is one Scores for each
// repeat.
func Save(r runner.Result, repeats []Scores) error {
	folder, err := runner.Open(r.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	for i, scores := range repeats {
		of := map[string]TaskScore{}
		for _, score := range scores.Tasks {
			of[score.ID] = score
		}
		for _, record := range r.Records {
			s := of[record.Task]
			if record.Repeat != i+1 || s.Score == nil || s.is(record) {
				continue
			}
			record.Spent = nil
			score := bench.Score{Value: *s.Score, Metric: s.Metric, Parts: s.Parts, Detail: s.Detail,
				Uncounted: s.Uncounted}
			if err := folder.Append(withScore(record, score)); err != nil {
				return err
			}
		}
	}
	return nil
}

// is reports whether a record has this score.
func (s TaskScore) is(r runner.Record) bool {
	return r.Score != nil && *r.Score == *s.Score && r.Uncounted == s.Uncounted
}
