package agent

import (
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/prompts"
)

func (r *paper) system() prompts.Part {
	return prompts.PaperSystem{Environment: r.t.Environment}
}

// sees says what a role sees.
type sees struct{ context, plan, code, output bool }

// asPublished returns the parts and inputs of a request (Appendix H).
func (r *paper) asPublished(s sees) ([]prompts.Part, map[string]string) {
	parts, inputs := r.known("")
	if !s.context {
		parts = nil
		delete(inputs, "files")
		delete(inputs, "descriptions")
	}
	var script prompts.PaperScript
	if s.plan {
		script.Plan = r.t.StepTexts()
		inputs["plan"] = strings.Join(script.Plan, "\n")
	}
	if last, ok := r.t.LastScript(); ok {
		if s.code {
			script.Code = last.Code
			inputs["code"] = script.Code
		}
		if s.output {
			script.Ran, script.Output = true, brief.Clip(last.Execution.PlainText(), r.Sizes().Result)
			inputs["results"] = script.Output
		}
	}
	if len(script.Plan) > 0 || script.Code != "" || script.Ran {
		parts = append(parts, script)
	}
	return parts, inputs
}

// planWords words the request for a step (Listings 47 and 48).
func (r *paper) planWords() ([]prompts.Part, map[string]string) {
	parts, inputs := r.asPublished(sees{context: true, plan: true, output: true})
	return append(parts, prompts.PaperPlanner{First: len(r.t.Rounds) == 0,
		Done: len(r.t.Plan()) > 0}), inputs
}

// codeWords words the request for a script (Listings 49 and 50). Its base is the last script, also
// after the plan was cut (line 26).
func (r *paper) codeWords() ([]prompts.Part, map[string]string) {
	round := r.current()
	parts, inputs := r.asPublished(sees{context: true, plan: true, code: true})
	coder := prompts.PaperCoder{Number: r.t.StepOf(len(r.t.Rounds) - 1), Step: round.Step,
		First: inputs["code"] == ""}
	inputs["step"] = round.Step
	return append(parts, coder), inputs
}

// verifyWords words the request for a verdict, which has no descriptions (Listing 51).
func (r *paper) verifyWords() ([]prompts.Part, map[string]string) {
	whole := !r.t.Method.PlanOnly
	parts, inputs := r.asPublished(sees{plan: true, code: whole, output: whole})
	return append(parts, prompts.PaperVerifier{Question: r.t.Task.Question, PlanOnly: !whole}), inputs
}

// routeWords words the request for a route (Listing 52).
func (r *paper) routeWords() ([]prompts.Part, map[string]string) {
	parts, inputs := r.asPublished(sees{context: true, plan: true, output: true})
	return append(parts, prompts.PaperRouter{Steps: r.t.Steps()}), inputs
}

// finalWords words the request for the script that prints the answer (Listing 53). Recorded
// requests have the two empty inputs.
func (r *paper) finalWords() ([]prompts.Part, map[string]string) {
	parts, inputs := r.asPublished(sees{context: true, code: true, output: true})
	inputs["missing"], inputs["reason"] = "", ""
	return append(parts, prompts.PaperFinalizer{Guidelines: r.t.Task.Guidelines != ""}), inputs
}

// repairWords words the request to repair a script (Listing 56).
func (r *paper) repairWords(step int, text string, failed record.Attempt,
	report string) func() ([]prompts.Part, map[string]string) {
	return func() ([]prompts.Part, map[string]string) {
		parts, inputs := r.asPublished(sees{context: true})
		inputs["step"], inputs["cell"], inputs["error"] = text, failed.Code, report
		return append(parts, prompts.PaperDebugger{Number: step, Step: text, Code: failed.Code,
			Error: report}), inputs
	}
}
