package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/notebook/disk"
)

// A checker tells whether the functions of a memory hold, by their cases.
type checker struct {
	*app
	run      agent.RunScript
	task     record.Task              // the data, whose folder is absolute
	state    func() ([]string, error) // what changes with the files; of any size
	thorough bool                     // whatever was found before
	idle     bool                     // runs nothing: only what has held before counts
}

// checker returns one that runs scripts on the data of a task.
func (a *app) checker(run agent.RunScript, task record.Task) *checker {
	return &checker{app: a, run: run, task: task,
		state: sync.OnceValues(func() ([]string, error) { return stateOf(task) })}
}

// toolFault returns why a function does not hold, or "". What was found is remembered while function,
// cases and data stay the same.
func (c *checker) toolFault(ctx context.Context, m *memory.Memory, tool lesson.Tool) (string, error) {
	stamp, err := c.soundStamp(m, tool)
	if err != nil || exists(stamp) && !c.thorough {
		return "", err
	}
	if c.idle {
		return "", errIdle
	}
	reason, err := agent.ToolFault(ctx, c.run, c.task, sourceOf(m, tool), tool.Test)
	if err == nil && reason == "" {
		err = setStamp(stamp)
	}
	return reason, err
}

// hold remembers functions that a run of this user has just seen hold.
func (c *checker) hold(m *memory.Memory, tools []lesson.Tool) error {
	for _, tool := range m.Tools {
		if !slices.ContainsFunc(tools, func(t lesson.Tool) bool { return t.Name == tool.Name }) {
			continue
		}
		stamp, err := c.soundStamp(m, tool)
		if err == nil {
			err = setStamp(stamp)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// errIdle is why a function is left out of sessions that nothing confines.
var errIdle = errors.New("no sandbox would confine its cases; dsstar memory check runs them all the same")

// soundStamp returns the path of the stamp that tool passed its cases on the present data.
func (c *checker) soundStamp(m *memory.Memory, tool lesson.Tool) (string, error) {
	state, err := c.state()
	return c.stamp("sound", append([]string{sourceOf(m, tool), tool.Test}, state...)), err
}

// sourceOf returns a function with those that it or its cases call.
func sourceOf(m *memory.Memory, tool lesson.Tool) string {
	return lesson.Module(lesson.Needed(m.Tools, tool.Name+"\n"+tool.Test))
}

// stateOf returns what changes when the data do, nearly always. A run may have a link to its data.
func stateOf(task record.Task) (state []string, err error) {
	for _, f := range task.Files {
		path := filepath.Join(task.Data, f.Name)
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		state = append(state, fmt.Sprintf("%s %s %d %d", f.Name, disk.RealPath(path), info.Size(),
			info.ModTime().UnixNano()))
	}
	return state, nil
}

// testTogether runs the cases of all functions in one process, as each takes a second to start, and
// remembers if they hold.
func (c *checker) testTogether(ctx context.Context, m *memory.Memory) error {
	var tests []string
	for _, tool := range m.Tools {
		stamp, err := c.soundStamp(m, tool)
		if err != nil {
			return err
		}
		if !exists(stamp) {
			tests = append(tests, tool.Test)
		}
	}
	if len(tests) < 2 || c.idle {
		return nil
	}
	reason, err := agent.ToolFault(ctx, c.run, c.task, lesson.Module(m.Tools), strings.Join(tests, "\n"))
	if err != nil || reason != "" {
		return err
	}
	return c.hold(m, m.Tools)
}

// offered returns those of some functions that hold. It tells of the others.
func (c *checker) offered(ctx context.Context, j job, tools []lesson.Tool) []lesson.Tool {
	m := *j.memory
	m.Tools = tools // what the session has
	if err := c.testTogether(ctx, &m); err != nil {
		j.progress.Warn("memory: the functions are not tested and left out: %v", err)
		return nil
	}
	fell := map[string]bool{}
	for _, tool := range tools {
		reason, err := c.toolFault(ctx, &m, tool)
		switch {
		case err != nil:
			j.progress.Warn("memory: the function %s is not tested and left out: %v", tool.Name, err)
		case reason != "":
			j.progress.Warn("memory: the function %s is left out: %s", tool.Name, reason)
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
func soundOf(tools []lesson.Tool, fell map[string]bool) (sound []lesson.Tool, others []string) {
	for _, tool := range tools {
		needed := lesson.Needed(tools, tool.Name)
		i := slices.IndexFunc(needed, func(t lesson.Tool) bool { return fell[t.Name] })
		switch {
		case i < 0:
			sound = append(sound, tool)
		case !fell[tool.Name]:
			others = append(others, fmt.Sprintf("the function %s is left out: it needs %s", tool.Name, needed[i].Name))
		}
	}
	return sound, others
}

// thoroughChecker returns a checker of all functions on the data of a job. The caller must call
// remove at the end, which removes a temporary folder.
func (a *app) thoroughChecker(ctx context.Context, j job) (c *checker, remove func(), err error) {
	if j.task, err = newTask(ctx, "the memory", "", j.sources, j.settings.Include, false); err != nil {
		return nil, nil, err
	}
	dir, err := disk.TempFolder("", "dsstar-proof-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = disk.RemoveTemp(dir) } // the next start of dsstar removes what stays
	if len(j.task.Sources) > 0 {
		j.task.Data = filepath.Join(dir, record.DataFolder)
		j.sources, err = files.Link(dir, record.DataFolder, j.task.Sources, nil)
	}
	if err == nil {
		err = j.setUpAlone(ctx, a)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	reach := site.Of(record.Folder(dir), j.task.Data)
	for _, source := range j.sources {
		if source.Path != "" {
			reach.Read = append(reach.Read, source.Path)
		}
	}
	c = a.checker(j.site.With(reach).RunScript, j.task)
	c.thorough = true
	return c, remove, nil
}
