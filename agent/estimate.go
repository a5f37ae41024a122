package agent

import (
	"fmt"

	"dsstar/agent/describe"
	"dsstar/agent/record"
)

// The rounds that questions take: DS-STAR section 5 found 3.0 on average for
// easy ones and 5.6 for hard ones.
const fewRounds, manyRounds = 2, 6

// estimate reports what the rounds may cost, from the length of the shared prefix and the
// tokens per byte so far.
func (r *run) estimate() error {
	prefix, err := r.Prompts.Text(r.context())
	if err != nil {
		return err
	}
	perByte := r.TokensPerByte()
	low, high := r.guess(fewRounds, len(prefix), perByte), r.guess(manyRounds, len(prefix), perByte)
	text := fmt.Sprintf(
		"%d to %d rounds: %d to %d model calls with %s to %s thousand input "+
			"tokens, mostly a shared, cacheable prefix",
		fewRounds,
		manyRounds,
		low.Calls,
		high.Calls,
		thousands(low.InputTokens),
		thousands(high.InputTokens),
	)
	if from, ok := r.costOf(low); ok {
		to, _ := r.costOf(high)
		text += fmt.Sprintf("; %.2f to %.2f US dollars", from, to)
	}
	return r.observe(Event{Kind: Estimated, Text: text})
}

// guess estimates the usage of a number of rounds: planner, coder and verifier in each, a router
// between rounds, a debugger in every other round, finalizer and checker at the end, and with
// candidates one coder each and one more verifier. The notebook grows by about 600 tokens a round.
func (r *run) guess(rounds, prefix int, perByte float64) record.Usage {
	const asking, growth, cached = 500, 600, 0.8
	var u record.Usage
	u.Calls = 4*rounds + rounds/2 + 1
	if n := r.candidateCount; n > 1 {
		u.Calls += n * rounds
	}
	u.InputTokens = u.Calls * (int(float64(prefix)*perByte) + asking + growth*rounds/2)
	u.CachedTokens = int(cached * float64(u.InputTokens))
	u.OutputTokens = u.Calls * describe.ReplyTokens
	return u
}

// costOf returns the cost of a usage at the coder's price.
func (r *run) costOf(u record.Usage) (float64, bool) {
	price, ok := r.PriceOf("coder")
	return price.Cost(u.Usage), ok
}

func thousands(tokens int) string {
	if tokens < 10_000 {
		return fmt.Sprintf("%.1f", float64(tokens)/1000)
	}
	return fmt.Sprintf("%.0f", float64(tokens)/1000)
}
