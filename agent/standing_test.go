package agent_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// TestUnfit: an answer in another form than is asked for is not verified, nor is one that is none,
// nor one whose sentences say another number, whoever agrees. Where the data hold no answer, nothing
// else is one.
func TestUnfit(t *testing.T) {
	const q, none = "What is the value?", "Verdict: inconclusive\nReason: no shop is in Bremen"
	for _, c := range []struct{ question, form, verdict, answer, summary, doubt string }{
		{q, "two decimals", yes, "12.457", "", "2 decimals"},
		{"Save it as counts.csv.", "", yes, "counts.csv", "", "counts.csv"},
		// these are no answers
		{q, "", yes, "nan", "", "no answer"},
		{q, "", yes, "None", "", "no answer"},
		{q, "", yes, "Empty DataFrame\nColumns: [a]\nIndex: []", "", "no answer"},
		{q, "", yes, "<generator object f at 0x7f12>", "", "no answer"},
		{q, "", yes, "[]", "", ""},
		{q, "a number, or None if there is none", yes, "None", "", ""},
		{q, "", yes, "North, nan, 5", "", ""},
		// the data hold none
		{q, `A number, or "so none".`, none, "Not Applicable", "", ""},
		{q, `A number, or "so none".`, none, "no data", "", ""},
		{q, `A number, or "so none".`, none, "so none", "", ""},
		{q, `A number, or "so none".`, none, "nan", "", ""},
		{q, `A number, or "so none".`, none, "0", "", "the data"},
		{q, `A number, or "so none".`, none, "182 orders", "", "the data"},
		// the sentences
		{q, "", yes, "11963.04", "It is 1.00 euros, by 200 orders.", "summary"},
		{q, "", yes, "North", "It is North, with 40 orders.", ""},
	} {
		last := "print(x)\ny"
		p := play(t, simple.with(script{"cell": "x = " + strconv.Quote(c.answer) + "\ny = " +
			strconv.Quote(c.summary) + "\nsave(other.csv, x)\nprint(200)", "last": last, "debugger": last,
			"arbiter": "Ruling: same\nReason: a word", "verdict": c.verdict}), asking(c.question, c.form), quickly).noError(t)
		if p.Answer() != c.answer || p.Verified() != (c.doubt == "") {
			t.Errorf("%q: answer %q, doubts %q", c.form, p.Answer(), p.Doubts())
		}
		if said := strings.Contains(c.summary, c.answer); (p.Summary() != "") != said {
			t.Errorf("the summary of %s is %q", p.Answer(), p.Summary())
		}
		contains(t, strings.Join(p.Doubts(), "\n"), c.doubt)
	}
}

// TestElsewhere: an answer that is the same on what seems to be another computer, with other random
// numbers, does not depend on it, whatever its code looks like.
func TestElsewhere(t *testing.T) {
	const folder = "the answer depends on the order in which a folder lists its files"
	const depends = folder + "\nit depends on chance, on the order in which folders list their files, or on the " +
		"number of processors: with others the script "
	for _, c := range []struct{ question, prints, doubts string }{
		{"How many?", "1", ""},
		{"How many?", "loading\n1", ""},
		{"How many?", "1.0000000000000002", ""},
		{"How many? Save it as out.csv.", "1.0000000000000002", depends + "has not written out.csv"},
		{"How many?", "2", depends + "printed another answer: 2"},
		{"How many?", "", depends + "failed in plain Python: KeyError: 'a'"},
	} {
		p := play(t, saved.with(script{"last": "# of a folder\nprint(x)"}), asking(c.question, ""), func(s *stage) {
			plain := s.config.RunScript
			s.config.RunScript = func(ctx context.Context, dir string, limit time.Duration) (notebook.Execution, error) {
				code, err := os.ReadFile(filepath.Join(dir, "solution.py"))
				switch {
				case err != nil || !bytes.Contains(code, []byte("elsewhere()")):
					return plain(ctx, dir, limit)
				case c.prints == "":
					return ran(notebook.Raised, "", "KeyError: 'a'"), nil
				}
				return marked(dir, ran(notebook.OK, c.prints+"\n", "")), nil
			}
		}).noError(t)
		equal(t, c.prints, strings.Join(p.Doubts(), "\n"), c.doubts)
	}
}

