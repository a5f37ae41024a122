package main

import (
	"cmp"
	"context"

	"dsstar/agent"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
)

// unsound returns why functions do not hold on the data of a task, whose folder is absolute, by their
// names. A function that calls one of these does not hold, either. The cases of all run in one
// process, as each takes a second to start, and alone only if one does not hold.
func unsound(ctx context.Context, run agent.RunScript, task record.Task,
	tools []lesson.Tool) (map[string]string, error) {
	why := map[string]string{}
	tests := ""
	for _, t := range tools {
		tests += t.Test + "\n"
	}
	reason, err := agent.ToolFault(ctx, run, task, lesson.Module(tools), tests)
	if err != nil || reason == "" {
		return why, err
	}
	for _, t := range tools {
		module := lesson.Module(lesson.Needed(tools, t.Name))
		if why[t.Name], err = agent.ToolFault(ctx, run, task, module, t.Test); err != nil {
			return nil, err
		}
	}
	for _, t := range tools {
		for _, needed := range lesson.Needed(tools, t.Code) {
			if fault := why[needed.Name]; fault != "" {
				why[t.Name] = cmp.Or(why[t.Name], "it needs "+needed.Name+": "+fault)
			}
		}
	}
	return why, nil
}
