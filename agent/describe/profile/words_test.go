package profile_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/describe/profile"
	"dsstar/kernel/pyenv/pyenvtest"
)

// told is what a question is told of a file with some content.
type told struct {
	name, content, question string
	chars                   int
	shown, not              []string
}

func tell(t *testing.T, cases []told) {
	t.Helper()
	dir := t.TempDir()
	for _, c := range cases {
		path := filepath.Join(dir, c.name)
		check(t, os.WriteFile(path, []byte(c.content), 0o600))
		text := profiled(t, dir, path).Text(c.chars, c.question)
		if len(text) > c.chars+100 {
			t.Errorf("%s: %d bytes, more than %d", c.name, len(text), c.chars)
		}
		for _, part := range slices.Concat(c.shown, c.not) {
			if is := strings.Contains(text, part); is == slices.Contains(c.not, part) {
				t.Errorf("%s, %q: there is %q: %v, in\n%s", c.name, c.question, part, is, text)
			}
		}
	}
}

// Figures have all their digits, or are said to be rounded.
func TestFigures(t *testing.T) {
	t.Parallel()
	tell(t, []told{
		{"long.csv", "n,x\n1234567,0.12345678\n7654321,2.5\n2222222,3.5\n" + strings.Repeat("3333333,1\n", 300), "",
			4000, []string{"1234567 to 7654321", "0.12345678 to 3.5"}, nil},
		{"digits.csv", "n,x\n1,123456789.12\n2,0.1234567890123\n" + strings.Repeat("3,1\n", 300), "",
			4000, []string{"0.1234567890123 to 123456789.12"}, []string{"about"}},
		{"thirds.csv", "n,x\n" + strings.Repeat("1,0.3333333333333333\n2,7.1\n3,1\n4,2\n", 100), "",
			4000, []string{"about 0.333333 to 7.1"}, nil},
		{"values.json", `[` + strings.Repeat(`{"x": 123456789.125}, {"x": 0.3333333333333333}, `, 20) + `{"x": 0.5}]`, "",
			4000, []string{"3 values: 123456789.125 (20), 0.3333333333333333 (20), 0.5 (1)"}, nil},
		{"lists.txt", `{"of": [{"a": 1}, {"a": 2}], "data": [` + strings.Repeat(`{"b": "`+strings.Repeat("x", 3000)+`"},`, 3000), "",
			4000, []string{"$.of: 2 rows", "$.data: at least 2"}, nil},
		{"tables.html", strings.Repeat("<table><tr><th>n<th>x<tr><td>1<td>2<tr><td>3<td>4</table>", 65), "",
			4000, []string{"65 tables, 60 of them shown"}, nil},
	})
}

// A few kinds of things that all values end with are told with their counts.
func TestEndings(t *testing.T) {
	t.Parallel()
	rows := func(ends ...string) string {
		var b strings.Builder
		b.WriteString("area,n\n")
		for i := range 600 {
			fmt.Fprintf(&b, "Place %d %s,%d\n", i, ends[i%len(ends)], i)
		}
		return b.String()
	}
	tell(t, []told{
		{"kinds.csv", rows("Metro Area", "Micro Area", "Metro Area"), "", 4000,
			[]string{"ending in Metro Area (400), Micro Area (200)"}, nil},
		{"same.csv", rows("Metro Area"), "", 4000, nil, []string{"ending in"}},
		{"many.csv", rows("A", "B", "C", "D", "E"), "", 4000, nil, []string{"ending in"}},
		{"short.csv", strings.Replace(rows("Metro", "Micro"), "Place 7 Micro", "Place7", 1), "", 4000, nil,
			[]string{"ending in"}},
	})
}

