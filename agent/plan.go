package agent

import (
	"context"
	"fmt"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// plan asks for the next step (Algorithm 1, lines 8 and 24). If the reply cannot be read,
// the error is a *[reply.Error].
func (r *run) plan(ctx context.Context) (string, error) {
	return ask.Role(ctx, r.Asker, ask.Request{Role: "planner", Subject: r.subject(1),
		Words: r.planWords}, reply.Step)
}

func (r *requests) planWords() ([]prompts.Part, map[string]string) {
	if r.t.Method.Script {
		parts, inputs := r.asPublished(sees{context: true, plan: true, output: len(r.t.Rounds) > 0})
		if len(r.t.Rounds) == 0 {
			return append(parts, prompts.PlannerFirst{}), inputs
		}
		return append(parts, prompts.PlannerNext{Done: len(r.t.Plan()) > 0}), inputs
	}
	parts, inputs := r.shared()
	if len(r.t.Rounds) == r.t.EarlierRounds() {
		return append(parts, prompts.PlannerFirst{}), inputs
	}
	next := prompts.PlannerNext{Missing: r.missing(), Dropped: r.dropped(), Done: len(r.t.Plan()) > 0}
	inputs["missing"] = next.Missing
	for i, d := range next.Dropped {
		if d.Reason == next.Missing {
			next.Dropped[i].Reason = "" // it stands above
		}
		inputs["dropped"] += strings.Join([]string{d.Text, d.Reason, ""}, "\n")
		inputs["results"] += "\n" + d.Output
	}
	return append(parts, next), inputs
}

// subject names the requests of a round; plus is 1 for the next round.
func (r *requests) subject(plus int) string { return fmt.Sprintf("round %d", len(r.t.Rounds)+plus) }
