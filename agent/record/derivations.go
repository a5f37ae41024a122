package record

import (
	"fmt"
	"slices"
	"strings"
)

// Counts say what was derived beside the accepted cells, and how often it changed anything, by their
// names in JSON, which are a contract: see docs/benchmarks.md. nil: the method has none of it.
type Counts map[string]int

// countLines are the names of counts in the lines that show them.
var countLines = []string{
	"readings open computed changed",
	"second_derivations agreed ruled_same ruled_first ruled_second ruled_reading ruled_undecided",
}

// Derivations counts those of all questions; nil for the paper's method, which has none.
func (t *Trajectory) Derivations() Counts {
	if t.Method.Script || t.Method.Agent != "" {
		return nil
	}
	c := Counts{"readings": 0, "open": 0, "computed": 0, "changed": 0, "second_derivations": 0, "agreed": 0}
	for _, q := range t.Questions {
		for _, r := range q.Readings {
			computed, changed := false, false
			for i, o := range r.Options {
				is := i != r.Chosen && o.Answer != "" && !r.Settled
				computed, changed = computed || is, changed || is && !o.Same
			}
			c.count("readings", true)
			c.count("open", r.Open())
			c.count("computed", computed)
			c.count("changed", changed)
		}
		if s := q.Second; s != nil && len(s.Attempts)+len(s.Rejected) > 0 { // a cell was written
			c.count("second_derivations", true)
			c.count("agreed", s.Agrees)
			for _, r := range s.Rejected { // which have those that changed a derivation
				c.count("ruled_"+r.Ruling, true)
			}
			c.count("ruled_"+s.Ruling, !slices.Contains([]string{"", RuledFirst, RuledSecond}, s.Ruling))
		}
	}
	return c
}

func (c Counts) count(name string, is bool) {
	if is {
		c[name]++
	}
}

// Add returns the sum of two counts; nil if both are.
func (c Counts) Add(other Counts) Counts {
	for name, n := range other {
		if c == nil {
			c = Counts{}
		}
		c[name] += n
	}
	return c
}

// Lines returns the counts in lines for people.
func (c Counts) Lines() (lines []string) {
	for _, names := range countLines {
		var said []string
		for name := range strings.FieldsSeq(names) {
			if n, is := c[name]; is {
				said = append(said, fmt.Sprintf("%s %d", strings.ReplaceAll(name, "_", " "), n))
			}
		}
		if len(said) > 0 {
			lines = append(lines, strings.Join(said, ", "))
		}
	}
	return lines
}
