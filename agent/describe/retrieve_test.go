package describe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/ask"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
)

func TestByWords(t *testing.T) {
	texts := []string{
		"fees.json fee rules by card scheme", "rain.csv rain in mm, by day",
		"manual.md what a fee is; what a merchant is",
		"payments.csv merchant, card scheme, amount", "données.csv",
	}
	for _, c := range []struct {
		question string
		want     []int // the first ones
	}{
		{"How much RAIN fell?", []int{1}},
		{"Fees by card scheme?", []int{0, 3}},
		{"Combien dans données?", []int{4}},
		{"xyz", []int{0, 1, 2, 3, 4}}, // nothing in common: as they come
		{"", []int{0, 1, 2, 3, 4}},
	} {
		if got, _ := profile.Near(c.question, texts, 0); !slices.Equal(got[:len(c.want)], c.want) {
			t.Errorf("%q: got %v, want %v", c.question, got, c.want)
		}
	}
}

// Texts of the same words are equally near, in every run.
func TestByWordsAlike(t *testing.T) {
	words := strings.Fields("mean price of cars by region in the year when most were sold at all")
	var texts, some []string
	for n := range words {
		texts = append(texts, strings.Join(slices.Concat(words[n:], words[:n]), " "))
		some = append(some, strings.Join(words[:n], " ")) // so that words differ in weight
	}
	order, _ := profile.Near("the price of cars in each region of the year", append(texts, some...), 0)
	alike := slices.DeleteFunc(order, func(i int) bool { return i >= len(texts) })
	if !slices.IsSorted(alike) {
		t.Errorf("of texts that are alike, the order is %v", alike)
	}
}

// What is told of files is near the question, and not the form of its answer: of a document the
// sections, and of the tables the nearest has the most room.
func TestNearQuestion(t *testing.T) {
	var manual strings.Builder
	var starts []int
	for _, topic := range []string{"Beginning", "Fraud", "Applicable answer of a relevant question", "Contact"} {
		starts = append(starts, manual.Len())
		fmt.Fprintf(&manual, "# %s\n\n%s\nThe last word on %s.\n", topic, strings.Repeat(topic+" goes on for a while. ", 40), topic)
	}
	table := func(name string) *profile.Profile {
		var columns []profile.Column
		for n := range 40 {
			columns = append(columns, profile.Column{Name: fmt.Sprint(name, n), Line: "number 0 to 10000000; 17 missing"})
		}
		return &profile.Profile{Format: "text", Tables: []profile.Table{{Headline: "900 rows", Names: []string{name}, Columns: columns}}}
	}
	r := &Describer{Asker: ask.NewAsker(ask.Settings{DescriptionChars: 8000, ContextChars: 36_000}, nil, nil), t: &record.Trajectory{}, profiles: map[string]*profile.Profile{}}
	r.t.Task.Question = "Does fraud cost a fine?"
	r.t.Task.Guidelines = "If a question has no relevant or applicable answer, answer Not Applicable."
	manuals := &profile.Profile{Format: "text", Document: manual.String(), Sections: starts}
	for n, p := range []*profile.Profile{manuals, table("far"), table("near"), table("distant")} {
		r.t.Task.Files = append(r.t.Task.Files, record.File{Name: fmt.Sprint(n)})
		r.t.Descriptions = append(r.t.Descriptions, record.Description{File: fmt.Sprint(n)})
		r.profiles[fmt.Sprint(n)] = p
		r.t.Descriptions[n] = r.fromProfile(n, 8000)
	}
	if text := r.fromProfile(0, 2600).Text; !strings.Contains(text, "last word on Fraud") || strings.Contains(text, "last word on Applicable") {
		t.Error(text)
	}
	near := r.share([]int{0, 2, 1, 3})
	if d := r.t.Descriptions; len(near) < 3 || len(d[2].Text) < 5*len(d[1].Text)/4 {
		t.Errorf("the nearest table has %d bytes, the next one %d", len(d[2].Text), len(d[1].Text))
	}
}
