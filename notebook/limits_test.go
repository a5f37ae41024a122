package notebook_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dsstar/notebook"
)

// folder returns a folder for what a Fold leaves out, and its path.
func folder(t testing.TB) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

// files returns the files of a folder by name.
func files(t interface{ Fatal(...any) }, dir string) map[string]string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

// opened returns a function that opens the folder of root again on each call.
func opened(root *os.Root) func() (*os.Root, error) {
	return func() (*os.Root, error) { return root.OpenRoot(".") }
}

// newFold returns a Fold that keeps what it leaves out, and the folder's path.
func newFold(t testing.TB, limits notebook.Limits) (*notebook.Fold, string) {
	t.Helper()
	root, dir := folder(t)
	f := &notebook.Fold{Limits: limits, Folder: opened(root), Prefix: "cell-3", ShownAs: "files/outputs"}
	t.Cleanup(func() { f.Close() })
	return f, dir
}

func closeFold(t testing.TB, f *notebook.Fold) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// terminal returns how a terminal shows the text of a stream. It is simpler than
// overstrike: it works line by line, with regular expressions, on the whole text.
func terminal(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = returns.ReplaceAllString(line, "\r") // there is nothing to take back
		end := ""
		if strings.HasSuffix(line, "\r") {
			line, end = line[:len(line)-1], "\r"
		}
		line = line[strings.LastIndexByte(line, '\r')+1:]
		for before := ""; before != line; {
			before, line = line, backspace.ReplaceAllString(line, "")
		}
		lines[i] = strings.TrimLeft(line, "\b") + end
	}
	return strings.Join(lines, "\n")
}

var (
	returns   = regexp.MustCompile(`\r\x08+`)
	backspace = regexp.MustCompile(`[^\x08]\x08`)
)

var left = regexp.MustCompile(`\n?\[note: [^\n]* are left out here; all of it is in files/outputs/cell-3-stdout.txt\]\n`)

// TestStreamInPieces holds for any text, pieces and limit: uncut text looks as on a terminal.
// Cut text has the same beginning and end, and its file has every byte. Reading the outputs
// in between changes nothing.
func TestStreamInPieces(t *testing.T) {
	root, dir := folder(t)
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(8, 60).Draw(rt, "limit")
		pieces := rapid.SliceOfN(rapid.StringMatching(`[aé🎉\r\n\x08]{0,30}`), 1, 12).Draw(rt, "pieces")
		all := strings.Join(pieces, "")
		f := notebook.Fold{Limits: notebook.Limits{Stream: limit}, Folder: opened(root), Prefix: "cell-3", ShownAs: "files/outputs"}
		asked := f
		for _, piece := range pieces {
			add(t, &f, stdout(piece))
		}
		if err := f.Close(); err != nil {
			rt.Fatal(err)
		}
		kept := files(rt, dir)
		_ = os.Remove(filepath.Join(dir, "cell-3-stdout.txt"))
		got, want := f.Outputs()[0].Text, terminal(all)
		if !utf8.ValidString(got) {
			rt.Errorf("a character is cut: %q", got)
		}
		note := left.FindStringIndex(got)
		if note == nil {
			if got != want || len(kept) > 0 {
				rt.Fatalf("shows %q and keeps %q\nwant  %q", got, kept, want)
			}
			return
		}
		if len(all) <= limit&^1 || len(got)-(note[1]-note[0]) > limit { // half of it stays at each end
			rt.Errorf("limit is %d; of %d bytes it shows %q", limit, len(all), got)
		}
		if !strings.ContainsAny(all, "\r\b") && (!strings.HasPrefix(want, got[:note[0]]) || !strings.HasSuffix(want, got[note[1]:])) {
			rt.Errorf("shows %q\nof    %q", got, want)
		}
		if diff := cmp.Diff(map[string]string{"cell-3-stdout.txt": all}, kept); diff != "" {
			rt.Error(diff)
		}
		for _, piece := range pieces {
			add(t, &asked, stdout(piece))
			asked.Outputs()
		}
		asked.Close()
		_ = os.Remove(filepath.Join(dir, "cell-3-stdout.txt"))
		if again := asked.Outputs()[0].Text; again != got {
			rt.Errorf("asked on the way: %q\nelse:             %q", again, got)
		}
	})
}

