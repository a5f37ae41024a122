package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
)

const nbHelp = `Answer a question about data files and leave a notebook. With a running kernel
(--kernel) the question may also be about its variables.

--data names a folder, which cells see as data/; without it, that is this folder.
It may be repeated, and may name files, quoted patterns and files of the web, which
cells see as data/NAME, databases (db["name"]) and buckets (bucket["folder"]).
Passwords come from the address, PGPASSWORD or MYSQL_PWD, and are in no file.

The question is the argument, or standard input. Only the answer goes to standard
output; progress goes to standard error. A run leaves dsstar-runs/<date>-<slug>/, or
the folder of --out. You may edit its notebook during the run: it then continues in
notebook-2.ipynb. dsstar resume --ask goes on in the session of a run.

With --review dsstar asks before every cell. Only what you accept runs, and the
scripts that describe files.

` + exitHelp

const nbExample = `  dsstar nb --data ./data "Which store sold most last year?"
  dsstar nb --data ./web --data shop=exports/2025 --data 'prices/*.xlsx' "…"
  dsstar nb --data postgresql://ada@db.example.org/sales --data targets.xlsx "…"
  dsstar nb --engine spark=sc://lake.example.org:15002 --python ~/venv/bin/python "…"
  dsstar nb --data ./data --model ollama/qwen3 --guidelines "a number with two decimals" "…"
  dsstar nb --kernel analysis.ipynb "…"            about the variables of a running notebook: see dsstar kernels
  JUPYTER_TOKEN=… dsstar nb --data ./data --server https://hub.example.org/user/ada/ "…"`

func (a *app) nbCommand() cli.Command {
	var guidelines, engine string
	var data []string
	var flags runFlags
	own := []cli.Flag{
		cli.Opt(&data, "data,d", "Data",
			"a folder, file, quoted pattern or database, or NAME=PATH; may be "+
				"repeated; optional with a running kernel"),
		cli.Opt(&engine, "engine", "Data",
			"a cluster to compute on: spark=sc://HOST:15002, dask=tcp://HOST:8786 "+
				"or ray=ray://HOST:10001"),
		cli.Opt(&guidelines, "guidelines,g", "Method", "the form of the answer: TEXT, or @FILE"),
	}
	return cli.Command{
		Use: `nb [flags] "question"`, Short: "Answer a question about data files and leave a notebook",
		Long: nbHelp, Example: nbExample,
		Args: cli.Any, Flags: slices.Concat(own, flags.ofNew(), flags.asking(), flags.common()), Settings: "all",
		Run: func(ctx context.Context, c *cli.Call) (cli.Output, error) {
			return a.withJob(flags, c.Settings, func(j job) error {
				question, err := a.question(c.Args)
				if err != nil {
					return err
				}
				form, err := textOf("--guidelines", guidelines)
				if err != nil {
					return err
				}
				if len(data) == 0 && c.Settings.Kernel == "" && engine == "" {
					data = []string{"."}
				}
				// All arguments are checked before anything is set up.
				if j.sources, err = a.sources(ctx, &j, data); err != nil {
					return err
				}
				if err := a.engine(engine, &j); err != nil {
					return err
				}
				if err := a.ready(ctx, &j, question, form); err != nil {
					return err
				}
				return a.answer(ctx, j)
			})
		},
	}
}

// ready makes a job of a question about the job's sources: all is checked before anything is set up.
func (a *app) ready(ctx context.Context, j *job, question, form string) (err error) {
	if err = j.setTask(ctx, question, form); err != nil {
		return err
	}
	if err := a.remember(ctx, j); err != nil {
		return err
	}
	if err := cmp.Or(a.define(j), checkMethod(j.settings)); err != nil {
		return err
	}
	if err := a.models(j); err != nil {
		return err
	}
	j.progress.Skipped(j.task)
	return j.setUp(ctx, a)
}

// question takes the question from the arguments or from standard input.
func (a *app) question(args []string) (string, error) {
	hint := usage.Again().Args("your question")
	if len(args) > 1 {
		whole := usage.Again().Args(strings.Join(args, " "))
		if disk.Exists(args[0]) {
			whole = usage.Again("--data", args[0]).Args(strings.Join(args[1:], " "))
		}
		return "", usage.New(fmt.Sprintf("the question must be one argument, got %d", len(args)), whole)
	}
	var text string
	switch {
	case len(args) == 1 && args[0] != "-":
		var err error
		if text, err = textOf("the question", args[0]); err != nil {
			return "", err
		}
	case a.stdinTTY && len(args) == 0:
		return "", usage.New("no question is given", hint)
	default:
		b, err := io.ReadAll(io.LimitReader(a.stdin, disk.MaxText+1))
		if err != nil {
			return "", fmt.Errorf("read the question: %w", err)
		}
		if len(b) > disk.MaxText {
			return "", usage.New("the question on standard input is longer than 1 MiB", hint)
		}
		text = strings.TrimSpace(string(b))
	}
	if text == "" {
		return "", usage.New("no question is given", hint)
	}
	return text, nil
}

// textOf returns a text of the command line, or of the file that it names after an @. what is the
// text, for errors.
func textOf(what, arg string) (string, error) {
	path, isFile := strings.CutPrefix(arg, "@")
	if !isFile {
		return strings.TrimSpace(arg), nil
	}
	f, err := os.Open(path) // perhaps a pipe, such as <(cmd)
	var b []byte
	if err == nil {
		b, err = io.ReadAll(io.LimitReader(f, disk.MaxText+1))
		err = errors.Join(err, f.Close())
	}
	if len(b) > disk.MaxText {
		err = fmt.Errorf("%s: %w", path, disk.ErrTooLong)
	}
	if errors.Is(err, os.ErrNotExist) {
		return "", usage.New(fmt.Sprintf("%s begins with @: there is no such file: %s", what, path),
			usage.Shell("ls %s   # a space before the @ makes it a part of the text", disk.Existing(path)))
	}
	if err != nil {
		return "", usage.New(fmt.Sprintf("%s: %v", what, err), usage.Shell("ls -l %s", path))
	}
	return strings.TrimSpace(string(b)), nil
}
