package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/agent/bench/tables"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
	"dsstar/notebook/lists"
)

const runHelp = `Run an agent over the tasks of a benchmark and score its answers. The flags of
dsstar nb configure each task; --max-cost, --max-calls and --max-time limit each
task, --total-cost, --total-calls and --total-time all tasks together.

OUT gets a line for each task in results.jsonl, and its run folder in tasks/.
Whatever stopped a run, the same command with --resume continues it: tasks with a
result do not run again. Other settings are refused. Tasks learn nothing from each
other.`

func (a *App) runCommand() cli.Command {
	var flags runFlags
	return cli.Command{
		Use:   "run --bench NAME --tasks PATH [flags] --out OUT",
		Short: "Run an agent over the tasks of a benchmark",
		Long:  runHelp,
		Example: "  dsstar bench run --bench dir --tasks ./trials --agent react --model openai/MODEL " +
			"--jobs 2 --out first",
		Flags: flags.all(), Settings: taken,
		Needs: [][]string{{"retry", "resume"}},
		Run: func(ctx context.Context, c *cli.Call) (cli.Output, error) {
			r := &run{App: a, flags: &flags, settings: c.Settings, progress: a.NewProgress(flags.quiet)}
			defer r.close()
			if err := r.prepare(ctx, c.Flags); err != nil {
				return cli.Output{}, err
			}
			return r.run(ctx)
		},
	}
}

// A run is one invocation of bench run.
type run struct {
	*App
	flags    *runFlags
	settings *configs.Settings
	progress *ui.Progress
	suite    *bench.Suite
	config   runner.Config
}

// prepare checks everything that can be checked before anything runs.
func (r *run) prepare(ctx context.Context, f *pflag.FlagSet) (err error) {
	if err := r.flags.check(r.App, r.settings); err != nil {
		return err
	}
	if r.suite, err = r.flags.open(); err != nil {
		return err
	}
	if err := r.suite.Exposed(); err != nil { // an agent could read the right answers
		return usage.New(err.Error()+
			"\nthe data must be in a folder of their own (dir: data_dir in the index names it)",
			usage.Again("--data", "DIR").Note("a folder with the data alone"))
	}
	tasks, err := r.flags.choose(r.suite)
	if err != nil {
		return err
	}
	if err := r.complete(ctx, tasks); err != nil {
		return err
	}
	agent := solver.Find(r.flags.agent)
	asPublished(agent, r.settings)
	about := r.flags.about(f, r.settings, tasks)
	agents := r.AgentConfig(r.settings)
	agents.Jobs = max(1, r.settings.Jobs)
	r.config = runner.Config{
		Jobs: r.flags.jobs, Tasks: r.suite.ByID(), Agent: agents,
		Solve:  agent.New(r.flags.agentOptions),
		Scorer: bench.Scorer{Compat: bench.Compat(r.flags.compat)},
		Budget: &ask.Budget{Flags: "total-", Limits: ask.Limits{
			Calls: r.flags.totalCalls, Cost: r.flags.totalCost, Time: r.flags.totalTime}},
	}
	if r.config.Model, err = r.Model(r.settings, r.progress.Retrying); err != nil {
		return err
	}
	r.progress.Say("model    %s", r.ModelLine(r.settings))
	if err := r.openSite(ctx); err != nil {
		return err
	}
	r.config.Folder, err = r.flags.folder(about)
	return err
}

func (r *run) close() {
	r.progress.Stop()
	if folder := r.config.Folder; folder != nil {
		_ = folder.Close() // every line is already on disk
	}
}

