package rewind

import (
	"slices"
	"testing"
	"time"

	"dsstar/notebook"
)

const (
	frame = "import numpy as np, pandas as pd\nr = np.random.default_rng(0); n = 138_000\n" +
		"df = pd.DataFrame({f'f{i}': r.random(n) for i in range(14)} | {f's{i}': r.choice(['alpha', " +
		"'beta', 'gamma', 'delta'], n) for i in range(7)})\ndf.to_csv('../frame.csv', index=False)"
	forest = "from sklearn.ensemble import RandomForestClassifier\nr = np.random.default_rng(0); X " +
		"= r.random((20_000, 20)); y = X[:, 0] + X[:, 1] * X[:, 2] > .8\n" +
		"model = RandomForestClassifier(100, n_jobs=2, random_state=0).fit(X, y)"
)

// BenchmarkBack measures the table of docs/checkpoints.md: going back 0.1 s after a cell has failed, as
// a decision takes time, until the result of the next cell.
func BenchmarkBack(b *testing.B) {
	for name, cells := range map[string][]string{
		"assignment": {"x = [1, 2, 3]"},
		"CSV":        {"import pandas as pd", "df = pd.read_csv('../frame.csv')"},
		"1 GB": {"import numpy as np, pandas as pd",
			"df = pd.DataFrame(np.random.default_rng(0).random((1_000_000, 134)))"},
		"forest": {"import numpy as np", forest},
	} {
		for way, start := range map[string]func(testing.TB) setup{"copy": freezing, "replay": plain} {
			b.Run(name+"/"+way, func(b *testing.B) {
				k := open(b, start(b))
				runCell(b, k, frame, notebook.OK)
				var all []time.Duration
				for b.Loop() {
					must(k.Rollback(b.Context(), cells))
					runCell(b, k, "undone = 1; 1 / 0", notebook.Raised)
					time.Sleep(100 * time.Millisecond)
					begun := time.Now()
					must(k.Rollback(b.Context(), cells))
					runCell(b, k, "1", notebook.OK)
					all = append(all, time.Since(begun))
				}
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms/back")
			})
		}
	}
}
