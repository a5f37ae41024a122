package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/memory"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/human"
)

const memoryHelp = `Show what earlier questions taught about the data: facts with their sources,
functions with their cases, and questions with their verified answers. They are
plain files in .dsstar beside the data, or where --memory says, which you may read,
edit, review and commit:

  facts.md         one item for each fact; "— source: …" ends it
  tools/NAME.py    a function with its imports and its cases, lines that begin
                   with assert; anything else is left out
  questions.jsonl  verified questions with their notebooks

The last twenty of each kind are listed or, with words, all that have them all.

dsstar nb shows the model the facts and functions nearest to its question, and
adds to them with --learn. The nearest verified question is shown as an example,
with its cells.`

func (a *app) memoryCommand() cli.Command {
	// on has a command about the memory of --data.
	on := func(c cli.Command, do func(context.Context, *job, []string) (cli.Output, error)) cli.Command {
		data := "."
		c.Flags = []cli.Flag{cli.Opt(&data, "data,d", "Data", "the data that the memory is about")}
		c.Settings = "memory " + c.Settings
		c.Run = func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
			j := job{settings: c.Settings, progress: a.newProgress(false)}
			defer j.progress.Stop()
			if j.sources, err = a.sources(ctx, &j, []string{data}); err == nil {
				err = a.remember(ctx, &j)
			}
			if err == nil && j.memory == nil {
				err = usage.New("memory is off", usage.Again("--memory", "auto"))
			}
			if err != nil {
				return none, err
			}
			return do(ctx, &j, c.Args)
		}
		return c
	}
	forget := cli.Command{
		Use: "forget WHAT...", Short: "Remove functions by name, facts and questions by their text",
		Args: cli.Some("nothing is named", usage.Shell("dsstar memory")),
	}
	check := cli.Command{
		Use:   "check",
		Short: "Test all functions on the data as they are",
		Long: "Test all functions on the data as they are, by their cases. Those that fell stay, and\n" +
			"no run uses them. Exit code 3 if there are any.",
		Settings: "Kernel -server cell-timeout rollback Sandbox",
	}
	return on(cli.Command{
		Use:   "memory [--data PATH] [WORD...]",
		Short: "Show, check and change what earlier questions taught about data",
		Long:  memoryHelp,
		Example: "  dsstar memory --data ./data\n  dsstar memory --data ./data fees 2023\n  dsstar memory check --data ./data\n" +
			"  dsstar memory forget --data ./data total_fees",
		Args: cli.Any, Below: []cli.Command{on(check, a.checkMemory), on(forget, a.forget)},
	}, func(_ context.Context, j *job, words []string) (cli.Output, error) {
		return cli.Text(listed(j.memory, words)), nil
	})
}

// mostListed is how many facts, functions and questions are listed if no word is given.
const mostListed = 20

// listed returns a line for each fact, function and question that has all words, or for the last ones of
// each if there are no words.
func listed(m *memory.Memory, words []string) string {
	var b strings.Builder
	all := map[string][]string{}
	for _, f := range m.Facts {
		all["fact"] = append(all["fact"], ui.Printable(f.String()))
	}
	for _, t := range m.Tools {
		all["function"] = append(all["function"], fmt.Sprintf("%s (%s)", ui.Clean(t.Head()),
			human.Plural(strings.Count("\n"+t.Test, "\nassert "), "case")))
	}
	for _, q := range m.Questions {
		all["question"] = append(all["question"], fmt.Sprintf("%s: %s (%s, %s)", ui.Clean(q.Question),
			ui.Clean(q.Answer), day(q.Asked), ui.Printable(q.Notebook)))
	}
	for _, kind := range []string{"fact", "function", "question"} {
		shown := slices.DeleteFunc(all[kind], func(item string) bool { return !hasAll(item, words) })
		if more := len(shown) - mostListed; more > 0 && len(words) == 0 {
			shown = shown[more:]
			fmt.Fprintf(&b, "%-9s %d more: dsstar memory WORD lists those with a word\n", kind, more)
		}
		for _, item := range shown {
			fmt.Fprintf(&b, "%-9s %s\n", kind, item)
		}
	}
	switch {
	case b.Len() > 0:
	case len(words) > 0:
		fmt.Fprintf(&b, "Nothing in %s has %s.\n", ui.Printable(m.Dir), ui.Printable(strings.Join(words, " and ")))
	default:
		fmt.Fprintf(&b, "Nothing yet in %s. This adds to it:  dsstar nb --learn --data PATH \"question\"\n",
			ui.Printable(m.Dir))
	}
	return b.String()
}

// hasAll reports whether a text has all words, in any letter case.
func hasAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		return !strings.Contains(strings.ToLower(text), strings.ToLower(word))
	})
}

func (a *app) forget(ctx context.Context, j *job, args []string) (none cli.Output, err error) {
	for _, arg := range args {
		if !j.memory.Forget(arg) {
			return none, usage.New("the memory has no "+arg+": a function is named by its name, a fact or question by its text",
				usage.Shell("dsstar memory"))
		}
	}
	return none, a.keepMemory(ctx, *j)
}

// checkMemory tests all functions on the data as they are.
func (a *app) checkMemory(ctx context.Context, j *job, _ []string) (out cli.Output, err error) {
	if j.task, err = newTask(ctx, "the memory", "", j.sources, j.settings.Include, false); err != nil {
		return out, err
	}
	remove, err := j.linkApart()
	defer remove()
	if err == nil {
		err = j.setUpAlone(ctx, a)
	}
	if err != nil {
		return out, err
	}
	j.progress.Wait("testing the functions")
	why, err := unsound(ctx, j.site.RunScript, j.task, j.memory.Tools)
	if err != nil {
		return out, err
	}
	for _, t := range j.memory.Tools {
		fault := why[t.Name]
		if t.Test == "" {
			fault = "it has no cases"
		}
		if fault == "" {
			j.progress.Say("function %s: its cases hold", t.Name)
			continue
		}
		j.progress.Warn("function %s: %s", t.Name, fault)
		out.Code = exitNotVerified
	}
	return out, nil
}
