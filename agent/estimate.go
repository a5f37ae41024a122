package agent

import (
	"context"
	"fmt"

	"dsstar/agent/record"
	"dsstar/notebook/human"
)

// The rounds that questions take: DS-STAR section 5 found 3.0 on average for
// easy ones and 5.6 for hard ones, with smaller steps.
const fewRounds, manyRounds = 1, 4

// replyTokens is the usual length of a reply.
const replyTokens = 350

// estimate reports what the rounds may cost, from the length of the shared prefix and the
// tokens per byte so far, and asks whether to go on.
func (r *run) estimate(ctx context.Context) error {
	prefix, err := r.Prompts.Text(r.context())
	if err != nil {
		return err
	}
	perByte := r.TokensPerByte()
	low, high := r.guess(fewRounds, len(prefix), perByte), r.guess(manyRounds, len(prefix), perByte)
	text := fmt.Sprintf("%d to %d rounds: %d to %d model calls with %s to %s thousand input tokens, "+
		"mostly a shared, cacheable prefix", fewRounds, manyRounds, low.Calls, high.Calls,
		thousands(low.InputTokens), thousands(high.InputTokens))
	from, priced := r.costOf(low)
	to, _ := r.costOf(high)
	if priced {
		text += fmt.Sprintf("; about %s to %s", human.Dollars(from), human.Dollars(to))
	}
	if err := r.observe(Event{Kind: Estimated, Text: text}); err != nil {
		return err
	}
	if !priced || r.cfg.AgreeToCost == nil {
		return nil
	}
	return r.cfg.AgreeToCost(ctx, from, to)
}

// guess estimates the usage of a number of rounds. The notebook grows by about 600 tokens a round.
func (r *run) guess(rounds, prefix int, perByte float64) record.Usage {
	const asking, growth, cached = 500, 600, 0.8
	var u record.Usage
	u.Calls = callsOf(r.t.Method.Script, rounds)
	u.InputTokens = u.Calls * (int(float64(prefix)*perByte) + asking + growth*rounds/2)
	u.CachedTokens = int(cached * float64(u.InputTokens))
	u.OutputTokens = u.Calls * replyTokens
	return u
}

// costOf returns the cost of a usage at the price of the role that writes the cells.
func (r *run) costOf(u record.Usage) (float64, bool) {
	role := "solver"
	if r.t.Method.Script {
		role = "coder"
	}
	price, ok := r.PriceOf(role)
	return price.Cost(u.Usage), ok
}

func thousands(tokens int) string {
	if tokens < 10_000 {
		return fmt.Sprintf("%.1f", float64(tokens)/1000)
	}
	return fmt.Sprintf("%.0f", float64(tokens)/1000)
}
