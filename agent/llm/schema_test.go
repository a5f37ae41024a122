package llm_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

func inSchema() llm.Request {
	return llm.Request{Role: "judge", Form: "Reply with `Yes`.",
		Messages: []llm.Message{{Role: "user", Text: "Is it?"}},
		Schema: &llm.Schema{Name: "judgement", JSON: []byte(`{"type":"object","properties":` +
			`{"yes":{"type":"boolean"}},"required":["yes"],"additionalProperties":false}`)}}
}

// TestSchema: an endpoint that refuses or ignores a schema is asked again in text, at once, and
// only in text from then on.
func TestSchema(t *testing.T) {
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
		sent   string // which of the calls had a schema
	}{
		"takes it":              {object, nil, "yes yes"},
		"is known to take it":   {object, &taking, "yes yes"},
		"takes none":            {text, &not, "no no"},
		"refuses it":            {llmtest.RefuseSchemas(text), nil, "yes no no"},
		"refuses it this time":  {llmtest.RefuseSchemas(text), &taking, "yes no no"},
		"cannot process it":     {refusing(422, "body.response_format: extra fields"), nil, "yes no no"},
		"has no grammar for it": {refusing(400, "failed to parse grammar"), nil, "yes no no"},
		"ignores it":            {text, nil, "yes no no"},
		"replied in text once":  {text, &taking, "yes yes"}, // the model's fault
	} {
		s := llmtest.New(t, c.reply)
		e := endpoint(s, &waits{})
		e.Schema = c.schema
		m := open(t, e)
		for range 2 {
			reply, err := m.Ask(t.Context(), inSchema())
			inText := reply.Text == "Yes"
			if err != nil || reply.Schema == inText && c.schema != &taking || !inText && reply.Text == "" {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
		}
		var sent []string
		for _, r := range s.Requests() {
			word := "no"
			if r.Schema != "" {
				word = "yes"
			}
			if strings.Contains(r.Last(), "Reply with") != (word == "no") {
				t.Errorf("%s: form in %q", name, r.Last())
			}
			sent = append(sent, word)
		}
		if got := strings.Join(sent, " "); got != c.sent {
			t.Errorf("%s: schemas sent: %s, want %s", name, got, c.sent)
		}
	}
}

// TestSchemaOtherErrors: an error that is not about the schema is no reason to do without it.
func TestSchemaOtherErrors(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized} {
		s := llmtest.New(t, llmtest.Each(llmtest.Refuse(status, "", "no such model")))
		if _, err := open(t, endpoint(s, &waits{})).Ask(t.Context(), inSchema()); err == nil {
			t.Error("no error")
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%d: %d calls", status, n)
		}
	}
}

// TestIgnoredSchemaIsPaid: the usage of a reply that ignored the schema counts.
func TestIgnoredSchemaIsPaid(t *testing.T) {
	s := llmtest.New(t, llmtest.Each(llmtest.Response{Text: "Yes",
		Usage: llm.Usage{InputTokens: 3, OutputTokens: 1}}))
	reply, err := open(t, endpoint(s, &waits{})).Ask(t.Context(), inSchema())
	if err != nil || reply.Usage.InputTokens != 6 || reply.Retries != 1 {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestSchemaTrace: a trace has the request as it was sent; replies are replayed and remembered
// from it in either form.
func TestSchemaTrace(t *testing.T) {
	for name, reply := range map[string]func(llmtest.Request) llmtest.Response{
		"judgement": llmtest.Each(llmtest.Response{Text: `{"yes": true}`}),
		"":          llmtest.RefuseSchemas(llmtest.Each(llmtest.Response{Text: "Yes"})),
	} {
		s := llmtest.New(t, reply)
		path := filepath.Join(t.TempDir(), "trace.jsonl")
		m := llm.Traced(open(t, endpoint(s, &waits{})), openTrace(t, path))
		first, err := m.Ask(t.Context(), inSchema())
		if err != nil {
			t.Fatal(err)
		}
		all := readTrace(t, path)
		calls := s.Requests()
		if len(all) != 1 || all[0].Schema != name {
			t.Fatalf("%+v", all)
		}
		if d := cmp.Diff(calls[len(calls)-1].Messages, all[0].Messages); d != "" {
			t.Error(d)
		}
		for _, m := range []llm.Model{llm.Replay(all), llm.Remember(nil, all)} {
			again, err := m.Ask(t.Context(), inSchema())
			if err != nil || again.Text != first.Text || again.Schema != first.Schema {
				t.Errorf("%+v, %v", again, err)
			}
		}
	}
}
