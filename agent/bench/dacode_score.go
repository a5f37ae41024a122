package bench

import (
	"context"
	_ "embed"
	"encoding/json"
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
	if missing := t.missingGold(); len(missing) > 0 { // not the answer's fault
		return Score{}, &MissingError{What: missing}
	}
	score := Score{Metric: strings.Join(config.Func, "+")}
	if a == nil {
		return score, nil
	}
	if s.Python == nil {
		return Score{}, &NeedError{t.ID, "a Python session"}
	}
	task, err := json.Marshal([]any{map[string]any{"config": t.Gold, "result": a.Text(), "dir": a.Dir,
		"gold_dir": t.GoldDir, "fixed": s.Compat == Fixed}})
	if err != nil {
		return Score{}, err
	}
	var out []struct {
		Score  float64            `json:"score"`
		Detail string             `json:"detail"`
		Parts  map[string]float64 `json:"parts"`
	}
	err = s.Python.call(ctx, daCodeScorer, "main", task, &out)
	// reading the answer exceeded the limits of time or memory
	if bad, ok := errors.AsType[*CodeError](err); ok && len(t.Missing) == 0 {
		score.Detail = bad.Error()
		return score, nil
	}
	if err != nil {
		return Score{}, err
	}
	if len(out) != 1 {
		return Score{}, errors.New("the Python scorer returned nothing")
	}
	score.Value, score.Detail, score.Parts = out[0].Score, out[0].Detail, out[0].Parts
	return score, nil
}

// Chart runs the programs that an agent left in dir, as the public harness does after a
// plotting task, and writes the data and the settings of the chart to dir/dabench/result.npy
// and plot.json, where the scorer looks for them. The code is the agent's, so python must be
// sandboxed and must not be reused. A missing chart is no error: the score shows it.
//
// Upstream removes lines that show, save or close a figure. Here these calls do nothing
// instead, so a block that consists of one such line stays valid. With Fixed, any savefig may
// save a figure, not only pyplot's.
func Chart(ctx context.Context, python Python, dir string, compat Compat) error {
	args, err := json.Marshal([]any{dir, compat != Upstream})
	if err != nil {
		return err
	}
	var why string // there is no chart
	err = python.call(ctx, daCodeChart+"\ndef main(args):\n    return json.dumps(chart_of(*args))\n",
		"main", args, &why)
	if _, ok := errors.AsType[*CodeError](err); ok { // it hung or ended the session
		return nil
	}
	return err
}

// answerMark begins the line with a Python helper's answer. Other output is ignored.
const answerMark = "\x1edsstar-bench:"

// call runs a helper's source in its own namespace, calls one of its functions with args, and
// decodes the JSON that it returns.
func (p Python) call(ctx context.Context, helper, name string, args []byte, out any) error {
	source, err := json.Marshal(helper)
	if err != nil {
		return err
	}
	input, err := json.Marshal(string(args))
	if err != nil {
		return err
	}
	// A JSON string is a Python literal. The session keeps the helper, because compiling it
	// takes longer than most scores.
	code := fmt.Sprintf("def _dsstar_bench(source, "+
		"kept=globals().setdefault('_dsstar_bench_kept', {})):\n    import json\n"+
		"    if source not in kept:\n        space = {'__name__': 'dsstar_bench'}\n"+
		"        exec(compile(source, '<dsstar bench>', 'exec'), space)\n        kept[source] = space\n"+
		"    print('\\n' + %q + kept[source][%q](json.loads(%s)))\n_dsstar_bench(%s)\n", answerMark, name, input, source)
	stdout, err := p(ctx, code)
	if err != nil {
		return err
	}
	i := strings.LastIndex(stdout, answerMark)
	if i < 0 {
		return &CodeError{"it returned nothing"}
	}
	line, _, _ := strings.Cut(stdout[i+len(answerMark):], "\n")
	if err := json.Unmarshal([]byte(strings.TrimRight(line, "\r")), out); err != nil {
		return &CodeError{"its result is invalid: " + err.Error()}
	}
	return nil
}
