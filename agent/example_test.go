package agent_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A fixedModel answers each role with the same text.
type fixedModel map[string]string

func (m fixedModel) Ask(_ context.Context, r llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: m[r.Role]}, nil
}

// A calculator is a session whose every print gives 6. A real one is a kernel.
type calculator struct{}

func (calculator) Execute(_ context.Context, code string) (notebook.Execution, error) {
	x := notebook.Execution{Status: notebook.OK}
	if strings.Contains(code, "print(total)") {
		x.Outputs = []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: "6\n"}}
	}
	return x, nil
}

func (c calculator) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	var back notebook.Restoration
	for _, code := range cells {
		x, _ := c.Execute(ctx, code)
		back.Executions = append(back.Executions, x)
	}
	return back, nil
}

func (c calculator) Silently(ctx context.Context, code string,
	_ time.Duration) (notebook.Execution, error) {
	return c.Execute(ctx, code)
}

func (calculator) Alive() bool  { return true }
func (calculator) Close() error { return nil }

// runScript knows what print does, and the sum.
func runScript(path string) (x notebook.Execution, err error) {
	code, err := os.ReadFile(path)
	for _, text := range printed.FindAllStringSubmatch(string(code), -1) {
		out := strings.NewReplacer(`\n`, "\n", `"`, "", "total", "6").Replace(text[1]) + "\n"
		x.Outputs = append(x.Outputs, notebook.Output{Type: notebook.Stream, Name: "stdout", Text: out})
	}
	x.Status = notebook.OK
	return x, err
}

var printed = regexp.MustCompile(`(?m)^print\((.*)\)$`)

func ExampleRun() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "numbers.txt"), []byte("1\n2\n3\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	folder, err := record.CreateFolder(filepath.Join(dir, "run"))
	if err != nil {
		log.Fatal(err)
	}
	words, err := prompts.Load()
	if err != nil {
		log.Fatal(err)
	}

	t, err := agent.Run(context.Background(), agent.Config{
		Settings: ask.Settings{
			Model: fixedModel{
				"solver": "Step: Add up the numbers.\n\n```python\n" +
					"total = sum(map(int, open('data/numbers.txt')))\nprint(total)\n```",
				"judge": "Verdict: sufficient\nReason: the sum is there\n\n" +
					"```python\nprint(total)\n```",
				"second": "```python\ntotal = sum(int(n) for n in open('data/numbers.txt'))\n" +
					"print(total)\n```",
			},
			Prompts: words, ResultChars: 1000, DescriptionChars: 1000, ContextChars: 10_000,
		},
		Options: describe.Options{DebugTries: 1, TopK: 10, Jobs: 1},
		Open: func(context.Context, agent.Purpose, string) (agent.Session, error) {
			return calculator{}, nil
		},
		RunScript: func(_ context.Context, dir string, _ time.Duration) (notebook.Execution, error) {
			return runScript(record.Folder(dir).Script())
		},
		Dir: string(folder), MaxRounds: 5,
	}, record.Task{
		Question: "What is the sum of the numbers?", Data: dir,
		Files: []record.File{{Name: "numbers.txt", Size: 6}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Answer(), t.Verified())
	// Output: 6 true
}
