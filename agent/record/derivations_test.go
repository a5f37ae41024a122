package record

import (
	"maps"
	"slices"
	"testing"
)

// TestDerivations counts readings and second derivations of two parts, and adds those of other runs.
func TestDerivations(t *testing.T) {
	option := func(answer string, same bool) Option { return Option{Derived: Derived{Answer: answer}, Same: same} }
	derived := Derived{Attempts: []Attempt{{Code: "answer"}}, Answer: "1"}
	tr := New(Task{}, Question{
		Readings: []Reading{
			{Settled: true, Options: []Option{{}, {}}},
			{Options: []Option{{}, option("2", true)}},
			{Options: []Option{option("3", false), {}}, Chosen: 1, ByUser: true},
			{Options: []Option{{}, {Problem: "it failed"}}},
		},
		Second: &Second{Derived: derived, Agrees: true, Ruling: RuledSame,
			Rejected: []Ruled{{Ruling: RuledSecond}}},
	})
	tr.Questions = append([]*Question{{Second: &Second{Derived: derived, Agrees: true}}}, tr.Question)
	sum := Counts(nil).Add(tr.Derivations()).Add(tr.Derivations()).Add(nil)
	sum.Add(New(Task{}, Question{Second: &Second{Reason: "the reply could not be read"}}).Derivations())
	want := Counts{"readings": 8, "open": 4, "computed": 4, "changed": 2, "second_derivations": 4, "agreed": 4,
		"ruled_same": 2, "ruled_second": 2}
	if !maps.Equal(sum, want) {
		t.Errorf("%v", sum)
	}
	lines := []string{"readings 8, open 4, computed 4, changed 2",
		"second derivations 4, agreed 4, ruled same 2, ruled second 2"}
	if got := sum.Lines(); !slices.Equal(got, lines) {
		t.Errorf("%q", got)
	}
	if d := (&Trajectory{Method: Method{Script: true}}).Derivations(); d != nil {
		t.Errorf("the paper's method has %+v", d)
	}
}
