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
	var names []string
	place := map[string]int{} // in shown, of what others are like
	for _, member := range []bool{false, true} {
		for n, d := range r.t.Descriptions {
			lead, told := place[d.Like]
			switch {
			case member != (d.Like != ""):
			case r.t.Method.Profiles() && texts[n] == "" || member && !told:
				names = append(names, d.File) // what a member has beyond the other says nothing alone
			case member:
				shown[lead].Alike += r.dataPython(n) + ": " + texts[n] + "\n"
			default:
				f := prompts.File{Path: r.dataPython(n), Description: texts[n],
					Size: r.t.Task.Files[n].Weight(), Whole: d.Whole && texts[n] == d.Text}
				if f.Whole {
					f.Kind = d.Kind // which tells the encoding
				}
				place[d.File], shown = len(shown), append(shown, f)
			}
		}
	}
	return shown, brief.Lines(r.t.Relations, show.Context/relationsShare),
		listed(names, show.Description/8) + brief.Lines(r.t.Task.LeftOut, show.Description/4)
}

// listed names files in at most about most bytes, those of a folder together.
func listed(names []string, most int) string {
	folders := map[string][]string{}
	for _, name := range slices.Sorted(slices.Values(names)) {
		folder, own := path.Split(name)
		folders[folder] = append(folders[folder], own)
	}
	var lines strings.Builder
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		line := brief.Python(inData(folder)) + ": " + strings.Join(folders[folder], ", ")
		lines.WriteString(brief.Clip(line, most/len(folders)) + "\n")
	}
	return brief.Clip(lines.String(), most)
}
