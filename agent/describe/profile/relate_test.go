package profile

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
)

// of is a column that has the values from low to high, each once in a table of so many rows.
func of(name, kind string, low, high, rows int) Profile {
	c := Column{Name: name, Type: kind, Distinct: high - low + 1, Unique: high-low+1 == rows}
	for v := low; v <= high; v++ {
		c.Sketch = append(c.Sketch, crc32.ChecksumIEEE([]byte(fmt.Sprint(v))))
	}
	slices.Sort(c.Sketch)
	c.Sketch = c.Sketch[:min(len(c.Sketch), 128)]
	return Profile{Tables: []Table{{Columns: []Column{c}}}}
}

func TestRelate(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, in Profile
		want     string
	}{
		{"a key", of("brand_id", "number", 1, 9, 300), of("brand_id", "number", 1, 9, 9),
			"brand_id of in.csv, a key, has the values of brand_id of from.csv"},
		{"a part of the name", of("owner_customer_id", "number", 5, 50, 90),
			of("customer_id", "number", 1, 50, 50),
			"customer_id of in.csv, a key, has the values of owner_customer_id of from.csv"},
		{"many words", of("sold to", "text", 1, 50, 90), of("client", "text", 1, 60, 60),
			"client of in.csv, a key, has the values of sold to of from.csv"},
		{"the codes in lists", of("categories", "list", 1, 30, 90), of("mcc", "number", 1, 60, 60),
			"mcc of in.csv, a key, has the values of categories of from.csv"},
		{"few of the values", of("state", "text", 1, 60, 90), of("state", "text", 41, 100, 60), ""},
		{"few words", of("size", "text", 1, 5, 90), of("grade", "text", 1, 5, 5), ""},
		{"a third of three", of("phone", "text", 1, 3, 3), of("phone", "text", 3, 12, 10), ""},
		{"numbers by chance", of("height", "number", 1, 90, 90), of("id", "number", 1, 100, 100), ""},
		{"no names", of("column 3", "number", 1, 90, 90), of("column 3", "number", 1, 90, 90), ""},
	} {
		got := Relate([]string{"from.csv", "in.csv"}, map[string]*Profile{"from.csv": &c.from, "in.csv": &c.in})
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRelateSampled: what a sample tells of is no key for certain.
func TestRelateSampled(t *testing.T) {
	in := of("brand_id", "number", 1, 9, 9)
	in.Tables[0].Sample = 9
	from := of("brand_id", "number", 1, 9, 300)
	got := Relate([]string{"from", "in"}, map[string]*Profile{"from": &from, "in": &in})
	if !strings.Contains(got, "a key in a sample, has") {
		t.Errorf("it is told of as a key: %s", got)
	}
}

// TestRelateOnce has several tables with one column of the same name.
func TestRelateOnce(t *testing.T) {
	state := of("state", "text", 1, 50, 50)
	const want = "state of a, a key, has the values of state of b; state of c"
	third := of("state", "text", 3, 40, 90)
	if got := Relate([]string{"a", "b", "c"}, map[string]*Profile{"a": &state, "b": &state, "c": &third}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
