package llm_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

func ranker(t *testing.T, e llm.Endpoint) llm.Ranker {
	t.Helper()
	r, err := e.OpenRanker()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
}

func TestRank(t *testing.T) {
	s := llmtest.New(t, llmtest.Each(llmtest.Response{
		Vectors: [][]float64{{3, 0}, {2, 0}, {0, 5}, {-1, 0}, {1, 1}}, Usage: llm.Usage{InputTokens: 9},
	}))
	texts := []string{"same", "", "other", " \n", "opposite", "between"}
	got, err := ranker(t, endpoint(s, &waits{})).Rank(t.Context(), "question", texts)
	if want := []float64{1, 0, 0, 0, -1, math.Sqrt2 / 2}; err != nil || !near(got.Scores, want) {
		t.Fatalf("got %v, %v, want %v", got.Scores, err, want)
	}
	asked := s.Requests()[0]
	if got.Usage != (llm.Usage{InputTokens: 9}) || got.Model != "m1" || got.Calls != 1 ||
		asked.Header.Get("Authorization") != "Bearer "+secret {
		t.Errorf("got %+v, sent %v", got, asked.Header)
	}
	if !slices.Equal(asked.Input, []string{"question", "same", "other", "opposite", "between"}) ||
		!strings.Contains(asked.Body, `"encoding_format":"float"`) ||
		!strings.Contains(asked.Body, `"model":"m1"`) {
		t.Errorf("sent %s", asked.Body)
	}
}

func TestNothingToRank(t *testing.T) {
	s := llmtest.New(t, llmtest.Script())
	for question, texts := range map[string][]string{"q": {"", " "}, "q2": nil, " ": {"a"}} {
		got, err := ranker(t, endpoint(s, &waits{})).Rank(t.Context(), question, texts)
		if err != nil || !near(got.Scores, make([]float64, len(texts))) || got.Calls != 0 {
			t.Errorf("%q: %+v, %v", question, got, err)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// Texts are sent in bounded requests, cut only at character boundaries; scores keep their
// order.
func TestRankInBatches(t *testing.T) {
	var texts []string
	for i := range 150 {
		texts = append(texts, strings.Repeat("filler ", i%5*1000)+"word")
	}
	texts[3] = strings.Repeat("word ", 20)
	texts[100] = "x" + strings.Repeat("é", 20_000)
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Usage: llm.Usage{InputTokens: 10}}))
	got, err := ranker(t, endpoint(s, &waits{})).Rank(t.Context(), "word", texts)
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, r := range s.Requests() {
		size := 0
		for _, text := range r.Input {
			size += len(text)
			if len(text) > 24_000 || !utf8.ValidString(text) {
				t.Errorf("a text of %d bytes, valid: %v", len(text), utf8.ValidString(text))
			}
		}
		sent += len(r.Input)
		if len(r.Input) > 64 || size > 200_000 {
			t.Errorf("%d texts, %d bytes in a request", len(r.Input), size)
		}
	}
	if n := len(s.Requests()); sent != 151 || got.Calls != n || got.Usage.InputTokens != 10*n ||
		n < 6 {
		t.Errorf("%d texts in %d requests; %+v", sent, n, got)
	}
	for i, text := range texts {
		if want := i%5 == 0 && i != 100 || i == 3; (got.Scores[i] > 0.99) != want {
			t.Errorf("text %d (%.20q): %v", i, text, got.Scores[i])
		}
	}
}

