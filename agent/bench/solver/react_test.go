package solver_test

import (
	"slices"
	"strings"
	"testing"

	"dsstar/agent/bench/solver"
)

func TestReact(t *testing.T) {
	p := run(t, "react", solver.Options{}, script{"react": {
		py("x = 7\nprint(x)"), "I have no code.", "cut:```python\nprint(x)\n```", py("print(y)"),
		py("hang()"), "First.\n\n```python\nprint(x)\n```\n\nThen the answer.\n\n```py\nanswer(7)\n```",
	}})
	r := p.result
	if r.Answer != "7" || !r.Finished || r.Rounds != 6 || r.Executions != 4 || r.Failed != 2 ||
		len(r.Actions) != 6 {
		t.Errorf("the result is %+v", r)
	}
	same(t, "the cells", []string{"x = 7\nprint(x)", "print(y)", "print(x)\n\nanswer(7)"}, p.cells())
	contains(t, "request 1", p.model.text(0), "What is the fee?", "A number.",
		`"data/a.txt" (13 bytes)`)
	contains(t, "request 2", p.model.text(1), "x = 7", "```\n7\n```")
	contains(t, "request 3", p.model.text(2), "it has no code block")
	contains(t, "request 4", p.model.text(3), "it was cut off")
	contains(t, "request 5", p.model.text(4), "NameError: y")
	contains(t, "request 6", p.model.text(5), "the cell ran longer than 60 s", "put back")
	same(t, "what was run again", [][]string{append(slices.Clone(p.session.ran[:3]),
		"x = 7\nprint(x)")}, p.session.rolled)

	raised := p.cell(t, "action-4")
	same(t, "the tags of a cell that raised", []string{"raises-exception"}, raised.Tags())
	contains(t, "a cell that was stopped", p.cell(t, "turn-5").Source, "hang()", "longer than 60 s")
	contains(t, "a reply without code", p.cell(t, "turn-2").Source, "I have no code.",
		"it has no code block")
	if len(p.cell(t, "action-1").Outputs) != 1 || p.cell(t, "action-6").ExecutionCount != 6 {
		t.Error("the outputs or counts are not those of the cells")
	}
}

func TestReactOutOfSteps(t *testing.T) {
	p := run(t, "react", solver.Options{Steps: 2},
		script{"react": {py("x = 7\nprint(x)"), py("print(x)"), "It must be.\n\n**Final answer:** `7`"}})
	if r := p.result; r.Answer != "7" || r.Finished || r.Rounds != 2 {
		t.Errorf("the result is %+v", r)
	}
	contains(t, "the last request", p.model.text(2), "```\n7\n```")
	contains(t, "the notebook", p.cell(t, "question").Source, "Not finished")

	p = run(t, "react", solver.Options{Steps: 1}, script{"react": {py("die()"), "I do not know."}})
	if r := p.result; r.Answer != "" || r.Finished || p.session.dead {
		t.Errorf("the result is %+v", r)
	}
}

// TestForgets: while the request is too long, the oldest exchange is dropped.
func TestForgets(t *testing.T) {
	p := run(t, "react", solver.Options{}, script{"react": {py(`print("first")`),
		py(`print("second")`), "long:", py("answer(7)")}})
	last := p.model.text(3)
	contains(t, "the request", last, "What is the fee?", "second")
	if strings.Contains(last, `print("first")`) {
		t.Error("nothing was forgotten")
	}
	p = newPlay(t, script{"react": {"long:"}}).solve(t, t.Context(), "react", solver.Options{})
	if p.err == nil {
		t.Error("a task that does not fit is no error")
	}
}

// TestHostile: a model's text is plain text in the notebook, without its thoughts, and
// observations are bounded.
func TestHostile(t *testing.T) {
	long := strings.Repeat("long ", 100)
	p := run(t, "react", solver.Options{Reasoning: true, Observation: 100}, script{"react": {
		"<think>\nHm.\n</think>\n<script>alert(1)</script> # Heading\n" + py("print(\""+long+"\")"),
		py("answer(7)"),
	}})
	said := p.cell(t, "turn-1").Source
	for _, bad := range []string{"<script>", "\n# Heading", "Hm."} {
		if strings.Contains(said, bad) {
			t.Errorf("%q is in %s", bad, said)
		}
	}
	if n := len(p.result.Actions[0].Observation); n > 200 {
		t.Errorf("the observation has %d bytes", n)
	}
}

// TestManyFiles: the files whose names are least similar to the question are only counted, and
// none is called described.
func TestManyFiles(t *testing.T) {
	p := newPlay(t, script{"model-only": {"Answer: 7"},
		"react": {"Thought: I know.\n```python\nfinal_answer(7)\n```"}})
	p.cfg.TopK = 1
	p.task.Question = "What is the b of 2023?"
	p.solve(t, t.Context(), "react", solver.Options{})
	contains(t, "the request", p.model.text(0), `"data/b.txt" (`, "```\n\"data/a.txt\"")
	p.solve(t, t.Context(), "model-only", solver.Options{})
	contains(t, "the model's", p.model.text(len(p.model.asked)-1), "\n\"data/b.txt\" (17.0 kB)",
		"one line of many")
}
