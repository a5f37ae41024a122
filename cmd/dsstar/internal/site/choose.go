package site

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// surveyTime is the deadline for servers to list their kernels.
const surveyTime = 3 * time.Second

// A Survey lists what can be started or attached to.
type Survey struct {
	Specs   []kernel.Spec // local
	Kernels []kernel.Running
	Servers []Surveyed
	named   *Surveyed // the server of --server
}

// A Surveyed is a server with its response.
type Surveyed struct {
	kernel.Server
	Specs     []kernel.Spec
	preferred string // the default kernelspec
	Err       error  // why the response is missing or incomplete
}

// Survey asks this machine's servers, and those of JUPYTER_URL and --server. One that does not
// respond is part of the result, not an error.
func (h Host) Survey(ctx context.Context, s *configs.Settings) (v Survey, err error) {
	var named []kernel.Server
	for _, by := range [][2]string{{"JUPYTER_URL", h.Getenv("JUPYTER_URL")}, {"--server", s.Server}} {
		if by[1] == "" {
			continue
		}
		server, err := h.server(by[0], by[1])
		if err != nil {
			return v, err
		}
		named = append(named, server)
	}
	looking, stop := context.WithTimeout(ctx, surveyTime)
	defer stop()
	found := kernel.Discover(looking, h.Lookup(), named...)
	v.Kernels, v.Servers = found.Kernels, make([]Surveyed, len(found.Servers))
	v.Specs, _ = kernel.Specs(h.Lookup()) // the readable ones
	asking, end := context.WithTimeout(ctx, surveyTime)
	defer end()
	var all sync.WaitGroup
	for i, server := range found.Servers {
		all.Go(func() {
			w := &v.Servers[i]
			w.Server = server
			w.Specs, w.preferred, w.Err = server.Specs(asking)
			for _, err := range found.Errors { // a gateway may list kernelspecs but no kernels
				if refused, ok := errors.AsType[*kernel.ServerError](err); ok && refused.URL == w.URL &&
					w.Err == nil {
					w.Err = err
				}
			}
			if _, refused := errors.AsType[*kernel.ServerError](w.Err); w.Err != nil && !refused {
				w.Err = fmt.Errorf("%s %w: %w", w.URL, ErrUnreachable, w.Err)
			}
		})
	}
	all.Wait()
	if s.Server != "" {
		v.named = &v.Servers[len(v.Servers)-1]
	}
	return v, nil
}

// Lookup says where to look for Jupyter's files.
func (h Host) Lookup() kernel.Lookup {
	home, _ := os.UserHomeDir() // without one, the user's kernelspecs are not found
	return kernel.Lookup{Getenv: h.Getenv, Home: home}
}

// server returns the server that the user names. Its token comes from the address, a local server's
// own file, JUPYTER_TOKEN or, for a server of a hub, JUPYTERHUB_API_TOKEN, in this order.
func (h Host) server(from, address string) (kernel.Server, error) {
	server, err := kernel.NewServer(address, "")
	if err != nil { // its text contains the address, perhaps with a token
		return server, usage.New(from+" is not the address of a Jupyter server",
			usage.Shell("dsstar kernels --server http://localhost:8888/"),
			usage.Shell("jupyter server list"))
	}
	here := strings.NewReplacer("//localhost:", "//127.0.0.1:", "//[::1]:", "//127.0.0.1:") // names of this machine
	for _, l := range kernel.LocalServers(h.Lookup()) {
		if here.Replace(l.URL) == here.Replace(server.URL) {
			l.Token = cmp.Or(server.Token, l.Token)
			server = l
			break
		}
	}
	server.Token = cmp.Or(server.Token, h.Getenv("JUPYTER_TOKEN"))
	if server.Token == "" && strings.Contains(server.URL, "/user/") {
		server.Token = h.Getenv("JUPYTERHUB_API_TOKEN")
	}
	return server, nil
}

// Name returns the --kernel argument for a running kernel: the beginning of its id, if that is
// unambiguous.
func (v Survey) Name(k kernel.Running) string {
	for _, name := range []string{k.ID[:min(8, len(k.ID))], k.ID} {
		taken := slices.ContainsFunc(v.Specs,
			func(s kernel.Spec) bool { return strings.EqualFold(s.Name, name) })
		if got, err := kernel.Choose(name, v.Kernels); err == nil && got.ID == k.ID && !taken {
			return name
		}
	}
	return cmp.Or(k.File, k.ID)
}

