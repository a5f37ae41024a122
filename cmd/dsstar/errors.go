package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/download"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/pyenv"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// interrupted replaces an error with the message for Ctrl-C.
func interrupted(err error) error {
	if s, ok := errors.AsType[*usage.Stopped](err); ok {
		return &usage.Stopped{Err: errInterrupted, Text: s.Text, Line: s.Line, Hints: s.Hints}
	}
	return errInterrupted
}

var errInterrupted = errors.New("interrupted")

// report writes the error and its hints to stderr and returns the exit code.
func (a *app) report(err error) int {
	code, text, hints := explain(err, a.line)
	var lines []string
	for line := range strings.Lines(configs.Redact(strings.TrimSpace(text))) {
		// it may contain text of models and file names
		lines = append(lines, ui.Clean(strings.TrimRight(line, "\n")))
	}
	kind := "error: "
	if code == exitInterrupted {
		kind = "" // the user asked for it
	}
	fmt.Fprintf(a.stderr, "dsstar: %s%s\n", kind, strings.Join(lines, "\n  "))
	for _, hint := range hints {
		fmt.Fprintf(a.stderr, "dsstar: hint: %s\n", ui.Clean(configs.Redact(hint)))
	}
	return code
}

// warn writes a warning to standard error, in the form that the command's progress has.
func (a *app) warn(format string, args ...any) {
	if a.progress != nil {
		a.progress.Warn(format, args...)
		return
	}
	fmt.Fprintf(a.stderr, "dsstar: warning: %s\n", ui.Clean(fmt.Sprintf(format, args...)))
}

// explain maps the error of a command line to its exit code, its text and hints.
func explain(err error, line usage.Line) (code int, text string, lines []string) {
	c, text := causeOf(err), err.Error()
	if errors.Is(err, sandbox.ErrNone) {
		text += "; nothing was run"
	}
	if s, ok := errors.AsType[*usage.Stopped](err); ok {
		c.hints = slices.Concat(s.Hints, c.hints)
		if s.Line.Command == "" { // the one that was typed, with more flags
			line.Flags = slices.Concat(s.Line.Flags, line.Flags)
		} else {
			s.Line.Takes = line.Takes
			line = s.Line
		}
	}
	return c.code, text, rendered(c.hints, line)
}

// rendered returns the hints that fit a command line, as commands to paste.
func rendered(hints []usage.Hint, line usage.Line) (lines []string) {
	for _, hint := range hints {
		if hint.Fits(line) {
			lines = append(lines, hint.On(line))
		}
	}
	return lines
}

// stopped is the error of a run that was cut short; its notebook is saved. stands is the notebook of
// the answer so far, "" if there is none.
func stopped(err error, notebook, run, stands string, goOn []usage.Flag) error {
	hints := []usage.Hint{usage.Again().Note("continues, and repeats no request")}
	if _, ok := errors.AsType[*llm.ReplayError](err); ok {
		hints = nil // the recording has ended: it needs another model
	} else if _, ok := errors.AsType[*record.EditError](err); ok {
		hints = []usage.Hint{usage.Again().Note("after you have fixed " + notebook)}
	}
	text := "notebook so far: " + notebook
	if stands != "" {
		text += "\nthe answer so far stays in " + stands
	}
	return &usage.Stopped{Err: err, Text: text, Hints: hints,
		Line: usage.Line{Command: "dsstar resume", Flags: goOn, Args: []string{run}}}
}

// noAnswer says why a completed run has no answer.
func noAnswer(t *record.Trajectory) error {
	if t.Final == nil || len(t.Final.Attempts) == 0 {
		return errors.New("no cell printed an answer")
	}
	if reason := t.Final.Attempts[len(t.Final.Attempts)-1].Execution.Reason; reason != "" {
		return errors.New("there is no answer: " + reason)
	}
	return errors.New("no cell printed an answer")
}

// Exit codes.
const (
	exitVerified    = 0
	exitError       = 1
	exitUsage       = 2
	exitNotVerified = 3
	exitCredentials = 4
	exitBudget      = 5
	exitInterrupted = 130
)

