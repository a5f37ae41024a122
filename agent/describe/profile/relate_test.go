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
	return Profile{Format: "text", Tables: []Table{{Columns: []Column{c}}}}
}

func TestRelate(t *testing.T) {
	sampled, state := of("brand_id", "number", 1, 9, 9), of("state", "text", 1, 50, 50)
	sampled.Tables[0].Sample = 9
	unread := of("brand_id", "number", 1, 9, 9)
	unread.Problem = "it takes too long"
	for _, c := range []struct {
		name string
		of   []Profile // a, b, c
		want string
	}{
		{"a key", []Profile{of("brand_id", "number", 1, 9, 300), of("brand_id", "number", 1, 9, 9)},
			"brand_id of b, a key, has the values of brand_id of a"},
		{"a key of a sample", []Profile{of("brand_id", "number", 1, 9, 300), sampled},
			"brand_id of b, a key in a sample, has the values of brand_id of a"},
		{"a part of the name", []Profile{of("owner_customer_id", "number", 5, 50, 90), of("customer_id", "number", 1, 50, 50)},
			"customer_id of b, a key, has the values of owner_customer_id of a"},
		{"many words", []Profile{of("sold to", "text", 1, 50, 90), of("client", "text", 1, 60, 60)},
			"client of b, a key, has the values of sold to of a"},
		{"the codes in lists", []Profile{of("categories", "list", 1, 30, 90), of("mcc", "number", 1, 60, 60)},
			"mcc of b, a key, has the values of categories of a"},
		{"several tables", []Profile{state, state, of("state", "text", 3, 40, 90)},
			"state of a, a key, has the values of state of b; state of c"},
		{"not all values", []Profile{of("state", "text", 6, 55, 90), state},
			"state of b, a key, has the values of state of a (about 90% of them)"},
		{"not read", []Profile{of("brand_id", "number", 1, 9, 300), unread}, ""},
		{"few of the values", []Profile{of("state", "text", 1, 60, 90), of("state", "text", 41, 100, 60)}, ""},
		{"few words", []Profile{of("size", "text", 1, 5, 90), of("grade", "text", 1, 5, 5)}, ""},
		{"a third of three", []Profile{of("phone", "text", 1, 3, 3), of("phone", "text", 3, 12, 10)}, ""},
		{"numbers by chance", []Profile{of("height", "number", 1, 90, 90), of("id", "number", 1, 100, 100)}, ""},
		{"no names", []Profile{of("column 3", "number", 1, 90, 90), of("column 3", "number", 1, 90, 90)}, ""},
	} {
		profiles, names := map[string]*Profile{}, []string{"a", "b", "c"}[:len(c.of)]
		for n, name := range names {
			profiles[name] = &c.of[n]
		}
		if got := Relate(names, profiles); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNear(t *testing.T) {
	texts := []string{
		"fees.json fee rules by card scheme", "rain.csv rain in mm, by day",
		"manual.md what a fee is; what a merchant is",
		"payments.csv merchant, card scheme, amount", "données.csv",
	}
	for question, want := range map[string][]int{ // the first ones
		"How much RAIN fell?": {1}, "Fees by card scheme?": {0, 3}, "Combien dans données?": {4},
		"xyz": {0, 1, 2, 3, 4}, "": {0, 1, 2, 3, 4}, // nothing in common: as they come
	} {
		if got, _ := Near(question, texts, 0); !slices.Equal(got[:len(want)], want) {
			t.Errorf("%q: got %v, want %v", question, got, want)
		}
	}
	// Texts of the same words are equally near, in every run.
	words := strings.Fields("mean price of cars by region in the year when most were sold at all")
	var alike, some []string
	for n := range words {
		alike = append(alike, strings.Join(slices.Concat(words[n:], words[:n]), " "))
		some = append(some, strings.Join(words[:n], " ")) // so that words differ in weight
	}
	order, _ := Near("the price of cars in each region of the year", append(alike, some...), 0)
	order = slices.DeleteFunc(order, func(i int) bool { return i >= len(alike) })
	if !slices.IsSorted(order) {
		t.Errorf("of texts that are alike, the order is %v", order)
	}
}
