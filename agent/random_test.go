package agent_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dsstar/agent"
	"dsstar/agent/journal"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/notebooktest"
)

// anyOf answers each role with one of its replies, whatever they are: the same to the same request.
func anyOf(seed uint64, replies map[string][]string) func(llm.Request) (string, bool) {
	return func(r llm.Request) (string, bool) {
		h, all := fnv.New64a(), replies[r.Role]
		fmt.Fprint(h, seed, r.Role)
		for _, message := range r.Messages[1:] {
			fmt.Fprint(h, message.Text)
		}
		if len(all) == 0 {
			return "", false
		}
		return all[h.Sum64()>>7%uint64(len(all))], true
	}
}

// An editor changes notebooks.
type editor struct {
	*rapid.T
	n   int      // changes so far
	own []string // ids of Markdown cells that were added and not deleted
}

func (e *editor) change(nb *notebook.Notebook) {
	e.n++
	i := rapid.IntRange(0, len(nb.Cells)-1).Draw(e.T, "cell")
	c := nb.Cells[i]
	what := []string{"append", "append", "delete", "copy", "move", "insert", "note", "words"}
	switch rapid.SampledFrom(what).Draw(e.T, "what") {
	case "append":
		if c.Type == notebook.Code {
			nb.Cells[i].Source += "\nx = 1"
		}
	case "delete":
		e.own = slices.DeleteFunc(e.own, func(id string) bool { return id == c.ID })
		nb.Cells = slices.Delete(nb.Cells, i, i+1)
	case "copy":
		c.ID = fmt.Sprintf("copy-%d", e.n)
		nb.Cells = slices.Insert(nb.Cells, i+1, c)
	case "move":
		nb.Cells = slices.Delete(nb.Cells, i, i+1)
		to := rapid.IntRange(0, len(nb.Cells)).Draw(e.T, "to")
		nb.Cells = slices.Insert(nb.Cells, to, c)
	case "insert":
		code := rapid.SampledFrom([]string{"", "y = 2", "# hm\nx = 3"}).Draw(e.T, "code")
		nb.Cells = slices.Insert(nb.Cells, i, notebook.Cell{Type: notebook.Code, Source: code})
	case "note":
		c := note(fmt.Sprintf("Mind %d", e.n))
		c.ID = fmt.Sprintf("own-%d", e.n)
		e.own = append(e.own, c.ID)
		nb.Cells = slices.Insert(nb.Cells, i, c)
	case "words":
		if c.Type == notebook.Markdown {
			nb.Cells[i].Source += rewritten
		}
	}
}

const rewritten = " Or not." // what an edit adds to words

// The replies of each role. Cells only use what they assign, so that any of them runs anywhere.
var whims = map[string][]string{
	"analyzer": {python(`print("a table")`), python("die()")},
	"solver": {"Step: One.\n\n" + python("x = 1\nprint(x)"), "Step: Two.\n\n" + python("x = 2\nsave(out.csv, x)\nprint(x)"),
		reads(isOpen), reads(isSettled), "Step: No.\n\n" + python("die()")},
	"judge": {"Hm.", yes + "\n\n" + python("x = 1\nprint(x)"), yes + "\nTakes: 1\n\n" + python("x = 2\nprint(x)"), no,
		bad + "\nWrong step: 1", yes + "\n\n" + python("die()")},
	"debugger": {"Hm.", python("x = 1\nprint(x)\nx"), python("x = 2\nprint(x)\nx")},
	"branches": {"", branches("z = 1\nz"), branches("z = 2\nz"), branches("die()")},
	"second":   {"Hm.", python("s = 1\ns"), python("s = 2\ns"), python("die()")},
	"arbiter": {"Ruling: same\nReason: x", "Ruling: undecided\nReason: x", "Ruling: first\nReason: x\nWrong step: 1",
		"Ruling: second\nReason: x", "Ruling: reading\nReason: x\nReading: Which.\nOption 1: all\nOption 2: some"},
	"finalizer": {python("x = 1\nprint(x)"), python("x = 2\nprint(x)")},
}

// TestNothingStale: after any questions, edits, notes, choices, new data, strangers and kills, a run ends as
// one that has recorded nothing, so that every key covers what its request shows and its cell runs on.
// Nothing is lost that a person has written, and nothing is proved that a stranger says.
func TestNothingStale(t *testing.T) {
	verified := 0
	rapid.Check(t, func(t *rapid.T) {
		says, size := anyOf(rapid.Uint64().Draw(t, "seed"), whims), int64(1)
		goes := func(tr *record.Trajectory, kill int) *record.Trajectory {
			left, _ := killed(t, kill, func(s *stage) {
				s.resume, s.model.says, s.config.MaxRounds = tr, says, 3
				s.task.Files[0].Size = size
			})
			return left
		}
		tr, e := goes(nil, 0), editor{T: t}
		for range rapid.IntRange(1, 5).Draw(t, "acts") {
			switch rapid.SampledFrom([]string{"edit", "edit", "ask", "choose", "data", "stranger", "kill"}).Draw(t, "act") {
			case "edit":
				edits := editor{T: t, n: e.n, own: slices.Clone(e.own)}
				changed, err := edited(tr, edits.change)
				if err != nil {
					continue // it is refused
				}
				tr, e = changed, edits
			case "ask":
				if tr.Ask(fmt.Sprintf("And %d?", tr.Earlier()), "") != nil {
					continue
				}
			case "choose":
				choose(t, tr)
			case "data":
				size++
			case "stranger":
				tr.Disown()
				if tr.Sufficient() || tr.Proof != nil || tr.Second != nil || tr.Usage.Calls > 0 || !tr.Adopted {
					t.Errorf("disowned, it is %+v", tr)
				}
			case "kill":
				tr = goes(readAgain(tr), rapid.IntRange(1, 20).Draw(t, "at"))
			}
			from := readAgain(tr)
			tr = goes(readAgain(tr), 0)
			for _, kind := range []string{"reply", "cell", "sight", "files", "origin", "apart", "function", "proved"} {
				journal.Drop(from.Journal, kind, func(any) bool { return true })
			}
			want := goes(from, 0)
			if diff := cmp.Diff(want, tr, same, cmpopts.IgnoreFields(record.Trajectory{}, "Usage", "ByRole", "Cost", "Models")); diff != "" {
				t.Fatalf("(-with an empty journal +as recorded)\n%s", diff)
			}
			nb := checkNotebook(t, tr, &notebook.Notebook{})
			for _, id := range e.own {
				notebooktest.Cell(nb, id)
			}
		}
		if tr.Verified() {
			verified++
		}
	})
	if verified == 0 {
		t.Error("nothing was ever verified")
	}
}

// choose takes an option of a reading that is open, if one can be taken; of which question, or -1.
func choose(t *rapid.T, tr *record.Trajectory) (question, option int) {
	question = rapid.IntRange(0, tr.Earlier()).Draw(t, "question")
	for i, r := range tr.Part(question).Readings {
		if r.Open() && r.Matters() && r.Problem == "" && len(tr.Later) == 0 && len(tr.Edits()) == 0 {
			option = rapid.IntRange(0, 1).Draw(t, "option")
			must(0, agent.Choose(tr, question, i, option))
			return question, option
		}
	}
	return -1, 0
}
