package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
)

var describeHelp = `Print the descriptions of data files that dsstar nb works from. They are profiles
that a program makes, without a model: tables with their columns, ranges, values,
missing values and keys; documents whole. DATA is what --data of dsstar nb takes: a
folder, file, pattern, database or bucket. If all descriptions together exceed
context_chars, the model sees less of the files that are less near to the question.

No run folder is created.

Where a description is wrong or lacks what you know, say so in Markdown: the text
below a heading that is the file's name, in any file of .dsstar/definitions/ beside
the data, stands above the description in all later runs.

` + exitHelp(describeExits)

const describeExample = `  dsstar describe ./data
  dsstar describe ./data/sales.csv notes/terms.pdf
  dsstar describe ./data --json
  dsstar describe postgresql://ada@db.example.org/sales`

func (a *app) describeCommand() *cobra.Command {
	var d runFlags
	var question string
	cmd := &cobra.Command{
		Use:     "describe [flags] DATA…",
		Short:   "Print descriptions of data files",
		Long:    describeHelp,
		Example: describeExample,
	}
	f := cmd.Flags()
	f.StringVar(&question, "question", "",
		"the question, which chooses files if there are more than max_files")
	f.BoolVar(&d.json, "json", false, "print one JSON object instead of text")
	f.BoolVarP(&d.quiet, "quiet", "q", false, "no progress on standard error")
	f.BoolVarP(&d.yes, "yes", "y", false,
		"do not ask before using a server's kernels without a sandbox")
	dataFlags(f)
	descriptionFlags(f)
	endpointFlags(f)
	limitFlags(f)
	interpreterFlags(f)
	sandboxFlags(f)
	serverFlag(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return a.describe(cmd, d, question, args)
	}
	return cmd
}

// describe runs the command.
func (a *app) describe(cmd *cobra.Command, d runFlags, question string, args []string) error {
	if len(args) == 0 {
		return usage.New("no data are given", usage.Shell("dsstar describe DIR"))
	}
	s, err := a.settings(cmd.Flags())
	if err != nil {
		return err
	}
	j := job{runFlags: d, settings: s, progress: a.newProgress(d.quiet)}
	defer j.progress.Stop()
	if j.sources, err = a.sources(cmd.Context(), &j, args); err != nil {
		return err
	}
	if j.task, err = newTask(cmd.Context(), strings.TrimSpace(question), "", j.sources, s.Include,
		cmd.Flags().Changed("include")); err != nil {
		return err
	}
	remove, err := j.linkApart()
	defer remove()
	if err != nil {
		return err
	}
	t, err := a.descriptions(cmd.Context(), &j)
	if t == nil {
		return err
	}
	shown := newDescriptions(t) // also of a run that was cut short
	failed := error(nil)
	if j.json {
		failed = ui.JSON(a.stdout, shown)
	} else {
		failed = shown.print(a.stdout)
	}
	return cmp.Or(failed, err)
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
	for _, w := range j.settings.Warnings {
		j.progress.Warn("%s", w)
	}
	for _, s := range j.sources {
		config.Readable = append(config.Readable, s.Path)
	}
	config.Open, config.Observe = site.Opening(j.site, nil), j.describing()
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
	reach := site.Reach{Read: []string{j.task.Data}}
	for _, s := range j.sources {
		if s.Path != "" {
			reach.Read = append(reach.Read, s.Path)
		}
	}
	j.site = j.site.With(reach)
	return j.site.Look(ctx, j.task.Data)
}

// describing reports the events of a run that only describes files.
func (j *job) describing() func(agent.Event, *record.Trajectory) error {
	done := 0
	return func(e agent.Event, t *record.Trajectory) error {
		if e.Kind != agent.Described {
			j.progress.Event(e, t)
			return nil
		}
		note := ""
		for _, d := range t.Descriptions {
			if d.File == e.Text && d.Error != "" {
				note = ": not described: " + d.Error
			}
		}
		done++
		j.progress.Say("file     %s (%d of %d)%s", ui.Printable(e.Text), done, len(t.Task.Files), note)
		return nil
	}
}
