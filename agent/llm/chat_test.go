package llm_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

// watch asks m and returns what OnText was told.
func watch(t *testing.T, m llm.Model) (told []string, reply llm.Reply, err error) {
	t.Helper()
	r := question
	r.OnText = func(soFar func() string) { told = append(told, soFar()) }
	reply, err = m.Ask(t.Context(), r)
	return told, reply, err
}

func TestOnText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := "one two three four five"
		m := must(endpoint(llmtest.NewPiped(t, llmtest.Each(
			llmtest.Response{Text: long},
			llmtest.Response{Text: "cut off half-way, alas", CutAfter: 2}, llmtest.Response{Text: "short"},
			llmtest.Response{Body: `{"choices":[{"message":{"content":"whole"}}]}`},
			llmtest.Refuse(400, "", "no"),
		))).Open())
		for _, want := range [][]string{
			{"one two", "one two three ", "one two three four fi", long},
			{"cut off", "cut off half-w", "short"},
			{"whole"},
			nil,
		} {
			told, reply, err := watch(t, m)
			if !slices.Equal(told, want) || err == nil && reply.Text != want[len(want)-1] {
				t.Errorf("told %q, want %q; replied %q", told, want, reply.Text)
			}
		}
	})
}

func inSchema() llm.Request {
	return llm.Request{Role: "judge", Form: "Reply with `Yes`.",
		Messages: []llm.Message{{Role: "system", Text: "You judge."}, {Role: "user", Text: "Is it?"}},
		Schema: &llm.Schema{Name: "judgement", JSON: []byte(`{"type":"object","properties":` +
			`{"yes":{"type":"boolean"}},"required":["yes"],"additionalProperties":false}`)}}
}

// TestTakes: an endpoint that refuses or ignores a schema is asked again without, at once and from then on; any other error is no reason to. The trace has the request as it was sent,
// and replies are replayed and remembered from it in either form.
func TestTakes(t *testing.T) {
	taking, not := true, false
	object := llmtest.Each(llmtest.Response{Text: `{"yes": true}`})
	text := llmtest.Each(llmtest.Response{Text: "Yes", Usage: llm.Usage{InputTokens: 3}})
	refusing := func(status int, message string) func(llmtest.Request) llmtest.Response {
		return func(r llmtest.Request) llmtest.Response {
			if r.Schema != "" {
				return llmtest.Refuse(status, "", message)
			}
			return text(r)
		}
	}
	for name, c := range map[string]struct {
		reply  func(llmtest.Request) llmtest.Response
		schema *bool
		sent   string // with each call
	}{
		"takes it":             {object, nil, "schema schema"},
		"takes none":           {text, &not, "text text"},
		"refuses it":           {llmtest.RefuseSchemas(text), nil, "schema text text"},
		"cannot process it":    {refusing(422, "failed to parse grammar"), nil, "schema text text"},
		"ignores it":           {text, nil, "schema text text"},
		"replied in text once": {text, &taking, "schema schema"}, // the model's fault
		"another error":        {refusing(400, "no such model"), nil, "schema schema"},
		"a bad key":            {refusing(401, "no schema"), nil, "schema schema"},
	} {
		s, path := llmtest.New(t, c.reply), filepath.Join(t.TempDir(), "trace.jsonl")
		e := endpoint(s)
		e.Schema = c.schema
		m := llm.Traced(must(e.Open()), openTrace(t, path))
		first, err1 := m.Ask(t.Context(), inSchema())
		second, err2 := m.Ask(t.Context(), inSchema())
		var sent []string
		for _, r := range s.Requests() {
			word := map[bool]string{true: "text", false: "schema"}[r.Schema == ""]
			if strings.Contains(r.Last(), "Reply with") != (r.Schema == "") {
				t.Errorf("%s: %+v", name, r)
			}
			sent = append(sent, word)
		}
		if got := strings.Join(sent, " "); got != c.sent {
			t.Errorf("%s: sent %s, want %s", name, got, c.sent)
		}
		all, last := readTrace(path), s.Requests()[len(sent)-1]
		if failed := strings.HasPrefix(name, "a"); failed || err1 != nil || err2 != nil {
			if !failed || err1 == nil || err2 == nil || all[1].Error == "" {
				t.Errorf("%s: %v, %v", name, err1, err2)
			}
			continue
		}
		if name == "ignores it" && (first.Usage.InputTokens != 6) {
			t.Errorf("%s: it is not paid: %+v", name, first)
		}
		if d := cmp.Diff(last.Messages, all[1].Messages); d != "" || all[1].Schema != last.Schema ||
			second.Schema != (last.Schema != "") {
			t.Errorf("%s: %+v\n%s", name, all[1], d)
		}
		again, err := llm.Replay(all, false).Ask(t.Context(), inSchema())
		if err != nil || again.Text != first.Text || again.Schema != first.Schema {
			t.Errorf("%s: %+v, %v", name, again, err)
		}
	}
}