// An invalid response is an error; transient failures are retried.
func TestRankFailures(t *testing.T) {
	data := func(items string) llmtest.Response {
		return llmtest.Response{Body: `{"object":"list","model":"e","data":[` + items + `]}`}
	}
	says := func(text string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*llm.StatusError](err)
			return ok && e.Status == 200 && strings.Contains(e.Message, text) &&
				strings.HasSuffix(e.Endpoint, "/v1/embeddings")
		}
	}
	cases := map[string]struct {
		response llmtest.Response
		tries    int
		check    func(error) bool
	}{
		"too few": {llmtest.Response{Vectors: [][]float64{{1}}}, 1, says("1 embeddings")},
		"none":    {data(""), 1, says("not a list of embeddings")},
		"zero": {llmtest.Response{Vectors: [][]float64{{1, 0}, {0, 0}}}, 1,
			says("embedding 1 is")},
		"of two lengths": {llmtest.Response{Vectors: [][]float64{{1, 2}, {1}}}, 1,
			says("lengths, 2 and 1")},
		"NaN": {data(`{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}`), 1,
			says("not a list of embeddings")},
		"immense": {data(`{"index":0,"embedding":[1e300]},{"index":1,"embedding":[1]}`), 1,
			says("embedding 0 is")},
		"twice the same index": {data(`{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}`), 1,
			says("index 1 is duplicated")},
		"a web page": {llmtest.Response{Body: "<html>",
			Header: map[string]string{"Content-Type": "text/html"}}, 1, says("text/html: <html>")},
		"a bad key": {llmtest.Refuse(401, "", "no: "+secret), 1, isCredential},
		"half of an answer": {llmtest.Response{Body: `{"data":[{"index":0,"embedd`}, 4,
			func(err error) bool { return errors.Is(err, llm.ErrCut) }},
	}
	for name, c := range cases {
		s := llmtest.New(t, llmtest.Each(c.response))
		got, err := ranker(t, endpoint(s, &waits{})).Rank(t.Context(), "q", []string{"a"})
		if err == nil || !c.check(err) || got.Scores != nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if n := len(s.Requests()); n != c.tries {
			t.Errorf("%s: %d tries, want %d", name, n, c.tries)
		}
	}
}