// exitHelp is the part of help about exit codes.
const exitHelp = `Exit codes:
  0    done; of an answer: verified, that is judged sufficient, printed again by a
       fresh run, derived twice, and no open reading of the question changes it
  1    error; of rerun: a cell failed, timed out or killed the kernel
  2    usage; nothing was run
  3    answered, but not verified, or dependent on a reading; of rerun --check and
       --round: something differs, or a cell fails that had run before
  4    model or server credentials
  5    budget spent
  130  interrupted, or stopped at a review`

// A cause is what an error means to the user: an exit code, and commands that help.
type cause struct {
	code  int
	hints []usage.Hint
}

func means(code int, hints ...usage.Hint) cause { return cause{code, hints} }

// causes has the kinds of errors, each with its exit code and hints. The first row that matches
// decides; an error that matches none is exitError, without hints.
var causes = []func(error) (cause, bool){
	kind(func(e *usage.Error) cause { return cause{exitUsage, e.Hints} }),
	kind(databaseCause),
	one(agent.ErrDefinitions, exitUsage, usage.Shell("dsstar memory approve   # when you have mended them")),
	kind(func(e *describe.MaskError) cause {
		if e.File != "" {
			return means(exitError, usage.Shell("mkdir data && cp FILES data   # without %s, or with its tables "+
				"as CSV or Parquet", e.File))
		}
		return means(exitError, usage.Shell("dsstar describe DATA   # names the columns").But("mask"),
			usage.Again("--mask", "COLUMN").Note("each for a column of a file"))
	}),
	kind(downloadCause),
	kind(func(e *ask.BudgetError) cause {
		return means(exitBudget, usage.Again("--"+e.Flag, "MORE").Note("or leave it out, for no limit"))
	}),
	func(err error) (cause, bool) {
		return cause{exitError, sandboxHints(err)}, errors.Is(err, sandbox.ErrNone)
	},
	one(disk.ErrLocked, exitError,
		usage.Shell("pgrep -af dsstar   # which one; try again when it has ended")),
	one(record.ErrInUse, exitUsage, usage.Shell("mktemp -d   # makes a new folder for --out")),
	one(sandbox.ErrExposed, exitUsage,
		usage.Again("--data", "DIR").Note("a folder with only what cells may read"),
		usage.Again("--sandbox", "off").Note("gives cells all your rights")),
	one(sandbox.ErrUnsearched, exitUsage,
		usage.Again("--sandbox", "builtin").Note("needs no search for sockets")),
	one(sandbox.ErrWritable, exitUsage,
		usage.Again("--allow-write", "out").Note("a new folder, without data and runs: mkdir out"),
		usage.Again("--out", "DIR").Note("a run folder elsewhere"),
		usage.Again("--allow-write", "DATA").Note("names the data too, if cells may change them")),
	one(sandbox.ErrReplaced, exitError, usage.Shell("ls -ld PATH   # a link in a folder of --allow-write, "+
		"made by a cell or another program")),
	one(kernel.ErrConfined, exitError,
		usage.Again("--allow-read", "DIR").Note("the folder that it could not read"),
		usage.Shell("dsstar doctor --sandbox off   # does it start without the sandbox?")),
	one(sandbox.ErrProcesses, exitError, usage.Shell("ulimit -u; ps -eLo user= | sort | uniq -c   # how many "+
		"you may have, and who has them")),
	one(errNotLearned, exitNotVerified),
	one(errInterrupted, exitInterrupted),
	one(agent.ErrStopped, exitInterrupted),

	// models
	kind(func(e *llm.CredentialError) cause {
		switch {
		case e.KeyEnv != "":
			return means(exitCredentials, usage.Shell("export "+e.KeyEnv+"=KEY"),
				usage.Shell("dsstar doctor   # tries the key"))
		case e.Unsent: // a provider's key is never sent to another server unless the user says so
			return means(exitCredentials, usage.Again("--api-key-env",
				"OPENAI_API_KEY").Note("the variable that holds the key for --base-url"))
		}
		return means(exitCredentials)
	}),
	one(llm.ErrContextLength, exitError, usage.Again("--context",
		"TOKENS").Note("the size of the model's context; shows the model less")),
	kind(func(e *llm.StatusError) cause {
		switch {
		case e.Status == http.StatusNotFound || e.Status/100 == 3:
			return means(exitError, usage.Shell("dsstar config   # shows the model and the base URL"))
		case e.Status == http.StatusTooManyRequests:
			return means(exitError, usage.Again("--model", "PROVIDER/MODEL").Note("another model, or wait a while"))
		}
		return means(exitError)
	}),
	kind(func(*llm.ReplayError) cause {
		return means(exitError, usage.Again("--model", "PROVIDER/MODEL").Note("records a new trace"))
	}),
	one(llm.ErrTimeout, exitError, silent, usage.Shell("export DSSTAR_CALL_TIMEOUT=30m   # if the model is slow; "+
		"the doctor waits two minutes at most")),
	one(llm.ErrIdle, exitError, silent, usage.Shell("export DSSTAR_IDLE_TIMEOUT=30m   # if the model is slow")),
	kind(func(e *net.DNSError) cause { // of a model's server, a proxy or a Jupyter server
		return means(exitError, usage.Shell("curl -I http://%s   # is the name right, the network there, a proxy set?",
			e.Name))
	}),
	one(llm.ErrConnection, exitError, usage.Shell("dsstar config   # shows the base URL: is its server running?")),
	one(llm.ErrEmpty, exitError, usage.Shell("dsstar config   # shows the model and the base URL")),

	// kernels and their servers, whose errors contain no tokens
	kind(func(e *kernel.SpecNotFoundError) cause {
		again := func(name string) usage.Hint { return usage.Again("--kernel", name).Fresh() }
		return means(exitUsage, append(lists.Map(e.Available, again), site.ManagedHint)...)
	}),
	kind(serverCause),
	kind(func(e *kernel.BufferedError) cause {
		return means(exitUsage, usage.Again("--yes", "--kernel", e.ID).Note("the output is dropped then"))
	}),
	kind(func(e *kernel.ServerLostError) cause {
		return means(exitError, usage.Shell("dsstar kernels --server %s   # whether it is there again", e.URL))
	}),
	one(site.ErrUnreachable, exitError,
		usage.Shell("dsstar kernels   # the servers of this machine, and how they answer")),

	// the Python environment
	kind(func(e *pyenv.NoPythonError) cause {
		if e.Venv {
			return means(exitError, usage.Shell("apt-get install python3-venv   # Debian, Ubuntu"))
		}
		return means(exitError, usage.Shell("apt-get install python3 python3-venv   # Debian, Ubuntu"),
			usage.Shell("brew install python   # macOS"),
			usage.Again("--python", "PATH").Note("an interpreter that has ipykernel, numpy and pandas"))
	}),
	kind(func(*pyenv.InstallError) cause {
		return means(exitError, usage.Shell("export PIP_INDEX_URL=URL   # a mirror of the package index"),
			cacheHint, usage.Again("--python", "PATH").Note("an environment of your own"))
	}),
}