// What makes a column from others is told if it holds in all rows; what merely repeats a column is
// not.
func TestIdentities(t *testing.T) {
	t.Parallel()
	var sold, votes, ids strings.Builder
	ids.WriteString("id,n,other,sum\n")
	sold.WriteString("qty,price,amount,note\n")
	votes.WriteString("dem,rep,diff,pct,copy\n")
	for n := range 600 {
		fmt.Fprintf(&ids, "13448001175712%05d,%d,50%08d,50%08d\n", n*n*7%99_991, n*n%91+n%3, n, n+n*n%91)
		fmt.Fprintf(&sold, "%d,%d.%02d,%.2f,%d\n", n%17+1, n%31+1, n%100, float64(n%17+1)*(float64(n%31+1)+float64(n%100)/100), n%7)
		dem, rep := 100+n*7%613, 90+n*11%509
		fmt.Fprintf(&votes, "%d,%d,%d,%.1f,%d\n", dem, rep, dem-rep, 100*float64(dem)/float64(rep), dem)
	}
	tell(t, []told{
		{"ids.csv", ids.String(), "", 4000, nil, []string{"in all rows read"}},
		{"sold.csv", sold.String(), "", 4000, []string{"amount = qty × price"}, []string{"note ="}},
		{"broken.csv", sold.String() + "2,3.00,7.00,1\n", "", 4000, nil, []string{" × "}},
		{"votes.csv", votes.String(), "", 4000, []string{"diff = dem − rep", "pct = dem / rep × 100"},
			[]string{"copy follows", "copy correspond", "dem and copy"}},
	})
}

// What the question names is told in full, with every value, or with the rare value that it names,
// and what may decide whether a row counts is told even of a wide table in little room.
func TestAskedInFull(t *testing.T) {
	t.Parallel()
	var wide strings.Builder
	fees := "merchant,fee\nMartinis_Fine_Steakhouse,7\n"
	for i := range 900 {
		fees += fmt.Sprintf("%s,%d\n", []string{"Crossfit_Hanna", "Rafa_AI", fmt.Sprint("Shop_", i)}[i%3], i)
	}
	beaches := "beach,n\nPleasure Bay,7\nSandy Bay,7\nThe Point,7\n"
	for n := range 900 {
		beaches += fmt.Sprintf("%s,7\n", []string{"Nahant", "Revere", fmt.Sprint("Shore ", n)}[n%3])
	}
	for n := range 60 {
		fmt.Fprintf(&wide, "measure%c%d,", 'a'+n%26, n)
	}
	wide.WriteString("Case_excluded,region,change\n")
	for n := range 90 {
		for m := range 60 {
			fmt.Fprintf(&wide, "%d,", (n*m*m+n)%(m+50))
		}
		fmt.Fprintf(&wide, "%s,Landscape %02d,%d\n", []string{"No", "No", "Yes"}[n%3], n%25, n%10-3)
	}
	tell(t, []told{
		{"wide.csv", wide.String(), "What is the mean change by region?", 4000, []string{"Case_excluded: text; 2 values: No (60), Yes (30)",
			"Landscape 00", "Landscape 24", "- change: integer -3 to 6; ", "0 (9)"}, nil},
		{"fees.csv", fees, "Which fee has Martinis_Fine_Steakhouse?", 900, []string{"among them Martinis_Fine_Steakhouse"}, nil},
		{"fees.csv", fees, "Which fee is the largest?", 900, nil, []string{"among them"}},
		{"beaches.csv", beaches, "What is the cleanest beach of the bay?", 900, nil, []string{"among them"}},
		{"beaches.csv", beaches, "How clean is Shore 8 in Pleasure Bay?", 900, []string{"among them", " Pleasure Bay", " Shore 8"}, []string{"Sandy", "Shore 11"}},
		{"wide.csv", wide.String(), "Who was left out?", 1500, []string{"Case_excluded: text; 2 values: No (60), Yes (30)"}, nil},
		{"wide.csv", wide.String(), "What is the mean of measurec28 in Landscape 17?", 1200, []string{"- measurec28: ", "Landscape 17"}, nil},
	})
}

// Words around a small table leave room for what it holds; a year that a question names finds its
// column, numbers that repeat are told, and rows of several kinds stand as they are written.
func TestSmallTables(t *testing.T) {
	t.Parallel()
	var types, weights, orbits strings.Builder
	types.WriteString("Top types by year,,\n,,\nKind,Year,n\n")
	weights.WriteString("name,weight_in_kg\n")
	for n := range 15 {
		fmt.Fprintf(&types, "%d,%s,\"%d,%03d\"\n", 2020+n/3, []string{"Bank Account", "Credit Card", "Loan or Lease"}[n%3], 89+n, n*61)
	}
	types.WriteString(",,\n" + strings.Repeat("This note says what is counted and what is not. ", 6) + ",,\n")
	for n := range 2400 {
		fmt.Fprintf(&weights, "Fighter %d,%d.31\n", n, 47+min(n%80, 69))
	}
	for n := range 30 {
		fmt.Fprintf(&orbits, "1 43180U 18014A 24%d.178 .0000467 9994\n2 43180 97.511 %d.95 265.29\n", 122+n, n)
	}
	tell(t, []told{
		{"types.csv", types.String(), "the ratio of credit card frauds of 2024 and 2020", 800,
			[]string{"Kind: integer 2020 to 2024", "Credit Card", "skipfooter", "This note"}, []string{"which pandas reads"}},
		{"ended.csv", "A report\n\na,b,c\n1,2,3,\n4,5,6,\n7,8,9,\nSource: the office\n", "", 2000,
			[]string{"3 rows, 3 columns", "index_col=False", "below it: Source"}, []string{"column 4"}},
		{"weights.csv", weights.String(), "the best in each weight class", 2000,
			[]string{"70 values; most frequent 116.31"}, nil},
		{"orbits.tle", orbits.String(), "", 2000, []string{"  1 43180U 18014A 24122.178 .0000467 9994\n  2 43180 97.511 0.95"}, nil},
	})
}

