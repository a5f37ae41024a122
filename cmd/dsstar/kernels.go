package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/kernel"
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
			l := a.listing(v)
			return cli.Output{Value: l, Text: l.print}, nil
		},
	}
}

// A listing is the object that kernels --json prints. Its fields are a contract: see
// docs/kernels.md.
type listing struct {
	Kernels     []fields `json:"kernels"`
	Servers     []fields `json:"servers"`
	Kernelspecs []fields `json:"kernelspecs"`
}

// fields are those of a row, by name.
type fields map[string]string

func (a *app) listing(v site.Survey) listing {
	l := listing{[]fields{}, []fields{}, []fields{}}
	for _, k := range v.Kernels {
		since := ""
		if !k.Since.IsZero() {
			since = k.Since.Format(time.RFC3339)
		}
		l.Kernels = append(l.Kernels, fields{"name": v.Name(k), "id": k.ID, "state": k.State, "since": since,
			"kernelspec": k.Spec, "notebook": k.Notebook, "dir": k.Dir, "python": k.Python,
			"connection_file": k.File, "server": k.Server.URL})
	}
	specs := func(of []kernel.Spec, server string) {
		for _, s := range of {
			program := strings.Join(s.Argv[:min(1, len(s.Argv))], "")
			if at, err := s.Program(a.host.Env); err == nil && server == "" {
				program = at
			}
			l.Kernelspecs = append(l.Kernelspecs, fields{"name": s.Name, "display_name": s.DisplayName,
				"language": s.Language, "argv0": program, "dir": s.Dir, "server": server})
		}
	}
	specs(v.Specs, "")
	for _, server := range v.Servers {
		problem := ""
		if server.Err != nil {
			problem = server.Err.Error()
		}
		l.Servers = append(l.Servers, fields{"url": server.URL, "root": server.Root, "error": problem})
		specs(server.Specs, server.URL)
	}
	return l
}

// print prints the tables, with a sentence in place of an empty one.
func (l listing) print(b *strings.Builder) {
	var rows [][]string
	table := func(of []fields, none, titles, names string) {
		if len(of) == 0 {
			titles = none
		}
		rows = append(rows, strings.Split(titles, " | "))
		for _, one := range of {
			var cells []string
			for name := range strings.FieldsSeq(names) {
				cell := one[name]
				if since, err := time.Parse(time.RFC3339, cell); err == nil {
					cell = site.Ago(time.Since(since))
				}
				cells = append(cells, dash(ui.Printable(cell)))
			}
			rows = append(rows, cells)
		}
	}
	table(l.Kernels, "No kernel is running. These start one:  jupyter lab   jupyter console",
		"RUNNING | STATE | ACTIVE | KERNELSPEC | NOTEBOOK | FOLDER | PYTHON | SERVER",
		"name state since kernelspec notebook dir python server")
	rows = append(rows, nil)
	table(l.Servers, "No Jupyter server is running here. This starts one:  jupyter lab   and this asks "+
		"another:  dsstar kernels --server URL", "SERVER | FOLDER | PROBLEM", "url root error")
	rows = append(rows, nil)
	table(l.Kernelspecs, "No kernelspec is installed. This installs one:  python3 -m ipykernel install "+
		"--user   dsstar nb needs none", "KERNELSPEC | NAME | LANGUAGE | PROGRAM | SERVER",
		"name display_name language argv0 server")
	cli.Table(b, rows)
}

func dash(cell string) string { return cmp.Or(cell, "-") }
