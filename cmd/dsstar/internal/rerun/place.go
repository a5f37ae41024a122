package rerun

import (
	"context"
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
	"dsstar/kernel"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// A place is the folder in which the cells of a notebook run, and their data.
type place struct {
	own    bool               // dsstar wrote the notebook
	run    *record.Trajectory // what it recorded; nothing, if that cannot be read
	made   bool               // this user's dsstar did
	intact bool               // and its cells show what they did then
	home   string             // the notebook's folder, absolute
	dir    string             // where cells run: home, or a temporary folder if the notebook is own
	close  func()             // removes that
	// the data folder, absolute if possible; for others' notebooks only that of --data
	data   string
	linked []string       // links to data in the data folder
	code   map[int]string // code to run instead of the cell's, by position
	env    []string
}

// newPlace returns the place for the notebook at path. The cells of dsstar's own notebooks
// run in a temporary folder, so that the run folder is unchanged. The notebook is changed to use
// the data and the parameters of the flags. The caller must close the place.
func (a *Runner) newPlace(path string, flags Flags, nb *notebook.Notebook, s *configs.Settings) (*place, error) {
	home := disk.RealPath(disk.Absolute(filepath.Dir(path))) // as cells see it
	seal := record.SealOf(nb)
	p := &place{own: nb.Metadata["dsstar"] != nil, made: a.Key.Holds(seal), intact: !seal.Reshown,
		home: home, dir: home, code: map[int]string{}, env: a.Host.Env,
		close: func() {}}
	var err error
	if p.run, err = page.Recorded(nb); err != nil {
		p.run = record.New(record.Task{}, record.Question{})
	}
	set, err := parametersOf(flags.Parameters)
	if err != nil {
		return nil, err
	}
	inject(set, nb)
	if err := p.setData(path, flags.Data, nb); err != nil || !p.own {
		return p, err
	}
	if !p.made && flags.Data == "" {
		if err := site.Named(s, home, append(slices.Clone(p.linked), p.data)...); err != nil {
			return nil, err
		}
	}
	if err := a.Host.Reopen(p.run.Task.Sources, s, p.made); err != nil {
		return nil, err
	}
	// As in the run, so that sets of strings have the same order.
	p.env = a.Host.KernelEnv(s)
	temporary, err := disk.TempFolder("", "dsstar-rerun-")
	if err != nil {
		return nil, err
	}
	p.dir, p.close = disk.RealPath(temporary), func() { _ = disk.RemoveTemp(temporary) }
	if err := record.Folder(home).Lend(p.dir); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// dataDir matches the assignment of the data folder in a parameters cell.
var dataDir = regexp.MustCompile(`(?m)^data_dir[ \t]*=[ \t]*(.*)$`)

// setData makes the cells find the data: by absolute path, if they run in another folder.
func (p *place) setData(path, data string, nb *notebook.Notebook) error {
	at := slices.IndexFunc(nb.Cells, func(c notebook.Cell) bool {
		return c.Type == notebook.Code && slices.Contains(c.Tags(), "parameters") &&
			dataDir.MatchString(c.Source)
	})
	if data != "" {
		p.data = disk.Absolute(data)
		switch info, err := os.Stat(p.data); {
		case err != nil || !info.IsDir():
			return usage.New("--data: there is no folder "+ui.Printable(data),
				usage.Shell("ls -l %s", disk.Existing(filepath.Dir(p.data))))
		case at < 0:
			return usage.New(fmt.Sprintf("--data: %s has no cell with the tag parameters that sets data_dir",
				ui.Printable(path)), usage.Without("data").Note("on the data that its cells name"))
		case !p.own:
			inject([]parameter{dataParameter(p.data)}, nb)
		default:
			nb.Cells[at].Source = withData(nb.Cells[at].Source, p.data)
			p.run.Task.Data, p.run.Task.Sources = p.data, nil
		}
		return nil
	}
	if at < 0 || !p.own {
		return nil
	}
	p.code[at] = MoveData(nb.Cells[at].Source, p.home)
	p.data, _ = pythonString(dataDir.FindStringSubmatch(p.code[at])[1])
	if p.data == filepath.Join(p.home, record.DataFolder) {
		for _, s := range p.run.Task.Sources {
			at := filepath.Join(p.data, s.Name)
			beside := lists.Map(files.Companions(at, s.Name), func(c files.Companion) string { return c.Path })
			p.linked = append(append(p.linked, at), beside...)
		}
	}
	return nil
}

// MoveData returns the source of a run's parameters cell, or of the script with it, that finds
// data in a folder from everywhere.
func MoveData(source, folder string) string {
	line := dataDir.FindStringSubmatch(source)
	if line == nil {
		return source
	}
	if data, ok := pythonString(line[1]); ok && !filepath.IsAbs(data) {
		return withData(source, filepath.Join(folder, data))
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

// box returns the sandbox of the cells: they can read the notebook's folder and the data, and
// those of dsstar's own notebooks can write to their temporary folder.
func (r *rerun) box(s *configs.Settings) (sandbox.Box, error) {
	place, p := r.place, r.Progress
	b, notes, err := r.Host.Box(s)
	if err != nil {
		return b, err
	}
	for _, note := range notes {
		p.Say("set-up   %s", note)
	}
	if !sandbox.AboveHome(place.home) {
		b.Read = append(b.Read, place.home)
	}
	for _, path := range append(slices.Clone(place.linked), place.data) {
		switch path := disk.RealPath(path); {
		case path == "":
		case r.Data != "" || !r.Host.Private(path):
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

// spec returns the kernel to start for the notebook.
func (r *rerun) spec(ctx context.Context, s *configs.Settings) (kernel.Spec, error) {
	named, language := kernelOf(r.nb)
	own, err := kernel.FindSpec(named, r.Host.Lookup())
	python, isOther := isPython(language), named != "" && !strings.EqualFold(named, "python3")
	isHere := named != "" && err == nil && isPython(own.Language) == python
	switch {
	case s.Kernel != "" && s.Python == "":
		return kernel.FindSpec(s.Kernel, r.Host.Lookup())
	case !python && !isHere:
		return kernel.Spec{}, usage.New(fmt.Sprintf("the notebook is in %s, not in Python, and its "+
			"kernel is not installed here", ui.Printable(language)),
			usage.Again("--kernel", "NAME"), usage.Shell("jupyter kernelspec list"))
	case isHere && (!python || s.Python == "" && isOther): // the settings name one for those in Python
		r.Progress.Say("kernel   %s, which the notebook names", ui.Printable(own.Name))
		return own, nil
	case s.Python != "" && s.Kernel == "": // only the user knows what else the notebook needs
		return r.Host.OwnPython(ctx, s, "--python", s.Python, []string{"ipykernel"})
	case s.Python == "" && isOther:
		r.Progress.Say("kernel   dsstar's own Python: the notebook's kernelspec %s is not installed here",
			ui.Printable(named))
	}
	r.Progress.Wait("setting up Python")
	return r.Host.Spec(ctx, s, func(line string) { r.Progress.Say("set-up   %s", line) })
}

// kernelOf returns the notebook's kernelspec and language; "" if it names none.
func kernelOf(nb *notebook.Notebook) (name, language string) {
	spec, _ := nb.Metadata["kernelspec"].(map[string]any)
	info, _ := nb.Metadata["language_info"].(map[string]any)
	name, _ = spec["name"].(string)
	if language, _ = spec["language"].(string); language == "" {
		language, _ = info["name"].(string)
	}
	return name, language
}

func isPython(language string) bool {
	return slices.Contains([]string{"", "python", "python3", "ipython"}, strings.ToLower(language))
}
