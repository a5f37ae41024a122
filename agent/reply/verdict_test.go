package reply

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dsstar/agent/brief"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

func TestParseVerdictDresses(t *testing.T) {
	enough := func(reason string) record.Verdict { return record.Verdict{Sufficient: true, Reason: reason} }
	lacks := func(reason string) record.Verdict { return record.Verdict{Reason: reason} }
	open := func(reason string) record.Verdict {
		return record.Verdict{Sufficient: true, Inconclusive: true, Reason: reason}
	}
	cases := []struct {
		reply   string
		want    record.Verdict
		problem string
	}{
		{"**Verdict**: ✅ Sufficient", enough(""), ""},
		{"Verdict: ❌ insufficient\nMissing: the mean", lacks("the mean"), ""},
		{"VERDICT: SUFFICIENT", enough(""), ""},
		{"1. Verdict: sufficient\n2. Reason: x", enough("x"), ""},
		{"Let me think. The join is right.\n\nVerdict: insufficient\nMissing: the mean", lacks("the mean"), ""},
		{"Sure! Verdict: sufficient", enough(""), ""},
		{"| Verdict | Missing |\n|---|---|\n| insufficient | the mean |", lacks("the mean"), ""},
		{"| Verdict | sufficient |\n|---|---|\n| Reason | x |", enough("x"), ""},
		{`{"verdict": "insufficient", "missing": "the mean"}`, lacks("the mean"), ""},
		{"```json\n{\"verdict\": \"sufficient\", \"reason\": \"x\"}\n```", enough("x"), ""},
		{"### Verdict\n**Insufficient**\n\n### Missing\nthe mean", lacks("the mean"), ""},
		{"The plan is not yet sufficient", lacks(""), ""},
		{"All is computed. The plan is sufficient.", enough(""), ""},
		{"Verdict: the plan is not sufficient", lacks(""), ""},
		{"Verdict: insufficient\nMissing:\n- the mean\n- the sum", lacks("the mean - the sum"), ""},
		{"Verdict: sufficient to answer the question.", enough("to answer the question."), ""},
		{"Verdict: sufficient\nMissing: nothing", enough(""), ""},
		{"Verdict: Yes", enough(""), ""},
		{"Answer follows.\nYes, nothing is missing.", enough(""), ""},
		{"Verdict: inconclusive\nReason: the data hold no prices", open("the data hold no prices"), ""},
		{"Verdict: not applicable, as no fee matches", open("as no fee matches"), ""},
		{"Verdict: the question cannot be answered from the data\nReason: no prices", open("no prices"), ""},
		{`{"verdict": "inconclusive", "reason": "no prices"}`, open("no prices"), ""},
		{"[THINK]Verdict: sufficient[/THINK]Verdict: insufficient", lacks(""), ""},
		{"Sure.\n<think>\nVerdict: sufficient\n</think>\nVerdict: insufficient", lacks("Sure."), ""},

		{"Verdict: inconclusive", record.Verdict{}, "a reason is needed"},
		{"Verdict: inconclusive\nReason: none", record.Verdict{}, "a reason is needed"},
		{"The prices are no part of the data.\nVerdict: inconclusive", record.Verdict{}, "a reason is needed"},
		{"Inconclusive, as there are no prices.", record.Verdict{}, "no verdict"},
		{"The question cannot be answered from the data.", record.Verdict{}, "no verdict"},
		{"Verdict: inconclusive or insufficient", record.Verdict{}, "two verdicts"},
		{"Verdict: inconclusive\nReason: x\nVerdict: sufficient", record.Verdict{}, "two verdicts"},
		{"Verdict: ausreichend", record.Verdict{}, "not one of those"},
		{"Verdict : suffisant", record.Verdict{}, "not one of those"},
		{"Nein.", record.Verdict{}, "no verdict"},
		{"Verdict: partially sufficient\nYes.", record.Verdict{}, "not one of those"},
		{"Verdict: sufficient?", record.Verdict{}, "not one of those"},
		{"Verdict: sufficient-ish", record.Verdict{}, "not one of those"},
		{"Verdict: ✅", record.Verdict{}, "not one of those"},
		{"Verdict:", record.Verdict{}, "not one of those"},
		{"Verdict: ~~sufficient~~ insufficient", record.Verdict{}, "not one of those"},
		{"Verdict: ❌ sufficient", record.Verdict{}, "two verdicts"},
		{"Verdict: sufficient\nMissing: the mean", record.Verdict{}, "two verdicts"},
		{"Verdict: insufficient\nMissing: nothing", record.Verdict{}, "two verdicts"},
		{"Verdict: sufficient\nReason: The plan is not sufficient.", record.Verdict{}, "two verdicts"},
		{"Verdict: sufficient\n\nNo.", record.Verdict{}, "two verdicts"},
		{"Verdict: sufficient\nReason: all that can be known\nor\nVerdict: insufficient\nMissing: x", record.Verdict{}, "two verdicts"},
		{"Sufficient: no", record.Verdict{}, "two verdicts"},
		{`{"sufficient": false}`, record.Verdict{}, "no verdict"},
		{"{\n  \"sufficient\": false\n} as asked", record.Verdict{}, "two verdicts"},
		{`{"verdict": "sufficient", "Verdict": "insufficient"}`, record.Verdict{}, "twice"},
		{"- [x] sufficient\n- [ ] insufficient", record.Verdict{}, "no verdict"},
		{"Yes, the mean is missing.", record.Verdict{}, "condition"},
		{"Yes, a step must be added.", record.Verdict{}, "condition"},
		{"Verdict: sufficient\n<think>or not", record.Verdict{}, "thoughts do not end"},
		{"```\n```", record.Verdict{}, "empty"},
		{strings.Repeat("x", 200_000), record.Verdict{}, "too long"},
	}
	for _, c := range cases {
		t.Run(brief.Clip(c.reply, 40), func(t *testing.T) {
			got, err := Verdict.readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
}

func TestParseYesNo(t *testing.T) {
	cases := []struct {
		reply   string
		want    record.Verdict
		problem string
	}{
		{"Yes", record.Verdict{Sufficient: true}, ""},
		{"**No**", record.Verdict{}, ""},
		{"No, because the mean is missing.", record.Verdict{Reason: "because the mean is missing."}, ""},
		{"Verdict: insufficient", record.Verdict{}, ""},
		{"Sufficient.", record.Verdict{Sufficient: true}, ""},
		{"Yes/No", record.Verdict{}, "no verdict"},
		{"Yes or No", record.Verdict{}, "no verdict"},
		{"Verdict: inconclusive\nReason: x", record.Verdict{}, "neither"},
		{"Verdict: inconclusive", record.Verdict{}, "neither"},
		{"", record.Verdict{}, "empty"},
	}
	for _, c := range cases {
		t.Run(c.reply, func(t *testing.T) {
			got, err := YesNo.readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
}

func TestParseForm(t *testing.T) {
	cases := []struct{ reply, want, problem string }{
		{"Form: fits", "", ""},
		{"**Form:** OK ✅", "", ""},
		{"Form: fits\nProblem: none", "", ""},
		{"fits", "", ""},
		{"The answer matches.", "", ""},
		{"OK.", "", ""},
		{`{"form": "fits"}`, "", ""},
		{"Form: does not fit\nProblem: it has no decimals", "it has no decimals", ""},
		{"Form: doesn’t match, it has no decimals", "it has no decimals", ""},
		{"Form: does not fit", noForm, ""},
		{"Does not fit: two decimals are asked for.", "two decimals are asked for.", ""},
		{`{"form": "does not fit", "problem": "a list is asked for"}`, "a list is asked for", ""},
		{"| Form | does not fit |\n|---|---|\n| Problem | a list is asked for |", "a list is asked for", ""},

		{"Form: fits\nProblem: it has no decimals", "", "two things"},
		{"Form: does not fit\nProblem: none", "", "two things"},
		{"Form: fits or does not fit", "", "two things"},
		{"Form: fits\nForm: does not fit", "", "two things"},
		{"Form: fits, but the unit is missing", "", "condition"},
		{"Form: passt", "", "not one of those"},
		{"It has two decimals.", "", "no form"},
		{"", "", "empty"},
		{"I'm sorry, but I can't assist with that.", "", "refusal"},
	}
	for _, c := range cases {
		t.Run(brief.Clip(c.reply, 40), func(t *testing.T) {
			got, err := Form.readText(c.reply)
			check(t, got, err, c.want, c.problem)
		})
	}
}

func TestReplyKinds(t *testing.T) {
	read := func(r llm.Reply) error { _, err := YesNo.Read(r); return err }
	text := func(reply string) error { _, err := Text.readText(reply); return err }
	code := func(reply string) error { _, err := Code.readText(reply); return err }
	cases := []struct {
		err  error
		want Kind
	}{
		{text(" \n\t"), Empty},
		{text("<think>a</think>\n"), Empty},
		{code("```python\n\n```"), Empty},
		{text("I'm sorry, but I can't help with that."), Refusal},
		{code("I cannot assist with this request."), Refusal},
		{code("It is as it is."), Unreadable},
		{text(strings.Repeat("x", longestReply+1)), Unreadable},
		{read(llm.Reply{Finish: "length", Text: "Yes"}), Cut},
		{read(llm.Reply{Finish: "content_filter"}), Refusal},
		{fmt.Errorf("again: %w", errEmpty), Empty},
		{errors.New("other"), Unreadable},
	}
	for _, c := range cases {
		if got := KindOf(c.err); c.err == nil || got != c.want {
			t.Errorf("%v is of kind %q, want %q", c.err, got, c.want)
		}
	}
	if err := read(llm.Reply{Finish: "stop", Text: "Yes"}); err != nil {
		t.Error(err)
	}
}

func TestParseUnfinished(t *testing.T) {
	missing := record.Verdict{Unfinished: true, Reason: "the mean is missing"}
	cases := []struct {
		reply   string
		want    record.Verdict
		problem string
	}{
		{"Verdict: unfinished\nMissing: the mean is missing", missing, ""},
		{"**Verdict:** Unfinished\n\n**Missing:** the mean is missing", missing, ""},
		{"<think>insufficient?</think>Verdict: UNFINISHED\nMissing: the mean is missing", missing, ""},
		{`{"verdict": "unfinished", "missing": "the mean is missing"}`, missing, ""},
		{"Verdict: unfinished", record.Verdict{Unfinished: true}, ""},
		// A doubt about a step is for the router.
		{"Verdict: unfinished\nMissing: step 2 is wrong", record.Verdict{Reason: "step 2 is wrong"}, ""},
		{"Verdict: insufficient\nMissing: the mean is missing", record.Verdict{Reason: "the mean is missing"}, ""},
		{"Verdict: insufficient\nMissing: the plan is unfinished", record.Verdict{Reason: "the plan is unfinished"}, ""},
		{"Verdict: unfinished\nVerdict: sufficient", record.Verdict{}, "it gives two verdicts"},
		{"Verdict: sufficient\nReason: the plan is unfinished", record.Verdict{}, "it gives two verdicts"},
	}
	for _, c := range cases {
		t.Run(brief.Clip(c.reply, 40), func(t *testing.T) {
			got, err := Verdict.readText(c.reply)
			check(t, got, err, c.want, c.problem)
			if two, err := WithoutInconclusive.readText(c.reply); err == nil && two != got {
				t.Errorf("without a third verdict: %+v, want %+v", two, got)
			}
		})
	}
}
