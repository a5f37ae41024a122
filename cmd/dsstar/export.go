package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/rerun"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/export"
	"dsstar/notebook/lists"
)

const exportHelp = `Convert a run, or any notebook, into a single self-contained file: an HTML page
(html), which has no scripts and makes no network requests; Markdown (md); or the code
cells (script), each after a comment (# %%), for a run its solution.py. Nothing is
executed.

The format is that of --to, or of the extension of -o, or html. The file is written
beside the notebook, and its path is printed. An earlier page or Markdown file is
replaced, any other file only if -o names it.`

const exportExample = `  dsstar export dsstar-runs/2026-11-21-which-store-sold-most     # writes RUN/notebook.html
  dsstar export analysis.ipynb -o report.html
  dsstar export analysis.ipynb --to md -o - | pandoc -o report.docx
  dsstar export RUN --to script -o answer.py`

// An exporter writes one format.
type exporter struct {
	name    string
	endings []string // file extensions, the default first
	make    func(nb *notebook.Notebook, o export.Options) []byte
}

var exporters = []exporter{
	{"html", []string{".html", ".htm"}, export.HTML},
	{"md", []string{".md", ".markdown"}, export.Markdown},
	{"script", []string{".py"}, exportScript},
}

func (a *app) exportCommand() cli.Command {
	var to, out string
	return cli.Command{
		Use:   "export [flags] [RUN|NOTEBOOK]",
		Short: "Convert a run or any notebook into an HTML page, Markdown or a script",
		Long:  exportHelp, Example: exportExample, Args: a.oneRun("run folder or notebook"),
		Flags: []cli.Flag{
			cli.Opt(&to, "to", "", "format: html, md or script (default: by the extension of --out, else html)"),
			cli.Opt(&out, "out,o", "",
				"the file to write; - for standard output (default: beside the notebook)"),
		},
		Run: func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
			e, err := chooseExporter(to, out)
			if err != nil {
				return none, err
			}
			return none, a.export(ctx, c.Args[0], e, out)
		},
	}
}

// chooseExporter finds the format by its name, or else by the file's extension.
func chooseExporter(to, out string) (exporter, error) {
	ending := strings.ToLower(filepath.Ext(out))
	if ending == "" {
		to = cmp.Or(to, "html")
	}
	for _, e := range exporters {
		if e.name == to || to == "" && slices.Contains(e.endings, ending) {
			return e, nil
		}
	}
	hint := usage.Again("--to", "html")
	if ending != "" {
		hint = usage.Again("--out", strings.TrimSuffix(out, filepath.Ext(out))+".html").But("to")
	}
	return exporter{}, usage.New(fmt.Sprintf("unknown format %q: use html, md or script", cmp.Or(to, ending)), hint)
}

// export writes a run or notebook in another format, and prints the path of the file.
func (a *app) export(ctx context.Context, arg string, e exporter, out string) error {
	path, real, nb, err := namedNotebook(arg)
	if err != nil {
		return err
	}
	if e.name != "script" { // it says nothing of its answer
		disclaim(ctx, nb, a.key(), record.Folder(filepath.Dir(real)))
	}
	target, err := exportTarget(path, out, e)
	if err != nil {
		return err
	}
	if err := disk.CheckWritable(filepath.Dir(target)); err != nil && out != "-" {
		return usage.New(err.Error(), usage.Again("--out", filepath.Join(elsewhere(), filepath.Base(target))))
	}
	o := export.Options{Title: strings.TrimSuffix(filepath.Base(path), ".ipynb")}
	if beside, err := os.OpenRoot(filepath.Dir(path)); err == nil {
		defer beside.Close()
		o.Files = beside
	}
	data := e.make(nb, o)
	if err := ctx.Err(); err != nil {
		return err
	}
	home := realFolder(path)
	if e.name == "script" && nb.Metadata["dsstar"] != nil && (target == "" || realFolder(target) != home) {
		data = []byte(rerun.MoveData(string(data), home))
	}
	if out == "-" {
		_, err := a.fileOut().Write(data)
		return err
	}
	if err := disk.WriteFile(target, data); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	_, err = fmt.Fprintln(a.stdout, target)
	return err
}

