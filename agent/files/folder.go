package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"dsstar/notebook/disk"
)

// A Folder is a data folder, or a single file, whose name in it is ".".
type Folder struct {
	allowed []string // real paths: its own, and those that links in it may lead to
}

// ErrOutside is wrapped by the error for a link out of the data folder that is not allowed.
var ErrOutside = errors.New("it is a link that leads out of the data folder")

// In returns the data folder at path, which may be missing. Links in it may lead to the files and
// folders in also.
func In(path string, also ...string) (d Folder) {
	for _, p := range append([]string{path}, also...) {
		d.allowed = append(d.allowed, disk.RealPath(disk.Absolute(p)))
	}
	return d
}

// Find returns the path of a file without links. The error wraps [ErrOutside] or comes from the file
// system.
func (d Folder) Find(name string) (string, error) {
	at, err := filepath.EvalSymlinks(filepath.Join(d.allowed[0], name))
	holds := func(allowed string) bool { return disk.Inside(allowed, at) }
	if !filepath.IsLocal(name) {
		err = errors.ErrUnsupported
	} else if err == nil && !slices.ContainsFunc(d.allowed, holds) {
		err = ErrOutside
	}
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", name, err)
	}
	return at, nil
}

// open opens a file at a path that [Folder.Find] has given, or a companion beside it. What somebody has
// put in the place of a folder since leads nowhere else. The caller closes the file.
func (d Folder) open(at string) (*os.File, error) {
	for _, allowed := range d.allowed {
		way, err := filepath.Rel(allowed, at)
		if err != nil || way == "." || !filepath.IsLocal(way) {
			continue
		}
		root, err := os.OpenRoot(allowed)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return disk.OpenPlainIn(root, way, 1<<62)
	}
	return disk.OpenPlain(at, 1<<62) // the file is named itself
}

// Text returns the text of a file in UTF-8, from its beginning at most so many bytes, and whether
// that is all there is: "" if it is no text.
func (d Folder) Text(name string, most int64) (text string, whole bool, err error) {
	at, err := d.Find(name)
	if err != nil {
		return "", false, err
	}
	file, err := d.open(at)
	if err != nil {
		return "", false, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return "", false, fmt.Errorf("look at %s: %w", name, err)
	}
	_, err = file.ReadAt(make([]byte, 1), int64(len(b)))
	return decode(b, err == io.EOF), err == io.EOF, nil
}

// decode returns the beginning of a text in UTF-8. If the file continues after b, an incomplete
// character at b's end is dropped.
func decode(b []byte, whole bool) string {
	for n := range min(utf8.UTFMax, len(b)) {
		if rest := b[:len(b)-n]; !whole && utf8.Valid(rest) {
			b = rest
			break
		}
	}
	decoder := transform.Transformer(transform.Nop)
	if !utf8.Valid(b) {
		decoder = charmap.Windows1252.NewDecoder()
	}
	text, _, err := transform.Bytes(unicode.BOMOverride(decoder), b)
	controls := 0 // that do not occur in text
	for _, c := range text {
		if c < ' ' && !strings.ContainsRune("\n\r\t\f\x1a", rune(c)) || c == 0x7f {
			controls++
		}
	}
	if err != nil || controls*1000 > len(text) || bytes.HasPrefix(b, []byte("%PDF-")) {
		return ""
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