// A long document is told by the sections that the question touches and by lists of words and their
// meaning, with the headings of the others.
func TestSections(t *testing.T) {
	t.Parallel()
	var manual strings.Builder
	manual.WriteString("# Manual\n\nRead this first.\n\n")
	for _, topic := range []string{"Deliveries", "Refunds", "Fraud levels", "Opening hours"} {
		fmt.Fprintf(&manual, "## %s\n\nOf %s there is much to say.\n\n%s\n\nThe last rule of %s.\n\n", topic, topic,
			strings.Repeat("This goes on for a while. ", 60), topic)
	}
	tell(t, []told{
		{"manual.md", manual.String(), "Which level of fraud does a shop have?", 3000,
			[]string{"# Manual", "cut here: Deliveries; Refunds …]", "cut here: Opening hours …]", "The last rule of Fraud levels."},
			[]string{"The last rule of Deliveries.", "The last rule of Opening hours."}},
		{"short.md", "# A\n\nOne.\n\n# B\n\nTwo.\n", "Which level of fraud?", 3000, []string{"One.", "Two."}, nil},
	})
}

// Of a document every section is told whole or is said to be cut, with as many characters as it has,
// whatever the question and the room; and of what is no code book lists of words are told if they fit.
func TestCutIsSaid(t *testing.T) {
	cuts := regexp.MustCompile(`(?m)^\[… (\d+) characters cut here.* …\]$`)
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 7))
		word := func() string { return fmt.Sprint("w", string(rune('a'+dice.IntN(20)))) }
		var d strings.Builder
		p := profile.Profile{Format: "text", Codebook: seed%3 == 0}
		for n := range 4 + dice.IntN(30) {
			p.Sections, p.Lists = append(p.Sections, d.Len()), append(p.Lists, n == 3)
			fmt.Fprintf(&d, "# Part %d %s\n%s", n, word(), strings.Repeat(word()+" "+word()+"\n", dice.IntN(60)))
			if n == 3 {
				d.WriteString("* **gross_rate**: in percent\n- fee_id: a number\n")
			}
		}
		p.Document = strings.TrimSpace(d.String())
		room, question := 1500+dice.IntN(8000), word()+" "+word()
		text := p.Text(room, question)
		left := len(p.Document)
		for _, cut := range cuts.FindAllStringSubmatch(text, -1) {
			var n int
			fmt.Sscan(cut[1], &n)
			left -= n
			text = strings.Replace(text, cut[0]+"\n", "", 1)
		}
		_, body, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "text:\n")
		body = cuts.ReplaceAllString(body, "")
		if len(text) > room+100 || left < len(body)-60 || left > len(body)+60 {
			t.Errorf("%d: %d bytes in %d; of %d bytes %d are not said to be cut, and %d are told", seed, len(text), room, len(p.Document), left, len(body))
		}
		if room > 6000 && !p.Codebook && !strings.Contains(text, "gross_rate") {
			t.Errorf("%d: what a column means is cut:\n%s", seed, text)
		}
	}
}

// TestChecks: what the programs in testdata/checks say of files, of profiles and of the readers holds.
// Each prints what is not so. Those whose names begin with long are left out of the quick tests.
func TestChecks(t *testing.T) {
	t.Parallel()
	common, err := os.ReadFile("testdata/checks.py")
	files, _ := filepath.Glob("testdata/checks/*.py")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	by := map[string]string{"formats": "binaries.py", "values": "binaries.py", "masked": "masked.py"}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".py")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(name, "long") {
				pyenvtest.Long(t)
			}
			program, err := os.ReadFile(file)
			check(t, err)
			dir := t.TempDir()
			if recipe := by[name]; recipe != "" {
				dir, _ = made(t, recipe)
			}
			if out := run(t, dir, string(common)+string(program)); out != "" {
				t.Error(out)
			}
		})
	}
}

