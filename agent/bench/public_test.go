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
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	publicCases = flag.Int("public-cases", 2000, "answers that TestPublicScorers makes for each scorer")
	publicSeed  = flag.Uint64("public-seed", 1, "the seed that they are made from")
)

// TestPublicScorers compares scores with those of the public code, run from checkouts in the
// folder that DSSTAR_PUBLIC_SCORERS names (CONTRIBUTING.md says which), over generated
// answers.
func TestPublicScorers(t *testing.T) {
	root := os.Getenv("DSSTAR_PUBLIC_SCORERS")
	if root == "" {
		t.Skip("DSSTAR_PUBLIC_SCORERS names no folder with the public repositories")
	}
	gen := func() *generator { return &generator{rand.New(rand.NewPCG(*publicSeed, 8))} }
	t.Run("dabstep", func(t *testing.T) { publicDABStep(t, root, gen()) })
	t.Run("kramabench-june", func(t *testing.T) { publicKramaBench(t, root, gen(), Upstream, "kramabench-june") })
	t.Run("kramabench", func(t *testing.T) { publicKramaBench(t, root, gen(), Fixed, "kramabench") })
	t.Run("dabench", func(t *testing.T) { publicDABench(t, root, gen()) })
	t.Run("charts", func(t *testing.T) { publicCharts(t, root, gen()) })
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
		score, err := scorer.Score(t.Context(), Task{ID: "x", Rules: "dabstep", Gold: Said(c[1])}, &Answer{ID: "x", Value: Said(c[0])})
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
	kinds := []string{"numeric_exact", "string_exact", "numeric_approximate", "string_approximate", "list_exact", "list_approximate"}
	cases := make([][3]any, *publicCases)
	for i := range cases {
		kind := kinds[g.IntN(len(kinds))]
		gold := g.gold(kind)
		cases[i] = [3]any{kind, g.said(gold), gold}
	}
	var want []*float64
	public(t, root, which, cases, &want)
	scorer := Scorer{Compat: compat, Plain: python(t), Judge: func(_ context.Context, a, b string) (bool, error) { return vowels(a) == vowels(b), nil }}
	var lines []string
	byKind := map[string]int{}
	for i, c := range cases {
		said, _ := json.Marshal(c[1])
		gold, _ := json.Marshal(c[2])
		got, err := scorer.Score(t.Context(), Task{ID: "x", Kind: c[0].(string), Rules: "kramabench", Gold: gold}, &Answer{ID: "x", Value: said})
		if err == nil && got.Missing {
			continue // null: wrong here, whatever the public code makes of it
		}
		if got.Value > 0 {
			byKind[c[0].(string)]++
		}
		if err != nil || want[i] == nil || math.Abs(got.Value-*want[i]) > 1e-12 {
			lines = append(lines, fmt.Sprintf("%s: %s ~ %s is %v (%v), public %v", c[0], said, gold, got.Value, err, show(want[i])))
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
		score, err := Scorer{Compat: Upstream, Plain: python(t)}.Score(t.Context(), task, &Answer{ID: task.ID, Value: Said(c[0].(string))})
		if err != nil {
			t.Fatal(err)
		}
		tasks, scores = append(tasks, task), append(scores, score)
		for name, right := range want.Fields[i] {
			compared++
			if (score.Parts[name] == 1) != right {
				lines = append(lines, fmt.Sprintf("%q ~ %s: %s is %v, public %v", c[0], gold, name, score.Parts[name], right))
			}
		}
	}
	totals := totalDABench(tasks, scores, nil)
	for i, total := range want.Totals {
		if math.Abs(totals[i].Value-total*100) > 1e-9 {
			lines = append(lines, fmt.Sprintf("%s is %v, public %v", totals[i].Name, totals[i].Value, total*100))
		}
	}
	t.Logf("totals %v", totals[:3])
	differ(t, compared+3, lines)
}

// publicCharts compares the data extracted from plotting code.
func publicCharts(t *testing.T, root string, g *generator) {
	folders := make([]string, max(1, *publicCases/20))
	var lines []string
	got := make([]string, len(folders))
	for i := range folders {
		folders[i] = write(t, map[string]string{"plot.py": g.plot(), "r.png": ""})
		why, err := Chart(t.Context(), python(t), folders[i], Upstream)
		if err != nil {
			t.Fatal(err)
		}
		got[i] = why
	}
	var want [][2]json.RawMessage
	public(t, root, "charts", folders, &want)
	kinds := map[string]int{}
	for i, folder := range folders {
		var settings [2]map[string]any
		text, _ := os.ReadFile(filepath.Join(folder, "dabench", "plot.json"))
		_ = json.Unmarshal(text, &settings[0]) // nothing, if no chart was found
		if err := json.Unmarshal(want[i][0], &settings[1]); err != nil {
			t.Fatal(err)
		}
		for _, s := range settings {
			if colors, ok := s["color"].([]any); ok { // a set upstream
				slices.SortFunc(colors, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
			}
		}
		data, err := python(t)(t.Context(), fmt.Sprintf("import json, os, numpy as np\np = %q\nd = np.load(p) if os.path.exists(p) else None\n"+
			"print(json.dumps(None if d is None else [list(d.shape), d.flatten().tolist()]))", filepath.Join(folder, "dabench", "result.npy")))
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := settings[1]["type"].(string)
		kinds[kind]++
		code, _ := os.ReadFile(filepath.Join(folder, "plot.py"))
		if diff := cmp.Diff(settings[1], settings[0]); diff != "" {
			lines = append(lines, fmt.Sprintf("%s\n%s%s", code, diff, got[i]))
		}
		if strings.TrimSpace(data) != string(want[i][1]) {
			lines = append(lines, fmt.Sprintf("%s\ndata are %s, public %s", code, data, want[i][1]))
		}
	}
	t.Logf("kinds: %v", kinds)
	differ(t, len(folders), lines)
}

// plot returns a program that draws a chart.
func (g *generator) plot() string {
	list := func(n int) string {
		var items []string
		for range n {
			items = append(items, fmt.Sprintf("%.2f", g.Float64()*100-10))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	n := 1 + g.IntN(5)
	body := []func() string{
		func() string { return fmt.Sprintf("ax.bar(range(%d), %s, label='a')\n", n, list(n)) },
		func() string { return fmt.Sprintf("ax.barh([str(i) for i in range(%d)], %s)\n", n, list(n)) },
		func() string {
			return fmt.Sprintf("ax.bar([i - .2 for i in range(%d)], %s, .4, label='a')\nax.bar([i + .2 for i in range(%d)], %s, .4, color='green', label='b')\n", n, list(n), n, list(n))
		},
		func() string {
			return fmt.Sprintf("ax.plot(%s, label='a')\nax.plot(%s, color=(.1, .2, .3), label='b')\n", list(n+1), list(n+g.IntN(3)))
		},
		func() string {
			return fmt.Sprintf("ax.pie([abs(x) for x in %s], labels=list('abcdef')[:%d])\n", list(n), n)
		},
		func() string { return fmt.Sprintf("ax.scatter(%s, %s, label='a')\n", list(n), list(n)) },
		func() string { return fmt.Sprintf("ax.hist(%s, bins=3)\n", list(n)) },
		func() string { return fmt.Sprintf("ax.scatter(%s, %s)\nax.plot(%s)\n", list(n), list(n), list(n+1)) },
		func() string { return "" },
	}[g.IntN(9)]()
	if g.IntN(2) == 0 {
		body += fmt.Sprintf("ax.set_title(%q)\nax.set_xlabel('x')\nax.set_ylabel('y y')\n", g.word())
	}
	if g.IntN(2) == 0 {
		body += "ax.legend(title='Kind')\n"
	}
	return fmt.Sprintf("import matplotlib.pyplot as plt\nfig, ax = plt.subplots(figsize=(%d, 6))\n%splt.savefig('r.png')\nplt.show()\n", 4+g.IntN(6), body)
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
	suite, err := (&Benchmark{Name: "dacode", Title: "DA-Code", open: openDACode}).Open(filepath.Join(dir), Setting{})
	if err != nil {
		t.Fatal(err)
	}
	answers, err := readDACodeAnswers(filepath.Join(dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	public(t, root, "dacode", map[string]string{"output": filepath.Join(dir, "output"), "gold": filepath.Join(dir, "da_code", "gold"),
		"evals": filepath.Join(dir, "da_code", "configs", "eval", "eval_all.jsonl")}, &want)
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
			lines = append(lines, fmt.Sprintf("%s is %v (%s), public %v: %s", score.ID, score.Value, score.Detail, w, suite.Tasks[i].Gold))
		}
	}
	t.Logf("over 0: %v", over)
	differ(t, len(scores), lines)
}

// A generator makes answers of the benchmarks' kinds, and variations of them.
type generator struct{ *rand.Rand }

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *generator) word() string {
	return g.pick("GlobalCard", "NexPay", "Not Applicable", "yes", "no", "B. BE", "Martinis Fine Steakhouse", "NL", "January 2023", "É Ünï", "Crossfit_Hanna",
		"Wollaston Beach", "it's", `say "x"`, "µ-wave", "ÀÉ", "x²", "Σίσυφος", "the average of all payments in the year", "a", "")
}

func (g *generator) number() string {
	f := []float64{g.Float64(), g.Float64() * 100, g.NormFloat64() * 1e5, float64(g.IntN(50)), float64(g.IntN(5000000)), g.Float64() * 1e-6, g.Float64() * 1e18}[g.IntN(7)]
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("%.0f", f)
	case 1:
		return fmt.Sprintf("%.2f", f)
	case 2:
		return fmt.Sprintf("%.6f", f)
	case 3:
		return fmt.Sprintf("%g", f)
	case 4:
		return fmt.Sprintf("%.1f%%", f)
	case 5:
		return "$" + grouped(int(math.Abs(f))%10000000)
	case 6:
		return fmt.Sprintf("%.3f EUR", f)
	case 7:
		return strings.Replace(fmt.Sprintf("%.2f", math.Abs(f)), ".", ",", 1)
	}
	return fmt.Sprintf("%v", f)
}

func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
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
			items = append(items, g.pick(g.word(), g.number(), fmt.Sprint(g.IntN(500)), g.word()+": "+g.number()))
		}
		s := strings.Join(items, g.pick(", ", ",", "; ", ";"))
		return g.pick("["+s+"]", s, "['"+s+"']")
	}
	return strings.Repeat(g.word()+" "+g.pick("and ", "or ", ""), 1+g.IntN(12)) // long ones reach autojunk
}

