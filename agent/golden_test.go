package agent_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dsstar/agent"
	"dsstar/agent/journal"
	"dsstar/agent/llm"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/notebooktest"
)

// turns are those of a run, of which each goes on with what the turn before has left.
type turns []turn

// A turn of a run: a person does something with its notebook, and it goes on.
type turn struct {
	does    act // nil: the run begins, or goes on
	replies script
	change  []func(*stage)
	whole   bool // it is not killed: what its cells do, or whether more is tried, depends on that
}

// An act is what a person does with a run.
type act func(*record.Trajectory) *record.Trajectory

// of has a run begin.
func of(replies script, change ...func(*stage)) turns {
	return turns{{replies: replies, change: change}}
}

// on has a person do something with the notebook, and the run go on.
func (all turns) on(does act, replies script, change ...func(*stage)) turns {
	return append(slices.Clip(all), turn{does: does, replies: replies, change: change})
}

// unkilled has the last turn not be killed.
func (all turns) unkilled() turns {
	all = slices.Clone(all)
	all[len(all)-1].whole = true
	return all
}

// play plays a turn on what the one before has left.
func (now turn) play(t reporter, tr *record.Trajectory, change ...func(*stage)) *played {
	t.Helper()
	if tr != nil {
		tr = readAgain(tr)
	}
	if now.does != nil {
		tr = now.does(tr)
		journal.Drop(tr.Journal, "cell", agrees) // with another answer
	}
	resumed := func(s *stage) { s.resume = tr }
	return play(t, now.replies, slices.Concat([]func(*stage){resumed}, now.change, change)...)
}

// play plays all turns and returns the last one.
func (all turns) play(t reporter) (p *played) {
	t.Helper()
	var tr *record.Trajectory
	for _, now := range all {
		p = now.play(t, tr).noError(t)
		tr = p.Trajectory
	}
	return p
}

// goes is what a turn leaves: its requests and warnings, each question's answer, what it is worth
// and the readings that matter, and what Run All runs behind the set-up.
func goes(p *played) string {
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(p.model.asked, "; "))
	for _, w := range p.Warnings {
		fmt.Fprintln(&b, "warning:", w)
	}
	for k := range p.Questions {
		part := p.Part(k)
		fmt.Fprintf(&b, "answer %d: %q, %s\n", k+1, part.Answer(), part.Standing())
		for _, d := range part.Doubts() {
			fmt.Fprintf(&b, "  %s\n", d)
		}
		if part.Proof != nil && part.Proof.Notes != nil {
			fmt.Fprintf(&b, "  note: %s\n", strings.Join(part.Proof.Notes, "; "))
		}
		for _, r := range part.OpenReadings() {
			for n, o := range r.Options {
				if n != r.Chosen || o.Problem != "" {
					fmt.Fprintf(&b, "    or %s: %q %s\n", o.Text, o.Answer, o.Problem)
				} else {
					fmt.Fprintf(&b, "    %s\n", o.Text)
				}
			}
		}
		for _, r := range part.Readings {
			if r.Decided() != "" {
				fmt.Fprintf(&b, "    %s decided by what %s\n", r.Point, r.Decided())
			}
		}
		if part.Final != nil {
			for _, f := range part.Final.Files {
				fmt.Fprintf(&b, "  %s: %q\n", f.Name, f.Text)
			}
		}
	}
	if p.err != nil {
		fmt.Fprintf(&b, "stopped: %v\n", p.err)
	}
	return b.String() + "\n" + strings.Join(p.Cells()[min(2, len(p.Cells())):], "\n# %%\n") + "\n\n"
}

// TestGolden: the runs of all recordings are as they were, also those that are killed after any
// event and resumed. -update writes what they are now.
func TestGolden(t *testing.T) {
	for name, all := range allRecordings() {
		t.Run(name, func(t *testing.T) { golden(t, recordingOf(name), goldenOf(t, all)) })
	}
}

var update = flag.Bool("update", false, "write testdata/paper and testdata/golden anew")

// golden compares what was got with what is recorded in a file.
func golden(t reporter, file, got string) {
	t.Helper()
	if *update {
		must(0, os.WriteFile(file, []byte(got), 0o644))
	}
	equal(t, "as recorded", got, string(must(os.ReadFile(file))))
}

// recordingOf returns the file of a recording.
func recordingOf(name string) string {
	return filepath.Join("testdata/golden", strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(name)+".txt")
}

