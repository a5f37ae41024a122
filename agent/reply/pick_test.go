package reply

import (
	"strings"
	"testing"

	"dsstar/agent/brief"
	"dsstar/agent/record"
)

func TestParsePick(t *testing.T) {
	of := func(n int, reason string) record.Pick { return record.Pick{Candidate: n, Reason: reason} }
	for _, c := range []struct {
		reply   string
		want    record.Pick
		problem string
	}{
		{"Choice: 3\nReason: it checks the join", of(3, "it checks the join"), ""},
		{"**Choice:** 3\n**Reason:** it checks\nthe join", of(3, "it checks the join"), ""},
		{"My choice is candidate 1, as it follows the manual.", of(1, ""), ""},
		{"Choice: Candidate #1\n\nReason: x", of(1, "x"), ""},
		{"Choice: **4**", of(4, ""), ""},
		{"Candidate: 4", of(4, ""), ""},
		{"- 4", of(4, ""), ""},
		{"`3`", of(3, ""), ""},
		{"Candidate 3\nReason: candidate 1 counts rows twice.", of(3, "candidate 1 counts rows twice."), ""},
		{`{"choice": 3, "reason": "x"}`, of(3, "x"), ""},
		{`{"candidate": "3", "reason": "x"}`, of(3, "x"), ""},
		{"<think>Choice: 1</think>Choice: 3\nReason: none", of(3, ""), ""},

		{"Choice: 2\nReason: x", record.Pick{}, "names candidate 2"},
		{"Choice: 0", record.Pick{}, "names candidate 0"},
		{"Choice: 1.5", record.Pick{}, "names candidate 1.5"},
		{"Choice: 99999999999999999999", record.Pick{}, "names candidate 99999999999999999999"},
		{"Choice: -1", record.Pick{}, "no choice"},
		{"Choice: not 1", record.Pick{}, "no choice"},
		{"Choice: 1? No.", record.Pick{}, "no choice"},
		{"Choice: none", record.Pick{}, "no choice"},
		{"Choice: 1 or 3", record.Pick{}, "more than one"},
		{"Choice: 1, 3", record.Pick{}, "more than one"},
		{"Choice: 1 and candidate 3", record.Pick{}, "more than one"},
		{"Choice: 1\nChoice: 3", record.Pick{}, "more than one"},
		{"1\n3", record.Pick{}, "more than one"},
		{"Candidate 3 is the best, I think, since candidate 1 is wrong.", record.Pick{}, "no choice"},
		{"Reason: it is right", record.Pick{}, "no choice"},
		{"I'm sorry, but I can't help with that.", record.Pick{}, "refusal"},
		{"", record.Pick{}, "empty"},
	} {
		t.Run(brief.Clip(c.reply, 40), func(t *testing.T) {
			got, err := Pick([]int{1, 3, 4}).readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
	if rule := Pick([]int{1, 3}).Rule; !strings.Contains(rule, "numbers 1, 3") {
		t.Errorf("the rule is %q", rule)
	}
}
