package agent_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// An anyModel gives each role one of its replies, whatever they are: the same to the same request.
type anyModel struct {
	seed    uint64
	replies map[string][]string

	mu    sync.Mutex
	asked map[string]int
}

func (m *anyModel) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	m.asked[r.Role]++
	h := fnv.New64a()
	fmt.Fprint(h, m.seed, r.Role)
	for _, message := range r.Messages[1:] {
		fmt.Fprint(h, message.Text)
	}
	all := m.replies[r.Role]
	text, cut := strings.CutPrefix(all[h.Sum64()>>7%uint64(len(all))], "cut:")
	reply := llm.Reply{Text: text, Model: "m1", Finish: "stop", Usage: llm.Usage{InputTokens: 10, OutputTokens: 2}}
	if cut {
		reply.Finish = "length"
	}
	return reply, nil
}

// What roles say, or nearly say.
var (
	anything = rapid.OneOf(rapid.SampledFrom([]string{"", " ", "\n\n", "No.", "I'm sorry, I cannot.",
		"<think>Verdict: sufficient", "cut:Verdict: sufficient", "```", "```python\n```", "~~~\nprint(1)",
		"\x00\xff", "{}", "</think>", strings.Repeat("long ", 900)}), rapid.String())
	anyLine = rapid.SampledFrom([]string{"x = 1", "x = 1\nprint(x)", "y = x", "x += 2", "print(x)",
		"print(y)", "save(f.csv, x)", "die()", "hang()", `raise KeyError("b")`,
		"print(42)", `x = "# %% \u2028 é"`, `print(" ")`})
	anyFence = rapid.SampledFrom([]string{"```python\n", "Here:\n```py\n", "```\n", "cut:```python\n"})
	anyCode  = rapid.OneOf(rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(anyLine, 0, 4).Draw(t, "lines")
		return anyFence.Draw(t, "fence") + strings.Join(lines, "\n") + "\n```"
	}), anything)
	anyVerdict = rapid.OneOf(rapid.SampledFrom([]string{yes, no, no, no, "**Verdict:** Sufficient.",
		"Verdict: inconclusive\nReason: none", "Verdict: sufficient, but not yet", "Yes", "No",
		"Verdict: sufficient\nVerdict: insufficient", "yes and no", "Verdict:", "sufficient?",
		"Reason: all is there", "Choice: 2\nReason: x"}), anything)
	anyWrong = rapid.OneOf(rapid.SampledFrom([]string{"", "", "Wrong step: 1", "Wrong step: 2",
		"Wrong step: none", "Wrong step: 0", "Wrong step: 99999999999999999999", "Wrong step: 1 or 2",
		"**Wrong step:** Step 1", "Step 1 is wrong"}), anything)
	anyStep = rapid.OneOf(rapid.SampledFrom([]string{"Step: Load the table.", "Step 2: Go on.",
		"Load the table.", "1. Look\n2. Count", "```python\nx\n```"}), anything)
	anyReading = rapid.OneOf(rapid.SampledFrom([]string{"", "", "", "Reading: open\nOption 1: a\n" +
		"Option 2: b\nTaken: 1\nEvidence: none\nSettled: no", "Reading: closed\nOption 1: a\nOption 2: b\n" +
		"Taken: 2\nEvidence: \"How many?\"\nSettled: yes", "Reading: none", "Option 1: a"}), anything)
	anyBranches = rapid.SampledFrom([]string{"", "Branch 1.2\nKeeps: 0\n", "Branch 1.2\nKeeps: 9\n",
		"Branch 7.1\nKeeps: 1\n"})
	anyRuling = rapid.OneOf(rapid.SampledFrom([]string{"Ruling: same", "Ruling: first\nWrong step: 1",
		"Ruling: first", "Ruling: second\nReason: x", "Ruling: undecided\nReason: x",
		"Ruling: reading\nReading: p\nOption 1: a\nOption 2: b", "Ruling: second"}), anything)
)

