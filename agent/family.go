package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"dsstar/notebook"
	"dsstar/prompts"
)

// chunk is how many files one kernel describes in a row by the same script.
const chunk = 25

// describeFamily describes files of the same format and structure by one script
// as far as it goes. Where it fails it is repaired, and the repaired one is tried
// on the files for which it failed, until every file has its description or an
// error.
func (r *run) describeFamily(ctx context.Context, pool chan *scratch, family []int) error {
	failures := map[int]Attempt{} // of the script so far
	hopeless, done := 0, 0
	for left := family; len(left) > 0; {
		lead := left[0]
		if left = left[1:]; hopeless == 3 {
			if err := r.giveUp(lead, left); err != nil {
				return err
			}
			return nil
		}
		d, err := r.describeFile(ctx, pool, lead, left, failures[lead], done)
		if err != nil {
			return err
		}
		if err := r.describedAs(lead, d); err != nil {
			return err
		}
		if d.Text == "" {
			hopeless++
			continue
		}
		r.keep(lead, d)
		all := len(left)
		if left, err = r.apply(ctx, pool, d, left, failures); err != nil {
			return err
		}
		hopeless, done = 0, done+1+all-len(left)
	}
	return nil
}

// giveUp ends a family of which file after file could not be described.
func (r *run) giveUp(lead int, left []int) error {
	for _, i := range append([]int{lead}, left...) {
		d := r.t.Descriptions[i]
		d.Error = "no script could describe files of this kind"
		if err := r.describedAs(i, d); err != nil {
			return err
		}
	}
	return nil
}

// describeFile asks for a script, runs it and has it repaired while it fails;
// when the family's script has failed, it begins at the repair. That no script
// works is no error: the description then says so.
func (r *run) describeFile(ctx context.Context, pool chan *scratch, i int, like []int, failed Attempt, others int) (Description, error) {
	d := r.t.Descriptions[i]
	q := question{"analyzer", d.File, func() ([]prompts.Part, map[string]string) { return r.analyzeWords(i, like) }}
	report := ""
	if failed.Code != "" {
		d.Failed, d.Tries = append(d.Failed, failed), 1
		_, report, _ = description(failed.Execution, r.showing().result)
	}
	for {
		if len(d.Failed) > 0 {
			last := d.Failed[len(d.Failed)-1].Code
			subject := fmt.Sprintf("%s, try %d", d.File, d.Tries+1)
			report, err := r.summarize(ctx, subject, report, "the script")
			if err != nil {
				return d, err
			}
			q = question{"debugger", subject, func() ([]prompts.Part, map[string]string) { return r.mendWords(i, last, report, others) }}
		}
		code, err := ask(ctx, r, q, readCode)
		if unread := (*ReplyError)(nil); errors.As(err, &unread) {
			d.Error = unread.Error()
			return d, nil
		} else if err != nil {
			return d, err
		}
		d.Code, d.Tries = standsFor(code, r.dataPython(i)), d.Tries+1
		var e notebook.Execution
		if err := r.runScript(ctx, pool, script{d.Code, d.File}, []int{i}, func(_ int, x notebook.Execution) error { e = x; return nil }); err != nil {
			return d, err
		}
		var problem string
		if d.Text, report, problem = description(e, r.showing().result); problem == "" {
			return d, nil
		}
		d.Failed = append(d.Failed, Attempt{Code: d.Code, Execution: e})
		if d.Tries > r.cfg.DebugTries {
			d.Error = problem
			return d, nil
		}
	}
}

func (r *run) analyzeWords(i int, like []int) ([]prompts.Part, map[string]string) {
	f, look := r.t.Task.Files[i], r.looks[i]
	a := prompts.Analyzer{Path: r.dataPython(i), Size: fileSize(f.Size), Chars: r.descriptionChars(), Kind: look.Kind, Head: look.Head}
	if r.cfg.Method.Script { // as published: the name alone
		a.Kind, a.Head = "", ""
	}
	inputs := map[string]string{"file": f.Name}
	if len(like) > 0 {
		a.Count, a.Like = len(like)+1, r.some(like)
		inputs["like"] = a.Like
	}
	return []prompts.Part{a}, inputs
}

func (r *run) mendWords(i int, code, report string, others int) ([]prompts.Part, map[string]string) {
	f, look := r.t.Task.Files[i], r.looks[i]
	return []prompts.Part{prompts.DebuggerScript{
		Path: r.dataPython(i), Size: fileSize(f.Size), Kind: look.Kind, Head: look.Head, Code: code, Error: report, Others: others,
	}}, map[string]string{"file": f.Name, "code": code, "error": report}
}

// standsFor makes a script that names its file name the variable instead: then
// it fits the other files of the family.
func standsFor(code, path string) string {
	for _, literal := range []string{path, "'" + strings.Trim(path, `"`) + "'"} {
		code = strings.ReplaceAll(code, literal, "path")
	}
	return code
}

// apply describes further files by the script of d and returns those for which
// it failed, with their failures.
func (r *run) apply(ctx context.Context, pool chan *scratch, d Description, members []int, failures map[int]Attempt) ([]int, error) {
	var mu sync.Mutex
	var failed []int
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(cap(pool))
	for part := range slices.Chunk(members, chunk) {
		g.Go(func() error {
			return r.runScript(within, pool, script{d.Code, d.File}, part, func(i int, e notebook.Execution) error {
				own := r.t.Descriptions[i]
				own.Like, own.Tries = d.File, 1
				var problem string
				if own.Text, _, problem = description(e, r.showing().result); problem != "" {
					mu.Lock()
					defer mu.Unlock()
					failed, failures[i] = append(failed, i), Attempt{Code: d.Code, Execution: e}
					return nil
				}
				if err := r.describedAs(i, own); err != nil {
					return err
				}
				own.Code = d.Code
				r.keep(i, own)
				return nil
			})
		})
	}
	err := g.Wait()
	slices.Sort(failed)
	return failed, err
}

// description returns what a script printed as the description, or, if there
// is none, a report for the debugger and the problem in one line. Warnings on
// stderr are not about the file.
func description(e notebook.Execution, budget int) (text, report, problem string) {
	if e.Status != notebook.OK {
		return "", errorReport(e, budget), oneLine(e)
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
