package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// spoiled is a model whose second cell changes what the first has made, also a
// file, and then fails: the repaired one shows whether that has left a trace.
func spoiled() roles {
	m := counting()
	m["planner"] = say("Load.", "Add up.")
	m["coder"] = say(cell("import os, random\nparts = [40, 2]\nos.mkdir('outputs')\nopen('note.txt', 'w').write('good')\nprint('line\\n' * 400_000)"),
		cell("parts.append(random.random())\nopen('note.txt', 'w').write('bad')\nopen('outputs/new.txt', 'w').close()\nprint('line\\n' * 400_000)\n1 / 0"))
	m["verifier"] = say("Verdict: insufficient\nMissing: the total.", sufficient)
	m["router"] = say("Add Step")
	m["debugger"] = say(cell("total = int(sum(parts))\nprint(len(parts), open('note.txt').read(), os.listdir('outputs'))"))
	return m
}

// TestRollback: a failed cell leaves no trace, and the notebook says how the session went back.
// outputs/ in the cells' folder goes back too; dsstar's own folder of long outputs stays.
func TestRollback(t *testing.T) {
	t.Parallel()
	data := dataFolder(t, numbers)
	for name, c := range map[string]struct {
		way     notebook.Way
		args    []string
		printed string
		said    string
	}{
		"auto":   {notebook.ByCheckpoint, nil, "2 good []\n", "the session is back at the accepted cells (1), by checkpoint"},
		"replay": {notebook.ByReplay, []string{"--rollback", "replay"}, "2 good []\n", "by replay"},
		"off":    {notebook.NotAtAll, []string{"--rollback", "off"}, "3 bad ['new.txt']\n", "going back is off"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "auto" {
				pyenvtest.Long(t)
			}
			t.Parallel()
			way := c.way
			if runtime.GOOS != "linux" && way == notebook.ByCheckpoint {
				t.Skip("there are checkpoints on Linux only")
			}
			s := askNB(t, data, spoiled().serve(t).URL, append(slices.Clone(c.args), "--json")...)
			s.expect(exitVerified, c.said)
			tr := s.trajectory()
			if a, ok := tr.Rounds[1].Accepted(); !ok || a.Execution.Stdout() != c.printed {
				t.Errorf("accepted %v: %q", ok, a.Execution.Stdout())
			}
			if back := tr.Rounds[1].Returns; len(back) != 1 || back[0].Way != way || back[0].Why != "" {
				t.Errorf("%+v", back)
			}
			if want := `"rollback": "` + string(way) + `"`; !strings.Contains(s.stdout, want) {
				t.Errorf("no %s in %s", want, s.stdout)
			}
			for _, x := range []notebook.Execution{tr.Rounds[0].Attempts[0].Execution, tr.Rounds[1].Attempts[0].Execution} {
				_, name, _ := strings.Cut(x.Stdout(), "all of it is in ")
				name, _, _ = strings.Cut(name, "]")
				if b, err := os.ReadFile(filepath.Join(s.out, name)); err != nil || filepath.Dir(name) != "outputs" || strings.Count(string(b), "line\n") != 400_000 {
					t.Errorf("%q: %d bytes, %v", name, len(b), err)
				}
			}
		})
	}
}

// TestRollbackUnsupported: a kernel that cannot freeze copies of itself is an error
// for those who insist, and goes back by replay for others, who are told why. This
// one finds no Python packages but its own.
func TestRollbackUnsupported(t *testing.T) {
	t.Parallel()
	a, _, _ := testApp(t)
	spec := kernel.PythonSpec(pyenvtest.Python(t))
	spec.Argv = slices.Insert(spec.Argv, 1, "-I")
	dir := t.TempDir()
	o := kernel.Options{Spec: spec, Dir: dir, Scratch: filepath.Join(dir, "files"), Env: os.Environ()}
	why := "No module named dsstar_kernel"
	if runtime.GOOS != "linux" {
		why = "there are no checkpoints on " + runtime.GOOS
	}
	if _, err := a.Start(t.Context(), o, checkpoint.Options{}, &configs.Settings{Rollback: "checkpoint"}, agent.Work); err == nil || !strings.Contains(err.Error(), why) {
		t.Error(err)
	}
	k, err := a.Start(t.Context(), o, checkpoint.Options{}, &configs.Settings{Rollback: "auto"}, agent.Work)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if back, err := k.Rollback(t.Context(), []string{"x = 1"}); err != nil || back.Way != notebook.ByReplay || !strings.Contains(back.Why, why) {
		t.Errorf("%v %+v", err, back)
	}
	data := dataFolder(t, numbers)
	askNB(t, data, "http://127.0.0.1:1/v1", "--rollback", "maybe").expect(exitUsage, "should be auto, checkpoint, replay or off")
	askNB(t, data, "http://127.0.0.1:1/v1", "--rollback", "off", "--paper").expect(exitUsage, "hint: dsstar nb --rollback replay")
}