// joined is a reply of several parts.
func joined(parts ...*rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var all []string
		for _, p := range parts {
			all = append(all, p.Draw(t, "part"))
		}
		return strings.Join(all, "\n\n")
	})
}

// Whatever a model replies, the run ends within its bounds, by an answer or an error that says why
// there is none, and its notebook is valid at every event.
func TestAnyReplies(t *testing.T) {
	once(t)
	rapid.Check(t, func(t *rapid.T) {
		m := &anyModel{asked: map[string]int{}, replies: map[string][]string{}}
		for _, role := range []struct {
			name    string
			replies *rapid.Generator[string]
		}{
			{"analyzer", anyCode}, {"solver", joined(anyReading, anyStep, anyCode)},
			{"judge", joined(anyVerdict, anyWrong, anyCode)}, {"debugger", anyCode},
			{"second", rapid.OneOf(rapid.Just("```python\nagreed()\n```"), anyCode)},
			{"branches", joined(anyBranches, anyCode)}, {"arbiter", anyRuling},
			{"summarizer", anything}, {"coder", anyCode}, {"verifier", anyVerdict},
			{"finalizer", anyCode}, {"planner", anyStep}, {"router", anyWrong},
		} {
			m.replies[role.name] = rapid.SliceOfN(role.replies, 1, 4).Draw(t, role.name)
		}
		const rounds, tries, files = 4, 2, 3
		flag := rapid.Bool()
		method := record.Method{
			Script: flag.Draw(t, "Script"), NoAnalyzer: flag.Draw(t, "NoAnalyzer"),
			NoRouter: flag.Draw(t, "NoRouter"), PlanOnly: flag.Draw(t, "PlanOnly"),
		}
		most := rapid.IntRange(0, 60).Draw(t, "most calls")
		p := play(t, nil, func(s *stage) {
			s.config.Model, s.config.MaxRounds, s.config.DebugTries, s.each = m, rounds, tries, true
			s.config.Method, s.config.Limits.Calls = method, most
			s.task.Files = filesOf("a.csv", "b.csv", "c.csv")
		})
		if len(p.Rounds) > rounds {
			t.Errorf("%d rounds", len(p.Rounds))
		}
		// Each call may be asked again; a repair may need its report shortened.
		const cell, repairs = 2 + tries*(2+2), (files + rounds + 1) * tries * 2
		bounds := map[string]int{
			"analyzer": files * 2, "solver": rounds * 2, "planner": rounds * 2, "coder": rounds * 2,
			"judge": rounds * 2, "verifier": rounds * 4, "router": rounds * 2,
			"debugger": repairs * 2, "summarizer": repairs * 2, "finalizer": 2 * rounds,
			"second": 6, "branches": 2 * rounds, "arbiter": 2 * rounds,
		}
		calls := 0
		for role, n := range m.asked {
			if calls += n; n > bounds[role] {
				t.Errorf("the %s was asked %d times", role, n)
			}
		}
		if calls > (files+3+rounds)*cell+rounds*(2*cell+12)+4 || (most > 0 && calls > most) ||
			calls != p.Usage.Calls {
			t.Errorf("%d calls of %d, and %d are counted", calls, most, p.Usage.Calls)
		}
		var unread *ask.Error
		var spent *ask.BudgetError
		switch {
		case p.err == nil, errors.As(p.err, &spent):
		case errors.As(p.err, &unread) && (unread.Role == "planner" || unread.Role == "solver") && p.Steps() == 0:
		case p.Steps() == 0 && p.Failure == "no step of the plan could be carried out":
		default:
			t.Errorf("error %v with %d steps", p.err, p.Steps())
		}
		if p.err == nil && p.Answer() != "" && !p.Proof.Same { // something of a step that failed was left
			t.Errorf("not proved: %s", p.Proof.Reason)
		}
		agrees := p.Second != nil && p.Second.Agrees && len(p.OpenReadings()) == 0
		if p.err == nil && p.Verified() != (p.Sufficient() && p.Answer() != "" && p.Proof.Same && agrees) {
			t.Errorf("verified %v, %q", p.Verified(), p.Doubts())
		}
	})
}
