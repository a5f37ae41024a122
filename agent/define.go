package agent

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"dsstar/agent/definitions"
	"dsstar/agent/journal"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// Approved are files of definitions that this user has approved, of a folder or file.
type Approved struct {
	Root  string
	Files []definitions.File
	Once  bool // for this run alone
}

// A DefinitionError says why definitions of some roots cannot bind.
type DefinitionError struct {
	Problem string
	Roots   []string
}

func (e *DefinitionError) Error() string { return e.Problem }

const (
	// definedRoom is how many bytes of definitions a request shows at most; a small context has less.
	definedRoom = 4 << 10
	// parsePatience is the time limit of the program that parses foreign formats.
	parsePatience = time.Minute
)

// foreign reports whether a file of definitions is in another format than dsstar's, Markdown.
func foreign(f definitions.File) bool { return strings.ToLower(path.Ext(f.Name)) != ".md" }

// parted returns the files in Markdown and the others.
func parted(files []definitions.File) (own, others []definitions.File) {
	for _, f := range files {
		if foreign(f) {
			others = append(others, f)
		} else {
			own = append(own, f)
		}
	}
	return own, others
}

// define reads the definitions that bind. Two that contradict each other are an error.
func (r *run) define(ctx context.Context) error {
	if r.definitions = nil; r.t.Method.Script || r.cfg.Baseline != nil {
		return nil
	}
	r.t.Foreign, r.t.Named = map[string][]string{}, nil
	var all []definitions.Definition
	for _, a := range r.cfg.Approved {
		own, others := parted(a.Files)
		for i, files := range [][]definitions.File{own, others} {
			found, err := definitions.Parse(ctx, files, r.parseForeign)
			if err != nil {
				return cmp.Or(ctx.Err(), error(&DefinitionError{a.Root + ": " + err.Error(), []string{a.Root}}))
			}
			for _, d := range found {
				r.definitions = append(r.definitions, record.Definition{Definition: d, Root: a.Root, Foreign: i > 0})
			}
			all = append(all, found...)
		}
		for _, f := range others {
			r.t.Foreign[a.Root] = append(r.t.Foreign[a.Root], definitions.Digest([]definitions.File{f}))
		}
		if a.Once {
			r.t.Named = append(r.t.Named, record.Named{Path: a.Root, Digest: definitions.Digest(a.Files)})
		}
	}
	if err := definitions.Conflict(all); err != nil {
		return r.undefined(err.Error())
	}
	return nil
}

// undefined returns the error for definitions that cannot bind.
func (r *run) undefined(problem string) error {
	e := &DefinitionError{Problem: problem}
	for _, a := range r.cfg.Approved {
		e.Roots = append(e.Roots, a.Root)
	}
	return e
}

// parseForeign runs the program that parses files of foreign formats, which has them in its code.
func (r *run) parseForeign(ctx context.Context, script string) (string, error) {
	return journal.Once(ctx, r.t.Journal, "definitions", script, func(ctx context.Context) (string, error) {
		defer r.kernel.Start()()
		x, err := runAlone(ctx, r.cfg.RunScript, script, parsePatience)
		if err == nil && x.Status != notebook.OK {
			err = fmt.Errorf("its files cannot be parsed: %s", lastWords(x))
		}
		return x.Stdout(), err
	})
}

