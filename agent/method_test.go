package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// A choice is what judge and router say in a round. Route is 0 for Add Step.
type choice struct {
	sufficient bool
	route      int
}

// A request is what a role is expected to be asked.
type request struct {
	key   string
	parts []prompts.Part
}

// algorithm1 is DS-STAR's Algorithm 1, line by line, with its indices: k counts
// rounds from 0, p is the plan, as the rounds in which its steps were planned.
// It returns the plan as it is judged in each round, and all requests.
//
// Two things differ from the paper's text. Line 21 says l = k, which is the last
// step only until a step was dropped. And after the last verdict nothing more is
// planned, which would never be judged.
func algorithm1(m int, of func(k int) choice, ask asker) (judged [][]int, asked []request) {
	asked = append(asked, ask.analyzer()) // lines 3 to 6
	p := []int{0}
	asked = append(asked, ask.plan(nil, -1), ask.code(nil, 0)) // lines 8 to 11
	for k := range m {
		judged = append(judged, slices.Clone(p))
		asked = append(asked, ask.verify(p, k)) // line 13
		v := of(k)
		if v.sufficient {
			break // line 15
		}
		if k == m-1 {
			break
		}
		asked = append(asked, ask.route(p, k)) // line 17
		l := len(p) - 1                        // line 21
		if v.route > 0 {
			w := v.route - 1 // lines 18 and 19; the paper counts steps from 0
			l = w - 1
			ask.drop(p[l+1:], k)
		}
		p = p[:l+1]                             // line 23
		asked = append(asked, ask.plan(p, k))   // line 24
		asked = append(asked, ask.code(p, k+1)) // line 26
		p = append(slices.Clone(p), k+1)        // line 25
	}
	asked = append(asked, ask.final(p, of(judgedLast(judged)), judgedLast(judged)))
	return judged, slices.DeleteFunc(asked, func(r request) bool { return r.key == "" })
}

func judgedLast(judged [][]int) int { return len(judged) - 1 }

// An asker says what the roles are asked when the plan is p after round k.
type asker interface {
	analyzer() request
	plan(p []int, k int) request
	code(p []int, k int) request
	verify(p []int, k int) request
	route(p []int, k int) request
	final(p []int, v choice, k int) request
	drop(rounds []int, k int)
}

func stepText(k int) string { return fmt.Sprintf("Do thing %d.", k) }
func stepCode(k int) string { return fmt.Sprintf("x = %d\nprint(x)", 1000+k) }
func stepOut(k int) string  { return fmt.Sprintf("%d\n", 1000+k) }
func lacking(k int) string  { return fmt.Sprintf("the sum of thing %d", k) }
func key(role string, k int) string {
	return fmt.Sprintf("%s round %d", role, k+1)
}

var (
	taskParts = prompts.Context{Question: "How many?", Guidelines: aNumber,
		Files: []prompts.File{{Path: `"data/a.csv"`, Size: "10 bytes", Description: "a table"}}}
	analyzerParts = request{"analyzer a.csv", []prompts.Part{
		prompts.Analyzer{Path: `"data/a.csv"`, Size: "10 bytes", Chars: 1500}}}
)

// ownWay is dsstar's: a notebook, and verdicts with reasons.
type ownWay struct{ dropped map[int]int }

func (ownWay) analyzer() request { return request{} } // a program describes the files

func (w ownWay) drop(rounds []int, k int) {
	for _, i := range rounds {
		w.dropped[i] = k
	}
}

func (w ownWay) begin(p []int) []prompts.Part {
	parts := []prompts.Part{taskParts}
	var nb prompts.Notebook
	for i, k := range p {
		nb.Steps = append(nb.Steps, prompts.Step{Number: i + 1, Text: stepText(k), Code: stepCode(k),
			Output: stepOut(k)})
	}
	if len(p) > 0 {
		parts = append(parts, nb)
	}
	return parts
}

func (w ownWay) plan(p []int, k int) request {
	if k < 0 {
		return request{key("solver", 0), append(w.begin(nil), prompts.Solver{First: true, Readings: true})}
	}
	next := prompts.Solver{Missing: lacking(k), Done: len(p) > 0, Readings: len(p) == 0}
	for i := range k + 1 {
		by, ok := w.dropped[i]
		if !ok {
			continue
		}
		d := prompts.Dropped{Text: stepText(i), Reason: lacking(by)}
		if d.Reason == next.Missing {
			d.Reason = "" // it stands above
		}
		if i == k {
			d.Output = stepOut(k) // r_k of line 24
		}
		next.Dropped = append(next.Dropped, d)
	}
	return request{key("solver", k+1), append(w.begin(p), next)}
}

// The solver's reply has the cell, and the judge's the wrong step.
func (ownWay) code([]int, int) request  { return request{} }
func (ownWay) route([]int, int) request { return request{} }

