package kernel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/notebook"
)

// TestQuota: the outputs of all cells are bounded, in the notebook and in files, and the cell that
// reaches the bound says so.
func TestQuota(t *testing.T) {
	const kept, files, cells = 100_000, 300_000, 60
	dir := filepath.Join(t.TempDir(), "outputs")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "of-an-earlier-run"), make([]byte, files/2),
		0o644); err != nil {
		t.Fatal(err)
	}
	o := Outputs{Limits: notebook.Limits{Stream: 20_000}, Folder: dir, ShownAs: "outputs", Run: kept,
		Files: files}.withQuota()
	sum, told := 0, 0
	for i := range cells {
		f := o.fold(Cell{ID: fmt.Sprintf("cell-%d", i)})
		for _, m := range []struct{ kind, content string }{
			{"stream", `{"name": "stdout", "text": %q}`},
			{"display_data", `{"data": {"text/plain": %q}, "metadata": {}}`},
			{"display_data", `{"data": {"image/png": %q}, "metadata": {}, "transient": {"display_id": "i"}}`},
		} {
			if err := f.Add(m.kind, json.RawMessage(fmt.Sprintf(m.content,
				strings.Repeat("x", 30_000)))); err != nil {
				t.Fatal(err)
			}
		}
		_ = f.Close() // past the bound, files lack something
		o.take(&f)
		data, err := json.Marshal(f.Outputs())
		if err != nil {
			t.Fatal(err)
		}
		sum += len(data)
		told += strings.Count(string(data), "from here on")
	}
	// the last cell may exceed it, and the others keep a little
	if most := kept + 100_000 + cells*10_000; sum > most {
		t.Errorf("%d bytes in the notebook, want at most %d", sum, most)
	}
	if told != 1 {
		t.Errorf("it was said %d times", told)
	}
	onDisk := int64(0)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		onDisk += info.Size()
	}
	if onDisk > files+cells {
		t.Errorf("%d bytes in files, want at most %d", onDisk, files)
	}
}
