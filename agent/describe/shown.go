package describe

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/prompts"
)

// Files returns the files that the model is shown, with as much of their descriptions as the sizes
// allow, which columns of theirs match, and the names of the others.
func (r *Describer) Files(show ask.Sizes) (shown []prompts.File, relations, leftOut string) {
	texts, first := r.texts(show), map[string]int{} // by name
	for n, d := range r.t.Descriptions {
		first[d.File] = n
	}
	var names []string
	place, beside := map[int]int{}, map[int]string{} // by file
	for n, d := range r.t.Descriptions {
		lead, member := first[d.Like]
		switch {
		case r.t.Method.Profiles() && (texts[n] == "" || member && texts[lead] == ""):
			names = append(names, d.File) // what a member has beyond the other says nothing alone
		case member:
			beside[lead] += r.dataPython(n) + ": " + texts[n] + "\n"
		default:
			f := prompts.File{Path: r.dataPython(n), Description: texts[n],
				Size: r.t.Task.Files[n].Weight(), Whole: d.Whole && texts[n] == d.Text}
			if f.Whole {
				f.Kind = d.Kind // which tells the encoding
			}
			place[n], shown = len(shown), append(shown, f)
		}
	}
	for lead, alike := range beside {
		shown[place[lead]].Alike = alike
	}
	return shown, brief.Lines(r.t.Relations, show.Context/relationsShare),
		listed(names, show.Description/8) + brief.Lines(r.t.Task.LeftOut, show.Description/4)
}

// texts are what there is to tell of the files, which share the room evenly where it is too little.
func (r *Describer) texts(show ask.Sizes) []string {
	texts, lengths := make([]string, len(r.t.Descriptions)), make([]int, len(r.t.Descriptions))
	for n, d := range r.t.Descriptions {
		if texts[n] = d.Text; d.Text == "" && d.Error != "" && !r.t.Method.NoAnalyzer {
			texts[n] = "No description: " + d.Error
		}
		lengths[n] = min(len(texts[n]), show.Description)
	}
	most := show.Description
	if !r.t.Method.Profiles() { // a script is told how much to print
		most = min(most, 2*r.descriptionChars(show))
	}
	for n, share := range brief.Shares(lengths, show.Context, most) {
		texts[n] = brief.Lines(texts[n], share)
	}
	return texts
}

// document reports whether what is known of a file is its text, or what a person says of it.
func (r *Describer) document(n int) bool {
	d := r.t.Descriptions[n]
	return d.Whole || d.Document || d.Corrected
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
