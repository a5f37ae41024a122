package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// A pastRun is a run read from disk.
type pastRun struct {
	folder  record.Folder
	path    string // of the notebook
	content []byte // of the notebook
	nb      *notebook.Notebook
	t       *record.Trajectory
	theirs  bool // another dsstar made it: nothing of it counts as proved
}

// tell says from where the run goes on, and how its data have changed, or which definition, if one has.
func (r pastRun) tell(p *ui.Progress, question, changes, definition string) {
	if r.theirs {
		p.Say("theirs   another dsstar made this run, or it was changed: a model judges and derives its answer " +
			"again, and its notes and cells count as nobody's wishes")
		return
	}
	if changes != "" && r.t.Described {
		p.Say("changed  the data, so what was asked is answered anew: %s", ui.Printable(changes))
	} else if definition != "" {
		p.Say("changed  a definition that it rests on, so what was asked is answered anew: %s", ui.Printable(definition))
	} else if question == "" && len(r.t.Edits()) == 0 {
		p.Say("goes on  where it stopped: %s so far", human.Plural(r.t.RoundsTaken(), "round"))
	}
	for _, what := range r.t.Edits() {
		p.Say("edited   %s", what)
	}
	if question != "" {
		p.Say("question %s", question)
	}
}

func (r pastRun) data() string { return r.folder.Data(r.t.Task.Data) }

// sources returns the run's data by where they are. Links in its data folder that are gone are made
// again. Data that the user must name first are not looked at.
func (a *app) sourcesOf(r pastRun, s *configs.Settings) ([]files.Source, error) {
	if r.theirs {
		if err := site.Named(s, string(r.folder), r.named()...); err != nil {
			return nil, err
		}
	}
	may := a.mayRead(s)
	switch data := r.data(); {
	case data == "":
		return nil, nil
	case len(r.t.Task.Sources) == 0:
		if !isFolder(data) {
			return nil, usage.New("the run's data folder does not exist: "+data,
				usage.Shell("ls -ld %s   # or set data_dir in the notebook's parameters cell to "+
					"where it is now", data))
		}
		return []files.Source{{Path: data}}, may(disk.RealPath(data))
	default:
		all, err := files.Link(string(r.folder), record.DataFolder, r.t.Task.Sources, may)
		if refused, ok := errors.AsType[*usage.Error](err); ok {
			return nil, refused
		}
		if err != nil {
			return nil, usage.New(fmt.Sprintf("the run's data: %v", err),
				usage.Shell("ls -l %s   # make the link lead to where the data are now", data))
		}
		return all, nil
	}
}

// mayRead returns a function that rejects private data that only the notebook names, because dsstar
// itself reads them.
func (a *app) mayRead(s *configs.Settings) func(real string) error {
	return func(real string) error {
		if a.host.Private(real) && !site.Allows(s, real) {
			return usage.New(fmt.Sprintf("the notebook may come from a stranger, and its data, %s, are "+
				"hidden, the system's or your home", ui.Printable(real)),
				usage.Again("--allow-read", "PATH").Note("PATH: those data, if the notebook is yours"))
		}
		return nil
	}
}

// named returns the paths of the data that the run names, as far as they are files and folders.
func (r pastRun) named() (paths []string) {
	if len(r.t.Task.Sources) == 0 {
		return []string{r.data()}
	}
	for _, s := range r.t.Task.Sources {
		if s.Database == "" && s.From == "" {
			paths = append(paths, files.LeadsTo(string(r.folder), record.DataFolder, s))
		}
	}
	return paths
}

// dataFiles lists the run's data, with their sums.
func (r pastRun) dataFiles(ctx context.Context, sources []files.Source) ([]record.File, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	now := record.Task{}
	err := listData(ctx, &now, sources)
	read := now.Files
	if len(read)-len(r.t.Task.Files) > files.MostInDigest {
		read = r.t.Task.Files // of the others only names and sizes are looked at
	}
	sums := files.Sums(sources, read)
	for i, f := range now.Files {
		now.Files[i].Sum = sums[f.Name]
	}
	r.t.Task.Skipped = now.Skipped
	return now.Files, err
}

// finished reports whether the run has nothing left to do for a job.
func (r pastRun) finished(ctx context.Context, now []record.File, j job) bool {
	return len(j.definitions) == 0 && record.Finished(r.t, now, j.settings.MaxRounds) &&
		agent.ChangedDefinition(ctx, r.t) == ""
}

