package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"strings"
)

// A Look describes a file by its beginning, and an archive by its directory.
type Look struct {
	Kind string // for people and models: "CSV, 12 columns, delimiter ';', Windows-1252"
	// short and stable: csv, tsv, json, jsonl, xlsx, xls, parquet, sqlite, pdf, image, zip, gzip,
	// html, xml, markdown, code, text, empty, binary, …
	Format string
	Shape  string // equal for files of one format and structure; "": no family
	// of text: "UTF-8", "UTF-8 with BOM", "UTF-16LE", "UTF-16BE", "Windows-1252", "unknown"
	Encoding string
	// the first lines in UTF-8; of an archive the first names; of a workbook the first rows; "":
	// nothing to show
	Head  string
	Whole bool // Head is the whole content
}

// How much of a file is read. Usually the start shows the structure of text, but JSON may need
// more to reach its second key, and a table to reach the end of its header.
const (
	startBytes = 32 << 10
	mostBytes  = 256 << 10
)

// LookAt looks at a file. It reads about 256 kB, and up to 4 MB of an archive's directory. Head
// has at most head bytes. The error is an [*OutsideError] or comes from the file system.
func LookAt(d *Folder, f File, head int) (Look, error) {
	file, info, err := d.open(f)
	if err != nil {
		return Look{}, err
	}
	defer file.Close()
	s := source{r: file, name: f.Name, size: info.Size(), head: max(0, head)}
	look, err := s.look()
	if err != nil {
		return Look{}, fmt.Errorf("look at %s: %w", f.Name, err)
	}
	look.Kind += misnamed(look.Format, f.Name)
	return look, nil
}

// A source is a file to look at, or its decompressed content.
type source struct {
	r     io.ReaderAt
	name  string
	size  int64
	head  int
	start []byte // the first bytes
}

// most returns how much of the beginning is read: at least twice head, because text may be in
// UTF-16.
func (s source) most() int64 { return min(mostBytes, max(startBytes, 2*int64(s.head))) }

// whole reports whether start is the whole content.
func (s source) whole() bool { return int64(len(s.start)) >= s.size }

func (s source) look() (Look, error) {
	var err error
	if s.start, err = readStart(s.r, s.size, s.most()); err != nil {
		return Look{}, err
	}
	if len(s.start) == 0 {
		return Look{Kind: "empty", Format: "empty", Whole: true}, nil
	}
	if look, ok := s.text(); ok {
		return look, nil
	}
	return s.binary(), nil
}

// alone returns the shape of a file with unknown structure: its name with the numbers
// collapsed.
func (s source) alone(format string) string { return shape(format, "name", collapse(s.name)) }

// collapse makes names equal that differ only in numbers, such as years.
func collapse(s string) string {
	var b strings.Builder
	for i := range len(s) {
		digit := s[i] >= '0' && s[i] <= '9'
		if digit && i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
			continue
		}
		if digit {
			b.WriteByte('#')
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

var escapes = strings.NewReplacer(`\`, `\\`, "|", `\p`)

// shape joins parts unambiguously. It replaces a long shape with its hash, because every file
// keeps its shape, and headers may have thousands of columns.
func shape(parts ...string) string {
	const most = 300
	s := strings.Builder{}
	for i, p := range parts {
		if i > 0 {
			s.WriteByte('|')
		}
		s.WriteString(escapes.Replace(strings.ToValidUTF8(p, "\uFFFD")))
	}
	if s.Len() <= most {
		return s.String()
	}
	sum := sha256.Sum256([]byte(s.String()))
	return cut(s.String(), most-40) + " " + hex.EncodeToString(sum[:16])
}

// extensions maps file extensions to the formats that they promise.
var extensions = map[string]string{
	".csv": "csv tsv text", ".tsv": "tsv csv text", ".json": "json jsonl", ".jsonl": "jsonl json", ".xlsx": "xlsx", ".xls": "xls",
	".parquet": "parquet", ".sqlite": "sqlite", ".pdf": "pdf", ".png": "image", ".jpg": "image", ".jpeg": "image",
	".gif": "image", ".zip": "zip", ".gz": "gzip", ".docx": "docx", ".xml": "xml html", ".html": "html xml", ".txt": "text csv tsv json jsonl xml html markdown",
}

// misnamed returns the remark on a file whose extension promises another format, or "".
func misnamed(format, name string) string {
	ext := strings.ToLower(path.Ext(name))
	promised, known := extensions[ext]
	if !known || format == "empty" || strings.Contains(" "+promised+" ", " "+format+" ") {
		return ""
	}
	return ", although its name ends in " + ext
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// list joins the first few names for people, shortened if they are long.
func list(names []string) string {
	const most, longest = 12, 60
	var short []string
	for _, n := range names[:min(most, len(names))] {
		short = append(short, cut(strings.Join(strings.Fields(n), " "), longest))
	}
	if len(names) > most {
		short = append(short, fmt.Sprintf("… (%d more)", len(names)-most))
	}
	return strings.Join(short, ", ")
}
