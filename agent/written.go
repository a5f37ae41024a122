package agent

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/human"
	"dsstar/notebook/lazy"
)

// The bounds of what is shown of the files that cells have written.
const (
	maxWritten   = 20  // files
	writtenChars = 400 // of each
)

// filesWritten opens the folder that the cells write to; nil if it cannot be opened, and in
// somebody else's session, where it is not known. It is a Root since cells can make links: what is
// read there goes into requests. The caller closes it.
func (r *workspace) filesWritten() *os.Root {
	if r.host != nil {
		return nil
	}
	folder, err := os.OpenRoot(r.folder)
	if err != nil {
		return nil
	}
	defer folder.Close()
	files, _ := folder.OpenRoot(record.FilesFolder) // nil if there is an error
	return files
}

// written lists the files that the cells have written, with the beginning of each that is text.
func (r *workspace) written(context.Context) (string, error) {
	root := r.filesWritten()
	if root == nil {
		return "", nil
	}
	defer root.Close()
	folder, lines := root.FS(), []string{}
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // what cannot be read is not shown
		}
		if len(lines) == maxWritten {
			lines = append(lines, "… and more")
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil {
			text := strings.TrimSpace(brief.OneLine(name) + fmt.Sprintf(" (%s)\n", human.Bytes(info.Size())) + beginning(folder, name))
			lines = append(lines, strings.ReplaceAll(text, "\n", "\n  "))
		}
		return nil
	})
	return strings.Join(lines, "\n"), err
}

// beginning returns the first lines of a text file, or "".
func beginning(folder fs.FS, name string) string {
	f, err := folder.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, writtenChars))
	text := strings.ToValidUTF8(string(data), "") // the last character may be cut
	if err != nil || len(data)-len(text) >= utf8.UTFMax || strings.ContainsRune(text, 0) {
		return ""
	}
	return strings.TrimSpace(text)
}

// namedFile matches what looks like the name of a file, with folders.
var namedFile = lazy.Regexp(`[\pL\d_./-]*[\pL\d_-]\.[A-Za-z]\w{1,7}\b`)

//go:embed written.py
var writtenCode string

// Prelude returns Python that runs before the first cell of a session for a purpose that is not a
// user's own. It remembers what the figures that cells save show; where the accepted cells run, it
// counts what they do to rows.
func Prelude(p Purpose) string {
	code := "import base64, sys, types, zlib\n"
	module := func(name, of string) {
		code += "module = sys.modules['" + name + "'] = types.ModuleType('" + name + "')\n" +
			"exec(compile(zlib.decompress(base64.b64decode('" + brief.Packed(of) + "')), '" + name +
			"', 'exec'), module.__dict__)\n"
	}
	if module("dsstar_written", writtenCode); p == Work {
		module("dsstar_rows", rowsSQL+rowsCode)
	}
	return code
}

// filesGiven returns the files that the question asks for, written or not, and those that the
// answer names, as a cell leaves them that ran on a chain. Derivations are compared by them, too.
func (r *run) filesGiven(ctx context.Context, w *workspace, chain record.Chain,
	code, answer string) ([]compare.File, error) {
	if w.host != nil {
		return nil, nil
	}
	chain.Steps = append(slices.Clip(chain.Steps), code)
	return look(ctx, w, "files", chain, []any{formOf(r.t.Task).files, answer},
		func(ctx context.Context) ([]compare.File, error) { return w.filesGiven(ctx, answer), nil })
}

func (r *workspace) filesGiven(ctx context.Context, answer string) (all []compare.File) {
	folder := r.filesWritten()
	if folder != nil {
		defer folder.Close()
	}
	asked := formOf(r.run.t.Task).files
	named := strings.FieldsFunc(answer, func(c rune) bool { return strings.ContainsRune("\n,;", c) })
	for _, name := range slices.Concat(asked, named, namedFile().FindAllString(answer, maxWritten)) {
		name = strings.TrimPrefix(strings.Trim(name, " \t\"'[]"), "./")
		is := func(f compare.File) bool { return f.Name == name }
		if slices.ContainsFunc(all, is) || !filepath.IsLocal(name) {
			continue
		}
		if f, err := fileOf(ctx, r.session, folder, name); err == nil || slices.Contains(asked, name) {
			all = append(all, f)
		}
	}
	return all
}

// tellPatience is the time limit for a session to say what a file holds.
const tellPatience = 10 * time.Second

// toldFile ends the name of the file in which a script says what another file holds.
const toldFile = ".told"

// telling returns a script that in the end says what it has written to files in dir.
func telling(script, dir string, files []compare.File) string {
	tells := ""
	for _, f := range files {
		if compare.IsTold(f.Name) {
			tells += "\n__import__('dsstar_written').leave(" + brief.Python(filepath.Join(dir, f.Name)) +
				", " + brief.Python(toldFile) + ")"
		}
	}
	if tells == "" {
		return script
	}
	return "exec(" + brief.Python(Prelude(Prove)) + ", {})\n\n\n" + script + tells
}

// fileOf reads a file that cells have written in a folder, if there is one, and that is not empty. If
// its bytes are no text, the session says what it holds, or, if that is nil, a script of [telling] has.
func fileOf(ctx context.Context, s Session, folder *os.Root, name string) (compare.File, error) {
	none := compare.File{Name: name}
	if folder == nil {
		return none, fs.ErrNotExist
	}
	info, err := folder.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return none, cmp.Or(err, fs.ErrInvalid)
	}
	f, err := folder.Open(name)
	if err != nil {
		return none, err
	}
	defer f.Close()
	file, err := compare.ReadFile(name, f)
	switch {
	case err != nil:
		return none, err
	case compare.IsTold(name) && s == nil:
		text, _ := folder.ReadFile(name + toldFile)
		file.Text = strings.TrimSpace(string(text))
	case compare.IsTold(name) && s.Alive():
		x, err := s.Silently(ctx, "__import__('dsstar_written').tell("+
			brief.Python(filepath.Join(folder.Name(), name))+")", tellPatience)
		if err == nil && x.Status == notebook.OK {
			file.Text = strings.TrimSpace(x.Stdout())
		}
	}
	return file, nil
}
