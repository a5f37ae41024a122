package describe

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/notebook/human"
)

// profileTime is how long files are profiled; those that are left are told as such.
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
	for _, i := range left {
		r.t.Descriptions[i].Error = "there was no time to look into it"
		if err := r.journal.Described(i, r.t.Descriptions[i]); err != nil {
			return err
		}
	}
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
