// Command benchtest compares the kernel client and dsstar rerun with jupyter_client, nbconvert and
// papermill, on the same kernels in the same run, and prints a table. Every number is the
// median of the runs, which alternate.
//
//	go run ./kernel/benchtest              everything; about a quarter of an hour
//	go run ./kernel/benchtest -only 300    the rows whose names contain "300"
//	go run ./kernel/benchtest -quick       fewer repetitions, for a first look
//
// It creates the tests' environment in the user's cache folder if necessary, and builds dsstar
// as for a release. Linux only: it reads the peak memory of processes from /proc.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/pyenv"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

//go:embed client.py
var client string

// A bench is the set-up that the rows share.
type bench struct {
	dir    string // for all files
	python string // interpreter with the tools, whose ipykernel is measured
	dsstar string // program
	quick  bool
}

// A row is one line of the table.
type row struct {
	name    string
	measure func(context.Context, *bench) (ours, theirs, verdict string, err error)
}

var rows = []row{
	{"execute round trip, p50 | jupyter_client", roundTrip},
	{"300 cells, seconds | nbconvert, papermill", wallTime},
	{"300 cells, peak memory of the runner | nbconvert, papermill", memory},
	{"the demo's notebook, rerun --check, seconds | nbconvert", checkDemo},
	{"100 files described, each from one checkpoint | 100 kernel starts", describeFiles},
	{"20,000 displays in one cell, kept | jupyter_client", displays},
	{"500 MB printed in one cell, peak memory of the runner | -", flood},
	{"30,000 executions in a row, hangs | -", inARow},
	{"1,000 times start, attach, execute: first outputs lost | -", attach},
	{"SIGKILL of a local kernel, reported after | -", sigkill},
}