// TestProgressBar rewrites one line with more text than the limit: its last state is
// shown, and nothing is left out.
func TestProgressBar(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Stream: 1000})
	for i := range 20_000 {
		add(t, f, stderr(fmt.Sprintf("\r%3d%% of it", i/200)))
	}
	closeFold(t, f)
	if diff := cmp.Diff([]notebook.Output{streamed("stderr", " 99% of it")}, f.Outputs()); diff != "" {
		t.Error(diff)
	}
	if kept := files(t, dir); len(kept) > 0 {
		t.Errorf("files are left: %d", len(kept))
	}
}

func TestStreamWithoutFile(t *testing.T) {
	text := numbered(1000)
	limits := notebook.Limits{Stream: 100, File: 3000}
	full, dir := newFold(t, limits)
	gone, _ := newFold(t, limits)
	gone.Folder = func() (*os.Root, error) { return nil, os.ErrClosed }
	for _, test := range []struct {
		name string
		fold *notebook.Fold
		want string
	}{
		{"no folder", &notebook.Fold{Limits: limits}, "it is not kept]"},
		{"too long", full, "the first 3.0 kB are in files/outputs/cell-3-stdout.txt, the rest is not kept: the files of one cell may have 3.0 kB]"},
		{"closed folder", gone, "it is not kept: file already closed]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, line := range strings.SplitAfter(text, "\n") {
				add(t, test.fold, stdout(line))
			}
			add(t, test.fold, stderr("after\n"))
			closeFold(t, test.fold)
			outputs := test.fold.Outputs()
			got := outputs[0].Text
			if !strings.Contains(got, "\n[note: 8.8 kB of 8.9 kB are left out here; "+test.want+"\n") || strings.Count(got, "[note") != 1 {
				t.Error(got)
			}
			if !strings.HasPrefix(got, "line 0\n") || !strings.HasSuffix(got, "line 999\n") {
				t.Error(got)
			}
			if diff := cmp.Diff([]notebook.Output{streamed("stderr", "after\n")}, outputs[1:]); diff != "" {
				t.Error(diff)
			}
		})
	}
	if diff := cmp.Diff(map[string]string{"cell-3-stdout.txt": text[:3000]}, files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// TestFilesAreOurs: a cell guessed the names of files and put links there.
func TestFilesAreOurs(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Stream: 100})
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"cell-3-stdout.txt": victim, "cell-3-stdout-2.txt": victim + "-to-be", "cell-3-stdout-3.txt": "cell-3-stdout-4.txt"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("links cannot be made here: ", err) // Windows without the right to
		}
	}
	add(t, f, stdout(numbered(100)), stderr("x"), stdout(numbered(50)))
	closeFold(t, f)
	for i, want := range map[int]string{0: "cell-3-stdout-4.txt", 2: "cell-3-stdout-5.txt"} {
		if got := f.Outputs()[i].Text; !strings.Contains(got, "all of it is in files/outputs/"+want+"]\n") {
			t.Error(got)
		}
	}
	if data, _ := os.ReadFile(victim); string(data) != "precious" {
		t.Errorf("the link was followed: %q", data)
	}
	if _, err := os.Lstat(victim + "-to-be"); err == nil {
		t.Error("the dangling link was followed")
	}
	for name, want := range map[string]string{"cell-3-stdout-4.txt": numbered(100), "cell-3-stdout-5.txt": numbered(50)} {
		if data, _ := os.ReadFile(filepath.Join(dir, name)); string(data) != want {
			t.Errorf("%s is %q", name, data)
		}
	}
}

// picture is a display_data message with a PNG of n bytes.
func picture(n int, id string) (message, string) {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("p", n-8)
	content, _ := json.Marshal(map[string]any{
		"data":      map[string]any{"image/png": base64.StdEncoding.EncodeToString([]byte(png)) + "\n", "text/plain": "<Figure>"},
		"metadata":  map[string]any{"image/png": map[string]any{"width": 640}},
		"transient": map[string]any{"display_id": id},
	})
	return message{"display_data", string(content)}, png
}