var silent = usage.Shell("dsstar config   # shows the base URL, whose server was reached but did not answer")

// kind is the row of errors of a type.
func kind[E error](of func(E) cause) func(error) (cause, bool) {
	return func(err error) (cause, bool) {
		if e, ok := errors.AsType[E](err); ok {
			return of(e), true
		}
		return cause{}, false
	}
}

// one is the row of a single error.
func one(is error, code int, hints ...usage.Hint) func(error) (cause, bool) {
	return func(err error) (cause, bool) { return cause{code, hints}, errors.Is(err, is) }
}

func causeOf(err error) cause {
	for _, row := range causes {
		if c, ok := row(err); ok {
			return c
		}
	}
	return cause{code: exitError}
}

// downloadCause is for a file of the web that does not come.
func downloadCause(e *download.Error) cause {
	ask := usage.Shell("curl -I %s", e.Address)
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return means(exitCredentials, ask)
	case e.Size > 0:
		return means(exitError, usage.Again("--max-download", fmt.Sprintf("%dGB", e.Size/1e9+1)))
	case e.Full:
		return means(exitError, usage.Shell("export XDG_CACHE_HOME=DIR   # on a disk with more room"))
	}
	return means(exitError, ask)
}

// serverCause is for what a Jupyter server or hub refuses, or does not have.
func serverCause(e *kernel.ServerError) cause {
	hub, _, isHub := strings.Cut(e.URL, "/user/")
	asleep := e.Status == http.StatusNotFound || e.Status == http.StatusFailedDependency ||
		e.Status == http.StatusServiceUnavailable
	list := usage.Shell("dsstar kernels --server %s", e.URL)
	switch {
	case e.Credentials() && isHub:
		return means(exitCredentials, usage.Shell("export JUPYTER_TOKEN=TOKEN   # "+hub+"/hub/token makes one"))
	case e.Credentials():
		return means(exitCredentials, usage.Shell("export JUPYTER_TOKEN=TOKEN"),
			usage.Shell("jupyter server list   # on the server's machine: its token"))
	case isHub && asleep:
		return means(exitError, usage.Shell("python3 -m webbrowser %s   # where it is started",
			hub+"/hub/home"), list)
	case e.Status == http.StatusNotFound:
		return means(exitError, usage.Shell("jupyter server list   # on the server's machine: its whole URL"))
	}
	return means(exitError, list)
}

