package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/configs"
	"dsstar/prompts"
)

const benchScoreHelp = `Score answers by a benchmark's public rules: those of a run (OUT), or a file of
answers in the benchmark's own form (--answers; DA-Code: its output folder).
What is missing, not finished or not answered is wrong and counts.

With --compat upstream answers are scored as the public code does, faults included;
with fixed these are put right: docs/benchmarks.md lists them. KramaBench's
paraphrases need --model, DA-Code needs Python. Charts of a run are taken anew from
the code that draws them.`

func (a *app) benchScoreCommand() *cobra.Command {
	var suite suiteFlags
	var answers, compat string
	var asJSON, save bool
	cmd := &cobra.Command{
		Use:   "score [OUT | --bench NAME --tasks PATH --answers FILE]",
		Short: "Score the answers of a run or of a file",
		Long:  benchScoreHelp,
		Example: "  dsstar bench score first --compat fixed\n" +
			"  dsstar bench score --bench dabstep --tasks tasks.jsonl --answers answers.jsonl --json",
	}
	suite.add(cmd.Flags())
	cmd.Flags().StringVar(&answers, "answers", "", "the file with the answers, instead of a run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of text")
	cmd.Flags().BoolVar(&save, "save", false, "record the scores in OUT, for its tables")
	compatFlag(cmd.Flags(), &compat)
	settings := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	modelFlags(settings)
	kernelFlags(settings)
	sandboxFlags(settings)
	cmd.Flags().AddFlagSet(settings)
	for _, hidden := range []string{"max-rounds", "debug-tries"} {
		_ = cmd.Flags().MarkHidden(hidden) // nothing is run
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := checkCompat(compat)
		if err != nil {
			return err
		}
		s, err := a.settings(settings)
		if err != nil {
			return err
		}
		if answers == "" && len(args) == 1 && suite.split != "" && !levels[suite.split] {
			return &usageError{fmt.Sprintf("--split %s chooses tasks to be run; those of %s are chosen", suite.split, args[0]),
				[]string{"dsstar bench score " + quoteShell(args[0]), "dsstar bench score --split easy " + quoteShell(args[0])}}
		}
		var scores benchScores
		switch {
		case len(args) == 1 && answers == "":
			scores, err = a.scoreRun(cmd.Context(), &suite, s, c, args[0], save)
		case save:
			err = &usageError{"--save records the scores of one run", []string{"dsstar bench score --save OUT"}}
		case len(args) == 0 && answers != "":
			scores, err = a.scoreFile(cmd.Context(), &suite, s, c, answers)
		default:
			err = &usageError{"one run or one file of answers is scored", []string{"dsstar bench score OUT", "dsstar bench score --bench dabstep --tasks TASKS --answers FILE"}}
		}
		if err != nil {
			return err
		}
		for _, warning := range scores.warnings() {
			fmt.Fprintln(a.stderr, "dsstar: warning: "+term.Printable(warning))
		}
		if asJSON {
			return printJSON(a.stdout, scores)
		}
		_, err = fmt.Fprint(a.stdout, scores.text())
		return err
	}
	return cmd
}

// scoreFile scores the answers of a file in the benchmark's own form.
func (a *app) scoreFile(ctx context.Context, flags *suiteFlags, s *configs.Settings, compat bench.Compat, file string) (benchScores, error) {
	var none benchScores
	suite, err := flags.open("score")
	if err != nil {
		return none, err
	}
	answers, err := suite.Benchmark.Answers(file)
	if err != nil {
		return none, answersError(err, file)
	}
	to, strange := suite.Split(answers)
	if len(to) == 0 && len(strange) > 0 {
		_, err := suite.Score(ctx, bench.Scorer{}, strange)
		return none, scoringError(err)
	}
	if to, err = flags.keepLevel(suite, to); err != nil {
		return none, err
	}
	scores, err := a.scoreAll(ctx, suite, s, compat, to, false)
	scores.strange(strange)
	return scores, err
}

