package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"dsstar/notebook/human"
)

const scoreHelp = `Score the answers of a run by the benchmark's public rules.
Missing, unfinished and empty answers count as wrong.

--compat upstream scores as the public code does, including its faults; fixed
corrects them (docs/benchmarks.md lists them). KramaBench's paraphrases need --model.
Charts are extracted again from the code that draws them.`

func (a *App) scoreCommand() cli.Command {
	var flags suiteFlags
	var compat string
	return cli.Command{
		Use:     "score OUT",
		Short:   "Score the answers of a run",
		Long:    scoreHelp,
		Example: "  dsstar bench score first --compat fixed",
		Args:    cli.Any,
		Flags: append(flags.moved(), compatFlag(&compat),
			cli.Opt(new(bool), "json", "Output", "print one JSON object instead of text")),
		Settings: taken + " -max-rounds -debug-tries",
		Run: func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
			if len(c.Args) != 1 {
				return none, usage.New("expected one run", usage.Shell("dsstar bench score OUT"))
			}
			scorer, err := a.scorer(c.Settings, bench.Compat(compat))
			if err != nil {
				return none, err
			}
			suite, given, err := flags.ofRun(c.Args[0])
			if err != nil {
				return none, err
			}
			scores, err := suite.Score(ctx, scorer, given)
			if errors.Is(err, bench.ErrNoJudge) {
				err = usage.New(err.Error(), usage.Again("--model", "PROVIDER/MODEL"))
			}
			if err != nil {
				return none, err
			}
			var failed []string
			for _, t := range scores.Tasks {
				if t.Failed != "" {
					failed = append(failed, t.ID+" ("+ui.Fit(t.Failed, 200)+")")
				}
			}
			a.warn("missing in this copy of the benchmark", scores.Missing, 5)
			a.warn("could not be scored, and are left out", failed, 3)
			return cli.Output{Value: scores, Text: func(b *strings.Builder) { scoresText(b, scores) }}, nil
		},
	}
}

// ofRun returns the tasks of a run, from the same place unless flags say otherwise, and its answers.
func (s suiteFlags) ofRun(out string) (*bench.Suite, []bench.Answer, error) {
	r, err := readRun(out)
	if err != nil {
		return nil, nil, err
	}
	s.bench, s.split = r.Bench, r.Setup["split"]
	s.tasks, s.data = cmp.Or(s.tasks, r.Setup["tasks"]), cmp.Or(s.data, r.Setup["data"])
	s.setting = cmp.Or(r.Setup["data_setting"], "retrieval")
	suite, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	tasks := suite.ByID()
	suite.Tasks = nil
	for _, item := range r.Items {
		t, ok := tasks[item.ID]
		if !ok {
			return nil, nil, usage.New(fmt.Sprintf("%s has task %s, which is not in its benchmark", out,
				item.ID), usage.Again("--tasks", "PATH"))
		}
		suite.Tasks = append(suite.Tasks, t)
	}
	return suite, runner.Answers(r, tasks), nil
}

// scorer returns what scores answers. Without a model it has no judge.
func (a *App) scorer(s *configs.Settings, compat bench.Compat) (_ bench.Scorer, err error) {
	var judge bench.Judge
	if s.Model != "" {
		var m llm.Model
		m, err = a.Model(s, func(llm.Request, string) {})
		judge = runner.Judge(ask.Settings{Model: m})
	}
	var found site.Site // if nothing can be scored, none is needed
	return bench.Scorer{Compat: compat, Judge: judge,
		Open: scoringAt(func(ctx context.Context) (_ site.Site, err error) {
			if found == nil {
				if found, err = a.Host.Site(ctx, s, site.Use{}, func(string) {}); err != nil {
					return nil, &bench.StopError{Err: err}
				}
			}
			return found, nil
		})}, err
}

// warn names answers that were left out, if there are any.
func (a *App) warn(what string, which []string, most int) {
	if len(which) > 0 {
		fmt.Fprintf(a.Stderr, "dsstar: warning: %s: %s\n", what, ui.Printable(human.Some(which, most)))
	}
}

// scoresText writes the scores for people: the totals, and the tasks without the full score.
func scoresText(out *strings.Builder, b bench.Scores) {
	for _, t := range b.Totals {
		name := strings.TrimSpace(t.Group + " " + t.Name)
		fmt.Fprintf(out, "%-28s %7.2f  (n %d)\n", name, t.Value, t.N)
	}
	if b.Score != nil {
		fmt.Fprintf(out, "mean score %.2f %%, 95 %% interval %.1f to %.1f, by the rules of %s (%s)\n",
			b.Score.Value, *b.Score.Low, *b.Score.High, b.Bench, b.Compat)
	}
	if b.Unscored > 0 {
		fmt.Fprintf(out, "%d tasks have no score: their right answers are not public, or missing, or "+
			"the scorer failed\n", b.Unscored)
	}
	for _, t := range b.Tasks {
		if t.Value != nil && *t.Value < 1 {
			fmt.Fprintf(out, "%-28s %7.2f  %s\n", t.ID, 100**t.Value, ui.Printable(t.Detail))
		}
	}
}
