package llm_test

import (
	"testing"

	"dsstar/agent/llm"
)

// Each recorded reply is used once; failed exchanges are not used.
func TestRemember(t *testing.T) {
	ask := []llm.Message{{Role: "user", Text: "?"}}
	recorded := []llm.Exchange{
		{Role: "coder", Messages: ask, Error: "the endpoint stopped responding"},
		{Role: "coder", Messages: ask, Reply: "first"},
		{Role: "coder", Messages: ask, Reply: "second"},
	}
	asked := llm.Replay([]llm.Exchange{{Role: "coder", Messages: ask, Reply: "new"}})
	model := llm.Remember(asked, recorded)
	for _, want := range []string{"first", "second", "new"} {
		reply, err := model.Ask(t.Context(), llm.Request{Role: "coder", Messages: ask})
		if err != nil || reply.Text != want || reply.Remembered != (want != "new") {
			t.Errorf("%+v, %v instead of %q", reply, err, want)
		}
	}
}
