package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/configs"
	"dsstar/notebook/human"
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
		if here, err := filepath.EvalSymlinks("."); err == nil {
			if here, err = filepath.Abs(here); err == nil && here == source.Path {
				dir = here
			}
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
	if j.anew {
		r.Example = nil // it may be the notebook of this very question
	}
	if r.Example != nil {
		j.progress.Say("memory   shown as an example: %s",
			ui.Fit(ui.Clean(r.Example.Question), 100))
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

// sound returns those of some functions that hold on the data of a run. It tells of the others.
func (j job) sound(ctx context.Context, run agent.Config, tools []lesson.Tool) []lesson.Tool {
	task := j.task
	if !filepath.IsAbs(task.Data) {
		task.Data = filepath.Join(run.Dir, task.Data)
	}
	why, err := unsound(ctx, run.RunScript, task, tools)
	if err != nil {
		j.progress.Warn("memory: the functions are not tested and left out: %v", err)
		return nil
	}
	var sound []lesson.Tool
	for _, tool := range tools {
		if fault := why[tool.Name]; fault != "" {
			j.progress.Warn("memory: the function %s is left out: %s", tool.Name, fault)
			continue
		}
		tool.Test = "" // the memory has it
		sound = append(sound, tool)
	}
	return sound
}

func fileNames(task record.Task) (names []string) {
	for _, f := range task.Files {
		names = append(names, f.Name)
	}
	return names
}

// digests returns the digest of each data file as a question's record has them; nil if data are no
// files, or cannot be read.
func digests(sources []files.Source, all []record.File) map[string]string {
	sums := files.Sums(sources, all)
	if len(sums) < len(all) {
		return nil
	}
	return folded(sums)
}

const mostDigests = 10 // of files, in the record of a question

// folded returns digests as a question's record has them: one of all, if there are many. A memory
// of thousands of questions about a thousand files would be too large to read.
func folded(sums map[string]string) map[string]string {
	if len(sums) <= mostDigests {
		return sums
	}
	all := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		_, _ = fmt.Fprintf(all, "%s\x00%s\x00", name, sums[name]) // a hash takes everything
	}
	return map[string]string{human.Plural(len(sums), "file"): hex.EncodeToString(all.Sum(nil))}
}

// before returns the run that has answered the job's question about the same data; nil if there is
// none, or a new answer is wanted.
func (a *app) before(j job) (*record.Trajectory, memory.Question) {
	if j.memory == nil || j.anew || j.review {
		return nil, memory.Question{}
	}
	q, ok := j.memory.Asked(j.task.Question, j.task.Guidelines,
		func() map[string]string { return digests(j.sources, j.task.Files) })
	if !ok {
		return nil, q
	}
	t, problem := agent.RunOf(j.memory, q)
	if t != nil && !j.about().Confined && !a.key().Holds(t.Seal) {
		t, problem = nil, "its notebook is somebody else's, and no sandbox would confine it"
	}
	if t == nil {
		j.progress.Say("memory   asked on %s, answer %s; %s", day(q.Asked), ui.Fit(q.Answer, 60),
			problem)
	}
	return t, q
}

func day(t time.Time) string { return t.Local().Format(time.DateOnly) }

// anew returns a run's trajectory with nothing proved: what was judged and derived counts only if
// this user's dsstar did it.
func (a *app) anew(t *record.Trajectory, task record.Task) *record.Trajectory {
	again := *t
	if again.Unprove(); !a.key().Holds(t.Seal) {
		again.Disown()
	}
	task.Question, task.Guidelines = t.Task.Question, t.Task.Guidelines // what was judged is in these words
	again.Task, again.Scripts = task, nil
	if again.Recalled == nil {
		again.Recalled = &record.Recalled{}
	}
	recalled := *again.Recalled
	recalled.Asked = t.Started
	again.Recalled = &recalled
	return &again
}

// answerAgain runs the notebook of a question that was answered before again, and answers the
// question anew if that no longer gives the answer.
func (a *app) answerAgain(j job, t *record.Trajectory, q memory.Question,
	run func(context.Context, agent.Config) (*record.Trajectory, error),
	task record.Task) func(context.Context, agent.Config) (*record.Trajectory, error) {
	return func(ctx context.Context, config agent.Config) (*record.Trajectory, error) {
		j.progress.Say("memory   asked on %s, answer %s: its notebook is run again", day(q.Asked),
			ui.Fit(q.Answer, 60))
		again, err := agent.Resume(ctx, config, a.anew(t, task), task.Files)
		if err != nil || again.Verified() {
			return again, err
		}
		j.progress.Say("memory   that is no longer proved (%s): thinking anew", strings.Join(again.Doubts(), "; "))
		return run(ctx, config)
	}
}
