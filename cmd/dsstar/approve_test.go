package main

import (
	"strings"
	"testing"

	"dsstar/agent/definitions"
)

// TestDifferences: whoever approves definitions sees all that a model would read, whatever a terminal hides.
func TestDifferences(t *testing.T) {
	of := func(name, text string) approval {
		return approval{Files: []definitions.File{{Name: name, Text: []byte(text)}}}
	}
	for text, want := range map[string]string{
		"# A\nb\tc\n":                       "\n+# A\n+b\tc\n",
		"# A\n\x1b]0;all of them\x07none\n": `+"\x1b]0;all of them\anone"` + "\n",
		"# A\r\nall\rnone\r\n":              `+"all\rnone"` + "\n",
		"# A\n\u202eenon\n":                 `+"\u202eenon"` + "\n",
		"Preis in €, straße, 元\n":           "+Preis in €, straße, 元\n",
	} {
		if got := differences(approval{}, of("terms.md", text)); !strings.Contains(got, want) {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	two := approval{Files: []definitions.File{{Name: "a\u200b.md", Text: []byte("one\n")}, {Name: `"a\u200b.md"`, Text: []byte("two\n")}}}
	if got := differences(approval{}, two); !strings.Contains(got, "+one") || !strings.Contains(got, "+two") {
		t.Errorf("a file is not shown: %q", got)
	}
}