func main() {
	sandbox.Main(os.Args)
	only := flag.String("only", "", "measure only rows whose names contain this")
	quick := flag.Bool("quick", false, "fewer repetitions")
	flag.Parse()
	if err := run(context.Background(), *only, *quick); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, quick bool) error {
	b := &bench{quick: quick}
	var err error
	if b.dir, err = os.MkdirTemp("", "dsstar-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.setUp(ctx); err != nil {
		return err
	}
	fmt.Println("| what | dsstar | others | |\n|---|---|---|---|")
	for _, r := range slices.Concat(rows, checkpointRows(), tierRows(), sandboxRows()) {
		if !strings.Contains(r.name, only) {
			continue
		}
		name, others, _ := strings.Cut(r.name, " | ")
		ours, theirs, verdict, err := r.measure(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("| %s | %s | %s %s | %s |\n", name, ours, others, theirs, verdict)
	}
	return nil
}

// setUp creates the interpreter, the program and the notebooks.
func (b *bench) setUp(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	b.python, err = pyenv.Ensure(ctx, pyenv.Options{
		Dir: filepath.Join(cache, "dsstar"), Lock: slices.Concat(configs.PythonLock, configs.TestLock),
		Env:      os.Environ(),
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	if err != nil {
		return err
	}
	b.dsstar = filepath.Join(b.dir, "dsstar")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.dsstar,
		"./cmd/dsstar")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build dsstar (run this in the repository): %w\n%s", err, out)
	}
	var cells []string
	for i := range 300 {
		cells = append(cells, fmt.Sprintf("x%d = %d\nprint(x%d)", i, i, i))
	}
	for name, cells := range map[string][]string{
		"many": cells,
		"flood": {"import sys\nline = 'x' * 99 + '\\n'\nfor i in range(5_000_000): " +
			"sys.stdout.write(line)"},
	} {
		n := notebook.Notebook{Metadata: map[string]any{
			"kernelspec": map[string]any{"name": "python3", "display_name": "Python 3",
				"language": "python"},
		}}
		for _, code := range cells {
			n.Cells = append(n.Cells, notebook.Cell{Type: notebook.Code, Source: code})
		}
		if err := n.Save(filepath.Join(b.dir, name+".ipynb")); err != nil {
			return err
		}
	}
	return nil
}

// times returns how often a measurement is repeated.
func (b *bench) times(n int) int {
	if b.quick {
		return max(1, n/10)
	}
	return n
}

func (b *bench) start(ctx context.Context) (*kernel.Kernel, error) {
	return kernel.Start(ctx, kernel.Options{Spec: kernel.PythonSpec(b.python), Dir: b.dir,
		Env: os.Environ()})
}

func roundTrip(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	n := b.times(2000)
	var our, their []float64
	for range 5 {
		k, err := b.start(ctx)
		if err != nil {
			return "", "", "", err
		}
		var all []float64
		for range n {
			begun := time.Now()
			if _, err := k.Execute(ctx, "x = 1"); err != nil {
				return "", "", "", err
			}
			all = append(all, time.Since(begun).Seconds())
		}
		_ = k.Close()
		our = append(our, median(all))
		out, err := b.client(ctx, "roundtrip", n)
		if err != nil {
			return "", "", "", err
		}
		seconds, err := strconv.ParseFloat(out, 64)
		if err != nil {
			return "", "", "", err
		}
		their = append(their, seconds)
	}
	return fmt.Sprintf("%.2f ms", 1000*median(our)), fmt.Sprintf("%.2f ms", 1000*median(their)),
		ratio(median(our), median(their)), nil
}

// client runs the Python side of the comparison.
func (b *bench) client(ctx context.Context, what string, n int) (string, error) {
	out, err := exec.CommandContext(ctx, b.python, "-c", client, what, strconv.Itoa(n)).Output()
	return strings.TrimSpace(string(out)), err
}

// runners are the programs that execute a notebook.
func (b *bench) runners(name string) (ours, nbconvert, papermill *exec.Cmd) {
	in, out := filepath.Join(b.dir, name+".ipynb"), filepath.Join(b.dir, name+".out.ipynb")
	bin := filepath.Dir(b.python)
	return exec.Command(b.dsstar, "rerun", "--quiet", "--python", b.python, "-o", out, in),
		exec.Command(b.python, filepath.Join(bin, "jupyter-nbconvert"), "--to", "notebook", "--execute",
			"--output", out, in),
		exec.Command(b.python, filepath.Join(bin, "papermill"), "--no-progress-bar", "-k", "python3", in,
			out)
}

// A usage is the cost of a process.
type usage struct{ seconds, megabytes float64 }

// measured caches a measurement that two rows share.
var measured [3][]usage

func (b *bench) measure300() error {
	if measured[0] != nil {
		return nil
	}
	for range max(1, b.times(50)/10) {
		ours, nbconvert, papermill := b.runners("many")
		for i, cmd := range []*exec.Cmd{ours, nbconvert, papermill} {
			u, err := measureProcess(cmd)
			if err != nil {
				return err
			}
			measured[i] = append(measured[i], u)
		}
	}
	return nil
}

func wallTime(_ context.Context, b *bench) (ours, theirs, verdict string, err error) {
	if err := b.measure300(); err != nil {
		return "", "", "", err
	}
	return compare300("%.2f s", func(u usage) float64 { return u.seconds })
}

func memory(_ context.Context, b *bench) (ours, theirs, verdict string, err error) {
	if err := b.measure300(); err != nil {
		return "", "", "", err
	}
	return compare300("%.1f MB", func(u usage) float64 { return u.megabytes })
}

func compare300(format string, of func(usage) float64) (ours, theirs, verdict string, err error) {
	var m [3]float64
	for i, all := range measured {
		var values []float64
		for _, u := range all {
			values = append(values, of(u))
		}
		m[i] = median(values)
	}
	return fmt.Sprintf(format, m[0]), fmt.Sprintf(format+", "+format, m[1], m[2]), ratio(m[0], m[1]) +
		", " + ratio(m[0], m[2]), nil
}

// checkDemo executes the demo's notebook and compares its outputs; nbconvert only executes it.
func checkDemo(_ context.Context, b *bench) (ours, theirs, verdict string, err error) {
	folder := filepath.Join(b.dir, "demo")
	path := filepath.Join(folder, "notebook.ipynb")
	if _, err := os.Stat(path); err != nil {
		if out, err := exec.Command(b.dsstar, "demo", "--quiet", "--python", b.python, "--out",
			folder).CombinedOutput(); err != nil {
			return "", "", "", fmt.Errorf("dsstar demo: %w\n%s", err, out)
		}
	}
	var our, their []float64
	for range max(1, b.times(100)/10) {
		u, err := measureProcess(exec.Command(b.dsstar, "rerun", "--check", "--quiet", "--python",
			b.python, path))
		if err != nil {
			return "", "", "", err
		}
		our = append(our, u.seconds)
		nbconvert := exec.Command(b.python, filepath.Join(filepath.Dir(b.python), "jupyter-nbconvert"),
			"--to", "notebook", "--execute", "--output", filepath.Join(b.dir, "demo.out.ipynb"), path)
		if u, err = measureProcess(nbconvert); err != nil {
			return "", "", "", err
		}
		their = append(their, u.seconds)
	}
	return fmt.Sprintf("%.2f s", median(our)), fmt.Sprintf("%.2f s", median(their)),
		ratio(median(our), median(their)), nil
}

func displays(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	const n = 20_000
	k, err := b.start(ctx)
	if err != nil {
		return "", "", "", err
	}
	defer k.Close()
	x, err := k.Execute(ctx, fmt.Sprintf("from IPython.display import display\nfor i in range(%d): "+
		"display(i)", n))
	if err != nil {
		return "", "", "", err
	}
	out, err := b.client(ctx, "displays", n)
	if err != nil {
		return "", "", "", err
	}
	kept, idle, _ := strings.Cut(out, " ")
	return fmt.Sprintf("%d, idle seen: %v", len(x.Outputs), x.Incomplete == ""),
		fmt.Sprintf("%s, idle seen: %s", kept, strings.ToLower(idle)), "", nil
}

func flood(_ context.Context, b *bench) (ours, theirs, verdict string, err error) {
	cmd, _, _ := b.runners("flood")
	u, err := measureProcess(cmd)
	if err != nil {
		return "", "", "", err
	}
	kept, err := filepath.Glob(filepath.Join(b.dir, "flood.out_files", "*"))
	if err != nil || len(kept) != 1 {
		return "", "", "", fmt.Errorf("files of long outputs: %v %w", kept, err)
	}
	info, err := os.Stat(kept[0])
	if err != nil {
		return "", "", "", err
	}
	return fmt.Sprintf("%.0f MB in %.1f s", u.megabytes, u.seconds), "",
		fmt.Sprintf("%d bytes on disk", info.Size()), nil
}

func inARow(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	k, err := b.start(ctx)
	if err != nil {
		return "", "", "", err
	}
	defer k.Close()
	hangs, slowest, begun := 0, time.Duration(0), time.Now()
	for range b.times(30_000) {
		sent := time.Now()
		x, err := k.Execute(ctx, "x = 1")
		if err != nil {
			return "", "", "", err
		}
		took := time.Since(sent)
		slowest = max(slowest, took)
		if took > 4*time.Second || x.Incomplete != "" || x.Status != notebook.OK {
			hangs++
		}
	}
	return fmt.Sprint(hangs), "", fmt.Sprintf("%.0f s in all, the slowest %.0f ms",
		time.Since(begun).Seconds(), 1000*slowest.Seconds()), nil
}

func attach(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	lost := 0
	for i := range b.times(1000) {
		ok, err := b.firstOutput(ctx, fmt.Sprintf("first %d", i))
		if err != nil {
			return "", "", "", err
		}
		if !ok {
			lost++
		}
	}
	return fmt.Sprint(lost), "", "", nil
}

// firstOutput starts a kernel as a foreign program would, attaches to it and executes its
// first cell.
func (b *bench) firstOutput(ctx context.Context, text string) (ok bool, err error) {
	file := filepath.Join(b.dir, "kernel-bench.json")
	_ = os.Remove(file)
	cmd := exec.CommandContext(ctx, b.python, "-m", "ipykernel_launcher", "-f", file,
		"--HistoryManager.enabled=False")
	if err := cmd.Start(); err != nil {
		return false, err
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	for {
		k, err := kernel.Attach(ctx, file, kernel.Options{})
		if err != nil {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			time.Sleep(5 * time.Millisecond) // not listening yet
			continue
		}
		defer k.Close()
		x, err := k.Execute(ctx, fmt.Sprintf("print(%q)", text))
		return x.Stdout() == text+"\n" && x.Incomplete == "", err
	}
}

func sigkill(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	var all []float64
	for range b.times(20) {
		k, err := b.start(ctx)
		if err != nil {
			return "", "", "", err
		}
		var killed time.Time
		time.AfterFunc(200*time.Millisecond, func() {
			killed = time.Now()
			if p, err := os.FindProcess(k.Info().PID); err == nil {
				_ = p.Kill()
			}
		})
		x, err := k.Execute(ctx, "import time; time.sleep(60)")
		all = append(all, time.Since(killed).Seconds())
		_ = k.Close()
		if err != nil || x.Status != notebook.Died {
			return "", "", "", fmt.Errorf("%w: %s", cmp.Or(err, os.ErrInvalid), x.Status)
		}
	}
	return fmt.Sprintf("%.0f ms, at most %.0f ms", 1000*median(all), 1000*slices.Max(all)), "", "", nil
}
