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
		d, known := r.Before[r.t.Task.Files[i].Name]
		if known = known && (d.Text != "" || d.Error != ""); known {
			if err := r.describedAs(i, d); err != nil {
				return err
			}
			continue
		}
		g.Go(func() error {
			if within.Err() != nil {
				return within.Err()
			}
			d, err := r.describeFile(within, s, i)
			if err != nil {
				return err
			}
			return r.describedAs(i, d)
		})
	}
	return g.Wait()
}

// describeFile asks for a script, runs it and has it repaired while it fails. That no script works
// is no error: the description then says so.
func (r *Describer) describeFile(ctx context.Context, s *scratch, i int) (record.Description, error) {
	d, path := r.t.Descriptions[i], r.dataPython(i)
	q := ask.Request{Role: "analyzer", Subject: d.File, Words: func() []prompts.Part {
		return []prompts.Part{prompts.Analyzer{Path: path, Size: human.Bytes(r.t.Task.Files[i].Size),
			Chars: r.descriptionChars(r.Sizes())}}
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
		if d.Text = text; problem == "" {
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
			report := brief.Clip(report, r.Sizes().Result)
			return []prompts.Part{prompts.DebuggerScript{Path: path, Size: human.Bytes(r.t.Task.Files[i].Size),
				Code: code, Error: report}}
		}}
	}
}

// description returns what a script printed as the description, or, if there
// is none, a report for the debugger and the problem in one line. Warnings on
// stderr are not about the file.
func description(e notebook.Execution, budget int) (text, report, problem string) {
	if e.Status != notebook.OK {
		return "", brief.ErrorReport(e, budget), brief.Problem(e)
	}
	var b strings.Builder
	for _, o := range e.Outputs {
		if o.Name != "stderr" {
			b.WriteString(o.PlainText())
		}
	}
	if text = strings.TrimRight(b.String(), "\n"); strings.TrimSpace(text) == "" {
		return "", "The script ran but printed nothing.", "its script printed nothing"
	}
	return text, "", ""
}
