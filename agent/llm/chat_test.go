package llm_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

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

// TestTakes: an endpoint that refuses or ignores a schema is asked again without, at once and from then
// on; any other error is no reason to. The trace has the request as it was sent, and replies are replayed
// from it in either form.
func TestTakes(t *testing.T) {
	taking, not := true, false
	object := llmtest.Each(llmtest.Response{Text: `{"yes": true}`})
	text := llmtest.Each(llmtest.Response{Text: "Yes", Usage: llm.Usage{InputTokens: 3}})
	for name, c := range map[string]struct {
		reply  func(llmtest.Request) llmtest.Response
		schema *bool
		sent   string // the schema with each call
	}{
		"takes it":             {object, nil, "judgement judgement"},
		"takes none":           {text, &not, "none none"},
		"refuses it":           {llmtest.RefuseSchemas(400, "This response_format type is unavailable now", text), nil, "judgement none none"},
		"cannot process it":    {llmtest.RefuseSchemas(422, "failed to parse grammar", text), nil, "judgement none none"},
		"ignores it":           {text, nil, "judgement none none"},
		"replied in text once": {text, &taking, "judgement judgement"}, // the model's fault
		"another error":        {llmtest.RefuseSchemas(400, "no such model", text), nil, "judgement judgement"},
		"a bad key":            {llmtest.RefuseSchemas(401, "no schema", text), nil, "judgement judgement"},
	} {
		s, path := llmtest.New(t, c.reply), filepath.Join(t.TempDir(), "trace.jsonl")
		e, sent := endpoint(s), ""
		e.Schema = c.schema
		m := llm.Traced(must(e.Open()), openTrace(t, path), nil)
		first, err1 := m.Ask(t.Context(), inSchema())
		second, err2 := m.Ask(t.Context(), inSchema())
		for _, r := range s.Requests() {
			sent += " " + cmp.Or(r.Schema, "none")
			if strings.Contains(r.Last(), "Reply with") != (r.Schema == "") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		all, last := readTrace(path), s.Requests()[len(s.Requests())-1]
		failed := strings.HasPrefix(name, "a")
		if sent != " "+c.sent || (err1 != nil) != failed || (err2 != nil) != failed || (all[1].Error != "") != failed {
			t.Errorf("%s: sent%s, %v, %v", name, sent, err1, err2)
		}
		if failed {
			continue
		}
		again, err := llm.Replay(all, false).Ask(t.Context(), inSchema())
		if !slices.Equal(last.Messages, all[1].Messages) || all[1].Schema != last.Schema || second.Schema != (last.Schema != "") ||
			err != nil || again.Text != first.Text || again.Schema != first.Schema || name == "ignores it" && first.Usage.InputTokens != 6 {
			t.Errorf("%s: %+v, %+v, replayed %+v, %v", name, first, all[1], again, err)
		}
	}
}
