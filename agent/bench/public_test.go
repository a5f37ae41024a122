package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	publicCases = flag.Int("public-cases", 2000,
		"answers that TestPublicScorers makes for each scorer")
	publicSeed = flag.Uint64("public-seed", 1, "the seed that they are made from")
)

// TestPublicScorers compares scores of generated answers with those of the public code, run from
// checkouts in the folder that DSSTAR_PUBLIC_SCORERS names: see docs/testing.md.
func TestPublicScorers(t *testing.T) {
	root := os.Getenv("DSSTAR_PUBLIC_SCORERS")
	if root == "" {
		t.Skip("DSSTAR_PUBLIC_SCORERS names no folder with the public repositories")
	}
	gen := func() *generator { return &generator{rand.New(rand.NewPCG(*publicSeed, 8))} }
	t.Run("dabstep", func(t *testing.T) { publicDABStep(t, root, gen()) })
	t.Run("kramabench-june",
		func(t *testing.T) { publicKramaBench(t, root, gen(), Upstream, "kramabench-june") })
	t.Run("kramabench", func(t *testing.T) { publicKramaBench(t, root, gen(), Fixed, "kramabench") })
	t.Run("dabench", func(t *testing.T) { publicDABench(t, root, gen()) })
	t.Run("dacode", func(t *testing.T) { publicDACode(t, root) })
}

// public runs a public scorer over cases.
func public(t *testing.T, root, which string, cases, out any) {
	t.Helper()
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Minute)
	defer stop()
	path := filepath.Join(root, "venv", "bin", "python")
	cmd := exec.CommandContext(ctx, path, filepath.Join("testdata", "public.py"), root, which)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", which, err, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), out); err != nil {
		t.Fatalf("%s: %v: %.300s", which, err, stdout.String())
	}
}

// differ reports the first few disagreements and their number.
func differ(t *testing.T, compared int, lines []string) {
	t.Helper()
	t.Logf("%d compared, %d disagreements", compared, len(lines))
	for i, line := range lines {
		if i == 20 {
			t.Errorf("… and %d more", len(lines)-i)
			break
		}
		t.Error(line)
	}
}

func publicDABStep(t *testing.T, root string, g *generator) {
	cases := make([][2]string, *publicCases*5)
	for i := range cases {
		a := g.answer()
		cases[i] = [2]string{g.near(a), a}
	}
	var want []bool
	public(t, root, "dabstep", cases, &want)
	scorer := Scorer{Compat: Upstream, Plain: python(t)}
	var lines []string
	right := 0
	for i, c := range cases {
		score, err := scorer.Score(t.Context(), Task{ID: "x", Rules: "dabstep", Gold: Said(c[1])},
			&Answer{ID: "x", Value: Said(c[0])})
		if err != nil {
			t.Fatal(err)
		}
		got := score.Value == 1
		if got {
			right++
		}
		if got != want[i] {
			lines = append(lines, fmt.Sprintf("%q ~ %q is %v, public %v", c[0], c[1], got, want[i]))
		}
	}
	t.Logf("%d are right", right)
	differ(t, len(cases), lines)
}

func publicKramaBench(t *testing.T, root string, g *generator, compat Compat, which string) {
	kinds := []string{
		"numeric_exact",
		"string_exact",
		"numeric_approximate",
		"string_approximate",
		"list_exact",
		"list_approximate",
	}
	cases := make([][3]any, *publicCases)
	for i := range cases {
		kind := kinds[g.IntN(len(kinds))]
		gold := g.gold(kind)
		cases[i] = [3]any{kind, g.said(gold), gold}
	}
	var want []*float64
	public(t, root, which, cases, &want)
	scorer := Scorer{Compat: compat, Plain: python(t), Judge: sameVowels}
	var lines []string
	byKind := map[string]int{}
	for i, c := range cases {
		said, _ := json.Marshal(c[1])
		gold, _ := json.Marshal(c[2])
		got, err := scorer.Score(t.Context(),
			Task{ID: "x", Kind: c[0].(string), Rules: "kramabench", Gold: gold},
			&Answer{ID: "x", Value: said})
		if err == nil && got.Missing {
			continue // null: wrong here, whatever the public code makes of it
		}
		if got.Value > 0 {
			byKind[c[0].(string)]++
		}
		if err != nil || want[i] == nil || math.Abs(got.Value-*want[i]) > 1e-12 {
			lines = append(
				lines,
				fmt.Sprintf("%s: %s ~ %s is %v (%v), public %v", c[0], said, gold, got.Value, err,
					show(want[i])),
			)
		}
	}
	t.Logf("over 0: %v", byKind)
	differ(t, len(cases), lines)
}

