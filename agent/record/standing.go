package record

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/lists"
)

// Proved reports whether the plan was found sufficient and a fresh run printed the same answer.
func (t *Trajectory) Proved() bool {
	return t.Sufficient() && t.Answer() != "" && t.Proof != nil && t.Proof.Same
}

// The standings of an answer.
const verified, depends, notVerified = "verified", "depends on a reading", "not verified"

// Standing says in words what the answer is worth. It is verified if it is proved, a second
// derivation agrees, no open reading of the question changes it, and so are the answers on which it
// builds. It depends on a reading if nothing but open readings keeps it from that.
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
	return "the second derivation gave another answer, " + s.InWords() + After(": ", s.Reason) + t.unseen()
}

// unseen says, after a semicolon, which cells of a person the second derivation did not see; "": there are none.
func (q *Question) unseen() string {
	var cells []string
	for n, r := range q.Accepted() {
		cells = append(cells, where(r.ByHand, fmt.Sprintf("step %d", n+1))...)
	}
	return After("; the second derivation saw nothing of what was written or changed by hand: ",
		strings.Join(append(cells, where(q.final().ByHand, "the last cell")...), ", "))
}

// After returns the text in one line after mark, without its full stop, or "" if there is none.
func After(mark, text string) string {
	if text = strings.TrimSuffix(brief.OneLine(text), "."); text == "" {
		return ""
	}
	return mark + text
}

// InWords returns the answer in one line. If it has files, how it differs is said, too: the words
// can be the same.
func (d Derived) InWords() string {
	answer := Clipped(d.Answer)
	if len(d.Files) > 0 && d.Differs != "" {
		answer += " (" + Clipped(d.Differs) + ")"
	}
	return answer
}

// Clipped returns an answer in one line, as a sentence or a table has it.
func Clipped(answer string) string { return brief.OneLine(brief.Clip(answer, 200)) }

// SummaryLabel returns what stands before the summary of the answer.
func (t *Trajectory) SummaryLabel() string {
	if t.final().ByHand {
		return "In the words of a last cell that was written by hand"
	}
	return "In the model's words, of which only the figures of the answer were checked"
}

// dependsOn begins the doubt that a reading of the question raises.
const dependsOn = "it depends on a reading: "

// InWords says in one line what the answer is worth, and why: the standing, a colon, and the rest.
// Every surface takes its words from here, or from [Trajectory.Label] where there is no room.
func (t *Trajectory) InWords() string {
	faults, readings := t.doubts()
	text := "Not verified: " + joined(append(faults, readings...)) + "."
	switch {
	case t.Verified():
		text = "Verified: " + t.proved(len(t.Readings))
	case t.Failure != "":
		text = "Stopped: " + brief.OneLine(t.Failure)
	case !t.Ended:
		text = "Running: this notebook is saved after every step."
	case t.Depends():
		text = "Depends on a reading: another one changes the answer (" +
			strings.ReplaceAll(joined(readings), dependsOn, "") + "). All else holds: " + t.proved(-1)
	}
	if t.Inconclusive() {
		text += " The" + strings.TrimPrefix(noAnswer, "the") + After(": ", t.Judged().Reason) + "."
	}
	return text
}

// joined returns reasons as a part of a sentence.
func joined(reasons []string) string {
	return strings.TrimSuffix(strings.ReplaceAll(strings.Join(reasons, "; "), ".; ", "; "), ".")
}

// Label returns the standing of the answer, and says with it that the data hold none.
func (t *Trajectory) Label() string {
	if t.Inconclusive() {
		return t.Standing() + ", " + noAnswer
	}
	return t.Standing()
}

const noAnswer = "the data hold no answer"

// proved says how the answer was derived and repeated, which parts of it were compared, and, of so
// many readings that were named, that none changes it; fewer than 0: nothing of readings.
func (t *Trajectory) proved(readings int) string {
	compared, not := t.compared()
	decided := t.Decided()
	drawn := slices.ContainsFunc(t.LastOutputs(), func(o notebook.Output) bool {
		return strings.Contains(strings.Join(slices.Collect(maps.Keys(o.Data)), " "), "image/")
	})
	if drawn && !slices.ContainsFunc(t.Given(), IsPicture) {
		not = append(not, "the chart")
	}
	said := slices.Concat(
		[]string{t.twice() + "; repeated from scratch in a fresh session and by solution.py"},
		where(len(compared) > 0, "files compared: "+strings.Join(compared, ", ")),
		where(len(not) > 0, "not compared: "+strings.Join(not, ", ")),
		where(readings == 0, "no reading of the question was named"),
		where(readings > 0 && decided == nil, "no open reading of the question changes it"), decided,
		where(decided != nil && readings > len(decided), "no other open reading of the question changes it"))
	end := "."
	tier, _, _ := strings.Cut(strings.ReplaceAll(t.Sandbox, ",", " "), " ")
	if slices.Contains([]string{"none", "off", "external"}, tier) { // dsstar's confines nothing
		end = ". No sandbox of dsstar's kept the cells from passing something on to the proof."
	}
	return strings.Join(said, "; ") + end
}

