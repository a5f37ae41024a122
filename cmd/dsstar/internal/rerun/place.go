package rerun

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// A place is the folder in which the cells of a notebook run, and their data.
type place struct {
	own       bool   // dsstar wrote the notebook
	made      bool   // this user's dsstar did
	intact    bool   // and its cells show what they did then
	home      string // the notebook's folder, absolute
	dir       string // where cells run: home, or a temporary folder for dsstar's own notebooks
	temporary string // that folder, as it was created
	// the data folder, absolute if possible; for others' notebooks only that of --data
	data   string
	code   map[int]string // code to run instead of the cell's, by position
	added  int            // position of the added cell; -1: none
	env    []string
	given  bool     // data is from the user, not from the notebook
	linked []string // links to data in the data folder
}

// newPlace returns the place for the notebook at path. The cells of dsstar's own notebooks
// run in a temporary folder, so that the run folder is unchanged. The notebook is changed to use
// the data and the parameters of the flags. The caller must close the place.
func (a *Runner) newPlace(path string, flags Flags, nb *notebook.Notebook,
	s *configs.Settings) (*place, error) {
	home, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	home = disk.RealPath(home) // as cells see it
	seal := record.SealOf(nb)
	p := &place{own: nb.Metadata["dsstar"] != nil, made: a.Key.Holds(seal), intact: !seal.Reshown,
		home: home, dir: home, code: map[int]string{}, env: a.Env, given: flags.Data != "", added: -1}
	set, err := parametersOf(flags.Parameters)
	if err != nil {
		return nil, err
	}
	p.inject(set, nb)
	if err := p.setData(path, flags.Data, nb); err != nil || !p.own {
		return p, err
	}
	if !p.made && !p.given {
		if err := site.Named(s, home, append(slices.Clone(p.linked), p.data)...); err != nil {
			return nil, err
		}
	}
	if err := a.Reopen(p.runOf(nb).Task.Sources, s, p.made); err != nil {
		return nil, err
	}
	// As in the run, so that sets of strings have the same order.
	p.env = a.KernelEnv(s)
	if p.dir, err = disk.TempFolder("", "dsstar-rerun-"); err != nil {
		return nil, err
	}
	p.temporary, p.dir = p.dir, disk.RealPath(p.dir)
	if err := record.Folder(home).Lend(p.dir); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// close removes the temporary folder.
func (p *place) close() {
	if p.temporary != "" {
		_ = disk.RemoveTemp(p.temporary) // the system cleans it up, too
	}
}

// checkData checks the folder of --data.
func checkData(folder string) (string, error) {
	data, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(data)
	switch {
	case err != nil:
		return "", usage.New(fmt.Sprintf("--data: %v", err), usage.Shell("ls %s", disk.Existing(data)))
	case !info.IsDir():
		return "", usage.New("--data: not a folder: "+ui.Printable(folder),
			usage.Again("--data", filepath.Dir(data)))
	}
	return data, nil
}

// dataDir matches the assignment of the data folder in a parameters cell.
var dataDir = regexp.MustCompile(`(?m)^data_dir[ \t]*=[ \t]*(.*)$`)

// setData makes the cells find the data: by absolute path, if they run in another folder.
func (p *place) setData(path, data string, nb *notebook.Notebook) (err error) {
	if data != "" {
		if p.data, err = checkData(data); err != nil {
			return err
		}
	}
	at := slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool {
		return c.Type == notebook.Code && slices.Contains(c.Tags(), "parameters") &&
			dataDir.MatchString(c.Source)
	})
	switch {
	case at < 0 && data != "":
		return usage.New(fmt.Sprintf("--data: %s has no cell with the tag parameters that sets data_dir",
			ui.Printable(path)),
			usage.Without("data").Note("on the data that its cells name"))
	case data != "" && p.own:
		nb.Cells[at].Source = withData(nb.Cells[at].Source, p.data)
		return nil
	case data != "":
		p.inject([]parameter{dataParameter(p.data)}, nb)
		return nil
	case at < 0 || !p.own:
		return nil
	}
	source := nb.Cells[at].Source
	named, ok := pythonString(dataDir.FindStringSubmatch(source)[1])
	if p.data = named; ok && !filepath.IsAbs(named) {
		p.data = filepath.Join(p.home, named)
		p.code[at] = withData(source, p.data)
	}
	if p.data == filepath.Join(p.home, record.DataFolder) {
		for _, s := range p.runOf(nb).Task.Sources {
			at := filepath.Join(p.data, s.Name)
			p.linked = append(p.linked, at)
			for _, c := range files.Companions(at, s.Name) {
				p.linked = append(p.linked, c.Path)
			}
		}
	}
	return nil
}

// runOf returns what the record of a notebook says; nothing if it cannot be read.
func (p *place) runOf(nb *notebook.Notebook) *record.Trajectory {
	t, err := page.Recorded(nb)
	if err != nil {
		return record.New(record.Task{}, record.Question{})
	}
	if p.given {
		t.Task.Data, t.Task.Sources = p.data, nil
	}
	return t
}

// MoveData returns the source of a run's parameters cell, or of the script with it, with the data
// folder that moved returns for a relative one.
func MoveData(source string, moved func(data string) string) string {
	line := dataDir.FindStringSubmatch(source)
	if line == nil {
		return source
	}
	if data, ok := pythonString(line[1]); ok && !filepath.IsAbs(data) {
		return withData(source, moved(data))
	}
	return source
}

func withData(source, data string) string { return assign(source, dataParameter(data)) }

func dataParameter(data string) parameter { return parameter{"data_dir", brief.Python(data)} }

// pythonString returns the value of a plain string literal.
func pythonString(literal string) (value string, ok bool) {
	literal = strings.TrimSpace(literal)
	if value, err := strconv.Unquote(literal); err == nil && literal[0] == '"' {
		return value, true
	}
	if n := len(literal); n >= 2 && literal[0] == '\'' && literal[n-1] == '\'' &&
		!strings.ContainsAny(literal[1:n-1], `'\`) {
		return literal[1 : n-1], true
	}
	return "", false
}

// moved returns outputs with the notebook's folder in place of the temporary one.
func (p *place) moved(outputs []notebook.Output) []notebook.Output {
	return notebook.Moved(outputs, p.dir, p.home)
}

// box returns the sandbox of the cells: they can read the notebook's folder and the data, and
// those of dsstar's own notebooks can write to their temporary folder.
func (r *rerun) box(s *configs.Settings) (sandbox.Box, error) {
	place, p := r.place, r.show
	b, why, err := r.Box(s)
	if err != nil {
		return b, err
	}
	if words := site.InWords(b, s); why != "" ||
		words != string(sandbox.Full) && words != string(sandbox.Builtin) {
		p.Say("sandbox  %s", strings.TrimSuffix(words+": "+why, ": "))
	}
	if warning := site.HandsOver(b); warning != "" {
		p.Warn("%s", warning)
	}
	if !sandbox.AboveHome(place.home) {
		b.Read = append(b.Read, place.home)
	}
	for _, path := range append(slices.Clone(place.linked), place.data) {
		switch path := disk.RealPath(path); {
		case path == "":
		case place.given || !r.Private(path):
			b.Read = append(b.Read, path)
		case b.Tier.Confines():
			p.Warn("the notebook's data, %s, are hidden or the system's: cells read them only "+
				"with --data or --allow-read", ui.Printable(path))
		}
	}
	if place.own {
		b.Write = append(b.Write, place.dir)
	}
	return b, nil
}
