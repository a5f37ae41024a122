package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/pyenv"
	"dsstar/kernel/sandbox"
)

// A usageError is a command line that cannot be executed.
type usageError struct {
	text  string
	hints []string // commands to paste
}

func (e *usageError) Error() string { return e.text }

// silent is an exit code without a message.
type silent struct{ code int }

func (e silent) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// interrupted replaces an error by the message for Ctrl-C.
func interrupted(err error) error {
	if s, ok := errors.AsType[*stoppedError](err); ok {
		stopped := *s
		stopped.err = errInterrupted
		return &stopped
	}
	if s, ok := errors.AsType[*benchStopped](err); ok {
		return &benchStopped{errInterrupted, s.out}
	}
	return errInterrupted
}

var errInterrupted = errors.New("interrupted")

// report writes the error and its hints to stderr and returns the exit code.
func (a *app) report(err error) int {
	code, text, hints := explain(err)
	var lines []string
	for line := range strings.Lines(configs.Redact(strings.TrimSpace(text))) {
		lines = append(lines, term.Clean(strings.TrimRight(line, "\n"))) // it may contain text of models and file names
	}
	kind := "error: "
	if code == exitInterrupted {
		kind = "" // the user asked for it
	}
	fmt.Fprintf(a.stderr, "dsstar: %s%s\n", kind, strings.Join(lines, "\n  "))
	for _, hint := range hints {
		fmt.Fprintf(a.stderr, "dsstar: hint: %s\n", term.Clean(configs.Redact(hint)))
	}
	return code
}

// explain maps an error to its exit code, its text and hints. No other code does so.
func explain(err error) (code int, text string, hints []string) {
	text = err.Error()
	if d, ok := errors.AsType[*describeError](err); ok {
		code, _, hints := explain(d.err)
		for i := range hints {
			hints[i] = asDescribe.Replace(hints[i])
		}
		return code, text, hints
	}
	if s, ok := errors.AsType[*stoppedError](err); ok {
		code, _, hints := explain(s.err)
		return code, text, s.hints(hints)
	}
	if s, ok := errors.AsType[*benchStopped](err); ok {
		code, _, hints := explain(s.err)
		return code, text, s.hints(hints)
	}
	if u, ok := errors.AsType[*usageError](err); ok {
		return exitUsage, text, u.hints
	}
	if p, ok := errors.AsType[*priceError](err); ok {
		return exitUsage, text, []string{p.again}
	}
	if f, ok := errors.AsType[*failedError](err); ok {
		return exitError, text, f.hints
	}
	if errors.Is(err, runner.ErrRunning) {
		return exitError, text, []string{"pgrep -af 'dsstar bench'   # which one; this command works when it has ended"}
	}
	if errors.Is(err, sandbox.ErrExposed) {
		return exitUsage, text, []string{"mkdir data && mv FILES data   # a folder for what cells are to read", "dsstar nb --sandbox off …   # cells have all your rights then"}
	}
	if errors.Is(err, sandbox.ErrTooMany) {
		return exitUsage, text, []string{"dsstar nb --sandbox builtin …   # looks for no sockets: cells have none there"}
	}
	if errors.Is(err, sandbox.ErrWritable) {
		return exitUsage, text, writableHints
	}
	if errors.Is(err, sandbox.ErrReplaced) {
		return exitError, text, []string{"ls -ld PATH   # a link that a cell has made, or somebody else, in a folder of --allow-write"}
	}
	if errors.Is(err, sandbox.ErrKept) {
		return exitError, text, []string{"dsstar nb --allow-read DIR …   # the folder of what it could not read", "dsstar doctor --sandbox off     # whether it starts without the sandbox"}
	}
	if errors.Is(err, sandbox.ErrNone) {
		return exitError, text + "; nothing was run", sandboxHints(err)
	}
	if errors.Is(err, errInterrupted) || errors.Is(err, agent.ErrStopped) {
		return exitInterrupted, text, nil
	}
	if c, ok := errors.AsType[*changedError](err); ok {
		return exitNotVerified, c.text, nil
	}
	if e, ok := errors.AsType[*editorError](err); ok {
		return exitError, text, []string{"export EDITOR=COMMAND   # another editor than " + e.editor}
	}
	if b, ok := errors.AsType[*ask.BudgetError](err); ok {
		return exitBudget, text, []string{"dsstar nb --" + b.Flag + " MORE …   # or without it: no limit"}
	}
	if c, ok := errors.AsType[*llm.CredentialError](err); ok {
		if c.Unsent {
			hints = []string{"dsstar nb " + keyForURL}
		}
		if c.KeyEnv != "" {
			hints = []string{"export " + c.KeyEnv + "=KEY", "dsstar doctor   # tries the key"}
		}
		return exitCredentials, text, hints
	}
	if s, ok := errors.AsType[*llm.StatusError](err); ok {
		return exitError, text, statusHints(s)
	}
	if errors.Is(err, record.ErrRunning) {
		return exitError, text, []string{"pgrep -af dsstar   # which one; this command works when it has ended"}
	}
	if errors.Is(err, record.ErrInUse) {
		return exitUsage, text, []string{"mktemp -d   # gives a new folder for --out"}
	}
	if s, ok := errors.AsType[*kernel.SpecNotFoundError](err); ok {
		for _, name := range s.Available {
			hints = append(hints, "dsstar nb --kernel "+name+` --data DIR "question"`)
		}
		return exitUsage, text, append(hints, `dsstar nb --data DIR "question"   # without --kernel: the Python that dsstar sets up itself`)
	}
	if code, hints := kernelHints(err); hints != nil {
		return code, text, hints
	}
	return exitError, text, otherHints(err)
}

