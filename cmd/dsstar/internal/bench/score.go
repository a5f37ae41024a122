package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

// suiteFlags select the benchmark and its tasks.
type suiteFlags struct {
	bench, tasks, data, setting, split string
}

func (s *suiteFlags) all() []cli.Flag {
	var names []string
	for _, b := range bench.Benchmarks() {
		names = append(names, b.Name)
	}
	s.setting = "retrieval"
	return []cli.Flag{
		cli.Opt(&s.bench, "bench", "", "the benchmark: "+strings.Join(names, ", ")),
		cli.Opt(&s.tasks, "tasks", "", "the benchmark's folder, or a file of tasks"),
		cli.Opt((*usage.Once)(&s.data), "data", "", "the data folder, if it is elsewhere"),
		cli.Opt(cli.Choice(&s.setting, "retrieval", "oracle"), "data-setting", "",
			"retrieval: all files; oracle: those that the answer needs"),
		cli.Opt(cli.Choice(&s.split, "dev", "test", "all", "easy", "medium", "hard"), "split", "",
			"easy, medium and hard are the tasks of one level"),
	}
}

// level returns the level that --split names, or "".
func (s *suiteFlags) level() string {
	if slices.Contains([]string{"easy", "medium", "hard"}, s.split) {
		return s.split
	}
	return ""
}

// open reads the suite.
func (s *suiteFlags) open(command string) (*bench.Suite, error) {
	if s.bench == "" {
		return nil, usage.New("--bench is not given",
			usage.Again("--bench", "dabstep", "--tasks", "FOLDER"))
	}
	b, err := bench.Find(s.bench)
	if err != nil {
		return nil, usage.New(err.Error(), usage.Again("--bench", "dir", "--tasks", "PATH"))
	}
	if s.tasks == "" {
		return nil, usage.New("--tasks is not given: "+b.Layout, usage.Again("--tasks", "PATH"))
	}
	setting := bench.Setting{Oracle: s.setting == "oracle"}
	if s.data != "" {
		setting.Data = absolute(s.data)
	}
	if s.split == "dev" {
		setting.Split = "dev"
	}
	suite, err := b.Open(s.tasks, setting)
	if missing, ok := errors.AsType[*bench.MissingError](err); ok {
		return nil, usage.New(err.Error()+"\n--tasks is "+b.Layout,
			usage.Shell("ls %s", filepath.Dir(missing.What[0])))
	}
	if err != nil {
		return nil, usage.New(err.Error(), usage.Shell("head -c 300 %s", s.tasks))
	}
	if command != "run" {
		return suite, nil
	}
	if err := suite.Exposed(); err != nil { // an agent could read the right answers
		return nil, usage.New(err.Error()+
			"\nthe data must be in a folder of their own (dir: data_dir in the index names it)",
			usage.Again("--data", "DIR").Note("a folder with the data alone"))
	}
	return suite, nil
}

// compatFlag selects the rules of scoring.
func compatFlag(compat *string) cli.Flag {
	*compat = string(bench.Upstream)
	return cli.Opt(cli.Choice(compat, string(bench.Upstream), string(bench.Fixed)), "compat", "",
		"score like the public code (upstream), or without its faults (fixed)")
}

// readRun reads the folder of a run.
func readRun(path string) (runner.Result, error) {
	r, err := runner.Read(path)
	if errors.Is(err, runner.ErrNone) || errors.Is(err, fs.ErrNotExist) {
		return r, usage.New(fmt.Sprintf("there is no benchmark run in %s", path),
			usage.Shell("dsstar bench run --bench dir --tasks FOLDER --out %s   # starts one there", path))
	}
	return r, err
}

