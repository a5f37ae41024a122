package describe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// describeByModel has the model write a script for each file that describes it, as published
// (DS-STAR section 3.1). The scripts run one after another.
func (r *Describer) describeByModel(ctx context.Context, s *scratch, left []int) error {
	const calls = 8 // at once
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(calls)
	for _, i := range left {
		g.Go(func() error {
			d, err := r.describeFile(within, s, i)
			if err != nil {
				return err
			}
			return r.journal.Described(i, d)
		})
	}
	return g.Wait()
}

// describeFile asks for a script, runs it and has it repaired while it fails. That no script works
// is no error: the description then says so.
func (r *Describer) describeFile(ctx context.Context, s *scratch, i int) (d record.Description, err error) {
	d = r.t.Descriptions[i]
	path := r.dataPython(i)
	size := human.Bytes(r.t.Task.Files[i].Size)
	shown := max(1, min(len(r.t.Task.Files), r.TopK)) // all of them are read with every request
	q := ask.Request{Role: "analyzer", Subject: d.File, Words: func() []prompts.Part {
		chars := min(r.Sizes().Description/4, max(1000, r.Sizes().Context/8/shown))
		return []prompts.Part{prompts.Analyzer{Path: path, Size: size, Chars: chars}}
	}}
	for {
		code, err := ask.Role(ctx, r.Asker, q, ask.Code)
		if unread, ok := errors.AsType[*ask.Error](err); ok {
			d.Error = unread.Error()
			return d, nil
		} else if err != nil {
			return d, err
		}
		d.Code, d.Tries = code, d.Tries+1
		e, err := s.runAlone(ctx, "path = "+path+"\n"+code)
		if err != nil {
			return d, err
		}
		text, report, problem := description(e, r.Sizes().Result)
		if d.Text = brief.Clip(text, r.DescriptionChars); problem == "" {
			return d, nil
		}
		d.Failed = append(d.Failed, record.Attempt{Code: code, Execution: e})
		if d.Tries > r.DebugTries {
			d.Error = problem
			return d, nil
		}
		subject := fmt.Sprintf("%s, try %d", d.File, d.Tries+1)
		if report, err = r.Summarize(ctx, subject, report, "the script"); err != nil {
			return d, err
		}
		q = ask.Request{Role: "debugger", Subject: subject, Words: func() []prompts.Part {
			return []prompts.Part{prompts.DebuggerScript{Path: path, Size: size, Code: code,
				Error: brief.Clip(report, r.Sizes().Result)}}
		}}
	}
}

// description returns what a script printed as the description, or, if there
// is none, a report for the debugger and the problem in one line.
func description(e notebook.Execution, budget int) (text, report, problem string) {
	if e.Status != notebook.OK {
		return "", brief.ErrorReport(e, budget), brief.Problem(e)
	}
	if text = strings.TrimRight(e.Stdout(), " \n"); text == "" {
		return "", "The script ran but printed nothing.", "its script printed nothing"
	}
	return text, "", ""
}
