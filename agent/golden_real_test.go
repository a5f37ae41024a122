package agent_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// TestGoldenReal: recordings are the same with real kernels, also of runs that are killed.
func TestGoldenReal(t *testing.T) {
	pyenvtest.Long(t)
	k := newRealKernels(t)
	few := func(n int) bool { return n%24 != 23 } // each takes seconds
	for _, name := range []string{"back, with repairs", "three steps", "an open reading", "a step edited", "follow-ups"} {
		t.Run(name, func(t *testing.T) {
			all := allRecordings()[name]
			for i := range all {
				all[i] = k.turn(all[i])
			}
			want := asTexts(string(must(os.ReadFile(recordingOf(name)))))
			equal(t, "the run", goldenOf(t, all, few), want)
		})
	}
}

// asTexts makes the numbers that code binds texts, as they are in the sessions of a [world].
func asTexts(code string) string {
	return regexp.MustCompile(`(?m)^(\w+) = (\d+)$`).ReplaceAllString(code, `$1 = "$2"`)
}

// TestNothingStaleReal is TestNothingStale with real kernels, in a few worlds.
func TestNothingStaleReal(t *testing.T) {
	pyenvtest.Long(t)
	checks := flag.Lookup("rapid.checks").Value.String()
	defer flag.Set("rapid.checks", checks)
	must(0, flag.Set("rapid.checks", "3"))
	k := newRealKernels(t)
	nothingStale(t, func(s *stage) {
		noData(s)
		s.config.Open, s.config.RunScript = k.open, k.run
	})
}

func newRealKernels(t *testing.T) realKernels {
	k := realKernels{spec: must(checkpoint.Spec(kernel.PythonSpec(pyenvtest.Python(t)), t.TempDir()))}
	k.answer, k.python = filepath.Join(t.TempDir(), "answer"), pyenvtest.Python(t)
	k.prelude = "import builtins, os, types\nbuiltins.agreed = lambda: open(" + brief.Python(k.answer) + ").read()\n" +
		"builtins.save = lambda name, value: open(name, 'w').write(str(value))\n" +
		"builtins.out, builtins.die = types.SimpleNamespace(csv='out.csv'), lambda: os._exit(1)\n"
	return k
}

// realKernels run cells in Python that knows what the cells of recordings call.
type realKernels struct {
	spec                    kernel.Spec
	python, answer, prelude string
}

// turn returns a turn without data whose cells run in real kernels.
func (k realKernels) turn(now turn) turn {
	replies := script{}
	for key, reply := range now.replies {
		replies[key] = asTexts(reply)
	}
	now.replies, now.change = replies, append(slices.Clip(now.change), noData, quickly, k.hold)
	return now
}

// hold has a run's cells run in real kernels.
func (k realKernels) hold(s *stage) {
	s.config.Open, s.config.RunScript = k.open, k.run
	watch := s.config.Observe
	s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
		return errors.Join(os.WriteFile(k.answer, []byte(tr.Answer()), 0o600), watch(e, tr))
	}
}

func (k realKernels) open(ctx context.Context, _ agent.Purpose, dir string) (agent.Session, error) {
	files := filepath.Join(dir, record.FilesFolder)
	if err := os.MkdirAll(files, 0o755); err != nil {
		return nil, err
	}
	started, err := kernel.Start(ctx, kernel.Options{Spec: k.spec, Dir: dir, Scratch: files,
		Env: os.Environ(), Prelude: k.prelude})
	if err != nil {
		return nil, err
	}
	return checkpoint.New(started, checkpoint.Options{Branches: true}), nil
}

func (k realKernels) run(ctx context.Context, dir string, _ time.Duration) (notebook.Execution, error) {
	file := filepath.Join(dir, "solution.py")
	must(0, os.WriteFile(file, append([]byte(k.prelude), must(os.ReadFile(file))...), 0o600))
	cmd := exec.CommandContext(ctx, k.python, file)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ran(notebook.Raised, string(out), err.Error()), nil
	}
	return ran(notebook.OK, string(out), ""), nil
}
