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
	all := r.t.Descriptions
	likes := make([]int, len(all)) // the file that a description tells the difference from, from 1
	for n, d := range all {
		like := func(first record.Description) bool { return d.Like != "" && first.File == d.Like }
		likes[n] = 1 + slices.IndexFunc(all, like)
	}
	named := r.named(code, likes)
	texts := r.texts(named)
	share := r.shares(texts, likes, show)
	var names []string
	place, beside := map[int]int{}, map[int]string{} // by file; places are from 1
	for n, d := range all {
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
	for n, at := range place {
		f, d := &shown[at-1], all[n]
		f.Size = r.t.Task.Files[n].Weight()
		f.Alike = beside[n] + brief.Lines(d.Alike, show.Description/8)
		if f.Whole = d.Whole && texts[n] == d.Text; f.Whole {
			f.Kind = d.Kind // which tells the encoding
		}
		if likes[n] > 0 {
			f.Like = place[likes[n]-1]
		}
	}
	relations, most := brief.Lines(r.t.Relations, show.Context/relationsShare), show.Description/4
	if len(named) > 0 {
		relations, most = "", show.Description/16
	}
	return shown, relations, listed(names, most/2) + brief.Lines(r.t.Task.LeftOut, most)
}

// texts are what there is to tell of the files. If code names files, there is nothing of others but
// documents.
func (r *Describer) texts(named map[int]bool) []string {
	texts := make([]string, len(r.t.Descriptions))
	for n, d := range r.t.Descriptions {
		text := d.Text
		switch {
		case d.Far && !named[n]:
			text = d.Line
		case text == "" && d.Error != "" && !r.method.NoAnalyzer:
			text = "No description: " + d.Error
		}
		if more := d.Beyond(len(r.t.Earlier)); more != "" {
			text = strings.TrimLeft(text+"\n"+more, "\n")
		}
		if len(named) == 0 || named[n] || r.document(n) {
			texts[n] = text
		}
	}
	return texts
}

var (
	// what goes through folders: it may open any file
	lists = lazy.Regexp(`\b(?:listdir|scandir|walk|iterdir)\(`)
	// string literals, which may be names of files, and what an f-string leaves open
	literals = lazy.Regexp(`"([^"\n]+)"|'([^'\n]+)'`)
	holes    = lazy.Regexp(`\{[^{}]*\}`)
)

// named returns the files that the code of cells names, by their own names, by a folder, a pattern
// or an f-string, with the first of their families. Code that names none has its files from
// elsewhere.
func (r *Describer) named(code string, likes []int) map[int]bool {
	if !r.method.Profiles() || lists().MatchString(code) {
		return nil
	}
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
				if likes[n] > 0 {
					named[likes[n]-1] = true
				}
			}
		}
	}
	return named
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

// shares divides the room for descriptions: the nearest to the question say most. Of what a model
// has described one half is divided fairly first, so that every file says something; a file that a
// program has described and that there is no room for has 0, and is only named.
func (r *Describer) shares(texts []string, likes []int, show ask.Sizes) []int {
	share, most, left := make([]int, len(texts)), make([]int, len(texts)), show.Context
	for n, text := range texts {
		most[n] = min(len(text), r.mostOf(n, show))
	}
	fair := !r.method.Profiles()
	if fair {
		share = brief.Shares(most, left/2, show.Description)
	}
	for _, n := range share {
		left -= n
	}
	for _, n := range r.nearness {
		more := max(0, most[n]-share[n])
		if fair {
			more = min(more, max(0, left))
		}
		if more <= left {
			share[n], left = share[n]+more, left-more
		}
	}
	for n, like := range likes {
		if like > 0 && share[like-1] == 0 {
			share[n] = 0 // it tells only what it has beyond the other
		}
	}
	return share
}

// mostOf is how much of one description is shown at most: of what a script prints no more than it
// was told.
func (r *Describer) mostOf(n int, show ask.Sizes) int {
	if d := r.t.Descriptions[n]; d.Profile || d.Whole || d.Corrected {
		return show.Description
	}
	return min(show.Description, 2*r.descriptionChars(show))
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
	together := func(form string, differ []string) {
		n, ends := len(differ), differ[0]+" to "+differ[len(differ)-1]
		same := [2]string{fmt.Sprintf("%d files, * is %s", n, ranges(differ)),
			fmt.Sprintf("%d files, * is %s", n, ends)}
		forms[same] = append(forms[same], brief.Python("data/"+form))
	}
	const few = 4 // that are named one by one
	for form, all := range numbers {
		if slices.Sort(all); len(all) >= few {
			together(form, all)
			continue
		}
		for _, number := range all {
			name := strings.Replace(form, "*", number, 1)
			key := path.Dir(name) + "/*" + path.Ext(name)
			folders[key] = append(folders[key], name)
		}
	}
	for _, all := range folders {
		if slices.Sort(all); len(all) >= few {
			together(apart(all))
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

// ranges names what differs in order, numbers that follow each other by the first and the last.
func ranges(differ []string) string {
	var parts []string
	for n, d := range differ {
		switch {
		case n == 0 || !follows(differ[n-1], d):
			parts = append(parts, d)
		case n+1 == len(differ) || !follows(d, differ[n+1]):
			parts[len(parts)-1] += " to " + d
		}
	}
	return strings.Join(parts, ", ")
}

// follows reports whether b is the number after a, written with as many digits.
func follows(a, b string) bool {
	m, err := strconv.Atoi(a)
	n, bad := strconv.Atoi(b)
	return err == nil && bad == nil && len(a) == len(b) && n == m+1
}
