package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os/exec"

	"dsstar/agent/bench"
)

// plainPython runs a scorer's code; dsstar itself does so in a sandbox.
func plainPython(ctx context.Context, code string) (string, error) {
	out, err := exec.CommandContext(ctx, "python3", "-c", code).Output()
	return string(out), err
}

func ExampleScorer_Score() {
	scorer := bench.Scorer{Plain: plainPython}
	task := bench.Task{ID: "5", Rules: "dabstep", Gold: json.RawMessage(`"12.35"`)}
	for _, answer := range []string{`"12.35"`, `"12.3456"`, `"12.4"`, `"13"`} {
		score, err := scorer.Score(context.Background(), task, &bench.Answer{Value: json.RawMessage(answer)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer, score.Value)
	}
	// Output:
	// "12.35" 1
	// "12.3456" 1
	// "12.4" 0
	// "13" 0
}
