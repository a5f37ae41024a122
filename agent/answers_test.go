package agent

import (
	"strings"
	"testing"

	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
)

// TestForm: a program finds what a form that it recognises forbids, and nothing else.
func TestForm(t *testing.T) {
	data := []record.File{{Name: "in/sales.csv"}}
	var written []compare.File
	for name, text := range map[string]string{"result.csv": "a\n1\n", "head.csv": "a,b\n",
		"hollow.csv": "a,b\n1,\n2,\n", "gaps.csv": "a,b\n1,\n,2\n"} {
		written = append(written, compare.File{Name: name, Digest: "x", Text: text})
	}
	for _, test := range []struct {
		question, guidelines, answer string
		bad                          bool
	}{
		{"", "A number rounded to 2 decimals.", "3.14", false},
		{"", "A number rounded to 2 decimals.", "3.14159", true},
		{"", "Answer must be just a whole number.", "3.5", true},
		{"What is the mean, as a whole number?", "", "12.6", true},
		{"How many have a whole number of units, on average to 2 decimals?", "", "12.65", false},
		{"", "@mean_fare[number with 2 decimals]", "3.14", true},
		{"", "Provide the answer as JSON.", "a: 1", true},
		{"", `Answer with "Yes" or "No".`, "maybe", true},
		{"Save the table as result.csv.", "", "result.csv", false},
		{"Save the table as empty.csv.", "", "empty.csv", true},
		{"Save the table as hollow.csv.", "", "hollow.csv", true},
		{"Save the table as gaps.csv.", "", "gaps.csv", false},
		{"The orders are stored in sales.csv. How many?", "", "3", false},
		{"Zähle sie und speichere die Tabelle als größen.csv.", "", "größen.csv", true},
		{"Put the table into a file counts.csv.", "", "'counts.csv'", true},
		{"Which file is larger, sales.csv or orders.csv?", "", "sales.csv", false},
		{"Which file does index.csv name, but is not there?", "", "old.csv", false},
		{"", "", "3.14159265", false},
		{"Round it to two decimals.", "four decimals", "12.4567", false},
		{"", "a number with two decimals", "12.05.2024", false},
		{"", "a number with two decimals", "v1.234b", false},
		{"", "The answer must be just either yes or no.", "12", true},
		{"", `Take only "paid" and "open".`, "5", false},
		{"", "a single integer", "1,234 rows", false},
		{"", "a single integer", "The value is about forty", true},
		{"", "a single integer, or 'Not Applicable'", "Not Applicable", false},
		{"", "a list with a number of stores and their names", "North, South", false},
		{"", "a value in the range [-1, 1]", "-1.5", true},
		{"", "exactly one name", `["North", "South"]`, true},
		{"", "exactly one name", "Korea, Rep.", false},
		{"", "just a number for each store", "40\n38", false},
		{"", `"significant" or "not significant"`, "Not significant", false},
		{"", "two decimals", "1.2345e-05", true},
		{"", "two decimals", "12.5e3", false},
		{"", "a JSON list", `{"a": 1}`, true},
		{"", "@mean[number]", "@mean[]", true},
		{"", "a correlation coefficient between \u22121 and 1", "2.5", true},
		{"", "a number", "number", true},
		{"", "a single integer, no name", "name", true},
		{"", `a number or "no data".`, "No data", false},
	} {
		f := formOf(record.Task{Question: test.question, Guidelines: test.guidelines, Files: data})
		got := f.lack(written) + f.problem(test.answer)
		if (got != "") != test.bad {
			t.Errorf("%q in the form %q %q: %q", test.answer, test.question, test.guidelines, got)
		}
	}
}

// TestOrderIn: question and form say whether the order of items matters.
func TestOrderIn(t *testing.T) {
	for words, want := range map[string]compare.Order{
		"Which stores?":                                               compare.Names,
		"What sort of stores are there?":                              compare.Names,
		"Which stores opened in 2024?":                                compare.Names,
		"Which stores were visited by Ada?":                           compare.Unsaid,
		"Name all stores.":                                            compare.Names,
		"Which stores are the winner and the loser?":                  compare.Unsaid,
		"Give the winner and the loser. A list of names.":             compare.Unsaid,
		"From which cities to which cities goes the route?":           compare.Unsaid,
		"List the stores by revenue.":                                 compare.Unsaid,
		"Which stores led in January, February and March?":            compare.Unsaid,
		"List the stores in the sequence in which they opened.":       compare.Fixed,
		"List the stores, best to worst.":                             compare.Fixed,
		"List the words, A to Z.":                                     compare.Fixed,
		"Liste les magasins par ordre décroissant.":                   compare.Fixed,
		"Which regions? Give them in any order.":                      compare.Free,
		"What are the mean and the standard deviation of amount?":     compare.Unsaid,
		"Which store has the largest and which the smallest revenue?": compare.Unsaid,
		"Who is the best customer, as surname, first name?":           compare.Unsaid,
		"Where is the centre, as [latitude, longitude]?":              compare.Unsaid,
		"How many?": compare.Unsaid,
		"Which are the top 3 stores by amount, the largest first?":             compare.Fixed,
		"Welche drei Filialen haben den höchsten Umsatz? Absteigend sortiert.": compare.Fixed,
		"Which stores? In alphabetical order.":                                 compare.Fixed,
	} {
		if got := orderIn(words); got != want {
			t.Errorf("%q: %d, want %d", words, got, want)
		}
	}
}

