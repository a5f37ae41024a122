package ui

import (
	"strings"
	"testing"
)

// TestCleaner: only text and colours of cell outputs reach a terminal.
func TestCleaner(t *testing.T) {
	for in, want := range map[string]string{"a\tb\r\nc\b": "a\tb\r\nc\b",
		"\x1b[31mred\x1b[0m":      "\x1b[31mred\x1b[0m",
		"\x1b[1;38:5:9mx\x1b[m":   "\x1b[1;38:5:9mx\x1b[m",
		"\x1b[2J\x1b[H\x1b[?25lx": "x", "\x1b]0;title\x07x\x1b]52;c;AA\x1b\\": "x",
		"\x1b]0;no end\nx": "x", "\x1bPq#0\x1b\\x\x1bcy\x1b(Bz": "xyz",
		"\u009b31mx\u009d0;t\u009cy\x00\x07": "\x1b[31mxy",
		"\x1b[>4;2mx\x1b\x1b[32my":           "x\x1b[32my",
		"ünï ☃\u0085\u2028":                  "ünï ☃\u2028"} {
		whole := Cleaner{Colours: true}
		if got := whole.Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		pieces, got := Cleaner{Colours: true}, ""
		for _, r := range in {
			got += pieces.Text(string(r))
		}
		if got != want {
			t.Errorf("%q in pieces: %q, want %q", in, got, want)
		}
		if none := (&Cleaner{}).Text(in); strings.ContainsRune(none, 0x1b) {
			t.Errorf("%q without colours: %q", in, none)
		}
	}
}

// TestTurns: visible characters and parts of words stay: Arabic number and verse signs, joiners,
// hyphens.
func TestTurns(t *testing.T) {
	for all, want := range map[string]bool{
		"\u0600\u0605\u06dd\u00ad\u200c\u200d\u2028":                                       false,
		"\u061c\u200b\u200e\u202e\u2060\u2064\u2069\ufeff\ufff9\ufffb\U000e0041\U000e007f": true} {
		for _, r := range all {
			if Turns(r) != want {
				t.Errorf("%U is taken away: %v", r, !want)
			}
		}
	}
}

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
