package describe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook/human"
)

// headBytes is how much of a file's beginning is looked at, and shown to the analyzer.
const headBytes = 700

// Describe gives every file that was chosen its description, and ranks the files. A program does
// it, or as published, the model by a script for each.
func (r *Describer) Describe(ctx context.Context) error {
	left, err := r.survey(ctx)
	if err != nil || r.alone && len(left) == 0 {
		return err
	}
	session, err := r.openScratch(ctx)
	if err != nil {
		return err
	}
	defer session.close()
	describe := r.profileFiles
	if !r.method.Profiles() {
		describe = r.describeByModel
	}
	if err := describe(ctx, session, left); err != nil || r.alone && !r.method.Profiles() {
		return err
	}
	r.findLeads()
	if !r.alone {
		if err := r.rank(ctx); err != nil {
			return err
		}
		r.narrow()
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

// survey looks at the files, describes those that need no program, and returns the others. A folder
// that cannot be opened here may still be there for the scripts: then nothing is known of its files
// before they run.
func (r *Describer) survey(ctx context.Context) (left []int, err error) {
	root, err := files.Open(r.data, r.Readable)
	if err == nil {
		defer root.Close()
		err = r.look(ctx, root)
	} else {
		root, err = nil, nil
	}
	for i := 0; i < len(r.t.Task.Files) && err == nil; i++ {
		var done bool
		if done, err = r.describeAtOnce(root, i); !done {
			left = append(left, i)
		}
	}
	return left, err
}

// Choose leaves only as many files as a run looks at: where there are more, those
// whose names have most in common with the question. Nothing is read for it.
func (r *Describer) Choose() error {
	for _, folder := range r.t.Task.Unread {
		if err := r.journal.Warn("the folder " + folder + " of the data cannot be read; its files " +
			"are left out"); err != nil {
			return err
		}
	}
	names := make([]string, len(r.t.Task.Files))
	r.t.Descriptions = make([]record.Description, len(names))
	for i, f := range r.t.Task.Files {
		names[i], r.t.Descriptions[i].File = f.Name, f.Name
	}
	if most := r.MaxFiles; most > 0 && len(names) > most {
		taken := spread(ByWords(r.t.Task.Question, names), most)
		r.leaveOut(func(i int) bool { return !taken[i] })
	}
	if n := len(r.others); n > 0 {
		return r.journal.Warn(fmt.Sprintf("%s not looked at: there are more than max_files, %d",
			human.Plural(n, "file"), r.MaxFiles))
	}
	return nil
}

// look reads the beginning of every file. One that may not be read has its error; any other fault
// is left to the script, whose error then says what it is.
func (r *Describer) look(ctx context.Context, root *files.Folder) error {
	var leading []*files.OutsideError
	for i, f := range r.t.Task.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		look, err := files.LookAt(root, f, headBytes)
		outside, leads := errors.AsType[*files.OutsideError](err)
		switch d := &r.t.Descriptions[i]; {
		case leads:
			d.Error = "it is a link that leads out of the data folder, and is not read"
			leading = append(leading, outside)
		case errors.Is(err, fs.ErrPermission):
			d.Error = "it cannot be read: permission denied"
		case err == nil:
			r.of(i).look, d.Kind = look, look.Kind
		}
	}
	return r.warnOfLinks(leading)
}

// warnOfLinks tells of links that are not followed, and how to allow it: for each file, or for
// their folder where it has several. No flag is advised for what is private, nor for a folder with
// that: a stranger's links may be there for that.
func (r *Describer) warnOfLinks(leading []*files.OutsideError) error {
	if len(leading) == 0 {
		return nil
	}
	var names, allow []string
	in, private := map[string]int{}, map[string]bool{} // by folder
	for _, l := range leading {
		dir := filepath.Dir(l.Target)
		names, in[dir] = append(names, l.Name), in[dir]+1
		private[dir] = private[dir] || r.Private(l.Target) || r.Private(dir)
	}
	for _, l := range leading {
		target := l.Target
		if dir := filepath.Dir(target); in[dir] > 1 && !private[dir] {
			target = dir
		}
		flag := "--allow-read " + human.Shell(target)
		if !r.Private(l.Target) && !slices.Contains(allow, flag) {
			allow = append(allow, flag)
		}
	}
	const most = 5
	text := "links that lead out of the data folder are not read: " +
		strings.Join(strings.Fields(listed(names, 300)), ", ")
	if len(allow) > 0 {
		text += "; allow it with " + strings.Join(allow[:min(len(allow), most)], " ")
	}
	return r.journal.Warn(text)
}

// describeAtOnce gives a description to a file that needs no program, and reports whether it did.
// root may be nil.
func (r *Describer) describeAtOnce(root *files.Folder, i int) (done bool, err error) {
	f, d := r.t.Task.Files[i], r.t.Descriptions[i]
	switch {
	case !utf8.ValidString(f.Name):
		d.Error = "its name is not valid UTF-8, so that no cell can name it"
	case d.Error != "":
	case f.Size == 0:
		d.Text = "The file is empty: it has 0 bytes."
	case r.method.NoAnalyzer:
		d.Error = "not described" // DS-STAR section 4.2, Variant 1
	case !r.method.Profiles():
		return false, nil
	default:
		r.of(i).kept = r.keptAt(root, f)
		p, ok := keptProfile(r.of(i).kept)
		if ok {
			r.t.Descriptions[i].Cached = p.Known()
			err = r.takeProfile(i, p)
		}
		return ok, err
	}
	return true, r.describedAs(i, d)
}

// describedAs records a description and tells of it.
func (r *Describer) describedAs(i int, d record.Description) error {
	d.Text = brief.Lines(d.Text, r.DescriptionChars)
	return r.journal.Described(i, d)
}

// descriptionChars is how long a description should be: long where there are few
// files, since all of them are read again with every request.
func (r *Describer) descriptionChars(show ask.Sizes) int {
	const least = 1000
	files := max(1, min(len(r.t.Task.Files), r.TopK))
	room := min(show.Description/4, show.Context*13/100/files)
	return max(min(least, show.Description), room/100*100)
}

// dataPython is the name of file i as a Python string literal.
func (r *Describer) dataPython(i int) string {
	return brief.Python("data/" + r.t.Task.Files[i].Name)
}
