package reply

import (
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/llm"
)

// The forms of replies, in text and as JSON schemas.

const stepForm = "Step: the step, in a few sentences\n\n```python\nits cell\n```"

const solutionForm = "Reply in this form:\n\n" + stepForm

const readingsForm = "Reading: what is left open, in one sentence\n" +
	"Option 1: one way to take it\n" +
	"Option 2: another way (and so on)\n" +
	"Taken: the number of the option that the cell takes\n" +
	"Evidence: \"the sentence that decides\" (its file, question or form), or none\n" +
	"Settled: yes or no\n\n"

const firstSolutionForm = "Reply in this form, with the lines from `Reading` to `Settled` once for " +
	"each reading, or left out if there is none:\n\n" + readingsForm + stepForm

const judgementForm = "Reply in this form, with `Wrong step` only if a step is wrong, and with " +
	"the cell only if the verdict is sufficient or inconclusive:\n\n" + verdictForm

const rereadForm = "Reply in this form, with the lines from `Reading` to `Settled` once for each reading, " +
	"or left out if there is none, with `Wrong step` only if a step is wrong, and with the cell only if the " +
	"verdict is sufficient or inconclusive:\n\n" + readingsForm + verdictForm

const verdictForm = verdictLines + lastForm

const verdictLines = "Verdict: sufficient, unfinished, insufficient or inconclusive\n" +
	"Reason: one sentence\n" +
	"Wrong step: its number\n"

const lastForm = "\n```python\nthe last cell\n```"

const pointsForm = "Reply in this form, with `Wrong step` only if a step is wrong, and with the rest only " +
	"if the verdict is sufficient or inconclusive:\n\n" + verdictLines +
	"Takes: of each reading in order the number of the option that the cells take, such as 1, 2\n" +
	"Decided: the numbers of the readings that the words quoted for them decide, or none\n" + lastForm

// branchForm returns the form of a branch's cell, with the number of the first one that is asked
// for.
func branchForm(asked []Branch) string {
	return fmt.Sprintf("Branch %d.%d\n", asked[0].Point, asked[0].Option) +
		"Keeps: the number of accepted steps that it begins with, or 0\n\n" +
		"```python\nits cell\n```"
}

const (
	branchesForm  = "Reply in this form, once for each branch:\n\n"
	branchingForm = "\n\nand then, once for each branch:\n\n"
)

const rulingForm = "Reply in this form, with `Wrong step` only for first, and `Reading` and its " +
	"options only for reading:\n\n" +
	"Ruling: same, first, second, reading or undecided\n" +
	"Reason: one or two sentences\n" +
	"Wrong step: its number\n" +
	"Reading: what the two derivations take differently, in one sentence\n" +
	"Option 1: how the first takes it\n" +
	"Option 2: how the second takes it"

var (
	stepField   = property("step", "string", "the next step, in a few sentences")
	cellField   = property("code", "string", "the Python cell of the step")
	reasonField = property("reason", "string", "one or two sentences")

	solutionSchema = objectSchema("solution", stepField, cellField)
	readingsField  = listOf("readings", "what question and files leave open; may be empty",
		property("point", "string", "what is left open, in one sentence"),
		listOf("options", "two or more ways to take it"),
		property("taken", "integer", "the number of the option that the code takes, from 1"),
		property("evidence", "string?", "the sentence that decides, with its source; null: none"),
		property("settled", "boolean", "whether that sentence decides"))
	firstSolutionSchema = objectSchema("solution", readingsField, stepField, cellField)
	judgementFields     = []string{
		property("verdict", "string", "", "sufficient", "unfinished", "insufficient", "inconclusive"),
		reasonField,
		property("wrong_step", "integer?", "the number of the wrong step; null: none is wrong"),
		property("code", "string?", "the last Python cell, if sufficient or inconclusive"),
	}
	branchProperties = []string{
		property("reading", "integer", "the first number of the branch"),
		property("option", "integer", "the second number of the branch"),
		property("keeps", "integer", "the number of accepted steps that it begins with"),
		property("code", "string", "the Python cell that goes on from there"),
	}
	judgementSchema = objectSchema("judgement", judgementFields...)
	rereadSchema    = objectSchema("judgement", append([]string{readingsField}, judgementFields...)...)
	branchingSchema = objectSchema("judgement", append(slices.Clone(judgementFields),
		property("takes", "string", "of each reading in order the number of the option that the cells take, such as 1, 2"),
		property("decided", "string", "the numbers of the readings that the words quoted for them decide, such as 1, 3, or none"),
		listOf("branches", "if sufficient or inconclusive, one for each branch asked for; else empty",
			branchProperties...))...)
	branchesSchema = objectSchema("branches",
		listOf("branches", "one for each branch asked for", branchProperties...))
	rulingSchema = objectSchema("ruling",
		property("ruling", "string", "", "same", "first", "second", "reading", "undecided"),
		reasonField,
		property("wrong_step", "integer?", "of first: the number of the wrong step"),
		property("reading", "string?", "of reading: what the derivations take differently"),
		listOf("options", "of reading: how the first takes it, how the second does; else empty"))
)

// property returns a property of a JSON schema; with ? it may be null. Its texts need no escapes.
func property(name, kind, description string, choices ...string) string {
	kind = `"` + kind + `"`
	if one, ok := strings.CutSuffix(kind, `?"`); ok {
		kind = `[` + one + `","null"]`
	}
	p := `"` + name + `":{"type":` + kind
	if description != "" {
		p += `,"description":"` + description + `"`
	}
	if len(choices) > 0 {
		p += `,"enum":["` + strings.Join(choices, `","`) + `"]`
	}
	return p + "}"
}

// listOf returns a list of objects with the properties, or of strings.
func listOf(name, description string, properties ...string) string {
	items := `{"type":"string"}`
	if len(properties) > 0 {
		items = strictObject(properties)
	}
	return `"` + name + `":{"type":"array","description":"` + description + `","items":` + items + "}"
}

func objectSchema(name string, properties ...string) *llm.Schema {
	return &llm.Schema{Name: name, JSON: []byte(strictObject(properties))}
}

// strictObject returns the schema of an object as strict endpoints want it: every property is
// required, and there are no others. Models write the properties in this order.
func strictObject(properties []string) string {
	var names []string
	for _, p := range properties {
		name, _, _ := strings.Cut(p, ":")
		names = append(names, name)
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` +
		strings.Join(names, ",") + `],"additionalProperties":false}`
}
