package describe

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"path"
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

// profileSeconds is how long the program may look into one file: less than a cell may run, so that
// it says itself how far it came.
func (r *Describer) profileSeconds() int {
	const usual = 60
	cell := int(r.CellTimeout.Seconds())
	if cell == 0 {
		return usual
	}
	return max(1, min(cell*3/5, max(usual, cell/5)))
}

// profileFiles has a program look into the files, the nearest to the question first.
func (r *Describer) profileFiles(ctx context.Context, session *scratch, left []int) error {
	r.nearness = ByWords(r.t.Task.Question, r.beginnings())
	place := make([]int, len(r.nearness))
	for n, i := range r.nearness {
		place[i] = n
	}
	slices.SortFunc(left, func(a, b int) int { return place[a] - place[b] })
	for end := time.Now().Add(profileTime); len(left) > 0 && time.Now().Before(end); {
		batch := left[:min(len(left), batchFiles)]
		looked, err := r.profileBatch(ctx, session, batch, time.Until(end))
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(i int) bool { return looked[i] })
	}
	return r.leaveOut(left)
}

// batchFiles is how many files one cell looks into at most, so that progress is told.
const batchFiles = 500

// profileBatch has one cell look into files, and returns those that it came to. It comes to one at
// least.
func (r *Describer) profileBatch(ctx context.Context, session *scratch, batch []int,
	within time.Duration) (looked map[int]bool, err error) {
	var paths []string
	for _, i := range batch {
		paths = append(paths, r.dataPython(i))
	}
	seconds := r.profileSeconds()
	if cell := r.CellTimeout; cell > 0 {
		within = max(0, min(within, cell-time.Duration(seconds+2)*time.Second))
	}
	mark := rand.Text()
	e, err := session.run(ctx, profile.Script(paths, seconds, max(1, r.Jobs), within, mark))
	if err != nil {
		return nil, err
	}
	looked = map[int]bool{}
	for line := range strings.Lines(e.Stdout()) {
		_, line, ok := strings.Cut(line, mark+" ")
		number, text, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(number); ok && err == nil && n >= 0 && n < len(batch) {
			looked[batch[n]] = true
			if err := r.profiled(batch[n], text); err != nil {
				return nil, err
			}
		}
	}
	if len(looked) == 0 {
		looked[batch[0]] = true
		return looked, r.profiled(batch[0], "")
	}
	return looked, nil
}

// leaveOut takes files that there was no time for out of those that are described.
func (r *Describer) leaveOut(late []int) error {
	if len(late) == 0 {
		return nil
	}
	var kept []int
	for i, f := range r.t.Task.Files {
		if slices.Contains(late, i) {
			r.others = append(r.others, f.Name)
		} else {
			kept = append(kept, i)
		}
	}
	r.passed += len(late)
	r.t.Task.Others += len(late)
	r.keepOnly(kept)
	return r.journal.Warn(fmt.Sprintf("%s not looked into: it takes longer than %.0f minutes",
		human.Plural(len(late), "file"), profileTime.Minutes()))
}

// keepOnly leaves the files of the indexes, in their order.
func (r *Describer) keepOnly(kept []int) {
	r.t.Task.Files, r.t.Descriptions = only(r.t.Task.Files, kept), only(r.t.Descriptions, kept)
	r.looks, r.profiles = only(r.looks, kept), only(r.profiles, kept)
	r.store.names, r.store.sums = only(r.store.names, kept), only(r.store.sums, kept)
	now := map[int]int{}
	for n, i := range kept {
		now[i] = n
	}
	var nearness []int
	for _, i := range r.nearness {
		if n, ok := now[i]; ok {
			nearness = append(nearness, n)
		}
	}
	r.nearness = nearness
}

// profiled takes what the program printed about file i: "" if it did not end.
func (r *Describer) profiled(i int, text string) error {
	p, err := profile.Parse(text)
	if err != nil {
		p = profile.Profile{Format: "unknown",
			Problem: "the program that looks into files has not come to an end with it",
			Cause:   profile.NoTime}
	} else if !files.ChangesUnseen(r.t.Task.Files[i].Name) {
		r.store.keepProfile(i, p)
	}
	return r.takeProfile(i, p)
}

// A DatabaseError is a database, bucket or cluster that could not be looked into.
type DatabaseError struct {
	Source files.Source
	Reason string
	Cause  string // one of package profile's; "": another, such as that it cannot be reached
}

