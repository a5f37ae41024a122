// Package definitions reads what a team has agreed on: what its terms mean, with unit, filters and
// code. [Files] reads files, [Parse] takes the definitions out of them: of Markdown here, of other
// formats by a program in Python, for a sandbox. Whether a person has approved them is not known here.
package definitions

import (
	"compress/zlib"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// Limits: bytes of all files, and of a definition, which requests have to hold.
const maxRead, maxDefinition = 64 << 20, 4000

// formats are how the names of files with definitions end, with the bytes that they may have: a
// manifest, in JSON, has much beside its metrics.
var formats = map[string]int64{".md": 4 << 20, ".yaml": 4 << 20, ".yml": 4 << 20, ".json": 32 << 20,
	".csv": 4 << 20, ".tsv": 4 << 20, ".xlsx": 4 << 20}

// A Definition says what a term means.
type Definition struct {
	Term  string   `json:"term"`
	Also  []string `json:"also,omitempty"` // other names of the term
	Text  string   `json:"text"`           // meaning, unit, filters, as Markdown, without its code
	Code  string   `json:"code,omitempty"` // Python: a function with its imports and cases
	Place string   `json:"place"`          // "terms.md, line 12", "manifest.json, metric revenue"
}

// Digest is of all that the definition says, wherever it stands.
func (d Definition) Digest() string {
	d.Place = ""
	return Digest(d)
}

// Digest is of plain data: of the names and contents of files, for instance.
func Digest(data any) string {
	b, _ := json.Marshal(data) // sorted
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// size is about how many bytes of a request the definition takes.
func (d Definition) size() int {
	return len(d.Term+d.Text+d.Code+d.Place) + len(strings.Join(d.Also, ", "))
}

// A File has definitions. Its name is relative to its folder.
type File struct {
	Name string
	Text []byte
}

// IsForeign says that a program in Python parses it.
func (f File) IsForeign() bool { return strings.ToLower(filepath.Ext(f.Name)) != ".md" }

// Files reads a file, or those of a folder that have a known format, in the order of their names.
// A link to the folder or in it is an error, as is a file that is too large.
func Files(path string) (all []File, err error) {
	is, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if name := filepath.Base(path); !is.IsDir() {
		if most(name) == 0 {
			return nil, fmt.Errorf("%s: definitions are in files %s", path,
				strings.Join(slices.Sorted(maps.Keys(formats)), ", "))
		}
		text, err := disk.ReadFile(path, most(name))
		return []File{{name, text}}, err
	}
	folder, err := disk.OpenFolder(path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	entries, err := fs.ReadDir(folder.FS(), ".") // by name
	size := 0
	for _, e := range entries {
		if e.IsDir() || most(e.Name()) == 0 {
			continue
		}
		text, err := disk.ReadIn(folder, e.Name(), most(e.Name()))
		if size += len(text); err == nil && size > maxRead {
			err = fmt.Errorf("%s: all files together have more than %s", path, human.Bytes(maxRead))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, File{e.Name(), text})
	}
	return all, err
}

// most is how many bytes a file may have, by its name. What editors put beside files has no
// definitions, like a file of another format: 0.
func most(name string) int64 {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") {
		return 0
	}
	return formats[strings.ToLower(filepath.Ext(name))]
}

// Parse takes the definitions out of files. If some are no Markdown, foreign is called once: it runs
// a script in a fresh process, confined, within its own time, and returns at least the last megabyte
// of what that printed. The script is the same for the same files. An error says which file is
// wrong, and in which line if there is one.
func Parse(ctx context.Context, files []File,
	foreign func(ctx context.Context, script string) (stdout string, err error),
) (all []Definition, err error) {
	others := lists.Where(files, File.IsForeign)
	for _, f := range files {
		if f.IsForeign() {
			continue
		}
		found, err := markdown(f)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(others) > 0 {
		printed, err := foreign(ctx, script(others))
		if err != nil {
			return nil, err
		}
		if all, err = printedBy(printed, all); err != nil {
			return nil, err
		}
	}
	for _, d := range all {
		if size := d.size(); size > maxDefinition {
			return nil, fmt.Errorf("%s: the definition of %.60q has %s, of at most %s: give its parts headings "+
				"of their own", d.Place, d.Term, human.Bytes(int64(size)), human.Bytes(maxDefinition))
		}
	}
	return all, nil
}

//go:embed foreign.py
var program string

// script returns Python that needs no files. [printedBy] reads what it prints.
func script(files []File) string {
	given, _ := json.Marshal(files) // plain data
	return program + "\nmain(" + brief.Python(brief.Packed(string(given))) + ")\n"
}

// printedBy adds what the program has printed, packed, in its last line.
func printedBy(printed string, all []Definition) ([]Definition, error) {
	var found struct {
		Problem     string
		Definitions []Definition
	}
	printed = strings.TrimSpace(printed)
	line := strings.NewReader(printed[strings.LastIndexByte(printed, '\n')+1:])
	unpacked, err := zlib.NewReader(base64.NewDecoder(base64.StdEncoding, line))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(unpacked, maxRead)).Decode(&found)
	}
	if err != nil {
		return nil, fmt.Errorf("the program that reads definitions did not come to its end: %w", err)
	} else if found.Problem != "" {
		return nil, errors.New(found.Problem)
	}
	return append(all, found.Definitions...), nil
}

// Conflict returns an error if two definitions of a term say different things; it names both. Names
// are the same in any letter case, with any spaces, and in the plural.
func Conflict(all []Definition) error {
	first := map[string]Definition{}
	for _, d := range all {
		for _, name := range append([]string{d.Term}, d.Also...) {
			key := strings.ToLower(key(name))
			was, defined := first[key]
			if !defined && key != "" {
				first[key] = d
			}
			a, b := brief.OneLine(was.Text+" "+was.Code), brief.OneLine(d.Text+" "+d.Code)
			if !defined || a == b {
				continue
			}
			from := 0 // the word in which they differ
			for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
				if a[i] == ' ' {
					from = i + 1
				}
			}
			return fmt.Errorf("two definitions of %q contradict each other: %s says %.100q, %s says %.100q",
				name, was.Place, a[from:], d.Place, b[from:])
		}
	}
	return nil
}