// TestEvidence: a quotation settles a point if it stands as it is in a source, and the sentence
// that it was cut from does not deny it. The sentence is told as it stands, with its place.
func TestEvidence(t *testing.T) {
	const rules = "# Rules\n\nThe year begins in May. Cancelled orders do not count as revenue (see § 3), e.g. in " +
		"the year.\nRefunds count in the month of the refund, and lower its revenue.\n\n" +
		"What follows does not count:\n\n- test orders of a store\n- orders of the staff of a store\n\n" +
		"| code | what it means |\n|---|---|\n| 4 | shipped to the customer whole |\n" +
		"| 5 | never shipped to anyone at all |\n\nPossible values are \"3-5\" (between 3 and 5 days) and ‘<3’.\n" +
		"Orders don’t count twice in a month. 取消的订单不计入收入。\n\n" +
		"Only paid orders of a store are sales. Gifts of any kind are excluded, or: left out of it. It is a mistake to " +
		"add the shipping of all orders.\nUntil 2020 gifts were counted as sales too. Are coupons counted as sales too? " +
		"Coupons are never counted. `credit` true: for credit alone; false: for debit alone; empty: for cards of both kinds.\n" +
		"The shipping of orders counts as revenue (false: see the next page)."
	sources := []source{
		{place: record.FromQuestion, text: "Not counting returns, how many units of orders that were shipped were sold?"},
		{place: record.FromNote, text: "I mean the orders of all stores."},
		{place: "rules.md", text: rules},
		{place: "long.pdf", text: "A fee is due\nfor each order."},
	}
	for evidence, want := range map[string]string{
		`"Cancelled orders do not count as revenue" (rules.md)`:         "(rules.md)",
		`Cancelled orders do not count as revenue`:                      "(rules.md)",
		`"Possible values are "3-5" (between 3 and 5 days)" (rules.md)`: "(rules.md)",
		`"units of orders that were shipped"`:                           "(question)",
		`"the orders of all stores" (note)`:                             "(note)",
		`"a fee is due for each order" (long.pdf)`:                      "(long.pdf)",
		`"取消的订单不计入收入"`:                                                  "(rules.md)",
		`"empty: for cards of both kinds" (rules.md)`:                   "(rules.md)",

		`"Only paid orders of a store are sales"`:                        "(rules.md)",
		`"Until 2020 gifts were counted as sales"`:                       "(rules.md)",
		`"units of orders that were shipped were sold?"`:                 "(question)",
		`"paid orders of a store are sales"`:                             "",
		`"The shipping of orders counts as revenue"`:                     "",
		`"add the shipping of all orders"`:                               "",
		`"count twice in a month"`:                                       "",
		`"gifts were counted as sales too"`:                              "",
		`"Are coupons counted as sales too?"`:                            "",
		`"Cancelled orders do count as revenue" (rules.md)`:              "", // what the sentence denies
		`"orders of the staff of a store" (rules.md)`:                    "",
		`"计入收入"`:                                                         "",
		`"counting returns, how many units" (question)`:                  "",
		`"Refunds count in the month … lower its revenue"`:               "", // with a gap
		`"Refunds count in the month" and "All orders count as revenue"`: "", // half of it is invented
		`the column is "status"`:                                         "",
		"":                                                               "",
	} {
		sentences, from := grounds(evidence, sources)
		if !strings.Contains(sentences, want) || (sentences == "") != (want == "") || (from == "") != (want == "") {
			t.Errorf("%s: %q from %q, want %q", evidence, sentences, from, want)
		}
		if again, _ := grounds(sentences, sources); again != sentences {
			t.Errorf("%q is read again as %q", sentences, again)
		}
	}
	cut := record.Description{Profile: true, Text: "text\nparts of the text:\nA\n[… 30 characters cut here: Orders count …]\nB"}
	if got := documentIn(cut); strings.Contains(got, "Orders") || !strings.Contains(got, "B") {
		t.Errorf("the mark of a cut is of the document: %q", got)
	}
	told, from := grounds(`"orders do not count" (rules.md); "units of orders that were shipped" (question)`, sources)
	want := "“Cancelled orders do not count as revenue (see § 3), e.g. in the year.” (rules.md); " +
		"“how many units of orders that were shipped were sold?” (question)"
	if told != want || from != "rules.md" {
		t.Errorf("%q from %s", told, from)
	}
}

