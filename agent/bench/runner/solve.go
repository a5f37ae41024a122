package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
	"dsstar/prompts"
)

// A Solver answers one task with the model, sessions and limits of cfg, and leaves its
// notebook in the run folder cfg.Dir, which has a folder files/. It may be used concurrently.
//
// The record is not yet scored; with an error it has what was done before. Errors are those of
// [agent.Run]: a reached limit (*ask.BudgetError), a failed model or server, an unusable reply,
// a cancelled ctx. Using up all steps is no error.
type Solver func(ctx context.Context, cfg agent.Config, task record.Task) (Record, error)

// A Site is where the kernels of a run are.
type Site struct {
	Sandbox string // what confines cells, in words; "none …": nothing does
	// Sessions returns what runs the cells and scripts of a run over its data, which lead to what
	// is in read.
	Sessions func(folder record.Folder, data string, read []string) (agent.Open, agent.RunScript)
	Fatal    func(error) bool // whether every task would fail with this error
}

// solve solves one task in its run folder and scores the answer. Failures of the agent, the model
// or cells belong in the Record. An error means that there is none.
func (r *run) solve(ctx context.Context, item Item, dir string) (Record, error) {
	folder, err := record.CreateFolder(dir)
	if err != nil {
		return Record{}, err
	}
	t, config := r.Tasks[item.ID], r.Agent
	task, read, err := prepare(ctx, t, folder)
	if err != nil {
		return Record{}, err
	}
	trace, err := disk.OpenLines(folder.Trace())
	if err != nil {
		return Record{}, err
	}
	defer trace.Close()
	config.Of, config.Model = r.Budget, llm.Traced(r.Model, trace, config.Price)
	config.Dir, config.Sandbox = string(folder), r.Site.Sandbox
	config.Open, config.RunScript = r.Site.Sessions(folder, task.Data, read)
	config.Readable = append(slices.Clip(config.Readable), read...)
	result, err := r.Solve(ctx, config, task)
	if err != nil {
		cause, fatal := r.cause(ctx, err)
		if fatal != nil {
			return result, fatal
		}
		result.Cause, result.Error = cause, brief.Clip(brief.OneLine(err.Error()), 300)
		result.Finished = false
	}
	result.Task, result.Level, result.Domain = item.ID, item.Level, item.Domain
	return r.score(ctx, result, t, config.Settings), nil
}

// cause returns the cause of an agent's error. A fatal error is not the task's: it ends the run.
func (r *run) cause(ctx context.Context, err error) (c string, fatal error) {
	_, refused := errors.AsType[*llm.CredentialError](err)
	spent, isSpent := errors.AsType[*ask.BudgetError](err)
	_, unread := errors.AsType[*ask.Error](err)
	switch {
	case ctx.Err() != nil, refused, isSpent && strings.HasPrefix(spent.Flag, "total-"):
		return "", err
	case isSpent:
		return OverBudget, nil
	case unread, errors.Is(err, llm.ErrContextLength):
		return NotFinished, nil
	case r.Site.Fatal(err):
		return "", err
	}
	return Broken, nil
}

// score scores the answer of a record, and says why the task is not solved.
// Without a judge, right answer or kernel there is no score.
func (r *run) score(ctx context.Context, record Record, t bench.Task, judge ask.Settings) Record {
	if t.Gold == nil {
		return record
	}
	scorer := r.Scorer
	scorer.Judge = Judge(judge)
	s, err := scorer.Score(ctx, t, answerOf(record, t, r.Folder.Path))
	if err != nil {
		s.Detail = brief.Clip(brief.OneLine(err.Error()), 300)
	}
	if s.Value == nil {
		record.Unscored = s.Detail
		return record
	}
	record.Score, record.Metric, record.Scores = s.Value, s.Metric, s.Parts
	record.Detail, record.Uncounted = s.Detail, s.Uncounted
	switch {
	case record.Error != "" || record.Right(): // the cause is known, or there is none
	case strings.TrimSpace(record.Answer) == "":
		record.Cause = NoAnswer
	case !record.Finished:
		record.Cause = NotFinished
	default:
		record.Cause = Wrong
	}
	return record
}

// Answers returns the answers of a run, in the order of its tasks.
func Answers(r Result, tasks map[string]bench.Task) []bench.Answer {
	return lists.Map(r.Records, func(record Record) bench.Answer {
		return answerOf(record, tasks[record.Task], r.Path)
	})
}

