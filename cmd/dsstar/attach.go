package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// A place is where the sessions of a run are opened: in new kernels, local or on a server, or for
// the main session in a kernel of the user's.
type place struct {
	spec   kernel.Spec   // of new kernels
	server kernel.Server // on which they are started; zero: locally
	guest  *guest        // nil: every kernel is new
	way    notebook.Way  // how the main session goes back; "" before it is open
	box    sandbox.Box   // of new local kernels

	confined string // the sandbox in words, with what the user has relaxed
}

// A guest is a run in a kernel that belongs to the user.
type guest struct {
	kernel.Running
	name    string   // the argument of --kernel
	dial    bool     // connect by its server, not by its connection file
	discard bool     // the server may drop output that it has buffered for another client
	keep    []string // names that keep the values that cells gave them; "all": every name
}

// place chooses where sessions are opened and how they are confined. It starts nothing.
func (a *app) place(ctx context.Context, s *configs.Settings, say func(string)) (place, error) {
	p, err := a.findPlace(ctx, s, say)
	if err == nil {
		err = p.confine(s, say)
	}
	return p, err
}

func (a *app) findPlace(ctx context.Context, s *configs.Settings, say func(string)) (place, error) {
	if s.Python != "" || s.Kernel == "" && s.Server == "" {
		spec, err := a.spec(ctx, s, say)
		return place{spec: spec}, err
	}
	v, err := a.survey(ctx, s)
	if err != nil {
		return place{}, err
	}
	if v.named != nil {
		return v.placeOnServer(s.Kernel)
	}
	spec, running, err := v.choose(s.Kernel, v.specs, v.kernels)
	if err != nil {
		return place{}, err
	}
	if spec != nil {
		spec, err := a.ownKernel(ctx, s, spec.Name)
		return place{spec: spec}, err
	}
	return v.visiting(*running, running.File == ""), nil
}

// placeOnServer chooses by name among the kernels and kernelspecs of the server of --server.
func (v survey) placeOnServer(name string) (place, error) {
	w := v.named
	if w.err != nil && len(w.specs) == 0 {
		return place{}, w.err
	}
	kernels := slices.DeleteFunc(slices.Clone(v.kernels), func(k kernel.Running) bool { return k.Server.URL != w.URL })
	spec, running, err := v.choose(cmp.Or(name, w.preferred), w.specs, kernels)
	switch {
	case err != nil && w.err != nil: // the server may not have listed it
		return place{}, w.err
	case err != nil:
		return place{}, err
	case running != nil:
		return v.visiting(*running, true), nil
	case spec.Language != "" && !strings.EqualFold(spec.Language, "python"):
		return place{}, usage.New(fmt.Sprintf("%s of %s is a kernel for %s, and cells are Python", spec.Name, w.URL, spec.Language),
			v.hints(w.specs, kernels)...)
	}
	return place{spec: *spec, server: w.Server}, nil
}

// visiting returns the place of a run in a kernel of the user's. Its other kernels run beside that
// kernel: locally, or on the same server.
func (v survey) visiting(k kernel.Running, dial bool) place {
	p := place{guest: &guest{Running: k, name: v.name(k), dial: dial}}
	if k.File == "" {
		p.server, p.spec = k.Server, kernel.Spec{Name: k.Spec, DisplayName: k.Spec}
	}
	return p
}

// choose returns the kernelspec or running kernel with a name. An unknown or ambiguous name is a
// usage error.
func (v survey) choose(name string, specs []kernel.Spec, kernels []kernel.Running) (*kernel.Spec, *kernel.Running, error) {
	named := slices.Clone(specs)
	named = slices.DeleteFunc(named, func(s kernel.Spec) bool { return !strings.EqualFold(s.Name, name) })
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
		return nil, nil, usage.New(fmt.Sprintf("--kernel: %q is the name of more than one", name), v.hints(named, matches)...)
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() && filepath.Ext(name) == ".json" && v.named == nil {
		id := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(name), ".json"), "kernel-")
		return nil, &kernel.Running{ID: id, File: name, Since: info.ModTime()}, nil // a file outside Jupyter's folder
	}
	return nil, nil, usage.New(fmt.Sprintf("--kernel: there is no kernelspec and no running kernel %q", name), v.hints(specs, kernels)...)
}

