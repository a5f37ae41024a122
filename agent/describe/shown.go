package describe

import (
	"maps"
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
		lengths[n] = len(texts[n])
	}
	for n, share := range brief.Shares(lengths, show.Context, show.Description) {
		texts[n] = brief.Lines(texts[n], share)
	}
	return texts
}

// document reports whether what is known of a file is its text, or what a person says of it.
func (r *Describer) document(n int) bool {
	d := r.t.Descriptions[n]
	return d.Whole || d.Document || d.Corrected
}

// listed names files in at most about most bytes, those of a folder together.
func listed(names []string, most int) string {
	folders := map[string][]string{}
	for _, name := range names {
		folder, own := path.Split(name)
		folders[folder] = append(folders[folder], own)
	}
	var lines strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		own := slices.Sorted(slices.Values(folders[folder]))
		line := brief.Python(inData(folder)) + ": " + strings.Join(own, ", ")
		lines.WriteString(brief.Clip(line, most/len(folders)) + "\n")
	}
	return brief.Clip(lines.String(), most)
}