// Decided says which readings were not computed, as the judge finds that outputs decide them.
func (q *Question) Decided() (all []string) {
	for _, r := range q.Readings {
		by := r.Decided()
		all = append(all, where(by != "", "not computed, but decided by what "+by+After(": ", r.Point))...)
	}
	return all
}

// twice says how far the second derivation is one of its own.
func (t *Trajectory) twice() string {
	s, how := t.Second, "independently"
	switch {
	case s == nil:
		return "derived once"
	case len(s.Rejected) > 0:
		how = "one of them corrected after an arbiter had compared both"
	case s.Together:
		how = "both in one session"
	case !s.Agrees && s.Ruling != RuledSame:
		how = "the second time under another reading"
	case t.Earlier() > 0:
		how = "the second time on the cells of earlier questions, too"
	}
	if s.Ruling == RuledSame {
		how += "; that both answers mean the same is a model's word"
	}
	return "derived twice, " + how + t.unseen()
}

// BuildsOn returns the indexes of the earlier questions on which the answer may build: until it is
// proved, on all.
func (t *Trajectory) BuildsOn() (on []int) {
	for k := range t.Earlier() {
		if t.Proof == nil || !slices.Contains(t.Proof.Apart, k) {
			on = append(on, k)
		}
	}
	return on
}

// compared returns the files of the answer that were compared with those of the second derivation,
// and the others.
func (t *Trajectory) compared() (names, not []string) {
	for _, f := range t.final().Files {
		same := func(s compare.File) bool {
			return s.Name == f.Name && (s.Digest == f.Digest || s.Text != "" && f.Text != "")
		}
		switch {
		case f.Digest == "":
		case t.Second != nil && slices.ContainsFunc(t.Second.Files, same):
			names = append(names, f.Name)
		default:
			not = append(not, f.Name)
		}
	}
	return names, not
}

// IsPicture reports whether a file is a picture, by its name.
func IsPicture(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg", ".svg", ".gif", ".webp"},
		strings.ToLower(path.Ext(name)))
}

// InWords says what an answer hangs on: the point, and a line for each option with its answer; that
// of the accepted cells is given.
func (r Reading) InWords(answer string) string {
	text := brief.OneLine(r.Point)
	for i, o := range r.Options {
		line := o.Text
		if i == r.Chosen {
			line += " (taken)"
		}
		if gives := r.Gives(i, answer); gives != "" {
			line += ": " + gives
		}
		text += "\n  - " + strings.ReplaceAll(line, "\n", "\n    ")
	}
	return text
}

// Gives says what the answer is under option i; "" if that is not computed. The answer of the
// accepted cells is given.
func (r Reading) Gives(i int, answer string) string {
	switch o := r.Options[i]; {
	case i == r.Chosen:
		return answer + After(", but that the steps take it is not confirmed: ", o.Problem)
	case o.Decided != "":
		return "decided by what " + o.Decided
	case o.Same:
		return "the same"
	case o.Answer != "":
		return o.InWords()
	default:
		return After("not known: ", o.Problem)
	}
}

// Safety is the notice above the notebook and script of every run.
var Safety = []string{
	"A model wrote this code. \"Verified\" does not mean safe: malicious code could wait for " +
		"another user or machine.",
	"Run All and `python solution.py` run it unconfined; `dsstar rerun notebook.ipynb` runs it in " +
		"a sandbox.",
}

// Given returns the names, below the cells' folder, of the files that the question asks for and of
// those that the answer names, if they were written.
func (t *Trajectory) Given() []string {
	written := lists.Where(t.final().Files, func(f compare.File) bool { return f.Digest != "" })
	return lists.Map(written, func(f compare.File) string { return f.Name })
}

// LastOutputs returns the outputs of the last step's cell and the last cell, which the report may
// repeat.
func (t *Trajectory) LastOutputs() (all []notebook.Output) {
	if rounds := t.Accepted(); len(rounds) > 0 && !t.Method.Script {
		all = rounds[len(rounds)-1].Accepted().Execution.Outputs
	}
	return slices.Concat(all, t.FinalCell().Execution.Outputs)
}

// Counts say how often what was derived beside the accepted cells changed anything, by their names
// in JSON, which are a contract: see docs/benchmarks.md. nil: the method has none of it.
type Counts map[string]int

// Derivations counts those of all questions; nil for other agents' methods, which have none.
func (t *Trajectory) Derivations() Counts {
	if t.Method.Script || t.Method.Agent != "" {
		return nil
	}
	c := Counts{"readings": 0, "changed": 0, "second_derivations": 0, "agreed": 0, "corrected": 0}
	for _, q := range t.Questions {
		c["readings"] += len(q.Readings)
		c["changed"] += len(q.OpenReadings())
		if s := q.Second; s != nil {
			c["second_derivations"]++
			c["corrected"] += len(s.Rejected)
			if s.Agrees {
				c["agreed"]++
			}
		}
	}
	return c
}
