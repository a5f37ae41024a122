package agent

import (
	"context"
	"fmt"
	"strings"

	"dsstar/prompts"
)

// plan asks for the next step (Algorithm 1, lines 8 and 24). A reply that cannot
// be read is a *ReplyError: the steps so far are all that there is then.
func (r *run) plan(ctx context.Context) (string, error) {
	parts, inputs := r.shared()
	if len(r.t.Rounds) == 0 {
		parts = append(parts, prompts.PlannerFirst{})
	} else {
		next := prompts.PlannerNext{Missing: r.missing(), Dropped: r.dropped(), Done: len(r.t.Plan()) > 0}
		parts = append(parts, next)
		inputs["missing"] = next.Missing
		for _, d := range next.Dropped {
			inputs["dropped"] += strings.Join([]string{d.Text, d.Reason, ""}, "\n")
			inputs["results"] += "\n" + d.Output
		}
	}
	return ask(ctx, r, question{"planner", r.subject(1), parts, inputs}, readStep)
}

// subject names the requests of a round; plus is 1 for the round to come.
func (r *run) subject(plus int) string { return fmt.Sprintf("round %d", len(r.t.Rounds)+plus) }
