package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook"
)

// obeyed holds sequences that terminals obey: the clipboard (OSC 52), a title, a link, C1's CSI, a
// device control string, a query, and characters that change the writing direction.
const obeyed = "\x1b]52;c;ZXZpbA==\x07\x1b]0;title\x1b\\\x1b]8;;http://x\x07\u009b31m\u009d52;c;ZQ==\u009c\x1bP$q\x1b\\\x1b[6n\x1bc\x07\x7f\u202e\u2066\u200f\U000e0041"

// checkObeys checks that text contains nothing that terminals obey.
func checkObeys(t testing.TB, what, text string) {
	t.Helper()
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || ui.Turns(r) || r == '\ufffd' {
			t.Errorf("%s: %U is in %q", what, r, text)
			return
		}
	}
}

func TestCleanWriter(t *testing.T) {
	const text = "a" + obeyed + "é\x1b[31mred\x1b[0m\x1b[2A\x1b[K b\r\bc\n数👩\u200d🔬\t|"
	for _, size := range []int{1, 2, 3, 7, len(text)} {
		var out, err bytes.Buffer
		a := &app{stdout: &out, stderr: &err}
		a.cleaned()
		a.cleaned() // calling it again changes nothing
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			for _, w := range []interface{ Write([]byte) (int, error) }{a.stdout, a.stderr} {
				if m, e := w.Write(rest[:n]); m != n || e != nil {
					t.Fatal(m, e)
				}
			}
			rest = rest[n:]
		}
		checkObeys(t, "stdout", out.String())
		if want := "aéred bc\n数👩\u200d🔬\t|"; out.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
		if want := "a\x1b[31mé\x1b[31mred\x1b[0m\x1b[2A\x1b[K b\r\bc\n数👩\u200d🔬\t|"; err.String() != want {
			t.Errorf("stderr in pieces of %d: %q, want %q", size, err.String(), want)
		}
	}
}

// TestPrintedJSON: JSON keeps its values byte for byte, and contains nothing that terminals obey.
func TestPrintedJSON(t *testing.T) {
	var b bytes.Buffer
	noError(t, ui.JSON(&b, obeyed))
	checkObeys(t, "JSON", b.String())
	var back string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != obeyed {
		t.Errorf("%v: %q", err, back)
	}
}

// TestPrinted passes names and contents that terminals would obey to commands that print them.
func TestPrinted(t *testing.T) {
	t.Parallel()
	nb := &notebook.Notebook{
		Cells: []notebook.Cell{text("t", "# x"+obeyed), code("c", "x = 1 # "+obeyed,
			notebook.Output{Type: notebook.Stream, Name: "stdout", Text: obeyed})},
	}
	path := filepath.Join(t.TempDir(), "n"+strings.ReplaceAll(obeyed, "/", "")+".ipynb")
	noError(t, nb.Save(path))
	for _, args := range [][]string{{"export", path}, {"export", "--to", "script", "-o", "-", path}, {"export", "--to", "md", "-o", "-", path},
		{"export", path + "no"}, {"export", "--to", obeyed, path}, {"nb", "--data", obeyed, "q"}, {"resume", path}, {obeyed}, {"nb", "--" + obeyed}} {
		a, stdout, stderr := testApp(t)
		a.stdoutTTY = true
		a.run(t.Context(), args)
		checkObeys(t, strings.Join(args, " "), stdout.String()+stderr.String())
	}
	a, stdout, _ := testApp(t)
	if code := a.run(t.Context(), []string{"export", "--to", "script", "-o", "-", path}); code != 0 ||
		!strings.Contains(stdout.String(), obeyed) {
		t.Errorf("a script that goes to no terminal is not as it is: %d %q", code, stdout)
	}
}
