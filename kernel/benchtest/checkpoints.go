package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
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
		{"five steps", []string{
			"import numpy as np, pandas as pd, matplotlib.pyplot as plt", "df = pd.read_csv('../frame.csv')",
			"df['z'] = df.f0 * df.f1; g = df.groupby('s0').agg({'f0': 'mean', 'f1': 'std'}); top = " +
				"df.merge(g, left_on='s0', right_index=True, suffixes=('', '_g'))",
			"from sklearn.ensemble import RandomForestClassifier\nmodel = RandomForestClassifier(50, " +
				"n_jobs=2, random_state=0).fit(df.iloc[:20_000, :9], df.z[:20_000] > .3)",
			"fig, ax = plt.subplots(); ax.hist(df.z, 50); fig.savefig('z.png')",
		}},
	}
)

// checkpointRows returns rows that compare the kernel with checkpoints to ipykernel.
func checkpointRows() []row {
	var all []row
	for _, s := range goingBack {
		all = append(all, row{"checkpoints: back to " + s.name +
			", and a cell | start again, run the cells", s.measure})
	}
	return append(all,
		row{"checkpoints: one of a frame of 138k x 21 (wanted: 50 ms) | -", checkpointTime},
		row{"checkpoints: execute round trip, p50 (wanted: ratio 1.1) | ipykernel", checkpointRoundTrip},
		row{"checkpoints: a cell with one before it, p50 | ipykernel's cell without", checkpointEach},
		row{"checkpoints: start of the kernel | ipykernel", checkpointStart},
		row{"checkpoints: memory of one with an unchanged frame of 1 GB (wanted: 30 MB) | -",
			checkpointMemory},
	)
}

// kinds returns the specs of the kernel with checkpoints and of ipykernel.
func (b *bench) kinds() ([2]kernel.Spec, error) {
	plain := kernel.PythonSpec(b.python)
	freezing, err := checkpoint.Spec(plain, filepath.Join(b.dir, "kernels"))
	return [2]kernel.Spec{freezing, plain}, err
}

// both starts a kernel of each kind in its own folder; end closes them.
func (b *bench) both(ctx context.Context, stays bool) (both [2]*checkpoint.Session, end func(),
	err error) {
	end = func() {
		for _, k := range both {
			if k != nil {
				_ = k.Close()
			}
		}
	}
	specs, err := b.kinds()
	for i, spec := range specs {
		if err == nil {
			dir, e := os.MkdirTemp(b.dir, "session-")
			if err = e; e == nil {
				o := kernel.Options{Spec: spec, Dir: dir, Scratch: dir, Env: os.Environ()}
				both[i], err = begin(ctx, o, checkpoint.Options{Copies: dir + "-copies", Off: stays})
			}
		}
	}
	return both, end, err
}

// begin starts a kernel that can go back.
func begin(ctx context.Context, o kernel.Options, back checkpoint.Options) (*checkpoint.Session,
	error) {
	k, err := kernel.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return checkpoint.New(k, back), nil
}

// writeFrame writes the CSV that some of the sessions read.
func (b *bench) writeFrame(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(b.dir, "frame.csv")); err == nil {
		return nil
	}
	k, err := b.start(ctx)
	if err != nil {
		return err
	}
	defer k.Close()
	return ran(k.Execute(ctx, "import numpy as np, pandas as pd\n"+frame+
		"\ndf.to_csv('frame.csv', index=False)"))
}

// ran returns the error of an execution, or of a cell that failed.
func ran(x notebook.Execution, err error) error {
	if err == nil && x.Status != notebook.OK {
		err = fmt.Errorf("a cell ended with %s: %s", x.Status, x.PlainText())
	}
	return err
}

