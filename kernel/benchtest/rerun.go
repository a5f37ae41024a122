package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"dsstar/notebook"
)

var rerunRows = []row{
	{"300 cells, time and peak memory of the runner | nbconvert, papermill", rerun300},
}

// rerun300 runs a notebook of 300 cells.
func rerun300(_ context.Context, b *bench) (result, error) {
	n := notebook.Notebook{Metadata: map[string]any{
		"kernelspec": map[string]any{"name": "python3", "display_name": "Python 3", "language": "python"},
	}}
	for i := range 300 {
		n.Cells = append(n.Cells, notebook.Cell{Type: notebook.Code,
			Source: fmt.Sprintf("x%d = %d\nprint(x%d)", i, i, i)})
	}
	in, out := filepath.Join(b.dir, "many.ipynb"), filepath.Join(b.dir, "many.out.ipynb")
	if err := n.Save(in); err != nil {
		return result{}, err
	}
	m, err := measureAll(max(1, b.times(50)/10), [][]string{
		{b.dsstar, "rerun", "--quiet", "--python", b.python, "-o", out, in},
		b.nbconvert(in, out),
		{b.python, b.beside("papermill"), "--no-progress-bar", "-k", "python3", in, out},
	})
	if err != nil {
		return result{}, err
	}
	return result{m[0].String(), m[1].String() + ", " + m[2].String(), fmt.Sprintf(
		"ratios %.2f, %.2f; of memory %.2f, %.2f", m[0].seconds/m[1].seconds, m[0].seconds/m[2].seconds,
		m[0].megabytes/m[1].megabytes, m[0].megabytes/m[2].megabytes)}, nil
}

// beside returns the path of a tool of the environment.
func (b *bench) beside(tool string) string { return filepath.Join(filepath.Dir(b.python), tool) }

func (b *bench) nbconvert(in, out string) []string {
	return []string{b.python, b.beside("jupyter-nbconvert"), "--to", "notebook", "--execute",
		"--output", out, in}
}

// measureAll runs the commands in alternation and returns the median cost of each.
func measureAll(times int, commands [][]string) ([]usage, error) {
	seconds, megabytes := make([][]float64, len(commands)), make([][]float64, len(commands))
	for range times {
		for i, c := range commands {
			cmd := exec.Command(c[0], c[1:]...)
			u, err := measureProcess(cmd)
			if err != nil {
				return nil, err
			}
			seconds[i], megabytes[i] = append(seconds[i], u.seconds), append(megabytes[i], u.megabytes)
		}
	}
	var all []usage
	for i := range commands {
		all = append(all, usage{median(seconds[i]), median(megabytes[i])})
	}
	return all, nil
}
