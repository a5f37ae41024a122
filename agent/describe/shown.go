package describe

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/files"
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
	first := map[string]int{} // by the name of a family's first file
	for n, d := range r.t.Descriptions {
		first[d.File] = n
	}
	named := r.named(code, first)
	var names []string
	place, beside := map[int]int{}, map[int]string{} // by file
	texts := r.texts(named, show)
	for n, text := range texts {
		d := r.t.Descriptions[n]
		lead, member := first[d.Like]
		switch {
		case r.method.Profiles() && (text == "" || member && texts[lead] == ""):
			names = append(names, d.File) // what a member has beyond the other says nothing alone
		case member:
			beside[lead] += r.dataPython(n) + ": " + text + "\n"
		default:
			f := prompts.File{Path: r.dataPython(n), Description: text,
				Size: r.t.Task.Files[n].Weight(), Whole: d.Whole && text == d.Text}
			if f.Whole {
				f.Kind = d.Kind // which tells the encoding
			}
			place[n], shown = len(shown), append(shown, f)
		}
	}
	for lead, alike := range beside {
		shown[place[lead]].Alike = alike
	}
	relations, most := brief.Lines(r.t.Relations, show.Context/relationsShare), show.Description/4
	if len(named) > 0 {
		relations, most = "", show.Description/16
	}
	return shown, relations, listed(names, most/2) + brief.Lines(r.t.Task.LeftOut, most)
}

// texts are what there is to tell of the files, which share the room evenly where it is too little.
// If code names files, there is nothing of others but documents.
func (r *Describer) texts(named map[int]bool, show ask.Sizes) []string {
	texts, lengths := make([]string, len(r.t.Descriptions)), make([]int, len(r.t.Descriptions))
	for n, d := range r.t.Descriptions {
		if len(named) == 0 || named[n] || r.document(n) {
			texts[n] = r.told(d, named[n])
		}
		lengths[n] = min(len(texts[n]), show.Description)
	}
	most := show.Description
	if !r.method.Profiles() { // a script is told how much to print
		most = min(most, 2*r.descriptionChars(show))
	}
	for n, share := range brief.Shares(lengths, show.Context, most) {
		texts[n] = brief.Lines(texts[n], share)
	}
	return texts
}

// told is what there is to tell of a file: of one far from the question no more than a line, unless
// cells name it.
func (r *Describer) told(d record.Description, named bool) string {
	text := d.Text
	switch {
	case d.Far && !named:
		text = d.Line
	case text == "" && d.Error != "" && !r.method.NoAnalyzer:
		text = "No description: " + d.Error
	}
	if more := d.Beyond(len(r.t.Earlier)); more != "" {
		text = strings.TrimLeft(text+"\n"+more, "\n")
	}
	return text
}

// document reports whether what is known of a file is its text, or what a person says of it.
func (r *Describer) document(n int) bool {
	d := r.t.Descriptions[n]
	return d.Whole || d.Document || d.Corrected
}

// Extend adds to the descriptions what a later question of the conversation needs besides, as far
// as profiles are kept. What was told before stays as it is.
func (r *Describer) Extend() {
	const share = 20 // of what is shown of the files, for all that is added
	k := len(r.t.Earlier)
	if k <= r.t.Extended || !r.method.Profiles() {
		return
	}
	r.t.Extended = k
	root, err := files.Open(r.data, r.Readable)
	if err != nil {
		return
	}
	defer root.Close()
	texts := make([]string, len(r.t.Descriptions))
	for i, f := range r.t.Task.Files {
		d := r.t.Descriptions[i]
		if p, ok := keptProfile(r.keptAt(root, f)); ok && d.Profile && !d.Whole && d.Like == "" {
			text := p.Text(r.question(), max(leastChars, len(d.Text)), r.near)
			texts[i] = linesBeyond(text, r.told(d, false))
		}
	}
	left := r.Sizes().Context / share
	for _, i := range ByWords(r.question(), texts) {
		if d := &r.t.Descriptions[i]; texts[i] != "" && len(texts[i]) <= left {
			d.Later = append(d.Later, record.Extension{Part: k, Text: texts[i]})
			left -= len(texts[i])
		}
	}
}

// linesBeyond returns the lines of text that other does not have.
func linesBeyond(text, other string) string {
	had := strings.Split(other, "\n")
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return line == "" || slices.Contains(had, line)
	}), "\n")
}

// anyFile is what may open any file: it goes through folders, or makes the names of files.
var anyFile = lazy.Regexp(`\b(?:listdir|scandir|walk|iterdir)\(|["'][^"'\n]*[{*][^"'\n]*\.\w+["']`)

// named returns the files that the code of cells names, by their own names or that of a folder, with
// the first of their families. Code that names none has its files from elsewhere.
func (r *Describer) named(code string, first map[string]int) map[int]bool {
	if !r.method.Profiles() || anyFile().MatchString(code) {
		return nil
	}
	named := map[int]bool{}
	for n, f := range r.t.Task.Files {
		dir := path.Base(path.Dir(f.Name))
		if strings.Contains(code, path.Base(f.Name)) || dir != "." && strings.Contains(code, dir) {
			named[n] = true
			if lead, member := first[r.t.Descriptions[n].Like]; member {
				named[lead] = true
			}
		}
	}
	return named
}

// listed names files in at most about most bytes, several of a folder and an ending together. Where
// that is too long, there are the first and the last of those.
func listed(names []string, most int) string {
	const few = 4                    // that are named one by one
	folders := map[string][]string{} // by a pattern: what its * stands for
	for _, name := range names {
		pattern, own := name, "*"
		if !strings.ContainsAny(name, "*,") {
			ending := path.Ext(name)
			dir, base := path.Split(strings.TrimSuffix(name, ending))
			pattern, own = dir+"*"+ending, base
		}
		folders[pattern] = append(folders[pattern], own)
	}
	var lines []string
	for pattern, all := range folders {
		if slices.Sort(all); len(all) < few {
			for _, own := range all {
				lines = append(lines, brief.Python("data/"+strings.Replace(pattern, "*", own, 1))+"\n")
			}
			continue
		}
		form := fmt.Sprintf("%s: %d files, * is ", brief.Python("data/"+pattern), len(all))
		each := strings.Join(all, ", ")
		if len(form)+len(each) > most/len(folders) {
			each = all[0] + " to " + all[len(all)-1]
		}
		lines = append(lines, form+each+"\n")
	}
	slices.Sort(lines)
	return brief.Clip(strings.Join(lines, ""), most)
}

// inLine names files in a line.
func inLine(names []string) string {
	return strings.ReplaceAll(strings.TrimSpace(listed(names, 300)), "\n", ", ")
}
