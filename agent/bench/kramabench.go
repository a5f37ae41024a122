package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// kramaDomains are the domains, each with a workload and a data lake. Other workloads of a
// checkout (legal-tiny, quick-start-questions) do not belong to the benchmark.
var kramaDomains = []string{"archeology", "astronomy", "biomedical", "environment",
	"legal", "wildfire"}

// openKramaBench reads a checkout of github.com/mitdbg/KramaBench, or one of its workload
// files. A task's data is the whole lake of its domain or, in the oracle setting, the files
// that it names.
func openKramaBench(root string, s Setting) (*Suite, error) {
	suite := &Suite{}
	workloads := []string{root}
	if isFile(root) {
		root = filepath.Dir(filepath.Dir(root))
	} else {
		workloads = nil
		for _, domain := range kramaDomains {
			file := filepath.Join(root, "workload", domain+".json")
			if present(file) {
				workloads = append(workloads, file)
			} else {
				suite.Missing = append(suite.Missing, file)
			}
		}
		if workloads == nil {
			return nil, &MissingError{What: []string{filepath.Join(root, "workload", "*.json")}}
		}
	}
	suite.Secret = workloads
	for _, file := range workloads {
		domain := strings.TrimSuffix(filepath.Base(file), ".json")
		err := readRows(file, func(row kramaRow) error {
			suite.Tasks = append(suite.Tasks,
				row.task(domain, filepath.Join(root, "data", domain, "input"), s))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return suite, nil
}

type kramaRow struct {
	ID      textID          `json:"id"`
	Query   string          `json:"query"`
	Answer  json.RawMessage `json:"answer"`
	Type    string          `json:"answer_type"`
	Sources oneOrMore       `json:"data_sources"`
}

func (row kramaRow) task(domain, lake string, s Setting) Task {
	task := Task{ID: string(row.ID), Question: row.Query, Data: lake, Domain: domain, Kind: row.Type}
	if string(row.Answer) != "null" {
		task.Gold = row.Answer
	}
	if parts := strings.Split(task.ID, "-"); len(parts) > 1 {
		task.Level = parts[1] // archeology-hard-12
	}
	switch {
	case !present(lake):
		task.Missing = append(task.Missing, lake)
	case s.Oracle:
		task.useSources(row.Sources)
	}
	return task
}

// useSources restricts the task to the files below Data that sources name. A source is the
// path of a file or folder in the lake, or the end of that path, possibly with wildcards. "./"
// is the whole lake.
func (t *Task) useSources(sources []string) {
	if slices.Equal(sources, []string{"./"}) {
		return
	}
	names := filesBelow(t.Data)
	t.Files = []string{}
	for _, source := range sources {
		found := named(names, path.Clean(source))
		if len(found) == 0 {
			t.Missing = append(t.Missing, filepath.Join(t.Data, source))
		}
		t.Files = append(t.Files, found...)
	}
	slices.Sort(t.Files)
	t.Files = slices.Compact(t.Files)
}

// named returns the names that match pattern at the top of the lake, or else those that match
// in any folder. If there are none, it ignores case, because some workloads misspell it.
func named(names []string, pattern string) []string {
	for _, fold := range []func(string) string{strings.Clone, strings.ToLower} {
		var top, deeper []string
		for _, name := range names {
			switch place := matchedAt(fold(name), fold(pattern)); {
			case place == 0:
				top = append(top, name)
			case place > 0:
				deeper = append(deeper, name)
			}
		}
		if top != nil {
			return top
		}
		if deeper != nil {
			return deeper
		}
	}
	return nil
}

// matchedAt returns the depth at which name, or a folder in it, matches pattern, or -1.
func matchedAt(name, pattern string) int {
	n, parts := strings.Count(pattern, "/")+1, strings.Split(name, "/")
	for i := 0; i+n <= len(parts); i++ {
		// a malformed pattern matches nothing
		if ok, _ := path.Match(pattern, strings.Join(parts[i:i+n], "/")); ok {
			return i
		}
	}
	return -1
}

// filesBelow returns the names of the files below dir, with slashes.
func filesBelow(dir string) []string {
	var names []string
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// readKramaBenchAnswers reads a response cache of the harness, or lines of {task_id, answer}. The
// cache has an answer under model_output, the output of serve_query under explanation.
func readKramaBenchAnswers(file string) (answers []Answer, err error) {
	err = readRows(file, func(row struct {
		ID          textID          `json:"task_id"`
		ModelOutput json.RawMessage `json:"model_output"`
		Explanation json.RawMessage `json:"explanation"`
		Answer      json.RawMessage `json:"answer"`
	}) error {
		a := Answer{ID: string(row.ID), Value: row.Answer}
		for _, output := range []json.RawMessage{row.ModelOutput, row.Explanation} {
			var said struct {
				Answer json.RawMessage `json:"answer"`
			}
			// anything else has no answer in it
			if a.Value == nil && output != nil && json.Unmarshal(output, &said) == nil {
				a.Value = said.Answer
			}
		}
		answers = append(answers, a)
		return nil
	})
	return answers, err
}

// scoreKramaBench scores by the answer's type. There are two incompatible
// versions of its public code. Upstream is the one of June 2025 (mitdbg @96b8253),
// behind the published numbers of its authors and of DS-STAR:
//
//	both sides are converted to text    3.0 is not 3; lists are compared by character
//	a non-numeric answer                counts one half (numeric_approximate)
//	list_approximate                    matches relative errors over 9; not in the total
//	string_approximate                  a paraphrase, else ROUGE-1 if BLEU is over 0.2
//
// One difference: a response without an answer scores 0 here, where that code gives 1 for
// approximate numbers. Fixed is the later version (November and December 2025, and the fork
// of January 2026, bobbai00 @cead5ec), which compares values by their type. It also
//
//	compares a list as a list if the type says string_exact (environment-hard-20)
//	replaces right answers that were corrected in November 2025, in an older copy
//
// The Judge decides about paraphrases. text_score.py asks for one comparison at a time.
func scoreKramaBench(ctx context.Context, s Scorer, t Task, a *Answer) (Score, error) {
	kind := t.Kind
	if s.Compat == Fixed && kind == "string_exact" &&
		bytes.HasPrefix(bytes.TrimSpace(t.Gold), []byte("[")) {
		kind = "list_exact"
	}
	metric, ok := kramaMetrics[kind]
	if !ok {
		return Score{}, fmt.Errorf("there is no answer type %q; there are %s", kind,
			strings.Join(slices.Sorted(maps.Keys(kramaMetrics)), ", "))
	}
	if s.Compat == Upstream && kind == "string_approximate" {
		metric = "string_bootstrap"
	} else if s.Compat == Upstream && kind == "list_approximate" {
		metric = juneListApproximate
	}
	score := Score{Metric: metric, Uncounted: metric == juneListApproximate}
	if a == nil {
		return score, nil
	}
	verdicts := [][3]any{} // of the judge
	for {
		got, err := s.text(ctx, t, "kramabench", t.ID, kind, a.Value, t.Gold, s.Compat == Fixed, verdicts)
		if err != nil {
			return score, err
		}
		if got.Ask == nil {
			score.Value, score.Parts, score.Detail = got.Score, got.Parts, got.Detail
			return score, nil
		}
		if s.Judge == nil {
			return score, &NeedError{t.ID, "a model that judges paraphrases"}
		}
		same, err := s.Judge(ctx, got.Ask[0], got.Ask[1])
		if err != nil {
			return score, err
		}
		verdicts = append(verdicts, [3]any{got.Ask[0], got.Ask[1], same})
	}
}

// juneListApproximate is the metric that KramaBench's first version computes and leaves
// out of its total.
const juneListApproximate = "f1_approximate (not in the total)"

// kramaMetrics are the names of the metrics by the answer's type; upstream has two others.
var kramaMetrics = map[string]string{
	"numeric_exact": "success", "string_exact": "success", "numeric_approximate": "rae_score",
	"string_approximate": "llm_paraphrase", "list_exact": "f1", "list_approximate": "f1_approximate",
}

// totalKramaBench returns the mean over tasks (that is, over metrics weighted by their
// support), overall and by domain, level and metric.
func totalKramaBench(tasks []Task, scores []Score, _ map[string]*Answer) []Total {
	counts := func(i int) bool { return !scores[i].Uncounted }
	totals := []Total{mean("", "total", scores, counts, -1)}
	for _, g := range []struct {
		name string
		of   func(Task) string
	}{{"domain", Task.domain}, {"level", Task.level}} {
		var names []string
		for _, t := range tasks {
			names = append(names, g.of(t))
		}
		slices.Sort(names)
		for _, n := range slices.Compact(names) {
			totals = append(totals, mean(g.name, n, scores, func(i int) bool {
				return counts(i) && g.of(tasks[i]) == n
			}, -1))
		}
	}
	var metrics []string
	for _, s := range scores {
		metrics = append(metrics, s.Metric)
	}
	slices.Sort(metrics)
	for _, m := range slices.Compact(metrics) {
		totals = append(totals, mean("metric", m, scores,
			func(i int) bool { return scores[i].Metric == m }, -1))
	}
	return totals
}
