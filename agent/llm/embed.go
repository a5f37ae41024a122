package llm

import (
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

// Limits of an embeddings request. Endpoints refuse larger ones.
const (
	maxTexts     = 64      // in a request
	maxTextBytes = 24_000  // of a text; the rest is cut off
	maxBatch     = 200_000 // bytes of all texts in a request
)

// OpenRanker checks e as Open does and returns a ranker that compares embeddings. It makes no
// connection; Rank fails as Ask does. Blank texts are not sent, and Temperature is not used.
func (e Endpoint) OpenRanker() (Ranker, error) {
	m, err := e.open("embeddings", "a list of embeddings")
	if err != nil {
		return nil, err
	}
	return embedder{m, openai.NewEmbeddingService(m.options()...)}, nil
}

type embedder struct {
	*endpoint
	service openai.EmbeddingService
}

func (m embedder) Rank(ctx context.Context, question string, texts []string) (Ranking, error) {
	ranking := Ranking{Scores: make([]float64, len(texts)), Model: m.Model}
	inputs := []string{clip(question)}
	var places []int // indexes in texts of the inputs after the question
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
				fmt.Sprintf("the embeddings have different lengths, %d and %d", len(vectors[0]), len(v)))
		}
		ranking.Scores[place] = dot(vectors[0], v)
	}
	return ranking, nil
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// clip cuts a text to maxTextBytes, at a character boundary.
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

// batches splits clipped texts into requests within the limits.
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

// embeddings is the result of one request.
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
	if err == nil && !got.usage.told() {
		got.usage = Usage{Estimated: true}
		for _, text := range texts {
			got.usage.InputTokens += (len(text) + 3) / 4
		}
	}
	return got, err
}

// listed is a response body. The library's own type silently decodes a non-number as 0.
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
	list, err := readWhole(m.endpoint, body, contentType, func(l listed) bool { return len(l.Data) > 0 })
	if err != nil {
		return embeddings{}, err
	}
	vectors, problem := list.vectors(want)
	if problem != "" {
		return embeddings{}, m.statusError(http.StatusOK, "not "+m.answer+": "+problem)
	}
	usage := impossible
	if n := list.Usage.PromptTokens; n >= 0 && n <= maxTokens {
		usage = Usage{InputTokens: int(n)}
	}
	return embeddings{vectors, usage, either(list.Model, m.Model)}, nil
}

// vectors returns the vectors in the order of the texts, scaled to length 1, or the problem
// with them. An entry without an index keeps its position.
func (l listed) vectors(want int) (vectors [][]float64, problem string) {
	if len(l.Data) != want {
		return nil, fmt.Sprintf("sent %d texts and received %d embeddings", want, len(l.Data))
	}
	vectors = make([][]float64, want)
	for i, d := range l.Data {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= want || vectors[i] != nil {
			return nil, fmt.Sprintf("index %d is duplicated or out of range (%d texts)", i, want)
		}
		v, ok := unit(d.Embedding)
		if !ok {
			return nil, fmt.Sprintf("embedding %d is empty, zero or not numeric", i)
		}
		vectors[i] = v
	}
	return vectors, ""
}

// unit scales a vector to length 1. It reports false for an empty, zero or infinite one.
func unit(parts []*float64) ([]float64, bool) {
	if slices.Contains(parts, nil) { // some endpoints send NaN as null
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
