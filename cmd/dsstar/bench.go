package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/notebook/disk"
)

const benchHelp = `Run agents over benchmarks, score what they answer by the public rules, and put
the papers' tables beside what came of it. docs/benchmarks.md tells where the
benchmarks are had from.

Exit codes:
  0    done: every task whose data is there has a result, right or wrong
  1    error
  2    usage
  4    model or server credentials
  5    budget spent: --total-cost, --total-calls or --total-time
  130  interrupted
What was stopped goes on with: dsstar bench run --resume --out OUT`

const benchExample = `  dsstar bench run --bench dabstep --tasks DABstep --split dev --agent dsstar --model openai/MODEL --out first
  dsstar bench run --bench dabstep --tasks DABstep --split dev --agent react --model openai/MODEL --jobs 4 --out second
  dsstar bench run --resume --out second
  dsstar bench run --model replay:first --out again     the agent again, without the model
  dsstar bench score first --compat fixed
  dsstar bench score --bench dabstep --tasks tasks.jsonl --answers answers.jsonl --json
  dsstar bench table --paper ds-star:1 first second
  dsstar bench compare first second
  dsstar bench report --out report.html first second
  dsstar bench submit --format dabstep first > submission.jsonl`

func (a *app) benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Run agents over benchmarks, score them, make the papers' tables",
		Long:    benchHelp,
		Example: benchExample,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.benchRunCommand(), a.benchScoreCommand(), a.benchSubmitCommand(), a.benchTableCommand(), a.benchCompareCommand(), a.benchReportCommand())
	return cmd
}

// A suiteFlags says which tasks are read.
type suiteFlags struct {
	bench, tasks, data, setting, split string
}

func (s *suiteFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.bench, "bench", "", "the benchmark: dabstep, kramabench, dacode, dabench or dir")
	f.StringVar(&s.tasks, "tasks", "", "where it is: its folder, or a file of tasks")
	f.Var((*onceFlag)(&s.data), "data", "the folder with the data, if it is not where the tasks say")
	f.StringVar(&s.setting, "data-setting", "retrieval", "retrieval: all files; oracle: those that the answer needs")
	f.StringVar(&s.split, "split", "", "dev, test or all; easy, medium or hard for the tasks of one level")
}

// levels are the splits that are levels.
var levels = map[string]bool{"easy": true, "medium": true, "hard": true}

// open reads the suite.
func (s *suiteFlags) open(command string) (*bench.Suite, error) {
	again := func(flags string) string { return "dsstar bench " + command + " " + flags + " …" }
	if s.bench == "" {
		return nil, &usageError{"--bench is not given", []string{again("--bench dabstep --tasks FOLDER")}}
	}
	b, err := bench.Find(s.bench)
	if unknown, ok := errors.AsType[*bench.UnknownError](err); ok {
		e := &usageError{text: err.Error()}
		for _, name := range unknown.Known {
			e.hints = append(e.hints, again("--bench "+name+" --tasks PATH"))
		}
		return nil, e
	}
	if s.tasks == "" {
		return nil, &usageError{"--tasks is not given: " + b.Layout, []string{again("--bench " + s.bench + " --tasks PATH")}}
	}
	setting := bench.Setting{Oracle: s.setting == "oracle"}
	if s.setting != "oracle" && s.setting != "retrieval" {
		return nil, &usageError{fmt.Sprintf("--data-setting is retrieval or oracle, not %q", s.setting), []string{again("--data-setting oracle")}}
	}
	switch s.split {
	case "", "all", "easy", "medium", "hard":
	case "test":
		setting.Split = "all"
	case "dev":
		setting.Split = "dev"
	default:
		return nil, &usageError{fmt.Sprintf("--split is dev, test, all, easy, medium or hard, not %q", s.split), []string{again("--split dev")}}
	}
	suite, err := b.Open(s.tasks, setting)
	if missing, ok := errors.AsType[*bench.MissingError](err); ok {
		return nil, &usageError{err.Error() + "\n--tasks is " + b.Layout, []string{"ls " + quoteShell(filepath.Dir(firstOf(missing.What)))}}
	}
	if err != nil {
		return nil, &usageError{err.Error(), []string{"head -c 300 " + quoteShell(s.tasks)}}
	}
	if err := s.move(suite); err != nil || command != "run" {
		return suite, err
	}
	return suite, s.hides(suite)
}

