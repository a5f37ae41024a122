package tables

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"dsstar/agent/bench/runner"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 5e-5 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestSignTest has values from R: binom.test(x, n)$p.value.
func TestSignTest(t *testing.T) {
	for _, c := range []struct {
		better, worse int
		p             float64
	}{{0, 0, 1}, {1, 0, 1}, {5, 0, 0.0625}, {0, 6, 0.03125}, {8, 2, 0.109375}, {10, 10, 1}, {60, 40,
		0.0568879}} {
		near(t, fmt.Sprint(c.better, c.worse), signTest(c.better, c.worse), c.p)
	}
}

// sample returns a run of easy and hard tasks with these scores; negative: no record.
func sample(agentName, model string, setup map[string]string, scores ...float64) runner.Result {
	r := runner.Result{Path: "runs/" + agentName,
		About: runner.About{Bench: "dabstep", Agent: agentName, Model: model, Repeat: 1, Setup: setup}}
	for i, score := range scores {
		item := runner.Item{ID: fmt.Sprint(i + 1), Level: []string{"easy", "hard"}[i%2]}
		r.Items = append(r.Items, item)
		if score < 0 {
			continue
		}
		cost, cause := 0.25, runner.Cause("")
		if score < 1 {
			cause = runner.Wrong
		}
		r.Records = append(r.Records, runner.Record{
			Task: item.ID, Repeat: 1, Level: item.Level, Answer: fmt.Sprint("answer ", i), Score: &score,
			Cause: cause, Finished: true, Rounds: 1 + i,
			Cost: &cost, Executions: 4, Failed: 1, Usage: record.Usage{Calls: 10 + i},
			Seconds:  record.Seconds{Total: float64(i)},
			Notebook: fmt.Sprintf("tasks/%d/notebook.ipynb", i+1),
		})
	}
	return r
}

func TestPaperTable(t *testing.T) {
	p, ok := Find("ds-star:1")
	if !ok {
		t.Fatal("no table ds-star:1")
	}
	table := p.With([]runner.Result{
		sample("dsstar", "gemini/gemini-2.5-pro", map[string]string{"method.paper": "true",
			"cell_timeout": "10m"}, 1, 0, 1, -1),
		sample("dsstar", "ollama/some", map[string]string{"method.readings": "false"}, 1, 1),
		{About: runner.About{Bench: "dacode", Agent: "react", Model: "m"}},
	})
	text := regexp.MustCompile(" +").ReplaceAllString(table.Markdown(), " ")
	for _, want := range []string{
		"| DS-STAR | Gemini-2.5-Pro | 87.50 | 100.00 (n 2, 34.24 to 100.00) | 45.24 | 0.00 (n 2, 0.00 " +
			"to 65.76) |",
		"| dsstar --no-readings | ollama/some |", "1 of 4 tasks have no result yet, and count as wrong",
		"react with m of dacode is not in this table",
		"dsstar bench run --bench dabstep --tasks TASKS --agent react --model PROVIDER/gemini-2.5-pro " +
			"--out OUT # ReAct, Gemini-2.5-Pro",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "--paper --out") {
		t.Errorf("a run that is there is called missing:\n%s", text)
	}
}

// settingsOf returns the settings that the flags of a row's run set.
func settingsOf(run string) map[string]string {
	setup := map[string]string{}
	for _, flag := range strings.Split(run, " --")[1:] {
		name, value, given := strings.Cut(flag, " ")
		bare, off := strings.CutPrefix(name, "no-")
		if role, model, ofRole := strings.Cut(value, "="); ofRole {
			bare, value = "models."+role, model
		} else if !given {
			value = fmt.Sprint(!off)
		}
		if bare = strings.ReplaceAll(bare, "-", "_"); !varied(bare) {
			bare = "method." + bare
		}
		setup[bare] = value
	}
	return setup
}

