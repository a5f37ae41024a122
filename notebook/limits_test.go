package notebook_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"dsstar/notebook"
)

var left = regexp.MustCompile(`\n?\[note: [^\n]* are left out here\]\n`)

// TestStreamInPieces holds for any text, pieces and limit: uncut text looks as on a terminal.
// Cut text has the same beginning and end. Reading the outputs in between changes nothing.
func TestStreamInPieces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(8, 60).Draw(rt, "limit")
		pieces := rapid.SliceOfN(rapid.StringMatching(`[aé🎉\r\n\x08]{0,30}`), 1, 12).Draw(rt, "pieces")
		all := strings.Join(pieces, "")
		f := notebook.Fold{Limits: notebook.Limits{Stream: limit}}
		asked := f
		for _, piece := range pieces {
			add(t, &f, stdout(piece))
			add(t, &asked, stdout(piece))
			asked.Outputs()
		}
		got, want := f.Outputs()[0].Text, notebook.Overstrike(all)
		same(rt, "asked on the way", got, asked.Outputs()[0].Text)
		if !utf8.ValidString(got) {
			rt.Errorf("a character is cut: %q", got)
		}
		note := left.FindStringIndex(got)
		if note == nil {
			same(rt, "uncut", want, got)
			return
		}
		if len(all) <= limit&^1 || len(got)-(note[1]-note[0]) > limit { // half of it stays at each end
			rt.Errorf("limit is %d; of %d bytes it shows %q", limit, len(all), got)
		}
		if !strings.ContainsAny(all, "\r\b") && (!strings.HasPrefix(want, got[:note[0]]) || !strings.HasSuffix(want, got[note[1]:])) {
			rt.Errorf("shows %q\nof    %q", got, want)
		}
	})
}

// picture is a display_data message with a PNG of n bytes.
func picture(n int, id string) message {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("p", n-8)
	return made("display_data", map[string]any{
		"data":      map[string]any{"image/png": base64.StdEncoding.EncodeToString([]byte(png)) + "\n", "text/plain": "<Figure>"},
		"metadata":  map[string]any{"image/png": map[string]any{"width": 640}},
		"transient": map[string]any{"display_id": id},
	})
}

func TestLargeDisplays(t *testing.T) {
	table := `{"data": [` + strings.Repeat("1, ", 500) + `1.0]}`
	for name, test := range map[string]struct{ content, want string }{
		"picture":      {picture(1000, "").content, "[note: a display of 1.5 kB is left out here: image/png, text/plain]"},
		"JSON":         {`{"data": {"application/vnd.x+json": ` + table + `}}`, ": application/vnd.x+json]"},
		"unknown type": {`{"data": {"a\nb/../` + strings.Repeat("x", 300) + `": "` + strings.Repeat("YWJj", 300) + `"}}`, ": a b/../xxx"},
		"metadata":     {`{"data": {"text/plain": "x"}, "metadata": {"x": "` + strings.Repeat("x", 1000) + `"}}`, "a display of 1.1 kB is left out here: text/plain]"},
	} {
		f := notebook.Fold{Limits: notebook.Limits{Data: 999}}
		add(t, &f, stdout("a"), message{"display_data", test.content}, stdout("b"))
		outputs := f.Outputs()
		text, _ := outputs[1].Data["text/plain"].(string)
		if !strings.Contains(text, test.want) || !strings.HasPrefix(text, "[note: a ") || strings.ContainsAny(text, "\r\n") {
			t.Errorf("%s: text is %q", name, text)
		}
		want := []notebook.Output{streamed("stdout", "a"), data("text/plain", text), streamed("stdout", "b")}
		same(t, name, want, outputs, sameOutputs)
	}
}

// TestCellIsBounded shows more than the limit of a cell: each display is still an
// output, and what is printed last is still shown.
func TestCellIsBounded(t *testing.T) {
	f := notebook.Fold{Limits: notebook.Limits{Cell: 10_000}}
	figure := picture(3000, "")
	for range 5 {
		add(t, &f, figure)
	}
	for i := range 3000 {
		add(t, &f, stdout(fmt.Sprintf("out %d\n", i)), stderr(fmt.Sprintf("err %d\n", i)))
	}
	failure := message{"error", `{"ename": "E", "evalue": "a\nb", "traceback": ["l1", "l2"]}`}
	add(t, &f, display("display_data", "small", ""), failure, stdout("the answer is 42\n"))
	outputs := f.Outputs()
	for i, o := range outputs[:5] {
		if _, has := o.Data["image/png"]; has != (i < 2) || o.Type != notebook.DisplayData {
			t.Errorf("display %d shows %v", i, o.Data)
		}
	}
	same(t, "the error", failed("E", "a\nb", "l1", "l2"), outputs[len(outputs)-1])
	total, streams := 0, map[string]string{}
	for _, o := range outputs {
		total += len(o.Text)
		streams[o.Name] = o.Text
	}
	if total > 4*8192 {
		t.Errorf("the streams take %d bytes", total)
	}
	if last := streams["stdout"]; !strings.HasSuffix(last, "\nout 2999\nthe answer is 42\n") || !strings.Contains(last, "are left out here]") {
		t.Errorf("stdout ends with %q", last[max(0, len(last)-100):])
	}
}