// scoreRun scores the answers of a run, and records the scores there if save is set.
func (a *app) scoreRun(ctx context.Context, flags *suiteFlags, s *configs.Settings, compat bench.Compat, out string, save bool) (benchScores, error) {
	var none benchScores
	r, err := readBench(out)
	if err != nil {
		return none, err
	}
	if save && r.Setup["compat"] != string(compat) {
		return none, &usageError{fmt.Sprintf("%s is scored by %s, and its tables are of one kind", r.Path, r.Setup["compat"]),
			[]string{fmt.Sprintf("dsstar bench score --save --compat %s %s", r.Setup["compat"], quoteShell(r.Path))}}
	}
	suite, err := suiteOf(r, flags)
	if err != nil {
		return none, err
	}
	var all []benchScores
	tasks := byID(suite)
	for repeat := 1; repeat <= max(1, r.Repeat); repeat++ {
		answers, err := flags.keepLevel(suite, answersOf(r, tasks, repeat))
		if err != nil {
			return none, err
		}
		scores, err := a.scoreAll(ctx, suite, s, compat, answers, true)
		if err != nil {
			return none, err
		}
		all = append(all, scores)
	}
	if save {
		if err := recordScores(r, all); err != nil {
			return none, err
		}
	}
	return meanScores(all), nil
}

// keepLevel leaves the suite the tasks of the level that --split names, and returns
// the answers to these.
func (s *suiteFlags) keepLevel(suite *bench.Suite, answers []bench.Answer) ([]bench.Answer, error) {
	if !levels[s.split] {
		return answers, nil
	}
	suite.Tasks = slices.DeleteFunc(suite.Tasks, func(t bench.Task) bool { return !strings.EqualFold(t.Level, s.split) })
	if len(suite.Tasks) == 0 {
		return nil, &usageError{fmt.Sprintf("there is no task of level %s", s.split), []string{"dsstar bench score …   # without --split: all levels"}}
	}
	answers, _ = suite.Split(answers)
	return answers, nil
}