func TestLargeDisplays(t *testing.T) {
	figure, png := picture(1000, "")
	html := strings.Repeat("<i>\n</i>", 200)
	lines, _ := json.Marshal(map[string]any{"data": map[string]any{"text/html": strings.SplitAfter(html, "\n")}})
	table := `{"data": [` + strings.Repeat("1, ", 500) + `1.0]}`
	for _, test := range []struct {
		name, kind, content, want, file, kept string
	}{
		{"picture", "display_data", figure.content, "[note: a display of 1.4 kB is left out here; its image/png is in files/outputs/cell-3-display.png]", "cell-3-display.png", png},
		{"HTML in lines", "execute_result", string(lines), "[note: a result of 6.4 kB is left out here; its text/html is in files/outputs/cell-3-result.html.txt]", "cell-3-result.html.txt", html},
		{"JSON", "display_data", `{"data": {"application/vnd.x+json": ` + table + `}}`, "its application/vnd.x+json is in", "cell-3-display.json", table},
		{"text", "display_data", `{"data": {"text/plain": "` + strings.Repeat("é", 1000) + `"}}`, "", "cell-3-display.txt", strings.Repeat("é", 1000)},
		{"SVG", "display_data", `{"data": {"image/svg+xml": "` + strings.Repeat("<g>", 1000) + `"}}`, "", "cell-3-display.svg.txt", strings.Repeat("<g>", 1000)},
		{"JPEG that is not base64", "display_data", `{"data": {"image/jpeg": "` + strings.Repeat("<g>", 1000) + `"}}`, "its image/jpeg is in", "cell-3-display.txt", strings.Repeat("<g>", 1000)},
		{"text that is an object", "display_data", `{"data": {"text/plain": ` + table + `}}`, "", "cell-3-display.json", table},
		{"unknown type", "display_data", `{"data": {"a\nb/../` + strings.Repeat("x", 300) + `": "` + strings.Repeat("YWJj", 300) + `"}}`, "its a b/../xxx", "cell-3-display.bin", strings.Repeat("abc", 300)},
		{"metadata", "display_data", `{"data": {"text/plain": "x"}, "metadata": {"x": "` + strings.Repeat("x", 1000) + `"}}`, "a display of 1.0 kB is left out here; its text/plain", "cell-3-display.txt", "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, dir := newFold(t, notebook.Limits{Data: 999})
			add(t, f, stdout("a"), message{test.kind, test.content}, stdout("b"))
			closeFold(t, f)
			outputs := f.Outputs()
			if len(outputs) != 3 || string(outputs[1].Type) != test.kind || len(outputs[1].Data) != 1 || len(outputs[1].Metadata) != 0 {
				t.Fatalf("outputs are %v", outputs)
			}
			text, _ := outputs[1].Data["text/plain"].(string)
			if !strings.Contains(text, test.want) || !strings.HasPrefix(text, "[note: a ") || strings.ContainsAny(text, "\r\n") {
				t.Errorf("text is %q", text)
			}
			if diff := cmp.Diff(map[string]string{test.file: test.kept}, files(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCellIsBounded shows more than the limit of a cell: each display is still an
// output, and what is printed last is still shown.
func TestCellIsBounded(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Cell: 10_000})
	figure, png := picture(3000, "")
	for range 5 {
		add(t, f, figure)
	}
	for i := range 3000 {
		add(t, f, stdout(fmt.Sprintf("out %d\n", i)), stderr(fmt.Sprintf("err %d\n", i)))
	}
	failure := message{"error", `{"ename": "E", "evalue": "a\nb", "traceback": ["l1", "l2"]}`}
	add(t, f, display("display_data", "small", ""), failure, stdout("the answer is 42\n"))
	closeFold(t, f)
	outputs := f.Outputs()
	for i, o := range outputs[:5] {
		if _, has := o.Data["image/png"]; has != (i < 2) || o.Type != notebook.DisplayData {
			t.Errorf("display %d shows %v", i, o.Data)
		}
	}
	kept := files(t, dir)
	if kept["cell-3-display.png"] != png || kept["cell-3-display-2.png"] != png || kept["cell-3-display-3.png"] != png {
		t.Errorf("the pictures are not all kept")
	}
	if got := outputs[len(outputs)-1]; !cmp.Equal(got.Traceback, []string{"l1", "l2"}) || got.EValue != "a\nb" {
		t.Errorf("the error is %v", got)
	}
	total, streams := 0, map[string]string{}
	for _, o := range outputs {
		total += len(o.Text)
		streams[o.Name] = o.Text
	}
	if total > 4*8192 {
		t.Errorf("the streams take %d bytes", total)
	}
	if last := streams["stdout"]; !strings.HasSuffix(last, "\nout 2999\nthe answer is 42\n") || !strings.Contains(last, "are left out here; all of it is in files/outputs/cell-3-stdout.txt]") {
		t.Errorf("stdout ends with %q", last[max(0, len(last)-100):])
	}
	if whole := kept["cell-3-stdout.txt"]; strings.Count(whole, "\n") < 2500 || !strings.HasSuffix(whole, "\nout 2998\nout 2999\nthe answer is 42\n") {
		t.Errorf("the file of stdout ends with %q", whole[max(0, len(whole)-100):])
	}
	add(t, f, clearNow, stdout("a"), stderr("b"), stdout("c"))
	if diff := cmp.Diff([]notebook.Output{streamed("stdout", "a"), streamed("stderr", "b"), streamed("stdout", "c")}, f.Outputs()); diff != "" {
		t.Errorf("after a clear:\n%s", diff)
	}
	if last := streams["stderr"]; !strings.HasSuffix(last, "\nerr 2999\n") || !strings.Contains(last, "are left out here") {
		t.Errorf("stderr ends with %q", last[max(0, len(last)-100):])
	}
}

func TestLargeError(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Data: 50_000})
	traceback := append(strings.Split(numbered(10_000), "\n"), "ValueError: the end")
	content, _ := json.Marshal(map[string]any{"ename": "ValueError", "evalue": strings.Repeat("x\n", 5000), "traceback": traceback})
	add(t, f, message{"error", string(content)})
	closeFold(t, f)
	got := f.Outputs()[0]
	if got.Type != notebook.ErrorOutput || got.EName != "ValueError" || len(got.EValue) > 300 || !strings.HasPrefix(got.EValue, "x x x") {
		t.Errorf("the error is %s: %s", got.EName, got.EValue)
	}
	text := got.PlainText()
	if len(text) > 10_000 || !strings.HasPrefix(text, "line 0\n") || !strings.HasSuffix(text, "\nValueError: the end") ||
		!strings.Contains(text, "\n[note: an error of 98.9 kB is shortened here; all of it is in files/outputs/cell-3-error.txt]\nline ") {
		t.Errorf("the traceback is %s", text)
	}
	if whole := files(t, dir)["cell-3-error.txt"]; len(whole) < 108_000 || !strings.Contains(whole, "line 5000\n") {
		t.Errorf("the file has %d bytes", len(whole))
	}
}

// TestManyOutputs: outputs past the maximum number are only counted.
func TestManyOutputs(t *testing.T) {
	f := notebook.Fold{Limits: notebook.Limits{Data: 10}}
	m := display("display_data", "longer than that", "")
	for range 30_000 {
		add(t, &f, m)
	}
	outputs := f.Outputs()
	last := outputs[len(outputs)-1]
	if diff := cmp.Diff(streamed("stderr", "[note: 20000 more outputs are left out and not kept]\n"), last); diff != "" || len(outputs) != 10_001 {
		t.Errorf("there are %d outputs; the last one:\n%s", len(outputs), diff)
	}
}

// TestFilesAreBounded: past the limit there are no empty files, and each output says so.
func TestFilesAreBounded(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Data: 100, File: 1500})
	figure, png := picture(1000, "")
	add(t, f, figure, figure, figure)
	for i, want := range []string{
		"its image/png is in files/outputs/cell-3-display.png]",
		"the first 500 bytes are in files/outputs/cell-3-display-2.png, the rest is not kept: the files of one cell may have 1.5 kB]",
		"it is not kept: the files of one cell may have 1.5 kB]",
	} {
		if got := f.Outputs()[i].PlainText(); !strings.HasSuffix(got, "is left out here; "+want) {
			t.Error(got)
		}
	}
	if diff := cmp.Diff(map[string]string{"cell-3-display.png": png, "cell-3-display-2.png": png[:500]}, files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestClearRemovesFiles(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Stream: 100, Data: 100, File: 10_000})
	figure, _ := picture(1000, "")
	for range 50 { // what is removed does not count any more
		add(t, f, stdout(numbered(100)), figure, stdout(numbered(200)), clearNext)
	}
	add(t, f, stdout(numbered(50)))
	closeFold(t, f)
	if kept := files(t, dir); len(kept) != 1 {
		t.Errorf("there are %d files", len(kept))
	}
	if got := f.Outputs(); len(got) != 1 || !strings.Contains(got[0].Text, "; all of it is in ") {
		t.Errorf("outputs are %v", got)
	}
}

