package main

import (
	"errors"
	"fmt"
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
	"dsstar/cmd/dsstar/internal/rerun"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel"
	"dsstar/kernel/pyenv"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
)

// conditions are sentinel errors with their exit codes and hints.
var conditions = []struct {
	err   error
	code  int
	hints []usage.Hint
}{
	{disk.ErrLocked, exitError,
		[]usage.Hint{usage.Shell(
			"pgrep -af dsstar   # which one; try again when it has ended")}},
	{record.ErrInUse, exitUsage,
		[]usage.Hint{usage.Shell("mktemp -d   # makes a new folder for --out")}},
	{sandbox.ErrExposed, exitUsage, []usage.Hint{
		usage.Shell("mkdir data && mv FILES data   # a folder with only what cells may read"),
		usage.Again("--sandbox", "off").Note("gives cells all your rights"),
	}},
	{sandbox.ErrUnsearched, exitUsage, []usage.Hint{
		usage.Again("--sandbox", "builtin").Note("needs no search for sockets"),
	}},
	{sandbox.ErrWritable, exitUsage, []usage.Hint{
		usage.Again("--allow-write", "out").Note("a new folder, without data and runs: mkdir out"),
		usage.Again("--out", "DIR").Note("a run folder elsewhere"),
		usage.Again("--allow-write",
			"DATA").Note("names the data too, if cells may change them"),
	}},
	{sandbox.ErrReplaced, exitError, []usage.Hint{
		usage.Shell("ls -ld PATH   # a link in a folder of --allow-write, made by a cell or " +
			"another program"),
	}},
	{kernel.ErrConfined, exitError, []usage.Hint{
		usage.Again("--allow-read", "DIR").Note("the folder that it could not read"),
		usage.Shell("dsstar doctor --sandbox off   # does it start without the sandbox?"),
	}},
	{sandbox.ErrProcesses, exitError, []usage.Hint{
		usage.Shell("ulimit -u; ps -eLo user= | sort | uniq -c   # how many you may have, and who has them"),
	}},
	{errInterrupted, exitInterrupted, nil},
	{agent.ErrStopped, exitInterrupted, nil},
}

// causeOf maps an error to its exit code, its text and hints.
func causeOf(err error) (code int, text string, hints []usage.Hint) {
	text = err.Error()
	if u, ok := errors.AsType[*usage.Error](err); ok {
		return exitUsage, text, u.Hints
	}
	if d, ok := errors.AsType[*describe.DatabaseError](err); ok {
		code = exitError
		if d.Cause == profile.NoLogin {
			code = exitCredentials
		}
		return code, text, databaseHints(d)
	}
	if m, ok := errors.AsType[*describe.MaskError](err); ok {
		return exitError, text, maskHints(m)
	}
	if d, ok := errors.AsType[*download.Error](err); ok {
		code, hints = downloadHints(d)
		return code, text, hints
	}
	if f, ok := errors.AsType[*rerun.FailedError](err); ok {
		return exitError, text, f.Hints
	}
	if b, ok := errors.AsType[*ask.BudgetError](err); ok {
		return exitBudget, text, []usage.Hint{usage.Again("--"+b.Flag,
			"MORE").Note("or leave it out, for no limit")}
	}
	if errors.Is(err, sandbox.ErrNone) {
		return exitError, text + "; nothing was run", sandboxHints(err)
	}
	for _, c := range conditions {
		if errors.Is(err, c.err) {
			return c.code, text, c.hints
		}
	}
	for _, hintsFor := range []func(error) (int, []usage.Hint){modelHints, kernelHints, pythonHints} {
		if code, hints := hintsFor(err); code != 0 {
			return code, text, hints
		}
	}
	return exitError, text, hints
}

// downloadHints returns the exit code and hints for a file of the web that does not come.
func downloadHints(d *download.Error) (code int, hints []usage.Hint) {
	switch {
	case d.Status == http.StatusUnauthorized || d.Status == http.StatusForbidden:
		code = exitCredentials
	case d.Size > 0:
		return exitError, []usage.Hint{usage.Again("--max-download", fmt.Sprintf("%dGB", d.Size/1e9+1))}
	case d.Full:
		return exitError, []usage.Hint{usage.Shell("export XDG_CACHE_HOME=DIR   # on a disk with more room")}
	default:
		code = exitError
	}
	return code, []usage.Hint{usage.Shell("curl -I %s", d.Address)}
}

// keyForURL is the hint for an endpoint that requires a key. A provider's key is never sent to
// another server unless the user says so.
var keyForURL = usage.Again("--api-key-env",
	"OPENAI_API_KEY").Note("the variable that holds the key for --base-url")

