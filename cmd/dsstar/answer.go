package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/llm"
	"dsstar/agent/mask"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/configs"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// answer runs a new job.
func (a *app) answer(ctx context.Context, j job) error {
	task := j.task
	folder, saver, release, err := a.begin(&j, &task)
	if err != nil {
		return err
	}
	defer release()
	return a.carryOut(ctx, j, folder, saver,
		func(ctx context.Context, config agent.Config) (*record.Trajectory, error) {
			config.Recalled = a.recalled(ctx, j, config)
			return agent.Run(ctx, config, task)
		})
}

// begin makes the folder of a run, with its links to the data, and locks it until release.
func (a *app) begin(j *job, task *record.Task) (folder record.Folder, s *saver, release func(), err error) {
	j.fresh = !disk.Exists(j.out)
	if folder, err = j.folder(); err != nil {
		return "", nil, nil, err
	}
	if release, err = folder.Lock(); err != nil {
		return "", nil, nil, err
	}
	s = newSaver(folder, a.key())
	if err = link(folder, task); err != nil {
		if j.fresh {
			discard(folder, s)
		}
		release()
		return "", nil, nil, err
	}
	j.progress.Folder(string(folder))
	return folder, s, release, nil
}

// carryOut runs the loop in a run folder, with kernel and trace, and prints the result.
func (a *app) carryOut(ctx context.Context, j job, folder record.Folder, saver *saver,
	run func(context.Context, agent.Config) (*record.Trajectory, error)) error {
	config := a.config(j)
	trace, err := disk.OpenLines(folder.Trace())
	if err != nil {
		return err
	}
	defer trace.Close()
	s := j.settings
	j.progress.Wait("starting the kernel")
	reach := site.Of(folder, j.task.Data)
	for _, source := range j.sources {
		j.progress.Paste("data     %s", source)
		if source.Name != "" && source.Database == "" && source.From == "" { // a link out of the data folder
			reach.Read = append(reach.Read, source.Path)
			config.Readable = append(config.Readable, source.Path)
		}
	}
	j.site = j.site.With(reach)
	at := j.site.About()
	config.Sandbox, config.Memory, config.Warnings = at.Sandbox, at.Memory, at.Warnings
	config.Guest, config.Alone, config.Choice = at.Running != nil, at.Alone, a.choice(s)
	config.Confined = at.Running == nil && at.Confined
	j.progress.Say("sandbox  %s", config.Sandbox)
	config.Dir, config.Model = string(folder), llm.Traced(j.model, trace, config.Price)
	config.Open, config.RunScript = site.Opening(j.site, j.progress), j.site.RunScript
	config.Observe, config.Review = j.observer(saver), a.review(j)
	t, err := run(ctx, config)
	if j.teaches && err == nil {
		_, err = saver.save(t)
	}
	j.progress.Stop()
	return a.conclude(ctx, j, t, folder, saver, err)
}

// config returns the part of a run's configuration that does not depend on its folder.
func (a *app) config(j job) agent.Config {
	config := agentConfig(j.settings)
	config.Model, config.Stream = j.model, j.progress.Stream
	config.Mask = mask.New(a.key())
	config.ChooseReading = a.chooseReading(j)
	config.Learn = j.settings.Learn
	names := lists.Map(j.task.Files, func(f record.File) string { return f.Name })
	config.Corrections = j.memory.Corrections(names)
	config.Options.Approved, config.Approved = j.agreed, j.approved
	return config
}

// agentConfig returns the part of a run's configuration that comes from the settings.
func agentConfig(s *configs.Settings) agent.Config {
	return agent.Config{
		Settings: ask.Settings{
			Limits: ask.Limits{Calls: s.MaxCalls, Cost: s.MaxCost, Time: s.MaxTime},
			Price:  prices(s), MaxTokens: s.MaxOutputTokens, Context: s.Context,
			ResultChars: s.ResultChars, DescriptionChars: s.DescriptionChars, ContextChars: s.ContextChars,
		},
		Options: describe.Options{
			Columns:     s.Mask,
			Readable:    slices.Concat(s.AllowRead, s.AllowWrite),
			CellTimeout: s.CellTimeout,
			MaxFiles:    s.MaxFiles, TopK: s.TopK, DebugTries: s.DebugTries,
			// kernels that describe files at once; by default few, because of their memory
			Jobs: cmp.Or(s.Jobs, min(runtime.NumCPU(), 4)),
		},
		Method: method(s.Method), MaxRounds: s.MaxRounds,
	}
}

