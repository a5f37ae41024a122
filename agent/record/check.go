package record

import (
	"fmt"
	"maps"
	"slices"
)

// Check validates numbers of rounds and options, since the notebook may be damaged.
func (t *Trajectory) Check() error {
	end, wrong := 0, len(t.Descriptions) > len(t.Task.Files)
	readings := [][]Reading{t.Readings}
	for _, p := range t.Earlier {
		wrong = wrong || p.End < end || p.End > len(t.Rounds)
		end, readings = p.End, append(readings, p.Readings)
	}
	wrong = wrong || misnumbered(t.Rounds, 0)
	for _, l := range t.Later {
		wrong = wrong || l.Begin < 0 || misnumbered(l.Rounds, l.Begin)
		readings = append(readings, l.Readings)
	}
	for _, all := range readings {
		for _, r := range all {
			n := len(r.Options)
			wrong = wrong || r.Problem == "" && (n < 2 || r.Chosen < 0 || r.Chosen >= n)
			for _, k := range r.Together {
				wrong = wrong || k < 0 || k >= len(all) || all[k].Problem != ""
			}
		}
	}
	if wrong {
		return fmt.Errorf("its record is damaged: it names rounds, options or files that it does not have")
	}
	return nil
}

// misnumbered reports whether an edit names a round that has no cell, or is not among rounds,
// before which there are so many others.
func misnumbered(rounds []Round, before int) bool {
	return slices.ContainsFunc(rounds, func(r Round) bool {
		if r.Edit == nil {
			return false
		}
		named := slices.Concat(r.Edit.Plan, r.Edit.Rest)
		if r.Edit.Start != nil {
			named = slices.AppendSeq(append(named, r.Edit.Start.Given...), maps.Keys(r.Edit.Start.Words))
		}
		return slices.ContainsFunc(named, func(n int) bool {
			return n < before+1 || n > before+len(rounds) || len(rounds[n-1-before].Attempts) == 0
		})
	})
}
