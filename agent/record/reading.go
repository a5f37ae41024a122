package record

import (
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/definitions"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
)

// A Reading is a point at which question and files leave open what is meant, and which could
// change the answer. The accepted cells take one option; the others are computed as branches.
type Reading struct {
	Point    string   `json:"point"` // in one sentence
	Options  []Option `json:"options"`
	Chosen   int      `json:"chosen"`             // index of the option that the accepted cells take
	Evidence string   `json:"evidence,omitempty"` // for it: sentences of sources, each with its place
	From     string   `json:"from,omitempty"`     // what weighs most: a file, or see FromForm
	Settled  bool     `json:"settled,omitempty"`  // the evidence leaves no doubt
	ByUser   bool     `json:"by_user,omitempty"`  // a person chose the option
	Late     bool     `json:"late,omitempty"`     // it came after the first step
	Problem  string   `json:"problem,omitempty"`  // why it could not be read; then it has no options

	Inherited bool  `json:"inherited,omitempty"` // an earlier question leaves it open
	Confirmed bool  `json:"confirmed,omitempty"` // the judge, too, finds that cells take it
	Together  []int `json:"together,omitempty"`  // indexes of readings: it takes their other options
}

// Sources of evidence that are no files of the data.
const (
	FromQuestion = "question"
	FromForm     = "form"
	FromNote     = "note" // of a person to the agent
)

// An Option is one way to take a [Reading]'s point. That of the accepted cells has attempts and an
// answer of its own only if it was in doubt whether they take it.
type Option struct {
	Text     string `json:"text"`
	Steps    int    `json:"steps,omitempty"`    // accepted steps that its branch begins with
	Proposed string `json:"proposed,omitempty"` // its cell, until it has run to its end
	Derived
	Same    bool   `json:"same,omitempty"`    // the answer is that of the accepted cells
	Problem string `json:"problem,omitempty"` // why it has no answer, in one line

	// Decided is what a step has printed if it decides, as the judge finds, that the option is not meant or
	// changes nothing. Then it is not computed.
	Decided string `json:"decided,omitempty"`
}

// Last returns the last cell of a notebook whose accepted cells are those of the option's branch:
// it prints the variable that the branch ends with. ok is false if the branch gave no answer in
// one.
func (o Option) Last() (code string, ok bool) {
	a := Accepted(o.Attempts)
	m := lastName().FindStringSubmatch(a.Code)
	if !a.IsCell() || o.Answer == "" || m == nil {
		return "", false
	}
	return "print(" + m[1] + ")", true
}

var lastName = lazy.Regexp(`(?:^|\n)([A-Za-z_]\w*)\s*$`)

// Anew returns the option without what came of it.
func (o Option) Anew() Option { return Option{Text: o.Text} }

// Undecide opens what outputs decide.
func (r Reading) Undecide() {
	for i := range r.Options {
		r.Options[i].Decided = ""
	}
}

// Open reports whether neither evidence nor a person has settled the point.
func (r Reading) Open() bool { return !r.Settled && !r.ByUser }

// Chose returns what a person has said of the point, who chose the option.
func (r Reading) Chose() string {
	return fmt.Sprintf("%s Meant is: %s", r.Point, r.Options[r.Chosen].Text)
}

// Other returns the index of the first option that is not chosen.
func (r Reading) Other() int { return 1 - min(r.Chosen, 1) }

// Decided returns the outputs that decide the point, or an option of it, each with its step.
func (r Reading) Decided() string {
	var all []string
	for _, o := range r.Options {
		all = append(all, where(o.Decided != "" && !slices.Contains(all, o.Decided), o.Decided)...)
	}
	return strings.Join(all, "; ")
}

// known reports whether the answer under the option, or why it has none, is known.
func (o Option) known() bool { return o.Answer != "" || o.Problem != "" }

// Computed reports whether every option that nothing decides has an answer, or a reason why it has none.
func (r Reading) Computed() bool {
	for i, o := range r.Options {
		if i != r.Chosen && !o.known() && o.Decided == "" {
			return false
		}
	}
	return true
}

// Matters reports whether another option changes the answer, or is not known to leave it.
func (r Reading) Matters() bool {
	other := func(o Option) bool { return !o.Same && o.known() }
	return r.Problem != "" || slices.ContainsFunc(r.Options, other)
}

