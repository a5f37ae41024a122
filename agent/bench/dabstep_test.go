package bench

import (
	"encoding/json"
	"testing"
)

// TestDABStepVectors has scores recorded from the public code; Fixed differs only where noted.
func TestDABStepVectors(t *testing.T) {
	for _, v := range []struct {
		a, b            string
		upstream, fixed bool
	}{
		{"-0.94", "0.94", true, false},
		{"-12.34", "-12.3", true, true},
		{"-12.34", "12.3", true, false},
		{"-2.5", "-2.6", false, false},
		{"1,2", "2,1", false, true},
		{"1,2", "1, 2", false, true},
		{"1, 2", "2, 1", true, true},
		{"384,394", "394,384", false, true},
		{"E:13.57", "F:13.57", true, false},
		{"NexPay:0.12", "SwiftCharge:0.12", true, false},
		{"yes", "Yes, it is", false, false},
		{"Not Applicable", "not applicable.", true, true},
		{"Not Applicable", "N/A", false, false},
		{"", "Not Applicable", false, false},
		{"0.0001", "0.0002", true, true},
		{"0.9999", "1.0001", false, false},
		{"12.34", "12.3", true, true},
		{"1234.5", "1234.51", true, true},
		{"1e5", "100000", false, true},
		{"10%", "0.10", false, false},
		{"0,99", "0.99", false, true},
		{"GlobalCard", "GlobalCard and NexPay", true, false},
		{"B. BE", "BE", true, true},
		{"January 2023", "2023 February", true, false},
		{"120 EUR", "120", true, true},
		{"['a','b']", "a, b", true, true},
		{"a, a, b", "a, b, b", false, false},
		{"a;b", "b,a", true, true},
		{"the answer is 42, ok", "42", false, false},
		{"12", "12.4", false, false},
		{"0.5", "-0.5", true, false},
		{"$1,234.50", "1234.5", true, true},
		{"2023-01-05", "2023-09-30", true, false},
		{"10.0, 9", "9.0, 10", true, true},
		{"b: 2, a: 1.00", "a: 1.001, b: 2", true, true},
		{"٣", "3", true, true},
		{"", "", true, true},
		{"Straße nach İzmir im Nebel", "straße nach i̇zmir im nebel", true, true},
	} {
		for compat, want := range map[Compat]bool{Upstream: v.upstream, Fixed: v.fixed} {
			for _, turned := range []bool{false, true} {
				a, b := v.a, v.b
				if turned {
					a, b = b, a
				}
				task := Task{ID: "1", Rules: "dabstep", Gold: Said(b)}
				score, err := Scorer{Compat: compat, Plain: python(t)}.Score(t.Context(), task, &Answer{ID: "1", Value: Said(a)})
				if err != nil || (score.Value == 1) != want {
					t.Errorf("%s: %q ~ %q is %v (%v), not %v", compat, a, b, score.Value, err, want)
				}
			}
		}
	}
}

func TestDABStepTotals(t *testing.T) {
	tasks := []Task{{Level: "easy"}, {Level: "easy"}, {Level: "easy"}, {Level: "hard"}}
	scores := []Score{{Value: 1}, {Value: 1}, {}, {}}
	got, _ := json.Marshal(totalDABStep(tasks, scores, nil))
	want := `[{"group":"","name":"accuracy","value":50,"n":4},{"group":"level","name":"hard","value":0,"n":1},{"group":"level","name":"easy","value":66.67,"n":3}]`
	if string(got) != want {
		t.Errorf("totals are %s", got)
	}
}
