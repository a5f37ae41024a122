// Command dsstar answers questions about data by working in a live notebook.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// An app is one invocation of the program, with all its inputs and outputs.
type app struct {
	host           site.Host
	stdin          io.Reader
	stdout, stderr io.Writer
	stdinTTY       bool
	stdoutTTY      bool
	stderrTTY      bool
	configDir      string     // of dsstar, in the user's configuration folder
	line           usage.Line // what the user typed
	extension      int        // process of the kernel whose extension started this one; 0: none
	roots          []string   // all that web addresses may lead to, of dsstar mcp; nil: anywhere
	noCache        error      // why there is no folder for caches
	keyOnce        sync.Once
	ownKey         record.Key        // see key
	loaded         *configs.Settings // the last that settings has loaded; nil: none
	progress       *ui.Progress      // the last that was started; nil: none
}

func main() {
	sandbox.Main(os.Args)
	os.Args = hidePasswords(os.Args)
	os.Exit(newApp().main())
}

// newApp returns the program with the process's own input, output and environment.
func newApp() *app {
	// cannot fail: the value comes from the environment
	_ = os.Setenv("PATH", wholePaths(os.Getenv("PATH")))
	a := &app{
		extension: takeExtension(), roots: takeRoots(),
		host: site.Host{Env: os.Environ()}, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		stdinTTY: ui.IsTerminal(os.Stdin), stdoutTTY: ui.IsTerminal(os.Stdout),
		stderrTTY: ui.IsTerminal(os.Stderr),
	}
	a.host.CacheDir, a.configDir, a.noCache = userDirs(a.host.Getenv)
	return a
}

// main runs the program and returns its exit code.
func (a *app) main() int {
	// Little of the program's memory is garbage: half the usual growth between
	// collections costs no measurable time.
	debug.SetGCPercent(50)
	kernel.SweepTemp()
	disk.SweepTemp("", "dsstar-")
	// A closed pipe on stderr is no reason to lose a run.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := a.untilSignal(context.Background())
	defer stop()
	return a.run(ctx, os.Args[1:])
}

// wholePaths drops relative entries from a PATH. The current folder may be somebody else's, and no
// program in it may run outside the sandbox, not even by way of a launcher or a shell.
func wholePaths(list string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(list),
		func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// untilSignal returns a context that the first SIGINT, SIGTERM or SIGHUP cancels, which leaves time to
// save and close everything. A second signal kills the program, unless it is SIGHUP: a terminal that
// closes and its shell both send one. SIGHUP has no effect if it was ignored at the start (nohup).
func (a *app) untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go a.untilOrphaned(ctx, cancel)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-signals:
				signal.Ignore(syscall.SIGHUP)
				cancel()
				time.Sleep(time.Second) // the terminal and a parent process may both forward one Ctrl-C
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// run runs one command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	a.cleaned()
	root := a.rootCommand()
	a.line.Typed, a.loaded = args, nil
	root.SetArgs(asked(args))
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	strict(root)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitVerified
	}
	if ctx.Err() != nil { // err is a consequence
		err = interrupted(err)
	}
	if quiet, ok := errors.AsType[cli.Exit](err); ok {
		return quiet.Code
	}
	if write, ok := errors.AsType[*fs.PathError](err); ok && write.Path == os.Stdout.Name() &&
		errors.Is(err, syscall.EPIPE) {
		return exitError // the reader has closed the pipe, as head does
	}
	return a.report(err)
}

// asked turns a question without a command, with flags or without, into a command line of nb.
func asked(args []string) []string {
	if len(args) == 0 || slices.Contains([]string{"-h", "--help", "-v", "--version"}, args[0]) ||
		!strings.HasPrefix(args[0], "-") && !strings.Contains(args[0], " ") {
		return args
	}
	return append([]string{"nb"}, args...)
}

