package files

import (
	"encoding/csv"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// A table is the first records of delimited text or of a sheet.
type table struct {
	records [][]string
	lines   []int // where each record begins, from 1
	columns int   // of most records
	cut     bool  // the only record continues after the end of the text
}

// Limits of what is read of a table.
const sampleRecords, sampleColumns = 50, 1000

// table looks at text as delimited records.
func (s source) table(text, ext string) (Look, bool) {
	if !mayBeTable(ext) || strings.TrimSpace(text) == "" {
		return Look{}, false
	}
	delimiter, t := sniff(text, s.whole(), surelyTable(ext))
	if delimiter == 0 {
		return Look{}, false
	}
	h := t.findHeader()
	format, kind := "csv", "CSV"
	if delimiter == '\t' {
		format, kind = "tsv", "TSV"
	}
	least := ""
	if t.cut {
		least = "at least "
	}
	kind += ", " + least + count(t.columns, "column")
	if delimiter != ',' && delimiter != '\t' && t.columns > 1 {
		kind += fmt.Sprintf(", delimiter %q", delimiter)
	}
	return Look{Kind: kind + h.remark(t), Format: format,
		Shape: shape(append([]string{format, string(delimiter)}, t.structure(h, s.name)...)...)}, true
}

// sniff returns the delimiter that splits most records into the same number of fields, or 0.
// If several do, the one that is rarer in data wins, unless the comma yields far more fields: a
// comma may be a decimal comma or prose, and a bar may be part of a field.
func sniff(text string, whole, sure bool) (rune, table) {
	var best rune
	var found table
	bestRate := 0.0
	for _, d := range "\t;|," {
		if !strings.ContainsRune(text, d) {
			continue
		}
		t := readTable(text, d, whole)
		rate := t.consistency()
		enough := rate >= 0.9 && len(t.records) >= 3
		if t.columns < 2 || !enough && !sure {
			continue
		}
		if rate > bestRate+0.1 || rate > bestRate-0.05 && d == ',' && t.columns >= 2*found.columns {
			best, found, bestRate = d, t, rate
		}
	}
	if best == 0 && sure {
		return ',', readTable(text, ',', whole)
	}
	return best, found
}

// readTable reads the first records of text. A last record that was read only in part is
// dropped.
func readTable(text string, delimiter rune, whole bool) table {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = delimiter, -1, true
	var t table
	for len(t.records) < sampleRecords {
		record, err := r.Read()
		if err != nil {
			n := len(t.records)
			if t.cut = !whole && n == 1; !whole && n > 1 {
				t.records, t.lines = t.records[:n-1], t.lines[:n-1]
			}
			break
		}
		line, _ := r.FieldPos(0)
		t.records, t.lines = append(t.records, record), append(t.lines, line)
	}
	t.columns = t.mode()
	return t
}

// mode returns the most common number of fields, and the greatest of equally common ones.
func (t table) mode() int {
	seen := map[int]int{}
	best := 0
	for _, r := range t.records {
		n := len(r)
		seen[n]++
		if seen[n] > seen[best] || seen[n] == seen[best] && n > best {
			best = n
		}
	}
	return best
}

// consistency returns the share of records with t.columns fields.
func (t table) consistency() float64 {
	same := 0
	for _, r := range t.records {
		if len(r) == t.columns {
			same++
		}
	}
	return float64(same) / float64(max(1, len(t.records)))
}

// A header is the position of a table's header: at is its index, or -1 if there is none. first
// is the index of the first record that is not a title or comment.
type header struct{ at, first int }

func (h header) remark(t table) string {
	switch {
	case h.at < 0:
		return ", no header"
	case t.lines[h.at] > 1:
		return fmt.Sprintf(", header in line %d", t.lines[h.at])
	}
	return ""
}

// findHeader returns the first record with names in more than half of the columns. Titles have
// fewer names, and data has numbers.
func (t table) findHeader() header {
	const searched = 20
	width := 0
	for _, r := range t.records {
		width = max(width, min(filledTo(r), t.columns))
	}
	for i, r := range t.records[:min(searched, len(t.records))] {
		if comment(r) && i+1 < len(t.records) &&
			(comment(t.records[i+1]) || filled(t.records[i+1]) > filled(r)) {
			continue
		}
		if filled(r)*2 <= width && width > 1 {
			continue
		}
		if t.names(i) {
			return header{i, i}
		}
		return header{-1, i}
	}
	return header{-1, 0}
}

// names reports whether record i can be a header. Years, dates and ranges can be column names
// if the values below are mostly something else.
func (t table) names(i int) bool {
	var below []string
	if i+1 < len(t.records) {
		below = t.records[i+1]
	}
	periods, again := map[string]bool{}, 0
	for c, cell := range t.records[i] {
		if !isData(cell) {
			continue
		}
		if !isPeriod(cell) || periods[cell] || below == nil {
			return false
		}
		periods[cell] = true
		if c < len(below) && isPeriod(below[c]) {
			again++
		}
	}
	return again*2 < max(1, len(periods)) && (filled(t.records[i]) > len(periods) || len(periods) > 2)
}

// structure returns what the files of a family share: the header with its numbers collapsed
// or, without a header, the types of the columns. A title is included unless it is specific to
// this file.
func (t table) structure(h header, name string) []string {
	if h.at < 0 {
		return []string{"no header", t.types(h.first)}
	}
	var parts []string
	if h.at > 0 && !comment(t.records[0]) {
		if title := strings.Join(t.records[0], " "); !shareWord(title, path.Base(name)) {
			parts = append(parts, "title", collapse(strings.Join(strings.Fields(title), " ")))
		}
	}
	parts = append(parts, "header")
	cells := t.records[h.at]
	if n := len(cells); n > sampleColumns {
		cells, parts = cells[:sampleColumns], append(parts, strconv.Itoa(n))
	}
	for _, cell := range cells {
		c := collapse(strings.TrimSpace(cell))
		if cell != "" && isData(cell) && c == parts[len(parts)-1] {
			continue // a run of dates may have any length
		}
		parts = append(parts, c)
	}
	return parts
}

// types returns a letter for each column: n for numbers and dates, t for other text, - for
// nothing.
func (t table) types(first int) string {
	types := make([]byte, min(t.columns, sampleColumns))
	for c := range types {
		data, other := 0, 0
		for _, r := range t.records[first:] {
			if c >= len(r) || strings.TrimSpace(r[c]) == "" {
				continue
			}
			if isData(r[c]) {
				data++
			} else {
				other++
			}
		}
		switch {
		case data+other == 0:
			types[c] = '-'
		case data >= other:
			types[c] = 'n'
		default:
			types[c] = 't'
		}
	}
	return string(types)
}

func comment(r []string) bool {
	return len(r) > 0 && (strings.HasPrefix(r[0], "# ") || strings.HasPrefix(r[0], "#!") ||
		strings.HasPrefix(r[0], "##") || strings.HasPrefix(r[0], "%"))
}

func filled(r []string) int {
	n := 0
	for _, cell := range r {
		if strings.TrimSpace(cell) != "" {
			n++
		}
	}
	return n
}

// filledTo returns the number of fields without trailing empty ones.
func filledTo(r []string) int {
	n := len(r)
	for n > 0 && strings.TrimSpace(r[n-1]) == "" {
		n--
	}
	return n
}

var (
	dataCell = regexp.MustCompile(
		`^[-+<>~(]?[$€£¥]? ?[-+]?[.,]?[0-9][-0-9.,:/ '_]*([eE][-+]?[0-9]+)?([TZ][-+0-9:.Z]*)? ?[%)]?$`,
	)
	periodCell = regexp.MustCompile(
		`^((19|20)[0-9]{2}|[0-9]{1,4} ?[-/] ?[0-9]{1,4}([-/][0-9]{1,4})?|[0-9]{1,4}\.[0-9]{1,2}\.[0-9]{1,4})$`,
	)
	word = regexp.MustCompile(`[\p{L}\p{N}]+`)
)

// isData reports whether a cell is a number, an amount, a date or a time.
func isData(cell string) bool {
	return len(cell) < 60 && strings.ContainsAny(cell, "0123456789") &&
		dataCell.MatchString(strings.TrimSpace(cell))
}

// isPeriod reports whether a cell is a year, a date or a range, such as 20-29.
func isPeriod(cell string) bool { return periodCell.MatchString(strings.TrimSpace(cell)) }

// shareWord reports whether two texts have a word of at least 3 characters in common.
func shareWord(a, b string) bool {
	words := map[string]bool{}
	for _, w := range word.FindAllString(strings.ToLower(a), -1) {
		words[w] = len(w) >= 3
	}
	for _, w := range word.FindAllString(strings.ToLower(b), -1) {
		if words[w] {
			return true
		}
	}
	return false
}
