// Package describe gives every data file its description (DS-STAR, Algorithm 1, lines 2 to 6).
// It is the file's profile, which a program makes; the content of a document is its description.
// Of files of one structure, a family, the nearest to the question is described, and of the others
// what differs. As published, the model writes a script for each file that prints its description.
// The files nearest to the question are shown to the model.
//
// A [Describer] does this for one run. It changes the Task and the Descriptions of the run's
// trajectory; concurrent results go through a [Journal].
package describe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
)

// Options configure a [Describer].
type Options struct {
	Corrections map[string]string // what a person says of files, by name
	Approved    bool              // the user has approved that
	// files and folders outside of the data that links in it may lead to
	Readable []string

	Columns []string // patterns of columns whose values no model sees

	CellTimeout time.Duration // of the kernels that describe files; 0: none

	MaxFiles   int // that are looked at at most; 0: all
	TopK       int // files that are shown to the model at most
	Jobs       int // files that a program looks into at the same time
	DebugTries int // repairs of one script, or cell, at most
}

// A Journal is told what is found. Its errors end the work. Its methods may be called
// concurrently.
type Journal interface {
	// Warn tells of something that the user should know.
	Warn(text string) error
	// Started tells in which Python environment the scripts run.
	Started(environment string) error
	// Described records the description of the task's file i.
	Described(i int, d record.Description) error
}

// A Session is a kernel that runs scripts.
type Session interface {
	Execute(ctx context.Context, code string) (notebook.Execution, error)
	// Rollback puts the session into the state that the cells produce from an empty one.
	Rollback(ctx context.Context, cells []string) (notebook.Restoration, error)
	Close() error
}

// A Describer describes the files of one run.
type Describer struct {
	*ask.Asker
	Options
	journal Journal
	t       *record.Trajectory
	open    func(ctx context.Context, dir string) (Session, error)
	data    string         // the data folder; "": there is none
	kernel  *ask.Stopwatch // of the sessions

	profiles map[string]*profile.Profile // by file
	others   []string                    // files that are not looked at, or not shown
	alone    bool                        // nothing but the descriptions is wanted
}

// New returns a describer for the run of t. open opens a private session that starts in
// dir; dir/files is the folder that its cells may write to.
func New(a *ask.Asker, o Options, t *record.Trajectory, data string, kernel *ask.Stopwatch,
	journal Journal,
	open func(ctx context.Context, dir string) (Session, error)) *Describer {
	return &Describer{Asker: a, Options: o, journal: journal, t: t, open: open,
		data: data, kernel: kernel, profiles: map[string]*profile.Profile{}}
}

// Describe gives every file that was chosen its description, and ranks the files. A program does
// it, or as published, the model by a script for each.
func (r *Describer) Describe(ctx context.Context) error {
	left, err := r.survey(ctx)
	if err != nil {
		return err
	}
	if !r.alone || len(left) > 0 {
		session, err := r.openScratch(ctx)
		if err != nil {
			return err
		}
		defer session.close()
		describe := r.profileFiles
		if !r.t.Method.Profiles() {
			describe = r.describeByModel
		}
		if err := describe(ctx, session, left); err != nil {
			return err
		}
	}
	if !r.alone {
		if err := r.keepTop(); err != nil {
			return err
		}
		r.t.Task.LeftOut = listed(r.others, r.Sizes().Description/4)
	}
	r.word()
	return nil
}

// DescribeOnly gives the files their descriptions, and ranks none.
func (r *Describer) DescribeOnly(ctx context.Context) error {
	r.alone = true
	if err := r.Guard(ctx, r.t.Task.Files); err != nil {
		return err
	}
	if err := r.Choose(); err != nil {
		return err
	}
	return r.Describe(ctx)
}

// Choose leaves only as many files as a run looks at: where there are more, those
// whose names have most in common with the question. Nothing is read for it.
func (r *Describer) Choose() error {
	names := make([]string, len(r.t.Task.Files))
	r.t.Descriptions = make([]record.Description, len(names))
	for i, f := range r.t.Task.Files {
		names[i], r.t.Descriptions[i].File = f.Name, f.Name
	}
	if r.MaxFiles == 0 || len(names) <= r.MaxFiles {
		return nil
	}
	r.rank(names, names, r.MaxFiles)
	return r.journal.Warn(fmt.Sprintf("%s not looked at: there are more than max_files, %d",
		human.Plural(len(r.others), "file"), r.MaxFiles))
}

