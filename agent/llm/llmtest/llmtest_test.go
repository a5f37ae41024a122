package llmtest_test

import (
	"net/http"
	"strings"
	"testing"

	"dsstar/agent/llm/llmtest"
)

// TestKeepNone: requests are counted on, and kept no more.
func TestKeepNone(t *testing.T) {
	last := 0
	s := llmtest.New(t, func(r llmtest.Request) llmtest.Response { last = r.N; return llmtest.Response{Text: "x"} })
	for i := range 3 {
		if i == 1 {
			s.KeepNone()
		}
		reply, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(`{"model": "m", "messages": [{"role": "user", "content": "q"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
	}
	if n := len(s.Requests()); n != 1 || last != 3 {
		t.Errorf("%d requests are kept, and the last has number %d", n, last)
	}
}
