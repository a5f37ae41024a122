package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/tables"
	"dsstar/agent/llm"
	"dsstar/configs"
)

const benchScoreHelp = `Score answers by a benchmark's public rules: those of a run (OUT), or a file of
answers in the benchmark's own form (--answers; DA-Code: its output folder).
What is missing, not finished or not answered is wrong and counts.

With --compat upstream answers are scored as the public code does, faults included;
with fixed these are put right: docs/benchmarks.md lists them. KramaBench's
paraphrases need --model, the plots and models of DA-Code need Python.`

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
		if save {
			if err := a.saveScores(cmd.Context(), &suite, s, c, args); err != nil {
				return err
			}
		}
		scores, err := a.scoreAnswers(cmd.Context(), &suite, s, c, answers, args)
		if err != nil {
			return err
		}
		for _, warning := range scores.warnings() {
			fmt.Fprintln(a.stderr, "dsstar: warning: "+printable(warning))
		}
		if asJSON {
			return printJSON(a.stdout, scores)
		}
		_, err = fmt.Fprint(a.stdout, scores.text())
		return err
	}
	return cmd
}

// A benchScores is the object that bench score prints with --json. Its fields are a
// contract: see docs/benchmarks.md.
type benchScores struct {
	Bench    string        `json:"bench"`
	Compat   string        `json:"compat"`
	Repeat   int           `json:"repeat"` // how often each task was run: scores and totals are means
	Score    *tables.Value `json:"score"`  // per cent; null: nothing can be scored
	Tasks    []taskScore   `json:"tasks"`
	Totals   []bench.Total `json:"totals"`   // as the benchmark sums up
	Unscored int           `json:"unscored"` // tasks whose right answers are not public, or missing
	Missing  []string      `json:"missing"`  // what the copy of the benchmark lacks for scoring, as the ends of paths
	Unknown  []string      `json:"unknown"`  // ids that are answered and are no task's
	Nameless int           `json:"nameless"` // answers without an id
}

type taskScore struct {
	ID      string             `json:"task_id"`
	Score   *float64           `json:"score"` // 0 to 1; null: it cannot be scored
	Level   string             `json:"level,omitempty"`
	Domain  string             `json:"domain,omitempty"`
	Metric  string             `json:"metric,omitempty"`
	Parts   map[string]float64 `json:"parts,omitempty"`
	Missing bool               `json:"missing"` // there is no answer, or it is not finished
	Detail  string             `json:"detail,omitempty"`

	Uncounted bool `json:"uncounted,omitempty"` // the benchmark leaves it out of its total
}

