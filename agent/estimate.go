package agent

import (
	"context"
	"fmt"

	"dsstar/agent/record"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// The rounds that questions take: DS-STAR section 5 found 3.0 on average for
// easy ones and 5.6 for hard ones, with smaller steps.
const fewRounds, manyRounds = 1, 4

// estimate reports what the rounds may cost, from the length of the shared prefix, at four bytes a
// token, and asks whether to go on. The notebook grows by about 600 tokens a round, and a reply has
// about 350.
func (r *run) estimate(ctx context.Context) error {
	writer := "solver"
	if r.t.Method.Script {
		writer = "coder"
	}
	price, priced := r.asker.PriceOf(writer)
	tokens := len(prompts.Text(r.context())) / 4
	guess := func(rounds int) (u record.Usage, cost float64) {
		u.Calls = callsOf(r.t.Method.Script, rounds)
		u.InputTokens = u.Calls * (tokens + 500 + 600*rounds/2)
		u.CachedTokens, u.OutputTokens = u.InputTokens*4/5, u.Calls*350
		return u, price.Cost(u.Usage)
	}
	low, from := guess(fewRounds)
	high, to := guess(manyRounds)
	text := fmt.Sprintf("%d to %d rounds: %d to %d model calls with %s to %s thousand input tokens, "+
		"mostly a shared, cacheable prefix", fewRounds, manyRounds, low.Calls, high.Calls,
		thousands(low.InputTokens), thousands(high.InputTokens))
	if priced {
		text += fmt.Sprintf("; about %s to %s", human.Dollars(from), human.Dollars(to))
	}
	err := r.observe(Event{Kind: Estimated, Text: text})
	if err != nil || !priced || r.cfg.AgreeToCost == nil {
		return err
	}
	return r.cfg.AgreeToCost(ctx, from, to)
}

func thousands(tokens int) string {
	if tokens < 10_000 {
		return fmt.Sprintf("%.1f", float64(tokens)/1000)
	}
	return fmt.Sprintf("%.0f", float64(tokens)/1000)
}