// TestDocumentIn: of a description only what a person wrote or a document says counts as such.
func TestDocumentIn(t *testing.T) {
	const table, page = "delimited text\n200 rows, 8 columns\n- text: text; 5 values: North", "HTML\n\n- a: text\ntext:\nIt is due."
	for want, all := range map[string][]record.Description{
		"": {{Text: table, Profile: true}, {Text: "JSON\ntext:\n[1", Kind: "JSON", Profile: true},
			{Text: "The script says:\ntext:\nIt is due."}, {Text: page, Corrected: true, Profile: true}, {Error: "no", Profile: true}},
		"It is due.": {{Text: "It is due.", Whole: true, Document: true, Profile: true}, {Text: page, Profile: true},
			{Text: "A person says:\nIt is due.\n" + table, Corrected: true, Said: "It is due."}, {Text: "PDF\n3 pages\nparts of the text:\nIt is due.", Profile: true}},
	} {
		for _, d := range all {
			if got := documentIn(d); got != want {
				t.Errorf("%+v: %q", d, got)
			}
		}
	}
}

// TestAnswerOf: the answer of a branch is the string that its cell ends with, or what it printed
// last.
func TestAnswerOf(t *testing.T) {
	for _, c := range []struct{ code, printed, repr, want string }{
		{"n", "rows: 3\n", `'82'`, "82"},
		{"n", "rows: 3\n", `'it\'s "so"'`, `it's "so"`},
		{"n", "rows: 3\n", `'a\nb\\n'`, "a\nb\\n"},
		{"n", "rows: 3\n", `'caf\xe9 \u20ac'`, "café €"},
		{"n", "rows: 3\n", `82.5`, "82.5"},
		{"n", "rows: 3\n", `['a', 'b']`, `['a', 'b']`},
		{"print(n)", "82\n", "", "82"},
		{"print('rows', len(t))\nprint(n)", "rows 200\n82\n", "", "82"},
		{"print(t.to_string())", "a 1\nb 2\n", "", "a 1\nb 2"},
		{"n = 1", "", "", ""},
	} {
		e := notebook.Execution{Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: c.printed}}}
		if c.repr != "" {
			e.Outputs = append(e.Outputs, notebook.Output{Type: notebook.ExecuteResult,
				Data: notebook.MIMEBundle{"text/plain": c.repr}})
		}
		if got := answerOf(record.Attempt{Code: c.code, Execution: e}); got != c.want {
			t.Errorf("%q, %s: %q, want %q", c.code, c.repr, got, c.want)
		}
	}
}

// TestClaims: what asks for a relation, difference, trend or ranking is perturbed, and nothing else.
func TestClaims(t *testing.T) {
	for question, claims := range map[string][2]bool{
		"What is the Pearson correlation between rain and exceedance?":                 {true, false},
		"Is there a relationship between the difference in votes and points?":          {true, true},
		"Perform a hypothesis test and give the p-value.":                              {true, false},
		"What was the difference in exceedance rates in 2023?":                         {false, true},
		"Which group has more physicians per thousand people, the G7 or the BRICS?":    {false, true},
		"By count, are there more fires in Democratic states or Republican states?":    {false, true},
		"Which fresh water beach is the most polluted since 2020?":                     {false, true},
		"Which store sold most last year?":                                             {false, true},
		"How many merchants have a capture delay of less than 3 days?":                 {},
		"What is the average age of patients with serous tumor samples?":               {},
		"How many significant genes are there?":                                        {},
		"Report the mean for all metropolitan areas that are larger than one million.": {},
		"What is the total?": {},
		"Calculate the cumulative returns for three different portfolio strategies.":          {},
		"How many units did Rowlett Bikes sell in the first three months of 2018?":            {},
		"Identify the outliers in the charges incurred by individuals by the Z-score method.": {},
	} {
		if got := [2]bool{relation().MatchString(question), comparison().MatchString(question)}; got != claims {
			t.Errorf("%q: relation, comparison are %v", question, got)
		}
	}
}
