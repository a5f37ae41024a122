package reply

import "dsstar/agent/llm"

// The forms of replies, in text and as JSON schemas.

const solutionForm = "Reply in this form:\n\n" +
	"Step: the step, in a few sentences\n\n" +
	"```python\nits cell\n```"

const firstSolutionForm = "Reply in this form, with one block of the lines from `Reading` to " +
	"`Settled` for each reading, or none:\n\n" +
	"Step: the step, in a few sentences\n\n" +
	"Reading: what is left open, in one sentence\n" +
	"Option 1: one way to take it\n" +
	"Option 2: another way\n" +
	"Taken: the number of the option that the cell takes\n" +
	"Evidence: \"a quotation for it\" (its file, or question), or none\n" +
	"Settled: yes or no\n\n" +
	"```python\nits cell\n```"

const judgementForm = "Reply in this form, with `Wrong step` only if a step is wrong, and with the " +
	"cell only if the verdict is sufficient or inconclusive:\n\n" +
	"Verdict: sufficient, unfinished, insufficient or inconclusive\n" +
	"Reason: one sentence\n" +
	"Wrong step: its number\n\n" +
	"```python\nthe last cell\n```"

const branchesForm = "Reply in this form, once for each branch:\n\n" +
	"Branch 1.2\n" +
	"Keeps: the number of accepted steps that it begins with\n\n" +
	"```python\nits cell\n```"

const rulingForm = "Reply in this form, with `Wrong step` only for first, `Reading` and its options " +
	"only for reading, and the cell only for second:\n\n" +
	"Ruling: same, first, second, reading or undecided\n" +
	"Reason: one or two sentences\n" +
	"Wrong step: its number\n" +
	"Reading: what the two derivations take differently, in one sentence\n" +
	"Option 1: how the first takes it\n" +
	"Option 2: how the second takes it\n\n" +
	"```python\nthe whole corrected cell of the second\n```"

var (
	solutionSchema = objectSchema("solution",
		stringField("step", "the next step, in a few sentences"),
		stringField("code", "the Python cell of the step"))
	firstSolutionSchema = objectSchema("solution",
		stringField("step", "the next step, in a few sentences"),
		listField("readings", "what is left open; may be empty",
			stringField("point", "what is left open, in one sentence"),
			schemaField("options", `{"type":"array","items":{"type":"string"},"description":"two or more ways to take it"}`),
			schemaField("taken", `{"type":"integer","description":"the number of the option that the code takes, from 1"}`),
			optionalField("evidence", "string", "a quotation for the option taken, with its file; null: there is none"),
			schemaField("settled", `{"type":"boolean","description":"whether the evidence leaves no doubt"}`)),
		stringField("code", "the Python cell of the step"))
	judgementSchema = objectSchema("judgement",
		schemaField("verdict", `{"type":"string","enum":["sufficient","unfinished","insufficient","inconclusive"]}`),
		stringField("reason", "one sentence"),
		optionalField("wrong_step", "integer", "the number of the wrong step; null: none is wrong"),
		optionalField("code", "string", "the last Python cell, if sufficient or inconclusive"))
	branchesSchema = objectSchema("branches",
		listField("branches", "one for each branch asked for",
			schemaField("reading", `{"type":"integer","description":"the first number of the branch"}`),
			schemaField("option", `{"type":"integer","description":"the second number of the branch"}`),
			schemaField("keeps", `{"type":"integer","description":"the number of accepted steps that it begins with"}`),
			stringField("code", "the Python cell that goes on from there")))
	rulingSchema = objectSchema("ruling",
		schemaField("ruling", `{"type":"string","enum":["same","first","second","reading","undecided"]}`),
		stringField("reason", "one or two sentences"),
		optionalField("wrong_step", "integer", "of first: the number of the wrong step"),
		optionalField("code", "string", "of second: its whole corrected Python cell"),
		optionalField("reading", "string", "of reading: what the derivations take differently"),
		schemaField("options", `{"type":["array","null"],"items":{"type":"string"},`+
			`"description":"of reading: how the first takes it, how the second does"}`))
)

// A property of a JSON schema.
type property struct{ name, schema string }

func schemaField(name, schema string) property { return property{name, schema} }

func stringField(name, description string) property {
	return property{name, `{"type":"string","description":"` + description + `"}`}
}

func optionalField(name, kind, description string) property {
	return property{name, `{"type":["` + kind + `","null"],"description":"` + description + `"}`}
}

func listField(name, description string, fields ...property) property {
	return property{name, `{"type":"array","description":"` + description + `","items":` +
		strictObject(fields) + `}`}
}

func objectSchema(name string, fields ...property) *llm.Schema {
	return &llm.Schema{Name: name, JSON: []byte(strictObject(fields))}
}

// strictObject returns the schema of an object as strict endpoints want it: every property is
// required, and there are no others. Models write the properties in this order.
func strictObject(fields []property) string {
	properties, required := "", ""
	for i, f := range fields {
		if i > 0 {
			properties, required = properties+",", required+","
		}
		properties += `"` + f.name + `":` + f.schema
		required += `"` + f.name + `"`
	}
	return `{"type":"object","properties":{` + properties + `},"required":[` + required +
		`],"additionalProperties":false}`
}
