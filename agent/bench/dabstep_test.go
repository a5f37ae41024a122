package bench

import (
	"encoding/json"
	"math"
	"testing"
)

// TestDABStepVectors holds what the public code was seen to say; Fixed says
// otherwise only where told.
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
				score, err := Scorer{Compat: compat}.Score(t.Context(), task, &Answer{ID: "1", Value: Said(a)})
				if err != nil || score.Value != one(want) {
					t.Errorf("%s: %q ~ %q is %v (%v), not %v", compat, a, b, score.Value, err, want)
				}
			}
		}
	}
}

// TestPython holds Python's repr, round and ratio at their edges; the values are
// what CPython 3.11 prints.
func TestPython(t *testing.T) {
	for f, want := range map[float64]string{
		12: "12.0", 1e16: "1e+16", 1.5e16: "1.5e+16", 123456789012345680: "1.2345678901234568e+17", 9999999999999998: "9999999999999998.0",
		0.0001: "0.0001", 0.00001: "1e-05", 1.5e-7: "1.5e-07", 1e300: "1e+300", math.Inf(-1): "-inf", 0.30000000000000004: "0.30000000000000004",
	} {
		if got := pyRepr(f); got != want {
			t.Errorf("repr(%g) is %s, not %s", f, got, want)
		}
	}
	for _, r := range []struct {
		f    float64
		n    int
		want float64
	}{{2.5, 0, 2}, {3.5, 0, 4}, {2.675, 2, 2.67}, {0.125, 2, 0.12}, {0.375, 2, 0.38}, {1250, -2, 1200}, {1350, -2, 1400}, {1250.5, -2, 1300},
		{-1250, -2, -1200}, {4, -1, 0}, {5, -1, 0}, {6, -1, 10}, {15, -1, 20}, {5.055, 2, 5.05}, {1e22, -22, 1e22}} {
		if got := pyRound(r.f, r.n); got != r.want {
			t.Errorf("round(%v, %d) is %v, not %v", r.f, r.n, got, r.want)
		}
	}
	for _, r := range []struct {
		a, b string
		want float64
	}{{"abcd", "bcde", 0.75}, {"", "", 1}, {"a", "", 0}, {"qabxcd", "abycdf", 0.6666666666666666}, {"private Thread currentThread;", "private volatile Thread currentThread;", 0.8656716417910447}} {
		if got := similarity(r.a, r.b); got != r.want {
			t.Errorf("ratio(%q, %q) is %v, not %v", r.a, r.b, got, r.want)
		}
	}
	for text, want := range map[string]float64{" 1_000.5 ": 1000.5, "+.5": .5, "5.": 5, "1e400": math.Inf(1), "-INF": math.Inf(-1), "٣٤": 34} {
		if got, ok := pyFloat(text); !ok || got != want {
			t.Errorf("float(%q) is %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "1__0", "_1", "0x10", "1,0", "e5", ".", "١_", "1 0", "infin"} {
		if got, ok := pyFloat(text); ok {
			t.Errorf("float(%q) is %v", text, got)
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

// FuzzDABStep looks for texts that the rules cannot cope with, or which are not
// equal to themselves; order matters only to difflib.
func FuzzDABStep(f *testing.F) {
	for _, s := range []string{"12,34", "-1e5, a;b", "[a, 'b']", "$1,000.5%", "Σ É ǅ", "..", "1.5e+16", "0x1f -", "E:1, F:2"} {
		f.Add(s, "42")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 2000 || len(b) > 2000 {
			return
		}
		for _, fixed := range []bool{false, true} {
			r := answerRules{fixed}
			if !r.same(a, a) {
				t.Errorf("fixed %v: %q is not itself", fixed, a)
			}
			if x, y := r.same(a, b), r.same(b, a); x != y && !fixed && len(a) < 300 && ratioTurns(a, b) {
				t.Errorf("%q ~ %q is %v, turned %v", a, b, x, y)
			}
		}
	})
}

// ratioTurns returns whether difflib says the same of a and b both ways round.
func ratioTurns(a, b string) bool {
	a, b = pyLower(pyStrip(a)), pyLower(pyStrip(b))
	return similarity(a, b) == similarity(b, a)
}
