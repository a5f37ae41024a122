package compare

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsstar/kernel/pyenv/pyenvtest"
)

func said(order Order) Asked { return Asked{Decimals: -1, Order: order} }

// TestAnswers: what is written differently is the same, and what means something else is not, both
// ways.
func TestAnswers(t *testing.T) {
	places := func(n int) Asked { return Asked{Decimals: n} }
	var none, free, names, fixed = said(Unsaid), said(Free), said(Names), said(Fixed)
	nothing := Asked{Decimals: -1, None: true}
	for _, test := range []struct {
		a, b  string
		asked Asked
		want  Sameness
	}{
		// whole numbers and codes
		{"1,234,567", "1234567", none, Same},
		{"-5", "\u22125", none, Same},
		{"82", "82.0", none, Same},
		{"4006381333133", "4006381333140", none, Different},
		{"1234567890123458304", "1234567890123458189", none, Different},
		{"2134", "02134", none, Unsure},
		{"02134", "02134", none, Same},
		{"01.1", "01.14", none, Different},
		{"12.345", "12345", none, Different},
		{".05", "5", none, Different},
		{"aB7", "Ab7", none, Unsure},
		{"A-17", "A-18", none, Unsure},
		{"(512)", "512", none, Unsure},
		// decimals
		{"0.50", "0.5", none, Same},
		{"198.79", "198.7921", none, Same},
		{"198.79", "198.78", none, Different},
		{"0.30000000000000004", "0.3", none, Same},
		{"0.30000000000000004", "0.3", places(2), Same},
		{"2.675", "2.6749999999999998", places(2), Same},
		{"1000000000000.1", "1000000000001.0", none, Different},
		{"98765432101.25", "98765432109.20", none, Different},
		{"0.0", "0.0456", none, Different},
		{"0.1", "0.14", none, Unsure},
		{"82", "82.4", none, Unsure},
		{"13", "13.6", none, Different},
		{"1.2346e-05", "1.23456e-05", none, Same},
		{"1e-9", "1.0e-9", none, Same},
		{"1.234e10", "12341234567", none, Unsure},
		{"0.1", "0.10", places(2), Same},
		{"0.1", "0.14", places(2), Different},
		{"2.68", "2.675", places(2), Same},
		{"12.4567", "12.4561", places(2), Same},
		{"12.4567", "12.4461", places(2), Different},
		{"0.0", "0.0456", places(4), Different},
		{"13", "12.6", places(0), Same},
		{"A: 13, B: 2", "A: 12.6, B: 2.3", places(0), Same},
		{"12", "13", places(0), Different},
		{"0,5", "0.5", none, Same},
		{"0,5", "0.6", none, Unsure},
		{"12,5 kg", "12.5 kg", none, Same},
		{"12,5", "12,50", none, Unsure},
		{"1.234,56", "1234.56", none, Same},
		{"-1.234.567,5 €", "-1234567.5 €", none, Same},
		{"np.float64(5.25)", "5.25", none, Same},
		// units
		{"12.5 %", "12.5%", none, Same},
		{"45 percent", "45%", none, Same},
		{"45%", "0.45", none, Unsure},
		{"5%", "$5", none, Unsure},
		{"$1250.50", "€1250.50", none, Unsure},
		{"$1,250.50", "1250.5", none, Same},
		{"$5", "5 USD", none, Same},
		{"5 km", "5km", none, Same},
		{"5 km", "5", none, Unsure},
		{"2 hours", "120 minutes", none, Unsure},
		{"5 mW", "5 MW", none, Unsure},
		{"about 5 mW", "about 5 MW", none, Unsure},
		{"10⁵", "105", none, Unsure},
		{"200 orders", "200", none, Unsure},
		// words
		{"Yes", "yes.", none, Same},
		{"Yes", "True", none, Same},
		{"Yes", "No", none, Different},
		{"France\n", "france", none, Same},
		{`"France"`, "France", none, Same},
		{"Zürich", "Zu\u0308rich", none, Same},
		{"North-East", "North East", none, Unsure},
		{"1,234 (2020)", "1234 (2020)", none, Same},
		{"1,234 (2020)", "1234 (2021)", none, Unsure},
		{"1,234 (estimated)", "1234 (estimated)", none, Same},
		{"Monaco (1,234)", "Monaco (1234)", none, Same},
		{"5 (km)", "5 km", none, Same},
		{"about 12.5 km", "about 13.5 km", none, Different},
		{"Not Applicable", "not applicable", none, Same},
		{"Not Applicable", "no data", none, Unsure},
		{"Not Applicable", "no data", nothing, Same},
		{"", "", none, Unsure},
		// dates
		{"2024-01-02", "2024-01-02 00:00:00", none, Same},
		{"2024-01-02", "January 2, 2024", none, Same},
		{"Timestamp('2024-01-02 00:00:00')", "2024-01-02", none, Same},
		{"2024-01-02", "02/01/2024", none, Unsure},
		{"2024-01-02", "2024-01-02 12:00", none, Different},
		{"2024-01-02 10:00:00", "2024-01-02T10:00:00Z", none, Unsure},
		// lists
		{"A, B", "A,B", none, Same},
		{"A, B", "B, A", none, Unsure},
		{"A, B", "B, A", names, Same},
		{"A, B", "B, A", free, Same},
		{"52.31, 27.9", "27.9, 52.31", none, Unsure},
		{"52.31, 27.9", "27.9, 52.31", names, Unsure},
		{"52.31, 27.9", "27.9, 52.31", free, Same},
		{"yes, no", "no, yes", names, Different},
		{"A, B, C", "A, B and C", none, Same},
		{"C, A, B", "A, B and C", names, Same},
		{"A and B", "A, B", none, Same},
		{"Nord, Sud et Est", "Nord, Sud, Est", none, Same},
		{"Norte, Sur y Este", "Norte, Sur, Este", none, Unsure},
		{"x y z", "x, z", none, Unsure},
		{`["A, B"]`, "A, B", none, Unsure},
		{"A, B", "A, B, C", names, Different},
		{"5", "5, 7", none, Different},
		{"5,,7", "5,7", none, Unsure},
		{"A, B,", "A, B", none, Same},
		{"A\n\nB", "A\nB", none, Same},
		{`["A", "", "B"]`, `["A", "B", ""]`, names, Unsure},
		{"A, B; C", "A; B, C", names, Unsure},
		{"A and B, C", "A, B and C", names, Unsure},
		{"USA, 5", "5, United States", free, Unsure},
		{"['A', 'B']", "A, B", none, Same},
		{"('A', 'B')", `["A", "B"]`, none, Same},
		{"['A']", "A", none, Same},
		{"Index(['A', 'B'], dtype='object', name='store')", "A, B", none, Same},
		{"array([1, 2])", "[1, 3]", none, Different},
		{"Counter({'A': 2, 'B': 1})", "A: 2, B: 1", none, Same},
		{"dict_keys(['A', 'B'])", "B, A", names, Same},
		{"[]", "[]", none, Same},
		{"[]", "{}", none, Unsure},
		{"[]", "[0]", none, Different},
		{"1,200, 3,400", "1200, 3400", none, Same},
		{`"Smith, John"; "Doe, Jane"`, `["Smith, John", "Doe, Jane"]`, none, Same},
		{"[[50, 3], [7, 40]]", "[[50, 7], [3, 40]]", none, Different},
		{"Monaco, which has only 5 of them, is first", "Monaco, with 5", none, Unsure},
		// labels and objects
		{"Mean: 5", "5", none, Unsure},
		{"Mean: 5", "6", none, Different},
		{"mean: 5, sd: 2", "5, 2", none, Unsure},
		{"mean: 5, sd: 2", "sd: 5, mean: 2", none, Different},
		{"mean: 5\nsd: 2", "mean=5, sd=2", none, Same},
		{"@mean[3.10], @p[0.05]", "@mean[3.1]\n@p[0.05]", none, Same},
		{"@names[A, B], @n[2]", "@n[2]\n@names[A, B]", none, Same},
		{"GlobalCard:120.31, NexPay:55.2", "[GlobalCard: 120.31, NexPay: 55.20]", none, Same},
		{"['FIGO Grade 2']", "FIGO Grade 2", none, Same},
		{"{'A', 'B'}", "B, A", names, Same},
		{"@mean[3.1]", "@median[3.1]", none, Unsure},
		{`{"a":1,"b":[1,2]}`, "{\n \"b\": [1, 2],\n \"a\": 1.0\n}", none, Same},
		{`{"a": 1, "b": true}`, "{'a': 1, 'b': True}", none, Same},
		{`{"high": ["Monaco"]}`, `{"high": ["Mongolia"]}`, none, Unsure},
		{`{"high": 1, "low": 2}`, `{"high": 2, "low": 1}`, free, Different},
		{"North: 40, South: 38", "South: 38, North: 40", none, Same},
		{"x >= 5", "x > 5", none, Unsure},
		{`{"a": null}`, `{"a": ""}`, none, Different},
		{`{"a": 1}`, `{"a": 1, "b": 2}`, none, Unsure},
		{`[{"s": "N", "n": 40}, {"s": "S", "n": 38}]`, `[{"n": 38, "s": "S"}, {"n": 40, "s": "N"}]`, none, Same},
		{`[{"s": "N", "n": 40}, {"s": "S", "n": 38}]`, `[{"n": 38, "s": "S"}, {"n": 40, "s": "N"}]`, fixed, Unsure},
		{`[{"s": "N", "n": 40}, {"s": "S", "n": 38}]`, `[{"s": "N", "n": 38}, {"s": "S", "n": 40}]`, free, Different},
		{`{"city": "Z\u00fcrich"}`, "{'city': 'Zürich'}", none, Same},
		// tables
		{"North,100\nSouth,200", "North,200\nSouth,100", none, Different},
		{"North,100\nSouth,200", "South,200\nNorth,100", none, Same},
		{"North,100\nSouth,200", "South,200\nNorth,100", fixed, Unsure},
		{"store,2023,2024\nN,1,2\nS,3,4", "store,2024,2023\nN,2,1\nS,4,3", none, Same},
		{"store,2023,2024\nN,1,2\nS,3,4", "store,2024,2023\nN,1,2\nS,3,4", none, Different},
		{"50,3\n7,40", "7,40\n50,3", none, Unsure},
		{"label,p\nspam,0.9\nham,0.8\nspam,0.7", "label,p\nspam,0.7\nham,0.8\nspam,0.9", none, Unsure},
		{"ok,p\nyes,0.9\nno,0.8", "ok,p\nno,0.8\nyes,0.9", none, Unsure},
		{"day,n\n2024-01-01,1\n2024-01-02,2", "day,n\n2024-01-02,2\n2024-01-01,1", none, Same},
		{"Ann,Bob\nCid,Dan", "Ann,Bob\nDan,Cid", none, Unsure},
		{"| winner | loser |\n|---|---|\n| Cid | Dan |", "| loser | winner |\n|---|---|\n| Dan | Cid |", none, Same},
		{"x,1,\ny,,2", "x,,1\ny,2,", none, Different},
		{"| a | b |\n|---|---|\n| x | 1 |", "a,b\nx,1", none, Same},
		{"store,n\nN,1\nS,2", "n\tstore\n1\tN\n2\tS", none, Same},
		{"store,n\nN,1\nS,2", "n,store\n1,S\n2,N", none, Different},
		{"store,n\nN,1\nS,2", "store,n\nN,1", none, Different},
		{"store,n\nN,1\nS,2", "shop,n\nN,1\nS,2", none, Unsure},
		{"zip,n\n02134,5", "zip,n\n2134,5", none, Unsure},
	} {
		a, b := Answer{Words: test.a}, Answer{Words: test.b}
		got, back := Answers(a, b, test.asked), Answers(b, a, test.asked)
		if got.Sameness != test.want || back.Sameness != test.want {
			t.Errorf("%q and %q: %+v; the other way %+v; want %d", test.a, test.b, got, back, test.want)
		}
		if (got.Why == "") != (got.Sameness == Same) || strings.Contains(got.Why, "\n") {
			t.Errorf("%q and %q: %d because %q", test.a, test.b, got.Sameness, got.Why)
		}
	}
}