// TestPapers makes every table, empty and from a run. Each row has as many figures as columns,
// and matches a run made by its own command.
func TestPapers(t *testing.T) {
	for _, p := range Papers() {
		for _, row := range p.Rows {
			if len(row.Published) > len(p.columns) {
				t.Errorf("%s, %s %s: %d figures for %d columns", p.Paper, row.Framework, row.Model,
					len(row.Published), len(p.columns))
			}
			if row.run == "" {
				continue
			}
			run := sample("", "x/"+row.Model, settingsOf(row.run), 1, 0)
			run.Agent, _, _ = strings.Cut(row.run, " ")
			run.Bench = p.bench
			found := 0
			for _, made := range p.With([]runner.Result{run}).Rows {
				if made.Run != "" {
					found++
					if made.Framework != row.Framework || made.Model != row.Model {
						t.Errorf("%s: the run of %s %s is in the row of %s %s", p.Paper, row.Framework, row.Model,
							made.Framework, made.Model)
					}
				}
			}
			if found != 1 {
				t.Errorf("%s: the run of %s %s is in %d rows", p.Paper, row.Framework, row.Model, found)
			}
		}
		table := p.With(nil)
		if _, err := json.Marshal(table); err != nil || table.Markdown() == "" {
			t.Errorf("%s: %v", p.Paper, err)
		}
	}
}

// TestApart: runs that a paper's row must not include without a note.
func TestApart(t *testing.T) {
	table := func(paper string, runs ...runner.Result) string {
		p, _ := Find(paper)
		return regexp.MustCompile(" +").ReplaceAllString(p.With(runs).Markdown(), " ")
	}
	few := sample("react", "x/gemini-2.5-pro", map[string]string{"compat": "fixed",
		"temperature": "0.3", "tasks": "/t", "seed": "7"}, 1, 0)
	dev := sample("react", "x/gemini-2.5-pro", map[string]string{"split": "dev"}, 1, 0)
	usual := sample("react", "x/gemini-2.5-pro", map[string]string{"compat": "upstream"},
		make([]float64, 450)...)
	reasons := sample("react", "x/gemini-2.5-pro", map[string]string{"reasoning": "true"}, 1, 0)
	alone := sample("model-only", "x/gemini-2.5-pro", nil, 1, 1)
	warm := sample("da-agent", "x/gemini-2.5-pro",
		map[string]string{"temperature": "0.7", "cell_timeout": "5m10s"}, 1, 0)
	warm.Published = map[string]string{"temperature": "0", "cell_timeout": "5m10s"}
	machine := sample("data-interpreter", "x/gpt-4-turbo", nil, 1, 1)
	machine.Bench = "dir"
	scored := machine
	scored.Records = []runner.Record{{Task: "1", Repeat: 1, Scores: map[string]float64{"CS": 0.9}}}
	for _, c := range []struct{ what, text, want string }{
		{"few tasks", table("ds-star:1", few),
			"- react with x/gemini-2.5-pro: ours: 2 tasks, and the published figures are of 450, scored " +
				"fixed, temperature 0.3\n"},
		{"its split", table("ds-star:6", dev), "| ReAct | Gemini-2.5-Pro | 7.1 | 10.5 "},
		{"not its split", table("ds-star:6", usual), "| react | x/gemini-2.5-pro | – |"},
		{"one setting of its own", table("ds-star:6", warm),
			"ours: 2 tasks, and the published figures are of 10, temperature 0.7\n"},
		{"without", table("dabstep:1", few), "--agent react --reasoning --model PROVIDER/gemini-2.5-pro --out OUT"},
		{"the baseline's figures", table("ds-star:1", reasons),
			"| Model-only | Gemini-2.5-Pro | 66.67 | 100.00 "},
		{"the model alone", table("ds-star:1", alone), "| model-only | x/gemini-2.5-pro | – | 100.00"},
		{"a score that is not CS", table("data-interpreter:1", machine),
			"| Data Interpreter | GPT-4-Turbo | 0.98 | – |"},
		{"one that is", table("data-interpreter:1", scored), " 0.95 | 0.90 (n 1) |"},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s: the table lacks %q:\n%s", c.what, c.want, c.text)
		}
	}
	if text := table("ds-star:1", usual); strings.Contains(text, "ours:") {
		t.Errorf("a run like the published ones is noted:\n%s", text)
	}
	if text := table("data-interpreter:1"); strings.Contains(text, "bench run") {
		t.Errorf("a run is said to give CS:\n%s", text)
	}
}

