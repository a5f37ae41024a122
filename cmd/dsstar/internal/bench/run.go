package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/agent/bench/trial"
	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/kernels"
	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

// A run is one invocation of bench run.
type run struct {
	*App
	flags    *runFlags
	settings *configs.Settings
	progress *progress.Progress
	suite    *bench.Suite
	folder   *runner.Folder
	trial    trial.Run
	model    llm.Model  // nil: each task replays its replies
	ranker   llm.Ranker // nil: files are ranked by their words
	prices   func(role string) (llm.Price, bool)
	budget   *ask.Budget
	sites    []*site
	python   *bench.Process // for scoring texts
}

// A site is this machine, or a server.
type site struct {
	url      string // "": this machine
	settings *configs.Settings
	mu       sync.Mutex
	site     kernels.Site
	checked  time.Time // when it was last known to work
}

// prepare checks everything that can be checked before anything runs.
func (r *run) prepare(cmd *cobra.Command, past *runner.About) (err error) {
	if err := r.flags.check(r.App, r.settings); err != nil {
		return err
	}
	if r.suite, err = r.flags.open("run"); err != nil {
		return err
	}
	tasks, err := r.flags.choose(r.App, r.suite)
	if err != nil {
		return err
	}
	if err := r.complete(cmd.Context(), tasks, past != nil && r.flags.resume); err != nil {
		return err
	}
	set := asPublished(r.flags.agent, r.settings)
	about, err := r.flags.about(cmd.Flags(), r.settings, tasks, past)
	if err != nil {
		return err
	}
	maps.Copy(about.Setup, set)
	about.Published = publishedBy(r.flags.agent)
	if err := r.openModels(about); err != nil {
		return err
	}
	if err := r.newTrial(); err != nil {
		return err
	}
	if err := r.findPlaces(cmd.Context()); err != nil {
		return err
	}
	r.folder, err = r.flags.folder(about, past)
	return err
}

// newTrial prepares what all tasks share.
func (r *run) newTrial() error {
	config, err := r.AgentConfig(r.settings)
	if err != nil {
		return err
	}
	config.Key, config.Jobs, config.Price = r.Key(), max(1, r.settings.Jobs), r.prices
	agent, _ := solver.Find(r.flags.agent)
	r.trial = trial.Run{
		Out: r.flags.out, Tasks: r.suite.ByID(), Solver: agent.New(r.flags.options(r.settings.Learn)),
		Config: config, Compat: bench.Compat(r.flags.compat), Models: r.modelsOf, Plain: r.python.Run,
	}
	return nil
}

func (r *run) close() {
	r.progress.Stop()
	r.python.Close()
	if r.folder != nil {
		_ = r.folder.Close() // every line is already on disk
	}
}

// complete refuses tasks without data, and reports what else is missing. A resumed run leaves
// such tasks without a result.
func (r *run) complete(ctx context.Context, tasks []bench.Task, goesOn bool) error {
	allowed := slices.Concat(r.settings.AllowRead, r.settings.AllowWrite)
	var lacking, missing, out []string
	has := map[string]bool{} // by the files, which many tasks share
	for _, t := range tasks {
		names := strings.Join(t.Files, "\n") + "\x00" + t.Data
		if _, seen := has[names]; !seen {
			var linked []string
			has[names], linked = trial.Look(ctx, t, allowed)
			out = append(out, linked...)
		}
		if !has[names] {
			lacking = append(lacking, t.ID)
			missing = append(missing, t.Missing...)
			continue
		}
		for _, what := range t.Missing {
			if !slices.Contains(missing, what) {
				missing = append(missing, what)
			}
		}
	}
	if len(lacking) > 0 && !(goesOn && len(lacking) < len(tasks)) {
		text := fmt.Sprintf("%d of %d tasks have no data: %s", len(lacking), len(tasks),
			bench.Some(lacking, 5))
		if len(missing) > 0 {
			text += "\nmissing: " + bench.Some(missing, 10)
		}
		return usage.New(text, usage.Again("--data", "DIR").Note("the folder with the data"),
			usage.Again("--ids", "IDS").Note("other tasks"))
	}
	if len(out) > 0 {
		return linkedOut(out)
	}
	for _, what := range slices.Concat(r.suite.Missing, missing) {
		r.progress.Say("missing  %s", what)
	}
	return nil
}

