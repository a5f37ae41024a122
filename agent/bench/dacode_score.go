package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The parts of the scorer share one namespace.
var (
	//go:embed dacode_score.py
	daCodeTask string
	//go:embed dacode_tables.py
	daCodeTables string
	//go:embed dacode_text.py
	daCodeText string
	//go:embed dacode_images.py
	daCodeImages string
	//go:embed dacode_ml.py
	daCodeML string

	daCodeScorer = strings.Join([]string{daCodeTask, daCodeTables, daCodeText, daCodeImages,
		daCodeML}, "\n\n")
)

// daCodeMetrics are the functions that an eval configuration may name.
var daCodeMetrics = []string{"compare_csv", "compare_sqlite", "compare_text", "compare_image",
	"compare_ml", "compare_competition_ml"}

//go:embed dacode_chart.py
var daCodeChart string

// scoreDACode has Python compare what the agent left with the right answer: tables,
// databases, JSON, charts and predictions. Equality depends on the types that pandas.read_csv
// infers, and charts and predictions need numpy and scikit-learn. Fixed corrects these faults
// (da_agent/evaluators @b211daf):
//
//	conditon_cols, cleaned_condition_cols, target_colunm   misspelt options have no effect
//	ignore_order           sorts each column separately, so rows that gold lacks can pass
//	divide                 is spelt "devide" for text; for tables it is correct
//	a misspelt key         in a right answer (di-text-002) never matches; Fixed takes the nearest
//	color                  passes if the answer has fewer colours than gold
//	accuracy               compares text labels with themselves, and fails for competitions
//	                       (f1 also rejects labels that gold does not have)
//	rmsle                  lacks the square root
//	loss metrics           score worse values higher if upper_bound is the worse bound
//	logloss                is in base 2 and halved, whatever the number of classes
//	roc_auc_score          always fails for more than two classes
//	quadratic_weighted_kappa  fails unless labels begin at 0 and reach as far as gold's
//	row order              matters in compare_ml even if there are ids
//
// With either Compat, a result must be a file in the agent's folder, because a link out of it
// could lead to the right answer. Tables give partial credit (divide), which the paper does
// not mention.
//
// Other differences from the public code: difflib replaces python-Levenshtein in fuzzywuzzy's
// similarity, Pillow replaces OpenCV for resizing images before pixels are compared, arrays
// that contain pickles are rejected, and there is no time limit of 10 s.
func scoreDACode(ctx context.Context, s Scorer, t Task, a *Answer) (Score, error) {
	config, err := readEval(t.Gold)
	if err != nil {
		return Score{}, err
	}
	for _, name := range config.Func {
		if !slices.Contains(daCodeMetrics, name) {
			return Score{}, fmt.Errorf("there is no metric %q; there are %s", name,
				strings.Join(daCodeMetrics, ", "))
		}
	}
	score := Score{Metric: strings.Join(config.Func, "+"), Value: new(float64)}
	if a == nil {
		return score, nil
	}
	var out rating
	err = s.Python.call(ctx, daCodeScorer, "score_task", &out, map[string]any{"config": t.Gold,
		"result": a.Text(), "dir": a.Dir, "gold_dir": t.GoldDir, "fixed": s.Compat != Upstream})
	// reading the answer exceeded the limits of time or memory
	if bad, ok := errors.AsType[*CodeError](err); ok {
		score.Detail = bad.Error()
		return score, nil
	}
	score.Value, score.Detail, score.Parts = &out.Score, out.Detail, out.Parts
	return score, err
}

// Chart runs the programs that an agent left in dir, as the public harness does after a
// plotting task, and writes the data and the settings of the chart to dir/dabench/result.npy
// and plot.json, where the scorer looks for them. If no program draws it, cells is one: those of the
// agent's notebook. The code is the agent's, so python must be sandboxed and must not be reused. A
// missing chart is no error: the score shows it.
//
// Upstream removes lines that show, save or close a figure. Here these calls do nothing
// instead, so a block that consists of one such line stays valid. With Fixed, any savefig may
// save a figure, not only pyplot's.
func Chart(ctx context.Context, python Python, dir, cells string, compat Compat) error {
	var why string // there is no chart
	err := python.call(ctx, daCodeChart, "chart_of", &why, dir, compat != Upstream, cells)
	if _, ok := errors.AsType[*CodeError](err); ok { // it hung or ended the session
		return nil
	}
	return err
}
