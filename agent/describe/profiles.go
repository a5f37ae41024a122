package describe

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook/human"
)

// profileTime is how long files are profiled; those that are left are only named.
const profileTime = 5 * time.Minute

// profileSeconds is how long the program may look into one file: less than a cell may run, so that it
// says itself how far it came.
func (r *Describer) profileSeconds() int {
	const usual = 60
	cell := int(r.CellTimeout.Seconds())
	if cell == 0 {
		return usual
	}
	return max(1, min(cell*4/5, max(usual, cell/5)))
}

// profileChars is how long the JSON of a profile may be: a thousand columns take half of it.
const profileChars = 4 << 20

// profileFiles has a program look at the files, the nearest to the question first.
func (r *Describer) profileFiles(ctx context.Context, pool *pool, left []int) error {
	r.nearness = ByWords(r.t.Task.Question, r.beginnings())
	place := make([]int, len(r.nearness))
	for n, i := range r.nearness {
		place[i] = n
	}
	slices.SortFunc(left, func(a, b int) int { return place[a] - place[b] })
	end := time.Now().Add(profileTime)
	var mu sync.Mutex
	var late []int
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(pool.size)
	which := script{code: profile.Script(r.profileSeconds()), most: profileChars}
	for _, part := range r.batches(left) {
		g.Go(func() error {
			if time.Now().After(end) {
				mu.Lock()
				defer mu.Unlock()
				late = append(late, part...)
				return nil
			}
			return pool.runScript(within, which, part, r.profiled)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return r.leaveOut(late)
}

// batches divides files into those that are profiled by one cell. A large file has one for
// itself, so that the time is looked at before the next.
func (r *Describer) batches(files []int) (all [][]int) {
	const most, large = 25, 64 << 20
	size := int64(0)
	for _, i := range files {
		own := r.t.Task.Files[i].Size
		if last := len(all) - 1; last >= 0 && len(all[last]) < most && size+own <= large {
			all[last] = append(all[last], i)
			size += own
			continue
		}
		all, size = append(all, []int{i}), own
	}
	return all
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

// takeProfile gives file i the description that its profile is. A file that the program does not
// understand waits for the model, if there is one; one that is locked, nobody understands. Without a
// database that the user has named there is nothing to ask about.
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
	if r.profiles[i] = &p; !p.Known() && r.Model != nil {
		return nil
	}
	return r.describedAs(i, r.fromProfile(i, r.Sizes().Description))
}

// fromProfile is what the profile of file i says in at most about chars bytes: of a document that
// is no longer, its content.
func (r *Describer) fromProfile(i, chars int) record.Description {
	d, p := r.t.Descriptions[i], r.profiles[i]
	d.Like, d.Profile = "", true
	d.Document = p.Document != "" && len(p.Tables) == 0
	plain := slices.Contains([]string{"text", "source code", "PDF", "Word"}, p.Format) &&
		d.Document && len(p.Warnings) == 0 && p.Known()
	if d.Whole = plain && !p.Cut && len(p.Document) <= chars; d.Whole {
		d.Text = strings.TrimRight(p.Document, "\n")
	} else {
		d.Text = p.Text(r.t.Task.Question+"\n"+r.t.Task.Guidelines, chars, ByWords)
	}
	return d
}

// unknown are the files that the program does not understand and that only it has described.
func (r *Describer) unknown() (all []int) {
	for i, p := range r.profiles {
		if d := r.t.Descriptions[i]; p != nil && !p.Known() && (d.Text == "" && d.Error == "" || d.Profile) {
			all = append(all, i)
		}
	}
	return all
}

// lead is the file that stands for those of the structure of file i.
func (r *Describer) lead(i int) string {
	if r.method.Profiles() {
		return r.alikeLead[r.t.Descriptions[i].File]
	}
	return r.t.Descriptions[i].Lead()
}

// findLeads groups the files by the tables and columns of their profiles, or by how they begin
// where the program does not understand them.
func (r *Describer) findLeads() {
	first := map[string]string{}
	r.alikeLead = map[string]string{}
	for i, d := range r.t.Descriptions {
		key := r.structure(i)
		if key == "" || r.method.Script || d.Corrected {
			key = "\x00" + d.File
		}
		if _, known := first[key]; !known {
			first[key] = d.File
		}
		r.alikeLead[d.File] = first[key]
	}
}

// structure is the same for files of one family; "": the file has none that others may have.
func (r *Describer) structure(i int) string {
	p := r.profiles[i]
	if p == nil || !p.Known() {
		return r.looks[i].Shape
	}
	if len(p.Tables) == 0 {
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

// word gives the files the texts that are shown: of each family the nearest to the question is
// whole, and of the others there is what differs.
func (r *Describer) word() {
	show := r.Sizes()
	leads := map[string]int{}
	for _, i := range r.nearness {
		d, p := &r.t.Descriptions[i], r.profiles[i]
		if p == nil || !d.Profile {
			continue
		}
		*d = r.fromProfile(i, show.Description)
		if m, ok := leads[r.lead(i)]; !ok {
			leads[r.lead(i)] = i
		} else if differs := p.Beyond(*r.profiles[m], show.Description/16); differs != "" {
			d.Text, d.Like, d.Whole = differs, r.t.Descriptions[m].File, false
		}
	}
	r.relate()
	if r.alone {
		return // there is room for all
	}
	texts, likes := make([]string, len(r.t.Descriptions)), make([]int, len(r.t.Descriptions))
	for i := range texts {
		likes[i], texts[i] = r.words(i)
	}
	for i, share := range r.sharesOf(texts, likes, show) {
		if d := r.t.Descriptions[i]; d.Profile && d.Like == "" && share < len(texts[i]) {
			r.t.Descriptions[i] = r.fromProfile(i, max(share, farChars))
		}
	}
}

// relate records which columns of the files match. Of a family, whose columns are the same, the
// first file stands for all.
func (r *Describer) relate() {
	var names []string
	var known []profile.Profile
	for i, p := range r.profiles {
		if p != nil && p.Known() && r.t.Descriptions[i].Like == "" {
			names, known = append(names, brief.OneLine(r.t.Task.Files[i].Name)), append(known, *p)
		}
	}
	r.t.Relations = ""
	if len(known) > 0 {
		r.t.Relations = profile.RelateText(profile.Relate(names, known), r.Sizes().Context/relationsShare)
	}
}

// relationsShare is the part of what is shown of the files that their matches may take.
const relationsShare = 50

// ending is the part of a file's name that the program goes by.
func ending(name string) string {
	_, end, _ := strings.Cut(strings.ToLower(path.Base(name)), ".")
	return end
}
