package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/cmd/dsstar/internal/usage"
)

// suiteFlags select the benchmark and its tasks.
type suiteFlags struct {
	bench, tasks, data, setting, split string
}

func (s *suiteFlags) add(f *pflag.FlagSet) {
	var names []string
	for _, b := range bench.Benchmarks() {
		names = append(names, b.Name)
	}
	f.StringVar(&s.bench, "bench", "", "the benchmark: "+strings.Join(names, ", "))
	f.StringVar(&s.tasks, "tasks", "", "the benchmark's folder, or a file of tasks")
	f.Var((*usage.Once)(&s.data), "data", "the data folder, if it is elsewhere")
	f.StringVar(&s.setting, "data-setting", "retrieval",
		"retrieval: all files; oracle: those that the answer needs")
	f.StringVar(&s.split, "split", "",
		"dev, test or all; easy, medium or hard for the tasks of one level")
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
	if s.setting != "oracle" && s.setting != "retrieval" {
		return nil, usage.New(fmt.Sprintf("--data-setting is retrieval or oracle, not %q", s.setting),
			usage.Again("--data-setting", "oracle"))
	}
	switch s.split {
	case "", "all", "easy", "medium", "hard":
	case "test":
		setting.Split = "all"
	case "dev":
		setting.Split = "dev"
	default:
		return nil, usage.New(fmt.Sprintf("--split is dev, test, all, easy, medium or hard, not %q",
			s.split), usage.Again("--split", "dev"))
	}
	suite, err := b.Open(s.tasks, setting)
	if missing, ok := errors.AsType[*bench.MissingError](err); ok {
		return nil, usage.New(err.Error()+"\n--tasks is "+b.Layout,
			usage.Shell("ls %s", filepath.Dir(missing.What[0])))
	}
	if err != nil {
		return nil, usage.New(err.Error(), usage.Shell("head -c 300 %s", s.tasks))
	}
	if s.data != "" {
		if err := suite.UseData(s.data); err != nil {
			return nil, usage.New(fmt.Sprintf("--data: %v", err), usage.Shell("ls -ld %s", s.data))
		}
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

// compatFlag adds the flag that selects the rules of scoring.
func compatFlag(f *pflag.FlagSet, compat *string) {
	f.StringVar(compat, "compat", string(bench.Upstream),
		"score like the public code (upstream), or without its faults (fixed)")
}

func checkCompat(compat string) (bench.Compat, error) {
	if c := bench.Compat(compat); c == bench.Upstream || c == bench.Fixed {
		return c, nil
	}
	return "", usage.New(fmt.Sprintf("--compat is upstream or fixed, not %q", compat),
		usage.Shell("dsstar bench score --compat fixed OUT"))
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