// departed tells what of a run in a folder is no more as it was proved: isOnOthers, hasOthers, isDefined or
// "". Data that are not where the run had them are not looked at.
func departed(ctx context.Context, folder record.Folder, t *record.Trajectory) string {
	run := pastRun{folder: folder, t: record.New(t.Task, record.Question{})}
	if data := run.data(); data != "" && disk.Exists(data) {
		now, err := run.dataFiles(ctx, t.Task.In(data))
		if err == nil && run.t.DataChanges(now) != "" {
			return isOnOthers
		}
	}
	switch {
	case agent.ChangedDefinition(ctx, t) != "":
		return isDefined
	case otherFile(folder, t) != "":
		return hasOthers
	}
	return ""
}

// otherFile returns a file of the answer that is not in the run folder as it was proved, such as one
// that a person has changed or removed; "" if there is none.
func otherFile(folder record.Folder, t *record.Trajectory) string {
	if t.Final == nil || t.Proof == nil {
		return ""
	}
	given := files.In(folder.Files())
	for _, f := range t.Final.Files {
		if f.Digest == "" {
			continue
		}
		sum, err := given.Sum(f.Name)
		info, _ := os.Stat(filepath.Join(folder.Files(), f.Name))
		if err != nil || (files.File{Size: info.Size()}).IsWhole() && sum != f.Digest {
			return f.Name
		}
	}
	return ""
}

// How a run is no more as it was answered, in runs --json.
const (
	isEdited   = "edited"     // a person has changed its cells
	isOnOthers = "data"       // its data files have other content by now
	hasOthers  = "files"      // a file of its answer is not as it was proved
	isDefined  = "definition" // a definition that it rests on has changed
)

// definitionChanged says which definition has changed.
const definitionChanged = "a definition that it rests on, %s, has changed since"

// newestIn returns the newest notebook of a run folder; "" if there is none.
func newestIn(run string) string { return disk.Newest(record.Folder(run).Notebook()) }

// findRun reads the run that arg names: a run folder, whose newest notebook it takes, or a notebook
// in one. That of another dsstar proves nothing.
func findRun(arg string, key record.Key) (r pastRun, err error) {
	path, err := filepath.Abs(arg)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		return r, usage.New("there is no run "+ui.Printable(arg),
			append(similar(arg, filepath.Dir(arg)), usage.Shell("dsstar runs"))...)
	}
	if err != nil {
		return r, usage.New(fmt.Sprintf("the run: %v", err), usage.Shell("ls -l %s", arg))
	}
	r.folder, r.path = record.Folder(filepath.Dir(path)), path
	if isFolder(path) {
		r.folder = record.Folder(path)
		if r.path = newestIn(path); r.path == "" {
			return r, usage.New(ui.Printable(arg)+" is not a run folder: it has no notebook.ipynb",
				usage.Shell("ls %s", path))
		}
	}
	variables := r.folder.Variables()
	for _, path := range []string{r.path, r.folder.Script(), r.folder.Trace(), variables} { // dsstar uses them
		if !isPlain(path, path == variables) {
			what := map[bool]string{true: "folder", false: "file"}[path == variables]
			return r, usage.New(fmt.Sprintf("%s is not a %s, as a run leaves it, but something else, such as a link",
				ui.Printable(path), what), usage.Shell("ls -l %s", path))
		}
	}
	if r.nb, r.content, err = openNotebook(r.path); err != nil {
		return r, err
	}
	if r.t, err = page.Read(r.nb); err != nil {
		return r, usage.New(fmt.Sprintf("%s: %v", ui.Printable(r.path), err),
			usage.Shell("dsstar resume --help   # what can be changed in a notebook"),
			usage.Shell("dsstar rerun %s   # runs any notebook again", r.path))
	}
	r.t.Journal.In(string(r.folder))
	if r.theirs = !key.Holds(r.t.Seal); r.theirs {
		r.t.Disown()
	}
	return r, nil
}

// isPlain reports whether a path is a folder, or else a file, or is not there. A link is neither.
func isPlain(path string, folder bool) bool {
	info, err := os.Lstat(path)
	return err != nil || folder && info.IsDir() || !folder && info.Mode().IsRegular()
}
