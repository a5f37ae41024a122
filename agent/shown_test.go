package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// long prints some 4 kB.
const long = "x = \"0123456789 abcdef\\n\"" + "\nx += x\nx += x\nx += x\nx += x\nx += x\nx += x\nx += x\nx += x\nprint(x)"

// size is how much a request says.
func size(r llm.Request) (n int) {
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return n
}

// largeData is four files with descriptions of 6 kB.
func largeData(s *stage) {
	s.task.Files = nil
	for i := range 4 {
		s.task.Files = append(s.task.Files, record.File{Name: fmt.Sprintf("%d.csv", i), Size: 10})
	}
}

var large = simple.with(script{
	"analyzer": long, "coder": long, "finalizer": "y = 1\nprint(y)\nx", "verifier": no, "verifier round 3": yes, "router round 2": "Step 2",
	"coder round 2": long + "\nraise KeyError(\"b\")", "debugger": "y = x\nprint(x)",
})

// A request that is longer than the model's context is made shorter until it
// fits, whoever makes it; every request that was cut is told of once, and a cut holds from then on.
func TestTooLong(t *testing.T) {
	once(t)
	whole := play(t, large, largeData, func(s *stage) { s.config.Method.NoComputed = true }).noError(t)
	for _, c := range []struct {
		role, first string
		limit       int // bytes, about a third of what it would be
	}{
		{"verifier", "verifier round 1", 13_000}, {"debugger", "debugger round 2, try 2", 11_000}, {"", "planner round 1", 16_000},
	} {
		t.Run(c.role, func(t *testing.T) {
			p := play(t, large, largeData, func(s *stage) {
				s.config.Method.NoComputed = true
				s.model.tooLong = func(r llm.Request) bool { return (c.role == "" || r.Role == c.role) && size(r) > c.limit }
			}).noError(t)
			told := p.model.refusedOnce()
			if !p.Verified() || len(told) == 0 || len(p.Warnings) != len(told) || len(p.Rounds) != len(whole.Rounds) {
				t.Errorf("verified %v, refused %q, warnings %q", p.Verified(), p.model.refused, p.Warnings)
			}
			if p.model.refused[0] != c.first && c.role != "" {
				t.Errorf("refused first: %s", p.model.refused[0])
			}
			for i, key := range told {
				role, subject, _ := strings.Cut(key, " ")
				contains(t, p.Warnings[i], "the "+role+"'s request for "+subject+" was longer than the model's context")
			}
			// For good: all later requests show less too, also those of other roles.
			last := p.model.refused[len(p.model.refused)-1]
			for _, key := range p.model.asked[slices.Index(p.model.asked, last):] {
				was, now := size(whole.model.requests[key]), size(p.model.requests[key])
				if !strings.HasPrefix(key, "checker") && now >= was {
					t.Errorf("%s has %d bytes, and without a limit %d", key, now, was)
				}
			}
			contains(t, p.model.prompt(t, last), "characters cut here", `"data/0.csv"`, `"data/3.csv"`)
			if p.Usage.Calls != len(p.model.asked) {
				t.Errorf("%d calls are counted of %d", p.Usage.Calls, len(p.model.asked))
			}
		})
	}
}