func (a *app) rootCommand() *cobra.Command {
	p := cli.Program{Stdout: a.stdout, Settings: a.settings, NoArgs: noArgs}
	root := p.Make(cli.Command{
		Use:  "dsstar",
		Long: rootHelp,
		Below: []cli.Command{a.nbCommand(), a.resumeCommand(), a.rerunCommand(), a.exportCommand(),
			a.describeCommand(), a.demoCommand(), a.runsCommand(), a.memoryCommand(), a.learnCommand(),
			a.traceCommand(), a.kernelsCommand(), a.mcpCommand(), a.doctorCommand(), a.configCommand(),
			a.benchCommands().Command()},
	})
	root.SilenceErrors, root.SilenceUsage, root.Version = true, true, version()
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		line := lineOf(cmd, args)
		line.Typed = a.line.Typed
		a.line = line
		if cmd.Name() == "config" || cmd.Flags().Lookup("sandbox") == nil {
			return nil // it starts no kernel
		}
		return a.noCache
	}
	cli.GroupFlags(root)
	root.SetVersionTemplate("dsstar {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if typed := a.line.Typed; cmd == root && len(typed) > 0 && !strings.HasPrefix(typed[0], "-") {
			return noArgs(cmd, typed[:1]) // an unknown command, whose flags are unknown, too
		}
		return flagError(cmd, err)
	})
	return root
}

// strict has the commands that cobra adds reject arguments that they do not know. They write to what
// root has as its output by now.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				below, rest, err := root.Find(args)
				return cmp.Or(err, noArgs(below, rest))
			}
		case "completion":
			cmd.Args, cmd.RunE = noArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = noArgs
			}
		}
	}
}

// lineOf returns the command line of a command.
func lineOf(cmd *cobra.Command, args []string) usage.Line {
	line := usage.NewLine(cmd.CommandPath(), cmd.Flags(), args)
	line.Folder = cmd.Name() == "describe"
	if cmd.Name() == "nb" && (len(args) == 0 || args[0] == "-") {
		line.Args, line.Input = nil, " < question.txt"
	}
	root := cmd.Root()
	line.Takes = func(line, flag string) bool {
		other, _, err := root.Find(strings.Fields(line)[1:])
		return err == nil && other.Flag(flag) != nil
	}
	return line
}

// flagError describes an invalid flag without the wording of Go's parsers.
func flagError(cmd *cobra.Command, err error) error {
	help := usage.Shell(cmd.CommandPath() + " --help")
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return usage.New(err.Error(), append(nearFlags(cmd, unknown.GetSpecifiedName()), help)...)
	}
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return usage.New(err.Error(), help)
	}
	flag := bad.GetFlag()
	if u, ok := errors.AsType[*usage.Error](err); ok {
		return usage.New("--"+flag.Name+": "+u.Text, u.Hints...)
	}
	wanted := map[string]string{"bool": "true or false",
		"duration": "a duration, such as 90s, 5m or 1h30m"}[flag.Value.Type()]
	return usage.New(fmt.Sprintf("--%s: %q is not %s", flag.Name, bad.GetValue(),
		cmp.Or(wanted, "a number")), help)
}

// noArgs rejects arguments; those of dsstar itself are unknown commands.
func noArgs(cmd *cobra.Command, args []string) error {
	err := cobra.NoArgs(cmd, args)
	if err == nil {
		return nil
	}
	hints := near(args[0], lists.Map(cmd.Commands(), (*cobra.Command).Name))
	if !cmd.HasParent() && len(args) > 1 {
		hints = append(hints, usage.Shell("dsstar nb %s", strings.Join(args, " ")))
	}
	return usage.New(err.Error(), append(hints, usage.Shell(cmd.CommandPath()+" --help"))...)
}

const rootHelp = `Ask your data a question; get back a notebook that you can review, re-run, edit
and continue.

Examples:
  dsstar demo
  dsstar nb --data ./data "Which store sold most last year?"
  dsstar "How many customers are there?"            about the data of this folder
  dsstar resume RUN
  echo "How many customers are there?" | dsstar nb --data ./data --json

` + exitHelp

