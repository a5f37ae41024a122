package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

const runsHelp = `List the runs of this folder, the newest first: those in dsstar-runs, or where the
setting out says. With words, only runs whose questions, answer or name have them all.

The newest run that your dsstar made is the one that resume, trace, export and rerun
take if none is named; others may be named without their folder.`

func (a *app) runsCommand() cli.Command {
	return cli.Command{
		Use: "runs [flags] [WORD...]", Short: "List the runs of this folder, or search them",
		Long: runsHelp, Example: "  dsstar runs\n  dsstar runs store 2024",
		Args: cli.Any, Flags: []cli.Flag{cli.Opt(new(bool), "json", "", "print a list of objects")},
		Run: func(ctx context.Context, c *cli.Call) (cli.Output, error) {
			return a.listRuns(ctx, c.Args)
		},
	}
}

// listRuns lists the runs that have all words.
func (a *app) listRuns(ctx context.Context, words []string) (none cli.Output, err error) {
	base, err := a.runsFolder()
	if err != nil {
		return none, err
	}
	all := runsIn(base, a.key())
	empty := "There is no run yet in " + ui.Printable(base) + `. This makes one:  dsstar nb --data PATH "question"`
	if len(all) > 0 {
		empty = "No run in " + ui.Printable(base) + " has " + ui.Clean(strings.Join(words, " and ")) + "."
	}
	listed := slices.DeleteFunc(slices.Clone(all), func(r listedRun) bool { return !r.has(words) })
	for i := range listed {
		r := &listed[i]
		if !r.Claimed && r.GoesOn == "" {
			r.GoesOn = departed(ctx, record.Folder(r.Run), r.t)
		}
		if r.GoesOn != "" && wentOn(all, r.Notebook, r.t) != "" {
			r.GoesOn = ""
		}
	}
	return cli.Output{Value: append([]listedRun{}, listed...),
		Text: func(b *strings.Builder) { printRuns(ctx, b, listed, empty, time.Now()) }}, nil
}

func (a *app) runsFolder() (string, error) {
	if a.loaded == nil {
		if _, err := a.settings(new(pflag.FlagSet)); err != nil {
			return "", err
		}
	}
	out := a.loaded.Out
	return out, checkLinks(a.loaded, "out", out, out)
}

// A listedRun is what runs --json prints of one run. Its fields are a contract: docs/results.md.
type listedRun struct {
	Run       string   `json:"run"`
	Notebook  string   `json:"notebook"`
	Question  string   `json:"question"` // the last one
	Questions int      `json:"questions"`
	Answer    string   `json:"answer"` // to that
	Standing  string   `json:"standing"`
	Label     string   `json:"label"`   // the standing, and that the data hold no answer
	Claimed   bool     `json:"claimed"` // by another dsstar
	Cells     string   `json:"cells"`
	Cost      *float64 `json:"cost_usd"`

	Pickles map[string]string `json:"pickles"`
	Started time.Time         `json:"started"`
	GoesOn  string            `json:"goes_on"` // from the answer; "": it does not

	t *record.Trajectory
}

func (r listedRun) has(words []string) bool {
	text := r.Run + "\n" + r.Answer
	for _, q := range r.t.Questions {
		text += "\n" + q.Text
	}
	return !slices.ContainsFunc(words, func(word string) bool {
		return !strings.Contains(strings.ToLower(text), strings.ToLower(word))
	})
}

// runsIn lists the runs in a folder, the newest first. What cannot be read as a run is none.
func runsIn(base string, key record.Key) (all []listedRun) {
	entries, _ := os.ReadDir(base) // a folder that is not there has no runs
	for _, entry := range entries {
		folder := record.Folder(filepath.Join(base, entry.Name()))
		path := newestIn(string(folder))
		if path == "" {
			continue
		}
		t, edited, err := outlined(path)
		if err != nil {
			continue
		}
		r := listedRun{Run: string(folder), Notebook: path, Question: t.Task.Question, Answer: t.Answer(),
			Questions: len(t.Questions), Standing: t.Standing(), Label: t.Label(), Claimed: !key.Holds(t.Seal),
			Cost: t.Cost, Started: t.Started, Pickles: map[string]string{}, t: t}
		if edited {
			r.GoesOn = isEdited
		}
		if r.Claimed {
			r.Standing, r.Label = r.Standing+record.Claimed, r.Label+record.Claimed
		}
		if !r.Claimed && !t.Adopted && !edited && len(t.Edits()) == 0 {
			r.Cells = digestOf([]byte(strings.Join(t.Cells(), "\x00")))
		}
		for _, v := range t.Loaded() {
			if v.File != "" {
				r.Pickles[v.Name] = v.Sum
			}
		}
		if !t.Ended || t.Failure != "" {
			r.Standing = "unfinished"
			if isRunning(folder) {
				r.Standing = "running"
			}
			r.Label = r.Standing
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b listedRun) int { return b.Started.Compare(a.Started) })
	return all
}