// saveEvery is the minimum interval between saves while files are described: with thousands of
// files, saving after each would dominate. The last file and all other events are saved immediately.
const saveEvery = 500 * time.Millisecond

// observer saves the notebook after every event and reports the event.
func (j job) observer(saver *saver) func(agent.Event, *record.Trajectory) error {
	var next time.Time
	described := 0
	return func(e agent.Event, t *record.Trajectory) error {
		if e.Before {
			return nil // it is shown and saved
		}
		defer j.progress.Event(e, t)
		begin, more := time.Now(), false
		if e.Kind == agent.Described {
			described++
			more = described < len(t.Task.Files) && begin.Before(next)
		}
		if more || j.teaches { // saved with what it has taught
			return nil
		}
		warnings, err := saver.save(t)
		for _, w := range warnings {
			j.progress.Warn("%s", w)
		}
		next = time.Now().Add(max(saveEvery, 10*time.Since(begin)))
		return err
	}
}

// conclude prints the result and returns an error that carries the exit code. ended is the error
// that cut the run short, if any.
func (a *app) conclude(ctx context.Context, j job, t *record.Trajectory, folder record.Folder,
	saver *saver, ended error) error {
	r := newResult(t, folder, j.about())
	r.Notebook, r.Script = saver.notebook.Path(), saver.script.Path()
	if ended == nil && t.Answer() == "" {
		ended = noAnswer(t)
	}
	if ended == nil {
		if err := a.learned(ctx, j, t, folder); err != nil {
			j.progress.Warn("%v", err)
		}
	}
	gone := ended != nil && j.fresh && t.Usage.Calls == j.calls && discard(folder, saver)
	if gone {
		r.RunDir, r.Notebook, r.Script, r.Trace = "", "", "", ""
		if j.stands != "" {
			r.RunDir, r.Notebook = filepath.Dir(j.stands), j.stands
		}
		j.progress.Say("removed  the run folder %s, because no model has replied", ui.Printable(string(folder)))
	}
	var err error
	if j.json {
		err = ui.JSON(a.stdout, r)
	} else if ended == nil || t.Verified() { // what it teaches may be cut short
		err = a.say(j, t, r.Files)
	}
	if err != nil {
		return err
	}
	if _, edit := errors.AsType[*record.EditError](ended); gone && edit && j.stands != "" {
		return stopped(ended, j.stands, r.RunDir, "", j.goOn)
	}
	if gone {
		return ended
	}
	if ended != nil {
		return stopped(ended, r.Notebook, string(folder), j.stands, j.goOn)
	}
	cost := ""
	if r.Usage.CostUSD != nil {
		cost = ", about " + human.Dollars(*r.Usage.CostUSD)
	}
	standing, why, _ := strings.Cut(r.Worth, ": ")
	switch {
	case t.Verified():
		j.progress.SayIn(ui.Good, "verified %s", why)
	case !t.Depends():
		j.progress.Warn("NOT verified: %s", why)
	case !a.forPeople(j): // that text has it already
		j.progress.Warn("%s: %s", standing, why)
	}
	j.progress.Say("spent    %s, %s, %d tokens in and %d out%s, %.0f s (model %.0f s, kernel %.0f s)",
		human.Plural(r.Rounds, "round"), human.Plural(r.Usage.Calls, "model call"),
		r.Usage.InputTokens, r.Usage.OutputTokens, cost, r.Seconds.Total, r.Seconds.Model, r.Seconds.Kernel)
	j.progress.Paste("notebook %s", r.Notebook)
	j.progress.Paste("look     dsstar export %s   # writes a page for the browser; or open the notebook in Jupyter",
		human.Shell(string(folder)))
	for _, c := range chooseable(t) {
		if r := t.Questions[c.question].Readings[c.reading]; c.option != r.Chosen {
			j.progress.Paste("choose   dsstar resume --choose %s %s   # if this is meant: %s", c.name,
				human.Shell(string(folder)), ui.Fit(r.Options[c.option].Text, 200))
		}
	}
	if !t.Verified() && !(j.shown && t.Depends()) {
		return cli.Exit{Code: exitNotVerified}
	}
	return nil
}
