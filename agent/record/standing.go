package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
)

// Proved reports whether the plan was found sufficient and a fresh run printed the same answer.
func (t *Trajectory) Proved() bool {
	return t.Sufficient() && t.Answer() != "" && t.Proof != nil && t.Proof.Same
}

// The standings of an answer.
const (
	verified    = "verified"
	depends     = "depends on a reading"
	notVerified = "not verified"
)

// Standing says in words what the answer is worth. It is verified if it is proved, a second derivation
// agrees, no open reading of the question changes it, and so are the answers on which it builds. It
// depends on a reading if nothing but open readings keeps it from that.
func (t *Trajectory) Standing() string {
	switch faults, readings := t.doubts(); {
	case !t.Proved() || len(faults) > 0:
		return notVerified
	case len(readings) > 0:
		return depends
	}
	return verified
}

// Verified reports whether the answer is verified.
func (t *Trajectory) Verified() bool { return t.Standing() == verified }

// Depends reports whether the answer depends on a reading.
func (t *Trajectory) Depends() bool { return t.Standing() == depends }

// Doubts lists the reasons why the answer is not verified. It is empty for a verified answer.
func (t *Trajectory) Doubts() []string {
	faults, readings := t.doubts()
	return append(faults, readings...)
}

// doubts lists the faults of the answer and the readings that change it, and those of the earlier
// questions on which it builds.
func (t *Trajectory) doubts() (faults, readings []string) {
	faults = t.faults()
	for _, r := range t.OpenReadings() {
		point := brief.OneLine(r.Point)
		if r.Problem != "" {
			point = strings.TrimRight(point, " .") + ", but " + r.Problem
		}
		readings = append(readings, dependsOn+point)
	}
	for _, k := range t.BuildsOn() {
		its := t.Part(k)
		why, open := its.faults(), its.OpenReadings()
		it := fmt.Sprintf("it builds on question %d, which ", k+1)
		if len(why) > 0 {
			faults = append(faults, it+"is not verified: "+why[0])
		} else if len(open) > 0 {
			readings = append(readings, it+"depends on a reading: "+brief.OneLine(open[0].Point))
		}
	}
	return faults, readings
}

// where returns texts if something is so.
func where(is bool, texts ...string) []string {
	if is {
		return texts
	}
	return nil
}

// faults lists the doubts other than readings that change the answer.
func (t *Trajectory) faults() []string {
	v, p, s := t.Judged(), cmp.Or(t.Proof, &Proof{Same: true}), cmp.Or(t.Second, &Second{})
	doubt := t.disagreement()
	why := slices.Concat(where(t.Answer() == "", "no cell printed an answer"), t.final().Doubts,
		where(v.Disputes > 0,
			fmt.Sprintf("the judge disagrees with your cell of step %d", v.Disputes)+After(": ", v.Reason)),
		where(v.Disputes == 0 && !t.Sufficient(), "the plan was not judged sufficient"),
		where(!p.Same, p.Reason), p.Doubts,
		where(t.Proof == nil && t.Answer() != "" && t.Ended, "it was not proved as it is now"),
		where(t.Adopted && t.Earlier() > 0, // whose cells run before those of the second derivation, too
			"it follows questions of a run that another dsstar began"),
		where(doubt != "" && (t.Second != nil || t.Proved()), doubt), s.Doubts)
	for _, r := range t.Readings {
		why = append(why, where(r.Open() && !r.Computed() && t.Proved(),
			"the answer under another reading is not known: "+brief.OneLine(r.Point))...)
	}
	return why
}

// disagreement says why no second derivation confirms the answer, or returns "". A difference that
// a reading explains is the reading's.
func (t *Trajectory) disagreement() string {
	s := t.Second
	switch {
	case s == nil:
		return "it was derived only once"
	case s.Agrees || s.Ruling == RuledSame:
		return ""
	case s.Answer == "":
		return "the second derivation gave no answer" + After(": ", s.Reason)
	case (s.Ruling == "" || s.Ruling == RuledReading) &&
		slices.ContainsFunc(t.Readings, Reading.Matters):
		return ""
	}
	return fmt.Sprintf("the second derivation gave another answer, %s",
		s.InWords()) + After(": ", s.Reason)
}

// After returns the text in one line after mark, without its full stop, or "" if there is none.
func After(mark, text string) string {
	if text = strings.TrimSuffix(brief.OneLine(text), "."); text == "" {
		return ""
	}
	return mark + text
}

// clippedChars limits an answer within a sentence or a table.
const clippedChars = 200

// InWords returns the answer in one line. If it has files, how it differs is said, too: the words can be
// the same.
func (d Derived) InWords() string {
	answer := Clipped(d.Answer)
	if len(d.Files) > 0 && d.Differs != "" {
		answer += " (" + Clipped(d.Differs) + ")"
	}
	return answer
}

// Clipped returns an answer in one line.
func Clipped(answer string) string { return brief.OneLine(brief.Clip(answer, clippedChars)) }
