package main

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/configs"
	"dsstar/notebook"
)

// chartKinds are the results of DA-Code that are charts.
var chartKinds = []string{"line", "pie", "bar", "scatter", "plot"}

// chart has the data and settings of a task's chart taken from the code that draws
// it, where DA-Code's scorer looks for them. why says why there are none.
func (r *benchRun) chart(ctx context.Context, t bench.Task, dir string, at int) (why string, err error) {
	if t.Rules != "dacode" || !slices.Contains(chartKinds, t.Kind) {
		return "", nil
	}
	if err := leaveCells(dir); err != nil {
		return err.Error(), nil // such as a folder of the agent's with that name
	}
	return bench.Chart(ctx, r.benchPython(r.settings, func() place { return r.placeOf(at) }, []string{t.Data}, dir), dir, bench.Compat(r.flags.compat))
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
		if text, err := notebook.ReadFile(path, 1<<20); err == nil && bytes.Contains(text, []byte("savefig")) {
			return nil
		}
	}
	data, err := os.ReadFile(agent.Folder(filepath.Dir(files)).Notebook())
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
	return notebook.WriteFile(filepath.Join(files, "plot.py"), []byte(program))
}

// benchPython runs a scorer's code in a private, confined kernel that may read the
// paths, and write to one.
func (a *app) benchPython(s *configs.Settings, at func() place, read []string, write string) bench.Python {
	return func(ctx context.Context, code string) (string, error) {
		temporary, err := os.MkdirTemp("", "dsstar-score-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(temporary)
		if err := os.Mkdir(filepath.Join(temporary, "files"), 0o755); err != nil {
			return "", err
		}
		p := at()
		p.box.Read = slices.Clone(p.box.Read)
		for _, path := range read {
			if _, err := os.Stat(path); path != "" && err == nil {
				p.box.Read = append(p.box.Read, absolute(path))
			}
		}
		if write != "" {
			p.box.Write = append(slices.Clone(p.box.Write), absolute(write))
		}
		k, err := a.openAt(&p, s, nil)(ctx, agent.Prove, temporary)
		if err != nil {
			return "", err
		}
		defer k.Close()
		e, err := k.Execute(ctx, code)
		if err != nil {
			return "", err
		}
		if e.Status != notebook.OK {
			return "", &bench.CodeError{Text: fit(strings.TrimSpace(cmp.Or(e.PlainText(), e.Reason, string(e.Status))), 500)}
		}
		return e.Stdout(), nil
	}
}
