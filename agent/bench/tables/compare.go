package tables

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
)

// A Comparison compares two runs over the tasks that both have. Its JSON is a contract: see
// docs/benchmarks.md.
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
	Only    map[string]int      `json:"only"`  // tasks that only one run has, by "a" and "b"
}

// A Side is one of the runs, over the tasks that both have.
type Side struct {
	Run     string   `json:"run"`
	Name    string   `json:"name"`
	Score   float64  `json:"score"` // per cent
	Low     float64  `json:"low"`
	High    float64  `json:"high"`
	Cost    *float64 `json:"cost_usd"` // per task; null: a price is not known
	Calls   float64  `json:"calls"`    // per task, like the fields below
	Tokens  float64  `json:"tokens"`
	Seconds float64  `json:"seconds"`
	Used    Used     `json:"used"` // by all tasks of the run that both have
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
	c := Comparison{Test: "McNemar", Changed: []Change{}, Setup: a.Differs(b.About), Only: map[string]int{}}
	ofB, common := map[string]taskRecords{}, map[string]bool{}
	for _, t := range byTask(b, nil) {
		ofB[t.ID] = t
	}
	var values [2][]float64
	for _, t := range byTask(a, nil) {
		u := ofB[t.ID]
		common[t.ID] = len(t.records) > 0 && len(u.records) > 0
		x, okX := t.mean(score, len(t.records))
		y, okY := u.mean(score, len(u.records))
		if okX && okY {
			values[0], values[1] = append(values[0], x), append(values[1], y)
			c.note(t, u, x, y)
		}
	}
	c.Tasks, c.P = len(values[0]), signTest(c.Better, c.Worse)
	if x, y := sandboxes(a), sandboxes(b); x != y {
		c.Setup = append(c.Setup, runner.Difference{Name: "sandbox", Was: x, Is: y})
	}
	c.A, c.Only["a"] = side(a, common, values[0])
	c.B, c.Only["b"] = side(b, common, values[1])
	return c, nil
}

// signTest returns the two-sided exact p-value for the numbers of tasks that got better and
// worse. For right and wrong answers this is McNemar's exact test.
func signTest(better, worse int) float64 {
	n := better + worse
	logHalf := float64(n) * math.Log(0.5)
	all, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for k := range min(better, worse) + 1 {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(all - a - b + logHalf)
	}
	return min(1, 2*sum)
}

// note adds a task that both runs have to the comparison.
func (c *Comparison) note(t, u taskRecords, x, y float64) {
	for _, v := range []float64{x, y} {
		if v != 0 && v != 1 {
			c.Test = "sign"
		}
	}
	switch {
	case math.Abs(x-y) < 1e-9:
		return
	case y > x:
		c.Better++
	default:
		c.Worse++
	}
	p, q := t.records[0], u.records[0]
	c.Changed = append(c.Changed, Change{t.ID, t.Level, x, y, p.Cause, q.Cause, p.Answer, q.Answer})
}

// side sums up a run over the common tasks, and counts the others that have a result.
func side(r runner.Result, common map[string]bool, values []float64) (s Side, only int) {
	s = Side{Run: r.Path, Name: flagged(r) + ", " + r.Model, Low: 0, High: 100}
	if v := bench.Share(values); v != nil {
		s.Score, s.Low, s.High = v.Value, *v.Low, *v.High
	}
	var both []taskRecords
	for _, t := range byTask(r, nil) {
		if common[t.ID] {
			both = append(both, t)
		} else if len(t.records) > 0 {
			only++
		}
	}
	r.Items, r.Records = nil, nil
	for _, t := range both {
		r.Items, r.Records = append(r.Items, t.Item), append(r.Records, t.records...)
	}
	s.Used = usedBy(r)
	of := func(f figure) float64 {
		if v := bench.Mean(measure{of: f}.values(r, nil)); v != nil {
			return v.Value
		}
		return 0
	}
	s.Calls, s.Seconds = of(measures["calls"].of), of(seconds)
	s.Tokens = of(measures["input tokens"].of) + of(measures["output tokens"].of)
	if v := totalCost(r, nil); v != nil {
		s.Cost = new(v.Value / float64(v.N))
	}
	return s, only
}

func seconds(r runner.Record) (float64, bool) { return r.Seconds.Total, true }

// Markdown returns the comparison as Markdown.
func (c Comparison) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A: %s (%s)\nB: %s (%s)\n\n", c.A.Name, c.A.Run, c.B.Name, c.B.Run)
	scored := func(s Side) string { return fmt.Sprintf("%.2f (%.1f to %.1f)", s.Score, s.Low, s.High) }
	rows := [][]string{
		{"Score %", scored(c.A), scored(c.B), fmt.Sprintf("%+.2f", c.B.Score-c.A.Score)},
		line("US dollars a task", 4, c.A.Cost, c.B.Cost),
		line("Model calls a task", 1, &c.A.Calls, &c.B.Calls),
		line("Tokens a task", 0, &c.A.Tokens, &c.B.Tokens),
		line("Seconds a task", 1, &c.A.Seconds, &c.B.Seconds),
	}
	b.WriteString(grid([]string{fmt.Sprintf("Over %d tasks", c.Tasks), "A", "B", "B - A"}, rows))
	fmt.Fprintf(&b, "\n%d better in B, %d worse: p = %.4f (%s test, two-sided, exact)\n", c.Better,
		c.Worse, c.P, c.Test)
	for _, who := range []string{"a", "b"} {
		if n := c.Only[who]; n > 0 {
			fmt.Fprintf(&b, "%d tasks have a result in %s alone and are left out\n", n, strings.ToUpper(who))
		}
	}
	for _, d := range c.Setup {
		fmt.Fprintf(&b, "- %s: %s in A, %s in B\n", d.Name, cmp.Or(d.Was, "the default"),
			cmp.Or(d.Is, "the default"))
	}
	b.WriteString(c.A.Used.Markdown() + c.B.Used.Markdown())
	if len(c.Changed) == 0 {
		return b.String()
	}
	rows = nil
	changed := slices.Clone(c.Changed)
	slices.SortStableFunc(changed, func(x, y Change) int { return strings.Compare(sign(x), sign(y)) })
	for _, ch := range changed {
		rows = append(rows, []string{ch.Task, ch.Level, sign(ch), said(ch.A, ch.SaidA, ch.CauseA),
			said(ch.B, ch.SaidB, ch.CauseB)})
	}
	b.WriteString("\n" + grid([]string{"Task", "Level", "B is", "A", "B"}, rows))
	return b.String()
}

// line compares two figures; nil is unknown.
func line(name string, decimals int, a, b *float64) []string {
	difference := absent
	if a != nil && b != nil {
		difference = fmt.Sprintf("%+.*f", decimals, *b-*a)
	}
	return []string{name, figureText(a, decimals), figureText(b, decimals), difference}
}

func sign(c Change) string {
	if c.B > c.A {
		return "better"
	}
	return "worse"
}

func said(score float64, answer string, cause runner.Cause) string {
	text := []rune(strings.Join(strings.Fields(answer), " "))
	if len(text) > 40 {
		text = append(text[:39], '…')
	}
	words := fmt.Sprintf("%.4g: %s", score, string(text))
	if cause != "" && cause != runner.Wrong {
		words += " (" + string(cause) + ")"
	}
	return strings.TrimSuffix(words, ": ")
}

// sandboxes describes what confined the cells of a run.
func sandboxes(r runner.Result) string {
	var all []string
	for _, record := range r.Records {
		if record.Sandbox != "" {
			all = append(all, record.Sandbox)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "; ")
}
