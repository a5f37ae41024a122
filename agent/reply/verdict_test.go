package reply

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dsstar/agent/llm"
	"dsstar/agent/record"
)

var verdict = Format[record.Verdict]{Parse: verdictIn}

func TestParseVerdict(t *testing.T) {
	lacks := func(reason string) record.Verdict { return record.Verdict{Reason: reason} }
	enough := func(reason string) record.Verdict {
		return record.Verdict{Sufficient: true, Reason: reason}
	}
	open := func(reason string) record.Verdict {
		return record.Verdict{Sufficient: true, Inconclusive: true, Reason: reason}
	}
	read(t, verdict, []reading[record.Verdict]{
		{"Verdict: sufficient\nReason: all is there", enough("all is there"), ""},
		{"**Verdict:** Sufficient.\n**Reason:** all is there", enough("all is there"), ""},
		{"**Verdict**: ✅ Sufficient", enough(""), ""},
		{"## Final verdict: **INSUFFICIENT**\n\n- Missing: the mean", lacks("the mean"), ""},
		{"### Verdict\n**Insufficient**\n\n### Missing\nthe mean", lacks("the mean"), ""},
		{"verdict - not sufficient\nmissing - the mean", lacks("the mean"), ""},
		{"Verdict: ❌ insufficient\r\nMissing: the mean\r\n", lacks("the mean"), ""},
		{"1. Verdict: sufficient\n2. Reason: x", enough("x"), ""},
		{"> Verdict: insufficient, the mean is missing", lacks("the mean is missing"), ""},
		{"| Verdict | sufficient |\n|---|---|\n| Reason | x |", enough("x"), ""},
		{`{"verdict": "insufficient", "missing": "the mean"}`, lacks("the mean"), ""},
		{"```json\n{\"verdict\": \"sufficient\", \"reason\": \"x\"}\n```", enough("x"), ""},
		{"`Verdict: sufficient`", enough(""), ""},
		{"Verdict: not yet sufficient", lacks(""), ""},
		{"Verdict: the plan is not sufficient", lacks(""), ""},
		{"Verdict: Yes", enough(""), ""},
		{"Verdict: sufficient to answer the question.", enough("to answer the question."), ""},
		{"Verdict: sufficient\nMissing: nothing", enough(""), ""},
		{"Verdict: insufficient\nMissing:\n- the mean\n- the sum", lacks("the mean - the sum"), ""},
		{"Let me think. The join is right.\n\nVerdict: insufficient\nMissing: x", lacks("x"), ""},
		{"The filter seemed insufficient, but it is right.\nVerdict: sufficient\nReason: but for x",
			enough("but for x"), ""},
		{"My verdict is sufficient.", enough(""), ""},
		{"<think>Verdict: sufficient</think>Verdict: insufficient\nMissing: y", lacks("y"), ""},
		{"[THINK]Verdict: sufficient[/THINK]Verdict: insufficient", lacks(""), ""},
		{"Yes.", enough(""), ""},
		{"**No**", lacks(""), ""},
		{"No, because the mean is missing", lacks("because the mean is missing"), ""},
		{"Insufficient: the mean is missing.", lacks("the mean is missing."), ""},
		{"Yes, the plan is sufficient.", enough("the plan is sufficient."), ""},
		{"Answer follows.\nYes, nothing is missing.", enough("nothing is missing."), ""},
		{"The plan is not yet sufficient", lacks(""), ""},
		{"No, the plan isn't sufficient yet.", lacks("the plan isn't sufficient yet."), ""},
		{"Verdict: inconclusive\nReason: the data hold no prices", open("the data hold no prices"), ""},
		{"Verdict: not applicable, as no fee matches", open("as no fee matches"), ""},
	}...)
	for problem, replies := range map[string][]string{
		"empty":    {"", "```\n```", "<think>Verdict: sufficient"},
		"too long": {strings.Repeat("x", longestReply+1)},
		"refusal":  {"I'm sorry, but I can't judge that."},
		"a reason is needed": {"Verdict: inconclusive", "Verdict: inconclusive\nReason: none",
			"The prices are no part of the data.\nVerdict: inconclusive"},
		"no verdict": {"It is as it is.", "Nein.", "Hardly sufficient.", "Is the plan sufficient?",
			"Yes/No", "Yes or No",
			"The plan is not entirely what I call sufficient.",
			"Not so fast: sufficiently close is not enough.", "- [x] sufficient\n- [ ] insufficient",
			"Inconclusive, as there are no prices.",
			"The question cannot be answered from the data."},
		"of those asked": {"Verdict: sufficient or insufficient", "Verdict: sufficient / insufficient",
			"Verdict: inconclusive or insufficient", "Verdict: sufficient if the join is right", "Verdict: ausreichend", "Verdict: partially sufficient\nYes.",
			"Verdict: sufficient?", "Verdict: sufficient-ish", "Verdict: ✅", "Verdict:",
			"Verdict: ~~sufficient~~ insufficient"},
		"two verdicts": {`{"sufficient": false}`,
			"Verdict: sufficient\nVerdict: insufficient",
			"Verdict: inconclusive\nReason: x\nVerdict: sufficient",
			"Verdict: sufficient\nMissing: the mean",
			"Verdict: sufficient\nReason: The plan is not sufficient.",
			"Verdict: sufficient\nReason: x\nor\nVerdict: insufficient\nMissing: x", "Yes\nNo",
			"Yes. The plan is not sufficient.", "No. The plan is sufficient.", "Sufficient: no",
			"{\n  \"sufficient\": false\n} as asked",
			"Verdict: unfinished\nVerdict: sufficient",
			"Verdict: sufficient\nReason: the plan is unfinished"},
		"twice": {`{"verdict": "sufficient", "Verdict": "insufficient"}`},
		"condition": {"Verdict: sufficient, but step 2 is wrong", "Yes, the mean is missing.",
			"Yes, a step must be added.",
			"Sufficient.\nHowever, the mean is missing."},
	} {
		for _, reply := range replies {
			read(t, verdict, reading[record.Verdict]{reply, record.Verdict{}, problem})
		}
	}
	unfinished := []reading[record.Verdict]{
		{"Verdict: unfinished\nMissing: x", record.Verdict{Unfinished: true, Reason: "x"}, ""},
		{"Verdict: unfinished", record.Verdict{Unfinished: true}, ""},
		{"Verdict: insufficient\nMissing: it is unfinished", lacks("it is unfinished"), ""},
	}
	read(t, verdict, unfinished...)
	for _, reply := range []string{"Verdict: inconclusive\nReason: x", "Verdict: inconclusive"} {
		read(t, YesNo, reading[record.Verdict]{reply, record.Verdict{}, "neither"})
	}
}

func TestReplyKinds(t *testing.T) {
	finished := func(r llm.Reply) error { _, err := YesNo.Read(r); return err }
	text := func(reply string) error { _, err := Text.readText(reply); return err }
	code := func(reply string) error { _, err := Code.readText(reply); return err }
	cases := []struct {
		err  error
		want Kind
	}{
		{text(" \n\t"), Empty},
		{text("<think>a</think>\n"), Empty},
		{text("I'm sorry, but I can't help with that."), Refusal},
		{code("I cannot assist with this request."), Refusal},
		{code("It is as it is."), Unreadable},
		{text(strings.Repeat("x", longestReply+1)), Unreadable},
		{finished(llm.Reply{Finish: "length", Text: "Yes"}), Cut},
		{finished(llm.Reply{Finish: "content_filter"}), Refusal},
		{fmt.Errorf("again: %w", errEmpty), Empty},
		{errors.New("other"), Unreadable},
	}
	for _, c := range cases {
		if got := KindOf(c.err); c.err == nil || got != c.want {
			t.Errorf("%v is of kind %q, want %q", c.err, got, c.want)
		}
	}
	if err := finished(llm.Reply{Finish: "stop", Text: "Yes"}); err != nil {
		t.Error(err)
	}
}
