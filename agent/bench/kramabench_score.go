package bench

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
	metrics := kramaMetrics[s.Compat]
	metric, ok := metrics[kind]
	if !ok {
		return Score{}, fmt.Errorf("there is no answer type %q; there are %s", kind,
			strings.Join(slices.Sorted(maps.Keys(metrics)), ", "))
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

// kramaMetrics are the names of the metrics by the answer's type.
var kramaMetrics = map[Compat]map[string]string{
	Fixed: {
		"numeric_exact": "success", "string_exact": "success", "numeric_approximate": "rae_score",
		"string_approximate": "llm_paraphrase", "list_exact": "f1", "list_approximate": "f1_approximate",
	},
	Upstream: {
		"numeric_exact": "success", "string_exact": "success", "numeric_approximate": "rae_score",
		"string_approximate": "string_bootstrap", "list_exact": "f1", "list_approximate": juneListApproximate,
	},
}