const maxListed = 16 << 20 // bytes of a notebook without outputs

// outlined reads the trajectory of a run's notebook without the outputs of its cells. If a person
// has edited the notebook of an answer, it is that of the answer.
func outlined(path string) (t *record.Trajectory, edited bool, err error) {
	f, err := disk.OpenPlain(path, disk.MaxDocument)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	nb, err := notebook.ReadOutline(f, maxListed)
	if err != nil {
		return nil, false, err
	}
	t, err = page.Read(nb)
	if err == nil && t.Stands() {
		return t, false, nil
	}
	was, recordedErr := page.Recorded(nb)
	if recordedErr == nil && was.Stands() {
		return was, true, nil
	}
	return t, false, err
}

// isRunning reports whether a process is at work in a run folder.
func isRunning(folder record.Folder) bool {
	if _, err := os.Stat(folder.Trace()); err != nil {
		return false // locking would create it
	}
	release, err := folder.Lock()
	if err == nil {
		release()
	}
	return errors.Is(err, disk.ErrLocked)
}

// newestRun returns the folder of the newest run that this user's dsstar made.
func (a *app) newestRun() (string, error) {
	base, err := a.runsFolder()
	if err != nil {
		return "", err
	}
	all := runsIn(base, a.key())
	hint := usage.Shell("dsstar runs")
	if len(all) == 0 {
		hint = usage.Again().Args("RUN").Note("a run folder elsewhere; dsstar nb makes one")
	}
	i := slices.IndexFunc(all, func(r listedRun) bool { return !r.Claimed })
	if i < 0 {
		return "", usage.New("no run is given, and there is none in "+base+" that your dsstar made", hint)
	}
	fmt.Fprintf(a.stderr, "last     %s: %s\n", all[i].Run, ui.Fit(ui.Clean(all[i].Question), 60))
	return all[i].Run, nil
}

// oneRun is the argument of a command that takes one run, or what else it says; the newest one if none is
// named.
func (a *app) oneRun(what string) cli.Args {
	return func(args []string) ([]string, error) {
		var run string
		var err error
		switch len(args) {
		case 0:
			run, err = a.newestRun()
		case 1:
			run, err = a.namedRun(args[0])
		default:
			err = usage.New(fmt.Sprintf("expected one %s, got %d", what, len(args)), usage.Shell("dsstar runs"))
		}
		return []string{run}, err
	}
}

// printRuns prints a table, or the sentence none in place of an empty one.
func printRuns(ctx context.Context, b *strings.Builder, all []listedRun, none string, now time.Time) {
	if len(all) == 0 {
		fmt.Fprintln(b, none)
		return
	}
	rows := [][]string{{"STARTED", "RESULT", "COST", "ANSWER", "QUESTION", "RUN"}}
	for _, r := range all {
		cost := "-"
		if r.Cost != nil {
			cost = human.Dollars(*r.Cost)
		}
		question := ui.Fit(ui.Clean(r.Question), 48)
		if r.Questions > 1 {
			question += fmt.Sprintf(" (the last of %d)", r.Questions)
		}
		rows = append(rows, []string{site.Ago(now.Sub(r.Started)), r.Label, cost,
			dash(ui.Fit(ui.Clean(r.Answer), 24)), question, ui.Printable(r.Run)})
	}
	cli.Table(b, rows)
	words := map[string]string{isEdited: "its cells were changed", isOnOthers: "its data files have changed",
		hasOthers: "a file of its answer was changed or removed"}
	for _, r := range all {
		if r.GoesOn == isDefined {
			words[isDefined] = fmt.Sprintf(definitionChanged, ui.Printable(agent.ChangedDefinition(ctx, r.t)))
		}
		if r.GoesOn != "" {
			fmt.Fprintf(b, "goes on  %s: dsstar resume %s\n", words[r.GoesOn], human.Shell(ui.Printable(r.Run)))
		}
	}
}
