package compare

import "testing"

// TestMissing: a sentence about an answer has its figures, however they are rounded and written.
func TestMissing(t *testing.T) {
	for _, test := range []struct{ answer, sentence, want string }{
		{"11963.04", "The revenue is 11,963.04 euros.", ""},
		{"11963.04", "Der Umsatz ist 11.963,04 Euro.", ""},
		{"11963.04", "Le chiffre est de 11 963,04 euros.", ""},
		{"11963.04", "It is about 12,000 euros.", ""},
		{"1234567", "It is 1.23 million.", ""},
		{"4.6", "There are 5 stores.", "4.6"},
		{"204", "It is of 200 rows.", "204"},
		{"19.96", "It is 20.0.", ""},
		{"1,234,567", "It is 1234567.", ""},
		{"45.12%", "It is 0.45 of all.", ""},
		{"-5.25", "It fell by 5.25.", ""},
		{"@mean[5.20], @sd[1.1]", "The mean is 5.2, with 1.1.", ""},
		{"3", "There are three stores in 2024.", ""},
		{"1.2e-05", "The p-value is 0.000012.", ""},
		// nothing is said of these
		{"North", "It is South, with 40 orders.", ""},
		{"2024-01-02", "It is January 2.", ""},
		{"02134", "It is zip code 2134.", ""},
		{"42", "The answer is what the cells give.", ""},
		// these contradict the answer
		{"11963.04", "The revenue is 11963.94 euros.", "11963.04"},
		{"0.45", "It is 54%.", "0.45"},
		{"40, 38", "North has 40 and South 39.", "38"},
		{"@mean[5.20], @sd[1.1]", "The mean is 5.2, with 1.4.", "1.1"},
	} {
		if got := Missing(test.answer, test.sentence); got != test.want {
			t.Errorf("%s / %s: %q, not %q", test.answer, test.sentence, got, test.want)
		}
	}
}

// TestForeign: what a sentence says beside the answer stands in the outputs.
func TestForeign(t *testing.T) {
	source := "rows 200\nmean 52.3149 of 2024-01-02\n"
	for sentence, want := range map[string]string{"It is 52.31, of 200 rows.": "", "It is 1.00.": "1.00",
		"It is of January 2, 2024.": "", "It rests on 201 rows.": "201", "It is of Ada.": ""} {
		if got := Foreign(sentence, source); got != want {
			t.Errorf("%s: %q, not %q", sentence, got, want)
		}
	}
}

// TestIsBlank: what programs print in place of a value is none, if nothing else is there, and words for
// no answer are known in every form.
func TestIsBlank(t *testing.T) {
	for answer, want := range map[string][2]bool{"nan": {true, true}, "NaN, nan": {true, true},
		"North: nan, South: nan": {true, true}, `{"mean": null}`: {true, true}, "[None]": {true, true}, "nan kg": {true, false},
		"inf, -inf": {true, false}, "nan, 5": {}, "North": {}, "none": {false, true}, "None of them": {}, "[]": {false, true},
		"Not Applicable": {false, true}, "@mean[N/A], @sd[N/A]": {false, true}, "@mean[N/A], @sd[2]": {}, "42": {},
		"store,n\nN,\nS,": {}} {
		if blank, none := IsBlank(answer), IsNone(answer); blank != want[0] || none != want[1] {
			t.Errorf("%s: %v, %v", answer, blank, none)
		}
	}
}

// TestLack: a table without a row, or without a value in a column, lacks it.
func TestLack(t *testing.T) {
	for text, want := range map[string]string{"store,n\nN,1\nS,": "", "store,n\n": "a row of data",
		"store,n\nN,\nS,nan": "a value of n", "5": "", "1,2\n3,4": "", "store,n,\nN,1,": "", "n\n1": "", "": ""} {
		if got := (File{Name: "a.csv", Text: text}).Lack(); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