// recordScores adds those scores to a run that differ from what it has. They come by
// repeats.
func recordScores(r runner.Result, repeats []benchScores) error {
	folder, err := runner.Open(r.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	for i, scores := range repeats {
		of := map[string]taskScore{}
		for _, score := range scores.Tasks {
			of[score.ID] = score
		}
		for _, record := range r.Records {
			score := of[record.Task]
			if record.Repeat != i+1 || score.Score == nil || record.Score != nil && *record.Score == *score.Score && record.Uncounted == score.Uncounted {
				continue
			}
			better := withScore(record, bench.Score{Value: *score.Score, Metric: score.Metric, Parts: score.Parts, Detail: score.Detail, Uncounted: score.Uncounted})
			if err := folder.Append(better); err != nil {
				return err
			}
		}
	}
	return nil
}

func answersError(err error, file string) error {
	if missing, ok := errors.AsType[*bench.MissingError](err); ok {
		return &usageError{missing.Error(), []string{"ls " + quoteShell(file)}}
	}
	return &usageError{err.Error(), []string{"head -c 300 " + quoteShell(file)}}
}

// suiteOf reads the tasks that a run was about, from where they were then unless
// flags say otherwise.
func suiteOf(r runner.Result, flags *suiteFlags) (*bench.Suite, error) {
	f := flagsOf(r, flags)
	suite, err := f.open("score")
	if err != nil {
		return nil, err
	}
	tasks := byID(suite)
	suite.Tasks = nil
	for _, item := range r.Items {
		t, ok := tasks[item.ID]
		if !ok {
			return nil, &usageError{fmt.Sprintf("%s was about task %s, which %s has not", r.Path, item.ID, f.tasks), []string{"dsstar bench score --tasks PATH " + quoteShell(r.Path)}}
		}
		suite.Tasks = append(suite.Tasks, t)
	}
	return suite, nil
}

// flagsOf say which tasks a run was chosen from.
func flagsOf(r runner.Result, flags *suiteFlags) suiteFlags {
	f := suiteFlags{bench: r.Bench, tasks: flags.tasks, data: flags.data, setting: "retrieval"}
	if f.tasks == "" {
		f.tasks = r.Setup["tasks"]
	}
	if f.data == "" {
		f.data = r.Setup["data"]
	}
	if r.Setup["data_setting"] != "" {
		f.setting = r.Setup["data_setting"]
	}
	for _, arg := range r.Args {
		if split, ok := strings.CutPrefix(arg, "--split="); ok {
			f.split = split
		}
	}
	return f
}

// scoreAll scores answers. Tasks whose right answer is not public have no score, nor
// have those whose scorer failed. With charts, these are taken from the code that draws
// them first, as the folders of the answers are those of a run.
func (a *app) scoreAll(ctx context.Context, suite *bench.Suite, s *configs.Settings, compat bench.Compat, answers []bench.Answer, charts bool) (benchScores, error) {
	all := benchScores{Bench: suite.Benchmark.Name, Compat: string(compat), Repeat: 1, Totals: []bench.Total{}, Tasks: []taskScore{}, Missing: []string{}, Unknown: []string{}}
	ctx, stop := context.WithCancelCause(ctx) // by what would fail with every task
	defer stop(nil)
	same, err := a.scoringJudge(s, stop)
	if err != nil {
		return all, err
	}
	of := map[string]bench.Answer{}
	for _, answer := range answers {
		of[answer.ID] = answer
	}
	at := a.scoringPlace(s, stop)
	kernel := a.scoringKernel(s, at, suite, of)
	defer kernel.close()
	hidden := all.lacks(suite)
	known := *suite
	known.Tasks = slices.DeleteFunc(slices.Clone(suite.Tasks), func(t bench.Task) bool { return hidden[t.ID] != "" })
	if charts {
		if err := a.takeCharts(ctx, s, at, &known, of, compat, &all); err != nil {
			return all, err
		}
	}
	public := slices.DeleteFunc(slices.Clone(answers), func(answer bench.Answer) bool { return hidden[answer.ID] != "" || all.failed[answer.ID] != "" })
	scores, err := known.Score(ctx, bench.Scorer{Compat: compat, Judge: same, Python: kernel.run}, public)
	if err != nil {
		return all, scoringError(err)
	}
	all.fill(suite, scores, hidden)
	if all.Unscored < len(suite.Tasks) {
		all.Totals = known.Totals(scores, public)
	}
	return all, nil
}

// scoringJudge is the judge of the model, if one is given. A key that is refused ends the
// scoring.
func (a *app) scoringJudge(s *configs.Settings, stop context.CancelCauseFunc) (bench.Judge, error) {
	if s.Model == "" {
		return nil, nil
	}
	words, err := prompts.Load()
	if err != nil {
		return nil, err
	}
	m, err := a.model(s, func(llm.Retry) {})
	if err != nil {
		return nil, err
	}
	ask := judge(m, words)
	return func(ctx context.Context, answer, gold string) (bool, error) {
		same, err := ask(ctx, answer, gold)
		if _, ok := errors.AsType[*llm.CredentialError](err); ok {
			stop(err)
		}
		return same, err
	}, nil
}

// scoringPlace is where scorers' kernels run: found out when the first is asked for, as
// most scorers ask for none. That there is none ends the scoring.
func (a *app) scoringPlace(s *configs.Settings, stop context.CancelCauseFunc) placeFinder {
	var found *place
	return func(ctx context.Context) (place, error) {
		if found == nil {
			p, err := a.place(ctx, s, func(string) {})
			if err != nil {
				stop(err)
				return p, err
			}
			found = &p
		}
		return *found, nil
	}
}

// scoringKernel is a kernel with all that answers are compared with in view.
func (a *app) scoringKernel(s *configs.Settings, at placeFinder, suite *bench.Suite, answers map[string]bench.Answer) *scoringKernel {
	var seen []string
	for _, t := range suite.Tasks {
		seen = append(seen, t.GoldDir, answers[t.ID].Dir)
	}
	slices.Sort(seen)
	seen = slices.Compact(seen)
	return &scoringKernel{open: func(ctx context.Context, dir string) (agent.Session, error) {
		return a.openScoring(ctx, s, at, seen, "", dir)
	}}
}

// takeCharts takes the charts of a run's answers, and leaves the suite the tasks that can
// be scored then: one without its data, or for which no kernel starts, is none.
func (a *app) takeCharts(ctx context.Context, s *configs.Settings, at placeFinder, suite *bench.Suite, answers map[string]bench.Answer, compat bench.Compat, all *benchScores) error {
	for _, t := range suite.Tasks {
		answer, given := answers[t.ID]
		if !isChart(t) || !given || answer.Unfinished {
			continue
		}
		_, err := os.Stat(t.Data)
		if t.Data == "" || err != nil {
			err = errors.New("its data are not there, which the code of its chart may read")
		} else {
			_, err = chart(ctx, a.benchPython(s, at, []string{t.Data}, answer.Dir), t, answer.Dir, compat)
		}
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil {
			all.fails(t.ID, err.Error())
		}
	}
	suite.Tasks = slices.DeleteFunc(suite.Tasks, func(t bench.Task) bool { return all.failed[t.ID] != "" })
	return nil
}

func scoringError(err error) error {
	if need, ok := errors.AsType[*bench.NeedError](err); ok {
		return &usageError{need.Error(), []string{"dsstar bench score --model PROVIDER/MODEL …"}}
	}
	if bad, ok := errors.AsType[*bench.AnswersError](err); ok {
		return &usageError{bad.Error(), []string{"dsstar bench score --bench NAME --tasks TASKS --answers FILE   # TASKS are those that FILE answers"}}
	}
	return err
}
