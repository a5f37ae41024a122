package main

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsstar/cmd/dsstar/internal/ui"
)

// TestShownCode: all of a line of code is shown. No row is wider than the terminal or contains control
// sequences.
func TestShownCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(18, 60).Draw(t, "columns")
		line := rapid.OneOf(rapid.SampledFrom([]string{"x = 1", "\tf(x)", "a\rb", "数据 = 1", "  ",
			"e\u0301\u0301\u0301\u0301\u0301", "if x: # \u202e { evil } \u2066", "\x1b[2J"}),
			rapid.StringMatching(`[^\n]*`)).Draw(t, "line")
		shown := ""
		for i, row := range rows(line, columns) {
			frame, rest, ok := strings.Cut(row, []string{"│", "┊"}[min(i, 1)])
			shown += rest
			if !ok || strings.TrimSpace(frame) != "" || ui.Width(row) > columns ||
				ui.Clean(row) != strings.ReplaceAll(row, "\n", " ") {
				t.Errorf("%q in %d columns", row, columns)
			}
		}
		if strings.ReplaceAll(shown, " ", "") != strings.ReplaceAll(revealed(line), " ", "") {
			t.Errorf("%q is shown as %q", line, shown)
		}
	})
}

func TestRevealed(t *testing.T) {
	for in, want := range map[string]string{
		"x = '\u202e'":  `x = '\u202e'`,
		"\tx\u200b\x1b": `    x\u200b\x1b`,
		"größe = 数":     "größe = 数",
		"a\u00a0b":      `a\u00a0b`,
		"x\r":           `x\r`,
	} {
		if got := revealed(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
