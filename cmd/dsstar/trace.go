package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dsstar/agent/llm"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

const traceHelp = `Show what the model calls of runs used, in a table by role for each trace and one
for all. A trace is a file, or a run folder with a trace.jsonl.

  calls      replies
  again      calls made because a reply could not be read
  failed     calls without a reply, except those under way when a run ended
  input      tokens of the requests; ~ is an estimate
  cached     input tokens that the endpoint reports as cached
  output     tokens of the replies, reasoning included
  cost       in US dollars, about, by the prices at the time; - if one was unknown
  seconds    from request to reply; concurrent calls add up

If several questions were asked in the run, a table by question follows. If the run's
notebook is beside the trace, lines follow: how many readings of the question were named and
change the answer; and how many second derivations were asked for and agreed, and how many
derivations an arbiter had corrected.

--json prints one object instead:
  traces  list of trace (path), roles, questions, total and derivations
  roles   of all traces: list of role and the fields of total
  questions  of one trace: list of question (its number) and the fields of total
  total   calls, asked_again, failed, input_tokens, cached_tokens,
          output_tokens, cost_usd (null: not known), estimated (some tokens are), seconds
  derivations  of all traces: readings, changed; second_derivations, agreed, corrected;
          null: no notebook, or another method
  claimed  only a notebook says so, because another dsstar made it`

const traceExample = `  dsstar trace dsstar-runs/2026-11-21-which-store-sold-most
  dsstar trace dsstar-runs/*/trace.jsonl
  dsstar trace --json RUN | jq .total.input_tokens`

func (a *app) traceCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "trace [flags] [TRACE...]",
		Short:   "Show what the model calls of runs used, by role",
		Long:    traceHelp,
		Example: traceExample,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args, err := a.lastRun(args)
		if err != nil {
			return err
		}
		all := spending{traceSpent: newTraceSpent("")}
		for _, arg := range args {
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			one, err := traceSpending(arg, a.key())
			if err != nil {
				return err
			}
			all.join(one)
		}
		if asJSON {
			return ui.JSON(a.stdout, all)
		}
		return all.print(a.stdout)
	}
	return cmd
}

var traceHints = []usage.Hint{
	usage.Shell("dsstar trace RUN/trace.jsonl"),
	usage.Shell("dsstar runs"),
}

// traceSpending returns the spending of the trace that an argument names.
func traceSpending(arg string, key record.Key) (traceSpent, error) {
	path := disk.RealPath(arg)
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		path = record.Folder(arg).Trace()
	}
	f, err := disk.OpenPlain(path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return traceSpent{}, usage.New("there is no trace "+path, traceHints...)
	}
	if err != nil {
		return traceSpent{}, usage.New(fmt.Sprintf("open the trace: %v", err),
			usage.Shell("ls -l %s", path))
	}
	defer f.Close()
	exchanges, err := llm.ReadTrace(f)
	if i := slices.IndexFunc(exchanges,
		func(e llm.Exchange) bool { return e.Role == "" }); err == nil && i >= 0 {
		err = fmt.Errorf("its exchange %d has no role", i+1) // it is JSON, but not a trace
	}
	if err != nil {
		return traceSpent{}, usage.New(fmt.Sprintf("the trace %s: %v", path, err),
			usage.Shell("head -c 300 %s", path))
	}
	sum := newTraceSpent(path)
	for _, e := range exchanges {
		sum.add(e.Role, spentOn(e))
		sum.ask(max(1, e.Question), spentOn(e))
	}
	sum.Derivations, sum.Claimed = derivationsBeside(path, key)
	return sum, nil
}

// derivationsBeside returns the derivations of the run whose trace this is; nil if its notebook is
// not there, or cannot be read. They are claimed if another dsstar made the run.
func derivationsBeside(trace string, key record.Key) (c record.Counts, claimed bool) {
	nb, err := openNotebook(record.Folder(filepath.Dir(trace)).Notebook())
	if err != nil {
		return nil, false
	}
	t, err := page.Read(nb)
	if err != nil {
		return nil, false
	}
	return t.Derivations(), !key.Holds(t.Seal)
}

// A spending is the object that trace --json prints. Its fields are a contract:
// see the help.
type spending struct {
	Traces []traceSpent `json:"traces"`
	traceSpent
}

// A traceSpent is the spending of a trace, or of all.
type traceSpent struct {
	Trace string      `json:"trace,omitempty"`
	Roles []roleSpent `json:"roles"` // in the order in which they first appear
	Total spent       `json:"total"`

	Questions []questionSpent `json:"questions,omitempty"` // the same for those of one trace

	Derivations record.Counts `json:"derivations"`
	Claimed     bool          `json:"claimed"`
}

type roleSpent struct {
	Role string `json:"role"`
	spent
}

type questionSpent struct {
	Question int `json:"question"` // from 1
	spent
}

type spent struct {
	Calls        int      `json:"calls"`
	AskedAgain   int      `json:"asked_again"`
	Failed       int      `json:"failed"`
	InputTokens  int      `json:"input_tokens"`
	CachedTokens int      `json:"cached_tokens"`
	OutputTokens int      `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"`
	Estimated    bool     `json:"estimated"`
	Seconds      float64  `json:"seconds"`
}

func newSpent() spent { return spent{CostUSD: new(float64)} }

