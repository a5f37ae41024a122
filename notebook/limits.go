package notebook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// Limits limit the outputs of a cell in the notebook, in bytes. A zero field means the one of
// [DefaultLimits]. Data counts as encoded in messages: pictures in base64. Past Cell, streams and
// errors still get a few KiB, and the notices that replace outputs do not count.
type Limits struct {
	Stream int // text of one stream output; of longer text, only the beginning and end stay
	Data   int // one display, result or error, all its MIME types together
	Cell   int // everything of one execution
	// all files of one execution together; the rest is lost, and the output says so
	File int64
}

// DefaultLimits are the limits of a Fold that sets none.
var DefaultLimits = Limits{Stream: 1 << 20, Data: 16 << 20, Cell: 64 << 20, File: 4 << 30}

// Fixed limits, far beyond what a person reads, on small outputs and on notices.
const (
	maxOutputs = 100_000 // outputs; further ones are left out as if past Limits.Cell
	maxNotices = 10_000  // left-out outputs with their own notice; further ones are only counted
	shortText  = 8 << 10 // bytes of an error, or of the last output of a stream, past Limits.Cell
	maxName    = 100     // bytes of a stream's name
)

// filled returns l with zeros replaced by the defaults.
func (l Limits) filled() Limits {
	fill(&l.Stream, DefaultLimits.Stream)
	fill(&l.Data, DefaultLimits.Data)
	fill(&l.Cell, DefaultLimits.Cell)
	fill(&l.File, DefaultLimits.File)
	return l
}

func fill[N int | int64](n *N, otherwise N) {
	if *n <= 0 {
		*n = otherwise
	}
}

// A file keeps the full text of an output. The first write creates it. After an error it accepts no
// more text. A nil file is valid and empty.
type file struct {
	fold   *Fold
	kind   string // part of the name, such as "stdout"
	ext    string
	name   string // "" before the file is created and after it is removed
	open   *os.File
	closed bool
	size   int64
	err    error // why the file is incomplete
}

// errNowhere is the error of a file whose Fold has no folder.
var errNowhere = errors.New("no folder to keep it in")

func (f *Fold) file(kind, ext string) *file {
	return &file{fold: f, kind: kind, ext: ext}
}

func (k *file) write(text string) {
	limit := k.fold.Limits.filled().File
	part := text[:min(int64(len(text)), max(limit-k.fold.written, 0))]
	if k.err == nil && k.closed {
		k.err = errors.New("it arrived after the cell ended")
	}
	if k.err == nil && k.open == nil {
		k.err = k.create()
	}
	if k.err != nil {
		return
	}
	if part != "" {
		n, err := k.open.WriteString(part)
		k.size += int64(n)
		k.fold.written += int64(n)
		k.err = disk.Cause(err)
	}
	if k.err == nil && len(part) < len(text) {
		k.err = fmt.Errorf("the files of one cell may have %s", human.Bytes(limit))
	}
	if k.err != nil {
		_ = k.close() // the first error counts
	}
	if k.err != nil && k.size == 0 {
		k.remove()
	}
}

// create creates the file under an unused name. O_EXCL does not follow a link that a cell may have
// put there.
func (k *file) create() error {
	f := k.fold
	root, err := f.folder()
	if err != nil {
		return err
	}
	base := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, k.kind)
	base = base[:min(len(base), 40)]
	if f.Prefix != "" {
		base = f.Prefix + "-" + base
	}
	if f.names == nil {
		f.names = map[string]int{}
	}
	for range 10_000 {
		f.names[base+k.ext]++
		name := base + k.ext
		if n := f.names[name]; n > 1 {
			name = fmt.Sprintf("%s-%d%s", base, n, k.ext)
		}
		open, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return disk.Cause(err)
		}
		k.name, k.open = name, open
		return nil
	}
	return errors.New("every name for it is taken")
}

// folder returns the folder for files. The first call opens it.
func (f *Fold) folder() (*os.Root, error) {
	if f.Folder == nil {
		return nil, errNowhere
	}
	if f.root == nil {
		root, err := f.Folder()
		if err != nil {
			return nil, disk.Cause(err)
		}
		f.root = root
	}
	return f.root, nil
}

// close closes the file; nothing can be written to it afterwards.
func (k *file) close() error {
	if k == nil || k.closed {
		return nil
	}
	k.closed = true
	if k.open == nil {
		return nil
	}
	err := k.open.Close()
	if err != nil && k.err == nil {
		k.err = disk.Cause(err)
	}
	return err
}

// remove closes and removes the file, if there is one.
func (k *file) remove() {
	if k == nil {
		return
	}
	_ = k.close()
	if k.name != "" {
		if root, err := k.fold.folder(); err == nil && root.Remove(k.name) == nil {
			k.fold.written -= k.size
		}
	}
	k.name, k.size = "", 0
}

// where returns a text that says which file has what, or why none has.
func (k *file) where(what string) string {
	shown := path.Join(k.fold.ShownAs, k.name)
	switch {
	case k.name != "" && k.err == nil:
		return fmt.Sprintf("%s is in %s", what, shown)
	case k.name != "" && k.size > 0:
		return fmt.Sprintf("the first %s are in %s, the rest is not kept: %v", human.Bytes(k.size),
			shown, k.err)
	case k.err == errNowhere || k.err == nil:
		return "it is not kept"
	}
	return fmt.Sprintf("it is not kept: %v", k.err)
}

// shortLine returns text as one line of at most about 300 bytes.
func shortLine(text string) string {
	short := text[:headEnd([]byte(text[:min(len(text), 300)]), 250)]
	short = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, short), "")
	if len(short) < len(text) {
		short += "…"
	}
	return short
}
