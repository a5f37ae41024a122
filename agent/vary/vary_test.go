package vary_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/vary"
)

const question = "For credit transactions, what is the fee of GlobalCard for account type R and a value of 10 EUR?"

var cells = []string{`rows = fees[(fees["scheme"] == "GlobalCard") & fees["types"].apply(lambda t: 'R' in t)]
AMOUNT = 10
print(f"GlobalCard, R, {x}:", (rows.fixed_amount + rows.rate * AMOUNT / 10000).mean())`}

// TestBetween: only values of the cells may differ.
func TestBetween(t *testing.T) {
	for asked, want := range map[string][]vary.Swap{
		"For credit transactions, what is the fee of NexPay for account type R and a value of 1,000 EUR": {
			{"GlobalCard", "NexPay"}, {"10", "1,000"}},
		"for credit transactions, what is the fee of GlobalCard for account type F and a value of 10 EUR?": {{"R", "F"}},
		question: nil, // it is the same
		"For debit transactions, what is the fee of GlobalCard for account type R and a value of 10 EUR?":            nil,
		"For credit transactions, what is the fee of GlobalCard for account type R and a value of some EUR?":         nil,
		"For credit transactions, what is the fee of GlobalCard or NexPay for account type R and a value of 10 EUR?": nil,
		"For credit transactions, what is the fee of A? Of B for account type R and a value of 10 EUR?":              nil,
		"For credit transactions, what is the fee of GlobalCard for account type R and a value of 10 EUR in May?":    nil,
	} {
		got, ok := vary.Between(question, cells, asked)
		if diff := cmp.Diff(want, got); diff != "" && (ok || want != nil) || ok != (want != nil) {
			t.Errorf("%s: %v\n%s", asked, ok, diff)
		}
	}
}

