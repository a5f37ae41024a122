package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
)

// shortName is the minimum length of a kernel's abbreviated id.
const shortName = 8

// surveyTime is the deadline for servers to list their kernels.
const surveyTime = 3 * time.Second

func (a *app) kernelsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "kernels",
		Short: "List the kernels that can be started or attached to",
		Long: `List the kernels that can be started or attached to: running kernels of this
machine and of its Jupyter servers, those servers, and kernelspecs. The first
column is what --kernel takes; the end of a notebook's path, a connection file
and "newest" are taken too.

Another server is asked with --server or JUPYTER_URL; its token is that of the
URL, or JUPYTER_TOKEN. Tokens are never printed.`,
		Example: "  dsstar kernels\n  dsstar kernels --json\n  JUPYTER_TOKEN=… dsstar kernels --server https://hub.example.org/user/ada/",
		Args:    noArgs,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	serverFlag(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := a.settings(cmd.Flags())
		if err != nil {
			return err
		}
		v, err := a.survey(cmd.Context(), s)
		if err != nil {
			return err
		}
		if cmd.Context().Err() != nil {
			return cmd.Context().Err()
		}
		if asJSON {
			return printJSON(a.stdout, a.listing(v))
		}
		return printListing(a.stdout, a.listing(v), a.lookup().Home)
	}
	return cmd
}

// A survey lists what can be started or attached to.
type survey struct {
	specs   []kernel.Spec // local
	kernels []kernel.Running
	servers []surveyed
	named   *surveyed // the server of --server
}

// A surveyed is a server with its response.
type surveyed struct {
	kernel.Server
	specs     []kernel.Spec
	preferred string // the default kernelspec
	err       error  // why the response is missing or incomplete
}

// survey queries all servers concurrently. One that does not respond is part of the result, not an
// error.
func (a *app) survey(ctx context.Context, s *configs.Settings) (survey, error) {
	servers, others, named, err := a.servers(s)
	if err != nil {
		return survey{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	var v survey
	var found kernel.Found
	var all sync.WaitGroup
	all.Go(func() { found = kernel.Discover(ctx, a.lookup(), others...) })
	v.servers = make([]surveyed, len(servers))
	for i, server := range servers {
		v.servers[i].Server = server
		all.Go(func() {
			w := &v.servers[i]
			w.specs, w.preferred, w.err = server.Specs(ctx)
		})
	}
	v.specs, _ = kernel.Specs(a.lookup()) // the readable ones
	all.Wait()
	v.kernels = found.Kernels
	for i := range v.servers {
		w := &v.servers[i]
		for _, err := range found.Errors { // a gateway may list kernelspecs but no kernels
			if refused, ok := errors.AsType[*kernel.ServerError](err); ok && refused.URL == w.URL && w.err == nil {
				w.err = err
			}
		}
		if _, refused := errors.AsType[*kernel.ServerError](w.err); w.err != nil && !refused {
			w.err = &unreachableError{w.URL, w.err}
		}
		if w.URL == named {
			v.named = w
		}
	}
	return v, nil
}

// lookup says where to look for Jupyter's files.
func (a *app) lookup() kernel.Lookup {
	home, _ := os.UserHomeDir() // without one, the user's kernelspecs are not found
	return kernel.Lookup{Getenv: a.getenv, Home: home}
}

// servers returns the local servers and those that the user names, the subset that Discover
// does not find by itself, and the URL of --server.
func (a *app) servers(s *configs.Settings) (all, others []kernel.Server, chosen string, err error) {
	local := kernel.LocalServers(a.lookup())
	for _, named := range []struct{ from, address string }{{"--server", s.Server}, {"JUPYTER_URL", a.getenv("JUPYTER_URL")}} {
		if named.address == "" {
			continue
		}
		server, err := a.server(named.from, named.address, local)
		if err != nil {
			return nil, nil, "", err
		}
		if named.from == "--server" {
			chosen = server.URL
		}
		same := func(o kernel.Server) bool { return o.URL == server.URL }
		if !slices.Contains(local, server) && !slices.ContainsFunc(others, same) {
			local = slices.DeleteFunc(local, same) // known with another token
			others = append(others, server)
		}
	}
	return slices.Concat(local, others), others, chosen, nil
}

// server returns the server that the user names. Its token comes from the address, a local server's
// own file, JUPYTER_TOKEN or, for a server of a hub, JUPYTERHUB_API_TOKEN, in this order.
func (a *app) server(from, address string, local []kernel.Server) (kernel.Server, error) {
	server, err := kernel.NewServer(address, "")
	if err != nil { // its text contains the address, perhaps with a token
		return server, usage.New(from+" is not the address of a Jupyter server",
			usage.Shell("dsstar kernels --server http://localhost:8888/"), usage.Shell("jupyter server list"))
	}
	for _, l := range local {
		if sameServer(l.URL, server.URL) {
			l.Token = cmp.Or(server.Token, l.Token)
			server = l
			break
		}
	}
	if server.Token == "" {
		server.Token = a.getenv("JUPYTER_TOKEN")
	}
	if server.Token == "" && hubUser(server.URL) != "" {
		server.Token = a.getenv("JUPYTERHUB_API_TOKEN")
	}
	return server, nil
}

// sameServer reports whether two addresses name the same server, given that this machine has
// several names.
func sameServer(a, b string) bool {
	x, err := url.Parse(a)
	y, e := url.Parse(b)
	if err != nil || e != nil {
		return false
	}
	loopback := []string{"localhost", "127.0.0.1", "::1"}
	both := slices.Contains(loopback, x.Hostname()) && slices.Contains(loopback, y.Hostname())
	return (x.Hostname() == y.Hostname() || both) && x.Port() == y.Port() && x.Path == y.Path && x.Scheme == y.Scheme
}

// hubUser returns the server's path in JupyterHub's API ("ada/server", "ada/servers/gpu"), or "" if
// there is no hub.
func hubUser(address string) string {
	_, path, ok := strings.Cut(address, "/user/")
	user, name, _ := strings.Cut(strings.Trim(path, "/"), "/")
	switch {
	case !ok || user == "":
		return ""
	case name == "":
		return user + "/server"
	}
	return user + "/servers/" + name
}

// name returns the --kernel argument for a running kernel: the shortest unambiguous prefix of
// its id.
func (v survey) name(k kernel.Running) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(v.specs, func(s kernel.Spec) bool { return strings.EqualFold(s.Name, name) })
	}
	for n := min(shortName, len(k.ID)); n <= len(k.ID); n++ {
		if got, err := kernel.Choose(k.ID[:n], v.kernels); err == nil && got.ID == k.ID && !taken(k.ID[:n]) {
			return k.ID[:n]
		}
	}
	return cmp.Or(k.File, k.ID)
}