func (w ownWay) verify(p []int, k int) request {
	return request{key("judge", k), append(w.begin(p), prompts.Judgement{Guidelines: true})}
}

func (w ownWay) final(p []int, v choice, k int) request {
	if v.sufficient {
		return request{"second the answer", []prompts.Part{taskParts, prompts.Second{}}}
	}
	return request{"finalizer the answer", append(w.begin(p),
		prompts.Finalizer{Guidelines: true, Missing: lacking(k)})}
}

// papersWay is Appendix H's: whole scripts, of which the last is the base also
// after the plan was cut, and verdicts in one word.
type papersWay struct{}

func (papersWay) analyzer() request { return analyzerParts }
func (papersWay) drop([]int, int)   {}

func texts1(p []int) (all []string) {
	for _, k := range p {
		all = append(all, stepText(k))
	}
	return all
}

func (papersWay) plan(p []int, k int) request {
	if k < 0 { // Listing 47
		return request{key("planner", 0), []prompts.Part{taskParts, prompts.PaperPlanner{First: true}}}
	}
	return request{key("planner", k+1), []prompts.Part{ // Listing 48
		taskParts, prompts.PaperScript{Plan: texts1(p), Ran: true, Output: stepOut(k)},
		prompts.PaperPlanner{Done: len(p) > 0}}}
}

func (papersWay) code(p []int, k int) request {
	coder := prompts.PaperCoder{Number: len(p) + 1, Step: stepText(k), First: k == 0}
	if k == 0 { // Listing 49
		return request{key("coder", 0), []prompts.Part{taskParts, coder}}
	}
	return request{key("coder", k), []prompts.Part{ // Listing 50
		taskParts, prompts.PaperScript{Plan: texts1(p), Code: stepCode(k - 1)}, coder}}
}

func (papersWay) verify(p []int, k int) request { // Listing 51
	return request{key("verifier", k), []prompts.Part{
		prompts.PaperScript{Plan: texts1(p), Code: stepCode(k), Ran: true, Output: stepOut(k)},
		prompts.PaperVerifier{Question: "How many?"}}}
}

func (papersWay) route(p []int, k int) request { // Listing 52
	return request{key("router", k), []prompts.Part{
		taskParts, prompts.PaperScript{Plan: texts1(p), Ran: true, Output: stepOut(k)},
		prompts.PaperRouter{Steps: len(p)}}}
}

func (papersWay) final(_ []int, _ choice, k int) request { // Listing 53
	return request{"finalizer the answer", []prompts.Part{
		taskParts, prompts.PaperScript{Code: stepCode(k), Ran: true, Output: stepOut(k)},
		prompts.PaperFinalizer{Guidelines: true}}}
}

// compare plays a script of choices and holds plan, requests and their words to
// Algorithm 1.
func compare(t stageHand, m int, method record.Method, choices []choice) *played {
	t.Helper()
	of := func(k int) choice { return choices[k] }
	last := "y = x\nprint(y)"
	replies := simple.with(script{"last": last, "finalizer": last})
	var how asker = ownWay{map[int]int{}}
	if method.Script {
		how, last = papersWay{}, "x = 7\nprint(x)"
		replies = published.with(script{"finalizer": last})
	}
	for k, c := range choices {
		replies[key("planner", k)], replies[key("coder", k)] = stepText(k), stepCode(k)
		replies[key("step", k)], replies[key("cell", k)] = stepText(k), stepCode(k)
		replies[key("verifier", k)], replies[key("verdict", k)] = "No", "Verdict: unfinished\nReason: "+lacking(k)
		replies[key("router", k)] = "Add Step"
		if c.route > 0 {
			replies[key("router", k)] = fmt.Sprintf("Step %d", c.route)
			replies[key("verdict", k)] = "Verdict: insufficient\nReason: " + lacking(k)
			replies[key("wrong", k)] = fmt.Sprint(c.route)
		}
		if c.sufficient {
			replies[key("verifier", k)], replies[key("verdict", k)] = "Yes", yes
		}
	}
	judged, want := algorithm1(m, of, how)
	var plans [][]int
	p := play(t, replies, func(s *stage) {
		s.config.Method, s.config.MaxRounds = method, m
		s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
			if e.Kind == agent.Judged { // the plan before the route
				last := &tr.Rounds[len(tr.Rounds)-1]
				route := last.Route
				last.Route = nil
				plans = append(plans, tr.Plan())
				last.Route = route
			}
			return nil
		}
	}).noError(t)
	equal(t, "plans", plans, judged)
	set, err := loadPrompts()
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, r := range want {
		keys = append(keys, r.key)
		text, err := set.Text(r.parts...)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, r.key, p.model.prompt(t, r.key), text)
	}
	equal(t, "requests", p.model.asked, keys)
	if p.Sufficient() != choices[len(judged)-1].sufficient || p.Answer() == "" || !p.Proof.Same {
		t.Errorf("sufficient %v, answer %q, proof %+v", p.Sufficient(), p.Answer(), p.Proof)
	}
	// What Run All runs: the accepted cells, or in the paper's way the last script.
	var cells []string
	for _, k := range judged[len(judged)-1] {
		cells = append(cells, stepCode(k))
	}
	if method.Script {
		cells = nil
	}
	equal(t, "cells", p.Cells()[2:], append(cells, last))
	return p
}

