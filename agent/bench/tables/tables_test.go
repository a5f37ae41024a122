package tables

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"dsstar/agent/bench/runner"
	"dsstar/agent/record"
)

// TestSignTest has values from R: binom.test(x, n)$p.value.
func TestSignTest(t *testing.T) {
	for of, want := range map[[2]int]float64{{0, 0}: 1, {1, 0}: 1, {5, 0}: 0.0625, {0, 6}: 0.03125,
		{8, 2}: 0.109375, {10, 10}: 1, {60, 40}: 0.0568879} {
		if p := signTest(of[0], of[1]); math.Abs(p-want) > 5e-5 {
			t.Errorf("%v: %v, want %v", of, p, want)
		}
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
			Seconds: record.Seconds{Total: float64(i)},
		})
	}
	return r
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

// with returns a table of a paper with runs, without its padding.
func with(paper string, runs ...runner.Result) string {
	for _, p := range Papers() {
		if p.Name == paper {
			return regexp.MustCompile(" +").ReplaceAllString(p.Markdown(runs), " ")
		}
	}
	return "there is no such table"
}

// TestPapers: a run that is made by the command of a row is in this row, and in no other one.
func TestPapers(t *testing.T) {
	for _, p := range Papers() {
		for i, row := range p.rows {
			run := sample("", "x/"+row.model, settingsOf(row.run), 1, 0)
			run.Agent, _, _ = strings.Cut(row.run, " ")
			for j, other := range p.rows {
				if row.run != "" && other.is(run) != (i == j) {
					t.Errorf("%s: the run of %s and the row of %s", p.Name, row.framework, other.framework)
				}
			}
		}
		if text := p.Markdown(nil); !strings.Contains(text, p.title) {
			t.Errorf("%s is %s", p.Name, text)
		}
	}
}

// TestTables: runs are in the rows where they belong, and notes say how they differ.
func TestTables(t *testing.T) {
	gemini := "x/gemini-2.5-pro"
	few := sample("react", gemini, map[string]string{"compat": "fixed", "temperature": "0.3",
		"tasks": "/t", "seed": "7"}, 1, 0)
	usual := sample("react", gemini, map[string]string{"compat": "upstream"}, make([]float64, 450)...)
	warm := sample("da-agent", gemini, map[string]string{"temperature": "0.7", "cell_timeout": "5m10s"}, 1, 0)
	warm.Published = map[string]string{"temperature": "0", "cell_timeout": "5m10s"}
	machine := sample("data-interpreter", "x/gpt-4-turbo", nil, 1, 1)
	machine.Bench = "dir"
	scored, served := machine, sample("react", "m", nil, 1, 0)
	scored.Records = []runner.Record{{Task: "1", Repeat: 1, Scores: map[string]float64{"CS": 0.9}}}
	served.Records[0].Sandbox, served.Records[1].Sandbox = "full", "none (of a server)"
	other := sample("react", "m", nil)
	other.Bench = "dacode"
	const one = "ds-star:1"
	for _, c := range []struct {
		what, paper string
		runs        []runner.Result
		want        string // "!": the table lacks what follows
	}{
		{"its row", one, []runner.Result{sample("dsstar", "gemini/gemini-2.5-pro",
			map[string]string{"method.paper": "true"}, 1, 0, 1, -1)}, "| DS-STAR | Gemini-2.5-Pro | 87.50 | " +
			"100.00 (n 2, 34.24 to 100.00) | 45.24 | 0.00 (n 2, 0.00 to 65.76) |"},
		{"one task lacks", one, []runner.Result{sample("dsstar", "m", nil, 1, -1)},
			"1 of 2 tasks have no result yet, and count as wrong"},
		{"its own row", one, []runner.Result{sample("dsstar", "ollama/some",
			map[string]string{"method.readings": "false"}, 1, 1)}, "| dsstar --no-readings | ollama/some |"},
		{"another benchmark", one, []runner.Result{other}, "react with m of dacode is not in this table"},
		{"few tasks", one, []runner.Result{few}, "- react with x/gemini-2.5-pro: ours: 2 tasks, and the " +
			"published figures are of 450, compat fixed, temperature 0.3\n"},
		{"as published", one, []runner.Result{usual}, "!ours:"},
		{"its split", "ds-star:6", []runner.Result{sample("react", gemini,
			map[string]string{"split": "dev"}, 1, 0)}, "| ReAct | Gemini-2.5-Pro | 7.1 | 10.5 "},
		{"not its split", "ds-star:6", []runner.Result{usual}, "| react | x/gemini-2.5-pro | – |"},
		{"one setting of its own", "ds-star:6", []runner.Result{warm},
			"ours: 2 tasks, and the published figures are of 10, temperature 0.7\n"},
		{"the baseline's figures", one, []runner.Result{sample("react", gemini,
			map[string]string{"reasoning": "true"}, 1, 0)}, "| Model-only | Gemini-2.5-Pro | 66.67 | 100.00 "},
		{"the model alone", one, []runner.Result{sample("model-only", gemini, nil, 1, 1)},
			"| model-only | x/gemini-2.5-pro | – | 100.00"},
		{"a score that is not CS", "data-interpreter:1", []runner.Result{machine},
			"| Data Interpreter | GPT-4-Turbo | 0.98 | – |"},
		{"one that is", "data-interpreter:1", []runner.Result{scored}, " 0.95 | 0.90 (n 1) |"},
		{"no sandbox", one, []runner.Result{served}, "1 of 2 tasks ran outside the sandbox"},
	} {
		want, lacks := strings.CutPrefix(c.want, "!")
		if text := with(c.paper, c.runs...); strings.Contains(text, want) == lacks {
			t.Errorf("%s: %q, in\n%s", c.what, c.want, text)
		}
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
	if v := measured(r, "total cost", nil); v != nil {
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
	text, err := Compare(a, b)
	for _, want := range []string{"Over 5 tasks", "| Score % ", "40.00", "80.00", "+40.00",
		"3 better in B, 1 worse: p = 0.6250 (McNemar test", "max_rounds: the default in A, 5 in B",
		"0: answer 1 (wrong answer)"} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("the comparison lacks %q: %v\n%s", want, err, text)
		}
	}
	if _, err := Compare(a, runner.Result{About: runner.About{Bench: "dacode"}}); err == nil {
		t.Error("runs of two benchmarks are compared")
	}
}
