package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/definitions"
	"dsstar/agent/journal"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/lists"
)

// Approved are files of definitions that this user has approved, of a folder or file.
type Approved struct {
	Root  string
	Files []definitions.File
	Once  bool // in this command alone
}

// ErrDefinitions is wrapped by errors about definitions that cannot bind.
var ErrDefinitions = errors.New("the definitions that you have approved cannot bind")

// maxDefined is how many bytes of definitions a request shows at most; a small context has less.
const maxDefined = 4 << 10

// define reads the definitions that bind. Two that contradict each other are an error.
func (r *run) define(ctx context.Context) error {
	if r.definitions = nil; r.t.Method.Script || r.cfg.Baseline != nil {
		return nil
	}
	var all []definitions.Definition
	for _, a := range r.cfg.Approved {
		found, err := definitions.Parse(ctx, a.Files, r.parseForeign)
		if err != nil {
			return cmp.Or(ctx.Err(), fmt.Errorf("%w: %s: %w", ErrDefinitions, a.Root, err))
		}
		for _, d := range found {
			bound := record.Definition{Definition: d, Root: a.Root, Once: a.Once}
			for _, f := range a.Files {
				if f.IsForeign() && strings.HasPrefix(d.Place, f.Name+",") {
					bound.File = definitions.Digest([]definitions.File{f})
				}
			}
			r.definitions, all = append(r.definitions, bound), append(all, d)
		}
	}
	if err := definitions.Conflict(all); err != nil {
		return fmt.Errorf("%w: %w", ErrDefinitions, err)
	}
	return r.defineFunctions(ctx)
}

// parseForeign runs the program that parses foreign formats, which has the files in its code.
func (r *run) parseForeign(ctx context.Context, script string) (string, error) {
	return journal.Once(ctx, r.t.Journal, "definitions", script, func(ctx context.Context) (string, error) {
		defer r.kernel.Start()()
		x, err := runAlone(ctx, r.cfg.RunScript, script, time.Minute)
		if err == nil && x.Status != notebook.OK {
			err = fmt.Errorf("the files cannot be parsed: %s", lastWords(x))
		}
		return x.Stdout(), err
	})
}

// defineFunctions has the sessions get the functions of definitions, whose cases run before, on the data:
// one that fails is an error. Where no sandbox confines the cells, there are none.
func (r *run) defineFunctions(ctx context.Context) error {
	var tools []lesson.Tool
	tests := ""
	for _, d := range r.definitions {
		tool, _ := lesson.ToolIn(d.Code, "")
		switch {
		case tool.Name == "" || !r.cfg.Confined:
			continue
		case tool.Test == "":
			return fmt.Errorf("%w: the function of the %s has no case, assert %s(…) == VALUE", ErrDefinitions, d, tool.Name)
		}
		tests += "try:\n    " + strings.ReplaceAll(strings.TrimSpace(tool.Test), "\n", "\n    ") +
			"\nexcept BaseException as e:\n    raise SystemExit(" + brief.Python(d.String()+": ") + " + repr(e))\n"
		tool.Test, tool.Binds = "", true
		tools = append(tools, tool)
	}
	if r.t.Bind(tools); len(tools) == 0 {
		return nil
	}
	fault, err := r.toolFault(ctx, lesson.Module(tools), tests)
	if err == nil && fault != "" {
		err = fmt.Errorf("%w: a function of theirs: %s", ErrDefinitions, fault)
	}
	return err
}

// near returns the definitions nearest to the question, and those before it, for which there is room at some
// sizes, and those that have none although the questions use them.
func (r *run) near(all []record.Definition, show record.Sizes) (near, omitted []record.Definition) {
	bare := func(d record.Definition) definitions.Definition { return d.Definition }
	asked := strings.Join(lists.Map(r.t.Questions, (*record.Question).Asks), "\n")
	first, rest := definitions.Near(lists.Map(all, bare), asked, min(maxDefined, show.Context/8))
	at := func(i int) record.Definition { return all[i] }
	return lists.Map(first, at), lists.Map(rest, at)
}

// chooseDefinitions takes those that requests about the question show, and tells which that it uses have no
// room there.
func (r *run) chooseDefinitions() error {
	near, omitted := r.near(r.definitions, r.asker.Sizes())
	r.t.Question.Definitions = near
	used := lists.Where(omitted, func(d record.Definition) bool { return d.Used(r.t.Asks()) })
	if used == nil {
		return nil
	}
	return r.Warn("requests have no room for a definition that the question uses: " +
		strings.Join(lists.Map(used, record.Definition.String), ", "))
}

// shownDefinitions returns the definitions as requests show them, with the heads of their functions.
func (r *run) shownDefinitions(show record.Sizes) string {
	var texts []string
	near, _ := r.near(r.t.Question.Definitions, show)
	for _, d := range near {
		tool, _ := lesson.ToolIn(d.Code, "")
		if !r.cfg.Confined {
			tool.Code = "" // no session has it
		}
		texts = append(texts, strings.TrimSpace(fmt.Sprintf("%s (%s)\n\n%s\n\n%s",
			strings.Join(append([]string{d.Term}, d.Also...), ", "), d.Place, d.Text, tool.Head())))
	}
	return strings.Join(texts, "\n\n---\n\n")
}

// ignored says which definitions the question uses and the cells seem to ignore, a line each.
func (r *run) ignored() (lines string) {
	code := strings.Join(slices.Concat(r.t.Chain().Earlier, r.t.OwnCells()), "\n")
	for _, d := range r.t.Question.Definitions {
		if lacks := d.Ignored(code); lacks != "" && d.Used(r.t.Asks()) {
			lines += d.Term + ": " + lacks + "\n"
		}
	}
	return lines
}

// ChangedDefinition names a definition that requests have shown and that is not any more as it was then;
// "" if there is none. A folder or file that is gone is not looked at; one that cannot be read has changed.
func ChangedDefinition(ctx context.Context, t *record.Trajectory) string {
	now, roots := map[string]bool{}, map[string]error{} // digests of what there is, and the roots that were read
	for _, q := range t.Questions {
		for _, d := range q.Definitions {
			err, read := roots[d.Root]
			if !read {
				err = addDigests(ctx, d.Root, now)
				roots[d.Root] = err
			}
			if !errors.Is(err, fs.ErrNotExist) && (err != nil || !now[cmp.Or(d.File, d.Digest())]) {
				return d.Term + " in " + d.Place
			}
		}
	}
	return ""
}

// addDigests adds the digests of the files of a root, and of their definitions in Markdown.
func addDigests(ctx context.Context, root string, all map[string]bool) error {
	files, err := definitions.Files(root)
	for _, f := range files {
		one := []definitions.File{f}
		if all[definitions.Digest(one)] = true; f.IsForeign() {
			continue
		}
		found, _ := definitions.Parse(ctx, one, nil) // what cannot be read any more has changed
		for _, d := range found {
			all[d.Digest()] = true
		}
	}
	return err
}