// near changes a text slightly or not at all.
func (g *generator) near(s string) string {
	for range g.IntN(6) {
		r := []rune(s)
		switch g.IntN(11) {
		case 0:
			s = strings.ToUpper(s)
		case 1:
			s = " " + s + "\n"
		case 2:
			s += g.pick(".", "%", ",", " EUR", "\u00a0", "\x1c", "0", "]", "!")
		case 3:
			if len(r) > 0 {
				i := g.IntN(len(r))
				s = string(r[:i]) + g.pick("", "x", "9", " ", ",", "-") + string(r[i+1:])
			}
		case 4:
			s = "-" + s
		case 5:
			if parts := strings.Split(s, ", "); len(parts) > 1 {
				g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
				s = strings.Join(parts, g.pick(", ", ";", ","))
			}
		case 6:
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				s = fmt.Sprint(f * g.pickFloat(1, 1.00005, 1.0002, 1.01, 0.99995, 100))
			}
		case 7:
			if f, err := strconv.ParseFloat(s, 64); err == nil {
				s = fmt.Sprintf("%.*f", g.IntN(6), f)
			}
		case 8:
			if words := strings.Fields(s); len(words) > 0 {
				s = words[g.IntN(len(words))]
			}
		case 9:
			s = g.word() + " " + s
		case 10:
			s = g.answer()
		}
	}
	return s
}