func TestMeasures(t *testing.T) {
	r := sample("dsstar", "m", nil, 1, 0, 0.5, 1)
	r.Records[0].Scores = map[string]float64{"CR": 0.75}
	for _, c := range []struct {
		name string
		of   choice
		want float64
	}{
		{"score", nil, 62.5}, {"score", chosenBy("level", []string{"easy"}), 75}, {"cost", nil, 0.25},
		{"total cost", nil, 1}, {"calls", nil, 11.5}, {"rounds", chosenBy("level", []string{"hard"}), 3},
		{"more rounds", nil, 75}, {"one round", nil, 25}, {"executable", nil, 75}, {"completion", nil, 100}, {"CR", nil, 0.75},
	} {
		if v := measured(r, c.name, c.of); v == nil || v.Value != c.want {
			t.Errorf("%s: %+v, want %v", c.name, v, c.want)
		}
	}
	r.Records[1].Cost, r.Records[2].Score = nil, nil
	if v := totalCost(r, nil); v != nil {
		t.Errorf("a total that lacks a part: %+v", v)
	}
	if v := Score(r); v.N != 3 {
		t.Errorf("what cannot be scored counts: %+v", v)
	}
	r.Repeat = 2 // each has one record of two: what is missing is wrong
	if v := Score(r); math.Abs(v.Value-100.0/3) > 1e-9 || v.N != 3 {
		t.Errorf("%+v", v)
	}
}

func TestCompare(t *testing.T) {
	a := sample("react", "m", nil, 1, 0, 0, 1, 0, -1)
	b := sample("dsstar", "m", map[string]string{"max_rounds": "5"}, 1, 1, 1, 0, 1, 1)
	c, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if c.Tasks != 5 || c.Better != 3 || c.Worse != 1 || math.Abs(c.P-0.625) > 1e-9 ||
		c.Test != "McNemar" || c.B.Only != 1 {
		t.Errorf("%+v", c)
	}
	text := c.Markdown()
	for _, want := range []string{"| Score % ", "40.00", "80.00", "+40.00",
		"3 better in B, 1 worse: p = 0.6250 (McNemar test", "max_rounds: the default in A, 5 in B",
		"0: answer 1", "1 tasks have a result in B alone"} {
		if !strings.Contains(text, want) {
			t.Errorf("the comparison lacks %q:\n%s", want, text)
		}
	}
	if _, err := Compare(a, runner.Result{About: runner.About{Bench: "dacode"}}); err == nil {
		t.Error("runs of two benchmarks are compared")
	}
}

// TestSandboxIsTold: tables report a run without a sandbox.
func TestSandboxIsTold(t *testing.T) {
	a, b := sample("react", "m", nil, 1, 0), sample("react", "m", nil, 1, 0)
	for i := range a.Records {
		a.Records[i].Sandbox = "full"
	}
	b.Records[0].Sandbox, b.Records[1].Sandbox = "full", "none (of a server)"
	if notes := strings.Join(about(b), "\n"); !strings.Contains(notes,
		"1 of 2 tasks ran outside the sandbox") || len(about(a)) > 0 {
		t.Errorf("%q, %q", about(a), notes)
	}
}

// TestUsed: tables and comparisons say what each role used, and how often readings and second
// derivations changed anything.
func TestUsed(t *testing.T) {
	ours, other := sample("dsstar", "x/m", nil, 1, 0), sample("react", "x/m", nil, 1, 1)
	for i := range ours.Records {
		ours.Records[i].ByRole = map[string]record.Usage{
			"solver": {Calls: 1 + i, Usage: llm.Usage{InputTokens: 100, CachedTokens: 40, OutputTokens: 9}},
			"judge":  {Calls: 1, Usage: llm.Usage{InputTokens: 50, OutputTokens: 3}},
		}
		ours.Records[i].Derivations = record.Counts{"readings": 2, "open": 1, "changed": i, "second_derivations": 1}
	}
	c, err := Compare(ours, other)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := Find("ds-star:1")
	const want = "\ndsstar with x/m, a task:\n\n| Role | Calls | Input tokens | Cached | Output tokens |\n" +
		"| --- | --- | --- | --- | --- |\n| solver | 1.50 | 100 | 40 | 9 |\n| judge | 1.00 | 50 | 0 | 3 |\n" +
		"- readings 4, open 2, changed 1\n- second derivations 2\n"
	for name, text := range map[string]string{"table": p.With([]runner.Result{ours, other}).Markdown(),
		"comparison": c.Markdown()} {
		text = regexp.MustCompile(" +").ReplaceAllString(text, " ")
		if !strings.Contains(text, want) || strings.Contains(text, "react with x/m, a task") {
			t.Errorf("the %s is\n%s", name, text)
		}
	}
}
