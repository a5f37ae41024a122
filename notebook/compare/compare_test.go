package compare

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsstar/notebook"
)

const tolerance = 1e-9

func stdout(text string) []notebook.Output {
	return []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: text}}
}

func shownAs(mime string, value any) []notebook.Output {
	data := notebook.MIMEBundle{"text/plain": "<shown>"}
	data[mime] = value
	return []notebook.Output{{Type: notebook.DisplayData, Data: data}}
}

func pngOf(img image.Image, level png.CompressionLevel) string {
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: level}).Encode(&b, img)
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestCompareSame(t *testing.T) {
	styler := func(id string) string {
		return `<style>#T_` + id + `_row0_col1 {color: red}</style><table id="T_` + id + `"><tr><td id="T_` + id + `_row0_col1">198.79</td></tr></table>`
	}
	blank := image.NewGray(image.Rect(0, 0, 5, 4))
	svg := func(id, date string) string {
		return `<svg><dc:date>` + date + `</dc:date><clipPath id="p` + id + `"/><g clip-path="url(#p` + id + `)"/></svg>`
	}
	for name, c := range map[string][2][]notebook.Output{
		"address":    {stdout("[<Line2D at 0x7f12ab>]"), stdout("[<Line2D at 0x55ffffff>]")},
		"thread":     {stdout("<Thread(Thread-5 (f), started daemon 140)>"), stdout("<Thread(Thread-5 (f), started daemon 99)>")},
		"set":        {stdout("{'b', 'a, c'} {1: {None, \"x's\"}}"), stdout("{'a, c', 'b'} {1: {\"x's\", None}}")},
		"encoding":   {shownAs("image/png", pngOf(blank, 0)), shownAs("image/png", pngOf(blank, png.NoCompression))},
		"time":       {stdout("x\nCPU times: user 3 ms\nWall time: 12.1 ms\n"), stdout("x\nCPU times: user 4 ms\nWall time: 1 s\n")},
		"timeit":     {stdout("12.3 ns ± 0.5 ns per loop (mean ± std. dev. of 7 runs, 100,000 loops each)"), stdout("2 µs ± 0.1 ns per loop (mean ± std. dev. of 7 runs, 10 loops each)")},
		"warning":    {stdout("/tmp/ipykernel_12/345.py:3: UserWarning: x (pid=4)"), stdout("/var/x/T/ipykernel_9/1.py:3: UserWarning: x (pid=77)")},
		"tempfile":   {stdout("/tmp/tmpab12cd_9/x"), stdout("/tmp/tmp00000000/x")},
		"progress":   {stdout("10%| 1/10 [00:00<00:01, 9it/s]\r100%| 10/10 [00:01<00:00, 9.9it/s]\n"), stdout("100%| 10/10 [00:02<00:00, 4it/s]\n")},
		"digits":     {stdout("mean 0.30000000000000004"), stdout("mean 0.3")},
		"width":      {stdout("a    0.1\nb  2.25"), stdout("a  0.10000000000000002\nb               2.25")},
		"minus zero": {stdout("[-0.0, 1]"), stdout("[0.0, 1]")},
		"interleaving": {
			{{Type: notebook.Stream, Name: "stdout", Text: "a"}, {Type: notebook.Stream, Name: "stderr", Text: "b"}, {Type: notebook.Stream, Name: "stdout", Text: "c"}},
			{{Type: notebook.Stream, Name: "stdout", Text: "ac"}, {Type: notebook.Stream, Name: "stderr", Text: "b"}}},
		"widget": {shownAs(widgetView, map[string]any{"model_id": "1"}), shownAs(widgetView, map[string]any{"model_id": "2"})},
		"styler": {shownAs("text/html", styler("ab12c")), shownAs("text/html", styler("99999"))},
		"svg":    {shownAs("image/svg+xml", svg("0123456789", "2026")), shownAs("image/svg+xml", svg("abcdef0123", "2027"))},
		"traceback": {
			{{Type: notebook.ErrorOutput, EName: "KeyError", EValue: "'x'", Traceback: []string{"Cell In[3]"}}},
			{{Type: notebook.ErrorOutput, EName: "KeyError", EValue: "'x'", Traceback: []string{"Cell In[4]"}}}},
		"count": {{{Type: notebook.ExecuteResult, ExecutionCount: 1, Data: notebook.MIMEBundle{"text/plain": "1"}}}, {{Type: notebook.ExecuteResult, ExecutionCount: 2, Data: notebook.MIMEBundle{"text/plain": "1"}}}},
	} {
		for _, pair := range [][2][]notebook.Output{c, {c[1], c[0]}} {
			if d := Outputs(pair[0], pair[1], tolerance); len(d) > 0 {
				t.Errorf("%s: %+v", name, d)
			}
		}
	}
}

