package describe

import (
	"fmt"
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

// Files returns the files that the model is shown, with as much of their descriptions as the sizes
// allow, which columns of theirs match, and the names of the others. With the code of cells, which
// have chosen their files, there are only the documents and the tables in files that the code
// names, however far they seemed from the question, and fewer names.
func (r *Describer) Files(show ask.Sizes, code string) (shown []prompts.File,
	relations, leftOut string) {
	texts, likes := make([]string, len(r.t.Descriptions)), make([]int, len(r.t.Descriptions))
	for n := range r.t.Descriptions {
		likes[n], texts[n] = r.words(n)
	}
	named, cells := r.named(code, likes)
	for n, d := range r.t.Descriptions {
		if d.Far && !named[n] {
			texts[n] = d.Line
		}
		if cells && !named[n] && !r.document(n) {
			texts[n] = ""
		} else if d.Later != "" {
			texts[n] = strings.TrimLeft(texts[n]+"\n"+d.Later, "\n")
		}
	}
	share := r.sharesOf(texts, likes, show)
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
	if cells {
		relations, most = "", show.Description/16
	}
	leftOut = brief.Lines(leftOut, most)
	if len(names) > 0 {
		leftOut = listed(names, most/2) + leftOut
	}
	return shown, relations, leftOut
}

// lists matches code that goes through folders: it may open any file.
var lists = lazy.Regexp(`\b(?:listdir|scandir|walk|iterdir)\(`)

// named returns the files that the code of cells names, with the first of their families, and
// whether it names any: code that names none has its files from elsewhere.
func (r *Describer) named(code string, likes []int) (named map[int]bool, any bool) {
	if code == "" || !r.method.Profiles() || lists().MatchString(code) {
		return nil, false
	}
	named = r.namedIn(code)
	for n := range named {
		if lead := likes[n] - 1; lead >= 0 {
			named[lead] = true
		}
	}
	return named, len(named) > 0
}

// literals are the string literals of Python code that may be names of files.
var literals = lazy.Regexp(`"([^"\n]+)"|'([^'\n]+)'`)

// holes are what an f-string leaves open.
var holes = lazy.Regexp(`\{[^{}]*\}`)

// namedIn returns the files that code names: by their own names, by a folder, a pattern or an
// f-string.
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

// words is what the model is told of file n: its description, or what that differs in from that of
// another one, by its number from 1.
func (r *Describer) words(n int) (like int, text string) {
	d := r.t.Descriptions[n]
	switch {
	case r.method.NoAnalyzer && d.Text == "":
		return 0, ""
	case d.Text == "" && d.Error != "":
		return 0, "No description: " + d.Error
	case d.Like != "":
		like := func(first record.Description) bool { return first.File == d.Like }
		return slices.IndexFunc(r.t.Descriptions, like) + 1, d.Text
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

// sharesOf divides the room for descriptions. Of a program's it is the files nearest to the
// question that say most; of a model's one half is divided fairly, so that every file says
// something.
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

// nearestFirst gives each file what it has to tell, the nearest to the question first, while there
// is room. A file that there is no room for has 0, and is only named.
func (r *Describer) nearestFirst(texts []string, likes []int, show ask.Sizes) []int {
	share, left := make([]int, len(texts)), show.Context
	for _, n := range r.nearness {
		if size := min(len(texts[n]), show.Description); size <= left {
			share[n] = size
			left -= size
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

// listed names files in at most about most bytes: those together whose names differ in a number,
// and several in a folder by what differs.
func listed(names []string, most int) string {
	if len(names) == 0 {
		return ""
	}
	numbers, folders := map[string][]string{}, map[string][]string{}
	for _, name := range names {
		form, number := name, ""
		if m := numbered().FindStringSubmatch(name); m != nil && !strings.Contains(name, "*") {
			form, number = m[1]+"*"+m[3], m[2]
		}
		numbers[form] = append(numbers[form], number)
	}
	var whole, short []string
	forms := map[[2]string][]string{} // by what differs
	together := func(form, all, ends string, n int) {
		same := [2]string{fmt.Sprintf("%d files, * is %s", n, all),
			fmt.Sprintf("%d files, * is %s", n, ends)}
		forms[same] = append(forms[same], brief.Python("data/"+form))
	}
	const few = 4 // that are named one by one
	for form, all := range numbers {
		if slices.Sort(all); len(all) >= few {
			together(form, ranges(all), all[0]+" to "+all[len(all)-1], len(all))
			continue
		}
		for _, number := range all {
			name := strings.Replace(form, "*", number, 1)
			key := path.Dir(name) + "/*" + path.Ext(name)
			folders[key] = append(folders[key], name)
		}
	}
	for _, all := range folders {
		slices.Sort(all)
		if form, differ := apart(all); len(all) >= few {
			ends := differ[0] + " to " + differ[len(differ)-1]
			together(form, strings.Join(differ, ", "), ends, len(all))
			continue
		}
		for _, name := range all {
			line := brief.Python("data/" + name)
			whole, short = append(whole, line), append(short, line)
		}
	}
	for same, all := range forms {
		slices.Sort(all)
		each := ": "
		if len(all) > 1 {
			each = ": each "
		}
		line := strings.Join(all, ", ") + each
		whole, short = append(whole, line+same[0]), append(short, line+same[1])
	}
	slices.Sort(whole)
	if text := strings.Join(whole, "\n") + "\n"; len(text) <= most {
		return text
	}
	slices.Sort(short)
	return brief.Clip(strings.Join(short, "\n")+"\n", most)
}

// apart tells names of one folder and ending by what they have in common, with a * for what
// differs, and what that is in each. Words stay whole.
func apart(names []string) (form string, differ []string) {
	word := func(c byte) bool { return c != '/' && c != '_' && c != '-' && c != ' ' && c != '.' }
	first, last := names[0], names[len(names)-1] // in order, so that all begin as these two do
	head := 0
	for head < min(len(first), len(last)) && first[head] == last[head] {
		head++
	}
	for head > 0 && word(first[head-1]) {
		head--
	}
	tail := len(path.Ext(first))
	for _, name := range names {
		differ = append(differ, name[head:max(head, len(name)-tail)])
	}
	for i, d := range differ {
		if strings.ContainsAny(d, ",*") {
			differ[i] = strconv.Quote(d)
		}
	}
	return first[:head] + "*" + first[len(first)-tail:], differ
}

// numbered is a name that has a number before its ending.
var numbered = lazy.Regexp(`^(.*?)([0-9]{1,9})([^0-9]*(?:\.\w+)?)$`)

// ranges names numbers in order, those that follow each other by the first and the last.
func ranges(numbers []string) string {
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
