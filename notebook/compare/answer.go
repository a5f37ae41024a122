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
	Decimals int // of each number; 0: whole numbers; -1: not said
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

// Answers compares two answers, words and files. Which is the first does not matter. These are the
// rules:
//
//   - Whole numbers are exact, and so are codes: a leading zero and the case of letters count.
//   - Decimals are rounded to those asked for. If none are, the shorter number must be the longer
//     one rounded, and within half a percent of it.
//   - Units and percent signs must be the same; a currency may be missing on one side.
//   - Of words, letter case, spaces and outer quotes do not count.
//   - Yes is true; a date is its midnight, in the forms that nobody can mistake.
//   - Lists are compared in order, unless [Asked.Order] says otherwise; objects by their names;
//     tables by whole rows, and these by the names of columns.
//   - Files are compared as tables or trees, drawings by the data that they show, and others by
//     their bytes. A drawing without data is not even the same as itself.
func Answers(a, b Answer, asked Asked) Finding {
	found := asked.words(a.besideFiles(), b.besideFiles())
	if len(a.Files) != len(b.Files) {
		return found.and(Finding{Unsure, fmt.Sprintf("%d files / %d", len(a.Files), len(b.Files))})
	}
	for i, f := range a.Files {
		found = found.and(asked.files(f, b.Files[i]).under(f.Name))
	}
	return found
}

// onlyFiles stands in place of the words of an answer that are only names of files.
const onlyFiles = "\x02"

// besideFiles returns the words without the names of the files.
func (a Answer) besideFiles() string {
	text := a.Words
	for _, f := range a.Files {
		text = strings.ReplaceAll(text, "./"+f.Name, f.Name)
		text = strings.Trim(strings.ReplaceAll(text, f.Name, ""), " \t\r\n,;.()")
		if strings.Trim(text, " ,\"'`[]") == "" {
			return onlyFiles
		}
	}
	return strings.TrimSpace(text)
}

func (asked Asked) words(a, b string) Finding {
	switch {
	case a == b && a != "":
		return Finding{}
	case min(a, b) <= onlyFiles:
		return Finding{Unsure, "an answer has no words"}
	}
	x, y := parse(a), parse(b)
	for _, pair := range [][2]node{{x, y}, {y, x}} { // a decimal comma, where the other has a point
		n, other := pair[0].atom, pair[1].atom
		if n.number == nil && other.number != nil && !other.number.whole && aComma().MatchString(n.text) {
			swapped := node{atom: newAtom(comma.Replace(n.text))}
			if asked.nodes(swapped, pair[1]).Sameness == Same {
				return Finding{}
			}
		}
	}
	return asked.nodes(x, y)
}

// blank is the text of a drawing that shows no data.
const blank = "{}"

func (asked Asked) files(a, b File) Finding {
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
	case has(drawings, a.Name):
		return asked.charts(parseFile(a), parseFile(b))
	}
	return asked.nodes(parseFile(a), parseFile(b))
}

// charts compares what drawings show and, if that is the same, what they say in words.
func (asked Asked) charts(x, y node) Finding {
	if asked.Order != Fixed {
		asked.Order = Free // marks are where they are
	}
	says, saysToo := x.take("texts"), y.take("texts")
	found := asked.nodes(x, y)
	for i, place := range says.names {
		if j := slices.Index(saysToo.names, place); j >= 0 && found.Sameness == Same {
			found = captions(says.items[i].lines(), saysToo.items[j].lines()).under(place)
		}
	}
	return found
}

// captions compares titles, or other words of charts, which everyone writes differently. Only other
// numbers and another scale say that something may be different.
func captions(a, b string) Finding {
	isScaled := len(scale().FindAllString(a, -1)) != len(scale().FindAllString(b, -1))
	haveFigures := figure().MatchString(a) && figure().MatchString(b)
	if isScaled || haveFigures && Foreign(a, b)+Foreign(b, a) != "" {
		return Finding{Unsure, short(a) + " / " + short(b)}
	}
	return Finding{}
}
