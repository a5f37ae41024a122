package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dsstar/agent/memory"
	"dsstar/cmd/dsstar/internal/rerun"
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
adds to them with --learn. A question that was verified on the same data is
answered by its notebook; --fresh answers it anew.`

func (a *app) memoryCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "memory [--data PATH] [WORD...]",
		Short: "Show, check and change what earlier questions taught about data",
		Long:  memoryHelp,
		Example: "  dsstar memory --data ./data\n  dsstar memory --data ./data fees 2023\n  dsstar memory check --data ./data\n" +
			"  dsstar memory forget --data ./data total_fees",
		Args: cobra.ArbitraryArgs,
	}
	cmd.PersistentFlags().StringVarP(&data, "data", "d", ".", "the data that the memory is about")
	cmd.PersistentFlags().String("memory", "", "the folder of the memory (default .dsstar beside the data)")
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		m, j, err := a.memoryOf(cmd, data)
		if err != nil {
			return err
		}
		defer j.progress.Stop()
		return listMemory(a.stdout, m, words)
	}
	cmd.AddCommand(
		&cobra.Command{Use: "forget WHAT...", Short: "Remove functions by name, facts and questions by their text",
			RunE: func(cmd *cobra.Command, args []string) error {
				m, j, err := a.memoryOf(cmd, data)
				if err != nil {
					return err
				}
				defer j.progress.Stop()
				return a.forget(cmd.Context(), j, m, args)
			}},
		a.checkMemoryCommand(&data),
	)
	return cmd
}

// memoryOf reads the memory of some data.
func (a *app) memoryOf(cmd *cobra.Command, data string) (*memory.Memory, job, error) {
	s, err := a.settings(cmd.Flags())
	if err != nil {
		return nil, job{}, err
	}
	j := job{settings: s, progress: a.newProgress(false)}
	if j.sources, err = a.sources(cmd.Context(), &j, []string{data}); err == nil {
		err = a.remember(cmd.Context(), &j)
	}
	if err == nil && j.memory == nil {
		err = usage.New("memory is off", usage.Again("--memory", "auto"))
	}
	return j.memory, j, err
}

// mostListed is how many facts, functions and questions are listed if no word is given.
const mostListed = 20

func listMemory(out io.Writer, m *memory.Memory, words []string) error {
	var facts, functions, questions []string
	for _, f := range m.Facts {
		facts = append(facts, ui.Printable(f.String()))
	}
	for _, t := range m.Tools {
		cases := strings.Count("\n"+t.Test, "\nassert ")
		functions = append(functions, fmt.Sprintf("%s (%s)", ui.Printed(t.Head()), human.Plural(cases, "case")))
	}
	for _, q := range m.Questions {
		questions = append(questions, fmt.Sprintf("%s: %s (%s, %s)", ui.Printed(q.Question),
			ui.Printed(q.Answer), day(q.Asked), ui.Printable(q.Notebook)))
	}
	var b strings.Builder
	list(&b, "fact", facts, words)
	list(&b, "function", functions, words)
	list(&b, "question", questions, words)
	switch {
	case b.Len() > 0:
	case len(words) > 0:
		fmt.Fprintf(&b, "Nothing in %s has %s.\n", ui.Printable(m.Dir), ui.Printable(strings.Join(words, " and ")))
	default:
		fmt.Fprintf(&b, "Nothing yet in %s. This adds to it:  dsstar nb --learn --data PATH \"question\"\n",
			ui.Printable(m.Dir))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// list writes a line for each item that has all words, or for the last ones if there are no words.
func list(b *strings.Builder, kind string, items, words []string) {
	shown := slices.DeleteFunc(items, func(item string) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			return !strings.Contains(strings.ToLower(item), strings.ToLower(word))
		})
	})
	if more := len(shown) - mostListed; more > 0 && len(words) == 0 {
		shown = shown[more:]
		fmt.Fprintf(b, "%-9s %d more: dsstar memory WORD lists those with a word\n", kind, more)
	}
	for _, item := range shown {
		fmt.Fprintf(b, "%-9s %s\n", kind, item)
	}
}

func (a *app) forget(ctx context.Context, j job, m *memory.Memory, args []string) error {
	if len(args) == 0 {
		return usage.New("nothing is named", usage.Shell("dsstar memory"))
	}
	for _, arg := range args {
		if !m.Forget(arg) {
			return usage.New("the memory has no "+arg+": a function is named by its name, a fact or question by its text",
				usage.Shell("dsstar memory"))
		}
	}
	return a.keepMemory(ctx, j, m)
}

func (a *app) checkMemoryCommand(data *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Test all functions and run the notebooks of all questions again",
		Long: "Test all functions on the data as they are, by their cases. Then run the notebooks\n" +
			"of all questions again. Functions that fell stay, and no run uses them; questions\n" +
			"whose answers no longer hold are forgotten, after showing it. Exit code 3 if there\n" +
			"are any.",
		Args: noArgs,
	}
	kernelFlags(cmd.Flags())
	sandboxFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		m, j, err := a.memoryOf(cmd, *data)
		if err != nil {
			return err
		}
		defer j.progress.Stop()
		fell, err := a.checkMemory(cmd.Context(), j, m)
		if err != nil {
			return err
		}
		if err := a.keepMemory(cmd.Context(), j, m); err != nil {
			return err
		}
		if fell > 0 {
			return silent{exitNotVerified}
		}
		return nil
	}
	return cmd
}

// checkMemory tests functions and questions, takes the questions that fell out, and returns how many
// fell.
func (a *app) checkMemory(ctx context.Context, j job, m *memory.Memory) (fell int, err error) {
	c, remove, err := a.thoroughChecker(ctx, j)
	if err != nil {
		return 0, err
	}
	defer remove()
	for _, tool := range m.Tools {
		j.progress.Wait("testing " + tool.Name)
		reason, err := "it has no cases", error(nil)
		if tool.Test != "" {
			reason, err = c.toolFault(ctx, m, tool)
		}
		if err != nil {
			return fell, err
		}
		if reason == "" {
			j.progress.Say("function %s: its cases hold", tool.Name)
			continue
		}
		fell++
		j.progress.Warn("function %s: %s", tool.Name, reason)
	}
	for _, q := range slices.Clone(m.Questions) {
		j.progress.Wait("running " + q.Notebook)
		reason, err := a.notebookFault(ctx, j, m, q)
		if err != nil {
			return fell, err
		}
		if reason == "" {
			j.progress.Say("question %s: still %s", ui.Fit(q.Question, 60), ui.Fit(q.Answer, 40))
			continue
		}
		fell++
		j.progress.Warn("question %s: %s", ui.Fit(q.Question, 60), reason)
		m.Forget(q.Question)
	}
	return fell, nil
}

// notebookFault runs the notebook of a question again, and returns why its answer no longer holds,
// or "".
func (a *app) notebookFault(ctx context.Context, j job, m *memory.Memory, q memory.Question) (string, error) {
	path := m.NotebookOf(q)
	nb, err := openNotebook(path)
	if err != nil {
		return "its notebook cannot be read", nil
	}
	r := rerun.Runner{Host: a.host, Stdout: io.Discard, Stderr: io.Discard, File: io.Discard,
		Progress: a.newProgress, Key: a.key()}
	err = r.Run(ctx, path, nb, rerun.Flags{Check: true, Quiet: true, Tolerance: rerun.Tolerance}, j.settings)
	if errors.Is(err, rerun.ErrDiffers) {
		return "its notebook prints something else", nil
	}
	return "", err
}