// defineFunctions has the sessions get the functions of definitions, whose cases run before, on the data.
// One that fails is an error, as the user has approved it. Where no sandbox confines the cells, there are
// none.
func (r *run) defineFunctions(ctx context.Context) error {
	r.t.Defined = nil
	var tools []lesson.Tool
	tests := map[string]string{} // by the definition
	for _, d := range r.definitions {
		tool, out := lesson.ToolIn(d.Code, "")
		taken := slices.ContainsFunc(tools, func(t lesson.Tool) bool { return t.Name == tool.Name })
		switch {
		case tool.Name == "": // it has no function
			continue
		case len(out) > 0:
			return r.undefined(fmt.Sprintf("the code of the %s may have imports, functions and cases, but not %.60s", d, out[0]))
		case tool.Test == "":
			return r.undefined(fmt.Sprintf("the function %s of the %s has no case: a line assert %[1]s(…) == VALUE", tool.Name, d))
		case taken:
			return r.undefined(fmt.Sprintf("the %s has a function %s, as another definition has", d, tool.Name))
		}
		tests[d.String()], tool.Test = tool.Test, ""
		tools = append(tools, tool)
	}
	switch {
	case len(tools) == 0:
		return nil
	case !r.cfg.Confined:
		return r.Warn("the functions of definitions are left out: no sandbox confines what they do")
	}
	module, every := lesson.Module(tools), ""
	for _, d := range r.definitions {
		every += tests[d.String()] + "\n"
	}
	fault, err := r.toolFault(ctx, module, every)
	if fault == "" && err == nil {
		r.t.Defined = tools
		return nil
	}
	for _, d := range r.definitions { // all run in one process, and alone only if one fails
		if fault == "" || err != nil {
			break
		}
		if test := tests[d.String()]; test != "" {
			var of string
			if of, err = r.toolFault(ctx, module, test); of != "" {
				fault = fmt.Sprintf("the function of the %s: %s", d, of)
				break
			}
		}
	}
	return cmp.Or(err, r.undefined(fault))
}

// near returns the definitions nearest to the question, and those before it, for which there is room at some
// sizes.
func (r *run) near(all []record.Definition, show record.Sizes) (near []record.Definition) {
	var plain []definitions.Definition
	for _, d := range all {
		plain = append(plain, d.Definition)
	}
	asked := ""
	for _, q := range r.t.Questions {
		asked += q.Text + "\n" + q.Guidelines + "\n"
	}
	for _, d := range definitions.Near(plain, asked, min(definedRoom, show.Context/8)) {
		near = append(near, all[slices.IndexFunc(all, func(o record.Definition) bool {
			return o.Place == d.Place && o.Digest() == d.Digest()
		})])
	}
	return near
}

// shownDefinitions returns the definitions as requests show them, with the heads of their functions.
func (r *run) shownDefinitions(show record.Sizes) (shown []prompts.Definition) {
	for _, d := range r.near(r.t.Question.Definitions, show) {
		p := prompts.Definition{Term: strings.Join(append([]string{d.Term}, d.Also...), ", "), Place: d.Place,
			Text: d.Text}
		if tool, _ := lesson.ToolIn(d.Code, ""); len(r.t.Defined) > 0 {
			p.Function = tool.Head()
		}
		shown = append(shown, p)
	}
	return shown
}

// ignored says which definitions the question uses and the cells seem to ignore, a line each.
func (r *run) ignored() (lines string) {
	code := strings.Join(slices.Concat(r.t.Chain().Earlier, r.t.OwnCells()), "\n")
	for _, d := range r.t.Question.Definitions {
		if d.Used(r.t.Task.Question + "\n" + r.t.Task.Guidelines) {
			if lacks := d.Ignored(code); lacks != "" {
				lines += d.Term + ": " + lacks + "\n"
			}
		}
	}
	return lines
}

// ChangedDefinition names a definition that requests have shown and that is not any more as it was then;
// "" if there is none. Folders and files that are gone are not looked at.
func ChangedDefinition(ctx context.Context, t *record.Trajectory) string {
	read := map[string]map[string]bool{} // digests of what there is now, by root; nil: nothing is looked at
	for _, q := range t.Questions {
		for _, d := range q.Definitions {
			now, known := read[d.Root]
			if !known {
				now = digestsIn(ctx, d.Root)
				read[d.Root] = now
			}
			among := []string{d.Digest()}
			if d.Foreign {
				among = t.Foreign[d.Root]
			}
			if now != nil && slices.ContainsFunc(among, func(digest string) bool { return !now[digest] }) {
				return d.Term + " in " + d.Place
			}
		}
	}
	return ""
}

// digestsIn returns the digests of the definitions in Markdown, and of other files, that a root has; nil if
// it cannot be read.
func digestsIn(ctx context.Context, root string) map[string]bool {
	files, err := definitions.Files(root)
	if err != nil {
		return nil
	}
	all := map[string]bool{}
	own, others := parted(files)
	found, _ := definitions.Parse(ctx, own, nil) // what cannot be read any more has changed
	for _, d := range found {
		all[d.Digest()] = true
	}
	for _, f := range others {
		all[definitions.Digest([]definitions.File{f})] = true
	}
	return all
}
