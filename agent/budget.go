package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// Limits are what a run may use, from where it was begun or resumed; 0 is no limit.
type Limits struct {
	Calls int           // model calls
	Cost  float64       // US dollars, by the prices of Config
	Time  time.Duration // from the start to the last event
}

// A BudgetError says that a limit is reached. The trajectory is valid up to
// there.
type BudgetError struct {
	Flag string // "max-calls", "max-cost" or "max-time"
	Most string // the limit, for people
}

func (e *BudgetError) Error() string { return "the budget is spent: " + e.Most }

// withTime bounds the time of a run.
func withTime(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, &BudgetError{"max-time", limit.String()})
}

// overdue is the BudgetError because of which ctx has ended, or else err.
func overdue(ctx context.Context, err error) error {
	if spent := (*BudgetError)(nil); err != nil && errors.As(context.Cause(ctx), &spent) {
		return spent
	}
	return err
}

// spending holds back the error of a spent budget while files are described: the
// calls under way are paid for, and what comes of them is kept.
func (r *run) spending(err error) error {
	spent := (*BudgetError)(nil)
	if !errors.As(err, &spent) || spent.Flag == "max-time" {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spent = spent
	return nil
}

// An Estimate is what describing files is likely to take: more, where scripts have
// to be repaired.
type Estimate struct {
	Ranking     bool // it is for ranking the files by the embedding model, so that few are described
	Files       int
	Calls       int
	InputTokens int
	Cost        *float64 // US dollars; nil: no price is known
}

// replyTokens are what a reply has about.
const replyTokens = 350

// agree asks whether the families are to be described for what that may cost.
func (r *run) agree(ctx context.Context, families [][]int) error {
	if len(families) == 0 || r.cfg.Agree == nil {
		return nil
	}
	e := Estimate{Calls: len(families)}
	for _, family := range families {
		e.Files += len(family)
		request, err := r.request(question{words: func() ([]prompts.Part, map[string]string) { return r.analyzeWords(family[0], family[1:]) }})
		if err != nil {
			return err
		}
		for _, m := range request.Messages {
			e.InputTokens += len(m.Text) / 4
		}
	}
	if price, ok := r.price("analyzer"); ok {
		cost := price.Cost(llm.Usage{InputTokens: e.InputTokens, OutputTokens: e.Calls * replyTokens})
		e.Cost = &cost
	}
	return r.cfg.Agree(ctx, e)
}

// agreeToRank asks whether the embedding model may be sent the texts.
func (r *run) agreeToRank(ctx context.Context, texts []string) error {
	if r.cfg.Agree == nil {
		return nil
	}
	e := Estimate{Ranking: true, Files: len(texts), Calls: len(texts)/rankBatch + 1}
	for _, text := range texts {
		e.InputTokens += len(text) / 4
	}
	if price, ok := r.price("retriever"); ok {
		cost := price.Cost(llm.Usage{InputTokens: e.InputTokens})
		e.Cost = &cost
	}
	return r.cfg.Agree(ctx, e)
}

// The rounds that questions take: DS-STAR section 5 found 3.0 on average for
// easy ones and 5.6 for hard ones.
const fewRounds, manyRounds = 2, 6

// estimate tells what the rounds may cost, from the length of what all requests
// begin with and the tokens that the calls so far had for their length.
func (r *run) estimate() error {
	prefix, err := r.cfg.Prompts.Text(r.context)
	if err != nil {
		return err
	}
	perByte := 0.25
	if r.asked > 20_000 && !r.t.Usage.Estimated {
		perByte = float64(r.t.Usage.InputTokens) / float64(r.asked)
	}
	low, high := r.guess(fewRounds, len(prefix), perByte), r.guess(manyRounds, len(prefix), perByte)
	text := fmt.Sprintf("%d to %d rounds: %d to %d model calls with %s to %s thousand input tokens, most of them a beginning that all have in common",
		fewRounds, manyRounds, low.Calls, high.Calls, thousands(low.InputTokens), thousands(high.InputTokens))
	if from, ok := r.costOf(low); ok {
		to, _ := r.costOf(high)
		text += fmt.Sprintf("; %.2f to %.2f US dollars", from, to)
	}
	return r.observe(Event{Kind: Estimated, Text: text})
}

// guess is what a number of rounds may use: planner, coder, verifier and router
// in each, a debugger in every other, and at the end finalizer and checker; with
// candidates a coder for each and a verifier more. The notebook grows by about 600
// tokens a round.
func (r *run) guess(rounds, prefix int, perByte float64) record.Usage {
	const asking, growth, cached = 500, 600, 0.8
	var u record.Usage
	u.Calls = 4*rounds + rounds/2 + 1
	if n := r.most(); n > 1 {
		u.Calls += n * rounds
	}
	u.InputTokens = u.Calls * (int(float64(prefix)*perByte) + asking + growth*rounds/2)
	u.CachedTokens = int(cached * float64(u.InputTokens))
	u.OutputTokens = u.Calls * replyTokens
	return u
}

// costOf is what a usage costs if the coder's price is every role's.
func (r *run) costOf(u record.Usage) (float64, bool) {
	price, ok := r.price("coder")
	return price.Cost(u.Usage), ok
}

func thousands(tokens int) string {
	if tokens < 10_000 {
		return fmt.Sprintf("%.1f", float64(tokens)/1000)
	}
	return fmt.Sprintf("%.0f", float64(tokens)/1000)
}
