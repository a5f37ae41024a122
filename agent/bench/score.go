package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

// A Score rates the answer to one task. Its JSON is a contract: see docs/benchmarks.md.
type Score struct {
	ID      string             `json:"task_id"`
	Value   *float64           `json:"score"` // 0 to 1; nil: it cannot be scored, and Detail says why
	Level   string             `json:"level,omitempty"`
	Domain  string             `json:"domain,omitempty"`
	Metric  string             `json:"metric,omitempty"`
	Parts   map[string]float64 `json:"parts,omitempty"` // other metrics, or fields
	Missing bool               `json:"missing"`         // there is no answer, or it is not finished
	Detail  string             `json:"detail,omitempty"`
	// the benchmark leaves it out of totals and means
	Uncounted bool   `json:"uncounted,omitempty"`
	Failed    string `json:"-"` // why the scorer failed, such as a failed judge

	task Task
}

// Scores are the scores of tasks of a suite. As JSON they are what dsstar bench score --json
// prints; docs/benchmarks.md documents the fields.
type Scores struct {
	Bench    string   `json:"bench"`
	Compat   string   `json:"compat"`
	Score    *Value   `json:"score"` // per cent; null: nothing can be scored
	Tasks    []Score  `json:"tasks"`
	Totals   []Total  `json:"totals"`   // the benchmark's own
	Unscored int      `json:"unscored"` // tasks without a score
	Missing  []string `json:"missing"`  // paths that this copy lacks for scoring
}

// Compat selects how answers are scored: like the public code, with its faults, so that
// results are comparable with published figures; or with the faults corrected. Each
// benchmark's scorer documents the corrections.
type Compat string

// The ways to score.
const (
	Upstream Compat = "upstream"
	Fixed    Compat = "fixed"
)

// A Judge reports whether two texts mean the same (KramaBench, string_approximate).
type Judge func(ctx context.Context, answer, gold string) (bool, error)

// ErrNoJudge reports that a task cannot be scored without a judge.
var ErrNoJudge = &StopError{errors.New("scoring needs a model that judges paraphrases")}

// A Scorer scores answers. Fields that no task needs may be nil.
type Scorer struct {
	Compat Compat
	Judge  Judge
	Open   Opener
}

// A StopError reports a failure that every task would meet, such as a refused key or no Python.
type StopError struct{ Err error }

func (e *StopError) Error() string { return e.Err.Error() }
func (e *StopError) Unwrap() error { return e.Err }

// Score scores one answer. Missing, unfinished and empty answers count as wrong. A task without a
// right answer in this copy has no score, which is no error.
func (s Scorer) Score(ctx context.Context, t Task, a Answer) (Score, error) {
	p := s.reading([]Task{t}, []Answer{a})
	defer p.close()
	return s.score(ctx, p, t, a)
}

// reading returns the Python for scoring these answers to these tasks, which the caller closes.
func (s Scorer) reading(tasks []Task, answers []Answer) *python {
	read := slices.Concat(lists.Map(tasks, func(t Task) string { return t.GoldDir }),
		lists.Map(answers, func(a Answer) string { return a.Dir }))
	slices.Sort(read)
	return &python{open: s.Open, read: slices.Compact(read)}
}

func (s Scorer) score(ctx context.Context, p *python, t Task, a Answer) (score Score, err error) {
	switch given := !a.Unfinished && !nothing(a.Value); {
	case len(t.NoGold) > 0:
		score.Detail = "the right answer is missing in this copy: " + human.Some(t.NoGold, 3)
	case t.Gold == nil:
		score.Detail = "the right answer is not public"
	case given:
		charts := []string{"line", "pie", "bar", "scatter", "plot"}
		if t.Rules == "dacode" && slices.Contains(charts, t.Kind) {
			err = s.chart(ctx, t, a.Dir)
		}
		if err == nil {
			score, err = s.rate(ctx, p, t, a)
		}
	default:
		score, err = s.rate(ctx, p, t, Answer{})
		score.Value, score.Missing, score.Detail = new(float64), true, "no answer"
		if a.Unfinished {
			score.Detail = "not finished"
		}
	}
	score.ID, score.Level, score.Domain, score.task = t.ID, t.Level, t.Domain, t
	if err != nil {
		score.Value, err = nil, fmt.Errorf("score %s: %w", t.ID, err)
	}
	return score, err
}

