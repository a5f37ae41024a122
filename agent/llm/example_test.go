package llm_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"dsstar/agent/llm"
)

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
