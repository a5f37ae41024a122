package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"dsstar/agent/llm/llmtest"
	"dsstar/cmd/dsstar/internal/dbtest"
	"dsstar/cmd/dsstar/internal/site/sitetest"
	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// TestScript runs the stories in testdata/script: what a user types, and the results. They have
// these commands besides those of testscript:
//
//	dsstar ARG…             runs dsstar, which must exit with 0 and leave its data as they are
//	exits CODE dsstar ARG…  the same with another exit code
//	live                    has cells run in kernels from then on, until the command warm, which has
//	                        them run in testdata/warm.py as at the beginning
//	exec $DSSTAR ARG… &     runs dsstar in the background
//	waits TEXT FILE         waits until the file contains a text
//	gone                    waits until no process of the script is left
//	model FILE              starts a model with the replies in the file, for the runs that follow
//	finished RUN            copies a finished run on the data in $DATA, with the answer 42
//	notebook FILE.py        makes FILE.ipynb from a script whose cells begin with # %%
//	shown FILE.ipynb N      prints the outputs of the N-th cell
//	validate FILE.ipynb…    checks notebooks with nbformat
//	edit FILE OLD NEW       replaces a text in a file
//	seal FILE.ipynb         makes a notebook one that the user's dsstar has written
//	python ARG…             runs the Python of cells; tools ARG… one with Jupyter's tools
//	kernel ID               starts a kernel of the user's
//	in ID CODE              runs code in a kernel, as its user does
//	postgres FILE.sql       starts PostgreSQL with the database sales, on $PORT of this machine;
//	                        mariadb FILE.sql MariaDB; sql FILE.sql runs SQL in PostgreSQL
//	s3, gcs FOLDER, azure   starts a server of buckets, at a variable that their clients read
//	spark, dask             starts a cluster, on $PORT, and has cells run in $CLUSTERS
//	web FOLDER              serves the files of a folder at $WEB
//	server [KERNELS.json]   starts a Jupyter server: $SERVER, $TOKEN, $ROOT, $RUNTIME
//	opens FILE.ipynb        opens a notebook on the server, with the kernel $ID
//	asks PATH               prints what the server answers
//	mcp ARG…                starts dsstar mcp in the current folder, for a user with another key
//	tool NAME [JSON]        calls a tool of it, which must succeed (! tool: fail); prints its text and,
//	                        on standard error, what was told of progress until then
//
// Without a model command nothing answers at the model's address. DSSTAR_TEST_TTY=1 makes dsstar
// treat its standard input and error as a terminal.
func TestScript(t *testing.T) { runScripts(t, "testdata/script") }

// TestLongScript runs the stories that need a server or many kernels.
func TestLongScript(t *testing.T) {
	pyenvtest.Long(t)
	runScripts(t, "testdata/script/long")
}

