package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

const describeHelp = `Print the descriptions of data files that dsstar nb works from. They are profiles
that a program makes, without a model: tables with their columns, ranges, values,
missing values and keys; documents whole. DATA is what --data of dsstar nb takes: a
folder, file, pattern, database or bucket. No run folder is created.

Where a description is wrong or lacks what you know, say so in Markdown: the text
below a heading that is the file's name, in any file of .dsstar/definitions/ beside
the data, stands above the description in all later runs.

` + exitHelp

const describeExample = `  dsstar describe ./data
  dsstar describe ./data/sales.csv notes/terms.pdf
  dsstar describe ./data --json
  dsstar describe postgresql://ada@db.example.org/sales`

func (a *app) describeCommand() cli.Command {
	var d runFlags
	var question string
	return cli.Command{
		Use: "describe [flags] DATA…", Short: "Print descriptions of data files",
		Long: describeHelp, Example: describeExample,
		Args: cli.Any,
		Flags: []cli.Flag{
			cli.Opt(&question, "question", "Data",
				"the question, which chooses files if there are more than max_files"),
			cli.Opt(&d.json, "json", "Output", "print one JSON object instead of text"),
			cli.Opt(&d.quiet, "quiet,q", "Output", "no progress on standard error"),
			cli.Opt(&d.yes, "yes,y", "Output", "do not ask before using a server's kernels without a sandbox"),
		},
		Settings: "Data -learn Model -second debug-tries analyzer paper Limits Kernel Sandbox",
		Run: func(ctx context.Context, c *cli.Call) (cli.Output, error) {
			return a.describe(ctx, c, d, question)
		},
	}
}

// describe runs the command.
func (a *app) describe(ctx context.Context, c *cli.Call, d runFlags, question string) (none cli.Output, err error) {
	if len(c.Args) == 0 {
		return none, usage.New("no data are given", usage.Shell("dsstar describe DIR"))
	}
	s := c.Settings
	j := job{runFlags: d, settings: s, progress: a.newProgress(d.quiet)}
	defer j.progress.Stop()
	if j.sources, err = a.sources(ctx, &j, c.Args); err != nil {
		return none, err
	}
	if err = j.setTask(ctx, strings.TrimSpace(question), ""); err != nil {
		return none, err
	}
	remove, err := j.linkApart()
	defer remove()
	if err != nil {
		return none, err
	}
	t, err := a.descriptions(ctx, &j)
	if t == nil {
		return none, err
	}
	return cli.Output{Value: described{append([]record.Description{}, t.Descriptions...), t.Seconds,
		append([]string{}, t.Warnings...)}, Text: func(b *strings.Builder) { printDescriptions(b, t) }}, err
}

// A described is the object that describe --json prints, also of a run that was cut short. Its fields
// are a contract: see docs/results.md.
type described struct {
	Files    []record.Description `json:"files"`
	Seconds  record.Seconds       `json:"seconds"`
	Warnings []string             `json:"warnings"`
}

// printDescriptions writes each description below a line with its file and origin.
func printDescriptions(b *strings.Builder, t *record.Trajectory) {
	for i, d := range t.Descriptions {
		from := ""
		switch {
		case d.Error != "":
			from = "not described: " + d.Error
		case d.Text == "":
			continue // the run ended before it was described
		case d.Corrected:
			from = "with what a person says"
		case d.Whole:
			from = "the content itself"
		case d.Like != "":
			from = "as " + ui.Printable(d.Like) + ", but"
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		heading := []string{ui.Printable(d.File), human.Bytes(t.Task.Files[i].Size), d.Kind, from}
		heading = slices.DeleteFunc(heading, func(part string) bool { return part == "" })
		fmt.Fprintf(b, "== %s\n", ui.Clean(strings.Join(heading, " · ")))
		if d.Text != "" {
			clean := ui.Cleaner{Still: true}
			b.WriteString(clean.Text(strings.TrimRight(d.Text, "\n")) + "\n")
		}
	}
}

// descriptions describes the files. The trajectory is nil if nothing was started; otherwise it holds
// the descriptions so far, even with an error.
func (a *app) descriptions(ctx context.Context, j *job) (*record.Trajectory, error) {
	if err := a.remember(ctx, j); err != nil {
		return nil, err
	}
	if j.settings.Method.Paper {
		if err := a.models(j); err != nil {
			return nil, err
		}
	}
	j.progress.Skipped(j.task)
	if err := j.setUpAlone(ctx, a); err != nil {
		return nil, err
	}
	config := a.config(*j)
	config.Readable = append(config.Readable, j.paths()...)
	config.Open = site.Opening(j.site, nil)
	config.Observe = func(e agent.Event, t *record.Trajectory) error {
		j.progress.Event(e, t)
		return nil
	}
	j.progress.Wait(ui.DescribingFiles)
	t, err := agent.DescribeFiles(ctx, config, j.task)
	j.progress.Stop()
	return t, err
}

// linkApart links several data, or a database, in a temporary folder, which the caller must remove.
func (j *job) linkApart() (remove func(), err error) {
	if len(j.task.Sources) == 0 {
		return func() {}, nil
	}
	dir, err := disk.TempFolder("", "dsstar-apart-")
	if err == nil {
		j.task.Data = filepath.Join(dir, record.DataFolder)
		j.sources, err = files.Link(dir, record.DataFolder, j.task.Sources, nil)
	}
	return func() { _ = disk.RemoveTemp(dir) }, err // the next start of dsstar removes what stays
}

// setUpAlone is setUp for work in new kernels only, which may read the data.
func (j *job) setUpAlone(ctx context.Context, a *app) error {
	if err := j.findPlace(ctx, a); err != nil {
		return err
	}
	if at := j.site.About(); at.Running != nil {
		return usage.New(fmt.Sprintf(
			"--kernel: %s is a running kernel (%s), but files are described in new ones", at.Name,
			site.Identity(*at.Running)),
			site.ManagedHint,
			usage.Shell("dsstar kernels   # kernelspecs"))
	}
	if err := a.consent(ctx, j); err != nil {
		return err
	}
	j.site = j.site.With(site.Reach{Read: append(j.paths(), j.task.Data)})
	return j.site.Look(ctx, j.task.Data)
}
