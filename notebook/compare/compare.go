// Package compare compares the outputs of two executions of a cell, and two answers.
package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/notebook"
)

// A Difference is one output of a cell that differs from the recorded one.
type Difference struct {
	What string `json:"what"` // "stdout", "error", "result, text/plain", "display 2, image/png"
	Diff string `json:"diff"` // lines of a unified diff, or sentences; each ends with a line break
}

// Outputs compares the outputs of a cell with the recorded ones. The result is empty if both show
// the same. These are the rules:
//
//   - Each stream is compared as a whole, as a terminal shows it. The order of streams
//     and displays does not matter.
//   - Numbers with a decimal point or a signed exponent may differ by the tolerance,
//     relative to the larger one. All other digits are text.
//   - For a display, the richest deterministic representation is compared (see
//     represent): data, then pictures by their pixels, then HTML, then text.
//   - For an exception, name and value are compared, but not the traceback.
//   - Text that differs on every run is ignored: see volatile.
func Outputs(recorded, now []notebook.Output, tolerance float64) []Difference {
	var all []Difference
	was, shown := parted(recorded)
	is, shownNow := parted(now)
	both := maps.Clone(was)
	maps.Copy(both, is)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		before, after := notebook.Overstrike(was[name]), notebook.Overstrike(is[name])
		if diff := diffTexts(stable(before), stable(after), tolerance); diff != "" {
			all = append(all, Difference{name, diff})
		}
	}
	return append(all, compareShown(shown, shownNow, tolerance)...)
}

// parted returns the text of each stream, by its name, and the other outputs as an inert notebook has
// them, which is without nothing that counts.
func parted(outputs []notebook.Output) (streams map[string]string, shown []notebook.Output) {
	streams = map[string]string{}
	for _, o := range outputs {
		if o.Type == notebook.Stream {
			streams[o.Name] += o.Text
			continue
		}
		o.Data = notebook.Inert(o.Data)
		shown = append(shown, o)
	}
	return streams, shown
}

// compareShown compares displays, results and errors in order, with one gap where some are gone or new.
func compareShown(recorded, now []notebook.Output, tolerance float64) (all []Difference) {
	same := func(a, b notebook.Output) bool { return compareOutput(a, b, tolerance) == nil }
	was, is := numbered(recorded), numbered(now)
	for len(recorded) > 0 && len(now) > 0 && same(recorded[0], now[0]) {
		recorded, now, was, is = recorded[1:], now[1:], was[1:], is[1:]
	}
	for n, m := len(recorded), len(now); n > 0 && m > 0 && same(recorded[n-1], now[m-1]); n, m = n-1, m-1 {
		recorded, now = recorded[:n-1], now[:m-1]
	}
	for i := range max(len(recorded), len(now)) {
		switch {
		case i >= len(now):
			r := represent(recorded[i])
			all = append(all, Difference{was[i] + r.what(), "it is gone\n" + r.lines("-")})
		case i >= len(recorded):
			r := represent(now[i])
			all = append(all, Difference{is[i] + r.what(), "it is new\n" + r.lines("+")})
		default:
			if d := compareOutput(recorded[i], now[i], tolerance); d != nil {
				all = append(all, Difference{was[i] + d.What, d.Diff})
			}
		}
	}
	return all
}

// numbered returns a name for each output. It numbers displays if there are several.
func numbered(outputs []notebook.Output) []string {
	displays := 0
	names := make([]string, len(outputs))
	for i, o := range outputs {
		switch o.Type {
		case notebook.ErrorOutput:
			names[i] = "error"
		case notebook.ExecuteResult:
			names[i] = "result"
		default:
			displays++
			names[i] = fmt.Sprintf("display %d", displays)
		}
	}
	if displays == 1 {
		names[slices.Index(names, "display 1")] = "display"
	}
	return names
}

// compareOutput compares two outputs other than streams, and returns nil if they are equal. What
// names the representation that differs.
func compareOutput(recorded, now notebook.Output, tolerance float64) *Difference {
	was, is := represent(recorded), represent(now)
	if recorded.Type != now.Type || was.mime != is.mime {
		return &Difference{"", was.lines("-") + is.lines("+")}
	}
	var diff string
	if was.picture() {
		diff = diffPictures(was.text, is.text)
	} else {
		diff = diffTexts(was.text, is.text, tolerance)
	}
	if diff == "" {
		return nil
	}
	// A table is easier to read as text than as HTML.
	a, plain := recorded.Data["text/plain"].(string)
	b, both := now.Data["text/plain"].(string)
	if plain && both && was.mime == "text/html" {
		if readable := diffTexts(stable(a), stable(b), tolerance); readable != "" {
			return &Difference{", text/plain", readable}
		}
	}
	return &Difference{was.what(), diff}
}

// A representation is the MIME representation of an output that is compared.
type representation struct {
	mime string // "" for an error
	text string // base64 for a picture
}

func (r representation) picture() bool { return r.mime == "image/png" || r.mime == "image/jpeg" }

func (r representation) what() string {
	if r.mime == "" {
		return ""
	}
	return ", " + r.mime
}

// lines returns the lines of a representation that has no counterpart, each after the mark.
func (r representation) lines(mark string) string {
	text := r.text
	if r.mime != "" && !strings.HasPrefix(r.mime, "text/") {
		text = "<" + r.mime + ">"
	}
	text = mark + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+mark)
	return bounded(strings.Split(text, "\n"))
}

// richest lists the representations to compare, in order of preference. Scripts and widget views
// are left out, because their ids differ on every run.
var richest = []string{
	"application/vnd.plotly.v1+json", "application/vnd.vegalite.v6+json",
	"application/vnd.vegalite.v5+json", "application/vnd.vegalite.v4+json",
	"application/vnd.vega.v6+json", "application/vnd.vega.v5+json", "application/geo+json",
	"application/json",
	"image/png", "image/jpeg", "image/svg+xml", "text/vnd.mermaid", "text/html", "text/markdown", "text/latex",
	"text/plain",
}

// widgetView is the MIME type of a widget.
const widgetView = "application/vnd.jupyter.widget-view+json"

// represent returns the representation of an output to compare, unless it is a stream: the first
// of richest that the output has, or its first MIME type.
func represent(o notebook.Output) representation {
	if o.Type == notebook.ErrorOutput {
		return representation{"", stable(o.EName + ": " + o.EValue)}
	}
	candidates := richest
	if _, widget := o.Data[widgetView]; widget {
		candidates = []string{"text/plain"}
	}
	for _, mime := range append(slices.Clone(candidates), slices.Sorted(maps.Keys(o.Data))...) {
		value, ok := o.Data[mime]
		if !ok {
			value, ok = o.Data[notebook.SwitchedOff(mime)]
		}
		if !ok {
			continue
		}
		if mime == widgetView {
			return representation{mime, ""} // its data is a random model id
		}
		text, ok := value.(string)
		if !ok {
			data, err := json.MarshalIndent(value, "", " ")
			if err != nil {
				data = fmt.Appendf(nil, "%v", value)
			}
			text = string(data)
		}
		r := representation{mime, text}
		switch {
		case r.picture():
		case mime == "image/svg+xml" || mime == "text/html":
			r.text = stable(withoutIDs(text))
		default:
			r.text = stable(text)
		}
		return r
	}
	return representation{"text/plain", ""}
}
