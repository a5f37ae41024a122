package memory_test

import (
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/memory"
	"dsstar/agent/memory/memorytest"
)

// BenchmarkLarge takes the times of what a run does with a memory of 500 functions, 600 facts and 5,000
// questions:
//
//	go test ./agent/memory -run ^$ -bench Large
func BenchmarkLarge(b *testing.B) {
	dir := filepath.Join(b.TempDir(), memory.Name)
	if err := memorytest.Large(b, dir).Save(); err != nil {
		b.Fatal(err)
	}
	read := func() *memory.Memory {
		m, err := memory.Read(b.Context(), dir)
		if err != nil || len(m.Tools) != 500 || len(m.Facts) != 600 || len(m.Questions) != 5000 {
			b.Fatal(err, len(m.Tools), len(m.Facts), len(m.Questions))
		}
		return m
	}
	m := read()
	var module []string
	for _, t := range m.Tools[:8] {
		module = append(module, t.Code)
	}
	code := strings.Join(module, "\n")
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"Read", func() { read() }},
		{"Asked", func() { m.Asked("What is the total of all?", "", nil) }},
		{"Near", func() { m.Near("What is the total amount of trips in Peru?", 0.3, 10) }},
		{"Needed", func() { memory.Needed(m.Tools, code) }},
		{"Add", func() {
			m := read()
			m.AddFact(memory.Fact{Text: "New."})
			m.AddTool(memory.Tool{Name: "new", Code: "def new():\n    return 1", Test: "assert new() == 1\n"}, nil)
			if err := m.AddQuestion(memory.Question{Question: "New?"}); err != nil || len(m.Changes()) != 4 /* facts, function, cases, questions */ {
				b.Fatal(err, len(m.Changes()))
			}
		}},
		{"Take", func() {
			empty, _ := memory.Read(b.Context(), filepath.Join(b.TempDir(), memory.Name))
			if err := empty.Take(m); err != nil || len(empty.Questions) != 5000 {
				b.Fatal(err)
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.do()
			}
		})
	}
}
