package agent

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/human"
)

// The bounds of what is shown of the files that cells have written.
const (
	maxWritten   = 20  // files
	writtenChars = 400 // of each
)

// filesWritten returns the folder that the cells write to; nil in somebody else's session, where
// it is not known.
func (r *workspace) filesWritten() fs.FS {
	if r.host != nil {
		return nil
	}
	return os.DirFS(filepath.Join(r.dir, record.FilesFolder))
}

// written lists the files that the cells have written, with the beginning of each that is text.
func (r *workspace) written() string {
	folder := r.filesWritten()
	if folder == nil {
		return ""
	}
	var b strings.Builder
	n := 0
	_ = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(name, "outputs/") {
			return nil // what cannot be read is not shown
		}
		if n++; n > maxWritten {
			fmt.Fprintln(&b, "… and more")
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		fmt.Fprintf(&b, "%s (%s)\n", brief.OneLine(name), human.StableBytes(info.Size()))
		if text := beginning(folder, name); text != "" {
			b.WriteString("  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
		}
		return nil
	})
	return strings.TrimRight(b.String(), "\n")
}

// beginning returns the first lines of a text file, or "".
func beginning(folder fs.FS, name string) string {
	f, err := folder.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, writtenChars))
	if err != nil {
		return ""
	}
	for range utf8.UTFMax { // the last character may be cut
		if utf8.Valid(text) || len(text) == 0 {
			break
		}
		text = text[:len(text)-1]
	}
	if !utf8.Valid(text) || strings.ContainsRune(string(text), 0) {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// maxAskedFor is the size of a file, in bytes, up to which its text is compared.
const maxAskedFor = 64 << 10

// filesAskedFor returns the content of the files that the question asks for; "" if it asks for none
// or one is missing. It is what derivations have in common that both print a file's name. Of a file
// that is long or no text it is a digest.
func (r *standard) filesAskedFor() string {
	folder, names := r.filesWritten(), formOf(r.t.Task.Question, r.t.Task.Guidelines).files
	if folder == nil {
		return ""
	}
	var all []string
	for _, name := range names {
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			return ""
		}
		if text := string(data); len(data) <= maxAskedFor && utf8.ValidString(text) {
			all = append(all, strings.TrimSpace(text))
		} else {
			all = append(all, fmt.Sprintf("%s: SHA-256 %x", name, sha256.Sum256(data)))
		}
	}
	return strings.Join(all, "\n")
}

// firstAnswer is what the accepted cells give, to compare other derivations with.
func (r *standard) firstAnswer() string { return cmp.Or(r.t.Final.Files, r.t.Answer()) }
