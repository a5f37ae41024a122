package describe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/llm"
)

// rank orders the files by their nearness to the question, which is that of their words. With more
// than TopK it is the cosine of the embeddings of question and description (DS-STAR section 3.3)
// that decides which are shown, unless there is no embedding model, and it says so.
func (r *Describer) rank(ctx context.Context) error {
	const most = 2000 // bytes of a profile that the embedding model is sent
	texts := make([]string, len(r.t.Descriptions))
	for i, d := range r.t.Descriptions {
		text := d.Text
		if p := r.profiles[d.File]; p != nil && p.Known() {
			text = p.About
		}
		texts[i] = brief.Lines(d.File+"\n"+d.File+"\n"+text, most)
	}
	order, _ := profile.Near(r.t.Task.Question, texts, 0)
	scores, err, warning := []float64(nil), error(nil), ""
	if len(texts) > r.TopK && r.Embedder != nil {
		scores, err = r.Rank(ctx, r.Embedder, r.t.Task.Question, texts)
	}
	switch _, key := errors.AsType[*llm.CredentialError](err); {
	case ctx.Err() != nil || key:
		return err
	case err != nil:
		warning = fmt.Sprintf("the files are ranked by the words that they share with the question, "+
			"since the embedding model failed: %v", err)
	case scores != nil:
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	case len(texts) > r.TopK:
		warning = fmt.Sprintf("of %d files the %d that share most words with the question are shown "+
			"to the model: no embedding model is set", len(texts), r.TopK)
	}
	for n, i := range order {
		r.t.Descriptions[i].Near = n + 1
	}
	if warning == "" {
		return nil
	}
	return r.journal.Warn(warning)
}
