package describe

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"iter"
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
	beginnings := make([]string, len(r.t.Task.Files)) // and names
	for i, f := range r.t.Task.Files {
		look := r.of(i).look
		beginnings[i] = fmt.Sprintf("%s\n%s\n%s\n%s", f.Name, f.Name, look.Kind, look.Head)
	}
	r.nearness = ByWords(r.t.Task.Question, beginnings)
	done := func(i int) bool { return !slices.Contains(left, i) }
	left = slices.DeleteFunc(slices.Clone(r.nearness), done)
	for end := time.Now().Add(profileTime); len(left) > 0 && time.Now().Before(end); {
		batch := left[:min(len(left), batchFiles)]
		looked, err := r.profileBatch(ctx, session, batch, time.Until(end))
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(i int) bool { return looked[i] })
	}
	if len(left) == 0 {
		return nil
	}
	r.passed += len(left)
	r.leaveOut(func(i int) bool { return slices.Contains(left, i) })
	return r.journal.Warn(fmt.Sprintf("%s not looked into: it takes longer than %.0f minutes",
		human.Plural(len(left), "file"), profileTime.Minutes()))
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
	for n, text := range marked(e.Stdout(), mark) {
		if n < len(batch) {
			looked[batch[n]] = true
			if err := r.profiled(batch[n], text); err != nil {
				return nil, err
			}
		}
	}
	if len(looked) == 0 {
		looked[batch[0]] = true
		err = r.profiled(batch[0], "")
	}
	return looked, err
}

// marked are the numbers and texts of the lines that a program has marked as its own.
func marked(printed, mark string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for line := range strings.Lines(printed) {
			_, line, ok := strings.Cut(line, mark+" ")
			number, text, _ := strings.Cut(line, " ")
			n, err := strconv.ParseUint(number, 10, 31)
			if ok && err == nil && !yield(int(n), text) {
				return
			}
		}
	}
}

// leaveOut takes files out of those that are described.
func (r *Describer) leaveOut(out func(i int) bool) {
	var kept []int
	for i, f := range r.t.Task.Files {
		if out(i) {
			r.others = append(r.others, f.Name)
		} else {
			kept = append(kept, i)
		}
	}
	r.keepOnly(kept)
}

// keepOnly leaves the files of the indexes, in their order.
func (r *Describer) keepOnly(kept []int) {
	r.t.Task.Others += len(r.t.Task.Files) - len(kept)
	r.t.Task.Files, r.t.Descriptions = only(r.t.Task.Files, kept), only(r.t.Descriptions, kept)
	nearness := r.nearness
	r.nearness = nil
	for _, i := range nearness {
		if n := slices.Index(kept, i); n >= 0 {
			r.nearness = append(r.nearness, n)
		}
	}
}

