package main

import (
	"context"
	"path/filepath"

	"dsstar/agent"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/learn"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// A study is work on data as a whole, without a question and a run folder.
type study struct {
	*checker
	j   job
	dir string // a temporary folder
}

// study makes ready for work on the data of a job.
func (a *app) study(ctx context.Context, j job) (s *study, err error) {
	sources := j.sources
	if j.task, err = newTask(ctx, "the memory", "", sources, j.settings.Include, false); err != nil {
		return nil, err
	}
	s = &study{}
	if s.dir, err = disk.TempFolder("", "dsstar-proof-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if len(j.task.Sources) > 0 {
		if j.sources, err = files.Link(s.dir, record.DataFolder, j.task.Sources, nil); err != nil {
			return nil, err
		}
		j.task.Data = filepath.Join(s.dir, record.DataFolder)
	}
	if err := j.setUpAlone(ctx, a); err != nil {
		return nil, err
	}
	j.place.Show(record.Folder(s.dir), j.task.Data)
	for _, source := range j.sources {
		if source.Path != "" {
			j.place.Box.Read = append(j.place.Box.Read, source.Path)
		}
	}
	j.progress.Wait("") // others write now
	s.j = j
	s.checker = a.checker(a.RunScript(&s.j.place, j.settings), j.task, sources)
	s.idle = !s.j.confined()
	return s, nil
}

// close removes the folder; the next start of dsstar removes what stays.
func (s *study) close() { _ = disk.RemoveTemp(s.dir) }

// config is that of requests about the data.
func (s *study) config() (config agent.Config, err error) {
	if s.j.model == nil {
		if err := checkBudget(s.j.settings); err != nil {
			return config, err
		}
		if err := s.models(&s.j); err != nil {
			return config, err
		}
	}
	if config, err = s.app.config(s.j); err != nil {
		return config, err
	}
	for _, source := range s.j.sources {
		config.Readable = append(config.Readable, source.Path)
	}
	config.Ranker, config.Open = s.j.ranker, s.Open(&s.j.place, s.j.settings, nil)
	config.Observe = func(e agent.Event, t *record.Trajectory) error {
		if e.Kind == agent.Warned {
			s.j.progress.Event(e, t)
		}
		return nil
	}
	return config, nil
}

// makeQuestions has the model make questions, and shows them.
func (s *study) makeQuestions(ctx context.Context, n int) (all []learn.Lesson, err error) {
	var asked []string
	for _, q := range s.j.memory.Questions {
		asked = append(asked, q.Question)
	}
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	s.j.progress.Wait("making questions")
	defer s.j.progress.Wait("")
	t, questions, err := agent.MakeQuestions(ctx, config, s.task, n, asked)
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		s.j.progress.Say("made     %s (%s)", q.Question, q.Form)
		all = append(all, learn.Lesson{Question: q.Question, Form: q.Form})
	}
	s.spent(t)
	return all, nil
}

func (s *study) spent(t *record.Trajectory) {
	s.j.progress.Say("spent    %s, %d tokens in and %d out%s", human.Plural(t.Usage.Calls, "model call"),
		t.Usage.InputTokens, t.Usage.OutputTokens, inDollars(t.Cost))
}
