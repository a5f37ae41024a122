package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/configs"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// chartKinds are the results of DA-Code that are charts.
var chartKinds = []string{"line", "pie", "bar", "scatter", "plot"}

// isChart reports whether what a task asks for is a chart.
func isChart(t bench.Task) bool { return t.Rules == "dacode" && slices.Contains(chartKinds, t.Kind) }

// chart has the data and settings of a task's chart taken from the code in dir that
// draws it, where DA-Code's scorer looks for them. why says why there are none, as the
// score does. python may write to dir, and is given up after. A chart that was taken
// before is gone: it may have been by other rules.
func chart(ctx context.Context, python bench.Python, t bench.Task, dir string, compat bench.Compat) (why string, err error) {
	if !isChart(t) {
		return "", nil
	}
	if err := dropChart(dir); err != nil {
		return err.Error(), nil // such as a link out of it
	}
	if err := leaveCells(dir); err != nil {
		return err.Error(), nil // such as a folder of the agent's with that name
	}
	return bench.Chart(ctx, python, dir, compat)
}

// dropChart removes what was taken from a chart, in the folder and nowhere else.
func dropChart(dir string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range []string{"dabench/plot.json", "dabench/result.npy"} {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// leaveCells writes the cells of a run into its files as a program, if it draws a
// chart and they have none that does: agents that work in a notebook leave no
// program there, and the public scorer wants one.
func leaveCells(files string) error {
	programs, err := filepath.Glob(filepath.Join(files, "*.py"))
	if err != nil {
		return err
	}
	for _, path := range programs {
		if text, err := disk.ReadFile(path, 1<<20); err == nil && bytes.Contains(text, []byte("savefig")) {
			return nil
		}
	}
	data, err := disk.ReadFile(agent.Folder(filepath.Dir(files)).Notebook(), disk.MaxDocument)
	if err != nil {
		return nil // there is no notebook, and so no cell
	}
	nb, err := notebook.Read(bytes.NewReader(data))
	if err != nil {
		return err
	}
	var cells []string
	for _, c := range nb.Cells {
		meta, _ := c.Metadata["dsstar"].(map[string]any)
		role, _ := meta["role"].(string)
		status, _ := meta["status"].(string)
		if c.Type == notebook.Code && slices.Contains([]string{"actions", "step", "final", "action"}, role) && (status == "" || status == string(notebook.OK)) {
			cells = append(cells, c.Source)
		}
	}
	// The cell "actions" defines what an agent has besides plain Python.
	program := strings.Join(cells, "\n\n") + "\n"
	if !strings.Contains(program, "savefig") {
		return nil
	}
	return disk.WriteFile(filepath.Join(files, "plot.py"), []byte(program))
}

// benchPython runs a scorer's code in a private, confined kernel that may read the
// paths, and write to one. Each piece of code has its own.
func (a *app) benchPython(s *configs.Settings, at placeFinder, read []string, write string) bench.Python {
	return func(ctx context.Context, code string) (string, error) {
		k := scoringKernel{open: func(ctx context.Context, dir string) (agent.Session, error) {
			return a.openScoring(ctx, s, at, read, write, dir)
		}}
		defer k.close()
		return k.run(ctx, code)
	}
}

// A placeFinder tells where a kernel is opened.
type placeFinder func(context.Context) (place, error)

// openScoring opens a kernel for scorers' code, whose working folder is in dir.
func (a *app) openScoring(ctx context.Context, s *configs.Settings, at placeFinder, read []string, write, dir string) (agent.Session, error) {
	p, err := at(ctx)
	if err != nil {
		return nil, err
	}
	p.box.Read = slices.Clone(p.box.Read)
	for _, path := range read {
		if _, err := os.Stat(path); path != "" && err == nil {
			p.box.Read = append(p.box.Read, absolute(path))
		}
	}
	if write != "" {
		p.box.Write = append(slices.Clone(p.box.Write), absolute(write))
	}
	return a.openAt(&p, s, nil)(ctx, agent.Describe, dir)
}

// A scoringKernel is the kernel in which scorers' code runs: opened when there is some,
// kept for what follows, as starting one takes longer than most scores, and given up
// after code that failed, which may have harmed it. The caller must close it.
type scoringKernel struct {
	open    func(ctx context.Context, dir string) (agent.Session, error)
	session agent.Session // nil: none is open
	dir     string        // a temporary one
}

// run is a [bench.Python].
func (k *scoringKernel) run(ctx context.Context, code string) (string, error) {
	if k.session == nil {
		if err := k.start(ctx); err != nil {
			k.close()
			return "", err
		}
	}
	e, err := k.session.Execute(ctx, code)
	if err != nil {
		k.close()
		return "", err
	}
	if e.Status != notebook.OK {
		k.close()
		return "", &bench.CodeError{Text: term.Fit(strings.TrimSpace(cmp.Or(e.PlainText(), e.Reason, string(e.Status))), 500)}
	}
	return e.Stdout(), nil
}

func (k *scoringKernel) start(ctx context.Context) (err error) {
	if k.dir, err = disk.TempFolder("", "dsstar-score-"); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(k.dir, "files"), 0o755); err != nil {
		return err
	}
	k.session, err = k.open(ctx, k.dir)
	return err
}

func (k *scoringKernel) close() {
	if k.session != nil {
		_ = k.session.Close() // nothing is asked of it any more
	}
	if k.dir != "" {
		_ = disk.RemoveTemp(k.dir) // a temporary one
	}
	k.session, k.dir = nil, ""
}
