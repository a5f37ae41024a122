package files

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"path"
	"strconv"
	"strings"
	"sync"
)

const (
	xlsxBytes   = 512 << 10 // of each member, unpacked
	xlsxRows    = 30
	xlsxColumns = 500
	xlsxSheets  = 5 // that are shown
)

// workbook lists the sheets of an Excel workbook and shows the first rows as CSV.
func (s source) workbook(archive *zip.Reader, look *Look) {
	var book struct {
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := xml.Unmarshal(readMember(archive, "xl/workbook.xml", xlsxBytes), &book); err != nil ||
		len(book.Sheets) == 0 {
		look.Kind += ", whose list of sheets cannot be read"
		return
	}
	var names, parts []string
	for _, sheet := range book.Sheets {
		names, parts = append(names, sheet.Name), append(parts, collapse(sheet.Name))
	}
	look.Kind += " with " + count(len(names), "sheet") + ": " + list(names)
	t := readSheet(archive, book.Sheets[0].ID)
	if len(t.records) == 0 {
		look.Shape = shape(append([]string{"xlsx"}, parts...)...)
		return
	}
	h := t.findHeader()
	if h.at >= 0 && t.lines[h.at] > 1 {
		look.Kind += ", header of the first in row " + strconv.Itoa(t.lines[h.at])
	}
	if len(parts) == 1 {
		parts = nil // a single sheet is often named after the file
	}
	look.Shape = shape(append(append([]string{"xlsx"}, parts...), t.structure(h, s.name)...)...)
	if len(book.Sheets) == 1 {
		look.Head, _ = lines(t.csv(), s.head)
		return
	}
	// The first sheet is often only a note: show a little of each.
	shown := min(len(book.Sheets), xlsxSheets)
	for n, sheet := range book.Sheets[:shown] {
		if n > 0 {
			t = readSheet(archive, sheet.ID)
		}
		head, _ := lines(t.csv(), s.head/shown)
		look.Head += "[" + sheet.Name + "]\n" + strings.TrimRight(head, "\n") + "\n"
	}
}

// csv returns the table's rows as CSV.
func (t table) csv() string {
	var b strings.Builder
	_ = csv.NewWriter(&b).WriteAll(t.records) // a Builder does not fail
	return b.String()
}

// readSheet reads the first rows of a sheet by its id.
func readSheet(archive *zip.Reader, id string) table {
	var rels struct {
		All []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if err := xml.Unmarshal(readMember(archive, "xl/_rels/workbook.xml.rels", xlsxBytes), &rels); err != nil {
		return table{}
	}
	for _, r := range rels.All {
		if r.ID != id {
			continue
		}
		name := path.Join("xl", r.Target)
		if strings.HasPrefix(r.Target, "/") {
			name = r.Target[1:]
		}
		return readRows(readMember(archive, name, xlsxBytes), sync.OnceValue(func() []string {
			return sharedStrings(archive)
		}))
	}
	return table{}
}

// A row is a row of a sheet, with its non-empty cells.
type row struct {
	Number int    `xml:"r,attr"`
	Cells  []cell `xml:"c"`
}

type cell struct {
	Ref    string   `xml:"r,attr"`
	Type   string   `xml:"t,attr"`
	Value  string   `xml:"v"`
	Inline []string `xml:"is>t"`
	Runs   []string `xml:"is>r>t"`
}

// readRows reads the rows of a sheet, which may be truncated. shared returns the shared
// strings.
func readRows(sheet []byte, shared func() []string) table {
	var t table
	dec := xml.NewDecoder(bytes.NewReader(sheet))
	for len(t.records) < xlsxRows {
		token, err := dec.Token()
		if err != nil {
			break
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "row" {
			continue
		}
		var r row
		if err := dec.DecodeElement(&r, &start); err != nil {
			break
		}
		if record := r.record(shared); filled(record) > 0 {
			t.records, t.lines = append(t.records, record), append(t.lines, r.Number)
		}
	}
	t.pad()
	return t
}

func (r row) record(shared func() []string) []string {
	var record []string
	for i, c := range r.Cells {
		at := column(c.Ref, i)
		if at >= xlsxColumns {
			continue
		}
		for len(record) <= at {
			record = append(record, "")
		}
		record[at] = c.text(shared)
	}
	return record
}

func (c cell) text(shared func() []string) string {
	if c.Type != "s" {
		return c.Value + strings.Join(c.Inline, "") + strings.Join(c.Runs, "")
	}
	if n, err := strconv.Atoi(c.Value); err == nil && n >= 0 && n < len(shared()) {
		return shared()[n]
	}
	return "…" // beyond what was read
}

// pad makes all rows as long as the longest, because sheets do not store trailing empty cells.
func (t *table) pad() {
	for _, r := range t.records {
		t.columns = max(t.columns, filledTo(r))
	}
	for i, r := range t.records {
		for len(r) < t.columns {
			r = append(r, "")
		}
		t.records[i] = r[:t.columns]
	}
}

// column returns the index of a cell's column from its reference, such as AB12, or i if there
// is none.
func column(ref string, i int) int {
	n := 0
	for _, c := range ref {
		if c < 'A' || c > 'Z' || n > xlsxColumns {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	if n == 0 {
		return i
	}
	return n - 1
}

// sharedStrings reads the first shared strings.
func sharedStrings(archive *zip.Reader) []string {
	dec := xml.NewDecoder(bytes.NewReader(readMember(archive, "xl/sharedStrings.xml", xlsxBytes)))
	var all []string
	for {
		token, err := dec.Token()
		if err != nil {
			return all
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "si" {
			continue
		}
		var si struct {
			Text []string `xml:"t"`
			Runs []string `xml:"r>t"`
		}
		if err := dec.DecodeElement(&si, &start); err != nil {
			return all
		}
		all = append(all, strings.Join(si.Text, "")+strings.Join(si.Runs, ""))
	}
}
