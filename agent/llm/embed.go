package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Limits of an embeddings request. Endpoints refuse larger ones.
const (
	maxTexts     = 64      // in a request
	maxTextBytes = 24_000  // of a text; the rest is cut off
	maxBatch     = 200_000 // bytes of all texts in a request
)

// ToRank returns the request to a model of [Endpoint.OpenEmbedder] for the similarity of texts to a
// question.
func ToRank(question string, texts []string) Request {
	return Request{Role: "retriever", Subject: "files", Texts: texts,
		Messages: []Message{{Role: "user", Text: question}}, Ground: GroundOf(nil, question, texts)}
}

// OpenEmbedder checks e as Open does and returns a model for requests of [ToRank]. It replies with
// a JSON list: the cosine similarity of each text to the question, in order, to four decimals. No
// text may be blank. It makes no connection; Ask fails as that of Open's model does. Temperature is
// not used.
func (e Endpoint) OpenEmbedder() (Model, error) {
	m, err := e.open("embeddings", "a list of embeddings")
	if err != nil {
		return nil, err
	}
	return embedder{m}, nil
}

type embedder struct{ *endpoint }

func (m embedder) Ask(ctx context.Context, r Request) (Reply, error) {
	start, reply := time.Now(), Reply{Model: m.Model}
	inputs := []string{clip(r.Messages[0].Text)}
	for _, text := range r.Texts {
		inputs = append(inputs, clip(text))
	}
	var all []gjson.Result
	for len(inputs) > 0 {
		n, size := 0, 0
		for n < min(len(inputs), maxTexts) && size+len(inputs[n]) <= maxBatch {
			size += len(inputs[n])
			n++
		}
		params := map[string]any{"model": m.Model, "input": inputs[:n], "encoding_format": "float"}
		retries, err := m.call(ctx, r, params, func(body io.Reader) error {
			return m.values(body, func(list gjson.Result) error {
				got := list.Get("data").Array()
				if len(got) != n {
					return m.misfit(fmt.Sprintf("sent %d texts and received %d embeddings", n, len(got)))
				}
				slices.SortStableFunc(got, byIndex)
				all = append(all, got...)
				used := Usage{InputTokens: tokens(list.Get("usage")).InputTokens}
				reply.Usage.Add(cmp.Or(used, Usage{InputTokens: (size + 3) / 4, Estimated: true}))
				reply.Model = m.hide(cmp.Or(list.Get("model").Str, m.Model))
				return nil
			})
		})
		if err != nil {
			return Reply{}, err
		}
		reply.Calls++
		reply.Retries += retries
		inputs = inputs[n:]
	}
	scores, question := make([]float64, len(r.Texts)), all[0].Get("embedding").Array()
	for i := range scores {
		score := cosine(question, all[i+1].Get("embedding").Array())
		if math.IsNaN(score) {
			return Reply{}, m.located(m.misfit(fmt.Sprintf(
				"embedding %d is zero, or has another length than the question's", i+1)))
		}
		scores[i] = math.Round(score*1e4) / 1e4
	}
	text, err := json.Marshal(scores)
	reply.Text, reply.Seconds = string(text), time.Since(start).Seconds()
	return reply, err
}

// byIndex sorts embeddings. Some endpoints send them in another order than the texts, some without
// an index.
func byIndex(a, b gjson.Result) int { return int(a.Get("index").Int() - b.Get("index").Int()) }

// clip cuts a text to maxTextBytes, at a character boundary.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxTextBytes)], "")
}

// cosine is NaN for vectors that are zero, infinite or of different lengths.
func cosine(a, b []gjson.Result) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	var ab, aa, bb float64
	for i := range a {
		x, y := a[i].Num, b[i].Num
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}
