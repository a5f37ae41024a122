package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent/llm"
)

var record = flag.Bool("record", false, "write demo/trace.jsonl anew: the same replies with the inputs of now")

// TestRecordDemo is how the recording follows a change of prompts or loop:
// edit the replies in demo/trace.jsonl if need be, then run it with -record.
func TestRecordDemo(t *testing.T) {
	if !*record {
		t.Skip("only with -record")
	}
	all := []string{"question", "guidelines", "file", "files", "plan", "code", "cell", "step", "missing", "dropped"}
	keep := demoLoose
	demoLoose = append(all, keep...)
	defer func() { demoLoose = keep }()
	out := filepath.Join(t.TempDir(), "run")
	a, stdout, stderr := testApp(t)
	if code := a.run(context.Background(), []string{"demo", "--out", out}); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	data, err := os.ReadFile(filepath.Join(out, "trace.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	exchanges, err := llm.ReadTrace(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(exchanges, func(a, b llm.Exchange) int { // descriptions come in any order
		if a.Role == "analyzer" && b.Role == "analyzer" {
			return strings.Compare(a.Subject, b.Subject)
		}
		return 0
	})
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, e := range exchanges {
		// Messages are many times the rest, and nothing reads them here.
		e.Usage = llm.Usage{OutputTokens: len(e.Reply) / 4, Estimated: true}
		for _, m := range e.Messages {
			e.Usage.InputTokens += len(m.Text) / 4
		}
		e.N, e.Time, e.Seconds, e.Messages = i+1, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0, nil
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("demo/trace.jsonl", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