func (e *DatabaseError) Error() string {
	what := "database %s cannot be read"
	switch {
	case e.Source.Is(files.BucketEnding):
		what = "bucket %s cannot be read"
	case e.Source.Is(files.ClusterEnding):
		what = "cluster %s cannot be used"
	}
	return fmt.Sprintf("the "+what+": %s", cmp.Or(e.Source.Database, e.Source.Path), e.Reason)
}

// takeProfile gives file i the description that its profile is. Without a database that the user
// has named there is nothing to ask about.
func (r *Describer) takeProfile(i int, p profile.Profile) error {
	reason := strings.TrimPrefix(strings.TrimPrefix(p.Problem, "not read: "), "not read to its end: ")
	for _, s := range r.t.Task.Sources {
		named := s.Name == r.t.Task.Files[i].Name && p.Problem != "" && len(p.Tables) == 0
		if named && (s.Database != "" || p.Cause == profile.Locked) {
			return &DatabaseError{s, reason, p.Cause}
		}
	}
	if p.Cause == profile.Locked {
		d := r.t.Descriptions[i]
		d.Error = reason
		return r.describedAs(i, d)
	}
	r.profiles[i] = &p
	return r.describedAs(i, r.fromProfile(i, r.Sizes().Description))
}

// fromProfile is what the profile of file i says in at most about chars bytes: of a document that
// is no longer, its content.
func (r *Describer) fromProfile(i, chars int) record.Description {
	d, p := r.t.Descriptions[i], r.profiles[i]
	d.Like, d.Profile, d.Far = "", true, false
	d.Document = p.Document != "" && len(p.Tables) == 0
	plain := slices.Contains([]string{"text", "source code", "PDF", "Word"}, p.Format) &&
		d.Document && len(p.Warnings) == 0 && p.Known()
	if d.Whole = plain && !p.Cut && len(p.Document) <= chars; d.Whole {
		d.Text = strings.TrimRight(p.Document, "\n")
	} else {
		d.Text = p.Text(r.question(), chars, r.near)
	}
	if said := r.Corrections[d.File]; said != "" {
		d.Corrected, d.Whole = true, false
		d.Text = "A person who knows the data says of this file:\n" + said + "\n\n" + d.Text
	}
	return d
}

// question is what the descriptions are chosen by.
func (r *Describer) question() string { return r.t.Task.Question + "\n" + r.t.Task.Guidelines }

// near orders texts by their nearness to the question, of which the form of its answer is no part.
func (r *Describer) near(texts []string) []int { return ByWords(r.t.Task.Question, texts) }

// lead is the file that stands for those of the structure of file i.
func (r *Describer) lead(i int) string { return r.alikeLead[r.t.Descriptions[i].File] }

// findLeads groups the files by the tables and columns of their profiles.
func (r *Describer) findLeads() {
	const most = 200 // families that a file is compared with
	first := map[string]string{}
	var leads []int
	r.alikeLead = map[string]string{}
	for i, d := range r.t.Descriptions {
		key := r.structure(i)
		if key == "" || r.method.Script || d.Corrected {
			key = "\x00" + d.File
		}
		lead, known := first[key]
		for _, m := range leads {
			if !known && r.tabled(i) && r.profiles[i].Akin(*r.profiles[m]) {
				lead, known = r.t.Descriptions[m].File, true
			}
		}
		if !known {
			if lead = d.File; r.tabled(i) && len(leads) < most {
				leads = append(leads, i)
			}
		}
		first[key], r.alikeLead[d.File] = lead, lead
	}
}

// tabled reports whether the profile of file i has tables.
func (r *Describer) tabled(i int) bool {
	p := r.profiles[i]
	return p != nil && p.Known() && len(p.Tables) > 0 && !r.method.Script &&
		!r.t.Descriptions[i].Corrected
}

// structure is the same for files of one family; "": the file has none that others may have.
func (r *Describer) structure(i int) string {
	p := r.profiles[i]
	if p == nil || !p.Known() || len(p.Tables) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(p.Format)
	for _, t := range p.Tables {
		b.WriteString("\n")
		for _, c := range t.Columns {
			b.WriteString(brief.Python(c.Name))
		}
	}
	return b.String()
}

// The parts of what is shown of the files: of tables near the question, of what is said of the
// others in a line each, and of documents.
const nearShare, farShare, documentsShare = 12, 20, 3

