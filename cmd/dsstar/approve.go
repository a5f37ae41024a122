package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"dsstar/agent"
	"dsstar/agent/definitions"
	"dsstar/agent/memory"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// An approval is what this user has approved of a folder of definitions. It is kept under the folder's
// real path, so that a copy of the folder elsewhere is not approved.
type approval struct {
	Folder string             `json:"folder"`
	Digest string             `json:"digest"` // of the files
	Files  []definitions.File `json:"files"`  // as they were then
}

// text returns what a file says; nil if there is none.
func (all approval) text(name string) []byte {
	return lists.First(all.Files, func(f definitions.File) bool { return f.Name == name }).Text
}

// beside returns the definitions beside the data of a job as they are now, without remembered facts, and
// those that the user has approved, with the path of the file that says so. One that is damaged is an error.
func (a *app) beside(j job) (now, was approval, path string, err error) {
	now.Folder = filepath.Join(disk.RealPath(j.memory.Dir), memory.Definitions) // no link is followed there
	now.Files, err = definitions.Files(now.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return now, was, "", usage.New("the definitions beside the data: "+err.Error(), usage.Again("--memory", "off"))
	}
	now.Files = slices.DeleteFunc(now.Files, func(f definitions.File) bool { return f.Name == memory.FactsName })
	now.Digest = definitions.Digest(now.Files)
	path = filepath.Join(cmp.Or(a.configDir, "/dev/null"), "definitions", digestOf([]byte(now.Folder))[:32]+".json")
	b, err := disk.ReadPlain(path, disk.MaxDocument)
	if len(b) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist) || a.configDir == "") {
		return now, was, path, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &was)
	}
	if err != nil || was.Folder != now.Folder || was.Digest != definitions.Digest(was.Files) {
		err = usage.New(fmt.Sprintf("what you have approved of %s is damaged", ui.Printable(now.Folder)),
			usage.Shell("rm %s   # and approve the definitions again", path))
	}
	return now, was, path, err
}

// define finds the definitions that bind a job: what --definitions names, and of those beside the data what
// this user has approved.
func (a *app) define(j *job) error {
	for _, path := range j.definitions {
		files, err := definitions.Files(path)
		if err != nil {
			return usage.New("--definitions: "+err.Error(), usage.Shell("ls -l %s", path))
		}
		j.approved = append(j.approved, agent.Approved{Root: disk.RealPath(disk.Absolute(path)), Files: files, Once: true})
	}
	if j.memory != nil && !j.settings.Method.Paper {
		now, was, _, err := a.beside(*j)
		if err != nil {
			return err
		}
		waits := func(f definitions.File) bool { return !bytes.Equal(f.Text, was.text(f.Name)) }
		binding := slices.DeleteFunc(slices.Clone(now.Files), waits)
		if j.agreed = len(binding) == len(now.Files); !j.agreed {
			approve := usage.Shell("dsstar memory approve")
			if paths := j.paths(); len(paths) > 0 {
				approve = usage.Shell("dsstar memory approve --data %s", paths[0])
			}
			j.progress.Warn("definitions in %s are shown to no model until you approve them, in %s: %s",
				ui.Printable(now.Folder), human.Plural(len(now.Files)-len(binding), "file"), approve.On(a.line))
		}
		if len(binding) > 0 {
			j.approved = append(j.approved, agent.Approved{Root: now.Folder, Files: binding})
		}
	}
	for _, all := range j.approved {
		j.progress.Say("binding  %s of definitions in %s", human.Plural(len(all.Files), "file"), ui.Printable(all.Root))
	}
	return nil
}

const approveHelp = `Show how the definitions beside the data differ from those that you have
approved, and approve them. They then bind every role of every run on these data,
until their file changes. What is approved is kept in your configuration folder, by
the real path of the folder: a copy elsewhere, and a change that comes with git pull,
wait for an approval of their own.`

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
			return a.approve(ctx, j, yes)
		},
	}
}

// approve shows how definitions differ from those that were approved, and approves them.
func (a *app) approve(ctx context.Context, j job, yes bool) (none cli.Output, err error) {
	now, was, path, err := a.beside(j)
	if err != nil {
		return none, err
	}
	changes := differences(was, now)
	if changes == "" {
		return cli.Text("Nothing waits for approval in " + ui.Printable(now.Folder) + ".\n"), nil
	}
	if _, err := fmt.Fprint(a.stdout, changes); err != nil {
		return none, err
	}
	if !yes {
		if !a.stdinTTY || !a.stderrTTY {
			return none, usage.New("approving needs --yes where nobody can be asked", usage.Again("--yes"))
		}
		if err := a.ask(ctx, "Are these to bind every run on the data? [y/N] "); err != nil {
			return none, err
		}
	}
	b, _ := json.Marshal(now) // plain data
	err = os.MkdirAll(filepath.Dir(path), 0o700)
	if f, opened := os.OpenFile(path, os.O_CREATE, 0o600); err == nil && opened == nil { // empty: nothing is approved
		err = errors.Join(f.Close(), disk.WriteFile(path, b)) // which keeps the mode
	} else {
		err = cmp.Or(err, opened)
	}
	if err != nil {
		return none, fmt.Errorf("write the approval: %w", err)
	}
	return cli.Text("Approved: " + human.Plural(len(now.Files), "file") + " of definitions.\n"), nil
}

// differences returns a unified diff. What is no text is told by its digest.
func differences(was, now approval) (all string) {
	shown := map[string]bool{}
	for _, f := range slices.Concat(now.Files, was.Files) {
		before, after := was.text(f.Name), now.text(f.Name)
		if !utf8.Valid(before) || !utf8.Valid(after) {
			before, after = []byte(digestOf(before)+"\n"), []byte(digestOf(after)+"\n")
		}
		if !shown[f.Name] {
			shown[f.Name] = true
			name := ui.Printable(f.Name)
			all += string(diff.Diff(name, visible(before), name, visible(after)))
		}
	}
	return all
}

// visible returns a text with lines quoted that a terminal would not show as they are: a model reads what
// they hide.
func visible(text []byte) []byte {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		bare := strings.TrimRight(line, "\r\n")
		if plain := strings.ReplaceAll(bare, "\t", " "); ui.Printable(plain) != plain {
			line = ui.Printable(bare) + "\n"
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}
