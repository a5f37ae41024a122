package agent

import (
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/prompts"
)

func (r *paper) system() prompts.Part {
	return prompts.PaperSystem{Environment: r.t.Environment}
}

// sees says what a role sees.
type sees struct{ context, plan, code, output bool }

// asPublished returns what a request shows of plan and script (Appendix H).
func (r *paper) asPublished(s sees) []prompts.Part {
	var parts []prompts.Part
	if s.context {
		parts = []prompts.Part{r.question(), r.context()}
	}
	var script prompts.PaperScript
	if s.plan {
		script.Plan = r.t.StepTexts()
	}
	if last, ok := r.t.LastScript(); ok {
		if s.code {
			script.Code = last.Code
		}
		if s.output {
			script.Ran, script.Output = true, brief.Clip(last.Execution.PlainText(), r.Sizes().Result)
		}
	}
	if len(script.Plan) > 0 || script.Code != "" || script.Ran {
		parts = append(parts, script)
	}
	return parts
}

// planWords words the request for a step (Listings 47 and 48).
func (r *paper) planWords() []prompts.Part {
	parts := r.asPublished(sees{context: true, plan: true, output: true})
	return append(parts, prompts.PaperPlanner{First: len(r.t.Rounds) == 0,
		Done: len(r.t.Plan()) > 0})
}

// codeWords words the request for a script (Listings 49 and 50). Its base is the last script, also
// after the plan was cut (line 26).
func (r *paper) codeWords() []prompts.Part {
	round := r.t.Last()
	parts := r.asPublished(sees{context: true, plan: true, code: true})
	_, written := r.t.LastScript()
	coder := prompts.PaperCoder{Number: round.Place, Step: round.Step, First: !written}
	return append(parts, coder)
}

// verifyWords words the request for a verdict, which has no descriptions (Listing 51).
func (r *paper) verifyWords() []prompts.Part {
	whole := !r.t.Method.PlanOnly
	parts := r.asPublished(sees{plan: true, code: whole, output: whole})
	return append(parts, prompts.PaperVerifier{Question: r.t.Task.Question, PlanOnly: !whole})
}

// routeWords words the request for a route (Listing 52).
func (r *paper) routeWords() []prompts.Part {
	parts := r.asPublished(sees{context: true, plan: true, output: true})
	return append(parts, prompts.PaperRouter{Steps: r.t.Steps()})
}

// finalWords words the request for the script that prints the answer (Listing 53).
func (r *paper) finalWords() []prompts.Part {
	parts := r.asPublished(sees{context: true, code: true, output: true})
	return append(parts, prompts.PaperFinalizer{Guidelines: r.t.Task.Guidelines != ""})
}

// repairWords words the request to repair a script (Listing 56).
func (r *paper) repairWords(step int, text string, failed record.Attempt, report string) []prompts.Part {
	parts := r.asPublished(sees{context: true})
	return append(parts, prompts.PaperDebugger{Number: step, Step: text, Code: failed.Code, Error: report})
}