// documentShare is the part of all that one document may take, unless it is a code book: of a
// longer one there are sections.
const documentShare = 5

// leastChars is how much of a table near the question is told at least if it has so much to tell,
// lineChars how much of one that is far from it, and beyondChars how much of what the values of a
// family's member have beyond the first one's.
const leastChars, lineChars, beyondChars = 800, 250, 300

// word gives the files the texts that are shown: of each family the nearest to the question is
// whole, and of the others there is what differs. Each has a line first. Then the nearest have so
// much that others have something, too, and what is left goes to them again.
func (r *Describer) word() {
	show := r.Sizes()
	leads := map[string]int{}
	var own []int // neither a family's member nor described otherwise
	near, far := show.Context/nearShare, show.Context/farShare
	documents := show.Context / documentsShare
	for _, i := range r.nearness {
		d, p := &r.t.Descriptions[i], r.profiles[i]
		if p == nil || !d.Profile {
			continue
		}
		m, ok := leads[r.lead(i)]
		if !ok {
			leads[r.lead(i)], own = i, append(own, i)
			*d = r.fromProfile(i, show.Description)
			continue
		}
		d.Like, d.Whole = r.t.Descriptions[m].File, false
		d.Text = p.Beyond(*r.profiles[m], beyondChars)
	}
	if !r.alone { // where there is room for all
		r.share(own, &near, &far, &documents)
	}
	r.relate()
}

// share gives files their texts, the nearest to the question first.
func (r *Describer) share(own []int, near, far, documents *int) {
	const nearest = 2 // times as much that the nearest table has
	show, all := r.Sizes(), *near
	tables, times := 0, nearest
	grow := func(i int, left *int, most int) {
		d := r.t.Descriptions[i]
		had := len(d.Text)
		if d.Far {
			had = 0
		}
		if most = min(show.Description, most, *left+had); most < leastChars/2 {
			return
		}
		more := r.fromProfile(i, most)
		if size := len(more.Text) - had; size > 0 && size <= *left {
			*left -= size
			r.t.Descriptions[i] = more
		}
	}
	for _, i := range own {
		d, p := &r.t.Descriptions[i], r.profiles[i]
		d.Far, d.Line = true, p.Line(lineChars)
		if r.document(i) {
			most := *documents
			if !p.Codebook {
				most = min(most, show.Context/documentShare)
			}
			grow(i, documents, most)
			continue
		}
		tables++
	}
	for round := range 2 {
		for _, i := range own {
			switch {
			case r.document(i):
			case round == 0 && all-*near < all*3/4:
				grow(i, near, times*max(leastChars, all/min(tables, 8)))
				times = 1
			case round == 1 && !r.t.Descriptions[i].Far:
				grow(i, near, len(r.t.Descriptions[i].Text)+*near)
			}
		}
	}
	for _, i := range own {
		d := &r.t.Descriptions[i]
		if !d.Far {
			d.Line = ""
			continue
		}
		switch *d = r.farther(i); {
		case len(d.Text) <= lineChars && len(d.Text) <= *far:
			d.Far, d.Line = false, ""
			*far -= len(d.Text)
		case len(d.Line) <= *far:
			*far -= len(d.Line)
		default:
			d.Line = ""
		}
	}
}

// farther is the description of a file that is far from the question: its line, and a text for
// whoever judges cells that have opened it.
func (r *Describer) farther(i int) record.Description {
	d := r.fromProfile(i, leastChars)
	d.Far, d.Line = true, r.profiles[i].Line(lineChars)
	return d
}

// relate records which columns of the files near the question match. Of a family, whose columns are
// the same, the first file stands for all.
func (r *Describer) relate() {
	var names []string
	var known []profile.Profile
	for i, p := range r.profiles {
		if d := r.t.Descriptions[i]; p != nil && p.Known() && d.Like == "" && !d.Far {
			names, known = append(names, brief.OneLine(r.t.Task.Files[i].Name)), append(known, *p)
		}
	}
	r.t.Relations = ""
	if len(known) > 0 {
		r.t.Relations = profile.RelateText(profile.Relate(names, known), r.Sizes().Context/relationsShare)
	}
}

// relationsShare is the part of what is shown of the files that their matches may take.
const relationsShare = 60

// ending is the part of a file's name that the program goes by.
func ending(name string) string {
	_, end, _ := strings.Cut(strings.ToLower(path.Base(name)), ".")
	return end
}
