package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Filter chooses among the tasks of a suite. Its zero value takes all of them.
type Filter struct {
	Level   string   // easy, medium or hard; "": all
	Domains []string // nil: all
	IDs     []string // nil: all
	Seed    uint64   // shuffles the tasks, before Limit; 0: the suite's order
	Limit   int      // 0: no limit
}

// ErrNoTasks reports that no task passes a filter.
var ErrNoTasks = errors.New("no task is left")

// Choose returns the tasks that pass the filter, in the order in which they run. The error says
// which id is unknown, or is ErrNoTasks.
func (s *Suite) Choose(f Filter) ([]Task, error) {
	known := s.ByID()
	for _, id := range f.IDs {
		if _, ok := known[id]; !ok {
			return nil, fmt.Errorf("there is no task %q", id)
		}
	}
	var tasks []Task
	for _, t := range s.Tasks {
		if f.takes(t) {
			tasks = append(tasks, t)
		}
	}
	if f.Seed != 0 {
		rand.New(rand.NewPCG(f.Seed, 0)).Shuffle(len(tasks), func(i, j int) {
			tasks[i], tasks[j] = tasks[j], tasks[i]
		})
	}
	if f.Limit > 0 && len(tasks) > f.Limit {
		tasks = tasks[:f.Limit]
	}
	if len(tasks) == 0 {
		return nil, ErrNoTasks
	}
	return tasks, nil
}

func (f Filter) takes(t Task) bool {
	inDomain := func(name string) bool { return strings.EqualFold(strings.TrimSpace(name), t.Domain) }
	return (f.Level == "" || strings.EqualFold(t.Level, f.Level)) &&
		(f.Domains == nil || slices.ContainsFunc(f.Domains, inDomain)) &&
		(f.IDs == nil || slices.Contains(f.IDs, t.ID))
}

// ByID returns the tasks by their ids.
func (s *Suite) ByID() map[string]Task {
	tasks := make(map[string]Task, len(s.Tasks))
	for _, t := range s.Tasks {
		tasks[t.ID] = t
	}
	return tasks
}

// UseData gives all tasks the same data folder.
func (s *Suite) UseData(folder string) error {
	data, err := filepath.Abs(folder)
	if err == nil {
		_, err = os.Stat(data)
	}
	if err != nil {
		return err
	}
	for i := range s.Tasks {
		_, missing := s.Tasks[i].Unscorable()
		s.Tasks[i].Data, s.Tasks[i].Missing = data, missing
	}
	return nil
}

// Whole returns an error unless ids name all tasks of the benchmark: leaderboards accept only
// complete submissions.
func (s *Suite) Whole(ids []string) error {
	missing := s.Benchmark.size - len(ids)
	for _, t := range s.Tasks {
		if !slices.Contains(ids, t.ID) {
			missing = max(missing, 1)
		}
	}
	if missing > 0 {
		return fmt.Errorf("%d tasks were run, and all %d are submitted together", len(ids),
			max(len(s.Tasks), s.Benchmark.size))
	}
	return nil
}