// answerOf returns the answer of a record, for scorers; out is the folder of its run.
// DA-Code gives no points to an agent that used up its steps, so its answer is unfinished
// there. Under all other rules it counts.
func answerOf(r Record, task bench.Task, out string) bench.Answer {
	dir := disk.Absolute(TaskFolder(out, r.Task)) // kernels have another working folder
	answer := bench.Answer{
		ID: r.Task, Dir: filepath.Join(dir, "files"),
		Unfinished: r.Error != "" || !r.Finished && task.Rules == "dacode",
	}
	switch text := strings.TrimSpace(r.Answer); {
	case text == "":
	case task.Rules == "kramabench" && isValue(task.Kind, text):
		answer.Value = json.RawMessage(text)
	default:
		answer.Value = bench.Said(r.Answer)
	}
	return answer
}

// isValue reports whether the text of an answer of that type is a JSON value: a number
// or list if the type is one. A string such as "true" stays a string.
func isValue(kind, text string) bool {
	numeric := strings.HasPrefix(kind, "numeric_") && strings.ContainsAny(text[:1], "-0123456789")
	list := strings.HasPrefix(kind, "list_") && text[0] == '['
	return (numeric || list) && json.Valid([]byte(text))
}

// Judge returns a judge that asks a model whether two answers mean the same.
func Judge(of ask.Settings) bench.Judge {
	asker := ask.NewAsker(ask.Settings{Model: of.Model, Of: of.Of, Price: of.Price}, nil, nil)
	return func(ctx context.Context, answer, gold string) (bool, error) {
		same, err := ask.Role(ctx, asker, ask.Request{Role: "judge", Subject: "the answer",
			Words: func() []prompts.Part {
				return []prompts.Part{prompts.Grader{Gold: gold, Answer: answer}}
			}}, ask.YesNo)
		if _, refused := errors.AsType[*llm.CredentialError](err); refused {
			err = &bench.StopError{Err: err}
		}
		return same.Sufficient, err
	}
}

// errLacking is wrapped by the error for a task whose data are not there. The task gets no record, and
// the run continues.
var errLacking = errors.New("its data are not there")

// Look reports whether the task's data folder has files, and returns the targets of data files
// that are links to places outside the data folder and the allowed folders. Cells cannot read
// them, because data from strangers may link to the user's keys. Files that the task names are
// looked for when the task runs.
func Look(ctx context.Context, t bench.Task, allowed []string) (hasData bool, linked []string) {
	names := t.Files
	if names == nil && t.Data != "" {
		all, _ := files.List(ctx, []files.Source{{Path: t.Data}}) // without a folder there are none
		names = lists.Map(all.Files, func(f record.File) string { return f.Name })
	}
	folder := files.In(t.Data, allowed...)
	for _, name := range names {
		if _, err := folder.Find(name); errors.Is(err, files.ErrOutside) {
			target, _ := filepath.EvalSymlinks(filepath.Join(t.Data, name)) // as Find has found it
			linked = append(linked, target)
		}
	}
	return t.Data != "" && (t.Files != nil || len(names) > 0), linked
}

// prepare returns the task as agents see it, and what cells must be able to read besides its data. If
// the task names its files, the run folder gets a data folder with links to only these.
func prepare(ctx context.Context, t bench.Task, folder record.Folder) (task record.Task,
	read []string, err error) {
	task = record.Task{Question: t.Question, Guidelines: t.Guidelines}
	// The real path: the run folder's relative path to the data must not lead through links.
	task.Data, err = filepath.EvalSymlinks(t.Data)
	at := task.Data
	if err == nil && t.Files != nil {
		task.Data, at = record.DataFolder, filepath.Join(string(folder), record.DataFolder)
		for _, name := range t.Files {
			task.Sources = append(task.Sources, files.Source{Name: path.Clean(name),
				Path: filepath.Join(t.Data, name)})
		}
		var linked []files.Source
		linked, err = files.Link(string(folder), record.DataFolder, task.Sources, nil)
		read = lists.Map(linked, func(s files.Source) string { return s.Path })
	}
	var all files.Listing
	if err == nil {
		all, err = files.List(ctx, task.In(at))
	}
	task.Files, task.Skipped = all.Files, all.Skipped
	if t.Data == "" || errors.Is(err, fs.ErrNotExist) || err == nil && len(all.Files) == 0 {
		err = fmt.Errorf("%w: %s: %v", errLacking, t.Data, cmp.Or(err, fs.ErrNotExist))
	}
	return task, read, err
}
