package files

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// A Folder is a data folder, or a single file, whose name in it is ".".
type Folder struct {
	allowed []string // real paths: its own, and those that links in it may lead to
}

// ErrOutside is wrapped by the error for a link out of the data folder that is not allowed.
var ErrOutside = errors.New("it is a link that leads out of the data folder")

// In returns the data folder at path, which may be missing. Links in it may lead to the files and
// folders in also.
func In(path string, also ...string) Folder {
	real := func(path string) string { return disk.RealPath(disk.Absolute(path)) }
	return Folder{lists.Map(append([]string{path}, also...), real)}
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

const (
	sumWhole   = 64 << 20 // files up to this size are read whole
	sumSamples = 64
	sumSample  = 64 << 10
)

// Sum returns the SHA-256 of a file of up to 64 MB, in hexadecimal. For a larger file it
// hashes the size, the modification time and 64 samples of 64 kB, so it may miss a change that
// keeps size and time. Of a file with companions it returns the hash of the sums of all.
func (d Folder) Sum(name string) (string, error) {
	at, err := d.Find(name)
	if err != nil {
		return "", err
	}
	sum, err := d.sumOf(at)
	for _, c := range Companions(at, name) {
		if c.Size == 0 {
			continue
		}
		more, failed := d.sumOf(c.Path)
		sum = fmt.Sprintf("%x", sha256.Sum256([]byte(sum+more)))
		err = errors.Join(err, failed)
	}
	return sum, err
}

// Sums returns the [Folder.Sum] of each file, by its name, of sources as [List] lists them. It
// leaves out databases, and files that cannot be read.
func Sums(sources []Source, all []File) map[string]string {
	sums := map[string]string{}
	for _, s := range sources {
		if s.Database != "" || s.Of != "" { // a companion is a part of the sum of its file
			continue
		}
		folder := In(s.Path)
		for _, f := range all {
			way, err := filepath.Rel(s.Name, f.Name)
			if err != nil || !filepath.IsLocal(way) { // of another source
				continue
			}
			if sum, err := folder.Sum(way); err == nil {
				sums[f.Name] = sum
			}
		}
	}
	return sums
}

// known are the sums of files that were read, by what tells without reading that they are the same.
var known sync.Map

// sumOf returns the sum of one file, which is read once as long as it is the same.
func (d Folder) sumOf(path string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return "", err
	}
	changed := stat.Ctim.Nano() // which the system alone sets
	stamp := fmt.Sprint(stat.Size, stat.Mtim.Nano(), stat.Dev, stat.Ino, changed)
	if sum, ok := known.Load(stamp); ok {
		return sum.(string), nil
	}
	file, err := d.open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h, read := sha256.New(), io.LimitReader(file, sumWhole) // it may grow meanwhile
	if stat.Size > sumWhole {
		read = strings.NewReader(fmt.Sprintf("%d %d\n", stat.Size, stat.Mtim.Nano()))
		for i := range int64(sumSamples) { // the first at the beginning, the last at the end
			at := (stat.Size - sumSample) * i / (sumSamples - 1)
			read = io.MultiReader(read, io.NewSectionReader(file, at, sumSample))
		}
	}
	if _, err = io.Copy(h, read); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	sum := fmt.Sprintf("%x", h.Sum(nil))
	if time.Since(time.Unix(0, changed)) > time.Second {
		known.Store(stamp, sum) // what changes a file now may leave its stamp, which counts in ticks
	}
	return sum, nil
}

// MostInDigest is the largest number of files of which [Digest] takes the sums.
const MostInDigest = 2000

// Digest is one sum of the names, sizes and sums of files: of more than [MostInDigest] not of their
// sums, which then need not be known.
func Digest(all []File) string {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, f := range all {
		sum := ""
		if len(all) <= MostInDigest && f.IsWhole() {
			sum = f.Sum
		}
		_, _ = fmt.Fprintf(h, "%q %d %s\n", f.Name, f.Size, sum) // a hash takes everything
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// IsWhole reports whether [Folder.Sum] reads the whole of a file and of its companions.
func (f File) IsWhole() bool { return f.Size <= sumWhole }
