package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/mcp"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
)

const mcpHelp = `Serve the Model Context Protocol, with which agents such as Claude Code ask dsstar:
on standard input and output, or with --http on a port of this machine.

Tools: ask, follow_up, continue_run, go_back, describe_data, list_kernels, list_runs,
rerun_notebook. Each call is a command of dsstar in a process of its own. Model, key,
budget and all other settings are those of this command's environment and of your
own file.

--root names what may be asked about: a folder with all in it, or an address of a
database, bucket or website (or env:VARIABLE, which hides it); may be repeated.
Hidden files are left out. Runs are put into dsstar-runs in the first folder, and
relative paths begin there. The default is the current folder.

With --http a client needs the token that is printed, or that of DSSTAR_MCP_TOKEN:
  Authorization: Bearer TOKEN`

const mcpExample = `  dsstar mcp
  dsstar mcp --root ~/sales --root env:SALES_DB
  claude mcp add dsstar -e DSSTAR_MODEL=… -- dsstar mcp --root ~/sales
  DSSTAR_MCP_TOKEN=… dsstar mcp --http 127.0.0.1:8765`

// mcpToken is the variable with the token of --http. mcpRoots is the one with which the server tells
// its commands, one on each line, the addresses that they may read.
const mcpToken, mcpRoots = "DSSTAR_MCP_TOKEN", "DSSTAR_MCP_ROOTS"

// takeRoots returns the addresses of mcpRoots, and removes the variable; nil: it is not set.
func takeRoots() []string {
	if roots, set := taken(mcpRoots); set {
		return strings.Split(roots, "\n")
	}
	return nil
}

func (a *app) mcpCommand() cli.Command {
	config := mcp.Config{Parallel: 2}
	var roots []string
	var address string
	return cli.Command{
		Use: "mcp", Short: "Let other agents ask, by the Model Context Protocol",
		Long: mcpHelp, Example: mcpExample,
		Flags: []cli.Flag{
			cli.Opt(&roots, "root", "",
				"what may be asked about: a folder, or an address as dsstar nb takes it; may be repeated"),
			cli.Opt(&address, "http", "", "serve HTTP on this port of the loopback interface, such as "+
				"127.0.0.1:8765, instead of standard input and output"),
			cli.Opt(&config.Kernels, "allow-kernels", "",
				"questions may be about running kernels, which are not in the sandbox"),
			cli.Opt(&config.Parallel, "parallel", "", "calls that may compute at once; others wait"),
		},
		Run: func(ctx context.Context, _ *cli.Call) (none cli.Output, err error) {
			return none, a.mcp(ctx, config, roots, address)
		},
	}
}

// mcp carries out the command.
func (a *app) mcp(ctx context.Context, config mcp.Config, roots []string, address string) error {
	if config.Parallel < 1 {
		return usage.New("--parallel must be at least 1", usage.Again("--parallel", "1"))
	}
	within, err := newWithin(roots)
	if err != nil {
		return err
	}
	if config.Program, err = os.Executable(); err != nil {
		return err
	}
	runs, err := a.runsFolder()
	if err != nil {
		return err
	}
	config.Version, config.Data, config.MayRead = version(), within.data(),
		func(data string) error { return a.inWords(within.check(data)) }
	config.Run = func(name string) (string, error) {
		run, err := a.namedRun(name)
		if name == "" {
			run, err = a.newestRun()
		}
		// a run of the list may be named wherever that is, but a link there leads only to what may be read
		if err == nil && filepath.Dir(disk.RealPath(run)) != disk.RealPath(runs) {
			err = within.check(run)
		}
		return disk.Absolute(run), a.inWords(err)
	}
	config.Env = append(slices.DeleteFunc(slices.Clone(a.host.Env), func(entry string) bool {
		return strings.HasPrefix(entry, mcpToken+"=")
	}), mcpRoots+"="+strings.Join(within.addresses, "\n"))
	server := mcp.New(ctx, config)
	if address != "" {
		return a.serveHTTP(ctx, server, address)
	}
	return server.Serve()
}

// serveHTTP serves on a port of the loopback interface.
func (a *app) serveHTTP(ctx context.Context, server *mcp.Server, address string) error {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return usage.New("--http: "+address+" is not a port of the loopback interface",
			usage.Again("--http", "127.0.0.1:8765"))
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("--http: %w", err)
	}
	token, shown := a.host.Getenv(mcpToken), "of "+mcpToken
	if token == "" {
		token = rand.Text()
		shown = token
	}
	fmt.Fprintf(a.stderr, "serving  http://%s%s\ntoken    %s\n", listener.Addr(), mcp.Path, shown)
	return server.ServeHTTP(listener, token)
}

// inWords returns an error as one text, with its hints.
func (a *app) inWords(err error) error {
	if err == nil {
		return nil
	}
	_, text, hints := explain(err, a.line)
	for _, hint := range hints {
		text += "\nhint: " + hint
	}
	return errors.New(text)
}

// within are the folders and addresses that a server's clients may name.
type within struct{ folders, addresses []string }

// newWithin reads the values of --root and makes the first folder the current one.
func newWithin(roots []string) (w within, err error) {
	if len(roots) == 0 {
		if here, err := os.Getwd(); err != nil || sandbox.Private(here) {
			return w, usage.New("the current folder is hidden, the system's or above your home: name "+
				"what may be asked about", usage.Again("--root", "DIR"))
		}
		roots = []string{"."}
	}
	for _, root := range roots {
		if isAddress(root) {
			w.addresses = append(w.addresses, root)
			continue
		}
		at := disk.RealPath(disk.Absolute(root))
		if !isFolder(at) {
			return w, usage.New("--root: there is no folder "+root, usage.Shell("ls -ld %s", root))
		}
		w.folders = append(w.folders, at)
	}
	if len(w.folders) > 0 {
		err = os.Chdir(w.folders[0])
	}
	return w, err
}

// data is what a question is about that names no data.
func (w within) data() []string { return slices.Concat(w.folders, w.addresses) }

// isAddress reports whether a value of --data is no path.
func isAddress(data string) bool {
	return isVariable.MatchString(data) || strings.Contains(data, "://") && !isFile.MatchString(data)
}

// check rejects data that are not in the folders and not at the addresses.
func (w within) check(data string) error {
	name, place := split(data)
	if isAddress(place) {
		if !slices.ContainsFunc(w.addresses, func(root string) bool { return covers(root, place) }) {
			return w.outside("this address")
		}
		return nil
	}
	found, err := source(name, place)
	if err != nil {
		return err
	}
	for _, s := range found {
		real := disk.RealPath(s.Path)
		if !slices.ContainsFunc(w.folders, func(folder string) bool { return holds(folder, real) }) {
			return w.outside(data)
		}
	}
	return nil
}

func (w within) outside(what string) error {
	return usage.New(fmt.Sprintf("%s is not among what this server may read, which is %s; the user "+
		"can start it with another --root", what, strings.Join(w.data(), ", ")))
}

// covers reports whether an address is a root, or below one that ends with a slash.
func covers(root, address string) bool {
	below, found := strings.CutPrefix(address, root)
	read, err := url.PathUnescape(below)
	return found && (below == "" ||
		strings.HasSuffix(root, "/") && err == nil && !strings.Contains(read, ".."))
}

// holds reports whether a path is in a folder, and not hidden there.
func holds(folder, path string) bool {
	below, err := filepath.Rel(folder, path)
	return err == nil && disk.Inside(folder, path) && (below == "." || !strings.Contains("/"+below, "/."))
}
