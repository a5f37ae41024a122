package describe

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
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
		name := func(i int) string { return inData(r.t.Task.Files[i].Name) }
		paths := lists.Map(left[:min(len(left), most)], name)
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

// A scratch is the session that looks into files, in a folder of its own. It runs one cell at a
// time.
type scratch struct {
	Session
	folder string // removed by close
	setUp  string
	kernel *ask.Stopwatch
	mu     sync.Mutex
}

// environment prints which Python runs, with which packages.
//
//go:embed environment.py
var environment string

// openScratch opens the session and asks it for what the notebook runs on. The cell that sets it up
// makes it see the data folder as the run's own would, and nothing else: it takes all names out of
// the session, and gives it back one that every module has, which PySpark reads. A child or a
// frozen copy of the session has at once what is loaded.
func (r *Describer) openScratch(ctx context.Context) (*scratch, error) {
	folder, err := disk.TempFolder("", "dsstar-describe-")
	if err != nil {
		return nil, err
	}
	s := &scratch{folder: folder, kernel: r.kernel, setUp: strings.Join([]string{
		"data_dir = " + brief.Python(r.data), record.SetUpCell(record.Task{Data: r.data}),
		profile.Load, environment, "%reset -f", "__spec__ = None"}, "\n")}
	stop := s.kernel.Start()
	var e notebook.Execution
	if s.Session, err = r.open(ctx, folder); err == nil {
		e, err = s.Execute(ctx, s.setUp)
	}
	stop()
	if err = cmp.Or(err, asSetUp(e)); err == nil {
		err = r.journal.Started(strings.TrimSpace(e.Stdout()))
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *scratch) close() {
	if s.Session != nil {
		_ = s.Close() // nothing of the run depends on it any more
	}
	_ = disk.RemoveTemp(s.folder) // a temporary folder; the system clears what stays
}

// asSetUp returns an error if a cell that sets the session up has failed.
func asSetUp(e notebook.Execution) error {
	if e.Status == notebook.OK {
		return nil
	}
	return fmt.Errorf("set up the session: %s", brief.Problem(e))
}

func (s *scratch) run(ctx context.Context, code string) (notebook.Execution, error) {
	defer s.kernel.Start()()
	return s.Execute(ctx, code)
}

// runAlone runs a script as a cell of its own: what another one has left does not show.
func (s *scratch) runAlone(ctx context.Context, code string) (notebook.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.kernel.Start()()
	back, err := s.Rollback(ctx, []string{s.setUp})
	for _, e := range back.Executions {
		err = cmp.Or(err, asSetUp(e))
	}
	if err != nil {
		return notebook.Execution{}, err
	}
	return s.Execute(ctx, code)
}

// How much of one text file, and of all together, is searched for credentials.
const scanBytes, scanAllBytes = 4 << 20, 256 << 20

// A MaskError is a column that cannot be masked: not all of its values are known.
type MaskError struct {
	File   string // "": none in particular
	Reason string
}

func (e *MaskError) Error() string {
	text := "the values to mask cannot be listed: "
	if e.File != "" {
		text += "in " + e.File + ", "
	}
	return text + e.Reason
}

// Guard has masked, in all that is asked from then on, the values of the columns that the task
// names, and what looks like credentials in the files, which are all that cells can open. It warns
// of the lines that have some. The error may be a [*MaskError].
func (r *Describer) Guard(ctx context.Context, all []record.File) error {
	patterns := slices.Concat(r.Columns, r.t.Task.Mask)
	slices.Sort(patterns)
	r.t.Task.Mask = slices.Compact(patterns)
	if err := r.maskColumns(ctx, all); err != nil {
		return err
	}
	return r.maskSecrets(ctx, all)
}

// maskColumns has a program list the values of columns, with a line for each file and one for all,
// and masks them. Nothing keeps them beyond the run. It warns of values that are not masked.
func (r *Describer) maskColumns(ctx context.Context, all []record.File) error {
	var names, paths []string
	for _, f := range all {
		if f.Size > 0 && utf8.ValidString(f.Name) {
			names, paths = append(names, f.Name), append(paths, inData(f.Name))
		}
	}
	if len(paths) == 0 || len(r.t.Task.Mask) == 0 {
		return nil
	}
	session, err := r.openScratch(ctx)
	if err != nil {
		return err
	}
	defer session.close()
	mark := rand.Text()
	e, err := session.run(ctx, profile.Values(paths, r.t.Task.Mask, r.bounds(profileTime), mark))
	if err != nil {
		return err
	}
	listed, short := marked(e.Stdout(), mark), 0
	var named []string
	for n, name := range append(names, "") {
		var l profile.Listing
		if err := json.Unmarshal([]byte(listed[n]), &l); err != nil {
			l.Problem = "the program that lists them has ended: " + brief.Problem(e)
		}
		if l.Problem != "" {
			return &MaskError{File: name, Reason: l.Problem}
		}
		if l.Named {
			named = append(named, name)
		}
		for _, values := range l.Columns {
			short += r.Mask.Add(values)
		}
	}
	if short > 0 {
		err = r.journal.Warn(fmt.Sprintf("%s of columns to mask are not masked: they have fewer than "+
			"three letters or six digits", human.Plural(short, "value")))
	}
	if len(named) > 0 {
		err = cmp.Or(err, r.journal.Warn("a column to mask is named, but not found as a column, in: "+
			brief.OneLine(brief.Clip(strings.Join(named, ", "), 300))+
			"; values that stand only there are not masked"))
	}
	return err
}

// maskSecrets looks for credentials at the beginnings of files, and names the lines that have some.
func (r *Describer) maskSecrets(ctx context.Context, all []record.File) error {
	root, left := files.In(r.data, r.Readable...), scanAllBytes
	for _, f := range all {
		if left <= 0 || ctx.Err() != nil {
			break
		}
		text, _, _ := root.Text(f.Name, scanBytes) // that it cannot be read is told of elsewhere
		left -= len(text)
		found := r.Mask.Learn(text)
		if len(found) == 0 {
			continue
		}
		lines := strings.ReplaceAll(strings.Trim(fmt.Sprint(found), "[]"), " ", ", ")
		if err := r.journal.Warn(fmt.Sprintf("%s, line %s: what looks like a credential is masked in "+
			"what goes to the model", f.Name, brief.OneLine(brief.Clip(lines, 100)))); err != nil {
			return err
		}
	}
	return ctx.Err()
}