func TestNote(t *testing.T) {
	f := notebook.Fold{Limits: notebook.Limits{Stream: 8, Cell: 8}}
	add(t, &f, stderr("a"))
	f.Note("output may be incomplete")
	add(t, &f, stderr("b"), clearNext)
	f.Note("again")
	note := func(text string) notebook.Output { return streamed("stderr", "note: "+text+"\n") }
	want := []notebook.Output{streamed("stderr", "a"), note("output may be incomplete"), streamed("stderr", "b"), note("again")}
	if diff := cmp.Diff(want, f.Outputs()); diff != "" {
		t.Error(diff)
	}
	add(t, &f, stderr("c"))
	want = []notebook.Output{note("output may be incomplete"), note("again"), streamed("stderr", "c")}
	if diff := cmp.Diff(want, f.Outputs()); diff != "" {
		t.Errorf("after a clear:\n%s", diff)
	}
}

func TestUpdates(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Data: 100})
	large, png := picture(1000, "1")
	add(t, f, large, display("update_display_data", "b", "2"), display("display_data", "x", ""), display("update_display_data", "y", "1"),
		clearNow, display("execute_result", "c", "3"), display("update_display_data", "b2", "2"))
	want := []notebook.Output{shown("y"), shown("b2"), shown("c")}
	for i, id := range []string{"1", "2", "3"} {
		want[i].DisplayID = id
	}
	if diff := cmp.Diff(want, f.Updates()); diff != "" {
		t.Error(diff)
	}
	if kept := files(t, dir); len(kept) != 0 {
		t.Errorf("the file of replaced data is left: %d", len(kept))
	}
	large.kind = "update_display_data"
	add(t, f, large)
	if text := f.Updates()[0].PlainText(); !strings.HasSuffix(text, "its image/png is in files/outputs/cell-3-display-2.png]") || files(t, dir)["cell-3-display-2.png"] != png {
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
		figure, _ := picture(1000, fmt.Sprint(i))
		add(t, &f, clearNext, figure)
	}
	outputs := f.Outputs()
	if _, has := outputs[len(outputs)-1].Data["image/png"]; !has || len(outputs) != 2 {
		t.Errorf("outputs are %v", outputs)
	}
	if text := outputs[0].Text; text != "note: what this cell changed in displays of earlier cells may be incomplete\n" {
		t.Errorf("the note is %q", text)
	}
	if n := len(f.Updates()); n < 5 || n > 8 {
		t.Errorf("%d updates are kept", n)
	}

	f = notebook.Fold{Limits: notebook.Limits{Cell: 10_000}}
	figure, _ := picture(1000, "0")
	add(t, &f, display("update_display_data", "x", "0"), figure)
	for i := range 100 {
		figure, _ := picture(1000, fmt.Sprint(i+1))
		figure.kind = "update_display_data"
		add(t, &f, figure)
	}
	updates := f.Updates()
	if n := len(updates); n < 5 || n > 8 || updates[0].DisplayID != "0" || updates[n-1].DisplayID != "100" || updates[n-1].Data["image/png"] == nil {
		t.Errorf("%d updates are kept: %v", n, updates)
	}
}

