// Package compare compares the outputs of two executions of a cell, and two answers.
package compare

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
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
//   - Text that differs on every run is ignored, and the order of sets: see stable.
func Outputs(recorded, now []notebook.Output, tolerance float64) (all []Difference) {
	var names []string // of what was shown, then of what is new
	was, is := named(recorded, &names), named(now, &names)
	for _, name := range names {
		if d := was[name].compare(is[name], tolerance); d.Diff != "" {
			d.What = strings.TrimSuffix(name+", "+d.What, ", ")
			all = append(all, d)
		}
	}
	return all
}

// named returns what outputs show: "stdout", "error", "result", "display 1", each stream once. It adds
// new names to names.
func named(outputs []notebook.Output, names *[]string) map[string]shown {
	all, count := map[string]shown{}, map[string]int{}
	for _, o := range outputs {
		s, name := represent(o), map[notebook.OutputType]string{notebook.ErrorOutput: "error",
			notebook.Stream: o.Name, notebook.ExecuteResult: "result", notebook.DisplayData: "display"}[o.Type]
		if o.Type == notebook.Stream {
			s.text = all[name].text + s.text
		} else if count[name]++; count[name] > 1 || name == "display" {
			name = fmt.Sprintf("%s %d", name, count[name])
		}
		if all[name] = s; !slices.Contains(*names, name) {
			*names = append(*names, name)
		}
	}
	for name, s := range all {
		if pictures[s.mime] == nil {
			s.text = stable(notebook.Overstrike(s.text))
			all[name] = s
		}
	}
	return all
}

// A shown is what is compared of an output: a stream, or one of its MIME representations.
type shown struct {
	mime  string // "" for an error or a stream
	text  string // base64 for a picture
	plain string // its text/plain
}

// compare compares two outputs; What is the MIME type. There is no Diff if they are equal.
func (s shown) compare(now shown, tolerance float64) Difference {
	if s.mime != now.mime {
		return Difference{Diff: s.lines("-") + now.lines("+")}
	}
	if pictures[s.mime] != nil {
		return Difference{s.mime, s.diffPictures(now)}
	}
	diff := diffTexts(s.text, now.text, tolerance)
	if s.mime == "text/html" && diff != "" && s.plain != "" && now.plain != "" {
		// a table is easier to read as text
		if readable := diffTexts(s.plain, now.plain, tolerance); readable != "" {
			return Difference{"text/plain", readable}
		}
	}
	return Difference{s.mime, diff}
}

// pictures are decoded to be compared.
var pictures = map[string]func(io.Reader) (image.Image, error){
	"image/png": png.Decode, "image/jpeg": jpeg.Decode,
}

// diffPictures returns "" if two pictures have the same pixels.
func (s shown) diffPictures(now shown) string {
	was, is := s.pixels(), now.pixels()
	if s.text == now.text || was != nil && is != nil && was.Rect == is.Rect &&
		bytes.Equal(was.Pix, is.Pix) {
		return ""
	}
	return "another picture\n"
}

// maxPixels is the maximum number of pixels of a picture that is decoded.
const maxPixels = 100_000_000

// pixels decodes a picture; nil if that cannot be done.
func (s shown) pixels() *image.RGBA {
	data, _ := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s.text), ""))
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width*config.Height > maxPixels {
		return nil
	}
	picture, err := pictures[s.mime](bytes.NewReader(data))
	if err != nil {
		return nil
	}
	all := image.NewRGBA(image.Rect(0, 0, config.Width, config.Height))
	draw.Draw(all, all.Rect, picture, picture.Bounds().Min, draw.Src)
	return all
}

// lines returns the lines of an output that has no counterpart, each after the mark.
func (s shown) lines(mark string) string {
	text := s.text
	if text == "" {
		return ""
	}
	if s.mime != "" && !strings.HasPrefix(s.mime, "text/") {
		text = "<" + s.mime + ">"
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
	"application/json", "image/png", "image/jpeg", "image/svg+xml", "text/vnd.mermaid", "text/html",
	"text/markdown", "text/latex", "text/plain",
}

// widgetView is the MIME type of a widget.
const widgetView = "application/vnd.jupyter.widget-view+json"

// represent returns what is compared of an output, as an inert notebook has it, which is without
// nothing that counts: the first of richest that it has, or its first MIME type.
func represent(o notebook.Output) shown {
	switch o.Type {
	case notebook.Stream:
		return shown{text: o.Text}
	case notebook.ErrorOutput:
		return shown{text: o.EName + ": " + o.EValue + "\n"}
	}
	data := notebook.Inert(o.Data)
	plain, _ := data["text/plain"].(string)
	s := shown{mime: "text/plain", text: plain, plain: stable(plain)}
	if _, isWidget := data[widgetView]; isWidget { // its data is a random model id
		return s
	}
	for _, mime := range append(slices.Clone(richest), slices.Sorted(maps.Keys(data))...) {
		value, ok := data[mime]
		if !ok {
			value, ok = data[notebook.SwitchedOff(mime)]
		}
		if !ok {
			continue
		}
		s.mime = mime
		if s.text, ok = value.(string); !ok {
			indented, err := json.MarshalIndent(value, "", " ")
			if err != nil {
				indented = fmt.Appendf(nil, "%v", value)
			}
			s.text = string(indented)
		}
		if mime == "image/svg+xml" || mime == "text/html" {
			s.text = withoutIDs(s.text)
		}
		break
	}
	return s
}
