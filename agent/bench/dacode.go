package bench

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook"
)

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

// isChart reports whether the task asks for a chart, by DA-Code's rules.
func (t Task) isChart() bool {
	charts := []string{"line", "pie", "bar", "scatter", "plot"}
	return t.Rules == "dacode" && slices.Contains(charts, t.Kind)
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
