package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
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

const traceHelp = `Show what the model calls of a run used, in a table by role. TRACE is a run folder
with a trace.jsonl, its notebook, or such a file.

  calls      replies; again: calls made because a reply could not be read
  failed     calls without a reply, except those under way when a run ended
  input      tokens of the requests, and those that the endpoint had cached; ~ is an
             estimate
  output     tokens of the replies, reasoning included
  cost       in US dollars, about, by the prices at the time; - if one was unknown
  seconds    from request to reply; concurrent calls add up

If the run's notebook is beside the trace, lines follow: how many readings of the
question were named and change the answer; and how many second derivations were asked
for and agreed, and how many derivations an arbiter had corrected.`

const traceExample = `  dsstar trace dsstar-runs/2026-11-21-which-store-sold-most
  dsstar trace --json RUN | jq .total.input_tokens`

func (a *app) traceCommand() cli.Command {
	return cli.Command{
		Use: "trace [flags] [TRACE]", Short: "Show what the model calls of a run used, by role",
		Long: traceHelp, Example: traceExample, Args: a.oneRun("trace"),
		Flags: []cli.Flag{cli.Opt(new(bool), "json", "", "print one JSON object")},
		Run: func(_ context.Context, c *cli.Call) (none cli.Output, err error) {
			path := disk.RealPath(c.Args[0])
			if isFolder(path) {
				path = record.Folder(path).Trace()
			} else if filepath.Ext(path) == ".ipynb" {
				path = record.Folder(filepath.Dir(path)).Trace()
			}
			exchanges, err := readTrace(path)
			if err != nil {
				return none, err
			}
			s := spentOn(exchanges)
			s.Derivations, s.Claimed = derivationsBeside(path, a.key())
			return cli.Output{Value: s, Text: s.print}, nil
		},
	}
}

// readTrace reads a trace. What is JSON, but has exchanges without a role, is none.
func readTrace(path string) ([]llm.Exchange, error) {
	data, err := disk.ReadPlain(path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage.New("there is no trace "+path, usage.Shell("dsstar runs"))
	}
	if err != nil {
		return nil, usage.New(fmt.Sprintf("open the trace: %v", err), usage.Shell("ls -l %s", path))
	}
	exchanges, err := disk.ReadLines[llm.Exchange](data)
	if i := slices.IndexFunc(exchanges,
		func(e llm.Exchange) bool { return e.Role == "" }); err == nil && i >= 0 {
		err = fmt.Errorf("its exchange %d has no role", i+1)
	}
	if err != nil {
		return nil, usage.New(fmt.Sprintf("the trace %s: %v", path, err), usage.Shell("head -c 300 %s", path))
	}
	return exchanges, nil
}

// derivationsBeside returns the derivations of the run whose trace this is; nil if its notebook is
// not there, or cannot be read. They are claimed if another dsstar made the run.
func derivationsBeside(trace string, key record.Key) (c record.Counts, claimed bool) {
	nb, _, err := openNotebook(record.Folder(filepath.Dir(trace)).Notebook())
	if err != nil {
		return nil, false
	}
	t, err := page.Read(nb)
	if err != nil {
		return nil, false
	}
	return t.Derivations(), !key.Holds(t.Seal)
}

// A spending is what the exchanges of a trace have used. Its fields are a contract: docs/results.md.
type spending struct {
	Roles       []spent       `json:"roles"` // in the order in which they first appear
	Total       spent         `json:"total"`
	Derivations record.Counts `json:"derivations"`
	Claimed     bool          `json:"claimed"`
}

// A spent is a row of a spending: of a role, or the sum of all.
type spent struct {
	Role       string `json:"role,omitempty"`
	Calls      int    `json:"calls"`
	AskedAgain int    `json:"asked_again"`
	Failed     int    `json:"failed"`
	llm.Usage
	CostUSD *float64 `json:"cost_usd"` // nil: that of one exchange is not known
	Seconds float64  `json:"seconds"`
}

// spentOn returns what exchanges have used.
func spentOn(exchanges []llm.Exchange) spending {
	all := spending{Roles: []spent{}, Total: spent{CostUSD: new(float64)}}
	for _, e := range exchanges {
		all.Total.add(e)
		i := slices.IndexFunc(all.Roles, func(s spent) bool { return s.Role == e.Role })
		if i < 0 {
			i, all.Roles = len(all.Roles), append(all.Roles, spent{Role: e.Role, CostUSD: new(float64)})
		}
		all.Roles[i].add(e)
	}
	return all
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
	s.Usage.Add(e.Usage)
	s.Seconds = math.Round((s.Seconds+e.Seconds)*1e6) / 1e6
	switch {
	case e.Cost == nil && e.Error == "":
		s.CostUSD = nil
	case e.Cost != nil && s.CostUSD != nil:
		s.CostUSD = new(math.Round((*s.CostUSD+*e.Cost)*1e9) / 1e9)
	}
}

// print writes the table, and how often what was derived beside the cells changed anything.
func (s spending) print(b *strings.Builder) {
	const form = "%-10s %5v %5v %6v %8v %7v %7v %7v %7v\n"
	fmt.Fprintf(b, form, "ROLE", "CALLS", "AGAIN", "FAILED", "INPUT", "CACHED", "OUTPUT", "COST", "SECONDS")
	total := s.Total
	total.Role = "total"
	for _, s := range append(slices.Clip(s.Roles), total) {
		about, cost := "", "-"
		if s.Estimated {
			about = "~"
		}
		if s.CostUSD != nil {
			cost = human.Dollars(*s.CostUSD)
		}
		fmt.Fprintf(b, form, ui.Printable(s.Role), s.Calls, s.AskedAgain, s.Failed, fmt.Sprint(about, s.InputTokens),
			s.CachedTokens, fmt.Sprint(about, s.OutputTokens), cost, fmt.Sprintf("%.1f", s.Seconds))
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
