package memory

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dsstar/notebook/lazy"
)

// A Revision makes a memory smaller and more general.
type Revision struct {
	Facts    []Merger
	Tools    []Replacement
	Problems []string // what could not be read, in words
}

// Empty reports whether it changes nothing.
func (r *Revision) Empty() bool { return len(r.Facts)+len(r.Tools) == 0 }

// A Merger has one fact stand for others, or withdraws them.
type Merger struct {
	Old    []string // texts of facts
	New    Fact     // zero: the old ones are withdrawn
	Reason string   // of that
}

// A Replacement has functions stand for others. A new one may have the name of one that it replaces.
type Replacement struct {
	Old     []string // names
	Imports []string
	New     []Tool
}

var (
	mergerLine   = lazy.Regexp(`^(?:[-*]\s+)?\*{0,2}[Ff]acts?\s+(\d[\d,\s]*(?:and\s+\d+)?)\s*:\*{0,2}\s*(.+)$`)
	withdrawn    = lazy.Regexp(`^(?i)\*{0,2}withdrawn\b[\s:,.*]*`)
	numbers      = lazy.Regexp(`\d+`)
	replacesLine = lazy.Regexp(`^#\s*Replaces:\s*(.+)$`)
)

// ProposeRevision reads lines about facts, which are named by their numbers from 1, and functions as
// [Propose] does, of which each block begins with a comment that names those that it replaces. What
// cannot be understood is left out and told in Problems.
func (m *Memory) ProposeRevision(text string, code []string) *Revision {
	r := &Revision{}
	merged := map[string]bool{}
	for line := range strings.Lines(text) {
		found := mergerLine().FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue
		}
		merger, problem := m.merger(found[1], found[2], merged)
		if problem != "" {
			r.Problems = append(r.Problems, problem+": "+clip(oneLine(line)))
			continue
		}
		r.Facts = append(r.Facts, merger)
		for _, old := range merger.Old {
			merged[old] = true
		}
	}
	for _, block := range code {
		replacement, problems := replacement(block)
		if r.Problems = append(r.Problems, problems...); len(replacement.New) > 0 && len(problems) == 0 {
			r.Tools = append(r.Tools, replacement)
		}
	}
	return r
}

// merger reads what becomes of the facts with some numbers, none of which may be merged already.
func (m *Memory) merger(which, text string, merged map[string]bool) (r Merger, problem string) {
	for _, number := range numbers().FindAllString(which, -1) {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(m.Facts) {
			return r, "there is no fact " + number
		}
		if old := m.Facts[n-1].Text; merged[old] {
			return r, "fact " + number + " is named twice"
		} else if !slices.Contains(r.Old, old) {
			r.Old = append(r.Old, old)
		}
	}
	if gone := withdrawn().FindString(text); gone != "" {
		r.Reason = strings.TrimSpace(text[len(gone):])
		return r, ""
	}
	said, source, _ := strings.Cut(text, sourceMark)
	r.New = Fact{oneLine(said), oneLine(source)}
	if r.New.Text == "" || r.New.Source == "" {
		return r, "a fact without a source"
	}
	return r, ""
}

// replacement reads a block of functions.
func replacement(block string) (r Replacement, problems []string) {
	var rest strings.Builder
	for line := range strings.Lines(block) {
		if found := replacesLine().FindStringSubmatch(strings.TrimRight(line, "\n ")); found != nil {
			r.Old = append(r.Old, wordsIn(found[1])...)
		} else {
			rest.WriteString(line)
		}
	}
	proposed := Propose("", []string{rest.String()})
	r.Imports, r.New = proposed.Imports, proposed.Tools
	if len(r.Old) == 0 && len(r.New) > 0 {
		problems = append(problems, r.String()+" replaces no function")
	}
	return r, append(problems, proposed.Problems...)
}

// Together returns replacements as one.
func Together(all []Replacement) (r Replacement) {
	for _, one := range all {
		r.Old = append(r.Old, one.Old...)
		r.Imports = append(r.Imports, one.Imports...)
		r.New = append(r.New, one.New...)
	}
	return r
}

// Has reports whether there is a function of a name.
func (m *Memory) Has(tool string) bool {
	return slices.ContainsFunc(m.Tools, func(t Tool) bool { return t.Name == tool })
}

