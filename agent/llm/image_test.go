package llm_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
)

// TestImages: pictures go with the request; an endpoint that refuses them is asked again without,
// and gets none from then on. The trace names those that were sent.
func TestImages(t *testing.T) {
	none := false
	text := llmtest.Each(llmtest.Response{Text: "Yes"})
	refuses := func(r llmtest.Request) llmtest.Response {
		if len(r.Images) > 0 {
			return llmtest.Refuse(400, "", "this model does not support image input")
		}
		return text(r)
	}
	const sent = "data:image/png;base64,iVA="
	for name, c := range map[string]struct {
		reply func(llmtest.Request) llmtest.Response
		takes *bool
		sent  []string // with each call
		named []string // in the trace
	}{
		"takes them":   {text, nil, []string{sent, sent}, []string{"chart.png", "chart.png"}},
		"refuses them": {refuses, nil, []string{sent, "", ""}, []string{"", ""}},
		"takes none":   {text, &none, []string{"", ""}, []string{"", ""}},
	} {
		s := llmtest.New(t, c.reply)
		e := endpoint(s, &waits{})
		e.Images = c.takes
		path := filepath.Join(t.TempDir(), "trace.jsonl")
		m := llm.Traced(open(t, e), openTrace(t, path))
		for range 2 {
			r := llm.Request{Role: "judge", Messages: []llm.Message{{Role: "system", Text: "You are"},
				{Role: "user", Text: "Is it?"}},
				Images: []llm.Image{{Name: "chart.png", MIME: "image/png", Data: []byte("\x89P")}}}
			if reply, err := m.Ask(t.Context(), r); err != nil || reply.Text != "Yes" {
				t.Errorf("%s: %+v, %v", name, reply, err)
			}
		}
		var got, named []string
		for _, r := range s.Requests() {
			got = append(got, strings.Join(r.Images, " "))
			if r.Last() != "Is it?" {
				t.Errorf("%s: the text is %q", name, r.Last())
			}
		}
		for _, x := range readTrace(t, path) {
			named = append(named, strings.Join(x.Images, " "))
		}
		if d := cmp.Diff(c.sent, got) + cmp.Diff(c.named, named); d != "" {
			t.Errorf("%s: images\n%s", name, d)
		}
	}
}
