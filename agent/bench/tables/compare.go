package tables

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
)

// A Comparison compares two runs over the tasks that both have.
type Comparison struct {
	A      Side    `json:"a"`
	B      Side    `json:"b"`
	Tasks  int     `json:"tasks"`  // that both runs have scored
	Better int     `json:"better"` // of these, those with a higher score in b
	Worse  int     `json:"worse"`
	P      float64 `json:"p"` // exact, two-sided; the null hypothesis is no difference
	// "McNemar" if all scores are 0 or 1, else "sign"
	Test    string              `json:"test"`
	Changed []Change            `json:"changed"`
	Setup   []runner.Difference `json:"setup"` // settings that differ
}

// A Side is one of the runs, over the tasks that both have.
type Side struct {
	Run     string                  `json:"run"`
	Name    string                  `json:"name"`
	Score   *bench.Value            `json:"score"` // per cent, of the tasks that both have scored
	Figures map[string]*bench.Value `json:"figures"`
	Used    Used                    `json:"used"`
	Only    int                     `json:"only"` // tasks that only this run has
}

// compared are the figures of a side, with their decimals; all are means over tasks.
var compared = []struct {
	measure, name string
	decimals      int
}{
	{"cost", "US dollars a task", 4}, {"calls", "Model calls a task", 1},
	{"tokens", "Tokens a task", 0}, {"seconds", "Seconds a task", 1},
}

// A Change is a task whose score differs.
type Change struct {
	Task   string       `json:"task_id"`
	Level  string       `json:"level,omitempty"`
	A      float64      `json:"a"`
	B      float64      `json:"b"`
	CauseA runner.Cause `json:"cause_a,omitempty"`
	CauseB runner.Cause `json:"cause_b,omitempty"`
	SaidA  string       `json:"answer_a"`
	SaidB  string       `json:"answer_b"`
}

// Compare compares two runs of one benchmark task by task. The score of a repeated task is
// the mean of its repeats.
func Compare(a, b runner.Result) (Comparison, error) {
	if a.Bench != b.Bench {
		return Comparison{}, fmt.Errorf("%s is a run of %s, and %s of %s", a.Path, a.Bench,
			b.Path, b.Bench)
	}
	c := Comparison{Test: "McNemar", Changed: []Change{}, Setup: a.Differs(b.About)}
	ofB, common := map[string]taskRecords{}, map[string]bool{}
	for _, t := range byTask(b, nil) {
		ofB[t.ID] = t
	}
	var values [2][]float64
	for _, t := range byTask(a, nil) {
		u := ofB[t.ID]
		common[t.ID] = len(t.records) > 0 && len(u.records) > 0
		x, okX := t.mean("score", len(t.records))
		y, okY := u.mean("score", len(u.records))
		if !okX || !okY {
			continue
		}
		values[0], values[1] = append(values[0], x), append(values[1], y)
		if x != math.Trunc(x) || y != math.Trunc(y) {
			c.Test = "sign"
		}
		if math.Abs(x-y) > 1e-9 {
			p, q := t.records[0], u.records[0]
			c.Changed = append(c.Changed, Change{t.ID, t.Level, x, y, p.Cause, q.Cause, p.Answer, q.Answer})
			if y > x {
				c.Better++
			} else {
				c.Worse++
			}
		}
	}
	c.Tasks, c.P = len(values[0]), signTest(c.Better, c.Worse)
	c.A, c.B = side(a, common, values[0]), side(b, common, values[1])
	return c, nil
}

// signTest returns the two-sided exact p-value for the numbers of tasks that got better and
// worse. For right and wrong answers this is McNemar's exact test.
func signTest(better, worse int) float64 {
	n, sum := better+worse, new(big.Int)
	for k := range min(better, worse) + 1 {
		sum.Add(sum, new(big.Int).Binomial(int64(n), int64(k)))
	}
	p, _ := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
	return min(1, 2*p)
}

// side sums up a run over the common tasks.
func side(r runner.Result, common map[string]bool, values []float64) Side {
	s := Side{Run: r.Path, Name: flagged(r) + ", " + r.Model, Score: bench.Share(values),
		Figures: map[string]*bench.Value{}}
	all := byTask(r, nil)
	r.Items, r.Records = nil, nil
	for _, t := range all {
		if common[t.ID] {
			r.Items, r.Records = append(r.Items, t.Item), append(r.Records, t.records...)
		} else if len(t.records) > 0 {
			s.Only++
		}
	}
	for _, f := range compared {
		if v := measured(r, f.measure, nil); v != nil && v.N == len(r.Items) {
			s.Figures[f.measure] = v // else a price is not known
		}
	}
	s.Used = usedBy(r)
	return s
}

// Markdown returns the comparison as Markdown.
func (c Comparison) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A: %s (%s)\nB: %s (%s)\n\n", c.A.Name, c.A.Run, c.B.Name, c.B.Run)
	rows := [][]string{line("Score %", 2, c.A.Score, c.B.Score)}
	for _, f := range compared {
		rows = append(rows, line(f.name, f.decimals, c.A.Figures[f.measure], c.B.Figures[f.measure]))
	}
	b.WriteString(grid([]string{fmt.Sprintf("Over %d tasks", c.Tasks), "A", "B", "B - A"}, rows))
	fmt.Fprintf(&b, "\n%d better in B, %d worse: p = %.4f (%s test, two-sided, exact)\n", c.Better,
		c.Worse, c.P, c.Test)
	for i, only := range []int{c.A.Only, c.B.Only} {
		if only > 0 {
			fmt.Fprintf(&b, "%d tasks have a result in %c alone and are left out\n", only, "AB"[i])
		}
	}
	for _, d := range c.Setup {
		fmt.Fprintf(&b, "- %s: %s in A, %s in B\n", d.Name, cmp.Or(d.Was, "the default"),
			cmp.Or(d.Is, "the default"))
	}
	b.WriteString(c.A.Used.Markdown() + c.B.Used.Markdown())
	rows = nil
	for _, ch := range c.Changed {
		word := "worse"
		if ch.B > ch.A {
			word = "better"
		}
		rows = append(rows, []string{ch.Task, ch.Level, word, said(ch.A, ch.SaidA, ch.CauseA),
			said(ch.B, ch.SaidB, ch.CauseB)})
	}
	if rows != nil {
		slices.SortStableFunc(rows, func(a, b []string) int { return strings.Compare(a[2], b[2]) })
		b.WriteString("\n" + grid([]string{"Task", "Level", "B is", "A", "B"}, rows))
	}
	return b.String()
}

// line compares two figures; nil is unknown.
func line(name string, decimals int, a, b *bench.Value) []string {
	difference := absent
	if a != nil && b != nil {
		difference = fmt.Sprintf("%+.*f", decimals, b.Value-a.Value)
	}
	return []string{name, valueText(a, decimals), valueText(b, decimals), difference}
}

func said(score float64, answer string, cause runner.Cause) string {
	words := fmt.Sprintf("%.4g", score)
	if text := []rune(strings.Join(strings.Fields(answer), " ")); len(text) > 40 {
		words += ": " + string(text[:39]) + "…"
	} else if len(text) > 0 {
		words += ": " + string(text)
	}
	if cause != "" && cause != runner.Wrong {
		words += " (" + string(cause) + ")"
	}
	return words
}
