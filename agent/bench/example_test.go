package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os/exec"

	"dsstar/agent/bench"
)

func ExampleScorer_Score() {
	python := &bench.Process{Path: func(context.Context) (string,
		error) {
		return exec.LookPath("python3")
	}}
	defer python.Close()
	scorer := bench.Scorer{Plain: python.Run}
	task := bench.Task{ID: "5", Rules: "dabstep", Gold: json.RawMessage(`"12.35"`)}
	for _, answer := range []string{`"12.35"`, `"12.3456"`, `"12.4"`, `"13"`} {
		score, err := scorer.Score(context.Background(), task,
			&bench.Answer{Value: json.RawMessage(answer)})
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
