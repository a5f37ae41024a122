package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// An Answer is what a derivation gives: words, and the files that it names or that are asked for.
type Answer struct {
	Words string
	Files []File
}

// A File is one of an [Answer].
type File struct {
	Name   string `json:"name"`
	Digest string `json:"digest,omitempty"` // "": it was not written
	// in UTF-8: its own, or of a file that is none what it holds; "" if it is longer than maxText,
	// or not known
	Text string `json:"text,omitempty"`
}

// maxText is the size in bytes up to which the text of a file is compared.
const maxText = 1 << 20

var (
	textTables = []string{".csv", ".tsv", ".tab"}
	tables     = []string{".xlsx", ".parquet", ".feather", ".pickle", ".pkl"}
	drawings   = []string{".png", ".jpg", ".jpeg", ".svg", ".pdf", ".webp", ".eps", ".tif", ".tiff"}
)

// IsTold reports whether only the program that has written a file can say what it holds: cells of a
// table, or what a drawing shows.
func IsTold(name string) bool {
	return has(tables, name) || has(drawings, name)
}

func has(extensions []string, name string) bool {
	return slices.Contains(extensions, strings.ToLower(path.Ext(name)))
}

// ReadFile reads a file of an answer. Text that is not UTF-8 is taken for Windows-1252. The text of
// what is to be looked at is markup, which says nothing, and left out.
func ReadFile(name string, content io.Reader) (File, error) {
	digest := sha256.New()
	text, err := io.ReadAll(io.LimitReader(io.TeeReader(content, digest), maxText+1))
	if err == nil {
		_, err = io.Copy(digest, content)
	}
	f := File{Name: name, Digest: hex.EncodeToString(digest.Sum(nil))}
	isMarkup := IsTold(name) || has([]string{".html", ".htm"}, name)
	if err != nil || isMarkup || len(text) > maxText || bytes.IndexByte(text, 0) >= 0 {
		return f, err
	}
	if !utf8.Valid(text) {
		text, err = charmap.Windows1252.NewDecoder().Bytes(text)
	}
	f.Text = string(text)
	return f, err
}

// Asked is what question and form say of an answer.
type Asked struct {
	Words    string // of question and form: a label that stands there adds nothing to its value
	Decimals int    // of each number; 0: whole numbers; -1: not said
	Order    Order
	None     bool // the data hold no answer: all words for that are the same
}

// An Order says whether the order of items matters. Rows of a table and objects of a list may come
// in any order unless it is fixed, if their words or dates tell them apart.
type Order int

// The orders.
const (
	Unsaid Order = iota // the same items in another order are perhaps the same answer
	Names               // names may come in any order, and values may not
	Free                // all items may come in any order
	Fixed               // an order is asked for
)

// A Finding says whether two answers are the same.
type Finding struct {
	Sameness Sameness
	Why      string // in one line; "" for Same
}

// Sameness is what a program can say of two answers.
type Sameness int

// The degrees of sameness.
const (
	Same      Sameness = iota
	Unsure             // it cannot exclude that they mean the same
	Different          // they cannot mean the same
)

// and returns the worse of two findings.
func (f Finding) and(g Finding) Finding {
	if g.Sameness > f.Sameness {
		return g
	}
	return f
}

// under puts a name before the reason.
func (f Finding) under(name string) Finding {
	if f.Sameness != Same {
		f.Why = name + ": " + f.Why
	}
	return f
}

// A comparison compares the parts of two answers.
type comparison struct {
	asked  Asked
	common map[string]bool // texts that both have: two of them are not two words for one thing
}

// Answers compares two answers, words and files. Which is the first does not matter. These are the
// rules:
//
//   - Whole numbers are exact, and so are codes: a leading zero and the case of letters count.
//   - Decimals are rounded to those asked for. If none are, the shorter number must be the longer
//     one rounded, and within half a percent of it.
//   - Units and percent signs must be the same, also the letter case of short ones; a currency, or
//     what the question counts, may be missing on one side.
//   - Of words, letter case, spaces and outer quotes do not count.
//   - Yes is true; a date is its midnight, in the forms that nobody can mistake.
//   - Lists are compared in order, unless [Asked.Order] says otherwise; objects by their names;
//     tables by whole rows, and these by the names of columns.
//   - Files are compared as tables or trees, drawings by the data that they show, and others by
//     their bytes. A drawing without data is not even the same as itself.
func Answers(a, b Answer, asked Asked) Finding {
	c := comparison{asked: asked}
	found := c.words(a.besideFiles(), b.besideFiles())
	if len(a.Files) != len(b.Files) {
		return found.and(Finding{Unsure, fmt.Sprintf("%d files / %d", len(a.Files), len(b.Files))})
	}
	for i, f := range a.Files {
		found = found.and(c.files(f, b.Files[i]).under(f.Name))
	}
	return found
}

// fileMark stands in the words for the name of a file.
const fileMark = "\x02"

// besideFiles returns the words with a mark for the name of each file; the mark alone if they are
// nothing else.
func (a Answer) besideFiles() string {
	text := a.Words
	for _, f := range a.Files {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "./"+f.Name, fileMark), f.Name, fileMark)
	}
	if len(a.Files) > 0 && strings.Trim(text, fileMark+" \t\r\n,;.'\"`[]()") == "" {
		return fileMark
	}
	return strings.TrimSpace(text)
}

// words compares the words of two answers, also as lists that are split at every comma and "and".
func (c comparison) words(a, b string) Finding {
	switch {
	case a == b && a != "":
		return Finding{}
	case min(a, b) <= fileMark:
		return Finding{Unsure, "an answer has no words"}
	}
	a, b = cleaned(a), cleaned(b)
	x, y := parse(a), parse(b)
	found := c.wholes(x, y)
	if x, y = x.flat(a), y.flat(b); x.kind == list && y.kind == list {
		listed := c.wholes(x, y)
		isList := anAnd().MatchString(a+" "+b) && !strings.Contains(a+b, ": ")
		if listed.Sameness == Same || isList && listed.Sameness < found.Sameness {
			return listed
		}
	}
	return found
}

// blank is the text of a drawing that shows no data.
const blank = "{}"

func (c comparison) files(a, b File) Finding {
	switch {
	case a.Digest == "" && b.Digest == "":
		return Finding{Unsure, "neither derivation has written it"}
	case has(drawings, a.Name) && (a.Text == blank || b.Text == blank):
		return Finding{Different, "it shows no data"}
	case a.Digest == b.Digest:
		return Finding{}
	case a.Digest == "" || b.Digest == "":
		return Finding{Different, "only one derivation has written it"}
	case a.Text == "" || b.Text == "":
		return Finding{Unsure, "their bytes differ, and nothing else was compared"}
	}
	if has(drawings, a.Name) {
		return c.charts(parseFile(a), parseFile(b))
	}
	return c.wholes(parseFile(a), parseFile(b))
}

// wholes compares two answers, or two files.
func (c comparison) wholes(x, y node) Finding {
	texts := map[string]bool{}
	x.visit(func(a atom) { texts[a.folded] = true })
	c.common = map[string]bool{}
	y.visit(func(a atom) { c.common[a.folded] = texts[a.folded] })
	found := c.nodes(x, y)
	if found.Sameness == Same {
		return found
	}
	if back := c.nodes(y, x); back.Sameness < found.Sameness {
		return back // what is left over may depend on which is the first
	}
	return found
}
