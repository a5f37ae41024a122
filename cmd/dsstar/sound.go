package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/memory"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/term"
)

// maxQuestions bounds how many questions are run again for one function before it is offered.
const maxQuestions = 5

// A checker tells whether the functions of a memory hold: by their cases, and by the verified questions
// that use them.
type checker struct {
	*app
	run      agent.RunScript
	task     record.Task              // the data, whose folder is absolute
	data     func() map[string]string // digests of the files
	thorough bool                     // with all questions, and whatever was found before
}

// checker returns one that runs scripts on the data of a task, which come from the sources.
func (a *app) checker(run agent.RunScript, task record.Task, sources []files.Source) *checker {
	return &checker{app: a, run: run, task: task,
		data: sync.OnceValue(func() map[string]string { return digests(sources, task.Files) })}
}

// toolFault returns why a function does not hold, or "". What was found is remembered while function,
// cases and data stay the same.
func (c *checker) toolFault(ctx context.Context, m *memory.Memory, tool memory.Tool) (string, error) {
	parts := []string{memory.Module(m.Imports, memory.Needed(m.Tools, tool.Name)), tool.Test, c.task.Data}
	for _, f := range c.task.Files {
		info, err := os.Stat(filepath.Join(c.task.Data, filepath.FromSlash(f.Name)))
		if err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprintf("%s %d %d", f.Name, info.Size(), info.ModTime().UnixNano()))
	}
	mark := c.mark("sound", parts)
	if exists(mark) && !c.thorough {
		return "", nil
	}
	reason, err := c.casesFault(ctx, m, tool)
	if err == nil && reason == "" {
		reason, err = c.usesFault(ctx, m, tool.Name)
	}
	if err == nil && reason == "" {
		err = setMark(mark)
	}
	return reason, err
}

// casesFault returns why the cases of a function do not hold, or "".
func (c *checker) casesFault(ctx context.Context, m *memory.Memory, tool memory.Tool) (string, error) {
	return agent.ToolFault(ctx, c.run, c.task, memory.Module(m.Imports, memory.Needed(m.Tools, tool.Name)), tool.Test)
}

// usesFault returns which question that uses a function no longer gives its answer with functions as
// they are now, or "". Questions on other data, and those whose notebooks are not there, say nothing.
func (c *checker) usesFault(ctx context.Context, m *memory.Memory, name string) (string, error) {
	now, tried := memory.Needed(m.Tools, name), 0
	for _, q := range m.Using(name) {
		if tried == maxQuestions && !c.thorough {
			break
		}
		t, _ := runOf(m, q)
		if t == nil || !q.On(c.data()) {
			continue
		}
		tried++
		reason, err := c.questionFault(ctx, m, q, t, now)
		if reason != "" || err != nil {
			return reason, err
		}
	}
	return "", nil
}

// questionFault returns why a question no longer gives its answer with functions as they are now, and
// without those that are gone, or "".
func (c *checker) questionFault(ctx context.Context, m *memory.Memory, q memory.Question, t *record.Trajectory,
	now []memory.Tool, gone ...string) (string, error) {
	dir := filepath.Dir(m.NotebookOf(q))
	reason, err := agent.QuestionFault(ctx, c.run, c.task, t, dir, m.Imports, now, gone...)
	if reason == "" || err != nil {
		return "", err
	}
	return fmt.Sprintf("the question %q no longer gives %s by it: %s", term.Fit(term.Printed(q.Question), 60),
		term.Fit(term.Printed(q.Answer), 40), reason), nil
}

// offered returns those of some functions that hold. It tells of the others, and sets those aside that
// fell if the run may learn.
func (c *checker) offered(ctx context.Context, j job, tools []memory.Tool) []memory.Tool {
	m := *j.memory
	m.Tools = tools // what the session has
	fell := map[string]bool{}
	for _, tool := range tools {
		reason, err := c.toolFault(ctx, &m, tool)
		switch {
		case err != nil:
			j.progress.Warn("memory: the function %s is not tested and left out: %v", tool.Name, err)
		case reason != "":
			j.progress.Warn("memory: the function %s is left out: %s", tool.Name, reason)
			if j.settings.Learn {
				j.memory.SetAside(tool.Name, reason)
			}
		}
		fell[tool.Name] = err != nil || reason != ""
	}
	sound, others := soundOf(tools, fell)
	for _, other := range others {
		j.progress.Warn("memory: %s", other)
	}
	for i := range sound {
		sound[i].Test = "" // the memory has it
	}
	return sound
}

// soundOf returns those of some functions that hold, without those that call one that fell, and says
// which these are.
func soundOf(tools []memory.Tool, fell map[string]bool) (sound []memory.Tool, others []string) {
	for _, tool := range tools {
		needed := memory.Needed(tools, tool.Name)
		i := slices.IndexFunc(needed, func(t memory.Tool) bool { return fell[t.Name] })
		switch {
		case i < 0:
			sound = append(sound, tool)
		case !fell[tool.Name]:
			others = append(others, fmt.Sprintf("the function %s is left out: it needs %s", tool.Name, needed[i].Name))
		}
	}
	return sound, others
}
