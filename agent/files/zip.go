package files

import (
	"archive/zip"
	"errors"
	"io"
	"slices"
	"strings"
)

// zipDirectory limits how much of an archive's directory is read: a crafted one can be huge.
const zipDirectory = 4 << 20

var errBudget = errors.New("more than may be read")

// A budget is a reader of at most left bytes.
type budget struct {
	r    io.ReaderAt
	left int64
}

func (b *budget) ReadAt(p []byte, at int64) (int, error) {
	if b.left < int64(len(p)) {
		return 0, errBudget
	}
	n, err := b.r.ReadAt(p, at)
	b.left -= int64(n)
	return n, err
}

// office lists formats that are ZIP archives, each with a characteristic member.
var office = []struct{ member, kind, format string }{
	{"xl/workbook.xml", "Excel workbook", "xlsx"},
	{"xl/workbook.bin", "binary Excel workbook", "xlsb"},
	{"word/document.xml", "Word document", "docx"},
	{"ppt/presentation.xml", "PowerPoint presentation", "pptx"},
}

// zip looks at an archive, whose directory is at its end.
func (s source) zip(mime, format string) Look {
	archive, err := zip.NewReader(&budget{s.r, zipDirectory}, s.size)
	switch {
	case errors.Is(err, errBudget):
		return Look{Kind: "ZIP archive, its directory is too long to look at", Format: "zip",
			Shape: s.alone("zip")}
	case err != nil:
		return Look{Kind: "ZIP archive, damaged: its directory cannot be read", Format: "zip",
			Shape: s.alone("zip")}
	}
	var names []string
	for _, m := range archive.File {
		if !strings.HasSuffix(m.Name, "/") {
			names = append(names, strings.ToValidUTF8(m.Name, "\uFFFD"))
		}
	}
	for _, o := range office {
		if slices.Contains(names, o.member) {
			look := Look{Kind: o.kind, Format: o.format, Shape: s.alone(o.format)}
			if o.format == "xlsx" {
				s.workbook(archive, &look)
			}
			return look
		}
	}
	// such as OpenDocument or EPUB
	if format != "zip" && format != "" && !strings.Contains(mime, "openxml") {
		return Look{Kind: mime, Format: format, Shape: s.alone(format)}
	}
	look := Look{Kind: "ZIP archive of " + count(len(names), "file"), Format: "zip"}
	look.Head, look.Whole = lines(strings.Join(names, "\n"), s.head)
	look.Whole = false
	look.Shape = shape(append([]string{"zip"}, distinct(names)...)...)
	return look
}

// readMember returns the beginning of a member, at most n bytes. The declared size is not
// trusted.
func readMember(archive *zip.Reader, name string, n int64) []byte {
	i := slices.IndexFunc(archive.File, func(m *zip.File) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	r, err := archive.File[i].Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	b, _ := io.ReadAll(io.LimitReader(r, n)) // a damaged member is read in part
	return b
}