// complete refuses tasks without data, and reports what else is missing. A resumed run leaves
// such tasks without a result.
func (r *run) complete(ctx context.Context, tasks []bench.Task) error {
	allowed := lists.Map(slices.Concat(r.settings.AllowRead, r.settings.AllowWrite), disk.Absolute)
	var lacking, missing, out []string
	has := map[string]bool{} // by the files, which many tasks share
	for _, t := range tasks {
		names := strings.Join(t.Files, "\n") + "\x00" + t.Data
		if _, seen := has[names]; !seen {
			var linked []string
			has[names], linked = runner.Look(ctx, t, allowed)
			out = append(out, linked...)
		}
		if !has[names] {
			lacking = append(lacking, t.ID)
		}
		for _, what := range slices.Concat(t.NoData, t.NoGold) {
			if !slices.Contains(missing, what) {
				missing = append(missing, what)
			}
		}
	}
	for _, what := range slices.Concat(r.suite.Missing, missing) {
		r.progress.Say("missing  %s", what)
	}
	switch {
	case len(lacking) > 0 && !(r.flags.resume && len(lacking) < len(tasks)):
		return usage.New(fmt.Sprintf("%d of %d tasks have no data: %s", len(lacking), len(tasks),
			human.Some(lacking, 5)), usage.Again("--data", "DIR").Note("the folder with the data"),
			usage.Again("--ids", "IDS").Note("other tasks"))
	case len(out) > 0: // as into a download cache
		hints := []usage.Hint{usage.Shell(
			"hf download --repo-type dataset --local-dir DIR NAME   # without links")}
		if dir := filepath.Dir(out[0]); sandbox.MayAdvise(dir) || strings.Contains(dir, "/huggingface/hub/") {
			hints = append([]usage.Hint{usage.Again("--allow-read", dir)}, hints...)
		}
		return usage.New(fmt.Sprintf("%d data files are links out of the data folder, which cells cannot "+
			"follow: %s", len(out), human.Some(out, 3)), hints...)
	}
	return nil
}

// asPublished applies the settings that were published with an agent, unless the user has set them.
func asPublished(agent solver.Agent, s *configs.Settings) {
	s.Temperature = cmp.Or(s.Temperature, agent.Temperature)
	own := func(e configs.Entry) bool { return e.Key == "cell_timeout" && e.Source != "default" }
	if !slices.ContainsFunc(s.Explain(), own) {
		s.CellTimeout = max(s.CellTimeout, agent.CellTimeout)
	}
}

// openSite finds where kernels are opened.
func (r *run) openSite(ctx context.Context) error {
	r.progress.Wait("setting up Python")
	use := site.Use{Yes: r.flags.yes, Jobs: r.flags.jobs}
	p, err := r.Host.Site(ctx, r.settings, use, func(line string) { r.progress.Say("set-up   %s", line) })
	if err != nil {
		return err
	}
	at := p.About()
	if at.Running != nil {
		return usage.New(fmt.Sprintf("--kernel: %s is a running kernel, but every task needs a new one",
			at.Name), usage.Without("kernel"))
	}
	if err := r.Agree(ctx, r.progress, r.flags.yes, at.Consent); err != nil {
		return err
	}
	if err := p.Look(ctx, disk.Existing(r.flags.out)); err != nil {
		return err
	}
	r.progress.Say("sandbox  %s", at.Sandbox)
	r.config.Scorer.Open = scoringAt(func(context.Context) (site.Site, error) { return p, nil })
	r.config.Agent.Alone = at.Alone
	r.config.Site = runner.Site{
		Sandbox: at.Sandbox,
		Sessions: func(folder record.Folder, data string, read []string) (agent.Open, agent.RunScript) {
			reach := site.Of(folder, data)
			reach.Read = append(reach.Read, read...)
			reach.Own = append(reach.Own, r.config.Folder.Path)
			p := p.With(reach)
			return site.Opening(p, nil), p.RunScript
		},
		Fatal: func(err error) bool {
			_, usage := errors.AsType[*usage.Error](err)
			return usage || errors.Is(err, sandbox.ErrNone) || errors.Is(err, sandbox.ErrExposed) ||
				errors.Is(err, sandbox.ErrUnsearched)
		},
	}
	return nil
}

// scoringAt opens confined kernels for scorers' code, at the site that at returns.
func scoringAt(at func(context.Context) (site.Site, error)) bench.Opener {
	return func(ctx context.Context, dir string, read []string, write string) (bench.Session, error) {
		p, err := at(ctx)
		if err != nil {
			return nil, err
		}
		reach := site.Reach{Read: lists.Map(lists.Where(read, disk.Exists), disk.Absolute)}
		if write != "" {
			reach.Write = []string{disk.Absolute(write)}
		}
		return p.With(reach).Open(ctx, agent.Describe, dir, nil)
	}
}

// run runs the tasks and returns the result.
func (r *run) run(ctx context.Context) (none cli.Output, _ error) {
	r.progress.Paste("run      %s", r.config.Folder.Path)
	r.progress.Wait("starting")
	r.config.Observe = r.event
	err := runner.Run(ctx, r.config)
	r.progress.Stop()
	done, failed := runner.Read(r.config.Folder.Path)
	if failed != nil {
		return none, errors.Join(err, failed)
	}
	result := newResult(done)
	if err != nil {
		return cli.Output{Value: result}, r.stopped(err)
	}
	if result.Missing > 0 {
		r.progress.Say("missing  %d tasks have no result and count as wrong, as their data is not "+
			"there; --resume tries them again", result.Missing)
	}
	return cli.Output{Value: result,
		Text: func(b *strings.Builder) { b.WriteString(result.line() + "\n") }}, nil
}