// OpenReadings returns the open readings of the question that change its answer.
func (q *Question) OpenReadings() []Reading {
	return slices.DeleteFunc(slices.Clone(q.Readings),
		func(r Reading) bool { return !r.Open() || !r.Matters() })
}

// A Second is a derivation of the answer by a request that saw question, profiles and form, and
// nothing of the first derivation. Its cell ran in a session of its own.
type Second struct {
	Derived
	Agrees   bool    `json:"agrees"`             // it is the answer of the accepted cells
	Ruling   string  `json:"ruling,omitempty"`   // of the arbiter, if they differed: see the constants
	Reason   string  `json:"reason,omitempty"`   // of the ruling, or why there is no answer
	Unable   bool    `json:"unable,omitempty"`   // no session could be opened: to be derived yet
	Together bool    `json:"together,omitempty"` // its cell ran in a branch of the first's session
	Rejected []Ruled `json:"rejected,omitempty"` // earlier rulings that changed a derivation

	Readings []Reading `json:"readings,omitempty"` // on which its answer hangs, as it says
}

// The rulings of an arbiter on two derivations that differ.
const (
	RuledSame      = "same"      // the answers mean the same
	RuledFirst     = "first"     // the accepted cells have a mistake
	RuledSecond    = "second"    // the second derivation has a mistake
	RuledReading   = "reading"   // both are right, each for its reading of the question
	RuledUndecided = "undecided" // the arbiter could not tell
)

// Ruled is a ruling that has been carried out, with the answers that it was about.
type Ruled struct {
	Ruling string `json:"ruling"`
	Reason string `json:"reason"`
	First  string `json:"first"`
	Second string `json:"second"`
}

// Mistakes returns what second derivations before this one were found to have wrong: its request
// has them.
func (s Second) Mistakes() []string {
	found := lists.Where(s.Rejected, func(r Ruled) bool { return r.Ruling == RuledSecond })
	return lists.Map(found, func(r Ruled) string { return r.Reason })
}

// Unsettle withdraws what was derived beside the accepted cells, which have changed: the proof, the
// second derivation, and the answers under other readings.
func (q *Question) Unsettle() {
	q.Proof, q.Second = nil, nil
	q.Readings = restated(q.Readings)
}

// NoteTag marks a person's Markdown cell that the agent reads.
const NoteTag = "dsstar:note"

// restated returns the readings without the answers, which were those of other cells or data.
func restated(readings []Reading) (all []Reading) {
	for _, r := range readings {
		if r.Together != nil {
			continue
		}
		r.Confirmed, r.Options = false, lists.Map(r.Options, Option.Anew)
		all = append(all, r)
	}
	return all
}

// Decided is the kind of the journal's entries about what a person has decided while a run went on.
const Decided = "decision"

// A Decision is what a person has decided. Note is what it adds to the notes, if it does.
type Decision struct {
	Choice string `json:"choice,omitempty"`
	Option int    `json:"option,omitempty"` // of a reading
	Text   string `json:"text,omitempty"`   // the step
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
	Unseen bool   `json:"unseen,omitempty"` // the person did not want to be asked
	Note   string `json:"note,omitempty"`
}

// A Definition is one that this user has approved, and that requests about a question show.
type Definition struct {
	definitions.Definition
	Root string `json:"root"`           // the folder or file that has it
	Once bool   `json:"once,omitempty"` // approved for one command alone
	File string `json:"file,omitempty"` // the digest of its file, if that is no Markdown
}

// String names the definition with its place. It is the place of evidence that quotes it.
func (d Definition) String() string {
	return brief.OneLine("definition " + d.Term + " (" + d.Place + ")")
}

// Asks returns the question with the form of its answer.
func (q *Question) Asks() string { return q.Text + "\n" + q.Guidelines }

// Used returns the definitions whose term the question or its form uses, or that evidence quotes.
func (q *Question) Used() []Definition {
	return slices.DeleteFunc(slices.Clone(q.Definitions), func(d Definition) bool {
		quoted := func(r Reading) bool { return strings.Contains(r.Evidence, d.String()) }
		return !d.Used(q.Asks()) && !slices.ContainsFunc(q.Readings, quoted)
	})
}
