package reply

import (
	"errors"
	"strings"

	"dsstar/agent/memory"
)

// A Question is one that the model has made, with the form of its answer.
type Question struct{ Question, Form string }

var questionFields = newVocabulary("question", "form", "question", `questions?`,
	"form", `(?:answer\s+)?form(?:\s+of\s+the\s+answer)?`)

// Questions reads questions with the form of their answers. A question without one, or that is there
// already, is left out.
var Questions = Format[[]Question]{
	Rule: "Reply with two lines for each question: `Question:` and `Form:`.",
	Parse: by(questionFields, func(f *fields) (all []Question, err error) {
		known := map[string]bool{}
		for _, part := range f.parts {
			q := Question{oneLine(part.text["question"]), oneLine(part.text["form"])}
			if q.Question != "" && q.Form != "" && !known[strings.ToLower(q.Question)] {
				known[strings.ToLower(q.Question)], all = true, append(all, q)
			}
		}
		if len(all) == 0 {
			return nil, errNoQuestion
		}
		return all, nil
	}),
}

var errNoQuestion = errors.New("it has no question with the form of its answer")

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Revisions reads what makes a memory more general; none is an answer, too.
func Revisions(m *memory.Memory) Format[*memory.Revision] {
	return Format[*memory.Revision]{
		Rule: "Reply with facts as lines `- Facts 1, 2: the fact — source: where it stands` or " +
			"`- Fact 1: withdrawn: why`, and one ```python block for each function, which begins with " +
			"`# Replaces: names`, or with the word none.",
		Parse: func(text string) (*memory.Revision, error) {
			var code []string
			for _, b := range Blocks(text) {
				code = append(code, b.Code)
			}
			r := m.ProposeRevision(outsideBlocks(text), code)
			if len(r.Facts)+len(r.Tools)+len(r.Problems) == 0 && !isNothing(text) &&
				!strings.Contains(strings.ToLower(text), "none") {
				return nil, errNothingLearned
			}
			return r, nil
		},
	}
}