// TestRewrittenData: what changes in the data during the run is found, whatever size and date say, and
// what only touches them is not. The record keeps the sums, by which later data are told from them.
func TestRewrittenData(t *testing.T) {
	for what, doubt := range map[string]string{"18\n": "a.csv was changed", "17\n": ""} {
		p := play(t, simple, withData(t, tables("a.csv")), quickly, func(s *stage) {
			s.model.before = func(_ context.Context, key string) error {
				if key != "second the answer" {
					return nil
				}
				path := filepath.Join(s.task.Data, "a.csv")
				info, text := must(os.Stat(path)), must(os.ReadFile(path))
				return errors.Join(os.WriteFile(path, bytes.ReplaceAll(text, []byte("17\n"), []byte(what)), 0o644),
					os.Chtimes(path, info.ModTime(), info.ModTime()))
			}
		}).noError(t)
		if p.Verified() != (doubt == "") {
			t.Errorf("%q: doubts %q", what, p.Doubts())
		}
		contains(t, strings.Join(p.Doubts(), "\n"), doubt)
		now := slices.Clone(p.Task.Files)
		if now[0].Sum = strings.Repeat("0", 64); p.Task.Files[0].Sum == "" || p.DataChanges(now) == "" {
			t.Errorf("files %+v", p.Task.Files)
		}
	}
}

// TestMoreTime: a cell that ran for too long runs again if it has more time, and only then.
func TestMoreTime(t *testing.T) {
	p := play(t, simple.with(script{"cell": "hang()", "debugger": "x = 1\nprint(x)"})).noError(t)
	for limit, again := range map[time.Duration]bool{0: false, time.Hour: true} {
		q := goOn(t, simple, readAgain(t, p.Trajectory), func(s *stage) { s.config.CellTimeout = limit })
		if slices.Contains(q.ranCells(), "hang()") != again {
			t.Errorf("with %s: ran %q", limit, q.ranCells())
		}
	}
}

// TestNoteForLater: a note for a later question is for it alone, also while an earlier one is in work.
func TestNoteForLater(t *testing.T) {
	p := of(simple).on(next, onward).on(edit(insert("answer-2", note("Mind."))), onward).play(t)
	stopped := errors.New("stopped")
	p = goOn(t, onward, seven(t, p.Trajectory), func(s *stage) {
		s.model.before = func(context.Context, string) error { return stopped }
	})
	if again := readAgain(t, p.Trajectory); p.err == nil || len(again.Left) != 1 || again.Left[0].Part != 2 || len(again.Later) != 1 {
		t.Errorf("%v, left %v, %d later", p.err, again.Left, len(again.Later))
	}
}

// TestRetract: a question that is retracted leaves the run as it was, without anything being asked,
// and another one may be asked in its place.
func TestRetract(t *testing.T) {
	first := play(t, simple).noError(t).Trajectory
	p := goOn(t, onward, next(t, readAgain(t, first))).noError(t)
	for _, number := range []int{0, 1, 3} {
		if err := p.Retract(number); err == nil || len(p.Questions) != 2 {
			t.Errorf("question %d is retracted", number)
		}
	}
	retract := changed(func(tr *record.Trajectory) { must(0, tr.Retract(2)) })
	back := turn{does: retract}.play(t, p.Trajectory).noError(t)
	usage := cmpopts.IgnoreFields(record.Trajectory{}, "Usage", "ByRole", "Seal")
	if diff := cmp.Diff(first, back.Trajectory, same, usage); diff != "" {
		t.Errorf("(-before +retracted)\n%s", diff)
	}
	anew := turn{does: then(retract, question("In another way?", "")), replies: fresh}.play(t, p.Trajectory).noError(t)
	if len(anew.Questions) != 2 || anew.Text != "In another way?" || !anew.Verified() {
		t.Errorf("%d questions, the last %q, %q", len(anew.Questions), anew.Text, anew.Doubts())
	}
	if err := record.New(record.Task{}, record.Question{Rounds: []record.Round{{ByHand: true,
		Attempts: []record.Attempt{{Execution: notebook.Execution{Status: notebook.OK}}}}}}).Ask("??", ""); err == nil {
		t.Error("a cell of a person's goes with a question")
	}
}

