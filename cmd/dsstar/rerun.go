package main

import (
	"context"

	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/rerun"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

const rerunHelp = `Execute a notebook from top to bottom in a fresh kernel, and write the executed
notebook. Its path goes to standard output, the outputs of each cell to standard error.

As in nbclient, papermill and nbconvert --execute, cells run in the notebook's
folder, and an exception ends the run unless the cell has the tag
raises-exception; cells with the tag skip-execution are skipped. Unlike there,
cells run in the sandbox without your keys, and outputs that would fetch something
when shown are disabled. Those of a notebook that dsstar wrote run in a temporary
folder, so that the run folder stays as it is.

The kernel is that of --python or --kernel, or of these settings; else that of the
notebook, if it names an installed kernelspec other than python3; else dsstar's
own Python.

--parameters NAME=VALUE sets a variable, as papermill does, in a new cell after the
one with the tag parameters. VALUE is True, False, None, a number, or else text; in
quotes it is text. --data DIR sets data_dir there.

--check compares each cell's outputs with those in the notebook: same; differs, with
the differences; error, if it fails now; or not run, if there is nothing to compare.
--round N runs one round of dsstar's notebook again on the session as it was then,
failed attempts too, and compares them. docs/rerun.md has the rules, and the fields
of --json.

` + exitHelp

const rerunExample = `  dsstar rerun analysis.ipynb                        # writes analysis.rerun.ipynb
  dsstar rerun analysis.ipynb -o analysis.ipynb      # in place
  dsstar rerun analysis.ipynb -o - > executed.ipynb
  dsstar rerun -p year=2024 -p region=north -o north.ipynb analysis.ipynb
  dsstar rerun --kernel conda-geo --timeout 10m --allow-errors analysis.ipynb
  dsstar rerun --check analysis.ipynb                # are its outputs still the same?
  dsstar rerun --check --data new/ RUN/notebook.ipynb
  dsstar rerun --round 2 RUN/notebook.ipynb          # a round with its failed attempts`

func (a *app) rerunCommand() cli.Command {
	flags := rerun.Flags{Tolerance: rerun.Tolerance}
	return cli.Command{
		Use:   "rerun [flags] [NOTEBOOK]",
		Short: "Execute a notebook in a fresh kernel, or check its outputs",
		Long:  rerunHelp, Example: rerunExample, Args: a.oneRun("notebook"), Settings: "Sandbox",
		Flags: []cli.Flag{
			cli.Opt(&flags.Out, "out,o", "Output",
				"the executed notebook; - for standard output (default: NOTEBOOK's name with .rerun.ipynb)"),
			cli.Opt(&flags.Timeout, "timeout", "", "timeout of a cell, such as 90s or 10m (default none)"),
			cli.Opt(&flags.AllowErrors, "allow-errors", "", "continue after cells that fail or time out"),
			cli.Opt(&flags.Quiet, "quiet,q", "Output", "only errors on standard error"),
			cli.Opt(&flags.JSON, "json", "Output", "print one JSON object instead of the path"),
			cli.Opt(&flags.Check, "check", "",
				"compare outputs with those in the notebook; writes nothing unless --out is given"),
			cli.Opt(&flags.Tolerance, "tolerance", "", "of a check: relative tolerance of numbers"),
			cli.Opt(&flags.Round, "round", "",
				"run the attempts of this round of dsstar's notebook again, and compare them"),
			cli.Opt(&flags.Parameters, "parameters,p", "",
				"name=value: a variable to set after the cell with the tag parameters; may be repeated"),
			cli.Opt((*usage.Once)(&flags.Data), "data", "Data", "another data folder than the notebook's"),
			cli.Opt(cli.Setting{Key: "python", To: new(string)}, "python", "Kernel",
				"your own interpreter, with ipykernel"),
			cli.Opt(cli.Setting{Key: "kernel", To: new(string)}, "kernel", "Kernel",
				"an installed kernelspec, by name, of any language"),
		},
		Excludes: [][]string{{"round", "out"}, {"round", "parameters"}},
		Needs:    [][]string{{"tolerance", "check"}},
		Run: func(ctx context.Context, c *cli.Call) (cli.Output, error) {
			return a.rerun(ctx, c.Args[0], flags, c.Settings)
		},
	}
}

// rerun executes a notebook, or that of a run folder.
func (a *app) rerun(ctx context.Context, path string, flags rerun.Flags,
	s *configs.Settings) (none cli.Output, _ error) {
	path, _, nb, err := namedNotebook(path)
	if err != nil {
		return none, err
	}
	r := rerun.Runner{Host: a.host, Stderr: a.stderr, File: a.fileOut(), Key: a.key(),
		Progress: a.newProgress(flags.Quiet)}
	return r.Run(ctx, path, nb, flags, s)
}
