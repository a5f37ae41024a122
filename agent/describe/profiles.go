package describe

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook/human"
)

// profileTime is how long files are profiled; those that are left are only named.
const profileTime = 5 * time.Minute

// bounds are those of the program for files that may be begun with for so long. A cell of it ends
// by itself before its time, so that it says how far it came.
func (r *Describer) bounds(within time.Duration) profile.Bounds {
	const usual = time.Minute
	b := profile.Bounds{File: usual, Within: within, Jobs: max(1, r.Jobs)}
	if cell := r.CellTimeout; cell > 0 {
		b.File = max(time.Second, min(cell*3/5, max(usual, cell/5)))
		b.Within = max(0, min(within, cell-b.File-2*time.Second))
	}
	return b
}

// profileFiles has a program look into the files. Each cell takes so many that progress is told,
// and comes to one at least.
func (r *Describer) profileFiles(ctx context.Context, session *scratch, left []int) error {
	const most = 500
	mark := rand.Text()
	for end := time.Now().Add(profileTime); len(left) > 0 && time.Now().Before(end); {
		var paths []string
		for _, i := range left[:min(len(left), most)] {
			paths = append(paths, inData(r.t.Task.Files[i].Name))
		}
		e, err := session.run(ctx, profile.Script(paths, r.bounds(time.Until(end)), mark))
		if err != nil {
			return err
		}
		looked := marked(e.Stdout(), mark)
		if len(looked) == 0 {
			looked = map[int]string{0: ""}
		}
		var later []int
		for n, i := range left {
			if text, ok := looked[n]; !ok {
				later = append(later, i)
			} else if err := r.profiled(i, text); err != nil {
				return err
			}
		}
		left = later
	}
	if len(left) == 0 {
		return nil
	}
	r.keepOnly(slices.DeleteFunc(r.nearest(), func(i int) bool { return slices.Contains(left, i) }))
	return r.journal.Warn(fmt.Sprintf("%s not looked into: it takes longer than %.0f minutes",
		human.Plural(len(left), "file"), profileTime.Minutes()))
}

// marked are the texts of the lines that a program has marked as its own, by their numbers.
func marked(printed, mark string) map[int]string {
	found := map[int]string{}
	for line := range strings.Lines(printed) {
		_, line, _ := strings.Cut(line, mark+" ")
		number, text, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(number); err == nil {
			found[n] = text
		}
	}
	return found
}

// A DatabaseError is a database, bucket or cluster that could not be looked into.
type DatabaseError struct {
	Source files.Source
	Reason string
	Cause  string // one of package profile's; "": another, such as that it cannot be reached
}

func (e *DatabaseError) Error() string {
	return fmt.Sprintf("%s cannot be used: %s", cmp.Or(e.Source.Database, e.Source.Path), e.Reason)
}

// profiled takes what the program printed about file i: "" if it did not end. Without a database
// that the user has named there is nothing to ask about.
func (r *Describer) profiled(i int, text string) error {
	name, p := r.t.Task.Files[i].Name, profile.Profile{}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		const problem = "the program that looks into files has not come to an end with it"
		p = profile.Profile{Format: "unknown", Problem: problem, Notes: "Note: " + problem,
			Cause: profile.NoTime, Line: "unknown; " + problem}
	}
	keep(r.kept[name], p)
	for _, s := range r.t.Task.Sources {
		failed := s.Name == name && p.Problem != "" && len(p.Tables) == 0
		if failed && (s.Database != "" || p.Cause == profile.Locked) {
			_, reason, _ := strings.Cut(p.Problem, ": ") // it is not read
			return &DatabaseError{s, cmp.Or(reason, p.Problem), p.Cause}
		}
	}
	r.profiles[name] = &p
	return r.journal.Described(i, r.fromProfile(i, r.Sizes().Description))
}