var ways = map[string]record.Method{"own": {}, "paper": record.Paper()}

// TestAlgorithm1 holds the loop to Algorithm 1 over any verdicts and routes.
func TestAlgorithm1(t *testing.T) {
	once(t)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 8).Draw(t, "M")
		var choices []choice
		for steps := 1; len(choices) < m; {
			c := choice{rapid.IntRange(0, 5).Draw(t, "verdict") == 0,
				rapid.IntRange(0, steps).Draw(t, "route")}
			choices = append(choices, c)
			if steps++; c.route > 0 {
				steps = c.route
			}
		}
		name := rapid.SampledFrom([]string{"own", "paper"}).Draw(t, "way")
		compare(t, m, ways[name], choices)
	})
}

// Line 12: a plan that never suffices has exactly M rounds, and then an answer: the best there is.
func TestTwentyRounds(t *testing.T) {
	for _, method := range ways {
		p := compare(t, 20, method, make([]choice, 20))
		if len(p.Rounds) != 20 || p.Rounds[19].Route != nil || p.Verified() {
			t.Errorf("%d rounds, asked %q", len(p.Rounds), p.model.asked)
		}
	}
}

// In the paper's way every script, repaired or final, starts in a session that has parameters and
// set-up only, and a one-word verdict is all that there is of it.
func TestScriptsStartFromNothing(t *testing.T) {
	p := play(t, script{
		"analyzer": `print("a table")`, "planner": "Do it.", "router": "Add Step",
		"router round 2": "Step 1", "verifier": "No", "verifier round 3": "Yes\nReason: all is there",
		"coder round 1": "x = 1\nwrite(\"f\", x)\nprint(x)", "coder round 2": "print(x)",
		"debugger round 2, try 2": `print(read("f"))`, "debugger round 2, try 3": "x = 2\nprint(x)",
		"coder round 3": "z = 3\nprint(z)",
		"finalizer":     "print(z)", "debugger the answer, try 2": "a = 4\nprint(a)",
	}, func(s *stage) { s.config.Method = record.Paper() }).noError(t)
	contains(t, p.model.prompt(t, "debugger round 2, try 2"), "NameError: name 'x' is not defined",
		"print(x)", "a table", "self-contained")
	contains(t, p.model.prompt(t, "debugger round 2, try 3"), "FileNotFoundError")
	contains(t, p.model.prompt(t, "debugger the answer, try 2"), "NameError: name 'z' is not defined")
	// Listing 56: files, code, error; neither plan nor base code.
	lacks(t, p.model.prompt(t, "debugger round 2, try 2"), "x = 1", "# The plan so far",
		"# The script so far", "session")
	work := p.world.of(agent.Work)[0]
	for _, cells := range work.rolled {
		equal(t, "the session begins with", cells, p.Cells()[:2])
	}
	if scripts := len(work.ran) - 2; len(work.rolled) < scripts || scripts != 7 {
		t.Errorf("%d scripts ran after %d new beginnings", scripts, len(work.rolled))
	}
	equal(t, "plan", p.Plan(), []int{2})
	equal(t, "cells", p.Cells()[2:], []string{"a = 4\nprint(a)"})
	if p.Answer() != "4" || !p.Proof.Same || strings.Count(p.Script(), "# %%") != 3 {
		t.Errorf("answer %q, proof %+v, script\n%s", p.Answer(), p.Proof, p.Script())
	}
	for key, text := range p.model.texts {
		lacks(t, text, "judged", "Missing", "is missing", "all is there")
		if strings.HasPrefix(key, "verifier") {
			lacks(t, text, "data/a.csv", "a table", "A value.")
		}
	}
}

// Each request carries the inputs by which a recorded reply is known to fit: a replay must notice
// what the role has seen changing.
func TestInputs(t *testing.T) {
	p := play(t, simple.with(script{"verdict round 1": no})).noError(t)
	for key, inputs := range map[string]string{
		"solver round 1":    "question guidelines files descriptions",
		"solver round 2":    "missing plan code results",
		"judge round 2":     "plan code results descriptions",
		"second the answer": "question guidelines files descriptions",
	} {
		for _, name := range strings.Fields(inputs) {
			if p.model.requests[key].Inputs[name] == "" {
				t.Errorf("%s: no input %q in %v", key, name, p.model.requests[key].Inputs)
			}
		}
	}
}
