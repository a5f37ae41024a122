package bench

import "context"

// scoreDABStep compares texts by the rules of the leaderboard
// (dabstep_benchmark/evaluation/scorer.py in its space; the paper's appendix has others).
// What Fixed corrects, with upstream's verdict:
//
//	-0.94 ~ 0.94            right   a minus sign is not read; with it, -12.34 ~ -12.3 are
//	                                rounded as without
//	1e5 ~ 100000            wrong   nor is an exponent
//	E:13.57 ~ F:13.57       right   words beside a number are not read
//	2023-01-05 ~ 2023-09-30 right   nor are further numbers
//	0,99 ~ 0.99             wrong   a comma between digits always groups thousands …
//	1,2 ~ 1, 2              wrong   … never decimals or items
//	a: 2, a: 1.0 ~ …        varies  items are paired by their place in sorted text
//	NexPay ~ any with it    right   one word is right in whatever text has it
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