func TestRankVariants(t *testing.T) {
	for name, response := range map[string]llmtest.Response{
		"no index": {Body: `{"data":[{"embedding":[1,0]},{"embedding":[1,0]}]}`},
		"zero as no index (Gemini)": {
			Body: `{"data":[{"embedding":[1,0]},{"index":1,"embedding":[2,0]}],"usage":null}`},
		"white space and a mark first": {Body: "\xEF\xBB\xBF\n" +
			`{"error":null,"data":[{"index":1,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}`},
	} {
		s := llmtest.New(t, llmtest.Each(response))
		if got, err := ranker(t, endpoint(s, &waits{})).Rank(t.Context(), "q",
			[]string{"a"}); err != nil || !near(got.Scores, []float64{1}) || got.Model != "m1" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRankerTraceAndReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace := openTrace(t, path)
	s := llmtest.New(t, llmtest.Each(
		llmtest.Response{Vectors: [][]float64{{1, 0}, {1, 2}, {1, 0}}, Usage: llm.Usage{InputTokens: 5}},
		llmtest.Refuse(400, "", "no: "+secret)))
	r := llm.TracedRanker(ranker(t, endpoint(s, &waits{})), trace)
	texts := []string{"first", "second"}
	live, err := r.Rank(t.Context(), "question", texts)
	if err != nil || !slices.Equal(live.Scores, []float64{0.4472, 1}) {
		t.Fatalf("got %+v, %v", live, err)
	}
	if _, err := r.Rank(t.Context(), "question", texts); err == nil {
		t.Fatal("no error")
	}
	recorded := readTrace(t, path)
	e := recorded[0]
	if e.Role != "retriever" || e.Subject != "files" ||
		!slices.Equal(e.Messages, []llm.Message{{Role: "user", Text: "question"}}) ||
		e.Reply != "[0.4472,1]" || e.Model != "m1" || e.Usage.InputTokens != 5 || e.Calls != 1 ||
		e.Ground.All == "" {
		t.Errorf("recorded %+v", e)
	}
	if e := recorded[1]; e.Error == "" || e.Reply != "" {
		t.Errorf("recorded of a failure: %+v", e)
	}
	if raw, _ := os.ReadFile(path); strings.Contains(string(raw), secret) {
		t.Errorf("the key is in %s", raw)
	}

	again := llm.ReplayRanker(recorded)
	_, err = again.Rank(t.Context(), "other", texts)
	if misfit, ok := errors.AsType[*llm.ReplayError](err); !ok || misfit.N != 1 {
		t.Error(err)
	}
	got, err := again.Rank(t.Context(), "question", texts)
	if err != nil || !equalJSON(t, got, live) {
		t.Errorf("replayed %+v, %v, want %+v", got, err, live)
	}
	for name, bad := range map[string]llm.Ranker{"used up": again,
		"empty": llm.ReplayRanker(nil)} {
		if _, err := bad.Rank(t.Context(), "question", texts); err == nil || !isReplayError(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	recorded[0].Reply = "nonsense"
	var syntax *json.SyntaxError
	if _, err := llm.ReplayRanker(recorded).Rank(t.Context(), "question",
		texts); !errors.As(err, &syntax) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := again.Rank(ctx, "question", texts); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	trace.Close()
	if got, err := r.Rank(t.Context(), "question", texts); err == nil || got.Scores != nil {
		t.Errorf("unrecorded: %+v, %v", got, err)
	}
}

// A base URL's password and the keys in its query are redacted. Other query values are not,
// nor are placeholder keys, since replies may contain the word.
func TestSecretsOfURL(t *testing.T) {
	login := base64.StdEncoding.EncodeToString([]byte("ada:a-long-pass-phrase"))
	words := "2024-10-21 not-needed password"
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Text: "one a-long-pass-phrase two " + login +
		" three a-long-token-value " + words}))
	e := endpoint(s, &waits{})
	e.BaseURL = strings.Replace(s.URL, "://", "://ada:a-long-pass-phrase@", 1) +
		"?access_token=a-long-token-value&pwd=password&api-version=2024-10-21"
	for _, e.Key = range []string{"not-needed", "2024-10-21"} {
		got, err := open(t, e).Ask(t.Context(), question)
		if err != nil || got.Text != "one [key] two [key] three [key] "+words {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func isReplayError(err error) bool { _, ok := errors.AsType[*llm.ReplayError](err); return ok }

// The key appears in no message and no record, whatever the endpoint echoes.
func TestKeyIsHidden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	for _, response := range []llmtest.Response{
		llmtest.Refuse(400, "", "Bearer "+secret+" is not for this model"),
		llmtest.Refuse(500, "", "key="+secret),
		{Body: "<html>" + secret + "</html>"},
		{Body: `{"error":"` + secret + `"}`},
		{Body: chunk("so far", "") + `data: {"error":{"message":"` + secret + `"}}` + "\n\n"},
		{Status: 400, Body: `{"error":{"message":"no","metadata":{"raw":"` + secret + `"}}}`},
	} {
		w := &waits{}
		trace := openTrace(t, path)
		m := llm.Traced(open(t, endpoint(llmtest.New(t, llmtest.Each(response)), w)), trace)
		told, _, err := watch(t, m)
		ranker, failed := endpoint(llmtest.New(t, llmtest.Each(response)), w).OpenRanker()
		if failed != nil {
			t.Fatal(failed)
		}
		_, ranked := llm.TracedRanker(ranker, trace).Rank(t.Context(), "q", []string{"a"})
		if err == nil || ranked == nil {
			t.Fatalf("no error: %v, %v", err, ranked)
		}
		if seen := fmt.Sprint(told, err, ranked, w.told); strings.Contains(seen, secret) {
			t.Errorf("the key is in %s", seen)
		}
	}
	for _, response := range []llmtest.Response{ // S29
		{Text: "print('" + secret + "')"}, {Text: secret, Plain: true}, {Text: "a", Finish: secret},
		{Body: strings.Replace(chunk("a", "stop"), `"choices"`, `"model":"`+secret+`","choices"`, 1)},
	} {
		trace := openTrace(t, path)
		told, reply, err := watch(t, llm.Traced(open(t,
			endpoint(llmtest.New(t, llmtest.Each(response)), &waits{})), trace))
		if seen := fmt.Sprint(told[len(told)-1:], reply, err); err != nil ||
			strings.Contains(seen, secret) || !strings.Contains(seen, "[key]") {
			t.Errorf("%+v gives %s", response, seen)
		}
	}
	if raw, _ := os.ReadFile(path); strings.Contains(string(raw), secret) ||
		len(readTrace(t, path)) != 16 {
		t.Errorf("trace\n%s", raw)
	}
}