// maxHints is the maximum number of kernels that an error lists.
const maxHints = 8

// hints returns commands that choose one of the kernels, and one that lists all.
func (v survey) hints(specs []kernel.Spec, kernels []kernel.Running) []usage.Hint {
	var server []string
	if v.named != nil {
		server = []string{"--server", v.named.URL}
	}
	var hints []usage.Hint
	for _, s := range specs {
		choice := usage.Again(slices.Concat(server, []string{"--kernel", s.Name})...)
		if len(specs) == 1 && len(kernels) > 0 && len(s.Argv) > 0 && server == nil {
			choice = usage.Again("--python", s.Argv[0]).But("kernel") // its name is ambiguous
		}
		hints = append(hints, choice.Note("kernelspec: "+s.DisplayName))
	}
	for _, k := range kernels {
		choice := usage.Again(slices.Concat(server, []string{"--kernel", v.name(k)})...)
		hints = append(hints, choice.Note("running: "+about(k)))
	}
	if len(hints) > maxHints {
		hints = hints[:maxHints]
	}
	if server == nil {
		return append(hints, managed, usage.Shell("dsstar kernels"))
	}
	return append(hints, usage.Shell("dsstar kernels --server %s", v.named.URL))
}

// managed is the hint to use no kernel of the user's.
var managed = usage.Without("kernel").Note("the Python that dsstar sets up itself")

