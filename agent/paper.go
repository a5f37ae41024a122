package agent

import (
	"context"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/record"
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
	_, written := r.t.LastScript()
	coder := r.words(showFiles|showPlan|showCode,
		prompts.PaperCoder{Number: round.Place, Step: round.Step, First: !written})
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
	if unread {
		verdict = record.Verdict{Reason: "the judge gave no verdict that could be read"}
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
	if unread, err = r.unread(err); unread {
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
			for _, step := range r.t.Accepted() {
				script.Plan = append(script.Plan, step.Step)
			}
		}
		last, written := r.t.LastScript()
		if shows&showCode != 0 {
			script.Code = last.Code
		}
		if script.Ran = written && shows&showOutput != 0; script.Ran {
			script.Output = brief.Clip(last.Execution.PlainText(), r.asker.Sizes().Result)
		}
		if len(script.Plan) > 0 || script.Code != "" || script.Ran {
			parts = append(parts, script)
		}
		return append(parts, next...)
	}
}
