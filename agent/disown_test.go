package agent_test

import (
	"strings"
	"testing"
)

// TestDisowned: whatever a stranger's notebook says, at any moment of a run, nothing of it is
// proved, and an answer that is verified in the end has been judged, derived and proved here.
func TestDisowned(t *testing.T) {
	replies := simple.with(script{"debugger": "y = x\nprint(y)", "branches": branches("z = 1\nz", "z = 2\nz")})
	for name, first := range troubled {
		r := &recorder{}
		play(t, first, r.record, func(s *stage) { s.quick = true }).noError(t)
		for n, m := range r.all {
			if m.notebook == nil || n%5 != 0 && n < len(r.all)-1 {
				continue
			}
			tr := reread(t, m.notebook)
			tr.Disown()
			if tr.Sufficient() || tr.Proof != nil || tr.Second != nil || tr.Usage.Calls > 0 || !tr.Adopted ||
				tr.Variables != nil {
				t.Fatalf("%s, after %s: disowned, it is %+v", name, m.what, tr)
			}
			got := goOn(t, replies, tr, func(s *stage) { s.quick = true })
			judged := got.model.count("judge") > 0 && got.model.count("second") > 0
			if got.err != nil || got.Verified() && !judged || got.Proof == nil || !got.Proof.Same {
				t.Errorf("%s, after %s: %v, %q, asked %q", name, m.what, got.err, got.Doubts(), got.model.asked)
			}
		}
	}
}

// TestDisownedWishes: notes and cells that a stranger has written are no wishes of the user: no
// request gives them that rank, also when the notebook is read again.
func TestDisownedWishes(t *testing.T) {
	p := play(t, three).noError(t)
	tr := must(edited(t, p.Trajectory, all(source("step-2", `"2"`, `"II"`), insert("step-3", note("Mind the gap.")))))
	tr.Disown()
	got := goOn(t, simple.with(script{"last": "print(z)"}), tr).noError(t)
	again := goOn(t, more.with(script{"last": "print(z)"}), must(edited(t, got.Trajectory,
		source("step-1", "x = 1", "x = 7")))).noError(t)
	for n, p := range []*played{got, again} {
		for key, text := range p.model.texts {
			if strings.Contains(text, "Mind the gap") {
				t.Errorf("the %s reads the note", key)
			}
			if n == 0 && strings.Contains(text, "Cells of the user") {
				t.Errorf("the %s is told of cells of the user", key)
			}
		}
		if nb := readNotebook(t, p.Trajectory); nb.Cells[cellOf(t, nb, "note")].Source != "Mind the gap." {
			t.Error("the note is lost")
		}
	}
}