// linkedOut returns the error for data files that are links out of the data folder, such as into a
// download cache.
func linkedOut(targets []string) error {
	hints := []usage.Hint{usage.Shell(
		"hf download --repo-type dataset --local-dir DIR NAME   # without links")}
	if dir := filepath.Dir(targets[0]); sandbox.MayAdvise(dir) ||
		strings.Contains(dir, "/.cache/huggingface/hub/") {
		hints = append([]usage.Hint{usage.Again("--allow-read", dir)}, hints...)
	}
	return usage.New(fmt.Sprintf(
		"%d data files are links out of the data folder, which cells cannot follow: %s",
		len(targets), bench.Some(targets, 3)), hints...)
}

// openModels opens the models, which all tasks share.
func (r *run) openModels(about runner.About) (err error) {
	priced := *r.settings
	priced.Model = about.Model
	r.prices = r.Prices(&priced)
	r.budget = &ask.Budget{
		Limits: ask.Limits{Calls: r.flags.totalCalls, Cost: r.flags.totalCost, Time: r.flags.totalTime},
		Price:  r.prices,
	}
	if about.Replayed != "" {
		r.progress.Say("model    %s, replayed from %s", about.Model, about.Replayed)
		return nil
	}
	if r.model, err = r.Model(r.settings, r.progress.Retrying); err != nil {
		return err
	}
	r.progress.Say("model    %s", r.ModelLine(r.settings))
	r.ranker, err = r.Ranker(r.settings, r.progress.Retrying)
	return err
}

// asPublished applies the settings that were published with an agent, unless the user has set
// them, and returns them by key.
func asPublished(agentName string, s *configs.Settings) map[string]string {
	n, _ := solver.Find(agentName)
	set := publishedBy(agentName)
	if s.Temperature != nil {
		delete(set, "temperature")
	} else {
		s.Temperature = n.Temperature
	}
	own := func(e configs.Entry) bool { return e.Key == "cell_timeout" && e.Source != "default" }
	if slices.ContainsFunc(s.Explain(), own) || s.CellTimeout >= n.CellTimeout {
		delete(set, "cell_timeout")
	} else {
		s.CellTimeout = n.CellTimeout
	}
	return set
}

// publishedBy returns all settings that were published with an agent, by key.
func publishedBy(agentName string) map[string]string {
	n, _ := solver.Find(agentName)
	all := map[string]string{}
	if n.Temperature != nil {
		all["temperature"] = fmt.Sprint(*n.Temperature)
	}
	if n.CellTimeout > 0 {
		all["cell_timeout"] = n.CellTimeout.String()
	}
	return all
}

// modelsOf returns the models of one task.
func (r *run) modelsOf(j runner.Job) (llm.Model, llm.Ranker, error) {
	if r.model != nil {
		return r.model, r.ranker, nil
	}
	from := runner.TaskFolder(strings.TrimPrefix(r.settings.Model, configs.ReplayPrefix),
		runner.Key{ID: j.ID, Repeat: j.Repeat})
	return r.Replayed(from + "/trace.jsonl")
}

// findPlaces finds where kernels are opened. Servers may become ready later.
func (r *run) findPlaces(ctx context.Context) error {
	if len(r.flags.servers) == 0 {
		r.progress.Wait("setting up Python")
		p, err := r.Site(ctx, r.settings, func(line string) { r.progress.Say("set-up   %s", line) })
		if err != nil {
			return err
		}
		if p.Guest != nil {
			return usage.New(fmt.Sprintf("--kernel: %s is a running kernel, but every task needs a new one",
				p.Guest.Name), usage.Without("kernel"))
		}
		if r.settings.MaxMemory == 0 { // all kernels share the free memory
			p.Box.Limits.Memory = max(kernels.LeastMemory, p.Box.Limits.Memory/int64(r.flags.jobs))
		}
		r.sites = []*site{{site: p}}
		if err := r.consent(ctx, &r.sites[0].site); err != nil {
			return err
		}
		if err := r.Look(ctx, &r.sites[0].site, r.settings, disk.Existing(r.flags.out)); err != nil {
			return err
		}
		r.progress.Say("sandbox  %s", p.Sandbox())
		return nil
	}
	var named []*kernels.Site
	r.flags.jobs = max(r.flags.jobs, len(r.flags.servers)) // else some are never used
	for _, given := range r.flags.servers {
		s := *r.settings
		s.Server = given
		server, err := kernel.NewServer(given, "")
		if err != nil {
			return usage.New(fmt.Sprintf("--server: %v", err), usage.Shell("jupyter server list"))
		}
		r.sites = append(r.sites, &site{url: server.URL, settings: &s})
		named = append(named, &kernels.Site{Server: server})
	}
	if err := r.consent(ctx, named...); err != nil {
		return err
	}
	for _, p := range named {
		r.progress.Say("sandbox  %s: %s", p.Sandbox(), p.Server.URL)
	}
	return nil
}

