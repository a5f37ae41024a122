package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/brief"
	"dsstar/agent/memory"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/prompts"
)

// The bounds of the questions that a revision is shown.
const (
	maxExamples  = 20   // the newest
	exampleChars = 4000 // of the cells of each
)

// revise has the model propose what makes the memory in a folder smaller and more general, and returns
// what of it is admitted. If the request fails, nothing is revised: what was learned is worth keeping.
func (s *study) revise(ctx context.Context, dir string) (*memory.Revision, error) {
	admitted := &memory.Revision{}
	m, err := memory.Read(ctx, dir)
	if err != nil {
		return nil, err
	}
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	s.j.progress.Wait("finding what the answers share")
	defer s.j.progress.Wait("")
	t, proposed, err := agent.ProposeRevision(ctx, config, s.task, m, s.examples(m))
	s.spent(t)
	if err != nil && ctx.Err() == nil {
		s.j.progress.Warn("nothing is revised: %v", err)
		return admitted, nil
	}
	if err != nil {
		return nil, err
	}
	for _, problem := range proposed.Problems {
		s.j.progress.Say("left out %s", problem)
	}
	admitted.Facts = proposed.Facts
	for _, f := range proposed.Facts {
		s.j.progress.Say("revised  %s", mergerInWords(f))
	}
	// Together, as they may need each other; or else those that hold alone.
	if all := memory.Together(proposed.Tools); len(proposed.Tools) > 1 {
		reason, err := s.tryReplacement(ctx, dir, admitted, all)
		if err != nil {
			return nil, err
		}
		if reason == "" {
			proposed.Tools = []memory.Replacement{all}
		}
	}
	for _, r := range proposed.Tools {
		reason, err := s.tryReplacement(ctx, dir, admitted, r)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			s.j.progress.Say("left out %s in place of %s: %s", r, strings.Join(r.Old, ", "), reason)
			continue
		}
		s.j.progress.Say("revised  %s in place of %s", r, strings.Join(r.Old, ", "))
		admitted.Tools = append(admitted.Tools, r)
	}
	return admitted, nil
}

func mergerInWords(f memory.Merger) string {
	old := term.Fit(term.Printed(strings.Join(f.Old, " / ")), 120)
	if f.New.Text == "" {
		return fmt.Sprintf("withdrawn: %s (%s)", old, term.Fit(term.Printed(f.Reason), 80))
	}
	return fmt.Sprintf("%s in place of %s", term.Fit(term.Printed(f.New.String()), 120), old)
}

// examples returns the newest verified questions of a memory, with their cells.
func (s *study) examples(m *memory.Memory) (all []prompts.Example) {
	newest := slices.Clone(m.Questions)
	slices.SortStableFunc(newest, func(a, b memory.Question) int { return b.Asked.Compare(a.Asked) })
	for _, q := range newest {
		t, _ := agent.RunOf(m, q)
		if t == nil || len(all) == maxExamples {
			continue
		}
		all = append(all, prompts.Example{Question: q.Question, Uses: strings.Join(q.Tools, ", "),
			Cells: brief.Clip(strings.Join(t.OwnCells(), "\n\n"), exampleChars)})
	}
	return all
}

// tryReplacement returns why functions may not replace others in the memory in a folder, after what is
// admitted already, or "".
func (s *study) tryReplacement(ctx context.Context, dir string, admitted *memory.Revision,
	r memory.Replacement) (string, error) {
	was, err := memory.Read(ctx, dir)
	if err != nil {
		return "", err
	}
	for _, before := range admitted.Tools {
		was.Replace(before)
	}
	now, err := memory.Read(ctx, dir)
	if err != nil {
		return "", err
	}
	now.Revise(&memory.Revision{Tools: append(slices.Clone(admitted.Tools), r)})
	s.j.progress.Wait("testing " + r.String())
	return s.replacementFault(ctx, was, now, r)
}

// replacementFault returns why functions may not replace others, or "". was is the memory before, and
// now the memory with them. All cases of the old ones must hold, those of the functions that called
// them too, and every verified question that uses one must still give its answer.
func (c *checker) replacementFault(ctx context.Context, was, now *memory.Memory, r memory.Replacement) (string, error) {
	if reason := r.Fault(was); reason != "" {
		return reason, nil
	}
	if c.idle {
		return errIdle.Error(), nil
	}
	var names []string
	for _, tool := range r.Touched(was, now) {
		reason, err := c.casesFault(ctx, now, tool)
		if err != nil || reason != "" {
			return fmt.Sprintf("%s: %s", tool.Name, reason), err
		}
		names = append(names, tool.Name)
	}
	functions := memory.Needed(now.Tools, strings.Join(names, " "))
	for _, q := range r.Uses(was) {
		if !q.On(c.data()) {
			continue // its answer is about other data
		}
		t, problem := agent.RunOf(was, q)
		if t == nil {
			return fmt.Sprintf("the question %q cannot be run again: %s", term.Fit(term.Printed(q.Question), 60), problem), nil
		}
		if reason, err := c.questionFault(ctx, now, q, t, functions, r.Old...); err != nil || reason != "" {
			return reason, err
		}
	}
	return "", nil
}