// profiled takes what the program printed about file i: "" if it did not end.
func (r *Describer) profiled(i int, text string) error {
	p, err := profile.Parse(text)
	if err != nil {
		p = profile.Profile{Format: "unknown",
			Problem: "the program that looks into files has not come to an end with it",
			Cause:   profile.NoTime}
		p.Line = p.Format + "; " + p.Problem
	} else if !files.ChangesUnseen(r.t.Task.Files[i].Name) {
		keep(r.of(i).kept, p)
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
	r.of(i).profile = &p
	return r.describedAs(i, r.fromProfile(i, r.Sizes().Description))
}

// fromProfile is what the profile of file i says in at most about chars bytes: of a document that
// is no longer, its content.
func (r *Describer) fromProfile(i, chars int) record.Description {
	d, p := r.t.Descriptions[i], r.of(i).profile
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

// findLeads groups the files by the tables and columns of their profiles.
func (r *Describer) findLeads() {
	const most = 200 // families that a file is compared with
	var leads []*known
	for i, d := range r.t.Descriptions {
		k := r.of(i)
		p := k.profile
		if p == nil || !p.Known() || len(p.Tables) == 0 || r.method.Script || d.Corrected {
			continue
		}
		at := slices.IndexFunc(leads, func(lead *known) bool { return p.Akin(*lead.profile) })
		switch {
		case at >= 0:
			k.lead = leads[at].lead
		case len(leads) < most:
			leads = append(leads, k)
		}
	}
}

// The parts of what is shown of the files: of tables near the question, of what is said of the
// others in a line each, and of documents.
const nearShare, farShare, documentsShare = 12, 20, 3

// documentShare is the part of all that one document may take, unless it is a code book: of a
// longer one there are sections.
const documentShare = 5

// leastChars is how much of a table near the question is told at least if it has so much to tell,
// lineChars how long a text is that stands for the line of one that is far from it, and beyondChars
// how much is told of what the values of a family's member have beyond the first one's.
const leastChars, lineChars, beyondChars = 800, 250, 300

// word gives the files the texts that are shown: of each family the nearest to the question is
// whole, and of the others there is what differs. Each has a line first. Then the nearest have so
// much that others have something, too, and what is left goes to them again.
func (r *Describer) word() {
	show, leads := r.Sizes(), map[string]int{}
	var own []int // neither a family's member nor described otherwise
	for _, i := range r.nearness {
		d, k := &r.t.Descriptions[i], r.of(i)
		if k.profile == nil || !d.Profile {
			continue
		}
		if lead, ok := leads[k.lead]; ok {
			d.Like, d.Whole = r.t.Descriptions[lead].File, false
			d.Text = k.profile.Beyond(*r.of(lead).profile, beyondChars)
			continue
		}
		leads[k.lead], own = i, append(own, i)
		*d = r.fromProfile(i, show.Description)
	}
	if !r.alone { // where there is room for all
		r.share(own, show.Context/nearShare, show.Context/farShare, show.Context/documentsShare)
	}
	r.relate()
}

// share gives files their texts, the nearest to the question first, with the room for tables, for
// lines about what is far, and for documents.
func (r *Describer) share(own []int, near, far, documents int) {
	const nearest = 2 // times as much that the nearest table has
	show, all := r.Sizes(), near
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
	var tables []int
	for _, i := range own {
		d, p := &r.t.Descriptions[i], r.of(i).profile
		d.Far, d.Line = true, p.Line
		switch {
		case !r.document(i):
			tables = append(tables, i)
		case p.Codebook:
			grow(i, &documents, documents)
		default:
			grow(i, &documents, min(documents, show.Context/documentShare))
		}
	}
	for n, i := range tables {
		most := max(leastChars, all/min(len(tables), 8))
		if n == 0 {
			most *= nearest
		}
		if all-near < all*3/4 {
			grow(i, &near, most)
		}
	}
	for _, i := range tables {
		if d := r.t.Descriptions[i]; !d.Far {
			grow(i, &near, len(d.Text)+near)
		}
	}
	for _, i := range own {
		r.farther(i, &far)
	}
}

// farther gives a file that is far from the question its line if there is room, and a text for
// whoever judges cells that have opened it. A text that is no longer than a line stands for it.
func (r *Describer) farther(i int, left *int) {
	d := &r.t.Descriptions[i]
	if !d.Far {
		d.Line = ""
		return
	}
	*d = r.fromProfile(i, leastChars)
	switch {
	case len(d.Text) <= min(lineChars, *left):
		d.Line = ""
		*left -= len(d.Text)
		return
	case len(d.Line) <= *left:
		*left -= len(d.Line)
	default:
		d.Line = ""
	}
	d.Far = true
}

// relate records which columns of the files near the question match. Of a family, whose columns are
// the same, the first file stands for all.
func (r *Describer) relate() {
	var names []string
	var profiles []profile.Profile
	for i, d := range r.t.Descriptions {
		if p := r.of(i).profile; p != nil && p.Known() && d.Like == "" && !d.Far {
			names, profiles = append(names, brief.OneLine(d.File)), append(profiles, *p)
		}
	}
	r.t.Relations = profile.Relate(names, profiles, r.Sizes().Context/relationsShare)
}

// relationsShare is the part of what is shown of the files that their matches may take.
const relationsShare = 60

// ending is the part of a file's name that the program goes by.
func ending(name string) string {
	_, end, _ := strings.Cut(strings.ToLower(path.Base(name)), ".")
	return end
}
