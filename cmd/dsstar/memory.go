package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// memoryFolder returns the folder of what is known about the data; "" if memory is off or there are
// no files beside which it could be. Nothing is written into a data folder, unless one works in it.
func memoryFolder(s *configs.Settings, sources []files.Source) (string, error) {
	switch s.Memory {
	case "off":
		return "", nil
	case "auto", "":
	default:
		if filepath.IsAbs(s.Memory) { // no project's file has named it
			return s.Memory, nil
		}
		return s.Memory, checkLinks(s, "memory", s.Memory, s.Memory)
	}
	for _, source := range sources {
		if source.Database != "" || source.From != "" {
			continue
		}
		dir := filepath.Dir(source.Path)
		if source.Path == currentFolder() {
			dir = source.Path
		}
		dir = filepath.Join(dir, memory.Name)
		return dir, checkLinks(s, "memory", dir, memory.Name)
	}
	return "", nil
}

const mostProblems = 10 // that are told of a memory

// remember reads the memory of the job's data, and says what is in it.
func (a *app) remember(ctx context.Context, j *job) error {
	dir, err := memoryFolder(j.settings, j.sources)
	if dir == "" || j.settings.Method.Paper {
		return nil
	}
	var m *memory.Memory
	if err == nil {
		m, err = memory.Read(ctx, dir)
	}
	if err != nil && j.settings.Memory == "auto" && !j.settings.Learn {
		j.progress.Warn("the memory of the data is left out: %v", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("the memory of the data: %w", err)
	}
	for i, problem := range m.Problems {
		if i == mostProblems {
			j.progress.Warn("memory: and %s more", human.Plural(len(m.Problems)-i, "problem"))
			break
		}
		j.progress.Warn("memory: %s", problem)
	}
	if j.memory = m; len(m.Facts)+len(m.Tools)+len(m.Questions) > 0 {
		j.progress.Say("memory   %s: %s, %s, %s", dir, human.Plural(len(m.Facts), "fact"),
			human.Plural(len(m.Tools), "function"), human.Plural(len(m.Questions), "question"))
	}
	return nil
}

// recalled returns what the memory has for the question. Functions that no longer hold, because the
// data or the function have changed, are left out.
func (a *app) recalled(ctx context.Context, j job, config agent.Config) *record.Recalled {
	if j.memory == nil {
		return nil
	}
	r := agent.RecallFor(j.memory, j.task.Question)
	if r == nil {
		return nil
	}
	if r.Example != nil {
		j.progress.Say("memory   shown as an example: %s", ui.Fit(ui.Clean(r.Example.Question), 100))
	}
	if at := j.about(); len(r.Tools) > 0 && at.Running == nil && at.Confined {
		j.progress.Wait("testing the functions of memory")
		r.Tools = j.sound(ctx, config, r.Tools)
	} else if len(r.Tools) > 0 {
		j.progress.Say("memory   its functions are left out: no sandbox confines what they do")
		r.Tools = nil // they may come with somebody else's data
	}
	return r
}

// sound returns those of some functions whose cases hold on the data of a run, and that call none which
// does not hold. It tells of the others. The cases of all run in one process, as each takes a second to
// start, and alone only if one does not hold.
func (j job) sound(ctx context.Context, run agent.Config, tools []lesson.Tool) (sound []lesson.Tool) {
	task := j.task
	task.Data = record.Folder(run.Dir).Data(task.Data)
	fault := func(some []lesson.Tool, tests string) string {
		reason, err := agent.ToolFault(ctx, run.RunScript, task, lesson.Module(some), tests)
		if err != nil {
			reason = "it is not tested: " + err.Error()
		}
		return reason
	}
	tests, why := "", map[string]string{}
	for _, t := range tools {
		tests += t.Test + "\n"
	}
	if fault(tools, tests) != "" {
		for _, t := range tools {
			why[t.Name] = fault(lesson.Needed(tools, t.Name), t.Test)
		}
	}
	for _, t := range tools {
		reason := why[t.Name]
		for _, needed := range lesson.Needed(tools, t.Code) {
			if f := why[needed.Name]; f != "" {
				reason = cmp.Or(reason, "it needs "+needed.Name+": "+f)
			}
		}
		if reason != "" {
			j.progress.Warn("memory: the function %s is left out: %s", t.Name, reason)
			continue
		}
		t.Test = "" // the memory has it
		sound = append(sound, t)
	}
	return sound
}

const memoryHelp = `Show what earlier questions taught about the data: facts with their sources,
functions with their cases, and questions with their verified answers, the last twenty
of each. They are plain files in .dsstar beside the data, or where --memory says, which
you may read, edit and commit. To forget one, remove its line or file.

dsstar nb shows the model the facts and functions nearest to its question, and
adds to them with --learn. The nearest verified question is shown as an example,
with its cells. Definitions there bind once you have approved them.`

func (a *app) memoryCommand() cli.Command {
	data := "."
	return cli.Command{
		Use: "memory", Short: "Show what earlier questions taught about data", Long: memoryHelp,
		Example:  "  dsstar memory --data ./data",
		Flags:    []cli.Flag{cli.Opt(&data, "data,d", "Data", "the data that the memory is about")},
		Settings: "memory", Below: []cli.Command{a.approveCommand()},
		Run: func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
			j := job{settings: c.Settings, progress: a.newProgress(false)}
			defer j.progress.Stop()
			if err = a.readMemory(ctx, &j, data); err == nil {
				err = a.define(&j)
			}
			if err != nil {
				return none, err
			}
			return cli.Text(listed(j.memory)), nil
		},
	}
}

// readMemory reads the memory of some data.
func (a *app) readMemory(ctx context.Context, j *job, data string) (err error) {
	if j.sources, err = a.sources(ctx, j, []string{data}); err == nil {
		err = a.remember(ctx, j)
	}
	if err == nil && j.memory == nil {
		err = usage.New("memory is off", usage.Again("--memory", "auto"))
	}
	return err
}

// mostListed is how many facts, functions and questions are listed.
const mostListed = 20

// listed returns a line for each of the last facts, functions and questions.
func listed(m *memory.Memory) string {
	var b strings.Builder
	all := map[string][]string{
		"fact": lists.Map(m.Facts, func(f lesson.Fact) string { return ui.Printable(f.String()) }),
		"function": lists.Map(m.Tools, func(t lesson.Tool) string {
			cases := human.Plural(strings.Count("\n"+t.Test, "\nassert "), "case")
			return fmt.Sprintf("%s (%s)", ui.Clean(t.Head()), cases)
		}),
		"question": lists.Map(m.Questions, func(q memory.Question) string {
			return fmt.Sprintf("%s: %s (%s, %s)", ui.Clean(q.Question), ui.Clean(q.Answer),
				q.Asked.Local().Format(time.DateOnly), ui.Printable(q.Notebook))
		}),
	}
	for _, kind := range []string{"fact", "function", "question"} {
		more := max(0, len(all[kind])-mostListed)
		if more > 0 {
			fmt.Fprintf(&b, "%-9s %d more in %s\n", kind, more, ui.Printable(m.Dir))
		}
		for _, item := range all[kind][more:] {
			fmt.Fprintf(&b, "%-9s %s\n", kind, item)
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "Nothing yet in %s. This adds to it:  dsstar nb --learn --data PATH \"question\"\n",
			ui.Printable(m.Dir))
	}
	return b.String()
}
