package files

import (
	"encoding/binary"
	"strings"
)

// sqlite reads a database's schema, the B-tree rooted at the first page:
// https://sqlite.org/fileformat2.html.
func (s source) sqlite() Look {
	look := Look{Kind: "SQLite database", Format: "sqlite", Shape: s.alone("sqlite")}
	if len(s.start) < 100 {
		look.Kind += ", cut off"
		return look
	}
	page := int64(binary.BigEndian.Uint16(s.start[16:]))
	if page == 1 {
		page = 65536
	}
	// an invalid page size, or text in UTF-16, which is not read
	if page < 512 || page&(page-1) != 0 || binary.BigEndian.Uint32(s.start[56:]) > 1 {
		return look
	}
	var names, sql []string
	for _, r := range s.schema(1, page, &budget{s.r, mostBytes}) {
		if r[0] == "table" && !strings.HasPrefix(r[1], "sqlite_") {
			names, sql = append(names, r[1]), append(sql, strings.Join(strings.Fields(r[4]), " "))
		}
	}
	if len(names) == 0 {
		return look
	}
	look.Kind += " with " + count(len(names), "table") + ": " + list(names)
	look.Shape = shape(append([]string{"sqlite"}, sql...)...)
	look.Head, _ = lines(strings.Join(sql, "\n"), s.head)
	return look
}

// schema returns the rows of the schema B-tree from page number on: type, name, table, root
// page (not read) and SQL.
func (s source) schema(number uint32, size int64, r *budget) [][5]string {
	if number == 0 || r.left < size { // checked before allocating: pages may form cycles
		return nil
	}
	b := make([]byte, size)
	if n, _ := r.ReadAt(b, int64(number-1)*size); n < 108 {
		return nil
	}
	at := 0
	if number == 1 {
		at = 100 // the first page begins with the file's header
	}
	cells := int(binary.BigEndian.Uint16(b[at+3:]))
	var rows [][5]string
	switch b[at] {
	case 0x0d: // a leaf
		for i := range cells {
			if row, ok := schemaRow(b, at+8+2*i); ok {
				rows = append(rows, row)
			}
		}
	case 0x05: // an interior page: its cells point to pages, its header to the last one
		for i := range cells {
			if p := at + 12 + 2*i; p+2 <= len(b) {
				if c := int(binary.BigEndian.Uint16(b[p:])); c+4 <= len(b) {
					rows = append(rows, s.schema(binary.BigEndian.Uint32(b[c:]), size, r)...)
				}
			}
		}
		rows = append(rows, s.schema(binary.BigEndian.Uint32(b[at+8:]), size, r)...)
	}
	return rows
}

// schemaRow reads the row of the cell that the pointer at p of page b points to. SQL that
// overflows to another page is cut.
func schemaRow(b []byte, p int) (row [5]string, ok bool) {
	if p+2 > len(b) {
		return row, false
	}
	cell := b[min(len(b), int(binary.BigEndian.Uint16(b[p:]))):]
	_, cell = varint(cell) // the payload's length
	_, cell = varint(cell) // the row's number
	headed, rest := varint(cell)
	if headed > uint64(len(cell)) || len(cell)-len(rest) > int(headed) {
		return row, false
	}
	types, values := cell[len(cell)-len(rest):headed], cell[headed:]
	for i := range row {
		var t uint64
		t, types = varint(types)
		n := uint64(0)
		switch {
		case t >= 12:
			n = (t - 12) / 2
		case t <= 4:
			n = t
		case t <= 7:
			n = []uint64{6, 8, 8}[t-5]
		}
		n = min(n, uint64(len(values)))
		row[i] = strings.ToValidUTF8(string(values[:n]), "\uFFFD")
		values = values[n:]
	}
	return row, true
}

// varint reads an SQLite varint: big-endian, seven bits per byte, but eight of the ninth.
func varint(b []byte) (n uint64, rest []byte) {
	for i, c := range b {
		if i == 8 {
			return n<<8 | uint64(c), b[9:]
		}
		n = n<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return n, b[i+1:]
		}
	}
	return 0, nil
}