// String returns the names of the new functions.
func (r Replacement) String() string { return strings.Join(namesOf(r.New), ", ") }

func namesOf(tools []Tool) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// Fault returns why functions cannot replace others in a memory, or "": names that are not there, or
// are taken, and cases that are not those of the old ones, rewritten with the same values. Values of the
// model's own would prove nothing.
func (r Replacement) Fault(m *Memory) string {
	for _, name := range r.Old {
		if !m.Has(name) {
			return "there is no function " + name
		}
	}
	for i, t := range r.New {
		if m.Has(t.Name) && !slices.Contains(r.Old, t.Name) || slices.Contains(namesOf(r.New[:i]), t.Name) {
			return "there is a function of the name " + t.Name
		}
	}
	return r.caseFault(m)
}

func (r Replacement) caseFault(m *Memory) string {
	now, problem := casesByValue(r.New)
	if problem != "" {
		return problem
	}
	needed := map[string]int{} // cases, by value
	for _, t := range m.Tools {
		if !slices.Contains(r.Old, t.Name) {
			continue
		}
		was, problem := casesByValue([]Tool{t})
		if problem != "" {
			return problem
		}
		for _, value := range slices.Sorted(maps.Keys(was)) {
			if needed[value] += len(was[value]); len(now[value]) < needed[value] {
				return fmt.Sprintf("not all cases of %s with the value %s are among its own", t.Name, value)
			}
		}
	}
	for _, value := range slices.Sorted(maps.Keys(now)) {
		if needed[value] == 0 {
			return "no case that it takes over has the value " + value
		}
	}
	return ""
}

// casesByValue returns the different calls of cases by the value that they give.
func casesByValue(tools []Tool) (calls map[string]map[string]bool, problem string) {
	calls = map[string]map[string]bool{}
	for _, t := range tools {
		for line := range strings.Lines(t.Test) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			at := strings.LastIndex(line, "==")
			if !strings.HasPrefix(line, "assert ") || at < 0 {
				return nil, "a case of " + t.Name + " is no line that compares with a value"
			}
			value := strings.TrimSpace(line[at+2:])
			if calls[value] == nil {
				calls[value] = map[string]bool{}
			}
			calls[value][oneLine(line[:at])] = true
		}
	}
	return calls, ""
}

// Touched returns the functions of the memory now that are new, and those that called an old one before.
func (r Replacement) Touched(was, now *Memory) []Tool {
	return slices.DeleteFunc(slices.Clone(now.Tools), func(t Tool) bool {
		return !slices.Contains(namesOf(r.New), t.Name) &&
			!slices.ContainsFunc(Needed(was.Tools, t.Name), func(o Tool) bool { return slices.Contains(r.Old, o.Name) })
	})
}

// Uses returns the verified questions whose cells use one of the old functions, each once.
func (r Replacement) Uses(was *Memory) (all []Question) {
	for _, old := range r.Old {
		for _, q := range was.Using(old) {
			if !slices.ContainsFunc(all, func(o Question) bool { return o.same(q.Question, q.Guidelines) }) {
				all = append(all, q)
			}
		}
	}
	return all
}

// Merge has a fact stand for others. Facts that are no longer there are no matter.
func (m *Memory) Merge(r Merger) {
	for _, old := range r.Old {
		m.forgetFact(old)
	}
	if r.New.Text != "" {
		m.AddFact(r.New)
	}
}

// Replace has functions stand for others. Their cases keep the comments of those, such as the question.
func (m *Memory) Replace(r Replacement) {
	var notes []string
	for _, old := range r.Old {
		t, _ := m.drop(old)
		m.removeTool(old)
		for line := range strings.Lines(t.Test) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") && !slices.Contains(notes, line) {
				notes = append(notes, line)
			}
		}
	}
	for _, t := range r.New {
		t.Test = strings.Join(append(slices.Clone(notes), t.Test), "\n")
		m.AddTool(t, r.Imports)
	}
}

// Revise carries a revision out.
func (m *Memory) Revise(r *Revision) {
	for _, merger := range r.Facts {
		m.Merge(merger)
	}
	for _, replacement := range r.Tools {
		m.Replace(replacement)
	}
}
