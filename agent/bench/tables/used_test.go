package tables

import (
	"regexp"
	"strings"
	"testing"

	"dsstar/agent/bench/runner"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// TestUsed: tables and comparisons say what each role used, and how often readings and second
// derivations changed anything.
func TestUsed(t *testing.T) {
	ours := sample("dsstar", "x/m", nil, 1, 0)
	for i := range ours.Records {
		ours.Records[i].ByRole = map[string]record.Usage{
			"solver": {Calls: 1 + i, Usage: llm.Usage{InputTokens: 100, CachedTokens: 40, OutputTokens: 9}},
			"judge":  {Calls: 1, Usage: llm.Usage{InputTokens: 50, OutputTokens: 3}},
		}
		ours.Records[i].Derivations = &record.Derivations{
			Readings: record.ReadingCounts{Named: 2, Open: 1, Computed: 1, Changed: i},
			Second:   record.SecondCounts{Run: 1, Agreed: i, Rulings: map[string]int{"same": i}},
		}
	}
	other := sample("react", "x/m", nil, 1, 1)
	c, err := Compare(ours, other)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := Find("ds-star:1")
	const readings = "readings: 4 named, 2 open, 2 computed, 1 changed the answer"
	const second = "second derivations: 2 run, 1 agreed; rulings: same 1"
	for name, text := range map[string]string{"table": p.Make([]runner.Result{ours, other}).Markdown(),
		"comparison": c.Markdown()} {
		text = regexp.MustCompile(" +").ReplaceAllString(text, " ")
		if want := "\ndsstar with x/m, a task:\n\n| Role | Calls | Input tokens | Cached | Output tokens |\n"; !strings.Contains(text, want) ||
			!strings.Contains(text, "| solver | 1.50 | 100 | 40 | 9 |\n| judge | 1.00 | 50 | 0 | 3 |\n- "+
				readings+"\n- "+second+"\n") || strings.Contains(text, "react with x/m, a task") {
			t.Errorf("the %s is\n%s", name, text)
		}
	}
}
