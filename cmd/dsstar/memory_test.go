package main

import (
	"path/filepath"
	"testing"

	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
)

// TestKeepMemoryShows: what is added is shown as it is written, code with its indentation.
func TestKeepMemoryShows(t *testing.T) {
	a, _, stderr := testApp(t)
	m, err := memory.Read(t.Context(), filepath.Join(t.TempDir(), memory.Name))
	if err != nil {
		t.Fatal(err)
	}
	m.Learn(nil, []lesson.Tool{{Name: "f", Code: "def f():\n    for  i in a:\n        return i"}})
	shown := a.newProgress(false)
	if err := a.keepMemory(t.Context(), job{progress: shown, memory: m}); err != nil {
		t.Fatal(err)
	}
	shown.Stop() // it prints from a goroutine of its own
	wantText(t, "what is kept", stderr.String(), "+ def f():\n", "+     for  i in a:\n", "+         return i\n")
}
