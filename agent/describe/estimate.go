package describe

import (
	"context"
	"errors"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/prompts"
)

// holdBack holds back the error of a spent budget while files are described: the
// calls under way are paid for, and what comes of them is kept.
func (r *Describer) holdBack(err error) error {
	spent := (*ask.BudgetError)(nil)
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

// ReplyTokens is the usual length of a reply.
const ReplyTokens = 350

// agree asks whether the families are to be described for what that may cost.
func (r *Describer) agree(ctx context.Context, families [][]int) error {
	if len(families) == 0 || r.Agree == nil {
		return nil
	}
	e := Estimate{Calls: len(families)}
	for _, family := range families {
		e.Files += len(family)
		request, err := r.Compose(ask.Request{Words: func() ([]prompts.Part, map[string]string) {
			return r.analyzeWords(family[0], family[1:])
		}})
		if err != nil {
			return err
		}
		for _, m := range request.Messages {
			e.InputTokens += len(m.Text) / 4
		}
	}
	if price, ok := r.PriceOf("analyzer"); ok {
		e.Cost = new(price.Cost(llm.Usage{InputTokens: e.InputTokens,
			OutputTokens: e.Calls * ReplyTokens}))
	}
	return r.Agree(ctx, e)
}

// agreeToRank asks whether the embedding model may be sent the texts.
func (r *Describer) agreeToRank(ctx context.Context, texts []string) error {
	if r.Agree == nil {
		return nil
	}
	e := Estimate{Ranking: true, Files: len(texts), Calls: len(texts)/rankBatch + 1}
	for _, text := range texts {
		e.InputTokens += len(text) / 4
	}
	if price, ok := r.PriceOf("retriever"); ok {
		e.Cost = new(price.Cost(llm.Usage{InputTokens: e.InputTokens}))
	}
	return r.Agree(ctx, e)
}