func readRuns(paths []string) ([]runner.Result, error) {
	var all []runner.Result
	for _, path := range paths {
		r, err := readRun(path)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

const scoreHelp = `Score answers by a benchmark's public rules: those of a run (OUT), or a file of
answers in the benchmark's own form (--answers).
Missing, unfinished and empty answers count as wrong.

--compat upstream scores as the public code does, including its faults; fixed
corrects them (docs/benchmarks.md lists them). KramaBench's paraphrases need --model.
Charts of a run are extracted again from the code that draws them.`

func (a *App) scoreCommand() cli.Command {
	var suite suiteFlags
	var answers, compat string
	return cli.Command{
		Use:   "score [OUT | --bench NAME --tasks PATH --answers FILE]",
		Short: "Score the answers of a run or of a file",
		Long:  scoreHelp,
		Example: "  dsstar bench score first --compat fixed\n" +
			"  dsstar bench score --bench dabstep --tasks tasks.jsonl --answers answers.jsonl --json",
		Args: cli.Any, Settings: taken + " -max-rounds -debug-tries",
		Flags: append(suite.all(), []cli.Flag{
			cli.Opt(&answers, "answers", "", "a file with answers, instead of a run"),
			cli.Opt(new(bool), "json", "Output", "print one JSON object instead of text"),
			compatFlag(&compat),
		}...),
		Run: func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
			ofRun, ofFile := len(c.Args) == 1 && answers == "", len(c.Args) == 0 && answers != ""
			switch {
			case ofRun && suite.split != "" && suite.level() == "":
				return none, usage.New(fmt.Sprintf("--split %s selects tasks to run, but %s has already run",
					suite.split, c.Args[0]),
					usage.Shell("dsstar bench score %s", c.Args[0]),
					usage.Shell("dsstar bench score --split easy %s", c.Args[0]))
			case !ofRun && !ofFile:
				return none, usage.New("expected one run or one file of answers",
					usage.Shell("dsstar bench score OUT"),
					usage.Shell("dsstar bench score --bench dabstep --tasks TASKS --answers FILE"))
			}
			scorer, err := a.scorer(c.Settings, bench.Compat(compat))
			if err != nil {
				return none, err
			}
			score := scoreFile
			if ofRun {
				answers, score = c.Args[0], scoreRun
			}
			scores, err := score(ctx, scorer, &suite, answers)
			if errors.Is(err, bench.ErrNoJudge) {
				return none, usage.New(err.Error(), usage.Again("--model", "PROVIDER/MODEL"))
			}
			if err != nil {
				return none, err
			}
			for _, warning := range scoreWarnings(scores) {
				fmt.Fprintln(a.Stderr, "dsstar: warning: "+ui.Printable(warning))
			}
			return cli.Output{Value: scores,
				Text: func(b *strings.Builder) { b.WriteString(scoresText(scores)) }}, nil
		},
	}
}

// scoreFile scores the answers in a file of the benchmark's own format.
func scoreFile(ctx context.Context, scorer bench.Scorer, flags *suiteFlags,
	file string) (none bench.Scores, _ error) {
	suite, err := flags.open("score")
	if err != nil {
		return none, err
	}
	answers, err := bench.ReadAnswers(file)
	if err != nil {
		return none, usage.New(err.Error(), usage.Shell("head -c 300 %s", file))
	}
	tasks, err := flags.ofLevel(suite)
	if err != nil {
		return none, err
	}
	return suite.Score(ctx, scorer, tasks, answers)
}

// scoreRun scores the answers of a run.
func scoreRun(ctx context.Context, scorer bench.Scorer, flags *suiteFlags,
	out string) (none bench.Scores, _ error) {
	r, err := readRun(out)
	if err != nil {
		return none, err
	}
	suite, err := suiteOf(r, flags)
	if err != nil {
		return none, err
	}
	tasks, err := flags.ofLevel(suite)
	if err != nil {
		return none, err
	}
	scorer.Charts = true
	return suite.Score(ctx, scorer, tasks, runner.Answers(r, suite.ByID()))
}

// ofLevel returns the tasks of the level that --split names.
func (s *suiteFlags) ofLevel(suite *bench.Suite) ([]bench.Task, error) {
	tasks, err := suite.Choose(bench.Filter{Level: s.level()})
	if errors.Is(err, bench.ErrNoTasks) {
		return nil, usage.New(fmt.Sprintf("no task has level %s", s.split),
			usage.Without("split").Note("all levels"))
	}
	return tasks, err
}

// suiteOf reads the tasks of a run, from the same place unless flags say otherwise.
func suiteOf(r runner.Result, flags *suiteFlags) (*bench.Suite, error) {
	f := flagsOf(r, flags)
	suite, err := f.open("score")
	if err != nil {
		return nil, err
	}
	tasks := suite.ByID()
	suite.Tasks = nil
	for _, item := range r.Items {
		t, ok := tasks[item.ID]
		if !ok {
			return nil, usage.New(fmt.Sprintf("%s has task %s, which is not in %s", r.Path, item.ID,
				f.tasks), usage.Shell("dsstar bench score --tasks PATH %s", r.Path))
		}
		suite.Tasks = append(suite.Tasks, t)
	}
	return suite, nil
}

// flagsOf returns the flags that select the tasks of a run.
func flagsOf(r runner.Result, flags *suiteFlags) suiteFlags {
	return suiteFlags{
		bench: r.Bench, tasks: cmp.Or(flags.tasks, r.Setup["tasks"]),
		data:    cmp.Or(flags.data, r.Setup["data"]),
		setting: cmp.Or(r.Setup["data_setting"], "retrieval"), split: r.Setup["split"],
	}
}

// scorer returns what scores answers.
func (a *App) scorer(s *configs.Settings, compat bench.Compat) (bench.Scorer, error) {
	judge, err := a.scoringJudge(s)
	var found site.Site // if nothing can be scored, none is needed
	return bench.Scorer{Compat: compat, Judge: judge,
		Open: scoringAt(func(ctx context.Context) (site.Site, error) {
			if found == nil {
				at, err := a.Host.Site(ctx, s, site.Use{}, func(string) {})
				if err != nil {
					return nil, &bench.StopError{Err: err}
				}
				found = at
			}
			return found, nil
		})}, err
}

// scoringJudge returns a judge that asks the model; nil if none is given.
func (a *App) scoringJudge(s *configs.Settings) (bench.Judge, error) {
	if s.Model == "" {
		return nil, nil
	}
	m, err := a.Model(s, func(llm.Request, string) {})
	return runner.Judge(ask.Settings{Model: m}), err
}
