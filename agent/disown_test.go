package agent_test

import (
	"strings"
	"testing"
)

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