// TestFilesOfAnswers: files are compared by their cells or names, beside the words.
func TestFilesOfAnswers(t *testing.T) {
	var long, noisy strings.Builder
	for i := range 6000 {
		fmt.Fprintln(&long, float64(i)/7)
		fmt.Fprintln(&noisy, float64(i)*(1.0/7))
	}
	table := "store,n\nCaf\xc3\xa9,1\nS,2.5\n"
	for name, test := range map[string]struct {
		a, b answer
		want Sameness
	}{
		"equal":           {answer{"a.csv", "a.csv", table}, answer{"a.csv", "a.csv", table}, Same},
		"byte order mark": {answer{"a.csv", "a.csv", table}, answer{"a.csv", "a.csv", "\ufeff" + table}, Same},
		"encoding":        {answer{"", "a.csv", table}, answer{"", "a.csv", strings.ReplaceAll(table, "\xc3\xa9", "\xe9")}, Same},
		"line ends":       {answer{"", "a.csv", table}, answer{"", "a.csv", strings.ReplaceAll(table, "\n", "\r\n")}, Same},
		"columns":         {answer{"", "a.csv", table}, answer{"", "a.csv", "n;store\n1;Café\n2.5;S"}, Same},
		"rows":            {answer{"", "a.csv", table}, answer{"", "a.csv", "store,n\nS,2.5\nCafé,1"}, Same},
		"values moved":    {answer{"", "a.csv", table}, answer{"", "a.csv", "store,n\nCafé,2.5\nS,1"}, Different},
		"a row less":      {answer{"", "a.csv", table}, answer{"", "a.csv", "store,n\nCafé,1"}, Different},
		"noise":           {answer{"", "a.csv", "x\n" + long.String()}, answer{"", "a.csv", "x\n" + noisy.String()}, Same},
		"a last digit":    {answer{"", "a.csv", "x\n0.12\n1.13\n"}, answer{"", "a.csv", "x\n0.12\n1.14\n"}, Different},
		"another order":   {answer{"", "a.csv", "label\n0.5\n0.7"}, answer{"", "a.csv", "label\n0.7\n0.5"}, Unsure},
		"words only":      {answer{"", "a.csv", "winner,loser\nCid,Dan"}, answer{"", "a.csv", "loser,winner\nDan,Cid"}, Same},
		"codes":           {answer{"", "a.csv", "zip\n02134\n"}, answer{"", "a.csv", "zip\n2134\n"}, Unsure},
		"JSON":            {answer{"", "a.json", `{"a": [1, 2]}`}, answer{"", "a.json", "{\n \"a\": [1, 2.0]}\n"}, Same},
		"JSON, another":   {answer{"", "a.json", `{"a": 1, "b": 2}`}, answer{"", "a.json", `{"a": 2, "b": 1}`}, Different},
		"Markdown":        {answer{"", "a.md", "|a|b|\n|--|--|\n|x|1|"}, answer{"", "a.md", "| b | a |\n|---|---|\n| 1.0 | x |"}, Same},
		"bytes":           {answer{"", "a.png", "\x00a"}, answer{"", "a.png", "\x00b"}, Unsure},
		"the same bytes":  {answer{"", "a.png", "\x00a"}, answer{"", "a.png", "\x00a"}, Same},
		"free name":       {answer{"a.csv", "a.csv", table}, answer{"b.csv", "b.csv", table}, Same},
		"not written":     {answer{"a.csv", "a.csv", table}, answer{"a.csv", "a.csv", ""}, Different},
		"words differ":    {answer{"5, a.csv", "a.csv", table}, answer{"6, a.csv", "a.csv", table}, Different},
		"in brackets":     {answer{"5 (a.csv)", "a.csv", table}, answer{"6 (a.csv)", "a.csv", table}, Different},
		"file differs":    {answer{"5, a.csv", "a.csv", table}, answer{"5, a.csv", "a.csv", "store,n\nS,1"}, Different},
		"name left out":   {answer{"5, a.csv", "a.csv", table}, answer{"5", "a.csv", table}, Same},
		"name in front":   {answer{"./a.csv, A, B", "a.csv", table}, answer{"A, B, a.csv", "a.csv", table}, Same},
		"only the file":   {answer{"5, a.csv", "a.csv", table}, answer{"a.csv", "a.csv", table}, Unsure},
	} {
		a, b := test.a.read(), test.b.read()
		for _, found := range []Finding{Answers(a, b, said(Unsaid)), Answers(b, a, said(Unsaid))} {
			if found.Sameness != test.want {
				t.Errorf("%s: %+v; want %d", name, found, test.want)
			}
		}
	}
}

