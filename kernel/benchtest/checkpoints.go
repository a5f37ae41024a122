package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dsstar/kernel/checkpoint"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// A session is a session to restore, given by its cells.
type session struct {
	name  string
	cells []string
}

const thinking = 100 * time.Millisecond // between a cell and going back, as for a decision

const bigFrame = "df = pd.DataFrame(np.random.default_rng(0).random((1_000_000, 134)))" // 1.07 GB

var (
	frame = "r = np.random.default_rng(0); n = 138_000\n" +
		"df = pd.DataFrame({f'f{i}': r.random(n) for i in range(14)} | {f's{i}': r.choice(['alpha', " +
		"'beta', 'gamma', 'delta'], n) for i in range(7)})"
	forest = "from sklearn.ensemble import RandomForestClassifier\nr = np.random.default_rng(0); X " +
		"= r.random((20_000, 20)); y = X[:, 0] + X[:, 1] * X[:, 2] > .8\n" +
		"model = RandomForestClassifier(100, n_jobs=2, random_state=0).fit(X, y)"
	goingBack = []session{
		{"a tiny session", []string{"x = [1, 2, 3]"}},
		{"a frame of 138k x 21, made by a cell", []string{"import numpy as np, pandas as pd", frame}},
		{"a frame of 138k x 21, read from CSV",
			[]string{"import pandas as pd", "df = pd.read_csv('../frame.csv')"}},
		{"a frame of 1 GB", []string{"import numpy as np, pandas as pd", bigFrame}},
		{"a fitted forest", []string{"import numpy as np", forest}},
	}
)

// checkpointRows returns rows that compare the kernel with checkpoints to ipykernel.
func checkpointRows() (all []row) {
	freezing := kind{checkpoints: true}
	for _, tier := range []sandbox.Tier{"", sandbox.Builtin, sandbox.Full} {
		for i, s := range goingBack {
			where := ""
			if tier != "" {
				if i != 0 && i != 1 && i != 4 {
					continue
				}
				where = " in " + string(tier)
			}
			all = append(all, row{"checkpoints" + where + ": back to " + s.name +
				", and a cell | start again, run the cells",
				func(ctx context.Context, b *bench) (result, error) { return s.measure(ctx, b, tier) }})
		}
	}
	return append(all,
		row{"checkpoints: one of a frame of 138k x 21 (wanted: 50 ms) | -", checkpointTime},
		row{"checkpoints: execute round trip, p50 (wanted: ratio 1.1) | ipykernel",
			func(ctx context.Context, b *bench) (result, error) {
				return roundTrips(ctx, b, 2000, kind{checkpoints: true, stays: true}, kind{stays: true})
			}},
		row{"checkpoints: a cell with one before it, p50 | ipykernel's cell without",
			func(ctx context.Context, b *bench) (result, error) {
				return roundTrips(ctx, b, 200, freezing, kind{})
			}},
		row{"checkpoints: start of the kernel | ipykernel",
			func(ctx context.Context, b *bench) (result, error) { return starts(ctx, b, freezing, kind{}) }},
		row{"checkpoints: memory of one with an unchanged frame of 1 GB (wanted: 30 MB) | -",
			checkpointMemory},
	)
}

// measure measures going back after failed cells and after good ones; for the latter a checkpoint
// is made first.
func (s session) measure(ctx context.Context, b *bench, tier sandbox.Tier) (result, error) {
	if err := b.writeFrame(ctx); err != nil {
		return result{}, err
	}
	var both [2]*checkpoint.Session
	for i, k := range []kind{{checkpoints: true, tier: tier}, {tier: tier}} {
		var err error
		if both[i], err = b.begin(ctx, k); err != nil {
			return result{}, err
		}
		defer both[i].Close()
	}
	for _, k := range both {
		for _, code := range s.cells {
			if err := ran(k.Execute(ctx, code)); err != nil {
				return result{}, err
			}
		}
	}
	const failing, succeeding = "undone = 1; 1 / 0", "undone = 1"
	var all [3][]float64
	why := ""
	for range max(2, b.times(15)) {
		for i, code := range []string{failing, succeeding, failing} {
			seconds, r, err := s.back(ctx, both[i/2], code)
			if err != nil {
				return result{}, err
			}
			if i < 2 && r.Kept < len(s.cells) {
				why = fmt.Sprintf("; %d cells ran again: %s", len(s.cells)-r.Kept, r.Why)
			}
			all[i] = append(all[i], seconds)
		}
	}
	failed, good, their := median(all[0]), median(all[1]), median(all[2])
	return result{
		fmt.Sprintf("%.0f ms after a failed cell, %.0f ms after a good one", 1000*failed, 1000*good),
		fmt.Sprintf("%.0f ms", 1000*their),
		fmt.Sprintf("ratio %.0f, %.0f%s", their/failed, their/good, why)}, nil
}

