package llm_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"dsstar/agent/llm"
)

func ExampleEndpoint_Open() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices": [{"message": {"role": "assistant", "content": "42"},
			"finish_reason": "stop"}], "usage": {"prompt_tokens": 12, "completion_tokens": 1}}`)
	}))
	defer server.Close()

	model, err := llm.Endpoint{Provider: "local", BaseURL: server.URL + "/v1", Model: "small"}.Open()
	if err != nil {
		log.Fatal(err)
	}
	reply, err := model.Ask(context.Background(), llm.Request{
		Role:     "planner",
		Messages: []llm.Message{{Role: "user", Text: "What is six times seven?"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reply.Text, reply.Usage.InputTokens, reply.Usage.OutputTokens)
	// Output: 42 12 1
}

// A recorded model answers the same questions again, and no others.
func ExampleReplay() {
	trace := `{"n": 1, "role": "planner", "reply": "42",` +
		` "messages": [{"role": "user", "text": "What is six times seven?"}]}`
	exchanges, err := llm.ReadTrace(strings.NewReader(trace))
	if err != nil {
		log.Fatal(err)
	}
	model := llm.Replay(exchanges)
	request := llm.Request{Role: "planner", Messages: exchanges[0].Messages}
	reply, err := model.Ask(context.Background(), request)
	fmt.Println(reply.Text, err)
	_, err = model.Ask(context.Background(), request)
	fmt.Println(err != nil)
	// Output:
	// 42 <nil>
	// true
}