func show(f *float64) string {
	if f == nil {
		return "none"
	}
	return fmt.Sprint(*f)
}

func vowels(s string) int {
	n := 0
	for _, r := range strings.ToLower(s) {
		if strings.ContainsRune("aeiou", r) {
			n++
		}
	}
	return n
}

func publicDABench(t *testing.T, root string, g *generator) {
	cases := make([][2]any, *publicCases)
	for i := range cases {
		var label [][2]string
		var said strings.Builder
		for j := range 1 + g.IntN(4) {
			name := fmt.Sprintf("field_%d", j)
			if g.IntN(12) == 0 && j > 0 {
				name = "field_0"
			}
			value := g.answer()
			label = append(label, [2]string{name, value})
			switch g.IntN(8) {
			case 0:
			case 1:
				fmt.Fprintf(&said, "@%s[%s]\n", name, g.answer())
			case 2:
				fmt.Fprintf(&said, "@%s[[%s] x\n", name, value)
			default:
				fmt.Fprintf(&said, "@@%s[%s], ", name, g.near(value))
			}
		}
		said.WriteString(" .")
		cases[i] = [2]any{said.String(), label}
	}
	var want struct {
		Fields []map[string]bool `json:"fields"`
		Totals [3]float64        `json:"totals"`
	}
	public(t, root, "dabench", cases, &want)
	var lines []string
	scores, tasks, compared := []Score{}, []Task{}, 0
	for i, c := range cases {
		gold, _ := json.Marshal(c[1])
		task := Task{ID: fmt.Sprint(i), Rules: "dabench", Gold: gold}
		score, err := Scorer{
			Compat: Upstream,
			Plain:  python(t),
		}.Score(t.Context(), task, &Answer{ID: task.ID, Value: Said(c[0].(string))})
		if err != nil {
			t.Fatal(err)
		}
		tasks, scores = append(tasks, task), append(scores, score)
		for name, right := range want.Fields[i] {
			compared++
			if (score.Parts[name] == 1) != right {
				lines = append(lines,
					fmt.Sprintf("%q ~ %s: %s is %v, public %v", c[0], gold, name, score.Parts[name], right))
			}
		}
	}
	totals := totalDABench(tasks, scores, nil)
	for i, total := range want.Totals {
		if math.Abs(totals[i].Value-total*100) > 1e-9 {
			lines = append(lines,
				fmt.Sprintf("%s is %v, public %v", totals[i].Name, totals[i].Value, total*100))
		}
	}
	t.Logf("totals %v", totals[:3])
	differ(t, compared+3, lines)
}

