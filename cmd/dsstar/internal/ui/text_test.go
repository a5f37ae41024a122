package ui

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

// TestCut: wide and combined characters count as terminals show them.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text, cut string // to 6 columns
		width     int
	}{
		{"", "", 0},
		{"plain", "plain", 5},
		{"plainer", "plain…", 7},
		{"日本語", "日本語", 6},
		{"日本語学", "日本…", 8},
		{"ab😀😀😀", "ab😀…", 8},
		{"e\u0301e\u0301e\u0301", "e\u0301e\u0301e\u0301", 3},
		{"👍🏽👍🏽👍🏽👍🏽", "👍🏽👍🏽…", 8},
		{"🇩🇪", "🇩🇪", 2},
	} {
		if got := Width(c.text); got != c.width {
			t.Errorf("width(%q) = %d, want %d", c.text, got, c.width)
		}
		if got := Cut(c.text, 6); got != c.cut {
			t.Errorf("cut(%q) = %q, want %q", c.text, got, c.cut)
		}
	}
	word := strings.Repeat("x", 60)
	for _, line := range Wrap("         日本語日本語日本語 and some more words and "+word+" end", 30, 9) {
		if displaywidth.String(line) > 30 && strings.TrimSpace(line) != word ||
			!strings.HasPrefix(line, "         ") {
			t.Errorf("%q", line)
		}
	}
	lines := Wrap("step 1   "+strings.Repeat("word ", 1000), 60, 3)
	if len(lines) != 3 || !strings.HasSuffix(lines[2], "word …") {
		t.Errorf("%q", lines)
	}
}
