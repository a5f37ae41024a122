package agent

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/human"
	"dsstar/notebook/lazy"
)

// The bounds of what is shown of the files that cells have written.
const (
	maxWritten   = 20  // files
	writtenChars = 400 // of each
)

// filesWritten opens the folder that the cells write to; nil if it cannot be opened, and in somebody
// else's session, where it is not known. It is a Root since cells can make links: what is read there
// goes into requests. The caller closes it.
func (r *workspace) filesWritten() *os.Root {
	if r.host != nil {
		return nil
	}
	folder, err := os.OpenRoot(r.folder)
	if err != nil {
		return nil
	}
	defer folder.Close()
	files, err := folder.OpenRoot(record.FilesFolder)
	if err != nil {
		return nil
	}
	return files
}

// written lists the files that the cells have written, with the beginning of each that is text.
func (r *workspace) written() string {
	root := r.filesWritten()
	if root == nil {
		return ""
	}
	defer root.Close()
	folder := root.FS()
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

// namedFile matches what looks like the name of a file, with folders.
var namedFile = lazy.Regexp(`[\pL\d_./-]*[\pL\d_-]\.[A-Za-z]\w{1,7}\b`)

// filesGiven returns the names of the files that the question asks for and of those that the answer
// names, and their content; "" if there are none, or if one that is asked for is missing. Derivations
// are compared by it that both print a file's name. Of a file that is long or no text it is a digest.
func (r *standard) filesGiven(answer string) (names []string, content string) {
	folder := r.filesWritten()
	if folder == nil {
		return nil, ""
	}
	defer folder.Close()
	var all []string
	asked := formOf(r.t.Task).files
	for _, name := range asked {
		if text, err := contentOf(folder, name); err == nil {
			names, all = append(names, name), append(all, text)
		}
	}
	missing := len(names) < len(asked)
	named := strings.FieldsFunc(answer, func(c rune) bool { return strings.ContainsRune("\n,;", c) })
	for _, name := range append(named, namedFile().FindAllString(answer, maxWritten)...) {
		name = strings.TrimPrefix(strings.Trim(name, " \t\"'[]"), "./")
		if slices.Contains(names, name) || !filepath.IsLocal(name) {
			continue
		}
		if text, err := contentOf(folder, name); err == nil {
			names, all = append(names, name), append(all, text)
		}
	}
	if missing {
		return names, ""
	}
	return names, strings.Join(all, "\n")
}

// contentOf returns the text of a file, or its digest.
func contentOf(folder *os.Root, name string) (string, error) {
	info, err := folder.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", err
	}
	f, err := folder.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var text strings.Builder
	digest := sha256.New()
	if _, err := io.Copy(io.MultiWriter(&text, digest), io.LimitReader(f, maxAskedFor)); err != nil {
		return "", err
	}
	more, err := io.Copy(digest, f)
	if err == nil && more == 0 && utf8.ValidString(text.String()) {
		return strings.TrimSpace(text.String()), nil
	}
	return fmt.Sprintf("%s: SHA-256 %x", name, digest.Sum(nil)), err
}

// firstAnswer is what the accepted cells give, to compare other derivations with.
func (r *standard) firstAnswer() string { return cmp.Or(r.t.Final.Files, r.t.Answer()) }
