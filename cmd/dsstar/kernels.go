package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
)

func (a *app) kernelsCommand() cli.Command {
	return cli.Command{
		Use:   "kernels",
		Short: "List kernelspecs, running kernels and Jupyter servers",
		Long: `List the running kernels of this machine and its Jupyter servers, those servers,
and the kernelspecs. --kernel takes the first column, the end of a notebook's
path, a connection file, or "newest".

--server or JUPYTER_URL names another server, with its token in the URL or in
JUPYTER_TOKEN. Tokens are never printed.`,
		Example: "  dsstar kernels\n  dsstar kernels --json\n  JUPYTER_TOKEN=… dsstar kernels --server " +
			"https://hub.example.org/user/ada/",
		Flags: []cli.Flag{cli.Opt(new(bool), "json", "", "print one JSON object")}, Settings: "server",
		Run: func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
			v, err := a.host.Survey(ctx, c.Settings)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return none, err
			}
			l, home := a.listing(v), a.host.Lookup().Home
			return cli.Output{Value: l, Text: func(b *strings.Builder) { l.print(b, home) }}, nil
		},
	}
}

// A listing is the object that kernels --json prints. Its fields are a contract: see
// docs/kernels.md.
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

func (a *app) listing(v site.Survey) listing {
	l := listing{Kernels: []listedKernel{}, Servers: []listedServer{}, Kernelspecs: []listedSpec{}}
	for _, k := range v.Kernels {
		listed := listedKernel{
			Name: v.Name(k), ID: k.ID, State: k.State, Kernelspec: k.Spec, Notebook: k.Notebook,
			Dir: k.Dir, Python: k.Python,
			PID: k.PID, Connections: k.Connections, ConnectionFile: k.File, Server: k.Server.URL,
		}
		if !k.Since.IsZero() {
			listed.Since = &k.Since
		}
		l.Kernels = append(l.Kernels, listed)
	}
	for _, s := range v.Specs {
		program, err := s.Program(a.host.Env)
		if err != nil && len(s.Argv) > 0 {
			program = s.Argv[0]
		}
		l.Kernelspecs = append(l.Kernelspecs,
			listedSpec{s.Name, s.DisplayName, s.Language, program, s.Dir, ""})
	}
	for _, server := range v.Servers {
		problem := ""
		if server.Err != nil {
			problem = server.Err.Error()
		}
		l.Servers = append(l.Servers, listedServer{server.URL, server.Root, server.PID, problem})
		for _, s := range server.Specs {
			listed := listedSpec{Name: s.Name, DisplayName: s.DisplayName, Language: s.Language,
				Server: server.URL}
			if len(s.Argv) > 0 {
				listed.Argv0 = s.Argv[0]
			}
			l.Kernelspecs = append(l.Kernelspecs, listed)
		}
	}
	return l
}

// print prints the tables, with a sentence in place of an empty one.
func (l listing) print(b *strings.Builder, home string) {
	tilde := func(path string) string {
		if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
			return "~/" + rest
		}
		return path
	}
	var rows [][]string
	row := func(cells ...string) {
		for i, cell := range cells {
			cells[i] = ui.Printable(cell)
		}
		rows = append(rows, cells)
	}
	head := func(n int, none string, titles ...string) {
		if n == 0 {
			titles = []string{none}
		}
		row(titles...)
	}
	head(len(l.Kernels), "No kernel is running. These start one:  jupyter lab   jupyter console",
		"RUNNING", "STATE", "ACTIVE", "KERNELSPEC", "NOTEBOOK", "FOLDER", "PYTHON", "SERVER")
	for _, k := range l.Kernels {
		active := "-"
		if k.Since != nil {
			active = site.Ago(time.Since(*k.Since))
		}
		row(tilde(k.Name), dash(k.State), active, dash(k.Kernelspec), dash(k.Notebook),
			dash(tilde(k.Dir)), dash(tilde(k.Python)), dash(k.Server))
	}
	row("")
	head(len(l.Servers), "No Jupyter server is running here. This starts one:  jupyter lab   and this asks "+
		"another:  dsstar kernels --server URL", "SERVER", "FOLDER", "ANSWER")
	for _, s := range l.Servers {
		row(s.URL, dash(tilde(s.Root)), cmp.Or(s.Error, "ok"))
	}
	row("")
	head(len(l.Kernelspecs), "No kernelspec is installed. This installs one:  python3 -m ipykernel install "+
		"--user   dsstar nb needs none", "KERNELSPEC", "NAME", "LANGUAGE", "PROGRAM", "SERVER")
	for _, s := range l.Kernelspecs {
		row(s.Name, dash(s.DisplayName), dash(s.Language), dash(tilde(s.Argv0)), dash(s.Server))
	}
	cli.Table(b, rows)
}

func dash(cell string) string { return cmp.Or(cell, "-") }