// realFolder returns the folder of a file, absolute and without links.
func realFolder(file string) string { return disk.RealPath(filepath.Dir(disk.Absolute(file))) }

// disclaim has a notebook in a folder say that another dsstar made it, that it shows something else
// than its record, at the cells that were edited too, or that its data have changed.
func disclaim(ctx context.Context, nb *notebook.Notebook, key record.Key, folder record.Folder) {
	meta, ok := nb.Metadata["dsstar"].(map[string]any)
	if !ok {
		return
	}
	said := "Another dsstar made this notebook, or it was changed: what it says of its answer is its own claim."
	t, err := page.Read(nb)
	made, changed := key.Holds(record.SealOf(nb)), err != nil || t.Seal.Reshown
	others := ""
	if made && !changed {
		others = departed(ctx, folder, t)
	}
	for i, c := range slices.Backward(nb.Cells) {
		if page.Edited(c) {
			changed = true
			nb.Cells = slices.Insert(nb.Cells, i, notebook.Cell{ID: fmt.Sprint("edited-", i), Type: notebook.Markdown,
				Source: "*The cell below was changed or added, by a person or a program, since dsstar wrote this notebook.*"})
		}
	}
	changed = changed || others != ""
	if meta["verified"] == true {
		meta["verified"] = !changed && made && t.Verified()
	}
	switch {
	case others == isOnOthers:
		said = "The data files of this run have changed since: its answer is that of the files before."
	case others == isDefined:
		said = fmt.Sprintf("The answer of this run is no longer verified: "+definitionChanged+".", page.Prose(agent.ChangedDefinition(ctx, t)))
	case others == hasOthers:
		said = "A file of this run's answer was changed or removed since it was proved."
	case made:
		said = "This notebook was changed after dsstar had written it: what it shows need not be what was proved."
	case err == nil:
		said = "**" + t.Standing() + record.Claimed + "**: " + said
	}
	if !made || changed {
		nb.Cells = slices.Insert(nb.Cells, 0,
			notebook.Cell{ID: "claimed", Type: notebook.Markdown, Source: "> " + said})
	}
}

// exportTarget returns the path of the export. It rejects an existing file that is not an
// export unless the user names it, and always the notebook itself.
func exportTarget(path, out string, e exporter) (string, error) {
	if out == "-" {
		return "", nil
	}
	ending := e.endings[0]
	target, there, err := usage.Target(out, strings.TrimSuffix(path, ".ipynb")+ending, "report"+ending)
	if err != nil || there == nil {
		return target, err
	}
	if from, err := os.Stat(path); err == nil && os.SameFile(from, there) {
		return "", usage.New(fmt.Sprintf("--out: %s is the notebook itself", ui.Printable(target)),
			usage.Again("--out", "-"))
	}
	data, _ := disk.ReadFile(target, disk.MaxDocument) // what cannot be read is not replaced
	if out == "" && !bytes.Contains(data[:min(len(data), 1000)], []byte(export.Mark)) {
		return "", usage.New(ui.Printable(target)+" is there already, and is no page or Markdown file of "+
			"dsstar export", usage.Again("--out", target).Note("replaces it"))
	}
	return target, nil
}

// exportScript writes solution.py for an unedited notebook of a run, and the code cells of any
// other.
func exportScript(nb *notebook.Notebook, _ export.Options) []byte {
	code := lists.Where(nb.Cells, func(c notebook.Cell) bool { return c.Type == notebook.Code })
	cells := lists.Map(code, func(c notebook.Cell) string { return c.Source })
	if t, err := page.Read(nb); err == nil && slices.Equal(t.Cells(), cells) {
		return []byte(t.Script())
	}
	return export.Script(nb)
}
