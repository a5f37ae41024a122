package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
)

//go:embed text_score.py
var textScorer string

// A textScore is what a function of text_score.py returns.
type textScore struct {
	Score  float64            `json:"score"`
	Parts  map[string]float64 `json:"parts"`
	Detail string             `json:"detail"`
	Ask    []string           `json:"ask"` // answer and gold that the judge is to compare first
}

// text calls a function of text_score.py. An answer that makes it fail is wrong.
func (s Scorer) text(ctx context.Context, t Task, function string, args ...any) (textScore, error) {
	var out textScore
	if s.Plain == nil {
		return out, &NeedError{t.ID, "Python"}
	}
	call, err := json.Marshal(append([]any{function}, args...))
	if err != nil {
		return out, err
	}
	err = s.Plain.call(ctx, textScorer, "main", call, &out)
	if bad, ok := errors.AsType[*CodeError](err); ok {
		return textScore{Detail: bad.Error()}, nil
	}
	return out, err
}
