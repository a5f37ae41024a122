package ui

import (
	"strings"
	"testing"
)

// TestCut: wide and combined characters count as terminals show them.
func TestCut(t *testing.T) {
	for text, want := range map[string]string{"": "", "plain": "plain", "plainer": "plain…", "日本語": "日本語",
		"日本語学": "日本…", "ab😀😀😀": "ab😀…", "e\u0301e\u0301e\u0301": "e\u0301e\u0301e\u0301", "👍🏽👍🏽👍🏽👍🏽": "👍🏽👍🏽…"} {
		if got := Cut(text, 6); got != want || Width(got) > 6 {
			t.Errorf("Cut(%q) = %q, want %q", text, got, want)
		}
	}
	word := strings.Repeat("x", 60)
	for _, line := range Wrap("         日本語日本語日本語 and some more words and "+word+" end", 30, 9) {
		if Width(line) > 30 && strings.TrimSpace(line) != word ||
			!strings.HasPrefix(line, "         ") {
			t.Errorf("%q", line)
		}
	}
	lines := Wrap("step 1   "+strings.Repeat("word ", 1000), 60, 3)
	if len(lines) != 3 || !strings.HasSuffix(lines[2], "word …") {
		t.Errorf("%q", lines)
	}
}