// scoreAnswers reads what is to be scored and scores it.
func (a *app) scoreAnswers(ctx context.Context, flags *suiteFlags, s *configs.Settings, compat bench.Compat, file string, args []string) (benchScores, error) {
	var none benchScores
	switch {
	case file == "" && len(args) != 1, file != "" && len(args) > 0:
		return none, &usageError{"one run or one file of answers is scored", []string{"dsstar bench score OUT", "dsstar bench score --bench dabstep --tasks TASKS --answers FILE"}}
	case file != "":
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
		scores, err := a.scoreAll(ctx, suite, s, compat, to)
		scores.strange(strange)
		return scores, err
	}
	r, err := readBench(args[0])
	if err != nil {
		return none, err
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
		scores, err := a.scoreAll(ctx, suite, s, compat, answers)
		if err != nil {
			return none, err
		}
		all = append(all, scores)
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

// meanScores are the scores of repeats as one: a task's is the mean of its own.
func meanScores(all []benchScores) benchScores {
	mean := all[0]
	if mean.Repeat = len(all); len(all) == 1 {
		return mean
	}
	mean.Tasks, mean.Totals = slices.Clone(mean.Tasks), slices.Clone(mean.Totals)
	n := float64(len(all))
	var values []float64
	for i := range mean.Tasks {
		t := &mean.Tasks[i]
		if t.Score == nil {
			continue
		}
		sum, parts := 0.0, map[string]float64{}
		for _, one := range all {
			u := one.Tasks[i]
			sum += *u.Score
			for name, value := range u.Parts {
				parts[name] += value / n
			}
			t.Missing = t.Missing || u.Missing
			t.Detail = cmp.Or(t.Detail, u.Detail)
		}
		value := sum / n
		t.Score, t.Parts = &value, parts
		if !t.Uncounted {
			values = append(values, value)
		}
	}
	mean.Score = tables.Share(values)
	for i := range mean.Totals {
		t := &mean.Totals[i]
		sum, found := 0.0, 0.0
		for _, one := range all {
			for _, u := range one.Totals {
				if u.Group == t.Group && u.Name == t.Name {
					sum, found = sum+u.Value, found+1
				}
			}
		}
		t.Value = sum / found
	}
	return mean
}

// saveScores scores all of a run's answers by its own rules, and records what has
// changed.
func (a *app) saveScores(ctx context.Context, flags *suiteFlags, s *configs.Settings, compat bench.Compat, args []string) error {
	if len(args) != 1 {
		return &usageError{"--save records the scores of one run", []string{"dsstar bench score --save OUT"}}
	}
	r, err := readBench(args[0])
	if err != nil {
		return err
	}
	if r.Setup["compat"] != string(compat) {
		return &usageError{fmt.Sprintf("%s is scored by %s, and its tables are of one kind", r.Path, r.Setup["compat"]),
			[]string{fmt.Sprintf("dsstar bench score --save --compat %s %s", r.Setup["compat"], quoteShell(r.Path))}}
	}
	suite, err := suiteOf(r, flags)
	if err != nil {
		return err
	}
	folder, err := runner.Open(r.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	tasks := byID(suite)
	for repeat := 1; repeat <= max(1, r.Repeat); repeat++ {
		scores, err := a.scoreAll(ctx, suite, s, compat, answersOf(r, tasks, repeat))
		if err != nil {
			return err
		}
		of := map[string]taskScore{}
		for _, score := range scores.Tasks {
			of[score.ID] = score
		}
		for _, record := range r.Records {
			score := of[record.Task]
			if record.Repeat != repeat || score.Score == nil || record.Score != nil && *record.Score == *score.Score && record.Uncounted == score.Uncounted {
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

// scoreAll scores answers. Tasks whose right answer is not public have no score.
func (a *app) scoreAll(ctx context.Context, suite *bench.Suite, s *configs.Settings, compat bench.Compat, answers []bench.Answer) (benchScores, error) {
	all := benchScores{Bench: suite.Benchmark.Name, Compat: string(compat), Repeat: 1, Totals: []bench.Total{}, Tasks: []taskScore{}, Missing: []string{}, Unknown: []string{}}
	scorer := bench.Scorer{Compat: compat}
	if s.Model != "" {
		m, err := a.model(s, func(llm.Retry) {})
		if err != nil {
			return all, err
		}
		scorer.Judge = judge(m)
	}
	known := *suite
	known.Tasks = nil
	hidden := all.lacks(suite)
	for _, t := range suite.Tasks {
		if hidden[t.ID] != "" {
			continue
		}
		known.Tasks = append(known.Tasks, t)
	}
	var public []bench.Answer
	at := map[string]bench.Answer{}
	for _, answer := range answers {
		at[answer.ID] = answer
		if hidden[answer.ID] == "" {
			public = append(public, answer)
		}
	}
	scorer.Python = a.scoringPython(s, suite, at)
	scores, err := known.Score(ctx, scorer, public)
	if err != nil {
		return all, scoringError(err)
	}
	all.fill(suite, scores, hidden)
	if len(scores) > 0 {
		all.Totals = known.Totals(scores, public)
	}
	return all, nil
}

// scoringPython opens a kernel for each piece of code that a scorer runs, with all
// that answers are compared with in view.
func (a *app) scoringPython(s *configs.Settings, suite *bench.Suite, answers map[string]bench.Answer) bench.Python {
	return func(ctx context.Context, code string) (string, error) {
		p, err := a.place(ctx, s, func(string) {})
		if err != nil {
			return "", err
		}
		var seen []string
		for _, t := range suite.Tasks {
			for _, path := range []string{t.GoldDir, answers[t.ID].Dir} {
				if !slices.Contains(seen, path) {
					seen = append(seen, path)
				}
			}
		}
		return a.benchPython(s, func() place { return p }, seen, "")(ctx, code)
	}
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

// lacks notes what is not there of the suite, and returns why tasks that have no
// score have none, by id.
func (b *benchScores) lacks(suite *bench.Suite) map[string]string {
	hidden, data := map[string]string{}, map[string]bool{}
	for _, t := range suite.Tasks {
		why, missing := t.Unscorable()
		for i, what := range missing {
			missing[i] = pathEnd(what)
		}
		if len(missing) > 0 {
			why += ": " + someOf(missing, 3)
		}
		if why != "" {
			hidden[t.ID] = why
		}
		b.Missing = append(b.Missing, missing...)
		for _, what := range t.Missing {
			data[what] = true
		}
	}
	for _, what := range suite.Missing {
		if !data[what] { // data are not needed here
			b.Missing = append(b.Missing, pathEnd(what))
		}
	}
	return hidden
}

// pathEnd is the end of a long path, which tells where in a benchmark it is.
func pathEnd(path string) string {
	const shown = 3
	parts := strings.Split(filepath.ToSlash(path), "/")
	if len(parts) <= shown+1 {
		return path
	}
	return "…/" + strings.Join(parts[len(parts)-shown:], "/")
}

func (b *benchScores) fill(suite *bench.Suite, scores []bench.Score, hidden map[string]string) {
	of := map[string]bench.Score{}
	for _, s := range scores {
		of[s.ID] = s
	}
	var values []float64
	for _, t := range suite.Tasks {
		one := taskScore{ID: t.ID, Level: t.Level, Domain: t.Domain}
		if s, ok := of[t.ID]; ok {
			if !s.Uncounted {
				values = append(values, s.Value)
			}
			one.Score, one.Metric, one.Parts, one.Missing, one.Detail, one.Uncounted = &s.Value, s.Metric, s.Parts, s.Missing, s.Detail, s.Uncounted
		} else {
			b.Unscored++
			one.Detail = hidden[t.ID]
		}
		b.Tasks = append(b.Tasks, one)
	}
	b.Score = tables.Share(values)
}

// strange notes answers that are to none of the tasks.
func (b *benchScores) strange(answers []bench.Answer) {
	for _, a := range answers {
		switch {
		case a.ID == "":
			b.Nameless++
		case !slices.Contains(b.Unknown, a.ID):
			b.Unknown = append(b.Unknown, a.ID)
		}
	}
}

// warnings are what was left out, one line each.
func (b benchScores) warnings() []string {
	var all []string
	if len(b.Missing) > 0 {
		all = append(all, "missing in this copy of the benchmark: "+someOf(b.Missing, 5))
	}
	if len(b.Unknown) > 0 {
		all = append(all, "left out are answers to tasks that are not there: "+someOf(b.Unknown, 5))
	}
	if b.Nameless > 0 {
		all = append(all, fmt.Sprintf("left out are answers without a task_id: %d", b.Nameless))
	}
	return all
}

// text is the scores for people: the sums, and what is not right.
func (b benchScores) text() string {
	var out strings.Builder
	if b.Repeat > 1 {
		fmt.Fprintf(&out, "means of %d runs of each task\n", b.Repeat)
	}
	for _, t := range b.Totals {
		name := t.Name
		if t.Group != "" {
			name = t.Group + " " + t.Name
		}
		fmt.Fprintf(&out, "%-28s %7.2f  (n %d)\n", name, t.Value, t.N)
	}
	if b.Score != nil {
		fmt.Fprintf(&out, "mean score %.2f %%, 95 %% interval %.1f to %.1f, by the rules of %s (%s)\n", b.Score.Value, *b.Score.Low, *b.Score.High, b.Bench, b.Compat)
	}
	if b.Unscored > 0 {
		fmt.Fprintf(&out, "%d tasks have no score: their right answers are not public, or missing\n", b.Unscored)
	}
	for _, t := range b.Tasks {
		if t.Score != nil && *t.Score < 1 {
			fmt.Fprintf(&out, "%-28s %7.2f  %s\n", t.ID, 100**t.Score, printable(t.Detail))
		}
	}
	return out.String()
}
