// Package learn is the loop of dsstar learn --from and --make: questions are answered, what they
// taught is revised, and both are tried on questions that were held back.
package learn

import (
	"context"
	"path/filepath"

	"dsstar/agent/memory"
	"dsstar/notebook/human"
)

// heldBack is how many questions there are for each one that is held back.
const heldBack = 3

// A Loop is what the loop needs.
type Loop struct {
	Dir string // an empty folder
	// Ask answers a question with the memory in a folder, or "off", and has it learn if learn is set.
	Ask func(ctx context.Context, l Lesson, memory string, learn bool) (Outcome, error)
	// Revise returns what makes the memory in a folder more general, as far as it is admitted.
	Revise func(ctx context.Context, memory string) (*memory.Revision, error)
	Show   func(trials []Trial, title string)
	Warn   func(format string, args ...any)
}

// Run has the questions answered, all but those held back, and adds to the memory what they taught if no
// answer of those held back is lost by it: as it was revised, or else without that. It returns whether
// it did.
func (l Loop) Run(ctx context.Context, m *memory.Memory, lessons []Lesson) (bool, error) {
	taught, held := split(lessons)
	draft := filepath.Join(l.Dir, memory.Name)
	if err := save(ctx, draft, m, nil); err != nil {
		return false, err
	}
	for _, lesson := range taught {
		if _, err := l.Ask(ctx, lesson, draft, true); err != nil {
			return false, err
		}
	}
	after, err := memory.Read(ctx, draft)
	if err != nil {
		return false, err
	}
	revision, err := l.choose(ctx, after, held)
	if err != nil || revision == nil {
		return false, err
	}
	if err := m.Take(after); err != nil {
		return false, err
	}
	m.Revise(revision)
	return true, nil
}

// choose returns the revision with which the memory is kept, which may be empty; nil: it is not kept.
func (l Loop) choose(ctx context.Context, draft *memory.Memory, held []Lesson) (*memory.Revision, error) {
	none := &memory.Revision{}
	if len(held) == 0 {
		return none, nil
	}
	revision, err := l.revise(ctx, draft)
	if err != nil {
		return nil, err
	}
	trials := make([]Trial, len(held))
	for i, lesson := range held {
		trials[i].Lesson = lesson
		if trials[i].Without, err = l.Ask(ctx, lesson, "off", false); err != nil {
			return nil, err
		}
	}
	if !revision.Empty() {
		revised := filepath.Join(l.Dir, "revised")
		if err := save(ctx, revised, draft, revision); err != nil {
			return nil, err
		}
		lost, err := l.try(ctx, trials, revised, "REVISED")
		if lost == 0 || err != nil {
			return revision, err
		}
		l.Warn("the revision is withdrawn: with it %s of those held back is lost", human.Plural(lost, "answer"))
	}
	lost, err := l.try(ctx, trials, draft.Dir, "WITH")
	if lost == 0 || err != nil {
		return none, err
	}
	l.Warn("the memory is as it was: with what was learned, %s of those held back is lost",
		human.Plural(lost, "answer"))
	return nil, nil
}

// revise has a memory revised, if there is anything that could be.
func (l Loop) revise(ctx context.Context, draft *memory.Memory) (*memory.Revision, error) {
	if len(draft.Facts)+len(draft.Tools) < 2 {
		return &memory.Revision{}, nil
	}
	return l.Revise(ctx, draft.Dir)
}

// try answers the held-back questions with the memory in a folder, shows how that went, and returns how
// many answers are lost by it.
func (l Loop) try(ctx context.Context, trials []Trial, memory, title string) (lost int, err error) {
	for i := range trials {
		t := &trials[i]
		if t.With, err = l.Ask(ctx, t.Lesson, memory, false); err != nil {
			return 0, err
		}
		if t.good(t.Without) && !t.good(t.With) {
			lost++
		}
	}
	l.Show(trials, title)
	return lost, nil
}

// save writes a copy of a memory, revised, into a folder.
func save(ctx context.Context, dir string, m *memory.Memory, revision *memory.Revision) error {
	other, err := memory.Read(ctx, dir)
	if err != nil {
		return err
	}
	if err := other.Take(m); err != nil {
		return err
	}
	if revision != nil {
		other.Revise(revision)
	}
	return other.Save()
}
