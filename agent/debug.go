package agent

import (
	"dsstar/agent/record"
	"dsstar/prompts"
)

// repairWords ask for a cell, or in the paper's way a script, that does what the
// step says and runs (Listing 56).
func (r *run) repairWords(step int, text string, failed record.Attempt, report string) func() ([]prompts.Part, map[string]string) {
	return func() ([]prompts.Part, map[string]string) {
		debugger := prompts.Debugger{Number: step, Step: text, Code: failed.Code, Error: report, Script: r.cfg.Method.Script}
		parts, inputs := r.shared()
		if debugger.Script {
			parts, inputs = r.asPublished(sees{context: true})
		}
		inputs["step"], inputs["cell"], inputs["error"] = text, failed.Code, report
		return append(parts, debugger), inputs
	}
}
