package agent

import (
	"context"
	"slices"

	"dsstar/agent/memory"
	"dsstar/agent/record"
)

// QuestionFault runs the accepted cells of a verified run as a script, with functions in place of
// those of the same names that it had, and without those of the names gone. It returns why the
// answer is no longer printed, or "". dir is the run's folder; the task is that of today, whose
// data folder is absolute. Nothing needs to run if the run had the very same functions. The error
// is one that no code can cause.
func QuestionFault(ctx context.Context, run RunScript, task record.Task, t *record.Trajectory, dir string,
	imports []string, tools []memory.Tool, gone ...string) (string, error) {
	if t.Recalled == nil {
		return "", nil
	}
	var kept []memory.Tool
	changed := false
	for _, had := range t.Recalled.Tools {
		i := slices.IndexFunc(tools, func(tool memory.Tool) bool { return tool.Name == had.Name })
		switch {
		case i >= 0:
			changed = changed || tools[i].Code != had.Code
		case slices.Contains(gone, had.Name):
			changed = true
		default:
			kept = append(kept, had)
		}
	}
	if !changed {
		return "", nil
	}
	again := *t
	again.Task.Data, again.Task.Sources = task.Data, task.Sources
	again.Recalled = &record.Recalled{Imports: slices.Concat(t.Recalled.Imports, imports),
		Tools: slices.Concat(kept, tools)}
	p := &prover{workspace: &workspace{recorder: &recorder{t: &again}, dir: dir}, runScript: run}
	_, fault, err := p.scriptFault(ctx, p.elsewhere().Script())
	return fault, err
}

// printedBefore returns what the cells before the last one printed in the run.
func printedBefore(t *record.Trajectory) (printed string) {
	for _, i := range t.CellRounds() {
		a, _ := t.Rounds[i].Accepted()
		printed += a.Execution.Stdout()
	}
	return printed
}
