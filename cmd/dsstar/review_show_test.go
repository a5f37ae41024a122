package main

import (
	"regexp"
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
		before, code, columns := anyLines.Draw(t, "before"), anyLines.Draw(t,
			"code"), rapid.IntRange(18, 60).
			Draw(t, "columns")
		var was, is []string
		for _, line := range codeLines(before, code) {
			text, shown := "", ""
			for _, s := range line.spans {
				text += s.text
			}
			if line.mark != '+' {
				was = append(was, text)
			}
			if line.mark != '-' {
				is = append(is, text)
			}
			if line.mark == 0 && before != "" && before != code {
				t.Errorf("%q has no mark", text)
			}
			for i, row := range line.rows(columns, false) {
				frame, rest, ok := strings.Cut(row, []string{"│", "┊"}[min(i, 1)])
				if rest = strings.TrimPrefix(rest, " "); line.mark != 0 && len(rest) > 1 {
					rest = rest[2:]
				} else if line.mark != 0 {
					rest = ""
				}
				if shown += rest; !ok || strings.TrimSpace(frame) != "" || ui.Width(row) > columns ||
					ui.Clean(row) != strings.ReplaceAll(row, "\n", " ") {
					t.Errorf("%q in %d columns", row, columns)
				}
			}
			if strings.ReplaceAll(shown, " ", "") != strings.ReplaceAll(revealed(text), " ", "") {
				t.Errorf("%q is shown as %q", text, shown)
			}
			plain := strings.Join(line.rows(columns, false), "\n")
			if painted := regexp.MustCompile(`\x1b\[\d+m`).ReplaceAllString(strings.Join(line.rows(columns, true), "\n"), ""); strings.ReplaceAll(
				painted,
				" ",
				"",
			) != strings.ReplaceAll(plain, " ", "") {
				t.Errorf("painted %q, plain %q", painted, plain)
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
		if got := fromDraft(tidy(draftOf(p)), p); got != p {
			t.Errorf("%+v came back as %+v", p, got)
		}
		q := p
		q.Text, q.Code = "Do another thing: well.", anyLines.Draw(t, "another")+"\nz = 1"
		if got := fromDraft(tidy(draftOf(q)), p); got.Code != tidy(q.Code) && got.Code != p.Code ||
			p.Step > 0 && got.Text != q.Text ||
			p.Step == 0 && got.Text != p.Text {
			t.Errorf("%+v came back as %+v", q, got)
		}
	})
	p := agent.Proposal{Step: 2, Text: "Add up.", Code: "x = 1"}
	for text, want := range map[string][2]string{
		"# %% Step 2: Add up all.\n# %%\n# why\nx = 2": {"Add up all.", "# why\nx = 2"},
		"# %% Step 2: Add up\n# all.\n\n# %%\nx = 2":   {"Add up", "# all.\n\n# %%\nx = 2"}, // all of it is shown before it runs
		"# %% Step 2: Add up all.\nx = 2":              {"Add up all.", "x = 2"},
		"# %% Count: well.\n# %%\nx = 2":               {"Count: well.", "x = 2"},
		"# %% Step 2:\n# %%\nx = 1":                    {"Add up.", "x = 1"},
		"x = 3":                                        {"Add up.", "x = 3"},
		"# mine\nx = 3":                                {"Add up.", "# mine\nx = 3"},
	} {
		if got := fromDraft(text, p); got.Text != want[0] || got.Code != want[1] {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
