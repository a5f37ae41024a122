package agent

import (
	"testing"
	"testing/fstest"

	"dsstar/agent/record"
	"dsstar/notebook"
)

// TestSameAnswer: whatever does not change what an answer says does not matter, and all else does.
func TestSameAnswer(t *testing.T) {
	for _, test := range []struct {
		a, b    string
		inOrder bool
		same    bool
	}{
		{"198.79", "198.7921", false, true},
		{"198.79", "198.78", false, false},
		{"{\n  \"high\": [\n    \"Monaco\"\n  ],\n  \"low\": 3.50\n}", `{"low": 3.5, "high": ["Monaco"]}`,
			false, true},
		{`{"high": ["Monaco"]}`, `{"high": ["Mongolia"]}`, false, false},
		{`["b", "a"]`, `["a", "b"]`, false, true},
		{`{"high": 1, "low": 2}`, `{"high": 2, "low": 1}`, false, false},
		{"82", "82.0", false, true},
		{"82", "82.4", false, false}, // a count is no rounded mean
		{"1,234,567", "1234567", false, true},
		{"12.5 %", "12.5%", false, true},
		{"12.5%", "0.125", false, false},
		{"Yes", "yes.", false, true},
		{"Yes", "No", false, false},
		{"A, B", "B,A", false, true},
		{"A, B", "B,A", true, false},
		{"A, B", "A, B, C", false, false},
		{"A, A, B", "A, B, B", false, false},
		{"['A', 'B']", "A, B", false, true},
		{"@mean[3.10], @p[0.05]", "@mean[3.1]\n@p[0.05]", false, true},
		{"@mean[3.1]", "@median[3.1]", false, false},
		{`{"x": 1, "y": 2}`, `{"y": 2.0, "x": 1}`, false, true},
		{"-3", "3", false, false},
		{"1e-9", "1.0e-9", false, true},
		{"", "", false, false},
		{"Not Applicable", "not applicable", false, true},
	} {
		if got := sameAnswer(test.a, test.b, test.inOrder); got != test.same {
			t.Errorf("%q and %q: %v", test.a, test.b, got)
		}
		if sameAnswer(test.a, test.b, test.inOrder) != sameAnswer(test.b, test.a, test.inOrder) {
			t.Errorf("%q and %q: not symmetric", test.a, test.b)
		}
	}
}

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