// Ago formats a duration relative to now.
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// ErrUnreachable says that a server does not respond.
var ErrUnreachable = errors.New("does not answer")

// Identity describes k in a few words.
func Identity(k kernel.Running) string {
	words := slices.DeleteFunc([]string{ui.Printable(k.Spec), ui.Printable(k.Notebook)},
		func(word string) bool { return word == "" })
	if k.Dir != "" {
		words = append(words, "in "+ui.Printable(k.Dir))
	}
	if k.Server.URL != "" {
		words = append(words, "of "+k.Server.URL)
	}
	return cmp.Or(strings.Join(words, ", "), k.File, k.ID)
}

// InState is Identity with the state of k.
func InState(k kernel.Running) string {
	state := cmp.Or(k.State, "running")
	if !k.Since.IsZero() && k.State != "busy" {
		state += ", active " + Ago(time.Since(k.Since))
	}
	return Identity(k) + ", " + state
}

// look checks a kernel of the user's or a new one of a server, at where, and closes it. It returns
// the kernel's Python.
func look(ctx context.Context, k *kernel.Kernel, where string, folders []string) (python string, err error) {
	defer k.Close()
	temporary, err := disk.TempFolder("", "dsstar-look-")
	if err != nil {
		return "", err
	}
	defer disk.RemoveTemp(temporary)
	if info := k.Info(); info.Implementation != "ipython" {
		return "", usage.New(fmt.Sprintf("the kernel %s is %s, but cells need IPython",
			info.Name, cmp.Or(info.Implementation, "unknown")),
			usage.Shell("dsstar kernels"))
	}
	modules, _ := json.Marshal(Required[1:]) // strings cannot fail; the kernel has ipykernel
	paths, _ := json.Marshal(append(folders, temporary))
	e, err := k.Execute(ctx, fmt.Sprintf(lookCode, modules, paths))
	if err != nil {
		return "", err
	}
	var seen struct {
		Python  string
		Missing []string // required modules
		Unseen  []string // folders and files that are missing or unreadable
	}
	unread := json.Unmarshal([]byte(e.Stdout()), &seen)
	switch {
	case unread != nil || e.Status != notebook.OK || seen.Python == "":
		return "", fmt.Errorf("the kernel did not report its Python: %s", ui.Fit(e.PlainText(), 300))
	case len(seen.Unseen) > 0: // the last may be the folder for temporary files
		return "", usage.New(fmt.Sprintf("%s does not see %s: its kernels must run on this machine or "+
			"share its folders, as the same user", where, strings.Join(seen.Unseen, ", ")),
			usage.Without("kernel", "server").Note("with kernels of this machine"),
			usage.Shell("export TMPDIR=DIR   # if it does not see the folder for temporary files"))
	case len(seen.Missing) > 0:
		return "", usage.New(fmt.Sprintf("the Python of %s (%s) lacks %s", where, seen.Python,
			strings.Join(seen.Missing, ", ")),
			usage.Shell("%s -m pip install "+strings.Join(seen.Missing, " "), seen.Python))
	}
	return seen.Python, nil
}

// lookCode is an expression, so that it binds no name.
const lookCode = `print(__import__("json").dumps({
    "python": __import__("sys").executable,
    "missing": [m for m in %s if __import__("importlib.util").util.find_spec(m) is None],
    "unseen": [d for os in [__import__("os")] for d in %s
               if not os.access(d, 5 if os.path.isdir(d) else 4)],
}))`

// A Use is what a run does with its site.
type Use struct {
	Yes  bool     // the user has agreed in advance to kernels without a sandbox
	Keep []string // names in a kernel of the user's that stay; "all": every name
	Jobs int      // kernels at a time, if more than one
}

// Site chooses where sessions are opened and how they are confined. It starts nothing.
func (h Host) Site(ctx context.Context, s *configs.Settings, use Use, say func(string)) (Site, error) {
	at, err := h.find(ctx, s, use, say)
	if err != nil {
		return nil, err
	}
	return at, h.refuse(at.About(), s, use)
}

func (h Host) find(ctx context.Context, s *configs.Settings, use Use, say func(string)) (Site, error) {
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
func (h Host) visiting(v Survey, k kernel.Running, s *configs.Settings, use Use, say func(string)) (Site, error) {
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
