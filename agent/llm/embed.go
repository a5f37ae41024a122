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

// maxTexts is how many texts, the question among them, go in one call. Endpoints refuse more.
const maxTexts = 64

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
	return asking(m.rank), nil
}

func (m *endpoint) rank(ctx context.Context, r Request) (Reply, error) {
	start, reply := time.Now(), Reply{Model: m.Model}
	var all []gjson.Result
	for inputs := range slices.Chunk(append([]string{r.Messages[0].Text}, r.Texts...), maxTexts) {
		read := func(body io.Reader) error {
			return m.values(body, func(list gjson.Result) error {
				got := list.Get("data").Array()
				if len(got) != len(inputs) {
					return m.misfit(fmt.Sprintf("sent %d texts and received %d embeddings",
						len(inputs), len(got)))
				}
				// some endpoints send them in another order, some without an index
				slices.SortStableFunc(got, func(a, b gjson.Result) int {
					return cmp.Compare(a.Get("index").Int(), b.Get("index").Int())
				})
				all = append(all, got...)
				reply.Model = m.hide(cmp.Or(list.Get("model").Str, m.Model))
				used := Usage{InputTokens: tokens(list.Get("usage")).InputTokens}
				reply.Usage.Add(cmp.Or(used, estimate(len(strings.Join(inputs, "")), 0)))
				return nil
			})
		}
		retries, err := m.call(ctx, r, object{"model": m.Model, "input": inputs,
			"encoding_format": "float"}, read)
		if err != nil {
			return Reply{}, err
		}
		reply.Calls++
		reply.Retries += retries
	}
	scores := make([]float64, len(r.Texts))
	for i := range scores {
		score := cosine(all[0].Get("embedding").Array(), all[i+1].Get("embedding").Array())
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
