package describe

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/human"
	"dsstar/notebook/lazy"
	"dsstar/prompts"
)

// Files returns the files that the model is shown, with as much of their descriptions
// as the sizes allow, which columns of theirs match, and the names of the others.
func (r *Describer) Files(show ask.Sizes) (shown []prompts.File, relations, leftOut string) {
	texts := make([]string, len(r.t.Descriptions))
	for n := range r.t.Descriptions {
		f := prompts.File{
			Path: r.dataPython(n), Size: human.StableBytes(r.t.Task.Files[n].Size),
			Alike: brief.Lines(r.t.Descriptions[n].Alike, show.Description/8),
		}
		f.Like, texts[n] = r.words(n)
		shown = append(shown, f)
	}
	for n, share := range r.sharesOf(texts, show) {
		text := brief.Lines(texts[n], share)
		shown[n].Description = text
		if d := r.t.Descriptions[n]; d.Whole && text == texts[n] {
			shown[n].Whole, shown[n].Kind = true, d.Kind // which tells the encoding
		}
	}
	return shown, brief.Lines(r.t.Relations, show.Context/relationsShare),
		brief.Lines(r.t.Task.LeftOut, show.Description/4)
}

// words is what the model is told of file n: its description, or only what that adds to
// that of a file before it, by its number from 1, which the same script has described.
func (r *Describer) words(n int) (like int, text string) {
	d := r.t.Descriptions[n]
	switch {
	case r.method.NoAnalyzer && d.Text == "":
		return 0, ""
	case d.Text == "" && d.Error != "":
		return 0, "No description: " + d.Error
	case d.Corrected:
		return 0, d.Text
	case d.Profile && d.Like != "":
		like := func(first record.Description) bool { return first.File == d.Like }
		return slices.IndexFunc(r.t.Descriptions, like) + 1, d.Text
	case d.Profile:
		return 0, d.Text
	}
	for m := range n {
		first := r.t.Descriptions[m]
		if first.Lead() != d.Lead() || first.Corrected {
			continue
		}
		if added := linesBeyond(d.Text, first.Text); len(added) < len(d.Text)*9/10 {
			return m + 1, cmp.Or(added, "nothing")
		}
	}
	return 0, d.Text
}

// linesBeyond returns the lines of text that other does not have.
func linesBeyond(text, other string) string {
	had := map[string]bool{}
	for line := range strings.Lines(other) {
		had[strings.TrimRight(line, " \r\n")] = true
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \r\n"); !had[line] {
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// mostOf is how much of one description is shown at most: of what a script prints no more than it
// was told.
func (r *Describer) mostOf(n int, show ask.Sizes) int {
	if d := r.t.Descriptions[n]; d.Profile || d.Whole || d.Corrected {
		return show.Description
	}
	return min(show.Description, 2*r.descriptionChars(show))
}

// sharesOf divides the room for descriptions: one half fairly, so that every
// file says something, the other in the order of nearness to the question.
func (r *Describer) sharesOf(texts []string, show ask.Sizes) []int {
	lengths := make([]int, len(texts))
	total := 0
	for n, text := range texts {
		lengths[n] = min(len(text), r.mostOf(n, show))
		total += lengths[n]
	}
	left := show.Context
	if total <= left {
		return lengths
	}
	share := brief.Shares(lengths, left/2, show.Description)
	for _, n := range share {
		left -= n
	}
	for _, n := range r.nearness {
		more := max(0, min(left, lengths[n]-share[n]))
		share[n], left = share[n]+more, left-more
	}
	return share
}

// leftOut names files in at most about most bytes: each, or else those together whose names differ
// in a number, or else how many there are in each folder, with an example.
func leftOut(names []string, most int) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(brief.Python("data/"+name) + "\n")
	}
	if b.Len() <= most {
		return b.String()
	}
	if text := byNumber(names); len(text) <= most {
		return text
	}
	b.Reset()
	count, first := map[string]int{}, map[string]string{}
	for _, name := range names {
		folder := path.Dir(name)
		if count[folder]++; count[folder] == 1 {
			first[folder] = path.Base(name)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&b, "%s: %d files, such as %s\n", brief.Python(path.Join("data", folder)+"/"),
			count[folder], brief.Python(first[folder]))
	}
	return brief.Clip(b.String(), most)
}

// numbered is a name that has a number before its ending.
var numbered = lazy.Regexp(`^(.*?)([0-9]{1,9})([^0-9]*(?:\.\w+)?)$`)

// byNumber names all files, those together whose names differ in their last number.
func byNumber(names []string) string {
	numbers := map[string][]string{}
	for _, name := range names {
		form, number := name, ""
		if m := numbered().FindStringSubmatch(name); m != nil && !strings.Contains(name, "*") {
			form, number = m[1]+"*"+m[3], m[2]
		}
		numbers[form] = append(numbers[form], number)
	}
	var lines []string
	for form, all := range numbers {
		if len(all) == 1 {
			lines = append(lines, brief.Python("data/"+strings.Replace(form, "*", all[0], 1)))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s: %d files, * is %s", brief.Python("data/"+form), len(all),
			ranges(all)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// ranges names numbers, those that follow each other by the first and the last.
func ranges(numbers []string) string {
	slices.Sort(numbers)
	var parts []string
	for first := 0; first < len(numbers); {
		last := first
		for last+1 < len(numbers) && follows(numbers[last], numbers[last+1]) {
			last++
		}
		part := numbers[first]
		if last > first {
			part += " to " + numbers[last]
		}
		parts, first = append(parts, part), last+1
	}
	return strings.Join(parts, ", ")
}

// follows reports whether b is the number after a, written with as many digits.
func follows(a, b string) bool {
	m, _ := strconv.Atoi(a) // nine digits at most
	n, _ := strconv.Atoi(b)
	return len(a) == len(b) && n == m+1
}
