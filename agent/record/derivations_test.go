package record

import (
	"encoding/json"
	"testing"
)

// TestDerivations counts readings and second derivations of two parts, and adds those of other runs.
func TestDerivations(t *testing.T) {
	option := func(answer string, same bool) Option { return Option{Answer: answer, Same: same} }
	tries := []Attempt{{Code: "answer"}}
	tr := New(Task{}, Question{
		Readings: []Reading{
			{Settled: true, Options: []Option{{}, {}}},
			{Options: []Option{{}, option("2", true)}},
			{Options: []Option{option("3", false), {}}, Chosen: 1, ByUser: true},
			{Options: []Option{{}, {Problem: "it failed"}}},
		},
		Second: &Second{Attempts: tries, Answer: "1", Agrees: true, Ruling: RuledSame,
			Rejected: []Ruled{{Ruling: RuledSecond}}},
	})
	tr.Questions = append([]*Question{{Second: &Second{Attempts: tries, Answer: "1", Agrees: true}}}, tr.Question)
	sum := tr.Derivations()
	sum.Add(sum)
	sum.Add(nil)
	sum.Add(New(Task{}, Question{Second: &Second{Reason: "the reply could not be read"}}).Derivations())
	readings, second := sum.InWords()
	if readings != "8 named, 4 open, 4 computed, 2 changed the answer" ||
		second != "4 run, 4 agreed; rulings: same 2, second 2" {
		t.Errorf("%s; %s", readings, second)
	}
	data, err := json.Marshal(sum)
	const want = `{"readings":{"named":8,"open":4,"computed":4,"changed":2},` +
		`"second":{"run":4,"agreed":4,"rulings":{"same":2,"second":2}}}`
	if string(data) != want || err != nil {
		t.Errorf("%s, %v", data, err)
	}
	if d := (&Trajectory{Method: Method{Script: true}}).Derivations(); d != nil {
		t.Errorf("the paper's method has %+v", d)
	}
}
