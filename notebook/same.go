package notebook

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Metadata that Jupyter writes by itself: JupyterLab when it opens a notebook or connects it to a
// kernel, jupyter-collaboration when it saves.
var (
	notebooksOwn = []string{"kernelspec", "language_info", "widgets", "signature", "orig_nbformat",
		"orig_nbformat_minor"}
	cellsOwn = []string{"trusted", "execution"}
)

// Same reports whether two notebooks have the same metadata and the same cells: ids, types,
// sources, outputs and metadata. It ignores execution counts and what Jupyter changes by itself:
// trust, the kernelspec and its language, execution times, numbers such as 2.0 that become 2, and
// empty attachments.
func Same(a, b *Notebook) bool {
	return sameValue(without(a.Metadata, notebooksOwn), without(b.Metadata, notebooksOwn)) &&
		slices.EqualFunc(a.Cells, b.Cells, sameCell)
}

func sameCell(a, b Cell) bool {
	return a.ID == b.ID && a.Type == b.Type && a.Source == b.Source &&
		sameValue(without(a.Metadata, cellsOwn), without(b.Metadata, cellsOwn)) &&
		slices.EqualFunc(a.Outputs, b.Outputs, sameOutput) &&
		maps.EqualFunc(a.Attachments, b.Attachments, sameBundle)
}

func sameOutput(a, b Output) bool {
	return a.Type == b.Type && a.Name == b.Name && a.Text == b.Text && a.EName == b.EName &&
		a.EValue == b.EValue &&
		slices.Equal(a.Traceback, b.Traceback) &&
		sameBundle(a.Data, b.Data) && sameValue(a.Metadata, b.Metadata)
}

func sameBundle(a, b MIMEBundle) bool { return maps.EqualFunc(a, b, sameValue) }

// sameValue compares values decoded from JSON.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameValue)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(string(a), string(b))
	}
	return reflect.DeepEqual(a, b)
}

func sameNumber(a, b string) bool {
	if a == b || !strings.ContainsAny(a+b, ".eE") { // integers are compared by all their digits
		return a == b
	}
	x, err := strconv.ParseFloat(a, 64)
	y, e := strconv.ParseFloat(b, 64)
	return err == nil && e == nil && x == y
}

// without returns m without some keys.
func without(m map[string]any, keys []string) map[string]any {
	rest := maps.Clone(m)
	maps.DeleteFunc(rest, func(key string, _ any) bool { return slices.Contains(keys, key) })
	return rest
}
