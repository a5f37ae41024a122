package agent

import (
	"context"
	"fmt"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/memory"
	"dsstar/agent/record"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// The questions of requests about the data as a whole, which have none.
const (
	askerQuestion   = "What can be asked about these data?"
	reviserQuestion = "What do the answers to questions about these data share?"
)

// MakeQuestions describes the task's files as [Run] would, and has the model make n questions about
// them. The trajectory has no rounds; it says what was spent.
func MakeQuestions(ctx context.Context, cfg Config, task record.Task, n int,
	asked []string) (*record.Trajectory, []reply.Question, error) {
	task.Question = askerQuestion
	t, questions, err := askAhead(ctx, cfg, task, "asker", prompts.Asker{Count: n, Asked: strings.Join(asked, "\n")},
		reply.Questions)
	return t, questions[:min(len(questions), n)], err
}

// ProposeRevision describes the task's files as [Run] would, and has the model propose what makes a
// memory of them smaller and more general. Nothing of it is admitted yet. The trajectory is as of
// [MakeQuestions].
func ProposeRevision(ctx context.Context, cfg Config, task record.Task, m *memory.Memory,
	examples []prompts.Example) (*record.Trajectory, *memory.Revision, error) {
	task.Question = reviserQuestion
	part := prompts.Reviser{Functions: memory.Module(m.Imports, withCases(m.Tools)), Examples: examples}
	var facts []string
	for i, f := range m.Facts {
		facts = append(facts, fmt.Sprintf("%d. %s", i+1, f))
	}
	part.Facts = strings.Join(facts, "\n")
	return askAhead(ctx, cfg, task, "reviser", part, reply.Revisions(m))
}

// withCases returns functions with their cases below their code.
func withCases(tools []memory.Tool) (all []memory.Tool) {
	for _, t := range tools {
		t.Code = strings.TrimRight(t.Code+"\n\n"+t.Test, "\n")
		all = append(all, t)
	}
	return all
}

// askAhead describes the task's files, and asks one role one thing about the data as a whole.
func askAhead[T any](ctx context.Context, cfg Config, task record.Task, role string, part prompts.Part,
	format reply.Format[T]) (t *record.Trajectory, value T, err error) {
	t = newTrajectory(cfg, task)
	if err := cfg.validate(); err != nil {
		return t, value, err
	}
	r := newRun(cfg, t)
	t, err = r.carryOut(ctx, func(ctx context.Context) (err error) {
		if err := r.learn(ctx); err != nil {
			return err
		}
		value, err = ask.Role(ctx, r.Asker, ask.Request{Role: role, Subject: "the data",
			Words: func() ([]prompts.Part, map[string]string) {
				parts, inputs := r.known("")
				inputs["asked"] = fmt.Sprint(part)
				return append(parts, part), inputs
			}}, format)
		return err
	})
	return t, value, err
}