// consent reports the sites that do not confine their kernels, and asks the user to agree.
func (r *run) consent(ctx context.Context, sites ...*kernels.Site) error {
	var all []string
	var what, question string
	for _, p := range sites {
		if lines, w, q := p.NotOurs(); lines != nil {
			all, what, question = append(all, lines...), w, q
		}
	}
	if all == nil {
		return nil
	}
	return r.Agree(ctx, r.progress, r.flags.yes, all, what, question)
}

// siteOf returns a copy of a site, for one task.
func (r *run) siteOf(i int) kernels.Site {
	b := r.sites[i]
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.site
}

// fresh is how long a check of a server is valid.
const fresh = 2 * time.Second

// ready waits until kernels can be opened on a server, or returns why they cannot. The error is a
// PlaceError only if waiting can help.
func (r *run) ready(ctx context.Context, i int) error {
	b := r.sites[i]
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.checked) < fresh {
		return nil
	}
	p, err := r.Site(ctx, b.settings, func(string) {})
	if err == nil && p.Guest != nil {
		err = usage.New("--kernel: it is a running kernel, but every task needs a new one",
			usage.Without("kernel"))
	}
	if err == nil {
		err = r.Look(ctx, &p, b.settings, disk.Existing(r.flags.out))
	}
	switch {
	case err == nil:
		b.site, b.checked = p, time.Now()
		return nil
	case isUsage(err):
		return err
	}
	return &runner.SiteError{Err: err}
}

// isUsage reports whether the user's input caused an error, so that a retry is useless.
func isUsage(err error) bool {
	if _, ok := errors.AsType[*usage.Error](err); ok {
		return true
	}
	refused, ok := errors.AsType[*kernel.ServerError](err)
	return ok && refused.Credentials()
}

// run runs the tasks and prints the result.
func (r *run) run(ctx context.Context) error {
	r.progress.Paste("run      %s", r.folder.Path())
	began := time.Now()
	view := &view{progress: r.progress, total: len(r.folder.Items) * r.flags.repeat, began: began}
	config := runner.Config{
		Folder: r.folder, Jobs: r.flags.jobs, Timeout: r.flags.timeout, Budget: r.budget,
		Observe: view.event,
		Solve: func(ctx context.Context, j runner.Job) (runner.Record, error) {
			return r.trial.Solve(ctx, j, r.site(j.Site))
		},
	}
	for i, b := range r.sites {
		p := runner.Site{Name: b.url}
		if b.url != "" {
			p.Ready = func(ctx context.Context) error { return r.ready(ctx, i) }
		}
		config.Sites = append(config.Sites, p)
	}
	r.progress.Wait("starting")
	err := runner.Run(ctx, config)
	r.progress.Stop()
	result, failed := runner.Read(r.folder.Path())
	if failed != nil {
		return errors.Join(err, failed)
	}
	if err != nil {
		if r.flags.asJSON {
			err = errors.Join(err, term.JSON(r.Stdout, r.newResult(result)))
		}
		return &StoppedError{err, r.flags.out}
	}
	if n := len(result.Missing()); n > 0 {
		r.progress.Say("missing  %d tasks have no result and count as wrong, as their data is not "+
			"there; then: dsstar bench run --resume --out %s", n, human.Shell(r.flags.out))
	}
	if r.flags.asJSON {
		return term.JSON(r.Stdout, r.newResult(result))
	}
	_, err = fmt.Fprintln(r.Stdout, r.newResult(result).line())
	return err
}
