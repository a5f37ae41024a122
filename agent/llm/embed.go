package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"sort"
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
	var vectors [][]float64
	for len(inputs) > 0 {
		n, size := 0, 0
		for n < min(len(inputs), maxTexts) && size+len(inputs[n]) <= maxBatch {
			size += len(inputs[n])
			n++
		}
		list, retries, err := m.embed(ctx, r, inputs[:n])
		if err != nil {
			return Reply{}, err
		}
		for _, d := range list.Data {
			vectors = append(vectors, d.Embedding)
		}
		reply.Usage.Add(cmp.Or(list.usage, Usage{InputTokens: (size + 3) / 4, Estimated: true}))
		reply.Model = m.hide(cmp.Or(list.Model, m.Model))
		reply.Calls++
		reply.Retries += retries
		inputs = inputs[n:]
	}
	scores := make([]float64, len(r.Texts))
	for i := range scores {
		score := cosine(vectors[0], vectors[i+1])
		if math.IsNaN(score) {
			return Reply{}, m.located(m.refusal(http.StatusOK, nil, fmt.Appendf(nil,
				"embedding %d is zero, or has another length than the question's", i+1)))
		}
		scores[i] = math.Round(score*1e4) / 1e4
	}
	text, err := json.Marshal(scores)
	reply.Text, reply.Seconds = string(text), time.Since(start).Seconds()
	return reply, err
}

// clip cuts a text to maxTextBytes, at a character boundary.
func clip(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxTextBytes)], "")
}

// embeddings is a list of embeddings, which some endpoints send in another order than the texts,
// some without an index.
type embeddings struct {
	Model string
	Data  []struct {
		Index     int
		Embedding []float64
	}
	usage Usage
}

// embed sends texts that fit in one request, and returns their embeddings in order.
func (m embedder) embed(ctx context.Context, r Request, texts []string) (
	list embeddings, retries int, err error) {
	params := map[string]any{"model": m.Model, "input": texts, "encoding_format": "float"}
	read := func(got embeddings, raw []byte) error {
		if len(got.Data) != len(texts) {
			return m.refusal(http.StatusOK, nil, fmt.Appendf(nil, "sent %d texts and received %d embeddings",
				len(texts), len(got.Data)))
		}
		list = got
		list.usage.InputTokens = tokens(gjson.GetBytes(raw, "usage")).InputTokens
		sort.SliceStable(list.Data, func(i, j int) bool { return list.Data[i].Index < list.Data[j].Index })
		return nil
	}
	retries, err = m.call(ctx, r, params, func(body io.Reader) error {
		return values(m.endpoint, body, read)
	})
	return list, retries, err
}

// cosine is NaN for vectors that are zero, infinite or of different lengths.
func cosine(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}
