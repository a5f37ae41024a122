package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/llm"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/cli"
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

func (a *app) traceCommand() cli.Command {
	return cli.Command{
		Use: "trace [flags] [TRACE...]", Short: "Show what the model calls of runs used, by role",
		Long: traceHelp, Example: traceExample, Args: a.lastRun,
		Flags: []cli.Flag{cli.Opt(new(bool), "json", "", "print one JSON object")},
		Run: func(ctx context.Context, c *cli.Call) (cli.Output, error) {
			return a.trace(ctx, c.Args)
		},
	}
}

// trace returns what the traces of some runs have used.
func (a *app) trace(ctx context.Context, runs []string) (none cli.Output, err error) {
	var all []llm.Exchange
	var traces []spending
	for _, run := range runs {
		path := disk.RealPath(run)
		if isFolder(path) {
			path = record.Folder(path).Trace()
		}
		exchanges, err := readTrace(path)
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return none, err
		}
		one := spentOn(exchanges)
		one.Trace = path
		one.Derivations, one.Claimed = derivationsBeside(path, a.key())
		all, traces = append(all, exchanges...), append(traces, one)
	}
	total := spentOn(all)
	total.Questions = nil // of different conversations
	for _, one := range traces {
		total.Derivations = total.Derivations.Plus(one.Derivations)
		total.Claimed = total.Claimed || one.Claimed
	}
	value := struct {
		Traces []spending `json:"traces"`
		spending
	}{traces, total}
	return cli.Output{Value: value, Text: func(b *strings.Builder) {
		for i, one := range traces {
			if i > 0 {
				b.WriteByte('\n')
			}
			one.print(b, ui.Printable(one.Trace))
		}
		if n := len(traces); n > 1 {
			b.WriteByte('\n')
			total.print(b, fmt.Sprintf("all %d traces", n))
		}
	}}, nil
}

// readTrace reads a trace. What is JSON, but has exchanges without a role, is none.
func readTrace(path string) ([]llm.Exchange, error) {
	f, err := disk.OpenPlain(path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage.New("there is no trace "+path, usage.Shell("ls dsstar-runs/*/trace.jsonl"),
			usage.Shell("dsstar runs"))
	}
	if err != nil {
		return nil, usage.New(fmt.Sprintf("open the trace: %v", err), usage.Shell("ls -l %s", path))
	}
	defer f.Close()
	exchanges, err := llm.ReadTrace(f)
	if i := slices.IndexFunc(exchanges,
		func(e llm.Exchange) bool { return e.Role == "" }); err == nil && i >= 0 {
		err = fmt.Errorf("its exchange %d has no role", i+1)
	}
	if err != nil {
		return nil, usage.New(fmt.Sprintf("the trace %s: %v", path, err),
			usage.Shell("head -c 300 %s", path))
	}
	return exchanges, nil
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

// A spending is what the exchanges of a trace, or of all, have used. Its fields in JSON are a contract:
// see the help.
type spending struct {
	Trace       string        `json:"trace,omitempty"`
	Roles       []spent       `json:"roles"` // in the order in which they first appear
	Questions   []spent       `json:"questions,omitempty"`
	Total       spent         `json:"total"`
	Derivations record.Counts `json:"derivations"`
	Claimed     bool          `json:"claimed"`
}

// A spent is a row of a spending: of a role, of a question, or the sum of all.
type spent struct {
	Role         string   `json:"role,omitempty"`
	Question     int      `json:"question,omitempty"` // from 1
	Calls        int      `json:"calls"`
	AskedAgain   int      `json:"asked_again"`
	Failed       int      `json:"failed"`
	InputTokens  int      `json:"input_tokens"`
	CachedTokens int      `json:"cached_tokens"`
	OutputTokens int      `json:"output_tokens"`
	CostUSD      *float64 `json:"cost_usd"` // nil: that of one exchange is not known
	Estimated    bool     `json:"estimated"`
	Seconds      float64  `json:"seconds"`
}

// spentOn returns what exchanges have used.
func spentOn(exchanges []llm.Exchange) spending {
	all := spending{Roles: []spent{}, Total: spent{CostUSD: new(float64)}}
	for _, e := range exchanges {
		all.Total.add(e)
		row(&all.Roles, spent{Role: e.Role}).add(e)
		row(&all.Questions, spent{Question: max(1, e.Question)}).add(e)
	}
	return all
}

// row returns the row of a role or question, which may be a new one.
func row(rows *[]spent, of spent) *spent {
	is := func(s spent) bool { return s.Role == of.Role && s.Question == of.Question }
	i := slices.IndexFunc(*rows, is)
	if i < 0 {
		of.CostUSD = new(float64)
		i, *rows = len(*rows), append(*rows, of)
	}
	return &(*rows)[i]
}

// add adds what an exchange has used.
func (s *spent) add(e llm.Exchange) {
	switch {
	case e.Error == "" && strings.HasSuffix(e.Subject, ", asked again"): // as the agent labels it
		s.AskedAgain++
		fallthrough
	case e.Error == "":
		s.Calls++
	case !e.Stopped:
		s.Failed++
	}
	s.InputTokens += e.Usage.InputTokens
	s.CachedTokens += e.Usage.CachedTokens
	s.OutputTokens += e.Usage.OutputTokens
	s.Estimated = s.Estimated || e.Usage.Estimated
	s.Seconds = math.Round((s.Seconds+e.Seconds)*1e6) / 1e6
	switch {
	case e.Cost == nil && e.Error == "":
		s.CostUSD = nil
	case e.Cost != nil && s.CostUSD != nil:
		s.CostUSD = new(math.Round((*s.CostUSD+*e.Cost)*1e9) / 1e9)
	}
}

// print writes the tables of a spending, and how often what was derived beside the cells changed
// anything.
func (s spending) print(b *strings.Builder, title string) {
	fmt.Fprintf(b, "%s\n", title)
	total := s.Total
	total.Role = "total"
	table(b, "ROLE", append(slices.Clip(s.Roles), total))
	if len(s.Questions) > 1 {
		table(b, "QUESTION", s.Questions)
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

// table writes a row for each of some sums, below their heading; of is that of their names.
func table(b *strings.Builder, of string, rows []spent) {
	const form = "%-10s %5v %5v %6v %8v %7v %7v %7v %7v\n"
	fmt.Fprintf(b, form, of, "CALLS", "AGAIN", "FAILED", "INPUT", "CACHED", "OUTPUT", "COST", "SECONDS")
	for _, s := range rows {
		about, cost := "", "-"
		if s.Estimated {
			about = "~"
		}
		if s.CostUSD != nil {
			cost = human.Dollars(*s.CostUSD)
		}
		name := cmp.Or(ui.Printable(s.Role), strconv.Itoa(s.Question))
		fmt.Fprintf(b, form, name, s.Calls, s.AskedAgain, s.Failed, fmt.Sprint(about, s.InputTokens),
			s.CachedTokens, fmt.Sprint(about, s.OutputTokens), cost, fmt.Sprintf("%.1f", s.Seconds))
	}
}
