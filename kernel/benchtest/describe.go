package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/notebook"
)

// describeFiles runs a script on each of 100 files, isolated from the others: once in one kernel
// that goes back to the state with pandas loaded, once in a new kernel for each. The two alternate
// every ten files.
func describeFiles(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	const files, turn = 100, 10
	scripts, err := b.scripts(files)
	if err != nil {
		return "", "", "", err
	}
	spec, err := checkpoint.Spec(kernel.PythonSpec(b.python), filepath.Join(b.dir, "kernels"))
	if err != nil {
		return "", "", "", err
	}
	began := time.Now()
	k, err := begin(ctx, b.options(spec), checkpoint.Options{})
	if err != nil {
		return "", "", "", err
	}
	defer k.Close()
	warm, cold := time.Since(began), time.Duration(0)
	for i, script := range scripts {
		began := time.Now()
		back, err := k.Rollback(ctx, []string{"import pandas"})
		if err == nil && i > 0 && back.Way != notebook.ByCheckpoint {
			err = fmt.Errorf("went back by %s: %s", back.Way, back.Why)
		}
		if err == nil {
			err = ran(k.Execute(ctx, script))
		}
		if err != nil {
			return "", "", "", err
		}
		warm += time.Since(began)
		if (i+1)%turn > 0 {
			continue
		}
		for _, script := range scripts[i+1-turn : i+1] {
			began := time.Now()
			if err := b.fromStart(ctx, script); err != nil {
				return "", "", "", err
			}
			cold += time.Since(began)
		}
	}
	return fmt.Sprintf("%.1f s", warm.Seconds()), fmt.Sprintf("%.1f s", cold.Seconds()),
		ratio(warm.Seconds(), cold.Seconds()), nil
}

// scripts returns a script for each file.
func (b *bench) scripts(files int) ([]string, error) {
	var scripts []string
	for i := range files {
		path := filepath.Join(b.dir, fmt.Sprintf("described-%d.csv", i))
		if err := os.WriteFile(path, fmt.Appendf(nil, "name,value\na,%d\nb,2\n", i), 0o644); err != nil {
			return nil, err
		}
		scripts = append(scripts, fmt.Sprintf("import pandas as pd\nassert 'df' not in globals()\ndf = "+
			"pd.read_csv(%q)\nprint(df.describe())", path))
	}
	return scripts, nil
}

func (b *bench) options(spec kernel.Spec) kernel.Options {
	return kernel.Options{Spec: spec, Env: os.Environ(), Dir: b.dir,
		Scratch: filepath.Join(b.dir, "scratch")}
}

func (b *bench) fromStart(ctx context.Context, script string) error {
	k, err := kernel.Start(ctx, b.options(kernel.PythonSpec(b.python)))
	if err != nil {
		return err
	}
	defer k.Close()
	return ran(k.Execute(ctx, script))
}
