package describe

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/notebook"
	"dsstar/notebook/human"
	"dsstar/prompts"
)

// describeFamily describes files of the same format and structure by one script
// as far as it goes. Where it fails it is repaired, and the repaired one is tried
// on the files for which it failed, until every file has its description or an
// error.
func (r *Describer) describeFamily(ctx context.Context, pool *pool, family []int) error {
	failed := map[int]string{} // the script that has failed for a file
	hopeless, done := 0, 0
	for left := family; len(left) > 0; {
		lead := left[0]
		if left = left[1:]; hopeless == 3 {
			return r.giveUp(lead, left)
		}
		d, err := r.describeFile(ctx, pool, lead, left, failed[lead], done)
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
		r.store.keepDescription(lead, d)
		all := len(left)
		if left, err = r.apply(ctx, pool, d, left); err != nil {
			return err
		}
		for _, i := range left {
			failed[i] = d.Code
		}
		hopeless, done = 0, done+1+all-len(left)
	}
	return nil
}

// giveUp ends a family of which file after file could not be described.
func (r *Describer) giveUp(lead int, left []int) error {
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
// when the family's script has failed, it begins with that one. That no script
// works is no error: the description then says so.
func (r *Describer) describeFile(ctx context.Context, pool *pool, i int, like []int, code string,
	others int) (record.Description, error) {
	d := r.t.Descriptions[i]
	analyze := func() ([]prompts.Part, map[string]string) { return r.analyzeWords(i, like) }
	q := ask.Request{Role: "analyzer", Subject: d.File, Words: analyze}
	for {
		if code == "" {
			written, err := ask.Role(ctx, r.Asker, q, reply.Code)
			if unread, ok := errors.AsType[*reply.Error](err); ok {
				d.Error = unread.Error()
				return d, nil
			} else if err != nil {
				return d, err
			}
			code = standsFor(written, r.dataPython(i))
		}
		d.Code, d.Tries = code, d.Tries+1
		e, err := pool.runFirst(ctx, script{code: code, lead: d.File}, i)
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
		last := code
		mend := func() ([]prompts.Part, map[string]string) { return r.mendWords(i, last, report, others) }
		q = ask.Request{Role: "debugger", Subject: subject, Words: mend}
		code = ""
	}
}

func (r *Describer) analyzeWords(i int, like []int) ([]prompts.Part, map[string]string) {
	f, look := r.t.Task.Files[i], r.looks[i]
	a := prompts.Analyzer{Path: r.dataPython(i), Size: human.StableBytes(f.Size),
		Chars: r.descriptionChars(r.Sizes())}
	if !r.method.Script { // as published, it is told the name alone
		a.Kind, a.Head, a.Others = look.Kind, r.head(i), brief.Lines(r.folder, r.Sizes().Description)
	}
	inputs := map[string]string{"file": f.Name}
	if len(like) > 0 {
		a.Count, a.Like = len(like)+1, r.some(like)
		inputs["like"] = a.Like
	}
	return []prompts.Part{a}, inputs
}

func (r *Describer) mendWords(i int, code, report string,
	others int) ([]prompts.Part, map[string]string) {
	f, look := r.t.Task.Files[i], r.looks[i]
	report = brief.Clip(report, r.Sizes().Result)
	d := prompts.DebuggerScript{Path: r.dataPython(i), Size: human.StableBytes(f.Size), Code: code,
		Error: report, Others: others}
	if !r.method.Script { // as published, it is told code and error alone
		d.Kind, d.Head = look.Kind, r.head(i)
	}
	return []prompts.Part{d}, map[string]string{"file": f.Name, "code": code, "error": report}
}

// head is the beginning of a file.
func (r *Describer) head(i int) string {
	const lines = 20
	return brief.FirstLines(brief.Lines(r.looks[i].Head, r.Sizes().Result), lines)
}

// standsFor makes a script that names its file, in a string of any kind, name the
// variable instead: then it fits the other files of the family.
func standsFor(code, path string) string {
	name := regexp.QuoteMeta(path[1 : len(path)-1])
	literal := regexp.MustCompile(`(?i:\b[rbfu]{1,2})?(?:"` + name + `"|'` + name + `')`)
	return literal.ReplaceAllLiteralString(code, "path")
}

// apply describes further files by the script of d and returns those for which
// it failed.
func (r *Describer) apply(ctx context.Context, pool *pool, d record.Description,
	members []int) (failed []int, err error) {
	var mu sync.Mutex
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(pool.size)
	for part := range slices.Chunk(members, pool.batchSize()) {
		g.Go(func() error {
			return pool.runScript(within, script{code: d.Code, lead: d.File}, part, func(i int, text string) error {
				if text == "" {
					mu.Lock()
					defer mu.Unlock()
					failed = append(failed, i)
					return nil
				}
				own := r.t.Descriptions[i]
				own.Text, own.Like, own.Tries = text, d.File, 1
				if err := r.describedAs(i, own); err != nil {
					return err
				}
				own.Code = d.Code
				r.store.keepDescription(i, own)
				return nil
			})
		})
	}
	err = g.Wait()
	slices.Sort(failed)
	return failed, err
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