// TestUpdateMakesRoom: an update that is too large replaces data at the limit and frees its room.
func TestUpdateMakesRoom(t *testing.T) {
	f := notebook.Fold{Limits: notebook.Limits{Cell: 3200, Data: 2000}}
	full, _ := picture(1400, "1")
	large, _ := picture(3000, "1")
	large.kind = "update_display_data"
	add(t, &f, full, large, full)
	other, _ := picture(800, "2")
	add(t, &f, other)
	for i, o := range f.Outputs() {
		if o.Data["image/png"] == nil {
			t.Errorf("output %d shows %v", i, o.Data)
		}
	}
	add(t, &f, large, display("display_data", strings.Repeat("x", 900), ""))
	if o := f.Outputs()[3]; len(o.PlainText()) != 900 {
		t.Errorf("the last output shows %v", o.Data)
	}
}

func TestRedisplay(t *testing.T) {
	outputs := []notebook.Output{shown("a"), shown("b"), result("c"), streamed("stdout", "d")}
	outputs[1].DisplayID, outputs[2].DisplayID = "1", "1"
	update := shown("new")
	if notebook.Redisplay(outputs, update) {
		t.Error("an update without an id changes something")
	}
	update.DisplayID = "2"
	if notebook.Redisplay(outputs, update) {
		t.Error("an update of another id changes something")
	}
	update.DisplayID = "1"
	if !notebook.Redisplay(outputs, update) {
		t.Error("an update changes nothing")
	}
	if diff := cmp.Diff([]notebook.Output{shown("a"), shown("new"), result("new"), streamed("stdout", "d")}, outputs, sameOutputs); diff != "" {
		t.Error(diff)
	}
}