func TestCompareDiffers(t *testing.T) {
	figure := image.NewGray(image.Rect(0, 0, 20, 10))
	dot := image.NewGray(figure.Rect)
	dot.SetGray(3, 4, color.Gray{200})
	table := func(n string) []notebook.Output {
		return []notebook.Output{{Type: notebook.ExecuteResult, Data: notebook.MIMEBundle{"text/html": "<td>" + n + "</td>", "text/plain": "n  " + n}}}
	}
	for name, c := range map[string]struct {
		was, is []notebook.Output
		what    string
		diff    string
	}{
		"a digit": {stdout("a\nb\nc\nSeal Beach: 198.79\nd\n"), stdout("a\nb\nc\nSeal Beach: 201.11\nd\n"), "stdout",
			" a\n b\n c\n-Seal Beach: 198.79\n+Seal Beach: 201.11\n d\n"},
		"whole numbers":   {stdout("n = 123456789012"), stdout("n = 123456789013"), "stdout", "-n = 123456789012\n+n = 123456789013\n"},
		"a version":       {stdout("pandas 2.10.0"), stdout("pandas 2.1.0"), "stdout", "-pandas 2.10.0\n+pandas 2.1.0\n"},
		"a type":          {stdout("1"), stdout("1.0"), "stdout", "-1\n+1.0\n"},
		"a bare address":  {stdout("mask 0xdeadbeef"), stdout("mask 0xdeadbeff"), "stdout", "-mask 0xdeadbeef\n+mask 0xdeadbeff\n"},
		"white space":     {stdout("a  b"), stdout("a b"), "stdout", "-a  b\n+a b\n"},
		"no line break":   {stdout("a"), stdout("a\n"), "stdout", "-a\n\\ No newline at end of file\n+a\n"},
		"a table":         {table("1"), table("2"), "result, text/plain", "-n  1\n+n  2\n"},
		"a pixel":         {shownAs("image/png", pngOf(figure, 0)), shownAs("image/png", pngOf(dot, 0)), "display 1, image/png", "another picture\n"},
		"another kind":    {shownAs("image/png", pngOf(figure, 0)), shownAs("text/plain", "x"), "display 1", "-<image/png>\n+x\n"},
		"a display less":  {append(shownAs("text/plain", "b"), shownAs("text/plain", "a")...), shownAs("text/plain", "b"), "display 2", "-a\n"},
		"an exception":    {nil, []notebook.Output{{Type: notebook.ErrorOutput, EName: "KeyError", EValue: "'x'"}}, "error", "+KeyError: 'x'\n"},
		"data":            {shownAs("application/json", map[string]any{"a": 1}), shownAs("application/json", map[string]any{"a": 2}), "display 1, application/json", " {\n- \"a\": 1\n+ \"a\": 2\n }\n"},
		"a cell of HTML":  {shownAs("text/html", "<td>1</td>"), shownAs("text/html", "<td>2</td>"), "display 1, text/html", "-<td>1</td>\n+<td>2</td>\n"},
		"an id's content": {shownAs("text/html", `<td id="T_ab12c">1.5</td>`), shownAs("text/html", `<td id="T_ffffa">1.6</td>`), "display 1, text/html", "-<td id=\"id-1\">1.5</td>\n+<td id=\"id-1\">1.6</td>\n"},
	} {
		d := Outputs(c.was, c.is, tolerance)
		if len(d) != 1 || d[0].What != c.what || d[0].Diff != c.diff {
			t.Errorf("%s: %+v", name, d)
		}
		if back := Outputs(c.is, c.was, tolerance); len(back) != 1 {
			t.Errorf("%s, the other way: %+v", name, back)
		}
	}
}

// TestCompareLong: the length of a diff is bounded.
func TestCompareLong(t *testing.T) {
	var was, is strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&was, "%d %s\n", i, strings.Repeat("x", 300))
		fmt.Fprintf(&is, "%d %s\n", 2*i+1, strings.Repeat("y", 300))
	}
	d := Outputs(stdout(was.String()), stdout(is.String()), tolerance)
	if len(d) != 1 || strings.Count(d[0].Diff, "\n") > diffLines+1 || len(d[0].Diff) > 60*diffWidth || !strings.Contains(d[0].Diff, "more lines\n") {
		t.Errorf("%+v", d)
	}
	far := strings.Repeat("word ", 100)
	if d := Outputs(stdout(far+"1.5"), stdout(far+"1.6"), tolerance); len(d) != 1 || !strings.Contains(d[0].Diff, "1.5") || !strings.Contains(d[0].Diff, "1.6") {
		t.Errorf("the change in a long line is not shown: %+v", d)
	}
}

// TestCompareDigits: a number in any text may change by the tolerance and no more.
func TestCompareDigits(t *testing.T) {
	words := rapid.StringMatching(`[a-z|,;()<>/:\[ \n]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		before, after := words.Draw(t, "before"), words.Draw(t, "after")
		value := rapid.Float64Range(-1e12, 1e12).Draw(t, "value")
		other := value * (1 + rapid.Float64Range(1e-15, 1).Draw(t, "relative"))
		apart := math.Abs(value-other) / max(math.Abs(value), math.Abs(other), math.SmallestNonzeroFloat64)
		if math.Abs(apart-tolerance) < 1e-15 {
			t.Skip("on the edge")
		}
		// With spaces: "x" directly before a number would make it a name.
		text := func(v float64) string {
			return before + " " + strconv.FormatFloat(v, 'e', -1, 64) + " " + after
		}
		if d := Outputs(stdout(text(value)), stdout(text(other)), tolerance); len(d) > 0 != (apart > tolerance) {
			t.Fatalf("%q and %q, by %g: %v", text(value), text(other), apart, d)
		}
	})
}