// An answer has words and a file; one without content is not written.
type answer struct{ words, file, content string }

func (a answer) read() Answer {
	f := File{Name: a.file}
	if a.content != "" {
		f = pyenvtest.Must(ReadFile(a.file, strings.NewReader(a.content)))
	}
	return Answer{Words: a.words, Files: []File{f}}
}

// TestAnswersEitherWay: whatever the texts, an answer is the same as itself, and which of two is
// the first does not matter.
func TestAnswersEitherWay(t *testing.T) {
	parts := rapid.SampledFrom([]string{"5", "5.0", "5.25", "5.249", "0", "0.0", "007", "1,234", "12%", "$3", "A",
		"B", "a7", "yes", "2024-01-02", "Mean: ", "\"", "'", "(", ")", "[", "]", "{", "}", ":", ", ", ",", ";", "\n",
		"|", " and ", " ", "-", "e5", "@x["})
	text := rapid.Map(rapid.SliceOfN(parts, 1, 9), func(parts []string) string { return strings.Join(parts, "") })
	rapid.Check(t, func(t *rapid.T) {
		a, b := Answer{Words: text.Draw(t, "a")}, Answer{Words: text.Draw(t, "b")}
		asked := Asked{Decimals: rapid.IntRange(-1, 3).Draw(t, "decimals"),
			Order: rapid.SampledFrom([]Order{Unsaid, Names, Free, Fixed}).Draw(t, "order")}
		if own := Answers(a, a, asked); own.Sameness != Same && strings.TrimSpace(a.Words) != "" {
			t.Errorf("%q and itself: %+v", a.Words, own)
		}
		if got, back := Answers(a, b, asked), Answers(b, a, asked); got.Sameness != back.Sameness {
			t.Errorf("%q and %q: %+v; the other way %+v", a.Words, b.Words, got, back)
		}
	})
}

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