func TestLargeError(t *testing.T) {
	f := notebook.Fold{Limits: notebook.Limits{Stream: 10_000}}
	var traceback []string
	for i := range 10_000 {
		traceback = append(traceback, fmt.Sprint("line ", i))
	}
	traceback = append(traceback, "ValueError: the end")
	add(t, &f, made("error", map[string]any{"ename": "ValueError", "evalue": strings.Repeat("x\n", 5000), "traceback": traceback}))
	got := f.Outputs()[0]
	if got.Type != notebook.ErrorOutput || got.EName != "ValueError" || len(got.EValue) > 300 || !strings.HasPrefix(got.EValue, "x x x") {
		t.Errorf("the error is %s: %s", got.EName, got.EValue)
	}
	text := got.PlainText()
	if len(text) > 10_100 || !strings.HasPrefix(text, "line 0\n") || !strings.HasSuffix(text, "\nValueError: the end") ||
		!strings.Contains(text, "\n[note: 88.9 kB of 98.9 kB are left out here]\nline ") {
		t.Errorf("the traceback is %s", text)
	}
}

// TestManyOutputs: outputs past the maximum number are only counted.
func TestManyOutputs(t *testing.T) {
	var f notebook.Fold
	for range 10_003 {
		add(t, &f, display("display_data", "x", ""))
	}
	beyond := streamed("stderr", "[note: 3 more outputs are left out]\n")
	same(t, "beyond", []notebook.Output{beyond}, f.Outputs()[10_000:])
}

func TestNote(t *testing.T) {
	f := notebook.Fold{Limits: notebook.Limits{Stream: 8, Cell: 8}}
	add(t, &f, stderr("a"))
	f.Note("output may be incomplete")
	add(t, &f, stderr("b"), clearNext)
	f.Note("again")
	a, b, c := streamed("stderr", "a"), streamed("stderr", "b"), streamed("stderr", "c")
	note := streamed("stderr", "note: output may be incomplete\n")
	again := streamed("stderr", "note: again\n")
	same(t, "notes", []notebook.Output{a, note, b, again}, f.Outputs())
	add(t, &f, stderr("c"))
	same(t, "after a clear", []notebook.Output{note, again, c}, f.Outputs())
}

func TestUpdates(t *testing.T) {
	f := notebook.Fold{Limits: notebook.Limits{Data: 100}}
	large := picture(1000, "1")
	add(t, &f, large, display("update_display_data", "b", "2"), display("display_data", "x", ""), display("update_display_data", "y", "1"),
		clearNow, display("execute_result", "c", "3"), display("update_display_data", "b2", "2"))
	want := []notebook.Output{shown("y"), shown("b2"), shown("c")}
	for i, id := range []string{"1", "2", "3"} {
		want[i].DisplayID = id
	}
	same(t, "updates", want, f.Updates())
	large.kind = "update_display_data"
	add(t, &f, large)
	if text := f.Updates()[0].PlainText(); !strings.HasSuffix(text, "is left out here: image/png, text/plain]") {
		t.Errorf("a large update is %q", text)
	}
	if text, err := json.Marshal(f.Outputs()[0]); err != nil || strings.Contains(string(text), "isplay_id") || strings.Contains(string(text), "isplayID") {
		t.Errorf("an output is encoded as %s, %v", text, err)
	}
}

// TestUpdatesAreBounded shows and clears many displays, like an animation: the last one
// is shown, whatever came before.
func TestUpdatesAreBounded(t *testing.T) {
	f := notebook.Fold{Limits: notebook.Limits{Cell: 10_000}}
	for i := range 100 {
		figure := picture(1000, fmt.Sprint(i))
		add(t, &f, clearNext, figure)
	}
	outputs := f.Outputs()
	if _, has := outputs[len(outputs)-1].Data["image/png"]; !has || len(outputs) != 2 {
		t.Errorf("outputs are %v", outputs)
	}
	same(t, "the note", "note: what this cell changed in displays of earlier cells may be incomplete\n", outputs[0].Text)
	if n := len(f.Updates()); n < 1 || n > 8 {
		t.Errorf("%d updates are kept", n)
	}
}

func TestObserve(t *testing.T) {
	f := notebook.Fold{Limits: notebook.Limits{Stream: 8, Data: 1, Cell: 10}}
	var seen []notebook.Output
	f.Observe = func(o notebook.Output) { seen = append(seen, o) }
	long := strings.Repeat("long ", 10)
	add(t, &f, stdout("a"), stdout(long), display("display_data", "x", "1"), display("update_display_data", "y", "1"), clearNow,
		display("execute_result", long, ""), message{"error", `{"ename": "E", "evalue": "v", "traceback": ["t"]}`}, message{"status", `{}`})
	f.Note("n")
	if err := f.Add("stream", json.RawMessage(`{"name": 1}`)); err == nil {
		t.Error("there is no error")
	}
	x, y := shown("x"), shown("y")
	x.DisplayID, y.DisplayID = "1", "1"
	want := []notebook.Output{streamed("stdout", "a"), streamed("stdout", long), x, y, result(long),
		failed("E", "v", "t"), streamed("stderr", "note: n\n")}
	same(t, "seen", want, seen)
}
