package bench

import "context"

// scoreDABStep compares texts by the rules of the leaderboard
// (dabstep_benchmark/evaluation/scorer.py in its space; the paper's appendix has others).
// Fixed corrects these faults, shown with upstream's verdict:
//
//	-0.94 ~ 0.94            right   the minus sign is ignored (with Fixed, -12.34 ~ -12.3
//	                                are rounded like 12.34 ~ 12.3)
//	1e5 ~ 100000            wrong   exponents are ignored
//	E:13.57 ~ F:13.57       right   words beside a number are ignored
//	2023-01-05 ~ 2023-09-30 right   only the first number is compared
//	0,99 ~ 0.99             wrong   a comma between digits always groups thousands …
//	1,2 ~ 1, 2              wrong   … and never separates decimals or items
//	a: 2, a: 1.0 ~ …        varies  items are sorted as text, then paired by position
//	NexPay ~ any with it    right   a single word matches any text that contains it
//
// A missing answer is wrong; upstream's code fails on it.
func scoreDABStep(ctx context.Context, s Scorer, t Task, a *Answer) (Score, error) {
	score := Score{Metric: "accuracy"}
	if a == nil {
		return score, nil
	}
	gold := (&Answer{Value: t.Gold}).Text()
	got, err := s.text(ctx, t, "dabstep", a.Text(), gold, s.Compat == Fixed)
	score.Value, score.Detail = got.Score, got.Detail
	return score, err
}
