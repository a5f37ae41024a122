package agent

import "testing"

func TestEndsWith(t *testing.T) {
	for _, c := range []struct {
		out, answer, printed string
		want                 bool
	}{
		{"1", "1", "", true},
		{"a\n1", "1", "a\n", true},
		{"a\n  1", "1", "a\n", true},
		{"11", "1", "", false},
		{"11", "1", "a\n", false},
		{"a\n2", "1", "a\n", false},
		{"rows 51", "1", "rows 5", true}, // print("rows 5", end="")
		{"a\nrows 5 1", "1", "a\nrows 5 ", true},
		{"\rprogress 9\r1", "1", "\rprogress 9\r", true},
		{"rows 61", "1", "rows 5", false},
	} {
		if got := endsWith(c.out, c.answer, c.printed); got != c.want {
			t.Errorf("%q after %q, answer %q: %v", c.out, c.printed, c.answer, got)
		}
	}
}