// fromProfile is what the profile of file i says in at most about chars bytes: of a document that
// is no longer, its content.
func (r *Describer) fromProfile(i, chars int) record.Description {
	d := r.t.Descriptions[i]
	p := r.profiles[d.File]
	d.Kind, d.Profile, d.Document = p.Format, true, p.Document != "" && len(p.Tables) == 0
	if d.Whole = p.Whole && len(p.Document) <= chars; d.Whole {
		d.Text = strings.TrimRight(p.Document, "\n")
		d.Kind, _, _ = strings.Cut(cmp.Or(p.Headline, p.Format), "\n") // which tells the encoding
	} else {
		d.Text = p.Text(chars, r.t.Task.Question) // the form of its answer tells nothing
	}
	if said := r.Corrections[d.File]; said != "" {
		d.Corrected, d.Whole = true, false
		d.Text = "A person who knows the data says of this file:\n" + said + "\n\n" + d.Text
	}
	return d
}

// The parts of what is shown of the files: of tables near the question, of lines about files that
// are far from it, of documents, of one document unless it is a code book, and of matches.
const nearShare, farShare, documentsShare, documentShare, relationsShare = 12, 20, 3, 5, 60

// leastChars is how much of a table near the question is told at least if it has so much to tell,
// and beyondChars how much of what a family's member has beyond the first one.
const leastChars, beyondChars = 800, 600

// word gives the files the texts that are shown: of each family, which are files of one structure,
// the nearest to the question is described, and of the others there is what differs, while there is
// room. Then it records which columns of the files near the question match.
func (r *Describer) word() {
	show, leads := r.Sizes(), map[string]int{}
	room := show.Context / farShare
	var near []int // not a family's further members, the nearest first
	for _, i := range r.nearest() {
		d := &r.t.Descriptions[i]
		p := r.profiles[d.File]
		if p == nil {
			continue
		}
		lead, member := leads[p.Structure]
		if !member || p.Structure == "" || d.Corrected {
			leads[p.Structure], near = i, append(near, i)
			continue
		}
		d.Like, d.Whole = r.t.Descriptions[lead].File, false
		d.Text = p.Beyond(*r.profiles[d.Like], beyondChars)
		if room -= len(d.Text); room < 0 && !r.alone {
			d.Text = ""
		}
	}
	if !r.alone { // where there is room for all
		near = r.share(near)
	}
	var names []string
	for _, i := range slices.Sorted(slices.Values(near)) {
		if name := r.t.Descriptions[i].File; r.profiles[name].Known() {
			names = append(names, name)
		}
	}
	r.t.Relations = brief.Lines(profile.Relate(names, r.profiles), show.Context/relationsShare)
}

// share gives files their texts, the nearest to the question first: the nearest table has twice
// what falls to each of those after it, which get what it does not need. A file that there is no
// room for has a line while there is room for lines. It returns the others.
func (r *Describer) share(all []int) (near []int) {
	const most = 8 // tables that the room is divided among
	show := r.Sizes()
	left, far, documents := show.Context/nearShare, show.Context/farShare, show.Context/documentsShare
	table := func(i int) bool {
		d := r.t.Descriptions[i]
		return !d.Whole && !d.Document && !d.Corrected
	}
	tables := len(slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !table(i) }))
	for _, i := range all {
		d := &r.t.Descriptions[i]
		p := r.profiles[d.File]
		room, chars := &documents, min(documents, show.Context/documentShare)
		switch {
		case table(i):
			room, chars = &left, min(left, max(leastChars, 2*left/(min(tables, most)+1)))
			tables--
		case d.Corrected:
			chars = max(chars, leastChars)
		case p.Codebook:
			chars = documents
		}
		if chars >= leastChars/2 {
			*d, near = r.fromProfile(i, min(chars, show.Description)), append(near, i)
			*room -= len(d.Text)
			continue
		}
		if d.Text, d.Whole = "", false; len(p.Line) <= far {
			d.Text, far = p.Line, far-len(p.Line)
		}
	}
	return near
}