// modelHints returns the exit code and hints for a model's error; 0 for other errors.
func modelHints(err error) (code int, hints []usage.Hint) {
	if c, ok := errors.AsType[*llm.CredentialError](err); ok {
		switch {
		case c.KeyEnv != "":
			hints = []usage.Hint{usage.Shell("export " + c.KeyEnv + "=KEY"),
				usage.Shell("dsstar doctor   # tries the key")}
		case c.Unsent:
			hints = []usage.Hint{keyForURL}
		}
		return exitCredentials, hints
	}
	if s, ok := errors.AsType[*llm.StatusError](err); ok {
		switch {
		case errors.Is(s, llm.ErrContextLength):
			hints = []usage.Hint{usage.Again("--context",
				"TOKENS").Note("the size of the model's context; shows the model less")}
		case s.Status == http.StatusNotFound || s.Status/100 == 3:
			hints = []usage.Hint{usage.Shell("dsstar config   # shows the model and the base URL")}
		case s.Status == http.StatusTooManyRequests:
			hints = []usage.Hint{usage.Again("--model",
				"PROVIDER/MODEL").Note("another model, or wait a while")}
		}
		return exitError, hints
	}
	if _, ok := errors.AsType[*llm.ReplayError](err); ok {
		return exitError, []usage.Hint{usage.Again("--model", "PROVIDER/MODEL").Note("records a new trace")}
	}
	if errors.Is(err, llm.ErrConnection) || errors.Is(err, llm.ErrEmpty) {
		return exitError, []usage.Hint{usage.Shell("dsstar doctor   # tries the endpoint")}
	}
	return 0, nil
}

// kernelHints is like modelHints, for kernels and their servers. Their errors contain no tokens.
func kernelHints(err error) (code int, hints []usage.Hint) {
	if s, ok := errors.AsType[*kernel.SpecNotFoundError](err); ok {
		for _, name := range s.Available {
			hints = append(hints, usage.Again("--kernel", name).Fresh())
		}
		return exitUsage, append(hints, site.ManagedHint)
	}
	if s, ok := errors.AsType[*kernel.ServerError](err); ok {
		return serverHints(s)
	}
	if n, ok := errors.AsType[*kernel.NotFoundError](err); ok {
		some := n.Running
		if len(n.Matches) > 0 {
			some = n.Matches
		}
		return exitUsage, site.Hints(some, n.Running)
	}
	if b, ok := errors.AsType[*kernel.BufferedError](err); ok {
		return exitUsage, []usage.Hint{usage.Again("--yes", "--kernel",
			b.ID).Note("the output is dropped then")}
	}
	if l, ok := errors.AsType[*kernel.ServerLostError](err); ok {
		return exitError, []usage.Hint{usage.Shell(
			"dsstar kernels --server %s   # whether it is there again", l.URL)}
	}
	if u, ok := errors.AsType[*site.UnreachableError](err); ok {
		return exitError, []usage.Hint{
			usage.Shell("dsstar kernels   # the servers of this machine, and how they answer"),
			usage.Shell("curl -sS %s", u.URL+"api"),
		}
	}
	return 0, nil
}

func serverHints(s *kernel.ServerError) (code int, hints []usage.Hint) {
	hub, _, _ := strings.Cut(s.URL, "/user/")
	user := site.HubUser(s.URL)
	asleep := s.Status == http.StatusNotFound || s.Status == http.StatusFailedDependency ||
		s.Status == http.StatusServiceUnavailable
	list := usage.Shell("dsstar kernels --server %s", s.URL)
	switch {
	case strings.Contains(s.Message, "KERNEL_USERNAME"): // Enterprise Gateway, which refuses root
		return exitCredentials, []usage.Hint{usage.Shell("export KERNEL_USERNAME=NAME")}
	case s.Credentials() && user != "":
		return exitCredentials, []usage.Hint{usage.Shell("export JUPYTER_TOKEN=TOKEN   # " + hub +
			"/hub/token makes one")}
	case s.Credentials():
		return exitCredentials, []usage.Hint{
			usage.Shell("export JUPYTER_TOKEN=TOKEN"),
			usage.Shell("jupyter server list   # on the server's machine: its token"),
		}
	case user != "" && asleep:
		start := usage.Shell(`curl -X POST -H "Authorization: token $JUPYTER_TOKEN" %s   # starts it`,
			hub+"/hub/api/users/"+user)
		return exitError, []usage.Hint{start, list}
	case s.Status == http.StatusNotFound:
		return exitError, []usage.Hint{usage.Shell(
			"jupyter server list   # on the server's machine: its whole URL")}
	}
	return exitError, []usage.Hint{list}
}

var cacheHint = usage.Shell("export XDG_CACHE_HOME=DIR   # a folder of yours with 2 GB to spare")

