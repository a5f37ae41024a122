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

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
)

// A Use is what a run does with its site.
type Use struct {
	Yes  bool     // the user has agreed in advance to kernels without a sandbox
	Keep []string // names in a kernel of the user's that stay; "all": every name
	Jobs int      // kernels at a time, if more than one
}

// Site chooses where sessions are opened and how they are confined. It starts nothing.
func (h Host) Site(ctx context.Context, s *configs.Settings, use Use,
	say func(string)) (Site, error) {
	at, err := h.find(ctx, s, use, say)
	if err != nil {
		return nil, err
	}
	return at, h.refuse(at.About(), s, use)
}

func (h Host) find(ctx context.Context, s *configs.Settings, use Use,
	say func(string)) (Site, error) {
	if s.Python != "" || s.Kernel == "" && s.Server == "" {
		spec, err := h.Spec(ctx, s, say)
		if err != nil {
			return nil, err
		}
		return h.own(spec, s, use, say)
	}
	v, err := h.Survey(ctx, s)
	if err != nil {
		return nil, err
	}
	spec, running, err := v.chosen(s.Kernel)
	switch {
	case err != nil:
		return nil, err
	case running != nil:
		return h.visiting(v, *running, s, use, say)
	case v.named != nil:
		return &remote{host: h, settings: s, server: v.named.Server, spec: *spec}, nil
	}
	local, err := h.ownKernel(ctx, s, spec.Name)
	if err != nil {
		return nil, err
	}
	return h.own(local, s, use, say)
}

// visiting returns the site of a run in a kernel of the user's.
func (h Host) visiting(v Survey, k kernel.Running, s *configs.Settings, use Use,
	say func(string)) (Site, error) {
	g := &guest{running: k, name: v.Name(k), dial: v.named != nil || k.File == "",
		host: h, settings: s, use: use}
	if k.File == "" {
		g.beside = &remote{host: h, settings: s, server: k.Server,
			spec: kernel.Spec{Name: k.Spec, DisplayName: k.Spec}}
		return g, nil
	}
	beside, err := h.own(kernel.Spec{}, s, use, say) // Look finds its Python
	g.beside = beside
	return g, err
}

// refuse returns an error if a site cannot be used as the user wants.
func (h Host) refuse(at About, s *configs.Settings, use Use) error {
	attached := at.Running != nil
	switch {
	case len(h.Databases) > 0 && (attached || at.Server != ""):
		return usage.New("databases, buckets and clusters are reached from dsstar's own local kernels "+
			"only", usage.Without("kernel", "server"))
	case attached && s.Method.Paper:
		return usage.New("--paper runs every script in a fresh process, not in a running kernel",
			usage.Without("kernel"))
	case !attached && len(use.Keep) > 0:
		return usage.New("--keep needs a running kernel: the run's own kernel ends with it",
			usage.Shell("dsstar kernels"), usage.Again("--kernel", "newest"))
	}
	return nil
}

// chosen returns the kernelspec with a name, or else the running kernel: of the server of --server,
// if one is named. An unknown or ambiguous name is a usage error.
func (v Survey) chosen(name string) (*kernel.Spec, *kernel.Running, error) {
	specs, kernels, w := v.Specs, v.Kernels, v.named
	if w != nil {
		if w.Err != nil && len(w.Specs) == 0 {
			return nil, nil, w.Err
		}
		specs, name = w.Specs, cmp.Or(name, w.preferred)
		kernels = slices.DeleteFunc(slices.Clone(kernels),
			func(k kernel.Running) bool { return k.Server.URL != w.URL })
	}
	same := func(s kernel.Spec) bool { return strings.EqualFold(s.Name, name) }
	if i := slices.IndexFunc(specs, same); i >= 0 {
		return &specs[i], nil, nil
	}
	k, err := kernel.Choose(name, kernels)
	missing, _ := errors.AsType[*kernel.NotFoundError](err)
	info, unread := os.Stat(name)
	switch {
	case err == nil:
		return nil, &k, nil
	case w != nil && w.Err != nil: // the server may not have listed it
		return nil, nil, w.Err
	case len(missing.Matches) > 0:
		return nil, nil, usage.New(fmt.Sprintf("--kernel: %q is ambiguous", name),
			v.hints(nil, missing.Matches)...)
	case w == nil && unread == nil && !info.IsDir() && filepath.Ext(name) == ".json":
		id := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(name), ".json"), "kernel-")
		// a file outside Jupyter's folder
		return nil, &kernel.Running{ID: id, File: name, Since: info.ModTime()}, nil
	}
	return nil, nil, usage.New(
		fmt.Sprintf("--kernel: no kernelspec or running kernel is named %q", name),
		v.hints(specs, kernels)...)
}

// hints returns commands that choose one of the kernels, and one that lists all.
func (v Survey) hints(specs []kernel.Spec, kernels []kernel.Running) (hints []usage.Hint) {
	const most = 8
	list, flags := []usage.Hint{ManagedHint, usage.Shell("dsstar kernels")}, []string{"--kernel"}
	if v.named != nil {
		list = []usage.Hint{usage.Shell("dsstar kernels --server %s", v.named.URL)}
		flags = []string{"--server", v.named.URL, "--kernel"}
	}
	for _, s := range specs {
		hints = append(hints, usage.Again(append(slices.Clone(flags), s.Name)...).Fresh().
			Note("kernelspec: "+s.DisplayName))
	}
	for _, k := range kernels {
		hints = append(hints, usage.Again(append(slices.Clone(flags), v.Name(k))...).
			Note("running: "+InState(k)))
	}
	return append(hints[:min(len(hints), most)], list...)
}

// ManagedHint is the hint to use dsstar's own Python instead of a kernel of the user's.
var ManagedHint = usage.Without("kernel").Note("the Python that dsstar sets up itself")