func runScripts(t *testing.T, dir string) {
	python := pyenvtest.Python(t)
	extension := must(filepath.Abs("python"))
	var database *dbtest.Server // one story has it
	var agent *client           // another one
	p := testscript.Params{
		Dir:                dir,
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Values[itsT{}] = env.T()
			env.Vars = append(env.Vars, cleanEnv()...)
			env.Vars = append(env.Vars, asProgram+"=1", warmAt+"="+string(warmSessions(t)),
				"XDG_CONFIG_HOME="+filepath.Join(env.WorkDir, ".config"), "TMPDIR="+os.TempDir(),
				"DSSTAR_PYTHON="+python, "DSSTAR_BASE_URL=http://127.0.0.1:1/v1",
				"DSSTAR_MODEL=scripted", "DSSTAR_RETRIES=0", "PYTHON="+python, "EXTENSION="+extension, "DSSTAR="+os.Args[0],
				"DSSTAR_TEST_MARK="+env.WorkDir)
			runtime := filepath.Join(env.WorkDir, ".runtime")
			env.Vars = append(env.Vars, sitetest.Env(t, runtime)...)
			env.Vars = append(env.Vars, "RUNTIME="+runtime)
			env.Defer(func() { checkNotHeld(t, env.WorkDir) })
			return errors.Join(configFolder(filepath.Join(env.WorkDir, ".config", "dsstar")), os.Mkdir(runtime, 0o700))
		},
		Condition: func(name string) (bool, error) {
			if name == "long" {
				return os.Getenv("DSSTAR_LONG") != "", nil
			}
			if name != "full" && name != "builtin" {
				return false, fmt.Errorf("there is no condition %s", name)
			}
			_, _, err := sandbox.Choose(name)
			if name == "full" && os.Getenv("DSSTAR_FULL") == "required" {
				return err == nil, err
			}
			return err == nil, nil
		},
		Cmds: map[string]func(ts *script, neg bool, args []string){
			"dsstar": func(ts *script, neg bool, args []string) {
				if neg {
					ts.Fatalf("say which exit code: exits CODE dsstar …")
				}
				runs(t, ts, 0, args)
			},
			"exits": func(ts *script, _ bool, args []string) {
				code, err := strconv.Atoi(args[0])
				ts.Check(err)
				runs(t, ts, code, args[2:])
			},
			"live": func(ts *script, _ bool, _ []string) { ts.Setenv(warmAt, "") },
			"warm": func(ts *script, _ bool, _ []string) {
				ts.Setenv(warmAt, string(warmSessions(t)))
			},
			"waits": func(ts *script, _ bool, args []string) {
				waitFor(scriptTB{t, ts}, args[0]+" in "+args[1], func() bool {
					b, err := os.ReadFile(ts.MkAbs(args[1]))
					return err == nil && strings.Contains(string(b), args[0])
				})
			},
			"gone": func(ts *script, _ bool, _ []string) {
				noProcess(scriptTB{t, ts}, "DSSTAR_TEST_MARK="+ts.Getenv("WORK"))
			},
			"model": func(ts *script, _ bool, args []string) {
				ts.Setenv("DSSTAR_BASE_URL", serveReplies(t, ts, ts.ReadFile(args[0])))
			},
			"finished": func(ts *script, _ bool, args []string) {
				s := finishedRun(t)
				ts.Setenv("DATA", s.data)
				ts.Check(s.copyTo(ts.MkAbs(args[0])))
			},
			"notebook": func(ts *script, _ bool, args []string) {
				nb := percentScript(ts.ReadFile(args[0]))
				ts.Check(nb.Save(strings.TrimSuffix(ts.MkAbs(args[0]), ".py") + ".ipynb"))
			},
			"shown": func(ts *script, _ bool, args []string) {
				nb, err := notebook.Read(strings.NewReader(ts.ReadFile(args[0])))
				ts.Check(err)
				n, err := strconv.Atoi(args[1])
				ts.Check(err)
				prints(ts, notebook.Execution{Outputs: nb.Cells[n-1].Outputs}.PlainText())
			},
			"validate": func(ts *script, _ bool, args []string) {
				for i := range args {
					args[i] = ts.MkAbs(args[i])
				}
				validate(t, args...)
			},
			"edit": func(ts *script, _ bool, args []string) {
				text := ts.ReadFile(args[0])
				if !strings.Contains(text, args[1]) {
					ts.Fatalf("%s has no %q", args[0], args[1])
				}
				text = strings.ReplaceAll(text, args[1], args[2])
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
			},
			"seal": func(ts *script, _ bool, args []string) {
				ts.Check(seal(ts.MkAbs(args[0])))
			},
			"python": func(ts *script, _ bool, args []string) {
				ts.Check(ts.Exec(python, args...))
			},
			"tools": func(ts *script, _ bool, args []string) {
				ts.Check(ts.Exec(pyenvtest.Tools(t), args...))
			},
			"kernel": func(ts *script, _ bool, args []string) {
				sitetest.Start(scriptTB{t, ts}, ts.Getenv("RUNTIME"), args[0])
			},
			"in": func(ts *script, _ bool, args []string) {
				files, err := filepath.Glob(filepath.Join(ts.Getenv("RUNTIME"), "kernel-"+args[0]+"*"))
				if err != nil || len(files) != 1 {
					ts.Fatalf("kernels %q", files)
				}
				prints(ts, sitetest.Run(scriptTB{t, ts}, files[0], args[1]))
			},
			"web": func(ts *script, _ bool, args []string) {
				web := httptest.NewServer(webFiles(ts.MkAbs(args[0])))
				ts.Defer(web.Close)
				ts.Setenv("WEB", web.URL)
			},
			"mcp": func(ts *script, _ bool, args []string) {
				tb := scriptTB{t, ts}
				cmd := mcpProgram(tb, ts.MkAbs("."), ts.Getenv("DSSTAR_BASE_URL"), args...)
				agent = newClient(tb, &sdk.CommandTransport{Command: cmd})
			},
			"tool": func(ts *script, fails bool, args []string) {
				var given map[string]any
				if len(args) > 1 {
					ts.Check(json.Unmarshal([]byte(args[1]), &given))
				}
				prints(ts, agent.call(fails, args[0], given, nil))
				_, err := ts.Stderr().Write([]byte(agent.told()))
				ts.Check(err)
			},
			"sql": func(ts *script, _ bool, args []string) {
				ts.Check(database.Run(ts.ReadFile(args[0])))
			},
			"server": func(ts *script, _ bool, args []string) {
				var specs map[string]map[string]any
				if len(args) > 0 {
					ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &specs))
				}
				s := kerneltest.JupyterServer(scriptTB{t, ts}, pyenvtest.Tools(t), specs)
				for name, value := range map[string]string{
					"SERVER": s.URL, "TOKEN": s.Token, "ROOT": s.Root, "RUNTIME": s.RuntimeDir,
				} {
					ts.Setenv(name, value)
				}
			},
			"opens": func(ts *script, _ bool, args []string) {
				id := opensNotebook(scriptTB{t, ts}, serverOf(ts), args[0])
				ts.Setenv("ID", id)
				ts.Setenv("SHORT", id[:8])
			},
			"asks": func(ts *script, _ bool, args []string) {
				var answer any
				serverOf(ts).Call(scriptTB{t, ts}, "GET", args[0], nil, &answer)
				b, err := json.Marshal(answer)
				ts.Check(err)
				prints(ts, string(b))
			},
		},
	}
	for name, variable := range map[string]string{"postgres": "", "mariadb": "", "spark": "", "dask": "",
		"s3": "AWS_ENDPOINT_URL", "gcs": "STORAGE_EMULATOR_HOST", "azure": "AZURE_STORAGE_SERVICE_ENDPOINT"} {
		p.Cmds[name] = func(ts *script, _ bool, args []string) {
			python, clusters, has := pyenvtest.Tools(t), os.Getenv("DSSTAR_TEST_CLUSTERS"), ""
			if name == "spark" || name == "dask" { // cells run in a Python with their clients
				python = clusters
				ts.Setenv("DSSTAR_PYTHON", clusters)
				ts.Setenv("CLUSTERS", clusters)
			}
			if len(args) > 0 {
				has = ts.MkAbs(args[0])
			}
			started := dbtest.Start(scriptTB{t, ts}, name, python, has)
			ts.Setenv("PORT", strconv.Itoa(started.Port))
			if variable != "" {
				ts.Setenv(variable, "http://127.0.0.1:"+strconv.Itoa(started.Port))
			} else if has != "" {
				ts.Check(started.Run(ts.ReadFile(has)))
			}
			if name == "postgres" {
				database = started
			}
		}
	}
	testscript.Run(t, p)
}