// TestBetweenRefuses values that are no plain ones of the cells.
func TestBetweenRefuses(t *testing.T) {
	for name, c := range map[string]struct{ question, code, asked string }{
		"a column":             {"What is the mean of age?", `print(t["age"].mean())`, "What is the mean of income?"},
		"a number used twice":  {"Which are the top 5?", "a = t.nlargest(5); b = t.head(5)", "Which are the top 6?"},
		"a number in a string": {"What was sold in shop 12?", `t[t.d > "12-01"]; y = 12`, "What was sold in shop 13?"},
		"a part of a name":     {"What did they pay for Rafa?", `t = t[t.n == "Rafa_AI"]`, "What did they pay for Mia?"},
		"a value that repeats": {"Is there more of A than of A?", `x = "A"`, "Is there more of B than of C?"},
		"a part of a number":   {"What is more than 10.5?", `x = 10`, "What is more than 11.5?"},
		"an operation":         {"What is the mean age?", `t.age.agg("mean"); print("mean", t)`, "What is the median age?"},
		"a label":              {"What is the total of it?", `print("total", t)`, "What is the maximum of it?"},
		"a key":                {"What is the total of it?", `x = {"total": 1}; y = "total"`, "What is the maximum of it?"},
		"an option":            {"What is there on the left?", "a.merge(b,\n  how=\"left\")", "What is there on the right?"},
		"a number and a digit": {"What is in class 1?", `x = t[t.c == "1"].iloc[1]`, "What is in class 2?"},
		"a round number":       {"What is the fee for 100 EUR?", "x = 100; y = 1 / 100", "What is the fee for 250 EUR?"},
		"a month":              {"What was sold in May?", `m = "May"; n = 5`, "What was sold in June?"},
		"a clause":             {"What is the total outside Lyon?", `t.c != "Lyon"`, "What is the total outside Nice in May?"},
		"a whole question":     {"Total of Lyon?", `x = "Lyon"`, "How old is the customer?"},
		"a thousand in German": {"What is the fee for 17 EUR?", "x = 17", "What is the fee for 1.000 EUR?"},
		"two numbers":          {"What is in order 17?", "x = 17", "What is in order 1,2?"},
		"a year and a number":  {"What was sold in 2023?", "x = 2023", "What was sold in 17?"},
		"a value in a comment": {"What was sold in Lyon?", `x = 1  # "Lyon"`, "What was sold in Nice?"},
	} {
		if got, ok := vary.Between(c.question, []string{c.code}, c.asked); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestCode replaces literals, values in SQL, and labels; no code.
func TestCode(t *testing.T) {
	swaps := []vary.Swap{{"GlobalCard", "Nex Pay"}, {"R", "F"}, {"10", "1,000"}, {"F", "R"}}
	got, whole, clean := vary.Code(swaps, cells[0]+"\ny = 'F'")
	want := `rows = fees[(fees["scheme"] == "Nex Pay") & fees["types"].apply(lambda t: 'F' in t)]
AMOUNT = 1000
print(f"Nex Pay, F, {x}:", (rows.fixed_amount + rows.rate * AMOUNT / 10000).mean())
y = 'R'`
	if diff := cmp.Diff(want, got); diff != "" || !whole || !clean {
		t.Error(whole, clean, diff)
	}
	got, whole, clean = vary.Code([]vary.Swap{{"Lyon", "New York"}}, `q = "select n from t where c = 'Lyon'"  # of Lyon`)
	if want := `q = "select n from t where c = 'New York'"  # of Lyon`; got != want || !whole || !clean {
		t.Error(whole, got)
	}
	if got, _, _ := vary.Code([]vary.Swap{{"Lyon", "Val d'Or"}}, `x = 'Lyon'`); got != `x = "Val d'Or"` {
		t.Error(got)
	}
	if got, whole, _ = vary.Code([]vary.Swap{{"Lyon", "Nice"}, {"7", "8"}}, `t[t.c == "Lyon"]`); whole {
		t.Error(got)
	}
	if got := vary.Text([]vary.Swap{{"<3", ">5"}, {"10", "11"}}, "Class '<3', 10 of 100."); got != "Class '>5', 11 of 100." {
		t.Error(got)
	}
}

// TestPositions: a value is what is compared, looked for or assigned.
func TestPositions(t *testing.T) {
	for _, code := range []string{`t[t.c == "Lyon"]`, `t[t["c"].isin(["Nice", "Lyon"])]`, `x = "Lyon"`, `city: str = "Lyon"`,
		`t.query("c == 'Lyon'")`, `name, n = "Lyon", 5`, `a, b = 5, "Lyon"`, `sql = "select n from t where c in ('Nice', 'Lyon')"`, `"Lyon" in t`, `d.get("Lyon", 0)`, `sql = """select n from t where c = 'Lyon'"""`} {
		swaps, ok := vary.Between("What was sold in Lyon?", []string{code}, "What was sold in New York?")
		if varied, whole, clean := vary.Code(swaps, code); !ok || !whole || !clean || strings.Contains(varied, "Lyon") {
			t.Errorf("%s: %v, %q", code, swaps, varied)
		}
	}
}

// TestUnclear: what may mean something else is told.
func TestUnclear(t *testing.T) {
	swaps := []vary.Swap{{"Lyon", "Nice"}, {"10", "20"}}
	for _, code := range []string{`x = "Lyon"; y = t.c.str.match(r"\bLyon\b")`, `x = "Lyon"; y = "lyon_shops.csv"`,
		`x = "Lyon"; a = 10; b = 10`, `x = "Lyon"; a = 10; b = "10-01"`, `x = "Lyon"; y = f"{t['Lyon']}"`,
		`x = "Lyon"; y = totals.Lyon`, `x = "Lyon"; y = ["Nice"]`, `x = "Lyon"; y = "nice"`, `x = "Lyon"; n = 20`} {
		if varied, _, clean := vary.Code(swaps, code); clean {
			t.Error(varied)
		}
	}
}

// TestYears: long numbers are replaced wherever they stand alone.
func TestYears(t *testing.T) {
	code := `y = 2023; t = t[(t.d >= "2023-01-01") & (t.y == 2023)]; print("in 2023", len(t))`
	swaps, ok := vary.Between("What was sold in 2023?", []string{code}, "What was sold in 2028?")
	varied, whole, clean := vary.Code(swaps, code)
	if want := strings.ReplaceAll(code, "2023", "2028"); !ok || !whole || !clean || varied != want {
		t.Errorf("%v, %v, %v: %s", ok, whole, clean, varied)
	}
	for _, code := range []string{`y = 2023; t = pd.read_csv("data/sales_2023.csv")`, `y = 2023; t[t.d < "2024-01-01"]`,
		`y = 2023; z = 2022`, `y = 2023; z = f"{t[t.y == 2023]}"`} {
		if varied, _, clean := vary.Code(swaps, code); clean {
			t.Error(varied)
		}
	}
	swaps = []vary.Swap{{"FR", "DE"}}
	if varied, _, clean := vary.Code(swaps, `c = "FR"; t = pd.read_csv("data/sales_FR.csv")`); clean {
		t.Error(varied)
	}
}
