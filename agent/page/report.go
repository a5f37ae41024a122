package page

import (
	"slices"

	"dsstar/agent/record"
	"dsstar/notebook"
)

// A part is a question with what came of it, as the templates see it. Cells about the whole run are
// drawn of the last one.
type part struct {
	*record.Trajectory                    // as it was when the part ended
	all                *record.Trajectory // the whole
}

// partOf returns part k, from 0, of a trajectory.
func partOf(t *record.Trajectory, k int) part { return part{t.Part(k), t} }

// Followed returns, of the first part, those after it.
func (p part) Followed() (later []*record.Trajectory) {
	for k := 1; p.First() && k < len(p.all.Questions); k++ {
		later = append(later, p.all.Part(k))
	}
	return later
}

// First reports whether the part is the first.
func (p part) First() bool { return p.Earlier() == 0 }

// Number returns the number of the part, from 1.
func (p part) Number() int { return p.Earlier() + 1 }

// Corrected returns the number of the question that corrects the answer; 0: none does.
func (p part) Corrected() int { return p.all.CorrectedBy(p.Earlier()) }

// Assumed returns the readings that evidence or a person has settled.
func (p part) Assumed() []record.Reading {
	return slices.DeleteFunc(slices.Clone(p.Readings), func(r record.Reading) bool {
		return r.Problem != "" || !r.ByUser && (!r.Settled || r.Evidence == "")
	})
}

// Branched returns the readings of which a branch was computed.
func (p part) Branched() []record.Reading {
	return slices.DeleteFunc(slices.Clone(p.Readings), func(r record.Reading) bool {
		return !slices.ContainsFunc(r.Options, func(o record.Option) bool { return len(o.Attempts) > 0 })
	})
}

// maxAttached is the size of the largest chart that the report repeats, in base64.
const maxAttached = 200 << 10

// Chart returns the last chart of the last cell or, without one, of the last step, as the report
// repeats it; nil if there is none of such a size.
func (p part) Chart() map[string]notebook.MIMEBundle {
	for _, o := range slices.Backward(p.LastOutputs()) {
		if data, _ := o.Data["image/png"].(string); data != "" && len(data) <= maxAttached {
			return map[string]notebook.MIMEBundle{"chart": {"image/png": data}}
		}
	}
	return nil
}
