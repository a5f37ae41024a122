package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"dsstar/agent/record"
	"dsstar/notebook"
)

var key, otherKey = record.Key("ours"), record.Key("theirs")

// sealed returns the notebook of a run as the holder of the key writes it.
func sealed(t *testing.T, tr *record.Trajectory) *notebook.Notebook {
	t.Helper()
	nb := Draw(tr)
	key.Seal(nb)
	data, err := nb.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, data)
}

// rewritten returns a notebook as a program writes it that has one kind of numbers and other white
// space.
func rewritten(t *testing.T, nb *notebook.Notebook) *notebook.Notebook {
	t.Helper()
	data, err := nb.Encode()
	var all any
	if err = errors.Join(err, json.Unmarshal(data, &all)); err == nil {
		data, err = json.Marshal(all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, bytes.ReplaceAll(data, []byte(`":`), []byte("\" :\n")))
}

// TestSeal: a seal holds for whoever has the key while the record is as it was, whatever other
// programs and people do to its form and the cells.
func TestSeal(t *testing.T) {
	all := []*record.Trajectory{answered()}
	for _, name := range []string{"asked", "paper", "review"} {
		all = append(all, readAgain(t, golden(t, name)))
	}
	for _, tr := range all {
		nb := rewritten(t, sealed(t, tr))
		nb.Cells = nb.Cells[:len(nb.Cells)-1]
		if read, err := Read(nb); err == nil && !key.Wrote(read) || !key.Made(nb) {
			t.Error("the seal does not hold")
		}
		if otherKey.Made(nb) || record.Key(nil).Made(nb) || key.Made(Draw(tr)) {
			t.Error("a seal holds that is not the user's, or none")
		}
	}
	ours, theirs := sealed(t, all[0]), sealed(t, all[1])
	theirs.Metadata["dsstar"].(map[string]any)["seal"] = ours.Metadata["dsstar"].(map[string]any)["seal"]
	if key.Made(theirs) {
		t.Error("the seal of another run holds")
	}
}

// TestSealIsOfAll: no edit of a record keeps the seal.
func TestSealIsOfAll(t *testing.T) {
	nb := sealed(t, readAgain(t, golden(t, "asked")))
	eachEdit(nb.Metadata["dsstar"], "", func(path string) {
		if key.Made(nb) {
			t.Errorf("the seal holds for another record: %s", path)
		}
	})
	if !key.Made(nb) {
		t.Error("the seal does not hold")
	}
}

// eachEdit calls test for each place of a JSON value, while another value is there.
func eachEdit(value any, path string, test func(path string)) {
	switch value := value.(type) {
	case map[string]any:
		for name, was := range maps.Clone(value) {
			value[name] = "another"
			test(path + "/" + name)
			value[name] = was
			eachEdit(was, path+"/"+name, test)
		}
	case []any:
		for i, was := range value {
			value[i] = "another"
			test(fmt.Sprint(path, "/", i))
			value[i] = was
			eachEdit(was, fmt.Sprint(path, "/", i), test)
		}
	}
}

// TestRewritten: texts and outputs that are no longer those of the record are found, and nothing is
// if another program has written the notebook.
func TestRewritten(t *testing.T) {
	for what, change := range map[string]func(nb *notebook.Notebook, i int){
		"": func(*notebook.Notebook, int) {},
		"an output": func(nb *notebook.Notebook, i int) {
			nb.Cells[i].Outputs = []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: "42\n"}}
		},
		"no output": func(nb *notebook.Notebook, i int) { nb.Cells[i].Outputs = nil },
		"a text":    func(nb *notebook.Notebook, _ int) { nb.Cells[0].Source += "!" },
	} {
		for _, name := range []string{"asked", "review"} {
			nb := rewritten(t, sealed(t, readAgain(t, golden(t, name))))
			i := slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool { return len(c.Outputs) > 0 })
			change(nb, i)
			tr, err := Read(nb)
			if err != nil || !key.Made(nb) {
				t.Fatal(err)
			}
			if got := Rewritten(nb, tr); got != (what != "") {
				t.Errorf("%s, %q: rewritten %v", name, what, got)
			}
		}
	}
}
