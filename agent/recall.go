package agent

import (
	"slices"
	"strings"

	"dsstar/agent/describe/profile"
	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

const (
	maxFacts = 3000 // bytes of facts that a request shows; a rule may hold for questions in other words
	maxTools = 8    // functions that a session has, besides those that they call

	// nearEnough is the least nearness of a function to the question, as a share of the nearest one's.
	// One that is farther rarely serves, and costs tokens with every question.
	nearEnough = 0.5
)

// RecallFor returns what a memory has for a question: the nearest verified question, the facts, nearest
// first, the nearest functions, in the memory's order, and those that the cells of the nearest
// question use. It returns nil if the memory is empty. Functions without cases are left out.
func RecallFor(m *memory.Memory, question string) *record.Recalled {
	if m == nil || len(m.Facts)+len(m.Tools)+len(m.Questions) == 0 {
		return nil
	}
	r := &record.Recalled{Example: exampleFor(m, question)}
	texts := make([]string, len(m.Facts))
	for i, f := range m.Facts {
		texts[i] = f.String()
	}
	room := maxFacts
	order, _ := profile.Near(question, texts, 0)
	for _, i := range order {
		if size := len(texts[i]) + 1; size <= room {
			r.Facts, room = append(r.Facts, m.Facts[i]), room-size
		}
	}
	tested := slices.DeleteFunc(slices.Clone(m.Tools), func(t lesson.Tool) bool { return t.Test == "" })
	texts = nil
	for _, t := range tested {
		texts = append(texts, t.Head()+"\n"+t.Test) // which names the question
	}
	names := ""
	order, some := profile.Near(question, texts, nearEnough)
	for _, i := range order[:min(some, maxTools)] {
		names += tested[i].Name + " "
	}
	if r.Example != nil {
		names += r.Example.Cells // it may use others
	}
	r.Tools = lesson.Needed(tested, names)
	return r
}

// exampleFor returns the verified question of a memory that is nearest to another one. It returns
// nil if none is near, or the notebooks of the near ones are not as they were.
func exampleFor(m *memory.Memory, question string) *record.Example {
	for _, q := range m.Near(question, 0.3, 10) { // each costs reading a notebook
		if t := runOf(m, q); t != nil && t.Verified() && !t.Inconclusive() {
			cells := strings.Join(t.OwnCells(), "\n\n")
			return &record.Example{Question: q.Question, Form: q.Guidelines, Cells: cells}
		}
	}
	return nil
}

// runOf returns the run that a question's notebook records; nil if it is not there as it was, or a
// person's note or choice decided it.
func runOf(m *memory.Memory, q memory.Question) *record.Trajectory {
	nb, err := notebook.Open(m.NotebookOf(q))
	if err != nil {
		return nil
	}
	t, err := page.Read(nb)
	chosen := func(r record.Reading) bool { return r.ByUser }
	if err != nil || t.Answer() != q.Answer || t.Earlier() > 0 || len(t.Edits()) > 0 || len(t.Variables) > 0 ||
		t.Method.Script || len(t.Notes) > 0 || slices.ContainsFunc(t.Readings, chosen) {
		return nil
	}
	return t
}

// shownMemory returns the facts, a line each, and the heads of the functions.
func shownMemory(r *record.Recalled) (facts, functions string) {
	if r == nil {
		return "", ""
	}
	for _, f := range r.Facts {
		facts += f.String() + "\n"
	}
	for _, t := range r.Tools {
		functions += t.Head() + "\n\n"
	}
	return strings.TrimSpace(facts), strings.TrimSpace(functions)
}

// withoutMemory takes the memory out of a request, for those who must not rely on it: who checks what
// was made with it.
func withoutMemory(parts []prompts.Part) {
	for i, p := range parts {
		if context, ok := p.(prompts.Context); ok {
			context.Facts, context.Functions = "", ""
			parts[i] = context
		}
	}
}

// unaided returns the cells that the rounds of this question build on, set-up and the cells of
// earlier questions, without the functions of memory unless cells of earlier questions use them.
func unaided(t *record.Trajectory) record.Chain {
	c := t.Chain()
	c.Steps = nil
	if n := len(c.SetUp) - 1; t.Earlier() == 0 && strings.HasPrefix(c.SetUp[n], record.ToolsComment) {
		c.SetUp = c.SetUp[:n]
	}
	return c
}
