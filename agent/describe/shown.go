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
	"dsstar/notebook/lazy"
	"dsstar/prompts"
)

// Files returns the files that the model is shown, with as much of their descriptions
// as the sizes allow, which columns of theirs match, and the names of the others. With the code of
// cells, which have chosen their files, there are only the documents, the tables in files that the
// code names, and fewer names.
func (r *Describer) Files(show ask.Sizes, code string) (shown []prompts.File, relations, leftOut string) {
	texts, likes := make([]string, len(r.t.Descriptions)), make([]int, len(r.t.Descriptions))
	for n := range r.t.Descriptions {
		likes[n], texts[n] = r.words(n)
	}
	share := r.sharesOf(texts, likes, show)
	if code != "" && r.method.Profiles() {
		r.onlyNamed(code, likes, share)
	}
	var names []string
	place, beside := map[int]int{}, map[int]string{} // by file; places are from 1
	for n, d := range r.t.Descriptions {
		texts[n] = brief.Lines(texts[n], share[n])
		switch {
		case r.method.Profiles() && share[n] == 0:
			names = append(names, d.File)
		case d.Profile && d.Like != "" && !strings.Contains(texts[n], "\n"):
			beside[likes[n]-1] += r.dataPython(n) + ": " + texts[n] + "\n" +
				brief.Lines(d.Alike, show.Description/8)
		default:
			shown = append(shown, prompts.File{Path: r.dataPython(n), Description: texts[n]})
			place[n] = len(shown)
		}
	}
	for n, d := range r.t.Descriptions {
		if place[n] == 0 {
			continue
		}
		f := &shown[place[n]-1]
		f.Size = r.t.Task.Files[n].Weight()
		f.Alike = beside[n] + brief.Lines(d.Alike, show.Description/8)
		if f.Whole = d.Whole && texts[n] == d.Text; f.Whole {
			f.Kind = d.Kind // which tells the encoding
		}
		if likes[n] > 0 {
			f.Like = place[likes[n]-1]
		}
	}
	relations, leftOut = brief.Lines(r.t.Relations, show.Context/relationsShare), r.t.Task.LeftOut
	most := show.Description / 4
	if code != "" && r.method.Profiles() {
		relations, most = "", show.Description/16
	}
	leftOut = brief.Lines(leftOut, most)
	if len(names) > 0 {
		leftOut = listed(names, most/2) + leftOut
	}
	return shown, relations, leftOut
}

// onlyNamed takes away what is told of tables in files that code does not name. Code that names
// none has its files from elsewhere.
func (r *Describer) onlyNamed(code string, likes, share []int) {
	named := r.namedIn(code)
	for n := range named {
		if lead := likes[n] - 1; lead >= 0 {
			named[lead] = true
		}
	}
	for n := range share {
		if len(named) > 0 && !named[n] && !r.document(n) {
			share[n] = 0
		}
	}
}

// literals are the string literals of Python code that may be names of files.
var literals = lazy.Regexp(`"([^"\n]+)"|'([^'\n]+)'`)

// holes are what an f-string leaves open.
var holes = lazy.Regexp(`\{[^{}]*\}`)

// namedIn returns the files that code names: by their own names, by a folder, a pattern or an f-string.
func (r *Describer) namedIn(code string) map[int]bool {
	named := map[int]bool{}
	for _, m := range literals().FindAllStringSubmatch(code, -1) {
		text := path.Clean(strings.TrimPrefix(holes().ReplaceAllString(m[1]+m[2], "*"), "data/"))
		pattern, folder := path.Base(text), path.Dir(text)
		if strings.Trim(text, "*./") == "" {
			continue
		}
		anywhere := strings.Trim(folder, "*./") == ""
		for n, f := range r.t.Task.Files {
			base := path.Base(f.Name)
			like, _ := path.Match(pattern, base)
			in, _ := path.Match(folder, path.Dir(f.Name))
			if like && (in || anywhere) || pattern == base || strings.HasPrefix(f.Name, text+"/") {
				named[n] = true
			}
		}
	}
	return named
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

// sharesOf divides the room for descriptions. Of a program's it is the files nearest to the question
// that say most; of a model's one half is divided fairly, so that every file says something.
func (r *Describer) sharesOf(texts []string, likes []int, show ask.Sizes) []int {
	if r.method.Profiles() {
		return r.nearestFirst(texts, likes, show)
	}
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

// leastChars is how much of the description of a table is shown unless nothing is, and farChars is how
// much of one that is far from the question.
const leastChars, farChars = 800, 400

// nearestFirst gives each file, the nearest to the question first, a third of the room that is left
// for tables, or its equal share if that is more. Of documents, which have rules and definitions, as
// many as fit are whole. A file that there is no room for has 0, and is only named.
func (r *Describer) nearestFirst(texts []string, likes []int, show ask.Sizes) []int {
	tables, far, documents := show.Context/12, show.Context/20, show.Context*2/5
	share, others := make([]int, len(texts)), 0
	for n := range texts {
		if !r.document(n) {
			others++
		}
	}
	give := func(n int, left *int, most int) {
		size := min(len(texts[n]), most, show.Description)
		if size <= *left && size >= min(len(texts[n]), farChars) {
			share[n] = size
			*left -= size
		}
	}
	for _, n := range r.nearness {
		if r.document(n) {
			give(n, &documents, documents*3/4)
			continue
		}
		give(n, &tables, max(min(leastChars, tables), tables/min(others, 3)))
		others--
	}
	for _, n := range r.nearness {
		if share[n] == 0 {
			give(n, &far, farChars)
		}
	}
	for n, like := range likes {
		if like > 0 && share[like-1] == 0 {
			share[n] = 0 // it tells only what it has beyond the other
		}
	}
	return share
}

// document reports whether what is known of a file is its text, or what a person says of it.
func (r *Describer) document(n int) bool {
	d := r.t.Descriptions[n]
	return d.Whole || d.Document || d.Corrected
}

// listed names files in at most about most bytes: each, or else those together whose names differ
// in a number, or else how many there are in each folder, with an example.
func listed(names []string, most int) string {
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
