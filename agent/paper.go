package agent

import (
	"context"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/lists"
	"dsstar/prompts"
)

// published is DS-STAR as published: Algorithm 1 from line 8 on, with the requests of Appendix H, and
// the finalizer of section 4. Every round writes the whole script again, and every script starts from
// scratch.
func (r *run) published(ctx context.Context) error {
	if err := r.begin(ctx, r.examine); err != nil {
		return err
	}
	if err := r.rounds(ctx, r.publishedRound); err != nil {
		return err
	}
	step := r.inForm(lastStep)
	finalizer := r.words(showFiles|showCode|showOutput,
		prompts.PaperFinalizer{Guidelines: r.t.Task.Guidelines != ""})
	problem, err := r.carryOutLast(ctx, task{text: step, faults: mustPrint,
		show: r.words(showFiles), ask: ask.Request{Role: "finalizer", Words: finalizer}})
	if err != nil {
		return err
	}
	return r.finalized(problem)
}

// publishedRound is one turn of the loop (lines 13 to 28), which begins at the planner so that the
// first round is like every other. The base of a script is the last one, also after the plan was cut.
func (r *run) publishedRound(ctx context.Context) error {
	planner := prompts.PaperPlanner{First: len(r.t.Rounds) == 0, Done: len(r.t.Plan()) > 0}
	step, err := ask.Role(ctx, r.asker, ask.Request{Role: "planner", Subject: r.nextSubject(),
		Words: r.words(showFiles|showPlan|showOutput, planner)}, ask.Step)
	if err != nil {
		return err
	}
	if err := r.beginRound(step); err != nil {
		return err
	}
	round := r.t.Last()
	coder := r.words(showFiles|showPlan|showCode,
		prompts.PaperCoder{Number: round.Place, Step: round.Step, First: !r.t.LastScript().IsCell()})
	if done, err := r.implement(ctx, "", coder, r.words(showFiles)); err != nil || !done {
		return err
	}
	return r.examine(ctx)
}

// examine lets the judge decide whether the plan suffices (line 13), and the router how one that
// does not continues (lines 17 to 23). A verdict that cannot be read counts as No. Without a router
// (section 4.2, variant 2), or if its reply cannot be read, a step is added.
func (r *run) examine(ctx context.Context) error {
	shows := showPlan | showCode | showOutput // no descriptions
	if r.t.Method.PlanOnly {
		shows = showPlan
	}
	verifier := prompts.PaperVerifier{Question: r.t.Task.Question, PlanOnly: r.t.Method.PlanOnly}
	verdict, err := ask.Role(ctx, r.asker, ask.Request{Role: "verifier", Subject: r.subject(),
		Words: r.words(shows, verifier)}, ask.YesNo)
	unread, err := r.unread(err)
	if unread != "" {
		verdict = record.Verdict{Reason: noVerdict}
	}
	if err != nil {
		return err
	}
	verdict.Unfinished = false // the paper has no such verdict
	r.t.Last().Verdict = &verdict
	err = r.observe(Event{Kind: Judged, Text: verdict.Reason})
	if err != nil || r.t.Sufficient() || r.roundsLeft() <= 0 {
		return err
	}
	var route record.Route
	if !r.t.Method.NoRouter {
		router := r.words(showFiles|showPlan|showOutput, prompts.PaperRouter{Steps: r.t.Steps()})
		route, err = ask.Role(ctx, r.asker, ask.Request{Role: "router", Subject: r.subject(),
			Words: router}, ask.Route(r.t.Steps()))
	}
	if unread, err = r.unread(err); unread != "" {
		route = record.Route{}
	}
	if err != nil {
		return err
	}
	return r.route(route.Back, route.Reason)
}

// What a request shows (Appendix H).
const (
	showFiles = 1 << iota // the task and its files
	showPlan
	showCode   // of the last script
	showOutput // of it
)

// words words a request that shows some of these (Listings 47 to 56).
func (r *run) words(shows int, next ...prompts.Part) func() []prompts.Part {
	return func() (parts []prompts.Part) {
		if shows&showFiles != 0 {
			parts = []prompts.Part{r.question(), r.context()}
		}
		var script prompts.PaperScript
		if shows&showPlan != 0 {
			script.Plan = lists.Map(r.t.Accepted(), func(s *record.Round) string { return s.Step })
		}
		last := r.t.LastScript()
		if shows&showCode != 0 {
			script.Code = last.Code
		}
		if script.Ran = last.IsCell() && shows&showOutput != 0; script.Ran {
			script.Output = brief.Clip(last.Execution.PlainText(), r.asker.Sizes().Result)
		}
		if len(script.Plan) > 0 || script.Code != "" || script.Ran {
			parts = append(parts, script)
		}
		return append(parts, next...)
	}
}

// A Baseline is a method of others, which benchmarks compare with ours. It asks, runs cells, is
// recorded and is resumed as ours are, but nobody proves its answer.
type Baseline struct {
	System prompts.Part // begins every request
	// Answer returns the answer, and whether the method ended by its own rule. It is called from the
	// beginning, also in a run that is resumed.
	Answer func(context.Context, *Desk) (answer string, finished bool, err error)
}

// A Desk is where a [Baseline] works. Each of its turns is a round of the record.
type Desk struct{ run *run }

// Asker returns what asks the model.
func (d *Desk) Asker() *ask.Asker { return d.run.asker }

// Run runs a cell in a turn of its own, on those that ran or raised before. One that was stopped, or
// ended the session, is undone, and with it what those that raised had done.
func (d *Desk) Run(ctx context.Context, said, code string) (notebook.Execution, error) {
	if err := d.run.beginRound(said); err != nil {
		return notebook.Execution{}, err
	}
	x, err := d.run.work.Run(ctx, d.run.chain(), cell{code: code})
	if err != nil {
		return x, err
	}
	round, stays := d.run.t.Last(), d.run.leaves(x)
	round.Attempts = []record.Attempt{{Code: code, Execution: x,
		Kept: stays && x.Status != notebook.OK}}
	for _, r := range d.run.t.Rounds {
		for i := range r.Attempts {
			r.Attempts[i].Kept = r.Attempts[i].Kept && stays
		}
	}
	return x, d.run.observe(Event{Kind: Ran, Try: 1, Execution: &x})
}

// Note notes a turn without a cell, and why it has none.
func (d *Desk) Note(said, why string) error {
	if err := d.run.beginRound(said); err != nil {
		return err
	}
	round := d.run.t.Last()
	round.Dropped, round.Verdict = round.Number, &record.Verdict{Unfinished: true, Reason: why}
	return d.run.observe(Event{Kind: Judged, Text: why})
}

func (d *Desk) answer(ctx context.Context) error {
	answer, finished, err := d.run.cfg.Baseline.Answer(ctx, d)
	if err != nil {
		return err
	}
	if last := d.run.t.Last(); last != nil {
		last.Verdict = &record.Verdict{Sufficient: finished, Reason: "it ended by its own rule"}
		if !finished {
			last.Verdict.Reason = "it was at its limit"
		}
	}
	d.run.t.Final = &record.Final{Derived: record.Derived{Answer: strings.TrimSpace(answer)}}
	return d.run.observe(Event{Kind: Finalized, Text: answer})
}

// leaves reports whether the session is where a cell has left it: what one of a baseline did stays
// also if it raised.
func (r *run) leaves(e notebook.Execution) bool {
	return e.Status == notebook.OK || r.cfg.Baseline != nil && e.Status == notebook.Raised
}