// rate has the script of the task's rules score an answer; one without a value has only a metric.
// An answer that makes it fail is wrong. The Judge is asked for the comparisons that it
// wants, one at a time.
func (s Scorer) rate(ctx context.Context, p *python, t Task, a Answer) (Score, error) {
	b, err := Find(t.Rules)
	if err != nil {
		return Score{}, err
	}
	verdicts := [][3]any{} // of the judge
	for {
		var got struct {
			Score
			Ask     []string `json:"ask"`     // answer and gold that the judge is to compare first
			Problem string   `json:"problem"` // with the task: there is no score
		}
		err := p.call(ctx, b.scorer, map[string]any{"task": t.ID, "kind": t.Kind, "said": a.Value,
			"gold": t.Gold, "texts": []string{a.Text(), textOf(t.Gold)}, "folder": a.Dir,
			"gold_folder": t.GoldDir, "fixed": s.Compat != Upstream, "verdicts": verdicts}, &got)
		if bad, ok := errors.AsType[*CodeError](err); ok {
			return Score{Value: new(float64), Detail: bad.Error()}, nil
		}
		if err == nil && got.Problem != "" {
			err = errors.New(got.Problem)
		}
		if err != nil || got.Ask == nil {
			return got.Score, err
		}
		if s.Judge == nil {
			return Score{}, ErrNoJudge
		}
		same, err := s.Judge(ctx, got.Ask[0], got.Ask[1])
		if err != nil {
			return Score{}, err
		}
		verdicts = append(verdicts, [3]any{got.Ask[0], got.Ask[1], same})
	}
}

// Score scores answers to the tasks of the suite, in the order of the tasks.
// The error is a *StopError, or ctx's error. Any other failure leaves only its task without a score.
func (s *Suite) Score(ctx context.Context, scorer Scorer, answers []Answer) (Scores, error) {
	all := Scores{Bench: s.Benchmark.Name, Compat: string(scorer.Compat),
		Tasks: []Score{}, Missing: append([]string{}, s.Missing...)}
	byID := map[string]Answer{}
	for _, a := range answers {
		byID[a.ID] = a
	}
	p := scorer.reading(s.Tasks, answers)
	defer p.close()
	var values []float64
	for _, t := range s.Tasks {
		all.Missing = append(all.Missing, t.NoGold...)
		score, err := scorer.score(ctx, p, t, byID[t.ID])
		if _, stops := errors.AsType[*StopError](err); stops || err != nil && ctx.Err() != nil {
			return all, err
		}
		if err != nil {
			score.Failed = brief.OneLine(err.Error())
			score.Detail = score.Failed
		}
		if score.Value == nil {
			all.Unscored++
		} else if !score.Uncounted {
			values = append(values, *score.Value)
		}
		all.Tasks = append(all.Tasks, score)
	}
	all.Score = Share(values)
	all.Totals = s.Benchmark.totals(all.Tasks)
	return all, nil
}

// goldFiles returns the files that hold the task's right answer, if any. Clustering tasks have
// none.
func (t Task) goldFiles() (files []string) {
	config := t.eval()
	if t.Rules != "dacode" || t.GoldDir == "" || slices.Contains(config.Func, "compare_ml") &&
		strings.Contains(strings.ToLower(config.Config.Type), "cluster") {
		return nil
	}
	for _, result := range config.Result {
		for _, file := range result.File {
			files = append(files, filepath.Join(t.GoldDir, filepath.Base(file)))
		}
	}
	return files
}

// An evalConfig is a line of DA-Code's eval configuration.
type evalConfig struct {
	Func   oneOrMore `json:"func"`
	Config struct {
		Task string `json:"task"`
		Type string `json:"type"`
	} `json:"config"`
	Result []struct {
		File oneOrMore `json:"file"`
	} `json:"result"`
}

// eval reads the right answer of a task of DA-Code. The scorer refuses one that is none.
func (t Task) eval() (config evalConfig) {
	_ = json.Unmarshal(t.Gold, &config)
	return config
}

// chart runs the programs that an agent left in dir, as DA-Code's public harness does after a
// plotting task, and writes the data and the settings of the chart to dir/dabench/result.npy and
// plot.json, where the scorer looks for them. If no program draws it, the cells of the agent's
// notebook are one. The code is the agent's: nothing else runs in its session, and its failure is no
// error, as the score shows it.
//
// Upstream removes lines that show, save or close a figure. Here these calls do nothing
// instead, so a block that consists of one such line stays valid. With Fixed, any savefig may
// save a figure, not only pyplot's.
func (s Scorer) chart(ctx context.Context, t Task, dir string) error {
	if _, err := os.Stat(t.Data); t.Data == "" || err != nil {
		return errors.New("its data are not there, which the code of its chart may read")
	}
	p := &python{open: s.Open, read: []string{t.Data}, write: dir}
	defer p.close()
	var why string // there is no chart
	err := p.call(ctx, script{"chart_of", []string{"dacode_chart"}}, map[string]any{"folder": dir,
		"any_savefig": s.Compat != Upstream, "cells": programOf(record.Folder(filepath.Dir(dir)))}, &why)
	if _, ok := errors.AsType[*CodeError](err); ok { // it hung or ended the session
		return nil
	}
	return err
}

// programOf joins the cells of a run that succeeded.
func programOf(run record.Folder) string {
	nb, err := notebook.Open(run.Notebook())
	if err != nil {
		return "" // no notebook, so no cells
	}
	var cells []string
	for _, c := range nb.Cells {
		meta, _ := c.Metadata["dsstar"].(map[string]any)
		raised := slices.Contains(c.Tags(), "raises-exception")
		if c.Type == notebook.Code && !raised && (meta["role"] == "step" || meta["role"] == "final") {
			cells = append(cells, c.Source)
		}
	}
	return strings.Join(cells, "\n\n") + "\n"
}
