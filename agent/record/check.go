package record

import (
	"fmt"
	"slices"
)

// Check validates numbers of options and files, and that rounds that a person left have cells, since
// the notebook may be damaged.
func (t *Trajectory) Check() error {
	wrong := len(t.Descriptions) > len(t.Task.Files)
	for _, q := range slices.Concat(t.Questions, t.Later) {
		left := slices.Clone(q.Rest)
		if q.Start != nil {
			left = append(left, q.Start.Given...)
		}
		wrong = wrong || slices.ContainsFunc(left, func(r Round) bool { return len(r.Attempts) == 0 })
		for _, r := range q.Readings {
			n := len(r.Options)
			wrong = wrong || r.Problem == "" && (n < 2 || r.Chosen < 0 || r.Chosen >= n)
			for _, k := range r.Together {
				wrong = wrong || k < 0 || k >= len(q.Readings) || q.Readings[k].Problem != ""
			}
		}
	}
	if wrong {
		return fmt.Errorf("its record is damaged: it names options, files or cells that it does not have")
	}
	return nil
}
