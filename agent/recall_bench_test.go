package agent_test

import (
	"path/filepath"
	"slices"
	"testing"

	"dsstar/agent"
	"dsstar/agent/memory"
	"dsstar/agent/memory/memorytest"
)

// paraphrased are questions in other words than those of the functions that answer them.
var paraphrased = []struct{ question, tool string }{
	{"How much did the card schemes charge us altogether?", "total_fees"},
	{"On average, how high is the fee that a card scheme takes?", "mean_fees"},
	{"What does a typical refund to a customer come to, in the median?", "median_refunds"},
	{"How many parcels did we hand over to carriers?", "count_deliveries"},
	{"Which was the biggest invoice to a business customer?", "largest_invoices"},
	{"What was the least electricity that a building used?", "smallest_energy"},
	{"What is the standard deviation of the temperature that the sensors read?", "spread_of_readings"},
	{"How many distinct customers opened a ticket at the help desk?", "tickets_customers"},
	{"Since when do we have subscriptions?", "first_day_of_subscriptions"},
	{"What is the latest date on which a dispute was raised?", "last_day_of_chargebacks"},
	{"What fraction of loans has the status open?", "open_share_of_loans"},
	{"Give the sum of purchases from suppliers for each country.", "purchases_by_country"},
	{"Show orders in the web shop month by month.", "orders_by_month"},
	{"On what day of the week do most people enter the store?", "busiest_weekday_of_footfall"},
	{"Who are the best customers by the orders they placed?", "top_orders_customers"},
	{"How much does each customer send back?", "returns_per_customer"},
	{"What is the relative change in trips with rental bikes from the first to the last month?", "growth_of_trips"},
	{"Below which amount are 90 percent of salaries?", "salaries_percentile_90"},
	{"Are there repeated rows among the card payments?", "duplicate_payments"},
	{"How many values are missing in the flight departures?", "missing_values_of_flights"},
	{"What did fraudulent transactions cost, summed up?", "total_frauds"},
	{"What is the average length of a visit to our site?", "mean_sessions"},
	{"How many payments did issuers turn down?", "count_refusals"},
	{"Which employee's pay is the highest?", "largest_salaries"},
	{"In which months were employees ill most?", "absences_by_month"},
	{"How is the stock in the warehouse distributed across countries?", "stock_by_country"},
	{"When was the first mailing of a marketing campaign sent?", "first_day_of_campaigns"},
	{"What percentage of help desk tickets has not been closed yet?", "open_share_of_tickets"},
	{"Which accounts had the highest chargebacks in total?", "top_chargebacks_customers"},
	{"By what factor did the web site's visits rise?", "growth_of_sessions"},
}

// TestParaphrased: of 500 functions, the one that answers a question is mostly among those that a
// request shows, even if the question has other words.
func TestParaphrased(t *testing.T) {
	m := &memory.Memory{Tools: memorytest.Functions()}
	found := 0
	for _, c := range paraphrased {
		r := agent.RecallFor(m, c.question)
		if slices.ContainsFunc(r.Tools, func(tool memory.Tool) bool { return tool.Name == c.tool }) {
			found++
			continue
		}
		t.Logf("%s is not there for: %s", c.tool, c.question)
	}
	if t.Logf("%d of %d", found, len(paraphrased)); found < 25 {
		t.Error("they were 25")
	}
}

func BenchmarkRecallFor(b *testing.B) {
	m := memorytest.Large(b, filepath.Join(b.TempDir(), memory.Name))
	for b.Loop() {
		agent.RecallFor(m, paraphrased[0].question)
	}
}