// identity describes k in a few words.
func identity(k kernel.Running) string {
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

// about is identity with the state of k.
func about(k kernel.Running) string {
	state := cmp.Or(k.State, "running")
	if !k.Since.IsZero() && k.State != "busy" {
		state += ", active " + ago(time.Since(k.Since))
	}
	return identity(k) + ", " + state
}

// consent names the unsandboxed kernels that the run will use and asks the user to agree.
func (a *app) consent(ctx context.Context, j *job) error {
	lines, what, question := j.place.notOurs()
	if lines == nil {
		return nil
	}
	g := j.place.guest
	buffered := g != nil && g.dial && g.Connections == 0
	if g != nil {
		g.discard = buffered || j.yes
	}
	return a.agree(ctx, j.progress, j.yes, lines, what, question)
}

// agree shows lines and asks the user to agree. --yes agrees in advance.
func (a *app) agree(ctx context.Context, p *progress.Progress, yes bool, lines []string, what, question string) error {
	p.Wait("")
	if yes {
		for _, line := range lines {
			p.Say("%s", line)
		}
		return nil
	}
	if !a.stdinTTY || !a.stderrTTY {
		return usage.New(what+" needs --yes where nobody can be asked\n"+strings.Join(lines, "\n"), usage.Again("--yes"))
	}
	for _, line := range lines {
		fmt.Fprintln(a.stderr, "\r\x1b[K"+term.Clean(line))
	}
	return a.ask(ctx, question)
}

// notOurs describes the unsandboxed kernels of the place and the question about them; lines is
// nil if every kernel is sandboxed.
func (p *place) notOurs() (lines []string, what, question string) {
	g := p.guest
	if g == nil && p.server.URL != "" {
		return []string{
			"server   " + p.server.URL + ": its kernels are not in dsstar's sandbox. The cells that the model writes run there",
			"         with all rights that the server has.",
		}, "running cells unsandboxed, in kernels of a server,", "         Run them there? [y/N] "
	}
	if g == nil {
		return nil, "", ""
	}
	lines = []string{
		fmt.Sprintf("kernel   %s: %s", g.name, about(g.Running)),
		"         It is not dsstar's: it is not restarted or shut down. The cells that the model writes run in",
		"         its session, unsandboxed, and use your variables, which are described to the model. At the end the",
		"         names are as they were" + g.kept() + "; what a cell changes in place stays changed.",
	}
	if g.dial && g.Connections == 0 {
		lines = append(lines, "         Nobody is connected to it: output that its server keeps for whoever was is dropped.")
	}
	if g.State == "busy" {
		lines = append(lines, "         It is busy: the run waits until it is not.")
	}
	return lines, "attaching to a running kernel", "         Attach to it? [y/N] "
}

var errDeclined = errors.New("declined, and nothing was run")

// ask asks a yes-or-no question; no is errDeclined.
func (a *app) ask(ctx context.Context, question string) error {
	fmt.Fprint(a.stderr, question)
	answered := make(chan string, 1)
	go func() { // a read from a terminal cannot be cancelled; it ends with the program
		line, _ := bufio.NewReader(a.stdin).ReadString('\n') // at the end of input, what was read is the answer
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
		return errDeclined
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return ctx.Err()
	}
}

// look checks the user's kernel, or a new one on the server, before a run folder is created: it
// must be IPython with the required modules, and see the same folders. Local kernelspecs need
// no check.
func (a *app) look(ctx context.Context, p *place, s *configs.Settings, folders ...string) error {
	if p.guest == nil && p.server.URL == "" {
		return nil
	}
	temporary, err := disk.TempFolder("", "dsstar-look-")
	if err != nil {
		return err
	}
	defer disk.RemoveTemp(temporary)
	k, err := a.openLook(ctx, p, s)
	if err != nil {
		return err
	}
	defer k.Close()
	if info := k.Info(); info.Implementation != "ipython" {
		return usage.New(fmt.Sprintf("the kernel %s is not IPython but %s, and cells are IPython's", info.Name, cmp.Or(info.Implementation, "unknown")),
			usage.Shell("dsstar kernels"))
	}
	seen, err := see(ctx, k, append(folders, temporary))
	if err != nil {
		return err
	}
	switch where := cmp.Or(p.server.URL, "the kernel"); {
	case len(seen.Unseen) > 0:
		return unshared(where, seen.Unseen, temporary)
	case len(seen.Missing) > 0:
		return usage.New(fmt.Sprintf("the Python of %s (%s) lacks %s", where, seen.Python, strings.Join(seen.Missing, ", ")),
			usage.Shell("%s -m pip install "+strings.Join(seen.Missing, " "), seen.Python))
	case p.guest != nil && p.server.URL == "":
		p.spec = kernel.PythonSpec(seen.Python)
	}
	return nil
}

func (a *app) openLook(ctx context.Context, p *place, s *configs.Settings) (*kernel.Kernel, error) {
	o := kernel.Options{CellTimeout: s.CellTimeout, StartTimeout: s.StartTimeout}
	if p.guest != nil {
		return p.guest.attach(ctx, o)
	}
	o.Spec, o.Env = p.spec, a.kernelEnv(s)
	return kernel.Dial(ctx, p.server, "", o)
}

// A sight is a kernel's report on itself.
type sight struct {
	Python  string   `json:"python"`
	Missing []string `json:"missing"` // required modules
	Unseen  []string `json:"unseen"`  // folders that are missing or unreadable
}

// lookCode is an expression, so that it binds no name.
const lookCode = `print(__import__("json").dumps({
    "python": __import__("sys").executable,
    "missing": [m for m in %s if __import__("importlib.util").util.find_spec(m) is None],
    "unseen": [d for d in %s if not __import__("os").access(d, 5)],
}))`

func see(ctx context.Context, k *kernel.Kernel, folders []string) (sight, error) {
	modules, _ := json.Marshal(required[1:]) // strings cannot fail; it has ipykernel
	paths, _ := json.Marshal(folders)
	e, err := k.Execute(ctx, fmt.Sprintf(lookCode, modules, paths))
	if err != nil {
		return sight{}, err
	}
	var seen sight
	if err := json.Unmarshal([]byte(e.Stdout()), &seen); e.Status != notebook.OK || err != nil || seen.Python == "" {
		return sight{}, fmt.Errorf("the kernel does not say which Python it runs: %s", term.Fit(e.PlainText(), 300))
	}
	return seen, nil
}

// unshared is the error for kernels that do not share this machine's folders.
func unshared(where string, folders []string, temporary string) error {
	e := &usage.Error{Text: fmt.Sprintf("%s does not see %s: its kernels must run on this machine or share its folders, as the same user",
		where, strings.Join(folders, ", ")), Hints: []usage.Hint{usage.Without("kernel", "server").Note("with kernels of this machine")}}
	if slices.Equal(folders, []string{temporary}) {
		e.Text = fmt.Sprintf("%s does not see the folder for temporary files, %s", where, filepath.Dir(temporary))
		e.Hints = []usage.Hint{usage.Shell("export TMPDIR=DIR   # a folder that it sees too, and may write to")}
	}
	return e
}

// keptOutputs is the limit in bytes on outputs kept in a run's notebook, which is rewritten
// after each step.
const keptOutputs = 64 << 20

// openAt returns the function that opens sessions. With a keeper the main session's kernel is kept.
// It records in p how that session goes back.
func (a *app) openAt(p *place, s *configs.Settings, keeper *keeper) agent.Open {
	return func(ctx context.Context, purpose agent.Purpose, dir string) (agent.Session, error) {
		o := kernel.Options{Dir: dir, CellTimeout: s.CellTimeout, StartTimeout: s.StartTimeout, Sandbox: p.box}
		o.Outputs.Run = keptOutputs
		var back checkpoint.Options
		files := filepath.Join(dir, "files")
		if purpose == agent.Describe { // it runs in a temporary folder
			o.Sandbox.Read = append(slices.Clone(o.Sandbox.Read), dir)
		} else { // cells see the same in the main session and in the proof
			back.Off, back.Branches = s.Rollback == "off", s.Method.Candidates > 1
			_ = disk.RemoveFolder(copiesIn(dir)) // left over from a run that was killed
		}
		if purpose == agent.Work {
			o.Outputs = kernel.Outputs{Folder: filepath.Join(dir, "outputs"), ShownAs: "outputs", Run: keptOutputs, Files: int64(s.MaxFolder)}
		}
		o.Spec, o.Scratch = p.spec, files
		back.Replay = s.Rollback == "replay"
		if purpose == agent.Work && p.guest != nil {
			p.way = notebook.ByNames
			return p.guest.visit(ctx, o)
		}
		var k *checkpoint.Session
		var err error
		keep := keeper != nil && purpose != agent.Describe
		if keep && p.server.URL == "" {
			o.KeepIn = a.lookup().RuntimeDir()
		}
		if o.Env = a.kernelEnv(s); p.server.URL != "" {
			k, err = dial(ctx, p.server, o, back)
		} else {
			k, err = a.start(ctx, o, back, s, purpose)
		}
		if err != nil {
			return nil, err // not a nil *Kernel in an interface
		}
		if purpose == agent.Work {
			p.way = k.Way()
			if err := requireCheckpoints(s, k); err != nil {
				_ = k.Close() // the first error says more
				return nil, err
			}
		}
		if keep {
			return keptSession{k, keeper}, nil
		}
		return k, nil
	}
}

// dial starts a kernel on a server.
func dial(ctx context.Context, server kernel.Server, o kernel.Options, back checkpoint.Options) (*checkpoint.Session, error) {
	k, err := kernel.Dial(ctx, server, "", o)
	if err != nil {
		return nil, err
	}
	return checkpoint.New(k, back), nil
}

// warnings returns the place's warnings for the record.
func (p place) warnings() []string {
	if p.guest == nil {
		return nil
	}
	return []string{fmt.Sprintf("the cells ran in a kernel that was not the run's own, %s (%s): its names were there for them, "+
		"and going back undid names, not objects or files that were changed in place; "+
		"it goes on beside the proof, which is not apart from it", p.guest.name, identity(p.guest.Running))}
}