type script = testscript.TestScript

// webFiles serves the files of a folder, and /cut, which ends early, /endless, /private, /moved/NAME and
// /inside, which leads to another machine.
func webFiles(folder string) http.Handler {
	mux := http.NewServeMux()
	files := http.FileServer(http.Dir(folder))
	mux.Handle("/", files)
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("n\n1\n"))
	})
	mux.HandleFunc("/private", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "who are you?", http.StatusForbidden)
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for line := []byte(strings.Repeat("n", 1<<16)); ; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	mux.Handle("/inside", http.RedirectHandler("http://10.0.0.1/secret.csv", http.StatusFound))
	mux.HandleFunc("/moved/{name}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/"+r.PathValue("name"), http.StatusFound)
	})
	return mux
}

func prints(ts *script, text string) {
	_, err := ts.Stdout().Write([]byte(text))
	ts.Check(err)
}

// runs runs dsstar, which must exit with the code want, leave its data unchanged and not reveal the
// planted key.
func runs(t *testing.T, ts *script, want int, args []string) {
	whole := slices.Clone(args)
	for i, arg := range args {
		if _, err := os.Stat(ts.MkAbs(arg)); err == nil {
			whole[i] = ts.MkAbs(arg)
		}
	}
	check := keepData(t, whole)
	err := ts.Exec(os.Args[0], args...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
	check()
	for _, name := range []string{"stdout", "stderr"} {
		if planted != "" && strings.Contains(ts.ReadFile(name), planted) {
			ts.Fatalf("the planted key is in %s", name)
		}
	}
}

// serveReplies starts a model that serves until the end of the script. In text, a line "== role"
// precedes each reply (see roles); roles that it does not name get the replies of counting. "other"
// stands for all roles that dsstar itself does not have. Replies that are code are put into a block.
// A reply may also be "refuse STATUS" or "stall".
func serveReplies(t *testing.T, ts *script, text string) (url string) {
	m := roles{}
	for _, part := range strings.Split("\n"+text, "\n== ")[1:] {
		role, reply, _ := strings.Cut(part, "\n")
		reply = strings.TrimSpace(reply)
		status, refused := strings.CutPrefix(reply, "refuse ")
		switch {
		case refused:
			code, err := strconv.Atoi(status)
			ts.Check(err)
			m[role] = append(m[role], llmtest.Refuse(code, "", "no such thing"))
			continue
		case reply == "stall":
			m[role] = append(m[role], llmtest.Response{Stall: true})
			continue
		case !strings.Contains(reply, "```python\n") && slices.Contains([]string{"analyzer", "cell", "coder", "debugger", "last", "second",
			"script", "finalizer", "react"}, role):
			reply = cell(reply)
		}
		m[role] = append(m[role], say(reply)...)
	}
	server := llmtest.New(scriptTB{t, ts}, counting().with(m).reply())
	return server.URL
}

func serverOf(ts *script) *kerneltest.Server {
	return &kerneltest.Server{URL: ts.Getenv("SERVER"), Token: ts.Getenv("TOKEN"),
		Root: ts.Getenv("ROOT"), RuntimeDir: ts.Getenv("RUNTIME")}
}

// opensNotebook creates a notebook in the server's folder and opens it as JupyterLab does.
func opensNotebook(t testing.TB, s *kerneltest.Server, path string) (kernelID string) {
	t.Helper()
	nb := notebook.Notebook{}
	file := filepath.Join(s.Root, path)
	noError(t, os.MkdirAll(filepath.Dir(file), 0o755), nb.Save(file))
	var session struct{ Kernel kernel.Running }
	s.Call(t, "POST", "/api/sessions", map[string]any{"path": path, "name": "", "type": "notebook",
		"kernel": map[string]string{"name": "python3"}}, &session)
	return session.Kernel.ID
}

// scriptTB has what is cleaned up at the end of a test cleaned up at the end of a script, and what
// ends a test end the script.
type scriptTB struct {
	*testing.T
	ts *script
}

func (tb scriptTB) Cleanup(f func()) { tb.ts.Defer(f) }

// Skip skips the script alone, in whose goroutine it is called.
func (tb scriptTB) Skip(args ...any) { tb.ts.Value(itsT{}).(testscript.T).Skip(args...) }

func (tb scriptTB) Skipf(format string, args ...any) { tb.Skip(fmt.Sprintf(format, args...)) }

// itsT is the key of a script's own T among its values.
type itsT struct{}

func (tb scriptTB) Fatal(args ...any)                 { tb.ts.Fatalf("%v", args) }
func (tb scriptTB) Fatalf(format string, args ...any) { tb.ts.Fatalf(format, args...) }

// percentScript converts a script in the percent format to a notebook.
func percentScript(script string) notebook.Notebook {
	nb := notebook.Notebook{Metadata: map[string]any{"kernelspec": python3}}
	for i, part := range strings.Split("\n"+script, "\n# %%")[1:] {
		head, source, _ := strings.Cut(part, "\n")
		c := notebook.Cell{ID: "c" + strconv.Itoa(i+1), Type: notebook.Code,
			Source: strings.TrimSpace(source), Metadata: map[string]any{}}
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