// goldenOf plays the turns, each also from every moment at which it may be killed and that is not spared.
func goldenOf(t *testing.T, all turns) string {
	var b strings.Builder
	var tr *record.Trajectory
	for n, now := range all {
		r := &recorder{shift: len(now.replies)}
		var files []record.File // all that are there
		p := now.play(t, tr, r.record, func(s *stage) { s.each, files = true, s.task.Files })
		fmt.Fprintf(&b, "== turn %d: %s", n+1, goes(p))
		begun := n == 0 && len(all) > 1 // as other recordings begin, too
		for i, m := range r.all {
			if m.notebook == nil || spared(i+r.shift) || p.err != nil || now.whole || begun {
				continue
			}
			q := goOnAfter(t, p, now.replies, m, now.change...)
			if len(q.model.asked)+len(m.asked) > len(p.model.asked) {
				t.Errorf("turn %d, killed after %s: it asks anew", n+1, m.what)
			}
		}
		again := readAgain(p.Trajectory)
		if p.err == nil && (len(again.Edits()) > 0 || !record.Finished(again, files, 6) && again.Verified()) {
			t.Errorf("turn %d: it is not finished, or seems to be edited: %q", n+1, again.Edits())
		}
		if s := again.Second; s != nil && s.Unable && record.Finished(again, files, 6) {
			t.Errorf("turn %d: it is finished without a second derivation", n+1)
		}
		tr = p.Trajectory
	}
	return b.String()
}

// A moment is what a run has left on the disk when it is killed.
type moment struct {
	what     string
	notebook []byte   // nil: it is spared
	asked    []string // of the model
}

// A recorder keeps the moments of a run, one for each time that the notebook is saved.
type recorder struct {
	shift int // of the moments that are spared: others in each run
	all   []moment
}

// record has a run recorded.
func (r *recorder) record(s *stage) {
	watch := s.config.Observe
	s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
		m := moment{what: "event " + string(e.Kind)}
		if !spared(len(r.all)+r.shift) || e.Kind == agent.Ended {
			m.notebook = must(page.Draw(tr).Encode())
			s.model.mu.Lock()
			m.asked = slices.Clone(s.model.asked)
			s.model.mu.Unlock()
		}
		r.all = append(r.all, m)
		return watch(e, tr)
	}
}

// killed plays a run that is killed at an event, and returns what it has left on the disk; at one
// that does not come, it ends.
func killed(t reporter, at int, change func(*stage)) (left *record.Trajectory, was bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := play(t, nil, change, func(s *stage) {
		watch := s.config.Observe
		s.quick, s.model.again, s.ctx = true, true, ctx // a ruling may lead to where a run has been
		s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
			err := watch(e, tr)
			if at--; at == 0 {
				left = readAgain(tr)
				cancel()
			}
			return err
		}
	})
	if left != nil {
		return left, true
	}
	return p.Trajectory, false
}

// same compares what two runs did, not when.
var same = cmp.Options{
	cmpopts.EquateEmpty(), cmpopts.IgnoreFields(record.Trajectory{}, "Started", "Seconds", "Warnings", "Journal"),
	// a session that begins anew has none
	cmpopts.IgnoreFields(record.Proof{}, "Seconds"),
	cmpopts.IgnoreFields(notebook.Execution{}, "Seconds", "Count"),
}

// goOnAfter resumes a run that was killed at a moment: it ends as it would have ended, and no
// request that was answered is made again.
func goOnAfter(t *testing.T, whole *played, replies script, m moment, change ...func(*stage)) *played {
	t.Helper()
	tr := reread(m.notebook)
	if record.Finished(tr, whole.Task.Files, 6) && m.what != "event ended" {
		t.Errorf("after %s: it is finished", m.what)
	}
	got := goOn(t, replies, tr, append([]func(*stage){quickly}, change...)...).noError(t)
	for _, asked := range m.asked {
		if slices.Contains(got.model.asked, asked) {
			t.Errorf("after %s: %q was asked again", m.what, asked)
		}
	}
	if diff := cmp.Diff(whole.Trajectory, got.Trajectory, same); diff != "" {
		t.Errorf("after %s: it ends otherwise (-whole +resumed)\n%s", m.what, diff)
	}
	return got
}

// quickly leaves the checks of the notebook out.
func quickly(s *stage) { s.quick = true }