// refusedOnce returns the requests that were refused: one that is cut twice is told of once.
func (m *model) refusedOnce() (keys []string) {
	for _, key := range m.refused {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// The roles that are shown one text get less of that, and so does the paper's way.
func TestTooLongForOneText(t *testing.T) {
	summarized := simple.with(script{
		"coder": "raise KeyError(\"" + strings.Repeat("many words ", 700) + "\")", "summarizer": "KeyError", "debugger": "x = 1\nprint(x)",
	})
	papers := large.with(script{"verifier": "No", "verifier round 3": "Yes", "debugger": long, "finalizer": long})
	for _, c := range []struct {
		role    string
		limit   int
		replies script
		method  record.Method
	}{
		{"summarizer", 6000, summarized, record.Method{}},
		{"checker", 6700, simple.with(script{"coder": long}), record.Method{}},
		{"", 12_000, papers, record.Paper()},
	} {
		p := play(t, c.replies, func(s *stage) {
			if s.config.Method = c.method; c.role == "" {
				largeData(s)
			}
			s.model.tooLong = func(r llm.Request) bool { return (c.role == "" || r.Role == c.role) && size(r) > c.limit }
		}).noError(t)
		if told := p.model.refusedOnce(); len(told) == 0 || len(p.Warnings) != len(told) || !p.Verified() {
			t.Errorf("%s: refused %q, warnings %q", c.role, p.model.refused, p.Warnings)
		}
	}
}

// Where nothing is left to take away the refusal ends the run.
func TestTooLongForEver(t *testing.T) {
	for _, role := range []string{"analyzer", "planner", "verifier", "finalizer"} {
		t.Run(role, func(t *testing.T) {
			p := play(t, simple, func(s *stage) {
				s.model.tooLong = func(r llm.Request) bool { return r.Role == role }
			})
			if !errors.Is(p.err, llm.ErrContextLength) || len(p.Warnings) != 1 || len(p.model.refused) > 20 {
				t.Errorf("error %v, refused %q, warnings %q", p.err, p.model.refused, p.Warnings)
			}
		})
	}
}

// A second question, with the reply that could not be read in it, may be the
// one that is too long: then the reply has not been read, and no more.
func TestTooLongWhenAskedAgain(t *testing.T) {
	p := play(t, simple.with(script{"verifier round 1": "Hm.", "router": "Add Step"}), func(s *stage) {
		s.model.tooLong = func(r llm.Request) bool { return len(r.Messages) > 2 }
	}).noError(t)
	if !p.Verified() || len(p.Rounds) != 2 || len(p.Warnings) != 1 {
		t.Errorf("verified %v after %d rounds, warnings %q", p.Verified(), len(p.Rounds), p.Warnings)
	}
}

// Of requests that are refused at the same time one shortens what is shown.
func TestTooLongAtOnce(t *testing.T) {
	const files = 8 // as many as are with the model at once
	var all sync.WaitGroup
	all.Add(files)
	var mu sync.Mutex
	refused := map[string]bool{}
	p := play(t, simple, func(s *stage) {
		s.task.Files = nil
		for i := range files {
			s.task.Files = append(s.task.Files, record.File{Name: fmt.Sprintf("%d.csv", i), Size: 10})
		}
		s.model.tooLong = func(r llm.Request) bool {
			mu.Lock()
			again := r.Role != "analyzer" || refused[r.Subject]
			refused[r.Subject] = true
			mu.Unlock()
			if !again {
				all.Done()
				all.Wait()
			}
			return !again
		}
	}).noError(t)
	if len(p.model.refused) != files || len(p.Warnings) != 1 || !p.Verified() {
		t.Errorf("refused %q, warnings %q", p.model.refused, p.Warnings)
	}
}

// Where the model's context is known, requests fit into it from the start.
func TestContextIsKnown(t *testing.T) {
	once(t)
	const bytesPerToken = 3
	six := large.with(script{
		"coder": long, "coder round 2": long, "verifier round 3": no, "verifier round 6": yes, "router round 2": "Add Step", "finalizer": "y = x\nprint(1)\ny",
	})
	const tokens = 8000
	p := play(t, six, largeData, func(s *stage) { s.config.Context, s.config.ContextChars = tokens, 60_000 }).noError(t)
	if len(p.Rounds) != 6 || !p.Verified() || len(p.Warnings) > 0 {
		t.Errorf("%d rounds, warnings %q", len(p.Rounds), p.Warnings)
	}
	for key, r := range p.model.requests {
		if size(r) >= tokens*bytesPerToken {
			t.Errorf("%s has %d bytes", key, size(r))
		}
	}
}

// All requests after the descriptions begin with the same bytes, the notebook
// grows at its end, and what a role is asked comes last: providers keep what
// requests have in common.
func TestPrefix(t *testing.T) {
	once(t)
	p := play(t, large.with(script{"verifier round 3": no, "verifier round 4": yes, "finalizer": "y = x\nprint(1)\ny"}), largeData).noError(t)
	if len(p.Rounds) != 4 || !slices.Equal(p.Plan(), []int{0, 2, 3}) {
		t.Fatalf("%d rounds, plan %v", len(p.Rounds), p.Plan())
	}
	first := p.model.requests["planner round 1"].Messages
	context, _, ok := strings.Cut(first[1].Text, "\n\n# Your task")
	if !ok || !strings.Contains(context, "3.csv") {
		t.Fatal(first[1].Text)
	}
	asks := map[string]string{
		"planner": "# What is missing", "coder": "## Step ", "verifier": "# Your task", "router": "# What is missing",
		"debugger": "# A cell that failed", "finalizer": "# ",
	}
	notebooks := map[string]string{} // by the round whose steps they have
	before := ""
	for _, key := range p.model.asked[len(p.Descriptions)+1:] {
		role, subject, _ := strings.Cut(key, " ")
		if role == "checker" {
			continue
		}
		m := p.model.requests[key].Messages
		rest, ok := strings.CutPrefix(m[1].Text, context)
		if len(m) != 2 || m[0] != first[0] || !ok {
			t.Errorf("%s does not begin like the first request:\n%s", key, messages(p.model.requests[key]))
			continue
		}
		at := strings.LastIndex(rest, "\n```\n\n"+asks[role])
		if role == "finalizer" {
			at = strings.LastIndex(rest, "\n```\n\n# The verdict")
		}
		if at < 0 {
			if key != "coder round 1" {
				t.Errorf("%s does not end with what is asked:\n%s", key, rest)
			}
			continue
		}
		notebook := rest[:at]
		if before != "" && !strings.HasPrefix(notebook, before) && !strings.HasPrefix(before, notebook) {
			t.Errorf("%s has another notebook than the request before:\n%s\n---\n%s", key, before, notebook)
		}
		before, notebooks[subject] = notebook, notebook
	}
	if r := notebooks; r["round 1"] == "" || !strings.HasPrefix(r["round 4"], r["round 1"]) || !strings.HasPrefix(r["the answer"], r["round 4"]) ||
		len(r["the answer"]) < 3*len(r["round 1"])/2 {
		t.Errorf("the notebook does not grow: %d, %d, %d bytes", len(r["round 1"]), len(r["round 4"]), len(r["the answer"]))
	}
}

// The coder is told how much memory there is, and on resuming the same, so that its
// request is as it was, unless there is much less.
func TestMemory(t *testing.T) {
	p := play(t, simple, func(s *stage) { s.config.Memory = 8_000_000_000 }).noError(t)
	contains(t, p.model.prompt(t, "coder round 1"), "8.0 GB of memory")
	if n := play(t, simple).noError(t); strings.Contains(n.model.prompt(t, "coder round 1"), "of memory") {
		t.Error("a limit that is not known is told")
	}
	data, err := record.Draw(p.Trajectory).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for now, want := range map[int64]int64{7_000_000_000: 8_000_000_000, 1_000_000_000: 1_000_000_000, 0: 0} {
		again := goOn(t, simple, reread(t, data), func(s *stage) { s.config.Memory = now })
		if again.Trajectory.Memory != want {
			t.Errorf("with %d: %d, want %d", now, again.Trajectory.Memory, want)
		}
	}
}