var cacheHint = usage.Shell("export XDG_CACHE_HOME=DIR   # a folder of yours with 2 GB to spare")

// sandboxHints returns the hints for a sandbox that does not work. Nothing is run without one.
func sandboxHints(err error) (hints []usage.Hint) {
	m, ok := errors.AsType[*sandbox.MissingError](err)
	switch {
	case errors.Is(err, sandbox.ErrNoLandlock):
		hints = []usage.Hint{usage.Shell("cat /sys/kernel/security/lsm   # if landlock is not in it: Linux " +
			"5.13 or newer, started with lsm=landlock,…")}
	case ok && m.Tier == sandbox.Full:
		hints = []usage.Hint{
			usage.Shell("sysctl -e kernel.apparmor_restrict_unprivileged_userns user.max_user_namespaces " +
				"kernel.unprivileged_userns_clone   # with 0, 15000 and 1 users may make namespaces"),
			usage.Shell("unshare --user --map-current-user --mount --pid --fork mount -t proc proc " +
				"/proc   # shows what is refused, often by a container's rules"),
			usage.Again("--sandbox", "builtin").Note("needs no namespaces")}
	}
	return append(hints,
		usage.Again("--sandbox", "external").Note("in a container or virtual machine that may be lost"),
		usage.Again("--sandbox", "off").Note("cells that a model writes have all your rights then"))
}

// drivers are what pip installs for the clients of clusters.
var drivers = map[string]string{"spark": "pyspark-client", "dask": "dask[dataframe,distributed]",
	"ray": "ray[client]"}

// databaseCause says how to mend the address of a database, which Python has the client for it, or
// how to get at it.
func databaseCause(d *describe.DatabaseError) cause {
	cluster := d.Source.Is(files.ClusterEnding)
	code, what := exitError, "host, port and database"
	if d.Cause == profile.NoLogin {
		code, what = exitCredentials, "user and password"
	}
	switch {
	case d.Cause == profile.NoDriver && cluster:
		return cause{code, site.VenvHints(slices.Concat(site.Required, []string{drivers[d.Source.Engine()]})...)}
	case d.Cause == profile.NoDriver:
		return means(code, usage.Again("--python", "~/venv/bin/python").Note("which has that driver"))
	case d.Cause == profile.Locked:
		return means(code, usage.Shell("fuser -v %s   # which program has it open", d.Source.Path),
			usage.Shell("cp %s* DIR   # a copy, with its log", d.Source.Path))
	case d.Cause == profile.NoTime:
		return means(code, usage.Again("--cell-timeout", "15m").Note("or longer: a fifth of it is for this"))
	case d.Source.Is(files.BucketEnding):
		return means(code, site.BucketHint(d.Source.Database))
	case cluster:
		host, port, _ := strings.Cut(d.Source.Database[strings.Index(d.Source.Database, "://")+3:], ":")
		return means(code, usage.Shell("nc -vz %s %s   # does the cluster listen there?", host, port))
	}
	variable := d.Source.Variable()
	noURL := func(data string) bool { return !strings.Contains(data, "://") }
	return means(code, usage.Shell("export %s=ADDRESS   # with the right "+what+": %s", variable,
		d.Source.Database), usage.Again("--data", d.Source.Engine()+"=env:"+variable).Sparing(noURL))
}
