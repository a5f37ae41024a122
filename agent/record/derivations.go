package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/notebook/human"
)

// Derivations counts what was derived beside the accepted cells, and how often it changed anything.
// Its JSON is a contract: see docs/benchmarks.md.
type Derivations struct {
	Readings ReadingCounts `json:"readings"`
	Second   SecondCounts  `json:"second"`
	Memory   MemoryCounts  `json:"memory,omitzero"`
}

// MemoryCounts counts what runs were given of the memory of their data, and what that saved.
type MemoryCounts struct {
	Facts     int `json:"facts"`
	Functions int `json:"functions"` // that cells use
	Examples  int `json:"examples"`  // verified questions whose cells were shown
	Again     int `json:"again"`     // questions that were answered by their notebooks, without a call
	Calls     int `json:"calls"`     // that those had cost, and so their input tokens
	Tokens    int `json:"input_tokens"`
}

// ReadingCounts counts readings of the question.
type ReadingCounts struct {
	Named    int `json:"named"`
	Open     int `json:"open"`     // neither evidence nor a person settled them
	Computed int `json:"computed"` // open ones with an answer under another option
	Changed  int `json:"changed"`  // those of which another option changes the answer
}

// SecondCounts counts second derivations.
type SecondCounts struct {
	Run     int            `json:"run"`
	Agreed  int            `json:"agreed"`
	Rulings map[string]int `json:"rulings"` // of the arbiter: see [RuledSame] and the others
}

// Derivations counts those of all parts; nil for the paper's method, which has none.
func (t *Trajectory) Derivations() *Derivations {
	if t.Method.Script {
		return nil
	}
	d := &Derivations{Second: SecondCounts{Rulings: map[string]int{}}}
	if r := t.Recalled; r != nil {
		d.Memory.Facts, d.Memory.Functions = len(r.Facts), len(t.UsedTools())
		if r.Example != nil {
			d.Memory.Examples = 1
		}
		if t.Reused() {
			d.Memory.Again, d.Memory.Calls, d.Memory.Tokens = 1, r.Spent.Calls, r.Spent.InputTokens
		}
	}
	for _, q := range t.Questions {
		for _, r := range q.Readings {
			d.Readings.count(r)
		}
		if q.Second != nil {
			d.Second.count(*q.Second)
		}
	}
	return d
}

func (c *ReadingCounts) count(r Reading) {
	c.Named++
	if r.Settled {
		return
	}
	computed, changed := 0, 0
	for i, o := range r.Options {
		if i != r.Chosen && o.Answer != "" {
			if computed = 1; !o.Same {
				changed = 1
			}
		}
	}
	if r.Open() {
		c.Open++
	}
	c.Computed += computed
	c.Changed += changed
}

func (c *SecondCounts) count(s Second) {
	if len(s.Attempts)+len(s.Rejected) == 0 {
		return // no cell was written
	}
	c.Run++
	if s.Agrees {
		c.Agreed++
	}
	for _, r := range s.Rejected { // which have those that changed a derivation
		c.Rulings[r.Ruling]++
	}
	if !slices.Contains([]string{"", RuledFirst, RuledSecond}, s.Ruling) {
		c.Rulings[s.Ruling]++
	}
}

// Add adds the counts of another run; nil has none.
func (d *Derivations) Add(o *Derivations) {
	if o == nil {
		return
	}
	figures := func(d *Derivations) []*int {
		r, m := &d.Readings, &d.Memory
		return []*int{&r.Named, &r.Open, &r.Computed, &r.Changed, &d.Second.Run, &d.Second.Agreed,
			&m.Facts, &m.Functions, &m.Examples, &m.Again, &m.Calls, &m.Tokens}
	}
	for i, n := range figures(o) {
		*figures(d)[i] += *n
	}
	if d.Second.Rulings == nil {
		d.Second.Rulings = map[string]int{}
	}
	for ruling, n := range o.Second.Rulings {
		d.Second.Rulings[ruling] += n
	}
}

// InWords returns what runs were given of memory, and what that saved; "" if nothing.
func (m MemoryCounts) InWords() string {
	if m == (MemoryCounts{}) {
		return ""
	}
	said := fmt.Sprintf("%s and %s shown, %s used", human.Plural(m.Facts, "fact"),
		human.Plural(m.Examples, "example"), human.Plural(m.Functions, "function"))
	if m.Again > 0 {
		said += fmt.Sprintf("; %s answered by the notebook that had; it had cost %s with %d input tokens",
			human.Plural(m.Again, "question"), human.Plural(m.Calls, "call"), m.Tokens)
	}
	return said
}

// InWords returns a line about readings and one about second derivations.
func (d *Derivations) InWords() (readings, second string) {
	r, s := d.Readings, d.Second
	readings = fmt.Sprintf("%d named, %d open, %d computed, %d changed the answer", r.Named, r.Open,
		r.Computed, r.Changed)
	second = fmt.Sprintf("%d run, %d agreed", s.Run, s.Agreed)
	var rulings []string
	for _, ruling := range slices.Sorted(maps.Keys(s.Rulings)) {
		rulings = append(rulings, fmt.Sprintf("%s %d", ruling, s.Rulings[ruling]))
	}
	if len(rulings) > 0 {
		second += "; rulings: " + strings.Join(rulings, ", ")
	}
	return readings, second
}
