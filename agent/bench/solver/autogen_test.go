package solver_test

import (
	"testing"

	"dsstar/agent/bench/solver"
)

func TestAutoGen(t *testing.T) {
	p := run(t, "autogen", solver.Options{}, script{"assistant": {
		"The plan.\n\n```sh\nls\n```\n\n```python\nraise(x)\n```\n\n```python\nprint(\"never\")\n```",
		"```julia\nx\n```", "Hm.", "cut:abc",
		"```python\nprint(\"seven\")\n```", "All checked.\n\nAnswer: 7", "**TERMINATE**.",
	}})
	r := p.result
	if r.Answer != "7" || !r.Finished || r.Rounds != 7 || r.Executions != 3 || r.Failed != 1 {
		t.Errorf("the result is %+v", r)
	}
	same(t, "the cells", []string{`bash("ls")`, "raise(x)", `print("seven")`}, p.cells())
	contains(t, "message 2", p.model.text(1), "bash \"ls\"", "ValueError: x", "The code failed.")
	contains(t, "message 3", p.model.text(2), "no code block in your message")
	contains(t, "message 5", p.model.text(4), "it was cut off")
	contains(t, "message 6", p.model.text(5), "seven", "without an error")
}

func TestAutoGenOutOfReplies(t *testing.T) {
	p := run(t, "autogen", solver.Options{Steps: 1},
		script{"assistant": {"```python\nprint(\"7\")\n```", "So it is seven.\nAnswer: 7"}})
	if r := p.result; r.Answer != "7" || r.Finished || r.Rounds != 2 {
		t.Errorf("the result is %+v", r)
	}
}

func TestModelOnly(t *testing.T) {
	p := run(t, "model-only", solver.Options{}, script{"model-only": {"Seven.", "Answer: 7"}})
	if r := p.result; r.Answer != "7" || !r.Finished || r.Rounds != 1 || r.Executions != 0 ||
		r.Usage.Calls != 2 {
		t.Errorf("the result is %+v", r)
	}
	text := p.model.text(0)
	contains(t, "the request", text, "the fee is 7", "one line of many")
	if p.session.ran != nil {
		t.Error("code was run")
	}
	p = newPlay(t, script{"model-only": {"Seven.", "Seven!"}}).solve(t, t.Context(), "model-only",
		solver.Options{})
	if p.err == nil || p.result.Finished {
		t.Errorf("the error is %v", p.err)
	}
}
