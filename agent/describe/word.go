package describe

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// fromProfile is what the profile of file i says in at most about chars bytes: of a document that
// is no longer, its content.
func (r *Describer) fromProfile(i, chars int) record.Description {
	d := r.t.Descriptions[i]
	p := r.profiles[d.File]
	d.Kind, d.Profile, d.Document = p.Format, true, p.Document != "" && len(p.Tables) == 0
	if d.Whole = p.Whole && p.Short(r.t.Task.Question) && len(p.Document) <= chars; d.Whole {
		d.Text = strings.TrimRight(p.Document, "\n")
		d.Kind, _, _ = strings.Cut(cmp.Or(p.Headline, p.Format), "\n") // which tells the encoding
	} else {
		d.Text = p.Text(chars, r.t.Task.Question) // the form of its answer tells nothing
	}
	if said := r.Corrections[d.File]; said != "" {
		if d.Corrected, d.Whole = true, false; r.Approved {
			d.Said = said
		}
		d.Text = "A person who knows the data says of this file:\n" + said + "\n\n" + d.Text
	}
	return d
}

// The parts of what is shown of the files: of tables near the question, of lines about files that
// are far from it, of documents, and of one document unless it is a code book. They are shares of the
// default: of less, each takes as much as of that, up to so many tenths.
var near, far, documents, document = part{12, 4}, part{20, 1}, part{3, 5}, part{5, 4}

type part struct{ share, tenths int }

func (p part) of(all int) int {
	const usual = 80_000
	return max(all/p.share, min(usual/p.share, all*p.tenths/10))
}

// leastChars is how much of a table near the question is told at least if it has so much to tell,
// and beyondChars how much of what a family's member has beyond the first one.
const leastChars, beyondChars = 800, 600

// word gives the files the texts that are shown: of each family, which are files of one structure,
// the nearest to the question is described, and of the others there is what differs, while there is
// room.
func (r *Describer) word() {
	room, leads := far.of(r.Sizes().Context), map[string]int{}
	var nearest []int // not a family's further members, the nearest first
	var all []int
	for i := range r.t.Descriptions {
		all = append(all, i)
	}
	nearness := func(i int) int { return r.t.Descriptions[i].Near }
	slices.SortStableFunc(all, func(a, b int) int { return nearness(a) - nearness(b) })
	for _, i := range all {
		d := &r.t.Descriptions[i]
		p := r.profiles[d.File]
		if p == nil {
			continue
		}
		lead, member := leads[p.Structure]
		if !member || p.Structure == "" || d.Corrected {
			leads[p.Structure], nearest = i, append(nearest, i)
			continue
		}
		d.Like, d.Whole = r.t.Descriptions[lead].File, false
		d.Text = p.Beyond(*r.profiles[d.Like], beyondChars)
		if room -= len(d.File) + len(d.Text); room < 0 && !r.alone {
			d.Text = ""
		}
	}
	if !r.alone { // where there is room for all
		r.share(nearest)
	}
}

// share gives files their texts, the nearest to the question first: the nearest table has twice
// what falls to each of those after it, which get what it does not need. A file that there is no
// room for has a line while there is room for lines.
func (r *Describer) share(all []int) {
	const most = 8 // tables that the room is divided among
	show := r.Sizes()
	tables, lines, texts := near.of(show.Context), far.of(show.Context), documents.of(show.Context)
	table := func(i int) bool {
		d := r.t.Descriptions[i]
		return !d.Whole && !d.Document && !d.Corrected
	}
	count := len(slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !table(i) }))
	for _, i := range all {
		d := &r.t.Descriptions[i]
		p := r.profiles[d.File]
		room, chars := &texts, min(texts, document.of(show.Context))
		switch {
		case table(i):
			room, chars = &tables, min(tables, max(leastChars, 2*tables/(min(count, most)+1)))
			count--
		case d.Corrected:
			chars = max(chars, leastChars)
		case p.Codebook:
			chars = texts
		}
		if chars >= leastChars/2 {
			*d = r.fromProfile(i, min(chars, show.Description))
			*room -= len(d.Text)
			continue
		}
		if d.Text, d.Whole = "", false; len(p.Line) <= lines {
			d.Text, lines = p.Line, lines-len(p.Line)
		}
	}
}

// Files returns the files that the model is shown, with as much of their descriptions as the sizes
// allow, and the names of the others.
func (r *Describer) Files(show record.Sizes) (shown []prompts.File, leftOut string) {
	texts, lengths := make([]string, len(r.t.Descriptions)), make([]int, len(r.t.Descriptions))
	for n, d := range r.t.Descriptions {
		if texts[n] = d.Text; d.Text == "" && d.Error != "" && !r.t.Method.NoAnalyzer {
			texts[n] = "No description: " + d.Error
		}
		lengths[n] = len(texts[n])
	}
	for n, share := range brief.Shares(lengths, show.Context, show.Description) {
		texts[n] = brief.Clip(texts[n], share)
	}
	var names []string
	alike := map[string][]string{} // names of which nothing more is said, by what they are like
	place := map[string]int{}      // in shown, of what others are like
	for _, member := range []bool{false, true} {
		for n, d := range r.t.Descriptions {
			lead, told := place[d.Like]
			switch {
			case member != (d.Like != ""):
			case told && texts[n] == "":
				alike[d.Like] = append(alike[d.Like], d.File)
			case r.t.Method.Profiles() && texts[n] == "" || member && !told:
				names = append(names, d.File) // what a member has beyond the other says nothing alone
			case member:
				shown[lead].Alike += r.dataPython(n) + ": " + texts[n] + "\n"
			default:
				f := prompts.File{Path: r.dataPython(n), Description: texts[n],
					Size: human.Bytes(r.t.Task.Files[n].Size), Whole: d.Whole && texts[n] == d.Text}
				if f.Whole {
					f.Kind = d.Kind // which tells the encoding
				}
				place[d.File], shown = len(shown), append(shown, f)
			}
		}
	}
	for lead, files := range alike {
		shown[place[lead]].Alike += listed(files, show.Description/4)
	}
	return shown, listed(names, show.Description/8) + brief.Clip(r.t.Task.LeftOut, show.Description/4)
}

// listed names files in at most about most bytes, those of a folder in a line.
func listed(names []string, most int) string {
	text, before := "", "none"
	for _, name := range slices.Sorted(slices.Values(names)) {
		folder, file := path.Split(name)
		if folder != before {
			file, before = "\n"+brief.Python(inData(folder))+": "+file, folder
		} else {
			file = ", " + file
		}
		text += file
	}
	return brief.Clip(strings.TrimPrefix(text+"\n", "\n"), most)
}