// keyForURL completes a hint for an endpoint that wants a key: the key of a provider is never sent
// to another server unasked.
const keyForURL = "--api-key-env OPENAI_API_KEY …   # the variable that holds the key for --base-url"

// A describeError is an error of dsstar describe, whose hints name that command instead of nb.
type describeError struct{ err error }

func (e *describeError) Error() string { return e.err.Error() }
func (e *describeError) Unwrap() error { return e.err }

var asDescribe = strings.NewReplacer("dsstar nb", "dsstar describe", ` --data DIR "question"`, " DIR", " --data ", " ")

// hints returns the hints for a stopped run: how to resume it, and those of the cause that do not
// start a new run.
func (e *stoppedError) hints(cause []string) []string {
	with := e.with
	if _, ok := errors.AsType[*llm.ReplayError](e.err); ok {
		with, cause = "--model PROVIDER/MODEL", nil // the recording has ended
	}
	if _, ok := errors.AsType[*priceError](e.err); ok {
		with, cause = strings.TrimSpace(with+" "+anyPrice), nil // else it would stop at the same point
	}
	again := "dsstar resume " + quoteShell(e.run)
	if with != "" {
		again = "dsstar resume " + with + " " + quoteShell(e.run)
	}
	if _, ok := errors.AsType[*record.EditError](e.err); ok {
		return []string{again + "   # when it is mended in " + e.notebook}
	}
	if _, ok := errors.AsType[*ask.BudgetError](e.err); ok {
		cause = nil
	}
	return append([]string{again + "   # goes on, and asks nothing twice"}, cause...)
}

// A stoppedError is a run that was cut short; its notebook is saved.
type stoppedError struct {
	err      error
	notebook string // its path
	run      string // the run folder
	with     string // the flags needed to resume it
}

func (e *stoppedError) Error() string {
	return fmt.Sprintf("%v\nthe notebook up to there: %s", e.err, e.notebook)
}
func (e *stoppedError) Unwrap() error { return e.err }

var errConstant = errors.New("there is no answer: " + agent.ConstantAnswer)

// noAnswer says why a completed run has no answer.
func noAnswer(t *record.Trajectory) error {
	if t.Final == nil || len(t.Final.Attempts) == 0 {
		return errors.New("no cell printed an answer")
	}
	switch reason := t.Final.Attempts[len(t.Final.Attempts)-1].Execution.Reason; reason {
	case "":
		return errors.New("no cell printed an answer")
	case agent.ConstantAnswer:
		return errConstant
	default:
		return errors.New("there is no answer: " + reason)
	}
}

// An unreachableError is a server that does not respond.
type unreachableError struct {
	url string
	err error
}

func (e *unreachableError) Error() string {
	if errors.Is(e.err, context.DeadlineExceeded) {
		return e.url + " does not answer"
	}
	return e.err.Error() // it names the server
}
func (e *unreachableError) Unwrap() error { return e.err }

