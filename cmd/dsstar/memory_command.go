package main

import (
	"context"
	"fmt"
	"strings"
	"time"

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

The last twenty of each kind are listed. To forget one, remove its line or file.

dsstar nb shows the model the facts and functions nearest to its question, and
adds to them with --learn. The nearest verified question is shown as an example,
with its cells.`

func (a *app) memoryCommand() cli.Command {
	data := "."
	return cli.Command{
		Use: "memory", Short: "Show what earlier questions taught about data", Long: memoryHelp,
		Example:  "  dsstar memory --data ./data",
		Flags:    []cli.Flag{cli.Opt(&data, "data,d", "Data", "the data that the memory is about")},
		Settings: "memory",
		Run: func(ctx context.Context, c *cli.Call) (none cli.Output, err error) {
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
			return cli.Text(listed(j.memory)), nil
		},
	}
}

// mostListed is how many facts, functions and questions are listed.
const mostListed = 20

// listed returns a line for each of the last facts, functions and questions.
func listed(m *memory.Memory) string {
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
			ui.Clean(q.Answer), q.Asked.Local().Format(time.DateOnly), ui.Printable(q.Notebook)))
	}
	for _, kind := range []string{"fact", "function", "question"} {
		more := max(0, len(all[kind])-mostListed)
		if more > 0 {
			fmt.Fprintf(&b, "%-9s %d more in %s\n", kind, more, ui.Printable(m.Dir))
		}
		for _, item := range all[kind][more:] {
			fmt.Fprintf(&b, "%-9s %s\n", kind, item)
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "Nothing yet in %s. This adds to it:  dsstar nb --learn --data PATH \"question\"\n",
			ui.Printable(m.Dir))
	}
	return b.String()
}