// reread reads a notebook as it stands on the disk.
func reread(data []byte) *record.Trajectory {
	return must(page.Read(must(notebook.Read(bytes.NewReader(data)))))
}

// readAgain reads the notebook of a trajectory.
func readAgain(tr *record.Trajectory) *record.Trajectory { return reread(must(page.Draw(tr).Encode())) }

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
		reads(isOpen), reads(isSettled), late + "Step: Three.\n\n" + python("x = \"one \"\nx += 1\nprint(x)"), "Step: No.\n\n" + python("die()")},
	"judge": {"Hm.", yes + "\n\n" + python("x = 1\nprint(x)"), yes + "\nTakes: 1\n\n" + python("x = 2\nprint(x)"), no,
		bad, yes + "\n\n" + python("die()"), late + no, late + yes + "\nTakes: 1\nPrinted: 1.2 \"one 1\"\n\n" + python("x = 1\nprint(x)")},
	"debugger": {"Hm.", python("x = 1\nprint(x)\nx"), python("x = 2\nprint(x)\nx")},
	"branches": {"", branches("z = 1\nz"), branches("z = 2\nz"), branches("die()")},
	"second":   {"Hm.", python("s = 1\ns"), late + python("s = 1\ns"), python("s = 2\ns"), python("die()")},
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

// TestAlgorithm1 holds requests, the steps that these show and the last plan to DS-STAR's Algorithm 1, over any
// verdicts and routes, with its indices: k counts rounds from 0, p is the plan, as the rounds in which its
// steps were planned.
//
// Two things differ from the paper's text. Line 21 says l = k, which is the last
// step only until a step was dropped. And after the last verdict nothing more is
// planned, which would never be judged.
func TestAlgorithm1(t *testing.T) {
	const last = "y = x\nprint(y)"
	cell := func(k int) string { return fmt.Sprintf("x = %d\nprint(x)", 1000+k) }
	key := func(role string, k int) string { return fmt.Sprintf("%s round %d", role, k+1) }
	rapid.Check(t, func(t *rapid.T) {
		m, backs, enough := rapid.IntRange(1, 8).Draw(t, "M"), 0, false
		replies := simple.with(script{"last": last, "finalizer": last})
		p, judged := []int{0}, [][]int(nil) // a program describes the files, lines 3 to 6
		asked := []string{key("solver", 0)} // lines 8 to 11: the solver's reply has the cell
		for k := 0; k < m && !enough; k++ {
			judged, asked = append(judged, slices.Clone(p)), append(asked, key("judge", k)) // line 13
			verdict, route := no, rapid.IntRange(0, len(p)).Draw(t, "route")                // 0 for Add Step
			if enough = rapid.IntRange(0, 5).Draw(t, "verdict") == 0; enough {
				verdict = yes
			} else if route > 0 {
				verdict = bad
			}
			replies[key("cell", k)], replies[key("verdict", k)] = cell(k), verdict
			replies[key("wrong", k)] = fmt.Sprint(route)
			if enough || k == m-1 {
				break // line 15
			}
			l := len(p) - 1 // line 21; the judge's reply has the route of line 17
			if route > 0 {
				w := route - 1 // lines 18 and 19; the paper counts steps from 0
				l = w - 1
				backs++
			}
			p = append(slices.Clone(p[:l+1]), k+1)    // lines 23 and 25
			asked = append(asked, key("solver", k+1)) // lines 24 and 26
		}
		asked = append(asked, map[bool]string{true: "second the answer", false: "finalizer the answer"}[enough])
		got := play(t, replies, func(s *stage) { s.config.MaxRounds = m }).noError(t)
		equal(t, "requests", got.model.asked, asked)
		for k, plan := range judged {
			request := got.model.prompt(t, key("judge", k))
			for n := range k + 1 {
				if strings.Contains(request, cell(n)) != slices.Contains(plan, n) {
					t.Errorf("the plan is %d, and the judge reads:\n%s", plan, request)
				}
			}
		}
		back := len(got.world.of(agent.Work)[0].rolled)
		if got.Sufficient() != enough || got.Answer() == "" || !got.Proof.Same || back != backs {
			t.Errorf("sufficient %v, answer %q, proof %+v, the session went back %d times, not %d",
				got.Sufficient(), got.Answer(), got.Proof, back, backs)
		}
		var cells []string
		for _, k := range judged[len(judged)-1] {
			cells = append(cells, cell(k))
		}
		equal(t, "cells", got.Cells()[2:], append(cells, last))
	})
}
