package vary_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/vary"
)

const question = "For credit transactions, what is the fee of GlobalCard for account type R and a value of 10 EUR?"

var cells = []string{`rows = fees[(fees["scheme"] == "GlobalCard") & fees["types"].apply(lambda t: 'R' in t)]
AMOUNT = 10
print(f"GlobalCard, R, {R}:", (rows.fixed_amount + rows.rate * AMOUNT / 10000).mean())`}

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
		"a number in a string": {"Sales in 2023?", `t[t.d > "2023-01-01"]; y = 2023`, "Sales in 2024?"},
		"a part of a name":     {"What of Rafa?", `t = t[t.n == "Rafa_AI"]`, "What of Mia?"},
		"a value that repeats": {"Is A more than A?", `x = "A"`, "Is B more than C?"},
		"a part of a number":   {"Is it 10.5?", `x = 10`, "Is it 11.5?"},
		"a value in a comment": {"What of Lyon?", `x = 1  # "Lyon"`, "What of Nice?"},
	} {
		if got, ok := vary.Between(c.question, []string{c.code}, c.asked); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestCode replaces literals, values in SQL, and labels; no code.
func TestCode(t *testing.T) {
	swaps := []vary.Swap{{"GlobalCard", "McDonald's"}, {"R", "F"}, {"10", "1,000"}, {"F", "R"}}
	got, whole := vary.Code(swaps, cells[0]+"\nF = 'F'")
	want := `rows = fees[(fees["scheme"] == "McDonald's") & fees["types"].apply(lambda t: 'F' in t)]
AMOUNT = 1000
print(f"GlobalCard, F, {R}:", (rows.fixed_amount + rows.rate * AMOUNT / 10000).mean())
F = 'R'`
	if diff := cmp.Diff(want, got); diff != "" || !whole {
		t.Error(whole, diff)
	}
	got, whole = vary.Code([]vary.Swap{{"Lyon", "New York"}}, `q = "select n from t where c = 'Lyon'"  # of Lyon`)
	if want := `q = "select n from t where c = 'New York'"  # of New York`; got != want || !whole {
		t.Error(whole, got)
	}
	if got, whole = vary.Code([]vary.Swap{{"Lyon", "Nice"}, {"7", "8"}}, `t[t.c == "Lyon"]`); whole {
		t.Error(got)
	}
	if got := vary.Text([]vary.Swap{{"<3", ">5"}, {"10", "11"}}, "Class '<3', 10 of 100."); got != "Class '>5', 11 of 100." {
		t.Error(got)
	}
}