// A listing is the object that kernels --json prints. Its fields are a contract:
// see the README.
type listing struct {
	Kernels     []listedKernel `json:"kernels"`
	Servers     []listedServer `json:"servers"`
	Kernelspecs []listedSpec   `json:"kernelspecs"`
}

type listedKernel struct {
	Name           string     `json:"name"`
	ID             string     `json:"id"`
	State          string     `json:"state"`
	Since          *time.Time `json:"since"`
	Kernelspec     string     `json:"kernelspec"`
	Notebook       string     `json:"notebook"`
	Dir            string     `json:"dir"`
	Python         string     `json:"python"`
	PID            int        `json:"pid"`
	Connections    int        `json:"connections"`
	ConnectionFile string     `json:"connection_file"`
	Server         string     `json:"server"`
}

type listedServer struct {
	URL   string `json:"url"`
	Root  string `json:"root"`
	PID   int    `json:"pid"`
	Error string `json:"error"`
}

type listedSpec struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Language    string `json:"language"`
	Argv0       string `json:"argv0"`
	Dir         string `json:"dir"`
	Server      string `json:"server"`
}

func (a *app) listing(v survey) listing {
	l := listing{Kernels: []listedKernel{}, Servers: []listedServer{}, Kernelspecs: []listedSpec{}}
	for _, k := range v.kernels {
		listed := listedKernel{
			Name: v.name(k), ID: k.ID, State: k.State, Kernelspec: k.Spec, Notebook: k.Notebook, Dir: k.Dir, Python: k.Python,
			PID: k.PID, Connections: k.Connections, ConnectionFile: k.File, Server: k.Server.URL,
		}
		if !k.Since.IsZero() {
			listed.Since = &k.Since
		}
		l.Kernels = append(l.Kernels, listed)
	}
	for _, s := range v.specs {
		program, err := s.Program(a.env)
		if err != nil && len(s.Argv) > 0 {
			program = s.Argv[0]
		}
		l.Kernelspecs = append(l.Kernelspecs, listedSpec{s.Name, s.DisplayName, s.Language, program, s.Dir, ""})
	}
	for _, server := range v.servers {
		problem := ""
		if server.err != nil {
			problem = server.err.Error()
		}
		l.Servers = append(l.Servers, listedServer{server.URL, server.Root, server.PID, problem})
		for _, s := range server.specs {
			listed := listedSpec{Name: s.Name, DisplayName: s.DisplayName, Language: s.Language, Server: server.URL}
			if len(s.Argv) > 0 {
				listed.Argv0 = s.Argv[0]
			}
			l.Kernelspecs = append(l.Kernelspecs, listed)
		}
	}
	return l
}

// printListing prints the tables, with a sentence in place of an empty one.
func printListing(out io.Writer, l listing, home string) error {
	tilde := func(path string) string {
		if rest, ok := strings.CutPrefix(path, home+string(os.PathSeparator)); ok && home != "" {
			return "~" + string(os.PathSeparator) + rest
		}
		return path
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) {
		for i, cell := range cells {
			cells[i] = term.Printable(cell)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if len(l.Kernels) == 0 {
		row("No kernel is running. These start one:  jupyter lab   jupyter console")
	} else {
		row("RUNNING", "STATE", "ACTIVE", "KERNELSPEC", "NOTEBOOK", "FOLDER", "PYTHON", "SERVER")
	}
	for _, k := range l.Kernels {
		active := "-"
		if k.Since != nil {
			active = ago(time.Since(*k.Since))
		}
		row(tilde(k.Name), dash(k.State), active, dash(k.Kernelspec), dash(k.Notebook), dash(tilde(k.Dir)), dash(tilde(k.Python)), dash(k.Server))
	}
	row("")
	if len(l.Servers) == 0 {
		row("No Jupyter server is running here. This starts one:  jupyter lab   and this asks another:  dsstar kernels --server URL")
	} else {
		row("SERVER", "FOLDER", "ANSWER")
	}
	for _, s := range l.Servers {
		row(s.URL, dash(tilde(s.Root)), cmp.Or(s.Error, "ok"))
	}
	row("")
	if len(l.Kernelspecs) == 0 {
		row("No kernelspec is installed. This installs one:  python3 -m ipykernel install --user   dsstar nb needs none")
	} else {
		row("KERNELSPEC", "NAME", "LANGUAGE", "PROGRAM", "SERVER")
	}
	for _, s := range l.Kernelspecs {
		row(s.Name, dash(s.DisplayName), dash(s.Language), dash(tilde(s.Argv0)), dash(s.Server))
	}
	return w.Flush()
}

func dash(cell string) string { return cmp.Or(cell, "-") }

// ago formats a duration relative to now.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
