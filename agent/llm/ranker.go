package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// A Ranker scores the semantic similarity of texts to a question. The Rankers of this package
// are safe for concurrent use.
type Ranker interface {
	// Rank scores each text. It does not retain texts. It returns ctx.Err() soon after ctx is
	// done.
	Rank(ctx context.Context, question string, texts []string) (Ranking, error)
}

// A Ranking is the result of a Ranker.
type Ranking struct {
	// Scores has the cosine similarity of each text to the question, in order; 0 for an empty
	// text.
	Scores []float64
	Usage  Usage  // of input tokens only
	Model  string // as the endpoint names it
	Calls  int    // HTTP requests, without retries
}

// rankerRole and rankerSubject label the exchanges of rankers.
const (
	rankerRole    = "retriever"
	rankerSubject = "files"
)

// rankerRequest represents a ranking as a request.
func rankerRequest(question string, texts []string) Request {
	return Request{
		Role: rankerRole, Subject: rankerSubject,
		Messages: []Message{{Role: "user", Text: question}},
		Ground:   GroundOf(nil, question, texts),
	}
}

// TracedRanker appends every ranking of r to t, failed ones too, as an exchange whose reply is
// a JSON list of the scores. Scores are rounded to four decimals before use, so a replay
// returns the same ones. Rank fails if the ranking cannot be recorded. The caller closes t
// after the last Rank.
func TracedRanker(r Ranker, t *Trace) Ranker { return tracedRanker{r, t} }

type tracedRanker struct {
	ranker Ranker
	trace  *Trace
}

func (r tracedRanker) Rank(ctx context.Context, question string, texts []string) (Ranking, error) {
	start := r.trace.Now()
	ranking, err := r.ranker.Rank(ctx, question, texts)
	request := rankerRequest(question, texts)
	e := Exchange{
		Role: request.Role, Subject: request.Subject, Messages: request.Messages, Ground: request.Ground,
		Model: ranking.Model, Usage: ranking.Usage, Calls: ranking.Calls, Seconds: r.trace.Now().Sub(start).Seconds(),
	}
	if err != nil {
		e.Error, e.Stopped = err.Error(), ctx.Err() != nil
	} else {
		ranking.Scores = rounded(ranking.Scores)
		reply, err := json.Marshal(ranking.Scores)
		if err != nil {
			return Ranking{}, fmt.Errorf("trace: %w", err)
		}
		e.Reply = string(reply)
	}
	if failed := r.trace.Append(e); failed != nil {
		return Ranking{}, errors.Join(err, failed)
	}
	return ranking, err
}

func rounded(scores []float64) []float64 {
	short := make([]float64, len(scores))
	for i, s := range scores {
		short[i] = math.Round(s*1e4) / 1e4
	}
	return short
}

// ReplayRanker answers from the rankings of a trace, as [Replay] does: each is used once, and
// a missing one is a [*ReplayError].
func ReplayRanker(exchanges []Exchange) Ranker { return replayRanker{newReplay(exchanges)} }

type replayRanker struct{ *replay }

func (r replayRanker) Rank(ctx context.Context, question string, texts []string) (Ranking, error) {
	if err := ctx.Err(); err != nil {
		return Ranking{}, err
	}
	e, err := r.take(rankerRequest(question, texts))
	if err != nil {
		return Ranking{}, err
	}
	ranking := Ranking{Usage: e.Usage, Model: e.Model, Calls: e.Calls}
	if err := json.Unmarshal([]byte(e.Reply), &ranking.Scores); err != nil {
		return Ranking{}, fmt.Errorf(
			"replay: exchange %d of the trace is not a list of scores: %w",
			e.N,
			err,
		)
	}
	return ranking, nil
}