// TestSecondIsApart: it runs on what the set-up leaves, in a session of its own if there can be
// one, and nothing of it stays; in somebody else's session no branch leaves anything either.
func TestSecondIsApart(t *testing.T) {
	for _, refusal := range []error{nil, errors.ErrUnsupported} {
		p := play(t, three.with(script{"second": "x = 123\nx"}), refuses(agent.Second, refusal)).noError(t)
		var begins []string // the first cells of its session, whose data folder has its whole path
		rolled := p.world.of(agent.Work)[0].rolled
		if refusal != nil {
			begins = rolled[len(rolled)-2]
			equal(t, "the session goes back to", rolled[len(rolled)-1], p.Cells())
		} else {
			begins = p.world.of(agent.Second)[0].ran[:2]
			equal(t, "times that the run's session went back", len(rolled), 0)
		}
		equal(t, "it begins with", begins, p.Cells()[:2])
		if s := p.Second; !p.Verified() || s.Answer != "123" || s.Together != (refusal != nil) {
			t.Errorf("%q, %+v", p.Doubts(), s)
		}
		lacks(t, strings.Join(p.Cells(), "\n"), "x = 123")
	}
	p := play(t, open.with(script{"second": "w = 3\nagreed()"}), hosted).noError(t)
	work := p.world.of(agent.Work)[0]
	equal(t, "the last state", work.rolled[len(work.rolled)-1], p.Cells()[:len(p.Cells())-1])
	if work.vars["w"] != "" || work.vars["x"] != "1" || p.OpenReadings()[0].Options[1].Answer != "2" || !p.Second.Agrees {
		t.Errorf("%v, %+v, %+v", work.vars, p.Readings, p.Second)
	}
}

// TestBaseline: another method is stopped and goes on. What it has asked and run is in the journal, and
// what a cell that raised has done stays.
func TestBaseline(t *testing.T) {
	work := func(ctx context.Context, d *agent.Desk) (string, bool, error) {
		for _, cell := range []string{"x = 1\nraise KeyError(\"x\")", "print(x)"} {
			if _, err := d.Run(ctx, "I look.", cell); err != nil {
				return "", false, err
			}
			step, err := ask.Role(ctx, d.Asker(), ask.Request{Role: "planner", Subject: cell,
				Words: func() []prompts.Part { return []prompts.Part{prompts.Coder{Step: cell}} }}, ask.Step)
			if err = errors.Join(err, d.Note(step, "")); err != nil {
				return "", false, err
			}
		}
		return "1", true, nil
	}
	gone := errors.New("gone")
	other := func(s *stage) {
		s.quick, s.config.Baseline = true, &agent.Baseline{Answer: work, System: prompts.Workplace{}}
		s.config.Method = record.Method{Agent: "other"}
		s.model.before = func(_ context.Context, key string) error {
			if s.resume == nil && key == "planner print(x)" {
				return gone
			}
			return nil
		}
	}
	p := play(t, published, other)
	if !errors.Is(p.err, gone) {
		t.Fatal(p.err)
	}
	p = goOn(t, published, p.Trajectory, other).noError(t)
	first, kept := p.Rounds[0].Accepted()
	if p.Answer() != "1" || p.Verified() || !p.Sufficient() || !kept || !first.Kept || p.Steps() != 2 {
		t.Errorf("the record is %+v", p.Rounds)
	}
	if !slices.Equal(p.model.asked, []string{"planner print(x)"}) || p.world.sessions != nil {
		t.Errorf("asked again: %v, sessions %v", p.model.asked, p.world.sessions)
	}
}