// hides refuses data from which an agent could read the right answers.
func (s *suiteFlags) hides(suite *bench.Suite) error {
	err := suite.Exposed()
	found, ok := errors.AsType[*bench.ExposedError](err)
	if !ok {
		return err
	}
	return &usageError{err.Error() + "\nthe data must be in a folder of their own (dir: data_dir in the index names it)",
		[]string{"ls " + quoteShell(found.Data), "dsstar bench run … --data DIR   # a folder with the data alone"}}
}

// move gives the tasks the folder of --data.
func (s *suiteFlags) move(suite *bench.Suite) error {
	if s.data == "" {
		return nil
	}
	data, err := filepath.Abs(s.data)
	if err == nil {
		_, err = os.Stat(data)
	}
	if err != nil {
		return &usageError{fmt.Sprintf("--data: %v", err), []string{"ls -ld " + quoteShell(s.data)}}
	}
	for i := range suite.Tasks {
		_, missing := suite.Tasks[i].Unscorable()
		suite.Tasks[i].Data, suite.Tasks[i].Missing = data, missing
	}
	return nil
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return "."
	}
	return list[0]
}

// compatFlag says by which rules answers are scored.
func compatFlag(f *pflag.FlagSet, compat *string) {
	f.StringVar(compat, "compat", string(bench.Upstream), "score as the public code does (upstream), or with its faults put right (fixed)")
}

func checkCompat(compat string) (bench.Compat, error) {
	if c := bench.Compat(compat); c == bench.Upstream || c == bench.Fixed {
		return c, nil
	}
	return "", &usageError{fmt.Sprintf("--compat is upstream or fixed, not %q", compat), []string{"dsstar bench score --compat fixed OUT"}}
}

// readBench reads the folder of a benchmark's run.
func readBench(path string) (runner.Result, error) {
	r, err := runner.Read(path)
	if errors.Is(err, runner.ErrNone) || errors.Is(err, fs.ErrNotExist) {
		return r, &usageError{fmt.Sprintf("no run of a benchmark is in %s", path), []string{"dsstar bench run --bench dir --tasks FOLDER --out " + quoteShell(path)}}
	}
	return r, err
}

func readBenches(paths []string) ([]runner.Result, error) {
	var all []runner.Result
	for _, path := range paths {
		r, err := readBench(path)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// answersOf are the answers of one repeat of a run, in the order of its tasks.
func answersOf(r runner.Result, tasks map[string]bench.Task, repeat int) []bench.Answer {
	var all []bench.Answer
	for _, record := range r.Records {
		if max(1, record.Repeat) == repeat {
			all = append(all, answerOf(record, tasks[record.Task], r.Path))
		}
	}
	return all
}

// answerOf is a record as the scorers take it; out is the folder of its run. By the
// rules of DA-Code an agent that used up its steps has given no answer, whichever
// agent it is; by all others what it said counts.
func answerOf(r runner.Record, task bench.Task, out string) bench.Answer {
	dir := absolute(runner.TaskFolder(out, r.Key())) // for a kernel, whose working folder is another
	answer := bench.Answer{
		ID: r.Task, Dir: filepath.Join(dir, "files"), Steps: r.Rounds, Actions: r.Executions, Failed: r.Failed,
		Unfinished: r.Error != "" || !r.Finished && task.Rules == "dacode",
		Tokens:     [2]int{r.Usage.InputTokens, r.Usage.OutputTokens},
	}
	switch text := strings.TrimSpace(r.Answer); {
	case text == "":
	case task.Rules == "kramabench" && meantAsValue(task.Kind, text):
		answer.Value = json.RawMessage(text)
	default:
		answer.Value = bench.Said(r.Answer)
	}
	if script, err := disk.ReadFile(filepath.Join(dir, "solution.py"), disk.MaxDocument); err == nil {
		answer.Code = string(script)
	}
	return answer
}

// meantAsValue returns whether the text of an answer of that type is a JSON value:
// a number or a list where one is asked for. A text stays one, such as "true".
func meantAsValue(kind, text string) bool {
	numeric := strings.HasPrefix(kind, "numeric_") && strings.ContainsAny(text[:1], "-0123456789")
	list := strings.HasPrefix(kind, "list_") && text[0] == '['
	return (numeric || list) && json.Valid([]byte(text))
}

// byID are the tasks of a suite by their ids.
func byID(suite *bench.Suite) map[string]bench.Task {
	tasks := map[string]bench.Task{}
	for _, t := range suite.Tasks {
		tasks[t.ID] = t
	}
	return tasks
}
