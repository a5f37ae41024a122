package agent_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// The replies of each role. Cells only use what they assign, so that any of them runs anywhere.
var whims = map[string][]string{
	"analyzer": {"```python\nprint(\"a table\")\n```"},
	"solver": {"Step: One.\n\n```python\nx = 1\nprint(x)\n```", "Step: Two.\n\n```python\nx = 2\nsave(out.csv, x)\nprint(x)\n```",
		reads(isOpen), reads(isSettled), "Step: No.\n\n```python\ndie()\n```"},
	"judge": {yes + "\n\n```python\nx = 1\nprint(x)\n```", yes + "\nTakes: 1\n\n```python\nx = 2\nprint(x)\n```", no,
		bad + "\nWrong step: 1", yes + "\n\n```python\ndie()\n```"},
	"debugger": {"```python\nx = 1\nprint(x)\nx\n```", "```python\nx = 2\nprint(x)\nx\n```"},
	"branches": {branches("z = 1\nz"), branches("z = 2\nz"), branches("die()")},
	"second":   {"```python\ns = 1\ns\n```", "```python\ns = 2\ns\n```", "```python\ndie()\n```"},
	"arbiter": {"Ruling: same\nReason: x", "Ruling: undecided\nReason: x", "Ruling: first\nReason: x\nWrong step: 1",
		"Ruling: second\nReason: x", "Ruling: reading\nReason: x\nReading: Which.\nOption 1: all\nOption 2: some"},
	"finalizer": {"```python\nx = 1\nprint(x)\n```", "```python\nx = 2\nprint(x)\n```"},
	"coder":     {"```python\nx = 3\nprint(x)\n```"},
}

// TestNothingStale: after any questions, edits, notes, choices, new data and kills, a run ends as one that has
// recorded nothing, so that every key covers what its request shows and its cell runs on.
func TestNothingStale(t *testing.T) {
	once(t)
	if nothingStale(t, func(*stage) {}) == 0 {
		t.Error("nothing was ever verified")
	}
}

// nothingStale returns in how many worlds the last answer was verified.
func nothingStale(t *testing.T, change func(*stage)) (verified int) {
	rapid.Check(t, func(t *rapid.T) {
		model, size := &anyModel{seed: rapid.Uint64().Draw(t, "seed"), replies: whims, asked: map[string]int{}}, int64(1)
		goes := func(tr *record.Trajectory, kill int) *record.Trajectory {
			left, _ := killed(t, kill, func(s *stage) {
				s.resume, s.config.Model, s.config.MaxRounds = tr, model, 3
				s.task.Files = filesOf("a.csv")
				s.task.Files[0].Size = size
				change(s)
			})
			return left
		}
		forgets := func(tr *record.Trajectory) *record.Trajectory {
			tr = readAgain(t, tr)
			tr.Journal = tr.Journal.Only(record.Decided)
			return tr
		}
		tr := goes(nil, 0)
		for range rapid.IntRange(1, 5).Draw(t, "acts") {
			switch rapid.SampledFrom([]string{"edit", "edit", "ask", "choose", "data", "kill"}).Draw(t, "act") {
			case "edit":
				changed, err := edited(t, tr, func(_ reporter, nb *notebook.Notebook) { (&editor{T: t}).change(nb) })
				if err != nil {
					continue // it is refused
				}
				tr = changed
			case "ask":
				if tr.Ask(fmt.Sprintf("And %d?", tr.Earlier()), "") != nil {
					continue
				}
			case "choose":
				k := rapid.IntRange(0, tr.Earlier()).Draw(t, "question")
				for i, r := range tr.Part(k).Readings {
					if r.Open() && r.Matters() && r.Problem == "" && len(tr.Later) == 0 && len(tr.Edits()) == 0 {
						must(0, agent.Choose(tr, k, i, rapid.IntRange(0, 1).Draw(t, "option")))
						break
					}
				}
			case "data":
				size++
			case "kill":
				tr = goes(readAgain(t, tr), rapid.IntRange(1, 20).Draw(t, "at"))
			}
			from := readAgain(t, tr)
			tr = goes(readAgain(t, tr), 0)
			want := goes(forgets(from), 0)
			if diff := cmp.Diff(want, tr, same, cmpopts.IgnoreFields(record.Trajectory{}, "Usage", "ByRole", "Cost", "Models")); diff != "" {
				t.Fatalf("(-with an empty journal +as recorded)\n%s", diff)
			}
		}
		if tr.Verified() {
			verified++
		}
	})
	return verified
}