// stopped is the error of a run that stopped early. The same command continues it.
func (r *run) stopped(err error) error {
	hints := []usage.Hint{usage.Again().Note("continues, and runs nothing twice")}
	if _, ok := errors.AsType[*ask.BudgetError](err); ok {
		hints = nil // it says how itself
	} else if _, ok := errors.AsType[*runner.SickError](err); ok {
		hints = []usage.Hint{usage.Again("--retry", runner.Broken).Note("when it is mended")}
	}
	line := usage.Line{}
	if !r.flags.resume {
		line.Flags = []usage.Flag{{Name: "resume", Value: "true", Switch: true}}
	}
	return &usage.Stopped{Err: err, Hints: hints, Line: line}
}

// event shows an event of the run on stderr. Calls must not overlap.
func (r *run) event(e runner.Event) {
	if e.Record != nil {
		r.ended(e)
	} else if e.Err != nil {
		r.progress.Say("lacking  %s: %v", e.Task, e.Err)
	}
	r.progress.Wait(r.state(e.Totals))
}

func (b *run) ended(e runner.Event) {
	r, word, why := e.Record, "right", ""
	switch {
	case r.Score == nil:
		if word = "answer"; r.Unscored != "" {
			why = ", not scored: " + r.Unscored
		}
	case !r.Right():
		word, why = "wrong", strings.TrimSuffix(", "+r.Cause, ", ")
		if *r.Score > 0 {
			word, why = "partly", fmt.Sprintf(", score %.2f", *r.Score)
		}
		if detail := r.Error + r.Detail; detail != "" {
			why += ": " + ui.Fit(detail, 100)
		}
	}
	b.progress.Say("%-8s %s%s in %.0f s; %s", word, e.Task, why, r.Seconds.Total, b.state(e.Totals))
}

// state returns the state of the run in one line.
func (r *run) state(t runner.Totals) string {
	done, all := t.Right+t.Wrong+t.Unscored, len(r.config.Folder.Items)
	text := fmt.Sprintf("%d of %d done: %d right, %d wrong", done, all, t.Right, t.Wrong)
	if t.Unscored > 0 {
		text += fmt.Sprintf(", %d not scored", t.Unscored)
	}
	text += fmt.Sprintf(", %d running", t.Running)
	if t.Cost > 0 {
		text += ", about " + human.Dollars(t.Cost)
	}
	return text
}

// A result is the object that bench run prints with --json. Its fields are a
// contract: see docs/benchmarks.md.
type result struct {
	Out      string `json:"out"`
	Bench    string `json:"bench"`
	Agent    string `json:"agent"`
	Model    string `json:"model"`
	Tasks    int    `json:"tasks"`
	Right    int    `json:"right"`
	Wrong    int    `json:"wrong"`
	Unscored int    `json:"unscored"`
	// without a result: the run was stopped, or data are missing
	Missing int          `json:"missing"`
	Score   *bench.Value `json:"score"` // per cent; null: nothing can be scored
	CostUSD *float64     `json:"cost_usd"`
	Usage   any          `json:"usage"`
}

func newResult(r runner.Result) result {
	totals, used, cost := r.Totals()
	return result{
		Out: r.Path, Bench: r.Bench, Agent: r.Agent, Model: r.Model, Tasks: len(r.Items),
		Right: totals.Right, Wrong: totals.Wrong, Unscored: totals.Unscored, Missing: r.Missing(),
		Score: tables.Score(r), CostUSD: cost, Usage: used,
	}
}

// line returns the result as a sentence.
func (b result) line() string {
	text := "no score"
	if b.Score != nil {
		text = fmt.Sprintf("score %.2f %% (%d of %d right, 95 %% interval %.1f to %.1f)", b.Score.Value,
			b.Right, b.Right+b.Wrong+b.Missing, *b.Score.Low, *b.Score.High)
	} else if b.Missing > 0 {
		text += fmt.Sprintf(", %d have no result", b.Missing)
	}
	if b.Unscored > 0 {
		text += fmt.Sprintf(", and %d not scored: their right answers are not public, or the scorer "+
			"failed (dsstar bench score %s tries again)", b.Unscored, human.Shell(b.Out))
	}
	return text
}