// publicDACode has Python make tasks with all of DA-Code's metrics.
func publicDACode(t *testing.T, root string) {
	dir := t.TempDir()
	source, err := os.ReadFile("testdata/dacode_cases.py")
	if err != nil {
		t.Fatal(err)
	}
	n := *publicCases / 2
	var made int
	args, _ := json.Marshal([]any{dir, n, *publicSeed})
	if err := python(t).call(t.Context(), string(source), "main", args, &made); err != nil {
		t.Fatal(err)
	}
	suite, err := (&Benchmark{Name: "dacode", Title: "DA-Code", open: openDACode}).Open(
		filepath.Join(dir),
		Setting{},
	)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := readDACodeAnswers(filepath.Join(dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	public(
		t,
		root,
		"dacode",
		map[string]string{
			"output": filepath.Join(dir, "output"),
			"gold":   filepath.Join(dir, "da_code", "gold"),
			"evals":  filepath.Join(dir, "da_code", "configs", "eval", "eval_all.jsonl"),
		},
		&want,
	)
	scores, err := suite.Score(t.Context(), Scorer{Compat: Upstream, Python: python(t)}, answers)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	over := map[string]int{}
	for i, score := range scores {
		w, known := want[score.ID]
		if score.Value > 0 {
			over[score.Metric]++
		}
		if !known || math.Abs(score.Value-w) > 1e-9 && !(math.IsNaN(w) && score.Value == 0) {
			lines = append(
				lines,
				fmt.Sprintf("%s is %v (%s), public %v: %s", score.ID, score.Value, score.Detail, w,
					suite.Tasks[i].Gold),
			)
		}
	}
	t.Logf("over 0: %v", over)
	differ(t, len(scores), lines)
}

// A generator makes answers of the benchmarks' kinds, and variations of them.
type generator struct{ *rand.Rand }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) word() string {
	return pick(g, strings.Split(`GlobalCard|Not Applicable|yes|no|B. BE|NL|January 2023|É Ünï|`+
		`Crossfit_Hanna|it's|say "x"|µ-wave|ÀÉ|x²|Σίσυφος|the average of all payments|a|`, "|")...)
}

func (g *generator) number() string {
	f := pick(g, g.Float64(), g.Float64()*100, g.NormFloat64()*1e5, float64(g.IntN(50)),
		float64(g.IntN(5000000)), g.Float64()*1e-6, g.Float64()*1e18)
	grouped := fmt.Sprintf("$%d,%03d", g.IntN(1000), g.IntN(1000))
	format := pick(g, "%v", "%.0f", "%.2f", "%.6f", "%g", "%.1f%%", "%.3f EUR")
	comma := strings.Replace(fmt.Sprintf("%.2f", math.Abs(f)), ".", ",", 1)
	return pick(g, fmt.Sprintf(format, f), fmt.Sprintf(format, f), grouped, comma)
}

func (g *generator) answer() string {
	switch g.IntN(6) {
	case 0:
		return g.word()
	case 1, 2:
		return g.number()
	case 3:
		return g.word() + ":" + g.number()
	case 4:
		var items []string
		for range g.IntN(5) {
			items = append(items, pick(g, g.word(), g.number(), g.word()+": "+g.number()))
		}
		s := strings.Join(items, pick(g, ", ", ",", "; ", ";"))
		return pick(g, "["+s+"]", s, "['"+s+"']")
	}
	return strings.Repeat(g.word()+" "+pick(g, "and ", "or ", ""), 1+g.IntN(12)) // autojunk
}

// near changes a text slightly or not at all.
func (g *generator) near(s string) string {
	for range g.IntN(6) {
		words, parts := strings.Fields(s+" a"), strings.Split(s, ", ")
		g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		other := []rune(s + "x")
		other[g.IntN(len(other))] = pick(g, 'x', '9', ' ', ',', '-')
		all := []string{strings.ToUpper(s), " " + s + "\n", "-" + s, g.word() + " " + s, g.answer(),
			s + pick(g, ".", "%", ",", " EUR", "\u00a0", "\x1c", "0", "]", "!"), string(other),
			pick(g, words...), strings.Join(parts, pick(g, ", ", ";", ","))}
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			all = append(all, fmt.Sprintf("%.*f", g.IntN(6), f),
				fmt.Sprint(f*pick(g, 1, 1.00005, 1.0002, 1.01, 0.99995, 100)))
		}
		s = pick(g, all...)
	}
	return s
}

// gold returns a right answer of a KramaBench type, sometimes of another type.
func (g *generator) gold(kind string) any {
	f := pick(g, g.Float64(), g.Float64()*1e4, g.NormFloat64()*1e-9, g.Float64()*1e17, 0)
	number := pick[any](g, json.Number(fmt.Sprintf("%.*f", 1+g.IntN(4), f)), f,
		json.Number(fmt.Sprint(g.IntN(500))), json.Number("12345678901234567890"))
	switch kind, _, _ = strings.Cut(kind, "_"); {
	case g.IntN(25) == 0:
		return pick[any](g, g.word(), number, true)
	case kind == "numeric":
		return number
	case kind == "string":
		return g.word()
	}
	list, item := []any{}, pick(g, "numeric", "string")
	for range g.IntN(6) {
		list = append(list, g.gold(item))
	}
	return list
}

// said returns an answer close to a right one, as a value or as text.
func (g *generator) said(gold any) any {
	value, factor := gold, pick(g, 1, 1+1e-7, 1+1e-5, 1.005, 1.02, 20, -1)
	switch v := gold.(type) {
	case json.Number:
		f, _ := v.Float64()
		value = pick[any](g, v, f*factor, string(v), string(v)+"%", math.Round(f), f+0.4)
	case float64:
		value = pick[any](g, v, v*factor, fmt.Sprint(v))
	case string:
		value = pick[any](g, v, g.near(v), []any{v})
	case []any:
		list := []any{}
		for _, item := range v {
			if g.IntN(6) > 0 {
				list = append(list, g.said(item))
			}
		}
		g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		value = list
	}
	text, _ := json.Marshal(value)
	python := strings.NewReplacer(`"`, "'", "true", "True", "false", "False", "null", "None")
	switch g.IntN(12) {
	case 0:
		return string(text)
	case 1:
		return python.Replace(string(text))
	case 2:
		return pick[any](g, g.word(), g.number(), true, map[string]any{"a": 1}, []any{})
	}
	return value
}