// cleaned filters everything printed from now on through a ui.Writer.
func (a *app) cleaned() {
	a.stdout = &ui.Writer{W: ui.Unwrapped(a.stdout), C: ui.Cleaner{Still: true}}
	a.stderr = &ui.Writer{W: ui.Unwrapped(a.stderr), C: ui.Cleaner{Colours: true, Moves: true}}
}

// fileOut returns the destination of -o -: standard output, unfiltered unless it is a terminal.
func (a *app) fileOut() io.Writer {
	if a.stdoutTTY {
		return a.stdout
	}
	return ui.Unwrapped(a.stdout)
}

// newProgress starts a progress for people on stderr, which the caller must stop.
func (a *app) newProgress(quiet bool) *ui.Progress {
	return a.runProgress(runFlags{quiet: quiet})
}

// runProgress is newProgress in the form that the flags of a run ask for.
func (a *app) runProgress(r runFlags) *ui.Progress {
	able := a.stderrTTY && a.host.Getenv("TERM") != "dumb"
	a.progress = ui.New(a.stderr, ui.Options{
		Quiet: r.quiet, JSON: r.progressForm == "json", Live: able,
		Colours: able && a.host.Getenv("NO_COLOR") == "",
		Size:    func() (columns, rows int) { return ui.Size(a.stderr) },
	})
	for _, w := range a.strays() { // a misspelt DSSTAR_MASK shows what should stay hidden: with --quiet, too
		if r.quiet {
			fmt.Fprintf(a.stderr, "dsstar: warning: %s\n", ui.Clean(w))
		}
		a.progress.Warn("%s", w)
	}
	return a.progress
}

// userDirs returns dsstar's folders for caches and for configuration.
func userDirs(getenv func(string) string) (cache, config string, err error) {
	cache, err = os.UserCacheDir()
	if err != nil {
		err = usage.New(fmt.Sprintf("there is no home for caches: %v", err),
			usage.Shell("export HOME=DIR   # a folder of yours"))
	}
	dir, _ := os.UserConfigDir() // "" without a home
	if dir = cmp.Or(getenv("XDG_CONFIG_HOME"), dir); dir != "" {
		config = filepath.Join(dir, "dsstar")
	}
	return filepath.Join(cache, "dsstar"), config, err
}

// release is the version of a released program, set by the linker.
var release string

// version returns the version of the release, or else the module version that the Go tool recorded, or
// "(devel)".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return cmp.Or(release, info.Main.Version, "(devel)")
}

// extensionVariable is set by the notebook extension (python/dsstar) to the process of the kernel in
// which it runs, which is the parent of this process. Whoever asks there agrees to a run in that
// kernel. It is removed from the environment, because it says nothing to the programs that dsstar
// starts.
const extensionVariable = "DSSTAR_EXTENSION"

// taken returns a variable, and removes it from the environment.
func taken(name string) (value string, set bool) {
	value, set = os.LookupEnv(name)
	_ = os.Unsetenv(name) // cannot fail: the name is valid
	return value, set
}

// takeExtension returns the process of the kernel whose extension started this process; 0 if none did.
func takeExtension() int {
	value, _ := taken(extensionVariable)
	kernel, _ := strconv.Atoi(value) // 0 if it is no number
	return max(0, kernel)
}

// untilOrphaned calls cancel when the kernel whose extension started this process has ended, however
// it did: a run is not left behind in secret.
func (a *app) untilOrphaned(ctx context.Context, cancel context.CancelFunc) {
	if a.extension == 0 {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for os.Getppid() == a.extension {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	cancel()
}

// hidePasswords returns copies of the process's arguments, and overwrites the passwords in the
// originals, which ps shows: os.Args shares their memory.
func hidePasswords(args []string) []string {
	copies := make([]string, len(args))
	for i, arg := range args {
		copies[i] = strings.Clone(arg)
		if shown := configs.Redact(arg); shown != arg {
			original := unsafe.Slice(unsafe.StringData(arg), len(arg))
			clear(original[copy(original, shown):])
		}
	}
	return copies
}
