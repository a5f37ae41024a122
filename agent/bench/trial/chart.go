package trial

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// extractChart extracts the data and settings of a task's chart from the code in dir
// that draws it, and leaves them where DA-Code's scorer looks. python may write to dir
// and is used once. A failure of that code is no error: the score shows it.
func extractChart(ctx context.Context, python bench.Python, t bench.Task, dir string,
	compat bench.Compat) error {
	if !t.IsChart() {
		return nil
	}
	// An earlier extraction may have followed other rules. Failures here are the agent's
	// doing, such as a link out of dir or a folder with that name.
	if dropChart(dir) != nil || leaveProgram(dir) != nil {
		return nil
	}
	return bench.Chart(ctx, python, dir, compat)
}

// dropChart removes what was extracted from a chart. It does not follow links out of dir.
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

// leaveProgram writes the cells of a run into its files as a program, if they draw a
// chart and no program there does. The public scorer requires a program, and agents that
// work in a notebook leave none.
func leaveProgram(files string) error {
	programs, err := filepath.Glob(filepath.Join(files, "*.py"))
	if err != nil {
		return err
	}
	for _, path := range programs {
		text, err := disk.ReadFile(path, 1<<20)
		if err == nil && bytes.Contains(text, []byte("savefig")) {
			return nil
		}
	}
	nb, err := notebook.Open(record.Folder(filepath.Dir(files)).Notebook())
	if err != nil {
		return nil // no notebook, so no cells
	}
	program := programOf(nb)
	if !strings.Contains(program, "savefig") {
		return nil
	}
	return disk.WriteFile(filepath.Join(files, "plot.py"), []byte(program))
}

// programOf joins the cells of a run that succeeded. The cell "actions" defines what an
// agent has besides plain Python.
func programOf(nb *notebook.Notebook) string {
	var cells []string
	for _, c := range nb.Cells {
		meta, _ := c.Metadata["dsstar"].(map[string]any)
		role, _ := meta["role"].(string)
		status, _ := meta["status"].(string)
		ran := status == "" || status == string(notebook.OK)
		if c.Type == notebook.Code && ran &&
			slices.Contains([]string{"actions", "step", "final", "action"}, role) {
			cells = append(cells, c.Source)
		}
	}
	return strings.Join(cells, "\n\n") + "\n"
}
