package rerun

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/notebook"
)

// TestParametersOf: values are what papermill takes them for.
func TestParametersOf(t *testing.T) {
	for flag, want := range map[string]parameter{
		"n=5": {"n", "5"}, "n=-007": {"n", "-7"}, "n=000": {"n", "0"}, "n=+3": {"n", "+3"}, " n = 5": {"n", "5"},
		"x=1.50": {"x", "1.50"}, "x=.5e-3": {"x", ".5e-3"}, "x=1e3": {"x", "1e3"}, "x=nan": {"x", `float("nan")`},
		"b=true": {"b", "True"}, "b=False": {"b", "False"}, "v=None": {"v", "None"}, "v=null": {"v", "None"},
		"s=north": {"s", `"north"`}, "s=": {"s", `""`}, "s=a=b": {"s", `"a=b"`}, "s='007'": {"s", `"007"`},
		`s="True"`: {"s", `"True"`}, `s=say "no"\`: {"s", `"say \"no\"\\"`}, "s=2024-01-05": {"s", `"2024-01-05"`},
		"s=1_000": {"s", `"1_000"`}, "s=[1, 2]": {"s", `"[1, 2]"`}, "s=a\nb": {"s", `"a\nb"`}, "größe=1": {"größe", "1"},
	} {
		got, err := parametersOf([]string{flag})
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, %v", flag, got, err)
		}
	}
	for _, flag := range []string{"n", "=5", "1n=5", "a b=5", "a;b=5", ""} {
		if got, err := parametersOf([]string{"n=1", flag}); err == nil {
			t.Errorf("%s: %+v", flag, got)
		}
	}
}

// TestInject: one cell sets the variables, where papermill has it.
func TestInject(t *testing.T) {
	code := func(id, source string, tags ...any) notebook.Cell {
		return notebook.Cell{ID: id, Type: notebook.Code, Source: source, Metadata: map[string]any{"tags": tags}}
	}
	text, first := notebook.Cell{ID: "t", Type: notebook.Markdown}, code("a", "a = 1")
	for name, c := range map[string]struct {
		cells []notebook.Cell
		want  string // ids
		in    string // source of the cell
	}{
		"after the parameters":  {[]notebook.Cell{text, first, code("p", "n = 1", "parameters"), code("z", "n")}, "t a p injected-parameters z", "# Parameters\nn = 5\nm = \"x\"\n"},
		"no parameters":         {[]notebook.Cell{text, first}, "t injected-parameters a", "# Parameters\nn = 5\nm = \"x\"\n"},
		"text alone":            {[]notebook.Cell{text}, "injected-parameters t", "# Parameters\nn = 5\nm = \"x\"\n"},
		"the cell is there":     {[]notebook.Cell{code("p", "n = 1", "parameters"), code("i", "n = 2\nk = n == 2", injected)}, "p i", "n = 5\nk = n == 2\nm = \"x\"\n"},
		"the name is taken":     {[]notebook.Cell{code(injected, "n = 1", "parameters")}, "injected-parameters injected-parameters-1", "# Parameters\nn = 5\nm = \"x\"\n"},
		"a comparison of names": {[]notebook.Cell{code("i", "n == 2", injected)}, "i", "n == 2\nn = 5\nm = \"x\"\n"},
	} {
		nb := &notebook.Notebook{Cells: slices.Clone(c.cells)}
		inject([]parameter{{"n", "4"}, {"m", `"x"`}, {"n", "5"}}, nb)
		var ids []string
		source := ""
		for _, cell := range nb.Cells {
			if ids = append(ids, cell.ID); slices.Contains(cell.Tags(), injected) {
				source = cell.Source
			}
		}
		if diff := cmp.Diff(c.want+"\n"+c.in, strings.Join(ids, " ")+"\n"+source); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	nb := &notebook.Notebook{Cells: []notebook.Cell{first}}
	if inject(nil, nb); len(nb.Cells) != 1 {
		t.Error("without parameters there is a cell")
	}
}
