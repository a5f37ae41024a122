package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// A run that has an answer goes on in a folder of its own in the run folder: see
// [record.Folder.Unfinished]. Notebook, script and files of the answer stay until another one
// stands.

// settle reads a run and how far it went on from its answer; ok is false if it did not. An answer that a
// killed run has found takes its place first.
func (r *pastRun) settle(key record.Key) (next pastRun, ok bool, err error) {
	err = r.read(key)
	if r.t == nil {
		return next, false, err
	}
	next, ok, nextErr := r.unfinished(key)
	if nextErr != nil || !ok || !next.t.Stands() {
		return next, ok, cmp.Or(err, nextErr)
	}
	s, _, err := r.takeOver(key)
	if err != nil {
		return next, false, err
	}
	r.path = s.notebook.Path()
	return r.settle(key)
}

// takeUp reads a run that is to go on, and notes if it has an answer, which stands until there is
// another one. What was begun of that goes on, unless something else is wanted: then a question in
// it that has no answer yet is named, as it is dropped.
func (a *app) takeUp(j *job, r pastRun, w wish) (pastRun, error) {
	next, ok, err := r.settle(a.key())
	if err != nil {
		return r, err
	}
	was, err := page.Recorded(r.nb)
	if err != nil || !was.Stands() {
		return r, err
	}
	if j.stands = r.path; ok && w == (wish{}) {
		next.t.TakeRemarks(r.t)
		return next, disk.WriteFile(r.folder.From(), r.content)
	}
	if next.t != nil && !next.theirs { // what was asked for it is known
		r.t.Journal.Add(next.t.Journal)
	}
	if next.t != nil && len(next.t.Questions) > len(r.t.Questions) && next.t.Task.Question != w.question {
		j.progress.Warn("a question was begun and is dropped; to ask it again: dsstar resume --ask %s %s",
			human.Shell(ui.Printable(next.t.Task.Question)), human.Shell(string(r.folder)))
	}
	return r, nil
}

// saverOf returns what saves a run that goes on, and begins a folder for that if an answer stands
// meanwhile.
func (a *app) saverOf(j *job, r pastRun) (*saver, error) {
	s := continued(r, a.key())
	if j.stands == "" {
		return s, nil
	}
	if r.path == j.stands {
		err := r.folder.GoOn()
		if err == nil {
			err = disk.WriteFile(r.folder.From(), r.content)
		}
		if err != nil {
			return nil, fmt.Errorf("go on in the run folder: %w", err)
		}
		s = newSaver(r.folder.Unfinished(), a.key())
	}
	s.data = r.t.Task.Data
	r.t.Task.Data = r.data() // from another folder, too
	return s, nil
}

// unfinished returns how far the run went on from its answer. ok is false if it did not, or if a
// person has changed what it went on from, or if another dsstar made it.
func (r pastRun) unfinished(key record.Key) (next pastRun, ok bool, err error) {
	folder := r.folder.Unfinished()
	next = pastRun{folder: r.folder, path: disk.Newest(folder.Notebook())}
	from := pastRun{folder: r.folder, path: r.folder.From()}
	for _, path := range []string{string(folder), next.path, from.path} {
		if !exists(path) || !isPlain(path, path == string(folder)) {
			return next, false, nil // there is none, or it is not what a run leaves
		}
	}
	if err := errors.Join(from.read(key), next.read(key)); err != nil {
		return next, false, err
	}
	same := r.t != nil && r.t.Edition() == from.t.Edition() || bytes.Equal(r.content, next.content)
	return next, same && !next.theirs, nil
}

// takeOver puts the answer that a run has gone on to in the place of the one before. It can be done
// again after a kill at any moment. Files that somebody has edited meanwhile are left alone, with
// warnings.
func (r pastRun) takeOver(key record.Key) (s *saver, warnings []string, err error) {
	folder := r.folder.Unfinished()
	var files [3][]byte
	for i, path := range []string{r.folder.From(), disk.Newest(folder.Script()), disk.Newest(folder.Notebook())} {
		if files[i], err = disk.ReadPlain(path, disk.MaxDocument); err != nil {
			return nil, nil, fmt.Errorf("save the answer: %w", err)
		}
	}
	r.content = files[0]
	s = continued(r, key)
	warn := func(text string) { warnings = append(warnings, text) }
	for i, file := range []*disk.Guarded{s.script, s.notebook} {
		data := files[1+i]
		file.Accept(data)
		if err := guarded(file, func() ([]byte, error) { return data, nil }, warn); err != nil {
			return s, warnings, fmt.Errorf("save the answer: %w", err)
		}
	}
	if err := r.folder.TakeOver(); err != nil {
		return s, warnings, fmt.Errorf("save the answer: %w", err)
	}
	return s, warnings, disk.RemoveFolder(string(folder))
}

// replace puts the answer of a run that went on in the place of the one that has stood until now.
// It returns what has saved the run. ended is the error that cut the run short, if any.
func (j job) replace(t *record.Trajectory, folder record.Folder, s *saver, ended error) (*saver, error) {
	t.Task.Data = s.data
	if !t.Stands() {
		return s, ended
	}
	r := pastRun{folder: folder, path: j.stands}
	_ = r.read(s.key) // whatever somebody has made of it meanwhile
	s, warnings, err := r.takeOver(s.key)
	for _, w := range warnings {
		j.progress.Warn("%s", w)
	}
	return s, cmp.Or(ended, err)
}

// How a run that has an answer goes on: see runs --json.
const (
	isEdited     = "edited"     // a person has changed its cells
	isUnfinished = "unfinished" // another answer was begun
	isAtWork     = "running"    // and a process is at work on it
	isOnOthers   = "data"       // its data files have other content by now
	hasOthers    = "files"      // a file of its answer is not as it was proved
)

// goesOn says how a run goes on from its answer; "" if it does not. An answer that a killed run has
// found takes its place first.
func goesOn(folder record.Folder, key record.Key) string {
	if _, err := os.Lstat(string(folder.Unfinished())); err != nil {
		return ""
	}
	release, err := folder.Lock()
	if errors.Is(err, disk.ErrLocked) {
		return isAtWork
	}
	if err != nil {
		return ""
	}
	defer release()
	r := pastRun{folder: folder, path: disk.Newest(folder.Notebook())}
	if _, ok, _ := r.settle(key); ok { // an edit that resume refuses does not matter here
		return isUnfinished
	}
	return ""
}

// sayGoesOn says how a run goes on from the answer that is shown.
func sayGoesOn(out io.Writer, how, run string) {
	words := map[string]string{isEdited: "its cells were changed", isUnfinished: "another answer is unfinished",
		isAtWork: "a dsstar is at work in it", isOnOthers: "its data files have changed",
		hasOthers: "a file of its answer was changed or removed"}
	fmt.Fprintf(out, "goes on  %s: dsstar resume %s\n", words[how], human.Shell(ui.Printable(run)))
}

// shownRun returns the notebook of the answer of the run at path; "" if path is no run folder.
func (a *app) shownRun(path string) string {
	if how := goesOn(record.Folder(path), a.key()); how != "" {
		sayGoesOn(a.stderr, how, path)
	}
	return disk.Newest(record.Folder(path).Notebook())
}
