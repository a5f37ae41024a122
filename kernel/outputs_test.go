package kernel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"dsstar/notebook"
)

// TestQuota: the outputs of all cells are bounded, and the cell that reaches the bound says so.
func TestQuota(t *testing.T) {
	const kept, cells = 100_000, 60
	o := Outputs{Limits: notebook.Limits{Stream: 20_000}, Run: kept}.begin()
	sum, told := 0, 0
	for range cells {
		f := o.fold(Cell{})
		for _, m := range []struct{ kind, content string }{
			{"stream", `{"name": "stdout", "text": %q}`},
			{"display_data", `{"data": {"text/plain": %q}, "metadata": {}}`},
			{"display_data", `{"data": {"image/png": %q}, "metadata": {}, "transient": {"display_id": "i"}}`},
		} {
			ok(t, f.Add(m.kind, json.RawMessage(fmt.Sprintf(m.content,
				strings.Repeat("x", 30_000)))))
		}
		o.take(&f)
		data := must(json.Marshal(f.Outputs()))
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
}