// writeFrame writes the CSV that one of the sessions reads.
func (b *bench) writeFrame(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(b.dir, "frame.csv")); err == nil {
		return nil
	}
	k, err := b.begin(ctx, kind{stays: true})
	if err != nil {
		return err
	}
	defer k.Close()
	return ran(k.Execute(ctx, "import numpy as np, pandas as pd\n"+frame+
		"\ndf.to_csv('../frame.csv', index=False)"))
}

// back runs a cell and measures going back from it, until the next result.
func (s session) back(ctx context.Context, k *checkpoint.Session, code string) (float64,
	notebook.Restoration, error) {
	if _, err := k.Execute(ctx, code); err != nil {
		return 0, notebook.Restoration{}, err
	}
	time.Sleep(thinking)
	begun := time.Now()
	r, err := k.Rollback(ctx, s.cells)
	if err == nil {
		err = ran(k.Execute(ctx, "1"))
	}
	seconds := time.Since(begun).Seconds()
	if err == nil { // restore the state for the next measurement
		_, err = k.Rollback(ctx, s.cells)
	}
	return seconds, r, err
}

func checkpointTime(ctx context.Context, b *bench) (result, error) {
	k, err := b.begin(ctx, kind{checkpoints: true, stays: true})
	if err != nil {
		return result{}, err
	}
	defer k.Close()
	if err := ran(k.Execute(ctx, "import numpy as np, pandas as pd\n"+frame)); err != nil {
		return result{}, err
	}
	var all []float64
	parts := map[string][]float64{}
	for range b.times(30) {
		if err := ran(k.Execute(ctx, "df['z'] = df.f0 * 2")); err != nil {
			return result{}, err
		}
		begun := time.Now()
		reply, err := ask(ctx, k, "undokernel_checkpoint_request")
		if err != nil {
			return result{}, err
		}
		all = append(all, time.Since(begun).Seconds())
		for name, ms := range reply.Milliseconds {
			parts[name] = append(parts[name], ms)
		}
	}
	verdict := ""
	for name, ms := range parts {
		verdict += fmt.Sprintf("%s %.1f ms ", name, median(ms))
	}
	return result{ours: fmt.Sprintf("%.0f ms", 1000*median(all)), verdict: verdict}, nil
}

func checkpointMemory(ctx context.Context, b *bench) (result, error) {
	const n = 10
	k, err := b.begin(ctx, kind{checkpoints: true, stays: true})
	if err != nil {
		return result{}, err
	}
	defer k.Close()
	if err := ran(k.Execute(ctx, "import numpy as np, pandas as pd\n"+bigFrame)); err != nil {
		return result{}, err
	}
	var used [2]int64
	for i := range n + 1 {
		if _, err := ask(ctx, k, "undokernel_checkpoint_request"); err != nil {
			return result{}, err
		}
		if err := ran(k.Execute(ctx, fmt.Sprintf("x = %d; df.shape", i))); err != nil {
			return result{}, err
		}
		reply, err := ask(ctx, k, "undokernel_checkpoints_request")
		if err != nil {
			return result{}, err
		}
		used[min(i, 1)] = reply.Live.Bytes + reply.Front.Bytes
		for _, c := range reply.Checkpoints {
			used[min(i, 1)] += c.Bytes
		}
	}
	return result{ours: fmt.Sprintf("%.1f MB", float64(used[1]-used[0])/n/1e6),
		verdict: fmt.Sprintf("%d of them and the session: %.0f MB", n+1, float64(used[1])/1e6)}, nil
}
