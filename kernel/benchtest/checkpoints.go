package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
)

// A session is a session to restore, given by its cells.
type session struct {
	name  string
	cells []string
}

const thinking = 100 * time.Millisecond // between a cell and going back, as for a decision

const (
	frame = "import numpy as np, pandas as pd\nr = np.random.default_rng(0); n = 138_000\n" +
		"df = pd.DataFrame({f'f{i}': r.random(n) for i in range(14)} | {f's{i}': r.choice(['alpha', " +
		"'beta', 'gamma', 'delta'], n) for i in range(7)})\ndf.to_csv('../frame.csv', index=False)"
	forest = "from sklearn.ensemble import RandomForestClassifier\nr = np.random.default_rng(0); X " +
		"= r.random((20_000, 20)); y = X[:, 0] + X[:, 1] * X[:, 2] > .8\n" +
		"model = RandomForestClassifier(100, n_jobs=2, random_state=0).fit(X, y)"
)

var goingBack = []session{
	{"one assignment", []string{"x = [1, 2, 3]"}},
	{"a frame of 138,000 x 21, from CSV",
		[]string{"import pandas as pd", "df = pd.read_csv('../frame.csv')"}},
	{"a frame of 1 GB", []string{"import numpy as np, pandas as pd",
		"df = pd.DataFrame(np.random.default_rng(0).random((1_000_000, 134)))"}},
	{"a fitted forest", []string{"import numpy as np", forest}},
}

// checkpointRows returns rows that compare the kernel with checkpoints to ipykernel.
func checkpointRows() (all []row) {
	for _, s := range goingBack {
		all = append(all, row{"checkpoints: back to " + s.name +
			" after a failed cell, and a cell | start again, run the cells", s.measure})
	}
	return all
}

// begin starts a kernel in its own folder.
func (b *bench) begin(ctx context.Context, checkpoints bool) (*rewind.Session, error) {
	dir, err := os.MkdirTemp(b.dir, "session-")
	if err != nil {
		return nil, err
	}
	o := kernel.Options{Spec: kernel.PythonSpec(b.python), Dir: dir, Scratch: dir, Env: os.Environ()}
	if checkpoints {
		if o.Spec, err = rewind.Spec(o.Spec, filepath.Join(b.dir, "kernels")); err != nil {
			return nil, err
		}
	}
	started, err := kernel.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return rewind.New(started, rewind.Options{}), nil
}

// ran returns the error of an execution, or of a cell that failed.
func ran(x notebook.Execution, err error) error {
	if err == nil && x.Status != notebook.OK {
		err = fmt.Errorf("a cell ended with %s: %s", x.Status, x.PlainText())
	}
	return err
}

// measure measures going back after failed cells, with checkpoints and without.
func (s session) measure(ctx context.Context, b *bench) (result, error) {
	var medians [2]float64
	for i := range medians {
		k, err := b.begin(ctx, i == 0)
		if err != nil {
			return result{}, err
		}
		defer k.Close()
		for _, code := range append([]string{frame}, s.cells...) {
			if err := ran(k.Execute(ctx, code)); err != nil {
				return result{}, err
			}
		}
		if _, err := k.Rollback(ctx, s.cells); err != nil { // without the cell that writes the CSV
			return result{}, err
		}
		var all []float64
		for range 15 {
			seconds, err := s.back(ctx, k)
			if err != nil {
				return result{}, err
			}
			all = append(all, 1000*seconds)
		}
		medians[i] = median(all)
	}
	return result{fmt.Sprintf("%.0f ms", medians[0]), fmt.Sprintf("%.0f ms", medians[1]),
		ratio(medians[0], medians[1])}, nil
}

// back runs a cell that fails and measures going back, until the next result.
func (s session) back(ctx context.Context, k *rewind.Session) (float64, error) {
	if _, err := k.Execute(ctx, "undone = 1; 1 / 0"); err != nil {
		return 0, err
	}
	time.Sleep(thinking)
	begun := time.Now()
	_, err := k.Rollback(ctx, s.cells)
	if err == nil {
		err = ran(k.Execute(ctx, "1"))
	}
	seconds := time.Since(begun).Seconds()
	if err == nil { // restore the state for the next measurement
		_, err = k.Rollback(ctx, s.cells)
	}
	return seconds, err
}
