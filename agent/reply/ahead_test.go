package reply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/memory"
)

// TestQuestions: questions with the form of their answers, as models write them.
func TestQuestions(t *testing.T) {
	want := []Question{{"What is the total of n?", "a number"}, {"Who pays most, and when?", "name, year"}}
	for name, text := range map[string]string{
		"lines":    "Question: What is the total of n?\nForm: a number\n\nQuestion: Who pays most,\n  and when?\nForm: name, year\n",
		"numbered": "1. **Question:** What is the total of n?\n   **Form:** a number\n2. **Question:** Who pays most, and when?\n   **Form:** name, year\n",
		"twice":    "Question 1: What is the total of n?\nForm: a number\nQuestion 2: what is the total of n?\nForm: a\nQuestion 3: Who pays most, and when?\nForm: name, year\nQuestion 4: Formless?",
		"JSON": `[{"question": "What is the total of n?", "form": "a number"},
			{"question": "Who pays most, and when?", "form": "name, year"}]`,
	} {
		got, err := Questions.readText(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	if _, err := Questions.readText("Which data?"); err == nil {
		t.Error("no question was read as one")
	}
}

// TestRevisions: nothing is an answer, and other words are none.
func TestRevisions(t *testing.T) {
	m := &memory.Memory{Facts: []memory.Fact{{Text: "One."}}, Tools: []memory.Tool{{Name: "a", Test: "assert a() == 1"}}}
	format := Revisions(m)
	r, err := format.readText("- Fact 1: withdrawn: it is wrong\n\n```python\n# Replaces: a\ndef b():\n    return 1\n\nassert b() == 1\n```\n")
	if err != nil || len(r.Facts) != 1 || len(r.Tools) != 1 || strings.Join(r.Problems, "") != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = format.readText("None."); err != nil || !r.Empty() {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err = format.readText("All is well."); err == nil {
		t.Error("it says nothing")
	}
}
