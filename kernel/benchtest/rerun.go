package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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
	m, err := measureAll(5, [][]string{
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

// A usage is the cost of a process.
type usage struct{ seconds, megabytes float64 }

func (u usage) String() string { return fmt.Sprintf("%.2f s, %.1f MB", u.seconds, u.megabytes) }

// measureProcess runs a command to its end. Its memory is the peak of the
// process alone, without its kernel.
func measureProcess(cmd *exec.Cmd) (usage, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var peak float64
	for {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%s: %w\n%s", cmd, err, out.Bytes())
			}
			return usage{time.Since(begun).Seconds(), peak}, err
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, highWater(cmd.Process.Pid))
		}
	}
}

// highWater returns the peak resident memory of a process in MB so far.
func highWater(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseFloat(fields[0], 64)
	return kilobytes / 1000
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

func ratio(ours, theirs float64) string { return fmt.Sprintf("ratio %.2f", ours/theirs) }