// TestAnyTables: of tables made at random and written to the formats, what a profile states is what
// made them, or is marked as a guess, a sample or an estimate, and its calls read them. DSSTAR_LONG
// takes 5,000 small ones and 100 large ones.
func TestAnyTables(t *testing.T) {
	t.Parallel()
	runs := []string{`"3000", "60"`}
	if os.Getenv("DSSTAR_LONG") != "" {
		runs = []string{`"10000", "5000"`, `"1", "100", "large"`}
	}
	program, err := filepath.Abs("testdata/tables/check.py")
	check(t, err)
	for _, seeds := range runs {
		t.Log(run(t, t.TempDir(), fmt.Sprintf(`import os, runpy, tempfile
tempfile.tempdir = os.getcwd()
sys.argv = ["check.py", os.devnull, %s]
runpy.run_path(%q, run_name="__main__")`, seeds, program)))
	}
}

// TestFamilyReads: a member of a family says whatever changes how it is read, and nothing where it is
// like the first.
func TestFamilyReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const header, row = "day,town,price,note\n", "2024-03-N,Rome N,N.5,done\n"
	semicolons := strings.ReplaceAll(header, ",", ";")
	var first profile.Profile
	for n, c := range []struct{ header, row, says string }{
		{header, row, ""}, {header, row, ""},
		{semicolons, strings.ReplaceAll(row, ",", ";"), `fields between ";"`},
		{"Prices of towns\n\n" + header, row, "header in line 3|skiprows=2"},
		{header, "2024-03-N,M\xfcnchen N,N.5,done\n", "encoding cp1252"},
		{semicolons, "2024-03-N;Rome N;N,5;done\n", `decimal commas|decimal=","`},
		{header, "2024-03-N,Rome N,cheap N,done\n", "price: text"},
		{header, row + row + "2024-03-N,Rome N,no data,done\n", "no data"},
		{header, "N.03.2024,Rome N,N.5,done\n", "%d.%m.%Y"},
		{header, row + "2024-03-N,Rome N,N.5,Done\n", "Done"},
	} {
		path, text := filepath.Join(dir, fmt.Sprintf("%d.csv", n)), c.header
		for n := range 40 {
			text += strings.ReplaceAll(c.row, "N", fmt.Sprint(n%28+1))
		}
		check(t, os.WriteFile(path, []byte(text), 0o600))
		member := profiled(t, dir, path)
		if n == 0 {
			first = member
		}
		beyond := member.Beyond(first, 300)
		for _, want := range strings.Split(c.says, "|") {
			if !strings.Contains(beyond, want) || (want == "") != (beyond == "") || member.Structure != first.Structure {
				t.Errorf("%d: %q is missing in %s", n, want, beyond)
			}
		}
	}
}

// Texts come in the order of their nearness to a question.
func TestNear(t *testing.T) {
	texts := []string{
		"fees.json fee rules by card scheme", "rain.csv rain in mm, by day",
		"manual.md what a fee is; what a merchant is",
		"payments.csv merchant, card scheme, amount", "données.csv",
	}
	for question, want := range map[string][]int{ // the first ones
		"How much RAIN fell?": {1}, "Fees by card scheme?": {0, 3}, "Combien dans données?": {4},
		"xyz": {0, 1, 2, 3, 4}, "": {0, 1, 2, 3, 4}, // nothing in common: as they come
	} {
		if got, _ := profile.Near(question, texts, 0); !slices.Equal(got[:len(want)], want) {
			t.Errorf("%q: got %v, want %v", question, got, want)
		}
	}
	// Texts of the same words are equally near, in every run.
	words := strings.Fields("mean price of cars by region in the year when most were sold at all")
	var alike, some []string
	for n := range words {
		alike = append(alike, strings.Join(slices.Concat(words[n:], words[:n]), " "))
		some = append(some, strings.Join(words[:n], " ")) // so that words differ in weight
	}
	order, _ := profile.Near("the price of cars in each region of the year", append(alike, some...), 0)
	order = slices.DeleteFunc(order, func(i int) bool { return i >= len(alike) })
	if !slices.IsSorted(order) {
		t.Errorf("of texts that are alike, the order is %v", order)
	}
}
