package record

import (
	"slices"
	"testing"

	"dsstar/notebook"
)

// conversation is a run of several questions; each has one step with the code, and a last cell. All
// that is said of an answer is that of answered.
func conversation(cells ...string) *Trajectory {
	t := answered()
	t.Rounds = nil
	for i, code := range cells {
		ran := notebook.Execution{Status: notebook.OK}
		t.Rounds = append(t.Rounds, Round{Step: "Go on.", Attempts: []Attempt{{Code: code, Execution: ran}},
			Verdict: &Verdict{Sufficient: true}})
		if i < len(cells)-1 {
			t.Earlier = append(t.Earlier, Part{Question: "What?", End: i + 1, Final: t.Final, Proof: t.Proof,
				Second: t.Second})
		}
	}
	t.Readings = nil
	return t
}

// TestBuildsOn: a question builds on those whose names or files its cells read, and on no others.
func TestBuildsOn(t *testing.T) {
	const first = "import pandas as pd\norders = pd.read_csv('data/o.csv')\npaid = orders[orders['s'] == 'paid']\n" +
		"paid.to_csv('paid.csv')\ndef rate(d):\n    total = len(d)\n    return total\n"
	for code, builds := range map[string]bool{
		"n = len(paid)":                                true,
		"print(f'{paid.n.sum():.2f}')":                 true,
		"x = (\n    paid\n    .n.sum()\n)":             true,
		"paid = paid.head()":                           true,
		"paid['k'] = 1":                                true,
		"paid += 1":                                    true,
		"x = pd.read_csv('paid.csv')":                  true,
		"x = pd.read_csv(\"./paid.csv\")":              true,
		"x = rate(z)":                                  true,
		"if y:\n    paid = 1\nprint(paid)":             true,
		"def f(orders):\n    return 1\nprint(paid)":    true,
		"a = [orders for p in paid]":                   true,
		"f(x=paid, \\\n  y=2)":                         true,
		"orders = pd.read_csv('data/o.csv')\norders":   false,
		"x = pd.read_csv('data/c.csv')":                false,
		"x = y['paid']":                                false,
		"x = y.paid # paid":                            false,
		"f(paid=1)":                                    false,
		"paid, orders = 1, 2\nprint(paid + orders)":    false,
		"for paid in (1, 2):\n    print(paid)":         false,
		"x = [paid for paid in (1, 2)]":                false,
		"f(lambda paid: paid + 1)":                     false,
		"def f(paid, n=1):\n    return paid + n":       false,
		"def f():\n    paid = 1\n    return paid":      false,
		"with open('n.txt') as paid:\n    paid.read()": false,
		"y.to_csv('paid.csv')":                         false,
		"with open('paid.csv', 'w') as f:\n    pass":   false,
		"import pandas as pd\npd.read_csv('data/c')":   false,
	} {
		if got := conversation(first, code).BuildsOn(); (len(got) == 1) != builds {
			t.Errorf("%q builds on %v", code, got)
		}
	}
	for _, c := range []struct {
		cells []string
		on    []int
	}{
		{[]string{"a = 1", "b = a", "c = b"}, []int{1, 0}},
		{[]string{"a = 1", "a = 2", "c = a"}, []int{1}},
		{[]string{"a = 1", "b = 2", "c = a"}, []int{0}},
		{[]string{"a = 1", "a['k'] = 2", "c = a"}, []int{1, 0}},
		{[]string{"a = 1", "b = 2", "c = 3"}, nil},
	} {
		if got := conversation(c.cells...).BuildsOn(); !slices.Equal(got, c.on) {
			t.Errorf("%q builds on %v", c.cells, got)
		}
	}
}

// TestInherited: an answer is worth no more than those on which it builds, and says which.
func TestInherited(t *testing.T) {
	open := []Reading{{Point: "Do refunds count?", Options: []Option{{Text: "yes"}, {Text: "no", Answer: "South"}}}}
	for _, c := range []struct {
		name     string
		change   func(*Part)
		standing string
		why      string
	}{
		{"verified", func(*Part) {}, "verified", ""},
		{"depends", func(p *Part) { p.Readings = open }, "depends on a reading",
			"it builds on question 1, which depends on a reading: Do refunds count?"},
		{"not proved", func(p *Part) { p.Proof = nil }, "not verified",
			"it builds on question 1, which is not verified: it was not proved as it is now"},
		{"derived once", func(p *Part) { p.Second = nil; p.Readings = open }, "not verified",
			"it builds on question 1, which is not verified: it was derived only once"},
	} {
		for _, cells := range [][]string{{"a = 1", "b = a", "c = b"}, {"a = 1", "b = 2", "c = 3"}} {
			tr := conversation(cells...)
			c.change(&tr.Earlier[0])
			want, why := c.standing, []string{c.why}
			if c.why == "" || cells[1] == "b = 2" {
				want, why = "verified", nil
			}
			if got := tr.Doubts(); tr.Standing() != want || !slices.Equal(got, why) {
				t.Errorf("%s, %q: %s, %q", c.name, cells, tr.Standing(), got)
			}
		}
	}
}
