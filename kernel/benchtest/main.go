// Command benchtest measures the figures of docs/rerun.md and docs/checkpoints.md: dsstar rerun
// beside nbconvert and papermill, and the kernel with checkpoints beside ipykernel. Every number is
// a median.
//
//	go run ./kernel/benchtest              everything; some minutes
//	go run ./kernel/benchtest -only 300    the rows whose names contain "300"
//
// It creates the tests' environment in the user's cache folder if necessary, and builds dsstar
// as for a release. Linux only: it reads the peak memory of processes from /proc.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/configs"
	"dsstar/kernel/pyenv"
)

// A bench is the set-up that the rows share.
type bench struct {
	dir    string // for all files
	python string // interpreter with the tools, whose ipykernel is measured
	dsstar string // program
}

// A row is one line of the table. Its name ends with what dsstar is compared to.
type row struct {
	name    string
	measure func(context.Context, *bench) (result, error)
}

// A result is what a row measures.
type result struct{ ours, theirs, verdict string }

func main() {
	only := flag.String("only", "", "measure only rows whose names contain this")
	flag.Parse()
	if err := run(context.Background(), *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string) error {
	dir, err := os.MkdirTemp("", "dsstar-bench-")
	if err != nil {
		return err
	}
	b := &bench{dir: dir}
	defer os.RemoveAll(b.dir)
	if err := b.setUp(ctx); err != nil {
		return err
	}
	fmt.Println("| what | dsstar | others | |\n|---|---|---|---|")
	for _, r := range slices.Concat(rerunRows, checkpointRows()) {
		if !strings.Contains(r.name, only) {
			continue
		}
		name, others, _ := strings.Cut(r.name, " | ")
		got, err := r.measure(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("| %s | %s | %s %s | %s |\n", name, got.ours, others, got.theirs, got.verdict)
	}
	return nil
}

// setUp creates the interpreter and the program.
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
	return nil
}
