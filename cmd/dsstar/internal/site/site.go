package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// A Site is where the sessions of a run are opened: in new kernels, local or on a server, or, for
// the main session, in a running kernel of the user's.
type Site struct {
	Spec   kernel.Spec   // of new kernels
	Server kernel.Server // on which they are started; zero: locally
	Guest  *Guest        // nil: every kernel is new
	Way    notebook.Way  // how the main session goes back; "" before it is open
	Box    sandbox.Box   // of new local kernels

	confined string // the sandbox in words, with what the user has relaxed
}

// A Guest is a run in a kernel that belongs to the user.
type Guest struct {
	kernel.Running
	Name    string   // the argument of --kernel
	dial    bool     // connect through its server, not by its connection file
	discard bool     // the server may drop output that it has buffered for another client
	Keep    []string // names that keep the values that cells gave them; "all": every name
}

// Place chooses where sessions are opened and how they are confined. It starts nothing.
func (h Host) Site(ctx context.Context, s *configs.Settings, say func(string)) (Site, error) {
	if err := h.temporary(); err != nil {
		return Site{}, err
	}
	p, err := h.findSite(ctx, s, say)
	if err == nil {
		err = h.confine(&p, s, say)
	}
	return p, err
}

func (h Host) findSite(ctx context.Context, s *configs.Settings, say func(string)) (Site, error) {
	if s.Python != "" || s.Kernel == "" && s.Server == "" {
		spec, err := h.Spec(ctx, s, say)
		return Site{Spec: spec}, err
	}
	v, err := h.Survey(ctx, s)
	if err != nil {
		return Site{}, err
	}
	if v.named != nil {
		return v.siteOnServer(s.Kernel)
	}
	spec, running, err := v.choose(s.Kernel, v.Specs, v.Kernels)
	if err != nil {
		return Site{}, err
	}
	if spec != nil {
		spec, err := h.ownKernel(ctx, s, spec.Name)
		return Site{Spec: spec}, err
	}
	return v.visiting(*running, running.File == ""), nil
}

// siteOnServer chooses by name among the kernels and kernelspecs of the server of --server.
func (v Survey) siteOnServer(name string) (Site, error) {
	w := v.named
	if w.Err != nil && len(w.Specs) == 0 {
		return Site{}, w.Err
	}
	kernels := slices.DeleteFunc(slices.Clone(v.Kernels),
		func(k kernel.Running) bool { return k.Server.URL != w.URL })
	spec, running, err := v.choose(cmp.Or(name, w.preferred), w.Specs, kernels)
	switch {
	case err != nil && w.Err != nil: // the server may not have listed it
		return Site{}, w.Err
	case err != nil:
		return Site{}, err
	case running != nil:
		return v.visiting(*running, true), nil
	case spec.Language != "" && !strings.EqualFold(spec.Language, "python"):
		return Site{}, usage.New(fmt.Sprintf("%s of %s is a kernel for %s, but cells are Python",
			spec.Name, w.URL, spec.Language),
			v.hints(w.Specs, kernels)...)
	}
	return Site{Spec: *spec, Server: w.Server}, nil
}

// visiting returns the place of a run in a kernel of the user's. The run's other kernels are on the
// same machine or server.
func (v Survey) visiting(k kernel.Running, dial bool) Site {
	p := Site{Guest: &Guest{Running: k, Name: v.Name(k), dial: dial}}
	if k.File == "" {
		p.Server, p.Spec = k.Server, kernel.Spec{Name: k.Spec, DisplayName: k.Spec}
	}
	return p
}

// choose returns the kernelspec or running kernel with a name. An unknown or ambiguous name is a
// usage error.
func (v Survey) choose(name string, specs []kernel.Spec,
	kernels []kernel.Running) (*kernel.Spec, *kernel.Running, error) {
	named := slices.Clone(specs)
	named = slices.DeleteFunc(named,
		func(s kernel.Spec) bool { return !strings.EqualFold(s.Name, name) })
	k, err := kernel.Choose(name, kernels)
	matches := []kernel.Running{k}
	if missing, ok := errors.AsType[*kernel.NotFoundError](err); ok {
		matches = missing.Matches
	}
	switch {
	case len(named) == 1 && len(matches) == 0:
		return &named[0], nil, nil
	case len(named) == 0 && len(matches) == 1:
		return nil, &matches[0], nil
	case len(named)+len(matches) > 1:
		return nil, nil, usage.New(fmt.Sprintf("--kernel: %q is ambiguous", name),
			v.hints(named, matches)...)
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() && filepath.Ext(name) == ".json" &&
		v.named == nil {
		id := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(name), ".json"), "kernel-")
		// a file outside Jupyter's folder
		return nil, &kernel.Running{ID: id, File: name, Since: info.ModTime()}, nil
	}
	return nil, nil, usage.New(
		fmt.Sprintf("--kernel: no kernelspec or running kernel is named %q", name),
		v.hints(specs, kernels)...)
}