// add adds another spending. A value that is unknown in one is unknown in the sum.
func (s *spent) add(o spent) {
	s.Calls += o.Calls
	s.AskedAgain += o.AskedAgain
	s.Failed += o.Failed
	s.InputTokens += o.InputTokens
	s.CachedTokens += o.CachedTokens
	s.OutputTokens += o.OutputTokens
	s.Estimated = s.Estimated || o.Estimated
	s.Seconds = math.Round((s.Seconds+o.Seconds)*1e6) / 1e6
	if s.CostUSD != nil && o.CostUSD != nil {
		s.CostUSD = new(math.Round((*s.CostUSD+*o.CostUSD)*1e9) / 1e9)
	} else {
		s.CostUSD = nil
	}
}

func newTraceSpent(path string) traceSpent {
	return traceSpent{Trace: path, Roles: []roleSpent{}, Total: newSpent()}
}

// add adds what a role has spent to its sum and to that of all.
func (s *traceSpent) add(role string, o spent) {
	i := slices.IndexFunc(s.Roles, func(r roleSpent) bool { return r.Role == role })
	if i < 0 {
		i, s.Roles = len(s.Roles), append(s.Roles, roleSpent{role, newSpent()})
	}
	s.Roles[i].add(o)
	s.Total.add(o)
}

// ask adds what was spent on a question to its sum.
func (s *traceSpent) ask(question int, o spent) {
	i := slices.IndexFunc(s.Questions, func(q questionSpent) bool { return q.Question == question })
	if i < 0 {
		i, s.Questions = len(s.Questions), append(s.Questions, questionSpent{question, newSpent()})
	}
	s.Questions[i].add(o)
}

// spentOn returns the usage of one exchange.
func spentOn(e llm.Exchange) spent {
	s := spent{
		InputTokens: e.Usage.InputTokens, CachedTokens: e.Usage.CachedTokens,
		OutputTokens: e.Usage.OutputTokens, CostUSD: e.Cost,
		Estimated: e.Usage.Estimated, Seconds: e.Seconds,
	}
	switch {
	case e.Error == "":
		s.Calls = 1
	case !e.Stopped:
		s.Failed = 1
	}
	if s.CostUSD == nil && e.Error != "" {
		s.CostUSD = new(float64)
	}
	if strings.HasSuffix(e.Subject, ", asked again") { // as the agent labels it
		s.AskedAgain = s.Calls
	}
	return s
}

// join adds the spending of a trace.
func (all *spending) join(one traceSpent) {
	all.Traces = append(all.Traces, one)
	for _, r := range one.Roles {
		all.add(r.Role, r.spent)
	}
	if one.Derivations != nil {
		if all.Derivations == nil {
			all.Derivations = record.Counts{}
		}
		for name, n := range one.Derivations {
			all.Derivations[name] += n
		}
		all.Claimed = all.Claimed || one.Claimed
	}
}

// print prints a table for each trace and, if there are several, one for all.
func (all *spending) print(out io.Writer) error {
	var b strings.Builder
	for _, one := range all.Traces {
		one.print(&b, ui.Printable(one.Trace))
	}
	if n := len(all.Traces); n > 1 {
		all.traceSpent.print(&b, fmt.Sprintf("all %d traces", n))
	}
	if _, err := io.WriteString(out, strings.TrimPrefix(b.String(), "\n")); err != nil {
		return fmt.Errorf("write the tables: %w", err)
	}
	return nil
}

// table prints a row for each of several sums.
func table(b *strings.Builder, of string, all []roleSpent) {
	const row = "%-10s %5s %5s %6s %8s %7s %7s %7s %7s\n"
	fmt.Fprintf(b, row, of, "CALLS", "AGAIN", "FAILED", "INPUT", "CACHED", "OUTPUT", "COST", "SECONDS")
	for _, r := range all {
		about, cost := "", "-"
		if r.Estimated {
			about = "~"
		}
		if r.CostUSD != nil {
			cost = human.Dollars(*r.CostUSD)
		}
		fmt.Fprintf(b, row, ui.Printable(r.Role), strconv.Itoa(r.Calls), strconv.Itoa(r.AskedAgain),
			strconv.Itoa(r.Failed),
			about+strconv.Itoa(r.InputTokens), strconv.Itoa(r.CachedTokens),
			about+strconv.Itoa(r.OutputTokens), cost, fmt.Sprintf("%.1f", r.Seconds))
	}
}

func (s traceSpent) print(b *strings.Builder, title string) {
	fmt.Fprintf(b, "\n%s\n", title)
	table(b, "ROLE", append(slices.Clip(s.Roles), roleSpent{"total", s.Total}))
	if len(s.Questions) > 1 {
		var all []roleSpent
		for _, q := range s.Questions {
			all = append(all, roleSpent{strconv.Itoa(q.Question), q.spent})
		}
		table(b, "QUESTION", all)
	}
	says := ""
	if s.Claimed {
		says = record.Claimed
	}
	if n := s.Derivations; n != nil {
		fmt.Fprintf(b, "readings %d, changed %d%s\n", n["readings"], n["changed"], says)
		fmt.Fprintf(b, "second derivations %d, agreed %d, corrected %d%s\n",
			n["second_derivations"], n["agreed"], n["corrected"], says)
	}
}
