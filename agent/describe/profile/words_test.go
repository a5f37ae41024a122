package profile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/describe"
)

// told is what a question is told of a file with some content.
type told struct {
	name, content, question string
	chars                   int
	shown, not              []string
}

func tell(t *testing.T, cases []told) {
	t.Helper()
	dir := t.TempDir()
	p := start(t, dir)
	for _, c := range cases {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		text := p.profile(t, path).Text(c.question, c.chars, describe.ByWords)
		if len(text) > c.chars+100 {
			t.Errorf("%s: %d bytes, more than %d", c.name, len(text), c.chars)
		}
		for _, want := range c.shown {
			if !strings.Contains(text, want) {
				t.Errorf("%s, %q: %q is missing in\n%s", c.name, c.question, want, text)
			}
		}
		for _, want := range c.not {
			if strings.Contains(text, want) {
				t.Errorf("%s, %q: %q is in\n%s", c.name, c.question, want, text)
			}
		}
	}
}

// Figures have all their digits, or are said to be rounded.
func TestFigures(t *testing.T) {
	tell(t, []told{
		{"long.csv", "n,x\n1234567,0.12345678\n7654321,2.5\n2222222,3.5\n" + strings.Repeat("3333333,1\n", 300), "",
			4000, []string{"1234567 to 7654321", "0.12345678 to 3.5"}, nil},
		{"thirds.csv", "n,x\n" + strings.Repeat("1,0.3333333333333333\n2,7.1\n3,1\n4,2\n", 100), "",
			4000, []string{"about 0.333333 to 7.1"}, nil},
	})
}

// Times, ranks and shares agree by chance: no column of another file is a key of theirs.
func TestMayRefer(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	text := "Year,Rank,share %,made,id\n"
	for n := range 50 {
		text += fmt.Sprintf("%d,%d,%d,%d,%d\n", 1970+n, n+1, n, 1950+n, 100*n)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range start(t, dir).profile(t, path).Tables[0].Columns {
		if may := len(c.Sketch) > 0; may != (c.Name == "id") {
			t.Errorf("%s may be a key: %v", c.Name, may)
		}
	}
}