func (g *generator) pickFloat(from ...float64) float64 { return from[g.IntN(len(from))] }

// gold returns a right answer of a KramaBench type, sometimes of another type.
func (g *generator) gold(kind string) any {
	number := func() any {
		f := []float64{g.Float64(), g.Float64() * 1e4, g.NormFloat64() * 1e-9, g.Float64() * 1e17, 0}[g.IntN(5)]
		if g.IntN(2) == 0 {
			return json.Number(fmt.Sprintf("%.*f", 1+g.IntN(4), f))
		}
		return []any{json.Number(fmt.Sprint(g.IntN(500))), f, json.Number("12345678901234567890")}[g.IntN(3)]
	}
	if g.IntN(25) == 0 {
		return []any{g.word(), number(), true}[g.IntN(3)]
	}
	switch {
	case strings.HasPrefix(kind, "numeric"):
		return number()
	case strings.HasPrefix(kind, "string"):
		return g.word()
	}
	list := []any{}
	for range g.IntN(6) {
		list = append(list, []any{g.word(), number()}[g.IntN(2)])
	}
	if g.IntN(3) == 0 {
		for i := range list {
			list[i] = number()
		}
	}
	return list
}

// said returns an answer close to a right one, as a value or as text.
func (g *generator) said(gold any) any {
	value := gold
	switch v := gold.(type) {
	case json.Number:
		f, _ := v.Float64()
		value = []any{v, f * g.pickFloat(1, 1+1e-7, 1+1e-5, 1.005, 1.02, 20, -1), string(v), string(v) + "%", json.Number(fmt.Sprintf("%.0f", f)), f + 0.4}[g.IntN(6)]
	case float64:
		value = []any{v, v * g.pickFloat(1, 1+1e-7, 1+1e-5, 1.005, 1.02, 20, -1), fmt.Sprint(v)}[g.IntN(3)]
	case string:
		value = []any{v, g.near(v), []any{v}}[g.IntN(3)]
	case []any:
		list := []any{}
		for _, item := range v {
			if g.IntN(6) > 0 {
				list = append(list, g.said(item))
			}
		}
		if g.IntN(4) == 0 {
			list = append(list, g.word())
		}
		g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		value = list
	}
	switch g.IntN(12) {
	case 0:
		text, _ := json.Marshal(value)
		return string(text)
	case 1:
		text, _ := json.Marshal(value)
		return strings.NewReplacer(`"`, "'", "true", "True", "false", "False", "null", "None").Replace(string(text)) // Python's own
	case 2:
		return []any{g.word(), g.number(), true, json.Number("3"), map[string]any{"a": 1}, []any{}}[g.IntN(6)]
	}
	return value
}
