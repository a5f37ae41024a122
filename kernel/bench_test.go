package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// BenchmarkRerun measures the figures of docs/rerun.md: how long dsstar and others take for a notebook
// of 300 cells, and their peak memory, without that of the kernel.
func BenchmarkRerun(b *testing.B) {
	python, dir := pyenvtest.Tools(b), b.TempDir()
	beside := func(tool string) string { return filepath.Join(filepath.Dir(python), tool) }
	dsstar, in, out := filepath.Join(dir, "dsstar"), filepath.Join(dir, "many.ipynb"), "many.out.ipynb"
	n := notebook.Notebook{Metadata: map[string]any{
		"kernelspec": map[string]any{"name": "python3", "display_name": "Python 3", "language": "python"},
	}}
	for i := range 300 {
		n.Cells = append(n.Cells, notebook.Cell{Type: notebook.Code,
			Source: fmt.Sprintf("x%d = %d\nprint(x%d)", i, i, i)})
	}
	ok(b, n.Save(in))
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dsstar, "dsstar/cmd/dsstar")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	ok(b, build.Run())
	for name, argv := range map[string][]string{
		"dsstar": {dsstar, "rerun", "--quiet", "--python", python, "-o", out, in},
		"nbconvert": {python, beside("jupyter-nbconvert"), "--to", "notebook", "--execute", "--output",
			out, in},
		"papermill": {python, beside("papermill"), "--no-progress-bar", "-k", "python3", in, out},
	} {
		b.Run(name, func(b *testing.B) {
			var peak float64
			for b.Loop() {
				cmd := exec.Command(argv[0], argv[1:]...)
				cmd.Dir = dir
				peak = max(peak, peakOf(b, cmd))
			}
			b.ReportMetric(peak, "MB")
		})
	}
}

// peakOf runs a command to its end and returns the peak resident memory of its process in MB, which
// Linux tells while it runs.
func peakOf(b *testing.B, cmd *exec.Cmd) (peak float64) {
	ended := make(chan error, 1)
	ok(b, cmd.Start())
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			ok(b, err)
			return peak
		case <-time.After(5 * time.Millisecond):
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			_, after, _ := strings.Cut(string(status), "VmHWM:")
			kilobytes, _, _ := strings.Cut(strings.TrimSpace(after), " ")
			n, _ := strconv.ParseFloat(kilobytes, 64) // 0 once it has ended
			peak = max(peak, n/1000)
		}
	}
}
