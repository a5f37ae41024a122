package agent

import (
	"testing"
	"testing/fstest"

	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
)

// TestForm: a program finds what a form that it recognises forbids, and nothing else.
func TestForm(t *testing.T) {
	data := []record.File{{Name: "in/sales.csv"}}
	written := fstest.MapFS{"result.csv": {Data: []byte("a\n1\n")}, "empty.csv": {}}
	for _, test := range []struct {
		question, guidelines, answer string
		bad                          bool
	}{
		{"", "A number rounded to 2 decimals.", "3.14", false},
		{"", "A number rounded to 2 decimals.", "3.1", false},
		{"", "A number rounded to 2 decimals.", "3.14159", true},
		{"Round to two decimal places.", "", "3.141", true},
		{"", "Answer must be just a whole number.", "3.5", true},
		{"", "Answer must be just a whole number.", "3", false},
		{"What is the mean, as a whole number?", "", "12.6", true},
		{"Round to the nearest whole number.", "", "12.6", true},
		{"How many have a whole number of units, on average to 2 decimals?", "", "12.65", false},
		{"", "@mean_fare[number with 2 decimals]", "@mean_fare[3.14]", false},
		{"", "@mean_fare[number with 2 decimals]", "3.14", true},
		{"", "Provide the answer as JSON.", `{"a": 1}`, false},
		{"", "Provide the answer as JSON.", "a: 1", true},
		{"", `Answer with "Yes" or "No".`, "yes", false},
		{"", `Answer with "Yes" or "No".`, "maybe", true},
		{"Save the table as result.csv.", "", "result.csv", false},
		{"Save the table as empty.csv.", "", "empty.csv", true},
		{"Save the table as other.csv.", "", "other.csv", true},
		{"The orders are stored in sales.csv. How many?", "", "3", false},
		{"What does the file orders.csv hold?", "", "orders", false},
		{"", "Both with 2 decimals, the p-value with 4 decimals.", "1.2345", false},
		{"", "", "3.14159265", false},
	} {
		got := formOf(record.Task{Question: test.question,
			Guidelines: test.guidelines, Files: data}).problem(test.answer, written)
		if (got != "") != test.bad {
			t.Errorf("%q in the form %q %q: %q", test.answer, test.question, test.guidelines, got)
		}
	}
}

// TestOrderIn: question and form say whether the order of items matters.
func TestOrderIn(t *testing.T) {
	for words, want := range map[string]compare.Order{
		"Which stores?":                                               compare.Names,
		"Which distinct stores have no order?":                        compare.Names,
		"What sort of stores are there?":                              compare.Names,
		"Name them. A list of restaurant names.":                      compare.Names,
		"Which values of the column rank occur?":                      compare.Names,
		"Which regions? Give them in any order.":                      compare.Free,
		"The two numbers, in any order.":                              compare.Free,
		"What are the mean and the standard deviation of amount?":     compare.Unsaid,
		"Which store has the largest and which the smallest revenue?": compare.Unsaid,
		"Which stores have the most and the least orders?":            compare.Unsaid,
		"Who is the best customer, as surname, first name?":           compare.Unsaid,
		"Which cities are the first and the last?":                    compare.Unsaid,
		"Where is the centre, as [latitude, longitude]?":              compare.Unsaid,
		"How many?": compare.Unsaid,
		"Which are the top 3 stores by amount, the largest first?":             compare.Fixed,
		"Welche drei Filialen haben den höchsten Umsatz? Absteigend sortiert.": compare.Fixed,
		"List the three stores by decreasing revenue.":                         compare.Fixed,
		"Which stores? Sort the names by revenue.":                             compare.Fixed,
		"Which stores? In alphabetical order.":                                 compare.Fixed,
		"Which stores, sorted in descending order?":                            compare.Fixed,
		"The stores, ranked by revenue.":                                       compare.Fixed,
	} {
		if got := orderIn(words); got != want {
			t.Errorf("%q: %d, want %d", words, got, want)
		}
	}
}

// TestEvidence: only words that stand in what the model was shown settle a point.
func TestEvidence(t *testing.T) {
	shown := plainWords("Cancelled orders do not count\n  towards the revenue. | status | text 取消的订单不计入收入。")
	for evidence, want := range map[string]bool{
		`"Cancelled orders do not count towards the revenue" (rules.md)`:       true,
		`"cancelled orders ... do not count towards the revenue."`:             true,
		`Cancelled orders do not count`:                                        true,
		`"Cancelled orders do count towards the total of all revenue" (rules)`: false,
		`"Refunds are to be subtracted from the revenue first" (rules.md)`:     false,
		`"status"`:               false,
		`the column is "status"`: false,
		"":                       false,
	} {
		if got := stands(evidence, shown); got != want {
			t.Errorf("%s: %v", evidence, got)
		}
	}
}

// TestAnswerOf: the answer of a branch is the string that its cell ends with, or what it printed.
func TestAnswerOf(t *testing.T) {
	for repr, want := range map[string]string{
		`'82'`:             "82",
		`"it's"`:           "it's",
		`'it\'s "so"'`:     `it's "so"`,
		`'a\nb\\n'`:        "a\nb\\n",
		`'caf\xe9 \u20ac'`: "café €",
		`82.5`:             "82.5",
		`'a' 'b'`:          `'a' 'b'`,
		`['a', 'b']`:       `['a', 'b']`,
		`'𝔘 ß'`:            "𝔘 ß",
	} {
		e := notebook.Execution{Outputs: []notebook.Output{
			{Type: notebook.Stream, Name: "stdout", Text: "rows: 3\n"},
			{Type: notebook.ExecuteResult, Data: notebook.MIMEBundle{"text/plain": repr}},
		}}
		if got := answerOf(e); got != want {
			t.Errorf("%s: %q, want %q", repr, got, want)
		}
		if _, ok := record.ResultText(e); !ok {
			t.Errorf("%s: no result", repr)
		}
	}
	e := notebook.Execution{Outputs: []notebook.Output{
		{Type: notebook.Stream, Name: "stdout", Text: "82\n"}}}
	if got := answerOf(e); got != "82" {
		t.Errorf("without a result: %q", got)
	}
}
