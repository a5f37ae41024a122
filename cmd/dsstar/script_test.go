//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dsstar/agent/llm/llmtest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// TestScript runs the stories in testdata/script: what a user types, and what comes of it.
// Besides the commands of testscript they have
//
//	dsstar ARG…             runs dsstar, which must exit with 0
//	exits CODE dsstar ARG…  the same with another exit code
//	model FILE              starts a model that replies what the file says, for the runs that follow
//	finished RUN            copies a finished run, of the data in $DATA, which answers 42
//	notebook FILE.py        makes FILE.ipynb of a script whose cells begin with # %%
//	shown FILE.ipynb N      prints the outputs of the N-th cell
//	edit FILE OLD NEW       replaces a text in a file
//	python ARG…             runs the Python that cells run in
//
// Without a model command nothing answers at the address of the model.
func TestScript(t *testing.T) {
	python := pyenvtest.Python(t)
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, cleanEnv()...)
			env.Vars = append(env.Vars, asProgram+"=1", descriptionsIn+"="+filepath.Join(env.WorkDir, ".descriptions"),
				"XDG_CONFIG_HOME="+filepath.Join(env.WorkDir, ".config"), "TMPDIR="+os.TempDir(),
				"DSSTAR_PYTHON="+python, "DSSTAR_BASE_URL=http://127.0.0.1:1/v1", "DSSTAR_MODEL=scripted", "DSSTAR_RETRIES=0",
				"PYTHON="+python)
			env.Defer(func() { checkNotHeld(t, env.WorkDir) })
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"dsstar": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg {
					ts.Fatalf("say which exit code: exits CODE dsstar …")
				}
				exits(ts, 0, os.Args[0], args)
			},
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				code, err := strconv.Atoi(args[0])
				ts.Check(err)
				exits(ts, code, os.Args[0], args[2:])
			},
			"python": func(ts *testscript.TestScript, _ bool, args []string) { exits(ts, 0, python, args) },
			"model": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv("DSSTAR_BASE_URL", serveReplies(t, ts, ts.ReadFile(args[0])))
			},
			"finished": func(ts *testscript.TestScript, _ bool, args []string) {
				s := finishedRun(t)
				ts.Setenv("DATA", s.data)
				ts.Check(s.copyTo(ts.MkAbs(args[0])))
			},
			"notebook": func(ts *testscript.TestScript, _ bool, args []string) {
				nb := percentScript(ts.ReadFile(args[0]))
				ts.Check(nb.Save(strings.TrimSuffix(ts.MkAbs(args[0]), ".py") + ".ipynb"))
			},
			"shown": func(ts *testscript.TestScript, _ bool, args []string) {
				nb, err := notebook.Read(strings.NewReader(ts.ReadFile(args[0])))
				ts.Check(err)
				n, err := strconv.Atoi(args[1])
				ts.Check(err)
				_, err = ts.Stdout().Write([]byte(plainOf(nb.Cells[n-1])))
				ts.Check(err)
			},
			"edit": func(ts *testscript.TestScript, _ bool, args []string) {
				text := ts.ReadFile(args[0])
				if !strings.Contains(text, args[1]) {
					ts.Fatalf("%s has no %q", args[0], args[1])
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o644))
			},
		},
	})
}

// exits runs a program, which must end with the exit code.
func exits(ts *testscript.TestScript, want int, program string, args []string) {
	err := ts.Exec(program, args...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// serveReplies starts a model until the end of the script. The text has a line "== role" before
// each reply; the replies of counting are for the roles that it does not name.
func serveReplies(t *testing.T, ts *testscript.TestScript, text string) (url string) {
	m := roles{}
	for _, part := range strings.Split("\n"+text, "\n== ")[1:] {
		role, reply, _ := strings.Cut(part, "\n")
		switch role {
		case "analyzer", "coder", "debugger", "finalizer", "script":
			reply = cell(strings.TrimSpace(reply))
		}
		m[role] = append(m[role], say(strings.TrimSpace(reply))...)
	}
	server := llmtest.New(scriptTB{t, ts}, counting().with(m).reply(t))
	return server.URL
}

// scriptTB has what is cleaned up at the end of a test cleaned up at the end of a script.
type scriptTB struct {
	*testing.T
	ts *testscript.TestScript
}

func (tb scriptTB) Cleanup(f func()) { tb.ts.Defer(f) }

// percentScript makes a notebook of a script in the percent format.
func percentScript(script string) notebook.Notebook {
	nb := notebook.Notebook{Metadata: map[string]any{"kernelspec": map[string]any{"name": "python3", "display_name": "Python 3", "language": "python"}}}
	for i, part := range strings.Split("\n"+script, "\n# %%")[1:] {
		head, source, _ := strings.Cut(part, "\n")
		c := notebook.Cell{ID: "c" + strconv.Itoa(i+1), Type: notebook.Code, Source: strings.TrimSpace(source), Metadata: map[string]any{}}
		switch head = strings.TrimSpace(head); {
		case head == "[markdown]":
			c.Type = notebook.Markdown
		case head != "":
			c.Metadata["tags"] = []any{head}
		}
		nb.Cells = append(nb.Cells, c)
	}
	return nb
}