func TestObserve(t *testing.T) {
	f, _ := newFold(t, notebook.Limits{Stream: 8, Data: 1, Cell: 10})
	var seen []notebook.Output
	f.Observe = func(o notebook.Output) { seen = append(seen, o) }
	long := strings.Repeat("long ", 10)
	add(t, f, stdout("a"), stdout(long), display("display_data", "x", "1"), display("update_display_data", "y", "1"), clearNow,
		display("execute_result", long, ""), message{"error", `{"ename": "E", "evalue": "v", "traceback": ["t"]}`}, message{"status", `{}`})
	f.Note("n")
	if err := f.Add("stream", json.RawMessage(`{"name": 1}`)); err == nil {
		t.Error("there is no error")
	}
	x, y := shown("x"), shown("y")
	x.DisplayID, y.DisplayID = "1", "1"
	want := []notebook.Output{streamed("stdout", "a"), streamed("stdout", long), x, y, result(long),
		{Type: notebook.ErrorOutput, EName: "E", EValue: "v", Traceback: []string{"t"}}, streamed("stderr", "note: n\n")}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

// TestLateMessages: after Close nothing is written, and outputs do not claim that a file
// has what it lacks.
func TestLateMessages(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Stream: 1000})
	add(t, f, stdout(numbered(1000)))
	closeFold(t, f)
	before := files(t, dir)
	add(t, f, stdout("late\n"))
	closeFold(t, f)
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Error(diff)
	}
	if got := f.Outputs()[0].Text; !strings.Contains(got, "the first 8.9 kB are in files/outputs/cell-3-stdout.txt, the rest is not kept: it arrived after the cell ended]") ||
		!strings.HasSuffix(got, "late\n") {
		t.Error(got)
	}
}

// flood adds n bytes of stdout in messages of the given size, and returns the maximum size of
// the heap in bytes, including one message.
func flood(t *testing.T, f *notebook.Fold, n, size int) uint64 {
	text := strings.Repeat("one line of a long loop\n", size/24)
	content := json.RawMessage(stdout(text).content)
	runtime.GC() // what other tests have left is not counted
	var m runtime.MemStats
	peak := uint64(0)
	for sent := 0; sent < n; sent += len(text) {
		if err := f.Add("stream", content); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	}
	return peak
}

// TestFloodIsBounded: 60 MB in messages of 20 MB need the memory of only a few messages.
func TestFloodIsBounded(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{})
	if peak := flood(t, f, 60_000_000, 20_000_000); peak > 160_000_000 {
		t.Errorf("the heap has %d bytes", peak)
	}
	closeFold(t, f)
	if n := len(f.Outputs()[0].Text); n > 1<<20+200 || n < 1<<19 {
		t.Errorf("%d bytes are shown", n)
	}
	if info, err := os.Stat(filepath.Join(dir, "cell-3-stdout.txt")); err != nil || info.Size() < 60_000_000 {
		t.Errorf("the file: %v, %v", info, err)
	}
}
