// Package memorytest makes a memory as large as that of a team that has asked for years.
package memorytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent/memory"
)

// subjects are what the functions are about: a word of their names, and of their docstrings. Each has
// a file, all with the same rows.
var subjects = [][2]string{
	{"fees", "fees that card schemes charge"}, {"payments", "card payments of merchants"},
	{"refusals", "payments that the issuer refused"}, {"frauds", "transactions reported as fraudulent"},
	{"chargebacks", "chargebacks and disputes"}, {"refunds", "money paid back to customers"},
	{"deliveries", "parcels handed to carriers"}, {"orders", "orders of the web shop"},
	{"returns", "articles that were sent back"}, {"invoices", "invoices to business customers"},
	{"customers", "accounts of registered customers"}, {"subscriptions", "monthly subscriptions"},
	{"tickets", "tickets of the help desk"}, {"sessions", "visits to the web site"},
	{"campaigns", "marketing campaigns by mail"}, {"salaries", "salaries of employees"},
	{"absences", "days of sick leave"}, {"purchases", "purchases from suppliers"},
	{"stock", "articles in the warehouse"}, {"footfall", "people who enter a store"},
	{"readings", "readings of temperature sensors"}, {"trips", "trips of rental bikes"},
	{"flights", "departures of airlines"}, {"energy", "electricity used by buildings"},
	{"loans", "loans to private households"},
}

// measures are what the functions compute: name, docstring, expression, its value on [rows], and a
// question that it answers.
var measures = [][5]string{
	{"total_%s", "Sum of the amounts", `rows["amount"].sum()`, "42", "What is the total amount of %s?"},
	{"mean_%s", "Arithmetic mean of the amounts", `rows["amount"].mean()`, "14", "What is the average amount of %s?"},
	{"median_%s", "Median of the amounts", `rows["amount"].median()`, "2", "What is the median amount of %s?"},
	{"count_%s", "Number of rows", `len(rows)`, "3", "How many %s are there?"},
	{"largest_%s", "Largest amount", `rows["amount"].max()`, "39", "What is the highest amount of %s?"},
	{"smallest_%s", "Smallest amount", `rows["amount"].min()`, "1", "What is the lowest amount of %s?"},
	{"spread_of_%s", "Standard deviation of the amounts", `round(rows["amount"].std(), 2)`, "21.66", "How much do %s vary?"},
	{"%s_customers", "Number of different customers", `rows["customer"].nunique()`, "2", "How many customers have %s?"},
	{"first_day_of_%s", "Earliest date", `rows["date"].min()`, "'2023-01-05'", "When did %s begin?"},
	{"last_day_of_%s", "Latest date", `rows["date"].max()`, "'2023-02-07'", "When were the last %s?"},
	{"open_share_of_%s", "Share of rows whose status is open", `round((rows["status"] == "open").mean(), 2)`, "0.33", "What share of %s is still open?"},
	{"%s_by_country", "Sum of the amounts for each country", `rows.groupby("country")["amount"].sum().to_dict()`, "{'ES': 40, 'FR': 2}", "How are %s spread over the countries?"},
	{"%s_by_month", "Sum of the amounts for each calendar month", `rows.groupby(rows["date"].str[:7])["amount"].sum().to_dict()`, "{'2023-01': 1, '2023-02': 41}", "How did %s develop by month?"},
	{"busiest_weekday_of_%s", "Weekday with the largest sum", `pd.to_datetime(rows["date"]).dt.day_name()[rows["amount"].idxmax()]`, "'Tuesday'", "On which weekday are %s highest?"},
	{"top_%s_customers", "Customers by the sum of their amounts, the largest first", `list(rows.groupby("customer")["amount"].sum().sort_values(ascending=False).index)`, "['a', 'b']", "Which customers have the most %s?"},
	{"%s_per_customer", "Mean of the sums of each customer", `rows.groupby("customer")["amount"].sum().mean()`, "21", "What amount of %s does a customer have?"},
	{"growth_of_%s", "Relative change from the first month to the last", `41 / 1 - 1`, "40", "By how much have %s grown?"},
	{"%s_percentile_90", "The 90th percentile of the amounts", `round(rows["amount"].quantile(0.9), 1)`, "31.6", "What is the 90th percentile of %s?"},
	{"duplicate_%s", "Number of rows that repeat another one", `rows.duplicated().sum()`, "0", "How many %s are recorded twice?"},
	{"missing_values_of_%s", "Number of empty fields", `rows.isna().sum().sum()`, "0", "How many fields of %s are empty?"},
}

const rows = `country,date,amount,status,customer
ES,2023-01-05,1,ok,a
FR,2023-02-06,2,open,b
ES,2023-02-07,39,ok,a
`

// Large returns a memory, not saved, of 500 functions, 600 facts and 5,000 questions about the files
// that [Data] writes.
func Large(t testing.TB, dir string) *memory.Memory {
	t.Helper()
	m, err := memory.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var facts []memory.Fact
	for _, s := range subjects {
		for i := range 24 {
			facts = append(facts, memory.Fact{Source: fmt.Sprintf("%s.csv, column %d", s[0], i),
				Text: fmt.Sprintf("An empty field in column %d of the %s means that rule %d holds for all of them.", i, s[1], i*7)})
		}
	}
	m.Learn(facts, []string{"import pandas as pd"}, Functions())
	if err := m.AddQuestion(questions(m.Dir)...); err != nil {
		t.Fatal(err)
	}
	return m
}

// Functions returns 500 functions about 25 subjects.
func Functions() (all []memory.Tool) {
	for _, s := range subjects {
		for _, measure := range measures {
			all = append(all, tool(s, measure))
		}
	}
	return all
}

func tool(subject [2]string, measure [5]string) memory.Tool {
	name := fmt.Sprintf(measure[0], subject[0])
	return memory.Tool{Name: name, Code: fmt.Sprintf(`def %s(country: str = "", since: str = ""):
    """%s of the %s.

    country and since restrict the rows; empty means all of them.
    """
    rows = pd.read_csv("data/%s.csv")
    if country:
        rows = rows[rows["country"] == country]
    rows = rows[rows["date"] >= since]
    return %s`, name, measure[1], subject[1], subject[0], measure[2]),
		Test: fmt.Sprintf("# "+measure[4]+"\nassert %s() == %s\n", subject[0], name, measure[3])}
}

// questions returns each question for ten countries.
func questions(dir string) (all []memory.Question) {
	data := map[string]string{"25 files": strings.Repeat("0123456789abcdef", 4)}
	for _, country := range strings.Fields("Spain France Italy Greece Malta Cyprus Poland Norway Sweden Chile") {
		for _, s := range subjects {
			for _, measure := range measures {
				question := strings.TrimSuffix(fmt.Sprintf(measure[4], s[0]), "?") + " in " + country + "?"
				all = append(all, memory.Question{Question: question, Answer: measure[3], Verified: true,
					Notebook: filepath.Join(filepath.Dir(dir), fmt.Sprintf("dsstar-runs/2026-11-21-%04d/notebook.ipynb", len(all))),
					Tools:    []string{fmt.Sprintf(measure[0], s[0])}, Data: data,
					Asked: time.Date(2026, 1, 1, 0, len(all), 0, 0, time.UTC)})
			}
		}
	}
	return all
}

// Data writes the files that the functions read.
func Data(t testing.TB, dir string) {
	t.Helper()
	for _, s := range subjects {
		if err := os.WriteFile(filepath.Join(dir, s[0]+".csv"), []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
