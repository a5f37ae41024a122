package llm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// Bounds of a request for embeddings: endpoints refuse more.
const (
	maxTexts     = 64      // in a request
	maxTextBytes = 24_000  // of a text; what is beyond them does not count
	maxBatch     = 200_000 // bytes of a request's texts
)

// OpenRanker checks e as Open does and returns a ranker that compares the embeddings of its
// model. It does not connect, and Rank fails as Ask does. Texts without a word are not sent.
// Temperature is not used.
func (e Endpoint) OpenRanker() (Ranker, error) {
	m, err := e.open("embeddings", "a list of embeddings")
	if err != nil {
		return nil, err
	}
	return embedder{m, openai.NewEmbeddingService(m.options()...)}, nil
}

// embedder is an endpoint that embeds texts.
type embedder struct {
	*endpoint
	service openai.EmbeddingService
}

func (m embedder) Rank(ctx context.Context, question string, texts []string) (Ranking, error) {
	ranking := Ranking{Scores: make([]float64, len(texts)), Model: m.Model}
	inputs := []string{clip(question)}
	var places []int // in texts, of the inputs after the question
	for i, text := range texts {
		if !blank(text) {
			inputs = append(inputs, clip(text))
			places = append(places, i)
		}
	}
	if blank(question) || len(places) == 0 {
		return ranking, ctx.Err()
	}
	var vectors [][]float64
	for batch := range batches(inputs) {
		got, err := m.embed(ctx, batch)
		if err != nil {
			return Ranking{}, err
		}
		vectors = append(vectors, got.vectors...)
		ranking.Model = m.hide(got.model)
		ranking.Usage.Add(got.usage)
		ranking.Calls++
	}
	for i, place := range places {
		v := vectors[i+1]
		if len(v) != len(vectors[0]) {
			return Ranking{}, m.statusError(http.StatusOK,
				fmt.Sprintf("embeddings of %d and of %d numbers cannot be compared", len(vectors[0]), len(v)))
		}
		ranking.Scores[place] = dot(vectors[0], v)
	}
	return ranking, nil
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// clip cuts a text to maxTextBytes, between two characters.
func clip(text string) string {
	if len(text) <= maxTextBytes {
		return text
	}
	n := maxTextBytes
	for n > maxTextBytes-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// batches cuts clipped texts into what fits one request each.
func batches(texts []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for len(texts) > 0 {
			n, size := 1, len(texts[0])
			for n < len(texts) && n < maxTexts && size+len(texts[n]) <= maxBatch {
				size += len(texts[n])
				n++
			}
			if !yield(texts[:n]) {
				return
			}
			texts = texts[n:]
		}
	}
}

// embeddings are what came of one request.
type embeddings struct {
	vectors [][]float64 // of length 1, one for each text
	usage   Usage
	model   string
}

func (m embedder) embed(ctx context.Context, texts []string) (embeddings, error) {
	params := openai.EmbeddingNewParams{
		Model:          m.Model,
		Input:          openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
		EncodingFormat: openai.EmbeddingNewParamsEncodingFormatFloat,
	}
	got, _, err := repeat(ctx, m.endpoint, call[embeddings]{
		role: rankerRole, subject: rankerSubject,
		send: func(ctx context.Context, o ...option.RequestOption) error {
			_, err := m.service.New(ctx, params, o...)
			return err
		},
		read: func(body io.ReadCloser, contentType string) (embeddings, error) {
			return m.read(body, contentType, len(texts))
		},
	})
	if err == nil && got.usage == (Usage{}) {
		got.usage.Estimated = true
		for _, text := range texts {
			got.usage.InputTokens += (len(text) + 3) / 4
		}
	}
	return got, err
}

// listed is the body of an answer. The library's type would read values that are not numbers
// as 0.
type listed struct {
	Data []struct {
		Embedding []*float64
		Index     *int
	}
	Model string
	Usage struct {
		PromptTokens float64 `json:"prompt_tokens"`
	}
}

func (m embedder) read(body io.Reader, contentType string, want int) (embeddings, error) {
	r := bufio.NewReader(body)
	first, err := firstByte(r)
	switch {
	case err != nil:
		return embeddings{}, m.cut(err)
	case first != '{' && first != '[':
		return embeddings{}, m.page(r, contentType)
	}
	var list listed
	raw, err := m.decode(r, &list)
	switch {
	case err != nil:
		return embeddings{}, err
	case len(list.Data) == 0:
		return embeddings{}, m.failure(raw)
	}
	vectors, problem := list.vectors(want)
	if problem != "" {
		return embeddings{}, m.statusError(http.StatusOK, "not "+m.answer+" of the texts: "+problem)
	}
	return embeddings{vectors, Usage{InputTokens: int(list.Usage.PromptTokens)},
		either(list.Model, m.Model)}, nil
}

// vectors puts the vectors in the order of the texts and gives them length 1, or
// says why that cannot be done. One without an index is where it belongs.
func (l listed) vectors(want int) (vectors [][]float64, problem string) {
	if len(l.Data) != want {
		return nil, fmt.Sprintf("%d texts were sent and %d embeddings came back", want, len(l.Data))
	}
	vectors = make([][]float64, want)
	for i, d := range l.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= want || vectors[i] != nil {
			return nil, fmt.Sprintf("index %d comes twice or is none of the %d texts", i, want)
		}
		v, ok := unit(d.Embedding)
		if !ok {
			return nil, fmt.Sprintf("embedding %d is empty, zero or not of numbers", i)
		}
		vectors[i] = v
	}
	return vectors, ""
}

// unit gives a vector the length 1, unless it has no direction.
func unit(parts []*float64) ([]float64, bool) {
	if slices.Contains(parts, nil) { // NaN, in the JSON of some endpoints
		return nil, false
	}
	v := make([]float64, len(parts))
	for i, p := range parts {
		v[i] = *p
	}
	length := math.Sqrt(dot(v, v))
	if length == 0 || math.IsInf(length, 0) {
		return nil, false
	}
	for i := range v {
		v[i] /= length
	}
	return v, true
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