// kernelHints returns the hints for errors of servers and of the user's kernels. Their texts
// contain no tokens.
func kernelHints(err error) (code int, hints []string) {
	if s, ok := errors.AsType[*kernel.ServerError](err); ok {
		return serverHints(s)
	}
	if n, ok := errors.AsType[*kernel.NotFoundError](err); ok {
		some := n.Running
		if len(n.Matches) > 0 {
			some = n.Matches
		}
		return exitUsage, survey{kernels: n.Running}.hints(nil, some)
	}
	if b, ok := errors.AsType[*kernel.BufferedError](err); ok {
		return exitUsage, []string{`dsstar nb --yes --kernel ` + b.ID + ` --data DIR "question"   # the output is dropped then`}
	}
	if l, ok := errors.AsType[*kernel.ServerLostError](err); ok {
		return exitError, []string{"dsstar kernels --server " + quoteShell(l.URL) + "   # whether it is there again"}
	}
	if u, ok := errors.AsType[*unreachableError](err); ok {
		return exitError, []string{"dsstar kernels   # the servers of this machine, and how they answer", "curl -sS " + quoteShell(u.url+"api")}
	}
	return 0, nil
}

func serverHints(s *kernel.ServerError) (code int, hints []string) {
	hub, _, _ := strings.Cut(s.URL, "/user/")
	user := hubUser(s.URL)
	switch {
	case s.Credentials() && user != "":
		return exitCredentials, []string{"export JUPYTER_TOKEN=TOKEN   # " + hub + "/hub/token makes one"}
	case s.Credentials():
		return exitCredentials, []string{"export JUPYTER_TOKEN=TOKEN", "jupyter server list   # on the server's machine: its token"}
	case user != "" && (s.Status == http.StatusNotFound || s.Status == http.StatusFailedDependency || s.Status == http.StatusServiceUnavailable):
		return exitError, []string{
			`curl -X POST -H "Authorization: token $JUPYTER_TOKEN" ` + quoteShell(hub+"/hub/api/users/"+user) + "   # starts it",
			"dsstar kernels --server " + quoteShell(s.URL),
		}
	case s.Status == http.StatusNotFound:
		return exitError, []string{"jupyter server list   # on the server's machine: its whole URL"}
	}
	return exitError, []string{"dsstar kernels --server " + quoteShell(s.URL)}
}

func statusHints(s *llm.StatusError) []string {
	switch {
	case errors.Is(s, llm.ErrContextLength):
		return []string{"dsstar nb --context TOKENS …   # what the model's context holds; less is shown then"}
	case s.Status == 404:
		return []string{"dsstar config   # shows the model and the base URL", "dsstar doctor   # asks the endpoint which models it has"}
	case s.Status == 429:
		return []string{"dsstar nb --model PROVIDER/MODEL …   # another model, or wait a while"}
	}
	return nil
}

func otherHints(err error) []string {
	if n, ok := errors.AsType[*pyenv.NoPythonError](err); ok {
		return pythonHints(n)
	}
	if i, ok := errors.AsType[*pyenv.InstallError](err); ok {
		switch i.Reason {
		case pyenv.ReasonNetwork:
			return []string{"export PIP_INDEX_URL=URL   # a mirror of the package index",
				`dsstar nb --python PATH --data DIR "question"   # an environment of your own`}
		case pyenv.ReasonDisk:
			return []string{"export XDG_CACHE_HOME=DIR   # a folder with 2 GB to spare"}
		}
		return []string{`dsstar nb --python PATH --data DIR "question"   # an environment of your own`}
	}
	if _, ok := errors.AsType[*llm.ReplayError](err); ok {
		return []string{
			"dsstar doctor   # a cell that fails here and did not in the recording makes other requests",
			`dsstar nb --model PROVIDER/MODEL --data DIR "question"   # records a new trace`,
		}
	}
	if errors.Is(err, errConstant) {
		return []string{"dsstar nb --no-computed …   # lets the last cell print a constant"}
	}
	if _, ok := errors.AsType[*llm.ConnectionError](err); ok {
		return []string{"dsstar doctor   # tries the endpoint"}
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return []string{"wsl --install   # dsstar runs kernels on Linux and macOS, and so on Windows in WSL"}
	}
	return nil
}

func pythonHints(n *pyenv.NoPythonError) []string {
	if n.Problem == pyenv.ProblemVenv {
		return []string{"apt-get install python3-venv   # Debian, Ubuntu", "pip install uv   # or this, anywhere"}
	}
	return []string{
		"apt-get install python3 python3-venv   # Debian, Ubuntu",
		"brew install python                    # macOS",
		`dsstar nb --python PATH --data DIR "question"   # an interpreter that has ipykernel, numpy and pandas`,
	}
}
