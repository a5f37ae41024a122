package page

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"dsstar/agent/record"
	"dsstar/notebook"
)

var key, otherKey = record.Key("ours"), record.Key("theirs")

// sealed returns the notebook of a run as the holder of the key writes it, and another program again
// that has one kind of numbers and other white space.
func sealed(t *testing.T, tr *record.Trajectory) *notebook.Notebook {
	t.Helper()
	nb := Draw(tr)
	key.Seal(nb)
	var all any
	if err := json.Unmarshal(encoded(t, nb), &all); err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(all, "\t", "")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, data)
}

// TestSeal: a seal holds for whoever has the key while the record is as it was, whatever other
// programs and people do to its form and the cells. That an output was taken away is found.
func TestSeal(t *testing.T) {
	for _, name := range []string{"asked", "paper", "review", "odd"} {
		tr := readAgain(t, golden(t, name))
		nb := sealed(t, tr)
		read, err := Read(nb)
		if err != nil || !key.Wrote(read) || !key.Made(nb) || Rewritten(nb, read) {
			t.Errorf("%s: the seal does not hold: %v", name, err)
		}
		if otherKey.Made(nb) || record.Key(nil).Made(nb) || key.Made(Draw(tr)) {
			t.Errorf("%s: a seal holds that is not the user's, or none", name)
		}
		meta := nb.Metadata["dsstar"].(map[string]any)
		whole := meta["trajectory"].(map[string]any)
		for _, in := range []map[string]any{meta, whole, whole["task"].(map[string]any)} {
			for entry, was := range maps.Clone(in) {
				if in[entry] = "another"; key.Made(nb) {
					t.Errorf("%s: the seal holds with another %s", name, entry)
				}
				in[entry] = was
			}
		}
		shows := slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool { return len(c.Outputs) > 0 })
		nb.Cells[shows].Outputs = nil
		if nb.Cells = nb.Cells[:len(nb.Cells)-1]; !key.Made(nb) || !Rewritten(nb, read) {
			t.Errorf("%s: made %v, rewritten %v", name, key.Made(nb), Rewritten(nb, read))
		}
	}
}
