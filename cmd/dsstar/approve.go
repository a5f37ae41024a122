package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"dsstar/agent"
	"dsstar/agent/definitions"
	"dsstar/agent/memory"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// An approval is what this user has approved of a folder of definitions. It is kept under the folder's
// real path, so that a copy of the folder elsewhere is not approved.
type approval struct {
	Folder string            `json:"folder"`
	Digest string            `json:"digest"` // of the files
	Files  map[string][]byte `json:"files"`  // as they were then
}

// approved returns what the user has approved of a folder, and the path of the file that says so. One that
// is damaged is an error: nothing is approved by it.
func (a *app) approved(folder string) (all approval, path string, err error) {
	if a.configDir == "" {
		return all, "", nil
	}
	path = filepath.Join(a.configDir, "definitions", digestOf([]byte(folder))[:32]+".json")
	b, err := disk.ReadPlain(path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return all, path, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err == nil && (all.Folder != folder || all.Digest != definitions.Digest(all.list())) {
		err = errors.New("it is not as it was written")
	}
	if err != nil {
		return approval{}, path, usage.New(fmt.Sprintf("what you have approved of %s is damaged: %s: %v",
			ui.Printable(folder), path, err), usage.Shell("rm %s   # and approve the definitions again", path))
	}
	return all, path, nil
}

// list returns the files, by name.
func (all approval) list() (files []definitions.File) {
	for _, name := range slices.Sorted(maps.Keys(all.Files)) {
		files = append(files, definitions.File{Name: name, Text: all.Files[name]})
	}
	return files
}

// has reports whether a file is as it was approved.
func (all approval) has(f definitions.File) bool {
	text, is := all.Files[f.Name]
	return is && bytes.Equal(text, f.Text)
}

// filesIn reads the files of a folder of definitions, without remembered facts. One that does not exist has
// none.
func filesIn(folder string) ([]definitions.File, error) {
	files, err := definitions.Files(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(files, func(f definitions.File) bool { return f.Name == memory.FactsName }), err
}

// define finds the definitions that bind a job: what --definitions names, what it named before if that is
// as it was, and, of those beside the data, what this user has approved.
func (a *app) define(j *job, before []record.Named) error {
	for _, path := range j.definitions {
		files, err := definitions.Files(path)
		if err == nil && len(files) == 0 {
			err = errors.New("there are no definitions in " + path)
		}
		if err != nil {
			return usage.New("--definitions: "+err.Error(), usage.Shell("ls -l %s", path))
		}
		j.approved = append(j.approved, agent.Approved{Root: disk.RealPath(disk.Absolute(path)), Files: files, Once: true})
	}
	for _, was := range before {
		if slices.ContainsFunc(j.approved, func(a agent.Approved) bool { return a.Root == was.Path }) {
			continue
		}
		files, err := definitions.Files(was.Path)
		if err != nil || definitions.Digest(files) != was.Digest {
			j.progress.Warn("the definitions in %s have changed since this run began, and bind no more without "+
				"--definitions %s", ui.Printable(was.Path), human.Shell(was.Path))
			continue
		}
		j.approved = append(j.approved, agent.Approved{Root: was.Path, Files: files, Once: true})
	}
	for _, named := range j.approved {
		j.progress.Say("binding  %s of definitions in %s", human.Plural(len(named.Files), "file"), ui.Printable(named.Root))
	}
	if j.memory == nil || j.settings.Method.Paper {
		return nil
	}
	folder := j.definitionsFolder()
	was, _, err := a.approved(folder)
	if err != nil {
		return err
	}
	files, err := filesIn(folder)
	if err != nil && len(was.Files) == 0 {
		j.progress.Warn("the definitions beside the data are left out: %v", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("the definitions beside the data: %w", err)
	}
	binding := slices.DeleteFunc(slices.Clone(files), func(f definitions.File) bool { return !was.has(f) })
	if len(binding) > 0 {
		j.approved = append(j.approved, agent.Approved{Root: folder, Files: binding})
		j.progress.Say("binding  %s of definitions in %s", human.Plural(len(binding), "file"), ui.Printable(folder))
	}
	if waiting := len(files) - len(binding); waiting > 0 {
		j.progress.Warn("%s of definitions in %s %s for your approval, and no model sees them: "+
			"dsstar memory approve%s", human.Plural(waiting, "file"), ui.Printable(folder),
			map[bool]string{true: "waits", false: "wait"}[waiting == 1], j.itsMemory())
	}
	return nil
}

// definitionsFolder returns the folder of definitions beside the data. If that itself is a link, it is not
// followed.
func (j *job) definitionsFolder() string {
	return filepath.Join(disk.RealPath(j.memory.Dir), memory.Definitions)
}

// itsMemory are the flags by which dsstar memory finds the memory of the job.
func (j *job) itsMemory() string {
	if m := j.settings.Memory; m != "auto" && m != "" {
		return " --memory " + human.Shell(m)
	}
	if paths := j.paths(); len(paths) > 0 {
		return " --data " + human.Shell(paths[0])
	}
	return ""
}

// agreed returns what people say of data files, as far as the user has approved it.
func (j *job) agreed(names []string) map[string]string {
	var texts []string
	for _, a := range j.approved {
		for _, f := range a.Files {
			texts = append(texts, strings.ReplaceAll(string(f.Text), "\r\n", "\n"))
		}
	}
	return memory.Said(texts, names)
}

const approveHelp = `Show how the definitions beside the data differ from those that you have
approved, and approve them. From then on they bind every role of every run on these
data, until a file changes. What is approved is kept in your configuration folder,
by the real path of the folder: a copy elsewhere, another user's folder and a change
that comes with git pull wait for their own approval.`

func (a *app) approveCommand() cli.Command {
	data, yes := ".", false
	return cli.Command{
		Use: "approve", Short: "Approve the definitions beside the data, so that they bind", Long: approveHelp,
		Example: "  dsstar memory approve --data ./data",
		Flags: []cli.Flag{cli.Opt(&data, "data,d", "Data", "the data that the definitions are about"),
			cli.Opt(&yes, "yes,y", "", "do not ask before approving")},
		Settings: "memory",
		Run: func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
			j := job{settings: c.Settings, progress: a.newProgress(false)}
			defer j.progress.Stop()
			if err = a.readMemory(ctx, &j, data); err != nil {
				return none, err
			}
			return a.approve(ctx, j.definitionsFolder(), yes)
		},
	}
}

// approve shows what has changed in a folder of definitions since it was approved, and approves that.
func (a *app) approve(ctx context.Context, folder string, yes bool) (none cli.Output, err error) {
	was, path, err := a.approved(folder)
	if err != nil {
		return none, err
	}
	files, err := filesIn(folder)
	if err != nil {
		return none, fmt.Errorf("the definitions beside the data: %w", err)
	}
	now := approval{folder, definitions.Digest(files), map[string][]byte{}}
	for _, f := range files {
		now.Files[f.Name] = f.Text
	}
	changes := differences(was.Files, now.Files)
	switch {
	case changes == "":
		return cli.Text("Nothing waits for approval in " + ui.Printable(folder) + ".\n"), nil
	case path == "":
		return none, usage.New("there is no configuration folder, where approvals are kept",
			usage.Shell("export XDG_CONFIG_HOME=DIR   # a folder of yours"))
	}
	if _, err := fmt.Fprint(a.stdout, changes); err != nil {
		return none, err
	}
	if !yes && !(a.stdinTTY && a.stderrTTY) {
		return none, usage.New("approving definitions needs --yes where nobody can be asked", usage.Again("--yes"))
	}
	if !yes {
		if err := a.ask(ctx, "Are these to bind every run on the data? [y/N] "); err != nil {
			return none, err
		}
	}
	b, _ := json.Marshal(now) // plain data
	if err := disk.WritePrivate(path, b); err != nil {
		return none, fmt.Errorf("write the approval: %w", err)
	}
	return cli.Text(fmt.Sprintf("Approved: %s of definitions in %s.\n", human.Plural(len(files), "file"),
		ui.Printable(folder))), nil
}

// differences returns a unified diff of files, by their names.
func differences(was, now map[string][]byte) string {
	names, all := maps.Clone(now), ""
	if names == nil {
		names = map[string][]byte{}
	}
	maps.Copy(names, was)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, after := was[name], now[name]
		shown, old := ui.Printable(name), ui.Printable(name)
		if _, is := was[name]; !is {
			old = "/dev/null"
		}
		if _, is := now[name]; !is {
			shown = "/dev/null"
		}
		if !bytes.Equal(before, after) && !(utf8.Valid(before) && utf8.Valid(after)) {
			all += fmt.Sprintf("--- %s\n+++ %s\nno text: %s, SHA-256 %s\n", old, shown, human.Bytes(int64(len(after))), digestOf(after))
			continue
		}
		all += string(diff.Diff(old, before, shown, after))
	}
	return all
}