// rank orders the files by the words that their texts share with the question, and leaves the nearest
// ones, of at most so many families, in the order of the task, and of the others their names: what
// nobody has seen is no part of how the answer was found, and with thousands of files it would be most
// of the notebook.
func (r *Describer) rank(texts, families []string, most int) {
	order, _ := profile.Near(r.t.Task.Question, texts, 0)
	left := map[string]bool{}
	for n, i := range order {
		r.t.Descriptions[i].Near = n + 1
		if len(left) < most {
			left[families[i]] = true
		}
	}
	all, described := r.t.Task.Files, r.t.Descriptions
	r.t.Task.Files, r.t.Descriptions = nil, nil
	for i, d := range described {
		if left[families[i]] {
			r.t.Task.Files = append(r.t.Task.Files, all[i])
			r.t.Descriptions = append(r.t.Descriptions, d)
		} else {
			r.others = append(r.others, d.File)
		}
	}
	r.t.Task.Others += len(all) - len(r.t.Task.Files)
}

// survey describes the files that need no program, and returns the others.
func (r *Describer) survey(ctx context.Context) (left []int, err error) {
	root := files.In(r.data, r.Readable...)
	for i, f := range r.t.Task.Files {
		d := &r.t.Descriptions[i]
		_, lost := root.Find(f.Name)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !utf8.ValidString(f.Name):
			d.Error = "its name is not valid UTF-8, so that no cell can name it"
		case errors.Is(lost, files.ErrOutside):
			d.Error = files.ErrOutside.Error() + ", and is not read without --allow-read"
		case f.Size == 0:
			d.Text = "The file is empty: it has 0 bytes."
		case r.t.Method.NoAnalyzer:
			d.Error = "not described" // DS-STAR section 4.2, Variant 1
		default:
			left = append(left, i)
			continue
		}
		if err := r.journal.Described(i, *d); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// dataPython is the name of file i as a Python string literal.
func (r *Describer) dataPython(i int) string {
	return brief.Python(inData(r.t.Task.Files[i].Name))
}

func inData(name string) string { return "data/" + name }

// mostWords is how many bytes of a file's words count.
const mostWords = 600

// keepTop ranks the files, and says so if only the nearest are shown, of TopK families (DS-STAR section
// 3.3, which compares embeddings). Names of columns count more than values.
func (r *Describer) keepTop() error {
	texts, families := make([]string, len(r.t.Descriptions)), make([]string, len(r.t.Descriptions))
	said := r.saidOf()
	for i, d := range r.t.Descriptions {
		p := cmp.Or(r.profiles[d.File], &profile.Profile{Problem: "none"})
		names, words := d.File+"\n"+d.File+"\n", d.Text
		if p.Known() {
			words = p.About
		}
		for _, t := range p.Tables {
			for _, c := range t.Columns {
				names += c.Name + "\n"
			}
		}
		texts[i] = brief.Clip(names+said[d.File]+words, mostWords)
		families[i] = cmp.Or(p.Structure, d.File)
	}
	r.rank(texts, families, r.TopK)
	if len(texts) == len(r.t.Descriptions) {
		return nil
	}
	return r.journal.Warn(fmt.Sprintf("of %d files the %d that share most words with the question are "+
		"shown to the model", len(texts), len(r.t.Descriptions)))
}

// saidOf are the lines of documents that name a file, by the last part of its name: such a file is as
// near to the question as what they say of it.
func (r *Describer) saidOf() map[string]string {
	said, left := map[string]string{}, 100_000 // bytes of documents that are looked at
	for _, d := range r.t.Descriptions {
		p := r.profiles[d.File]
		if p == nil || len(p.Document) > left {
			continue
		}
		left -= len(p.Document)
		for line := range strings.Lines(p.Document) {
			for _, f := range r.t.Task.Files {
				named := strings.Contains(line, path.Base(f.Name)) && f.Name != d.File
				if named && len(said[f.Name]) < mostWords {
					said[f.Name] += brief.Clip(line, mostWords)
				}
			}
		}
	}
	return said
}