// measure measures going back after failed cells and after good ones; for the latter a checkpoint
// is made first.
func (s session) measure(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	if err := b.writeFrame(ctx); err != nil {
		return "", "", "", err
	}
	both, end, err := b.both(ctx, false)
	defer end()
	if err != nil {
		return "", "", "", err
	}
	for _, k := range both {
		for _, code := range s.cells {
			if err := ran(k.Execute(ctx, code)); err != nil {
				return "", "", "", err
			}
		}
	}
	var failed, good, their []float64
	ways := map[notebook.Way]int{}
	why := ""
	for i := range max(2, b.times(15)) {
		for _, code := range []string{"undone = 1; 1 / 0", "undone = 1"} {
			seconds, r, err := s.back(ctx, both[0], code)
			if err != nil {
				return "", "", "", err
			}
			ways[r.Way]++
			if r.Kept < len(s.cells) {
				why = fmt.Sprintf("; %d cells ran again: %s", len(s.cells)-r.Kept, r.Why)
			}
			if code == "undone = 1" {
				good = append(good, seconds)
			} else {
				failed = append(failed, seconds)
			}
		}
		if i%2 == 0 {
			seconds, _, err := s.back(ctx, both[1], "undone = 1; 1 / 0")
			if err != nil {
				return "", "", "", err
			}
			their = append(their, seconds)
		}
	}
	return fmt.Sprintf("%.0f ms after a failed cell, %.0f ms after a good one", 1000*median(failed),
			1000*median(good)),
		fmt.Sprintf("%.0f ms", 1000*median(their)),
		fmt.Sprintf("ratio %.0f, %.0f%s", median(their)/median(failed), median(their)/median(good), why),
		nil
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

// A held is a part of the reply to a undokernel_checkpoints_request.
type held struct {
	Bytes int64
}

// A checkpointReply is the reply to any request of undokernel/README.md.
type checkpointReply struct {
	Status, EName, EValue string
	Checkpoint            string
	Milliseconds          map[string]float64
	Checkpoints           []held
	Live, Front           held
}

func ask(ctx context.Context, k *checkpoint.Session, request string) (checkpointReply, error) {
	var reply checkpointReply
	m, err := k.Request(ctx, kernel.Message{Channel: kernel.Control,
		Header: kernel.Header{MsgType: request}})
	if err == nil {
		err = json.Unmarshal(m.Content, &reply)
	}
	if err == nil && reply.Status != "ok" {
		err = fmt.Errorf("%s: %s", request, m.Content)
	}
	return reply, err
}

func checkpointTime(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	both, end, err := b.both(ctx, true)
	defer end()
	if err != nil {
		return "", "", "", err
	}
	if err := ran(both[0].Execute(ctx, "import numpy as np, pandas as pd\n"+frame)); err != nil {
		return "", "", "", err
	}
	var all []float64
	parts := map[string][]float64{}
	for range b.times(30) {
		if err := ran(both[0].Execute(ctx, "df['z'] = df.f0 * 2")); err != nil {
			return "", "", "", err
		}
		begun := time.Now()
		reply, err := ask(ctx, both[0], "undokernel_checkpoint_request")
		if err != nil {
			return "", "", "", err
		}
		all = append(all, time.Since(begun).Seconds())
		for name, ms := range reply.Milliseconds {
			parts[name] = append(parts[name], ms)
		}
	}
	for name, ms := range parts {
		verdict += fmt.Sprintf("%s %.1f ms ", name, median(ms))
	}
	return fmt.Sprintf("%.0f ms", 1000*median(all)), "", verdict, nil
}

func checkpointRoundTrip(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	return b.roundTrips(ctx, true)
}

func checkpointEach(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	return b.roundTrips(ctx, false)
}

// roundTrips measures cells in alternation; unless stays is set, each has a checkpoint before it.
func (b *bench) roundTrips(ctx context.Context, stays bool) (ours, theirs, verdict string,
	err error) {
	both, end, err := b.both(ctx, stays)
	defer end()
	if err != nil {
		return "", "", "", err
	}
	var all [2][]float64
	for i := range b.times(2000) {
		if !stays && i > 200 {
			break
		}
		for which, k := range both {
			begun := time.Now()
			if err := ran(k.Execute(ctx, "x = 1")); err != nil {
				return "", "", "", err
			}
			all[which] = append(all[which], time.Since(begun).Seconds())
		}
	}
	return fmt.Sprintf("%.2f ms", 1000*median(all[0])), fmt.Sprintf("%.2f ms", 1000*median(all[1])),
		ratio(median(all[0]), median(all[1])), nil
}

func checkpointStart(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	specs, err := b.kinds()
	if err != nil {
		return "", "", "", err
	}
	var all [2][]float64
	for range b.times(20) {
		for which, spec := range specs {
			begun := time.Now()
			k, err := kernel.Start(ctx, kernel.Options{Spec: spec, Dir: b.dir, Env: os.Environ()})
			if err != nil {
				return "", "", "", err
			}
			err = ran(k.Execute(ctx, "1"))
			all[which] = append(all[which], time.Since(begun).Seconds())
			_ = k.Close()
			if err != nil {
				return "", "", "", err
			}
		}
	}
	return fmt.Sprintf("%.0f ms", 1000*median(all[0])), fmt.Sprintf("%.0f ms", 1000*median(all[1])),
		ratio(median(all[0]), median(all[1])), nil
}

func checkpointMemory(ctx context.Context, b *bench) (ours, theirs, verdict string, err error) {
	const n = 10
	both, end, err := b.both(ctx, true)
	defer end()
	if err != nil {
		return "", "", "", err
	}
	if err := ran(both[0].Execute(ctx, "import numpy as np, pandas as pd\n"+bigFrame)); err != nil {
		return "", "", "", err
	}
	var used [2]int64
	for i := range n + 1 {
		if _, err := ask(ctx, both[0], "undokernel_checkpoint_request"); err != nil {
			return "", "", "", err
		}
		if err := ran(both[0].Execute(ctx, fmt.Sprintf("x = %d; df.shape", i))); err != nil {
			return "", "", "", err
		}
		if i == 0 || i == n {
			reply, err := ask(ctx, both[0], "undokernel_checkpoints_request")
			if err != nil {
				return "", "", "", err
			}
			sum := reply.Live.Bytes + reply.Front.Bytes
			for _, c := range reply.Checkpoints {
				sum += c.Bytes
			}
			used[min(i, 1)] = sum
		}
	}
	return fmt.Sprintf("%.1f MB", float64(used[1]-used[0])/n/1e6), "",
		fmt.Sprintf("%d of them and the session: %.0f MB", n+1, float64(used[1])/1e6), nil
}
