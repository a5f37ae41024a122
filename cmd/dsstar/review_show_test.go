package main

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/ui"
)

var anyLines = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{
		"", "x = 1", "x = 2", "# %%", "# %% Step 2: x", "#", "import re  # why", `s = "a \" b" + 'c'`, `"""`, "\tf(x)", "a\rb", "x = 1\r", "数据 = 1", "e\u0301\u0301\u0301\u0301\u0301",
		"if x: # \u202e { evil } \u2066", "\x1b[2J", "%%", "s = r'''", "  ",
	}), rapid.String()), 0, 8).Draw(t, "lines"), "\n")
})

// TestShownCode: all lines of a cell are shown, with lines marked that are new since the previous
// version. No row is wider than the terminal or contains control sequences.
func TestShownCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, code := anyLines.Draw(t, "before"), anyLines.Draw(t, "code")
		columns := rapid.IntRange(18, 60).Draw(t, "columns")
		var was, is []string
		for _, line := range marked(before, code) {
			if line[0] != '+' {
				was = append(was, line[1:])
			}
			if line[0] != '-' {
				is = append(is, line[1:])
			}
			shown := ""
			for i, row := range rows(line, columns) {
				frame, rest, ok := strings.Cut(row, []string{"│", "┊"}[min(i, 1)])
				shown += strings.TrimPrefix(rest+"   ", " "+line[:1]+" ")
				if !ok || strings.TrimSpace(frame) != "" || ui.Width(row) > columns ||
					ui.Clean(row) != strings.ReplaceAll(row, "\n", " ") {
					t.Errorf("%q in %d columns", row, columns)
				}
			}
			if strings.ReplaceAll(shown, " ", "") != strings.ReplaceAll(revealed(line[1:]), " ", "") {
				t.Errorf("%q is shown as %q", line, shown)
			}
		}
		if got := strings.Join(is, "\n"); got != code {
			t.Errorf("the code is %q, shown %q", code, got)
		}
		if got := strings.Join(was, "\n"); before != "" && got != before {
			t.Errorf("the code before is %q, shown %q", before, got)
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

// TestDraft: an unchanged draft leaves the proposal identical, byte for byte, and changes are
// detected.
func TestDraft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := agent.Proposal{Step: rapid.IntRange(0, 3).Draw(t, "step"),
			Text: anyLines.Draw(t, "text"), Code: anyLines.Draw(t, "code")}
		if rapid.Bool().Draw(t, "long") {
			p.Text = strings.Repeat("Add %% up # the fares. ", 20) + p.Text
		}
		if got := fromDraft(draftOf(p), p); got != p {
			t.Errorf("%+v came back as %+v", p, got)
		}
		q := p
		q.Text, q.Code = "Do another thing: well.", anyLines.Draw(t, "another")+"\nz = 1"
		if got := fromDraft(draftOf(q), p); got.Code != tidy(q.Code) && got.Code != p.Code ||
			p.Step > 0 && got.Text != q.Text ||
			p.Step == 0 && got.Text != p.Text {
			t.Errorf("%+v came back as %+v", q, got)
		}
	})
	p := agent.Proposal{Step: 2, Text: "Add up.", Code: "x = 1"}
	for text, want := range map[string][2]string{
		"# %% Step 2: Add up all.\n# why\nx = 2": {"Add up all.", "# why\nx = 2"},
		"# %% Step 2: Add up\n# all.\n\nx = 2":   {"Add up", "# all.\n\nx = 2"}, // all of it is shown before it runs
		"# %% Count: well.\n# %%\nx = 2":         {"Count: well.", "# %%\nx = 2"},
		"\ufeff# %% Step 2:\r\nx = 1\r\n":        {"Add up.", "x = 1"},
		"x = 3":                                  {"Add up.", "x = 3"},
		"# mine\nx = 3":                          {"Add up.", "# mine\nx = 3"},
	} {
		if got := fromDraft(text, p); got.Text != want[0] || got.Code != want[1] {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
