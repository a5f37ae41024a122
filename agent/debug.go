package agent

import (
	"context"
	"errors"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// reportChars is the length up to which an error report, already without the
// insides of libraries, is short enough for a debugger.
const reportChars = 4000

// summarize shortens a long error report by the model (DS-STAR section 3.3);
// one that no reply shortens is cut instead.
func (r *run) summarize(ctx context.Context, subject, report, where string) (string, error) {
	if len(report) <= reportChars {
		return report, nil
	}
	q := question{"summarizer", subject, func() ([]prompts.Part, map[string]string) {
		return []prompts.Part{prompts.Summarizer{Error: brief.Clip(report, r.showing().result), Where: where}}, map[string]string{"error": report}
	}}
	short, err := ask(ctx, r, q, reply.Text)
	if _, unread := errors.AsType[*reply.Error](err); unread {
		return brief.Clip(report, reportChars), nil
	}
	return short, err
}

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