// MayDrop sets whether the server may drop output that it has buffered for another client: with
// consent, or if nobody is connected.
func (g *Guest) MayDrop(consent bool) { g.discard = consent || g.dial && g.Connections == 0 }

// maxHints is the maximum number of kernels that an error lists.
const maxHints = 8

// Hints returns commands that choose one of some running kernels, and one that lists all.
func Hints(some, running []kernel.Running) []usage.Hint {
	return Survey{Kernels: running}.hints(nil, some)
}

// hints returns commands that choose one of the kernels, and one that lists all.
func (v Survey) hints(specs []kernel.Spec, kernels []kernel.Running) []usage.Hint {
	var server []string
	if v.named != nil {
		server = []string{"--server", v.named.URL}
	}
	var hints []usage.Hint
	for _, s := range specs {
		choice := usage.Again(slices.Concat(server, []string{"--kernel", s.Name})...).Fresh()
		if len(specs) == 1 && len(kernels) > 0 && len(s.Argv) > 0 && server == nil {
			choice = usage.Again("--python", s.Argv[0]).But("kernel") // its name is ambiguous
		}
		hints = append(hints, choice.Note("kernelspec: "+s.DisplayName))
	}
	for _, k := range kernels {
		choice := usage.Again(slices.Concat(server, []string{"--kernel", v.Name(k)})...)
		hints = append(hints, choice.Note("running: "+About(k)))
	}
	if len(hints) > maxHints {
		hints = hints[:maxHints]
	}
	if server == nil {
		return append(hints, ManagedHint, usage.Shell("dsstar kernels"))
	}
	return append(hints, usage.Shell("dsstar kernels --server %s", v.named.URL))
}

// ManagedHint is the hint to use dsstar's own Python instead of a kernel of the user's.
var ManagedHint = usage.Without("kernel").Note("the Python that dsstar sets up itself")

// Identity describes k in a few words.
func Identity(k kernel.Running) string {
	var words []string
	for _, word := range []string{k.Spec, k.Notebook} {
		if word != "" {
			words = append(words, term.Printable(word))
		}
	}
	if k.Dir != "" {
		words = append(words, "in "+term.Printable(k.Dir))
	}
	if k.Server.URL != "" {
		words = append(words, "of "+k.Server.URL)
	}
	return cmp.Or(strings.Join(words, ", "), k.File, k.ID)
}

// About is Identity with the state of k.
func About(k kernel.Running) string {
	state := cmp.Or(k.State, "running")
	if !k.Since.IsZero() && k.State != "busy" {
		state += ", active " + Ago(time.Since(k.Since))
	}
	return Identity(k) + ", " + state
}

// NotOurs describes the unsandboxed kernels of the place and the question about them; lines is
// nil if every kernel is sandboxed.
func (p *Site) NotOurs() (lines []string, what, question string) {
	g := p.Guest
	if g == nil && p.Server.URL != "" {
		return []string{
			"server   " + p.Server.URL +
				": its kernels are not in dsstar's sandbox. The cells that the model writes run there",
			"         with all rights that the server has.",
		}, "running cells unsandboxed, in kernels of a server,", "         Run them there? [y/N] "
	}
	if g == nil {
		return nil, "", ""
	}
	lines = []string{
		fmt.Sprintf("kernel   %s: %s", g.Name, About(g.Running)),
		"         It is not dsstar's: it is not restarted or shut down. The cells that the " +
			"model writes run in",
		"         its session, unsandboxed, and use your variables, which are described to the model. " +
			"At the end the",
		"         names are as they were" + g.kept() + "; what a cell changes in place stays changed.",
	}
	if g.dial && g.Connections == 0 {
		lines = append(lines,
			"         Nobody is connected to it: output that its server keeps for whoever was is dropped.")
	}
	if g.State == "busy" {
		lines = append(lines, "         It is busy: the run waits for it.")
	}
	return lines, "attaching to a running kernel", "         Attach to it? [y/N] "
}

// Warnings returns the place's warnings for the record.
func (p Site) Warnings() []string {
	if p.Guest == nil {
		return nil
	}
	return []string{fmt.Sprintf(
		"the cells ran in a kernel that was not the run's own, %s (%s): its names were there for them, "+
			"and going back undid names, not objects or files that were changed in place; "+
			"it goes on beside the proof, which is not apart from it", p.Guest.Name,
		Identity(p.Guest.Running))}
}

// Show lets cells read the run's variables and data but nothing else in the run folder.
func (p *Site) Show(folder record.Folder, data string) {
	p.Box.Own = append(slices.Clone(p.Box.Own), string(folder))
	p.Box.Read = append(slices.Clone(p.Box.Read), folder.Variables())
	if data == "" {
		return
	}
	if !filepath.IsAbs(data) {
		data = filepath.Join(string(folder), data)
	}
	p.Box.Read = append(p.Box.Read, data)
}