// pythonHints is like modelHints, for the Python environment.
func pythonHints(err error) (code int, hints []usage.Hint) {
	if n, ok := errors.AsType[*pyenv.NoPythonError](err); ok {
		if n.Venv {
			return exitError, []usage.Hint{
				usage.Shell("apt-get install python3-venv   # Debian, Ubuntu"),
				usage.Shell("pip install uv   # or this, anywhere"),
			}
		}
		return exitError, []usage.Hint{
			usage.Shell("apt-get install python3 python3-venv   # Debian, Ubuntu"),
			usage.Shell("brew install python   # macOS"),
			usage.Again("--python", "PATH").Note("an interpreter that has ipykernel, numpy and pandas"),
		}
	}
	if _, ok := errors.AsType[*pyenv.InstallError](err); !ok {
		return 0, nil
	}
	return exitError, []usage.Hint{
		usage.Shell("export PIP_INDEX_URL=URL   # a mirror of the package index"), cacheHint,
		usage.Again("--python", "PATH").Note("an environment of your own"),
	}
}

// sandboxHints returns the hints for a sandbox that does not work. Nothing is run without one.
func sandboxHints(err error) []usage.Hint {
	hints := tierHints(err)
	if m, ok := errors.AsType[*sandbox.MissingError](err); ok && m.Tier == sandbox.Full {
		hints = append(hints, usage.Again("--sandbox", "builtin").Note("needs no namespaces"))
	}
	return append(hints,
		usage.Again("--sandbox", "external").Note("in a container or virtual machine that may be lost"),
		usage.Again("--sandbox", "off").Note("cells that a model writes have all your rights then"))
}

// tierHints returns the commands that make a tier work on this machine; nil if nothing does.
func tierHints(err error) []usage.Hint {
	m, ok := errors.AsType[*sandbox.MissingError](err)
	if !ok {
		return nil
	}
	if errors.Is(err, sandbox.ErrNoLandlock) {
		return []usage.Hint{usage.Shell("cat /sys/kernel/security/lsm   # if landlock is not in it: Linux " +
			"5.13 or newer, started with lsm=landlock,…")}
	}
	if m.Tier != sandbox.Full {
		return nil
	}
	return []usage.Hint{
		usage.Shell("sysctl -e kernel.apparmor_restrict_unprivileged_userns user.max_user_namespaces " +
			"kernel.unprivileged_userns_clone   # with 0, 15000 and 1 users may make namespaces"),
		usage.Shell("unshare --user --map-current-user --mount --pid --fork mount -t proc proc " +
			"/proc   # shows what is refused, often by a container's rules"),
	}
}

// drivers are what pip installs for the clients of clusters.
var drivers = map[string]string{"spark": "pyspark-client", "dask": "dask[dataframe,distributed]",
	"ray": "ray[client]"}

// maskHints says how all columns can be looked into.
func maskHints(m *describe.MaskError) []usage.Hint {
	if m.File != "" {
		return []usage.Hint{usage.Shell("mkdir data && cp FILES data   # without %s, or with its tables as "+
			"CSV or Parquet", m.File)}
	}
	return []usage.Hint{usage.Shell("dsstar describe DATA   # names the columns"), usage.Again("--mask",
		"COLUMN").Note("each for a column of a file")}
}

// databaseHints says how to mend the address of a database, which Python has the client for it, or
// how to get at it.
func databaseHints(d *describe.DatabaseError) []usage.Hint {
	_, module, missing := strings.Cut(d.Reason, "this Python has no ")
	cluster := d.Source.Is(files.ClusterEnding)
	switch {
	case missing && cluster:
		return site.VenvHints(slices.Concat(site.Required, []string{drivers[d.Source.Engine()]})...)
	case missing:
		return []usage.Hint{usage.Again("--python", "~/venv/bin/python").Note("which has the driver " +
			module)}
	case d.Cause == profile.Locked:
		return []usage.Hint{usage.Shell("fuser -v %s   # which program has it open", d.Source.Path),
			usage.Shell("cp %s* DIR   # a copy, with its log", d.Source.Path)}
	case d.Cause == profile.NoTime:
		return []usage.Hint{usage.Again("--cell-timeout", "15m").Note("or longer: a fifth of it is for this")}
	case d.Source.Is(files.BucketEnding):
		return []usage.Hint{site.BucketHint(d.Source.Database)}
	case cluster:
		host, port, _ := strings.Cut(d.Source.Database[strings.Index(d.Source.Database, "://")+3:], ":")
		return []usage.Hint{usage.Shell("nc -vz %s %s   # does the cluster listen there?", host, port)}
	}
	what := "host, port and database"
	if d.Cause == profile.NoLogin {
		what = "user and password"
	}
	variable := d.Source.Variable()
	noURL := func(data string) bool { return !strings.Contains(data, "://") }
	return []usage.Hint{usage.Shell("export %s=ADDRESS   # with the right "+what+": %s", variable,
		d.Source.Database), usage.Again("--data", d.Source.Engine()+"=env:"+variable).Sparing(noURL)}
}
