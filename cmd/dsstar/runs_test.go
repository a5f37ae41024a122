package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// TestRunsLong: a list of runs takes no memory for outputs, and leaves out what is too long.
func TestRunsLong(t *testing.T) {
	base := t.TempDir()
	path := func(run string) string {
		folder := filepath.Join(base, run)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		return record.Folder(folder).Notebook()
	}
	long := strings.Repeat("x", 20<<20)
	saveRun(t, path("good"), "How many?", "42")
	text := content(t, path("good"))
	const outputs = `"outputs": [`
	i := strings.Index(text, outputs) + len(outputs)
	output := `{"output_type": "stream", "name": "stdout", "text": "` + long + `"}`
	if !strings.HasPrefix(strings.TrimSpace(text[i:]), "]") {
		output += ","
	}
	for run, text := range map[string]string{"outputs": text[:i] + output + text[i:],
		"metadata": strings.Replace(text, `"How many?"`, `"`+long+`"`, 1), "file": text} {
		if err := os.WriteFile(path(run), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(path("file"), disk.MaxDocument+1); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all := runsIn(base, testKey)
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 120 {
		t.Errorf("%d MB", used)
	}
	if len(all) != 2 || all[0].Answer != "42" || all[1].Answer != "42" {
		t.Errorf("%d runs: %.300v", len(all), all)
	}
}
