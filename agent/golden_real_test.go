package agent_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	all := map[string][]turn{"back, with repairs": {{replies: troubled["back, with repairs"]}}}
	for _, name := range []string{"three steps", "an open reading", "a step edited", "follow-ups"} {
		all[name] = recordings[name]
	}
	few := func(n int) bool { return n%24 != 23 } // each takes seconds
	for name, turns := range all {
		t.Run(name, func(t *testing.T) {
			var onReal []turn
			for _, now := range turns {
				onReal = append(onReal, k.turn(t, now))
			}
			want := asTexts(string(must(os.ReadFile(recordingOf(name)))))
			equal(t, "the run", goldenOf(t, onReal, few), want)
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
	if err := flag.Set("rapid.checks", "3"); err != nil {
		t.Fatal(err)
	}
	k := newRealKernels(t)
	nothingStale(t, func(s *stage) {
		s.task.Data, s.task.Files = "", nil
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
func (k realKernels) turn(t *testing.T, now turn) turn {
	replies, change := script{}, now.change
	for key, reply := range now.replies {
		replies[key] = asTexts(reply)
	}
	return turn{does: now.does, replies: replies, whole: now.whole, change: func(s *stage) {
		if change != nil {
			change(s)
		}
		s.task.Data, s.task.Files, s.quick = "", nil, true
		s.config.Open, s.config.RunScript = k.open, k.run
		watch := s.config.Observe
		s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
			if err := os.WriteFile(k.answer, []byte(tr.Answer()), 0o600); err != nil {
				return err
			}
			return watch(e, tr)
		}
	}}
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
	code, err := os.ReadFile(file)
	if err != nil {
		return notebook.Execution{}, err
	}
	if err := os.WriteFile(file, append([]byte(k.prelude), code...), 0o600); err != nil {
		return notebook.Execution{}, err
	}
	cmd := exec.CommandContext(ctx, k.python, file)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return ran(notebook.Raised, string(out), err.Error()), nil
	}
	return ran(notebook.OK, string(out), ""), nil
}
