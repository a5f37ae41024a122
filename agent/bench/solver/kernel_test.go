package solver_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/bench/solver"
	"dsstar/agent/record"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
	"dsstar/notebook/compare"
)

// live gives a play real sessions, in the sandbox that works here. Only the tests of this
// package may import package kernel.
func (p *play) live(t *testing.T) *play {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: it starts real kernels")
	}
	spec := kernel.PythonSpec(pyenvtest.Python(t))
	if err := os.Mkdir(record.Folder(p.cfg.Dir).Files(), 0o755); err != nil {
		t.Fatal(err)
	}
	tier, why, err := sandbox.Choose("auto")
	if err != nil {
		t.Log(err, why)
		tier = sandbox.Off
	}
	box := sandbox.Box{Tier: tier, Read: []string{p.task.Data}, Limits: sandbox.Limits{Processes: 256}}
	p.cfg.Open = func(ctx context.Context, _ agent.Purpose, dir string) (agent.Session, error) {
		k, err := kernel.Start(ctx, kernel.Options{
			Spec: spec, Dir: dir, Scratch: record.Folder(dir).Files(), Env: os.Environ(),
			CellTimeout: time.Minute, StartTimeout: time.Minute, Sandbox: box})
		if err != nil {
			return nil, err
		}
		return checkpoint.New(k, checkpoint.Options{}), nil
	}
	return p
}

// TestLive: each agent in a real kernel, with cells that fail, hang or end it.
func TestLive(t *testing.T) {
	for name, replies := range map[string]script{
		"react": {"react": {
			py("fee = int(open('data/a.txt').read().split()[-1])\nprint(fee)"), py("print(nothing)"),
			py("import os\nos._exit(1)"),
			py("fee"), py("final_answer(fee * 1.0)"),
		}},
		"da-agent": {"da-agent": {
			action(`Bash(code="cat data/a.txt; echo "out" >&2; ls data | wc -l")`),
			action(`Bash(code="ls nowhere")`),
			action("Python(file_path=\"work/make.py\"):\n```python\nimport sqlite3\nc = " +
				"sqlite3.connect('x.sqlite')\nc.execute('CREATE TABLE t (a, b)')\n" +
				"c.executemany('INSERT INTO t VALUES (?, ?)', [(1, 'x, y'), (6, " +
				"None)])\nc.commit()\nprint('''made''')\n```"),
			action(`SQL(file_path="x.sqlite", command="SELECT * FROM t", output="direct")`),
			action(`SQL(file_path="x.sqlite", command="SELECT sum(a) AS total FROM t", output="total.csv")`),
			action(`SQL(file_path="y.sqlite", command="SELECT 1", output="direct")`),
			action("Python(file_path=\"plot.py\"):\n```python\nimport matplotlib.pyplot as " +
				"plt\nplt.bar([1], [2])\nplt.savefig('plot.png')\n```"),
			action(`Bash(code="cat total.csv; ls")`),
			action(`Terminate(output="7.0")`),
		}},
		"autogen": {"assistant": {
			"```python\naction_seconds = 1\nfee = 7.0\n```\n```sh\nsleep 60 & sleep 60\n```",
			"```sh\necho `cat data/a.txt`\n```\n```python\nprint(fee)\n```", "Answer: 7.0\nTERMINATE",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, replies).live(t).solve(t, t.Context(), name, solver.Options{})
			if p.err != nil {
				t.Fatal(p.err)
			}
			if p.result.Answer != "7.0" || !p.result.Finished {
				t.Errorf("the result is %+v", p.result)
			}
			liveChecks[name](t, p)
			switch name {
			case "react":
				if os.Getenv("DSSTAR_LONG") != "" {
					p.nbconvert(t)
				}
			case "da-agent":
				p.runAll(t)
			}
		})
	}
}

// observations returns what the agent was shown of each action.
func (p *play) observations() (all []string) {
	for _, a := range p.result.Actions {
		all = append(all, a.Observation)
	}
	return all
}

var liveChecks = map[string]func(*testing.T, *play){
	"react": func(t *testing.T, p *play) {
		seen := p.observations()
		contains(t, "an error", seen[1], "NameError")
		contains(t, "an end", seen[2], "kernel", "put back", "may be missing")
		same(t, "a value", "7", seen[3])
	},
	"da-agent": func(t *testing.T, p *play) {
		seen := p.observations()
		same(t, "bash", "the fee is 7\nout\n2", seen[0])
		contains(t, "a command that fails", seen[1], "nowhere", "exit status 2")
		same(t, "python", "made", seen[2])
		same(t, "sql", "a,b\n1,\"x, y\"\n6,", seen[3])
		same(t, "sql to a file", "1 rows are in total.csv", seen[4])
		same(t, "no database", "there is no database y.sqlite", seen[5])
		same(t, "a figure", "The code ran, and printed nothing.", seen[6])
		same(t, "the files", "total\n7\ndata\nplot.png\nplot.py\ntotal.csv\nwork\nx.sqlite", seen[7])
		if p.result.Failed != 2 {
			t.Errorf("the result is %+v", p.result)
		}
		if _, err := os.Stat(filepath.Join(record.Folder(p.cfg.Dir).Files(), "work",
			"make.py")); err != nil {
			t.Error(err)
		}
	},
	"autogen": func(t *testing.T, p *play) {
		seen := p.observations()
		same(t, "a time-out", "the action ran longer than 1 s", seen[1])
		same(t, "the next message", []string{"the fee is 7", "7.0"}, seen[2:4])
	},
}

// runAll runs the notebook in a fresh kernel as nbclient does: it continues after cells tagged
// raises-exception, and outputs must be the same.
func (p *play) runAll(t *testing.T) {
	t.Helper()
	copied := t.TempDir()
	session, err := p.cfg.Open(t.Context(), agent.Prove, copied)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, c := range p.nb.Cells {
		if c.Type != notebook.Code {
			continue
		}
		e, err := session.Execute(t.Context(), c.Source)
		if err != nil {
			t.Fatal(err)
		}
		raises := strings.Contains(strings.Join(c.Tags(), " "), "raises-exception")
		if (e.Status == notebook.OK) == raises {
			t.Errorf("%s: %s\n%s", c.ID, e.Status, e.PlainText())
		}
		if d := compare.Outputs(c.Outputs, notebook.Steady(e.Outputs), 0); strings.HasPrefix(c.ID,
			"action-") && len(d) > 0 {
			t.Errorf("%s gives something else: %+v", c.ID, d)
		}
	}
}

// nbconvert runs the whole notebook in a real front end, past the cells that raise.
func (p *play) nbconvert(t *testing.T) {
	t.Helper()
	tools := pyenvtest.Tools(t)
	cmd := exec.CommandContext(t.Context(), tools, "-m", "nbconvert", "--to", "notebook", "--execute",
		"--output", "again.ipynb", "notebook.ipynb")
	// nbconvert finds its kernel by name, which must be in the same environment.
	cmd.Dir, cmd.Env = p.cfg.Dir, append(os.Environ(),
		"JUPYTER_PATH="+filepath.Join(filepath.Dir(filepath.Dir(tools)), "share", "jupyter"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(p.cfg.Dir, "again.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the notebook", string(data), "application/vnd.dsstar.answer+json", "NameError")
}
