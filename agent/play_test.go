package agent_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/journal"
	"dsstar/agent/llm"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// TestMain makes property tests short, unless DSSTAR_LONG is set or -rapid.checks says how long.
func TestMain(m *testing.M) {
	if os.Getenv("DSSTAR_LONG") == "" {
		_ = flag.Set("rapid.checks", "25")
	}
	debug.SetGCPercent(400) // many runs make garbage; few keep any
	if _, err := os.Stat("/dev/shm"); err == nil {
		_ = os.Setenv("TMPDIR", "/dev/shm") // each run has folders of its own
	}
	goleak.VerifyTestMain(m)
}

// A reporter is a test of testing or of rapid, which lack a common TempDir.
type reporter interface {
	Helper()
	Context() context.Context
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// A played run is over.
type played struct {
	*record.Trajectory
	err    error
	model  *model
	world  *world
	kinds  []agent.Kind
	events []agent.Event
}

// A stage is what a test may change before its run.
type stage struct {
	ctx    context.Context
	config agent.Config
	task   record.Task
	resume *record.Trajectory // to go on from; nil: the run begins
	quick  bool               // the notebook is not checked
	each   bool               // it is checked at each event that is not spared, not at the end only
	model  *model
	world  *world
}

// aNumber are the guidelines: a number with three decimals is not in their form.
const aNumber = "A value. At most 2 decimals."

// play runs the agent on a script, and checks at its events what has to hold in every run.
func play(t reporter, replies script, change ...func(*stage)) *played {
	t.Helper()
	above := must(os.MkdirTemp("", "dsstar-test-"))
	defer os.RemoveAll(above)
	dir := filepath.Join(above, "run")
	must(0, os.Mkdir(dir, 0o755))
	p := &played{world: &world{t: t}, model: &model{t: t, requests: map[string]llm.Request{}}}
	p.model.says = func(r llm.Request) (string, bool) { return replies.whole(r.Role, r.Subject) }
	p.model.answer = func() string {
		p.world.mu.Lock()
		defer p.world.mu.Unlock()
		return p.world.answer
	}
	s := &stage{
		ctx: t.Context(), model: p.model, world: p.world,
		config: agent.Config{
			Settings: ask.Settings{
				Model: p.model, MaxTokens: 1000,
				ResultChars: 6000, DescriptionChars: 6000, ContextChars: 20000,
			},
			Options: describe.Options{DebugTries: 2, TopK: 100, Jobs: 2},
			Open:    p.world.Open, RunScript: p.world.RunScript, Dir: dir, MaxRounds: 6,
			Observe: func(agent.Event, *record.Trajectory) error { return nil },
		},
		task: record.Task{Question: "How many?", Guidelines: aNumber, Data: "/data",
			Files: filesOf("a.csv")},
	}
	for _, c := range change {
		c(s)
	}
	watch, last := s.config.Observe, &notebook.Notebook{}
	s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
		p.world.mu.Lock()
		p.world.answer = tr.Answer()
		p.world.mu.Unlock()
		if e.Kind == agent.Recorded {
			return watch(e, tr)
		}
		if all := p.world.of(agent.Work); e.Kind == agent.Ended && len(all) > 0 {
			for name, want := range all[len(all)-1].saved { // wherever a proof has ended
				if is, _ := os.ReadFile(name); string(is) != want {
					t.Errorf("the file %s of the run is %q, not %q", name, is, want)
				}
			}
		}
		p.events, p.kinds = append(p.events, e), append(p.kinds, e.Kind)
		if e.Kind == agent.Ended && !s.quick || s.each && !spared(len(p.events)) {
			last = checkNotebook(t, tr, last)
		}
		return watch(e, tr)
	}
	if s.resume != nil {
		if p.world.answer = s.resume.Answer(); len(s.resume.Edits())+len(s.resume.Later) > 0 {
			journal.Drop(s.resume.Journal, "cell", agrees) // with another answer
		}
		p.Trajectory, p.err = agent.Resume(s.ctx, s.config, s.resume, s.task.Files)
	} else {
		p.Trajectory, p.err = agent.Run(s.ctx, s.config, s.task)
	}

	if !p.Ended || p.kinds[len(p.kinds)-1] != agent.Ended || (p.err == nil) != (p.Failure == "") {
		t.Errorf("the end: %v, %q, events %v, error %v", p.Ended, p.Failure, p.kinds, p.err)
	}
	for _, one := range p.world.sessions {
		if one.closed != 1 {
			t.Errorf("a session of purpose %d was closed %d times", one.purpose, one.closed)
		}
	}
	if left, err := os.ReadDir(above); err != nil || len(left) != 1 {
		t.Errorf("beside the run folder is left %v, %v", left, err)
	}
	return p
}

// agrees reports whether a cell is perhaps one that gives whatever the accepted cells give.
func agrees(x notebook.Execution) bool {
	_, has := record.ResultText(x)
	return has
}

// goOn resumes a run from a record.
func goOn(t reporter, replies script, tr *record.Trajectory, change ...func(*stage)) *played {
	t.Helper()
	return play(t, replies, append([]func(*stage){func(s *stage) { s.resume = tr }}, change...)...)
}

// noError is for runs that get to their end.
func (p *played) noError(t reporter) *played {
	t.Helper()
	if p.err != nil {
		t.Fatalf("%v; asked %q", p.err, p.model.asked)
	}
	return p
}

// filesOf are data files of these names, which are nowhere.
func filesOf(names ...string) (all []record.File) {
	for _, name := range names {
		all = append(all, record.File{Name: name, Size: 10})
	}
	return all
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// contains and lacks check a prompt.
func contains(t reporter, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func lacks(t reporter, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q is in\n%s", part, text)
		}
	}
}

func equal(t reporter, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// checkNotebook checks the notebook that is saved at an event against the
// trajectory and the notebook before.
func checkNotebook(t reporter, tr *record.Trajectory,
	before *notebook.Notebook) *notebook.Notebook {
	t.Helper()
	nb := page.Draw(tr)
	types := map[string]notebook.CellType{}
	var code []string
	for _, c := range nb.Cells {
		if _, twice := types[c.ID]; twice || c.ID == "" {
			t.Errorf("two cells, or none, with the id %q", c.ID)
		}
		types[c.ID] = c.Type
		if c.Type != notebook.Code {
			continue
		}
		code = append(code, c.Source)
		if c.ExecutionCount != len(code) && tr.Environment != "" {
			t.Errorf("code cell %d has the execution count %d", len(code), c.ExecutionCount)
		}
	}
	for _, c := range before.Cells {
		if now, still := types[c.ID]; still && now != c.Type {
			t.Errorf("the cell %s was %s and is %s", c.ID, c.Type, now)
		}
	}
	equal(t, "the code cells, which are the accepted cells", code, tr.Cells())
	checkScript(t, tr)
	data := must(nb.Encode())
	back := reread(data)
	back.Seal = tr.Seal // that of the notebook before
	order := cmpopts.SortSlices(func(a, b record.Remark) int {
		return strings.Compare(a.After+" "+a.Cell.ID, b.After+" "+b.Cell.ID)
	})
	// first what is quick: cmp took a third of the time of all tests
	if string(must(json.Marshal(tr))) != string(must(json.Marshal(back))) || !reflect.DeepEqual(tr.Remarks, back.Remarks) {
		if diff := cmp.Diff(tr, back, cmpopts.EquateEmpty(), order, journals); diff != "" {
			t.Errorf("the trajectory that is read back differs (-want +got)\n%s", diff)
		}
	}
	equal(t, "drawn again", string(must(page.Draw(back).Encode())), string(data))
	return nb
}

// journals compares journals.
var journals = cmp.Comparer(func(a, b *journal.Journal) bool {
	all, read := string(must(json.Marshal(a))), string(must(json.Marshal(b)))
	return strings.HasPrefix(all, strings.TrimSuffix(read, "]")) // more may have been added since
})

var scriptCell, notComment = regexp.MustCompile("\n\n\n# %% .*\n"), regexp.MustCompile("(?m)^[^#\n].*")

// checkScript checks that the script is the cells, each below a comment, which has the question's number
// if there are several, and nothing else but comments above them.
func checkScript(t reporter, tr *record.Trajectory) {
	t.Helper()
	parts := scriptCell.Split(strings.TrimSuffix(tr.Script(), "\n"), -1)
	if code := notComment.FindString(parts[0]); code != "" {
		t.Errorf("above the cells of the script: %q", code)
	}
	equal(t, "the cells of the script", parts[1:], tr.Cells())
	for k := range tr.Questions {
		of := fmt.Sprintf("# %%%% Question %d, ", k+1)
		if strings.Contains(tr.Script(), of) != (len(tr.Questions) > 1 && len(tr.Part(k).OwnCells()) > 0) {
			t.Errorf("no title begins with %q in\n%s", of, tr.Script())
		}
	}
}

// spared reports whether moment n of many is left out: six of seven. DSSTAR_LONG takes all.
func spared(n int) bool {
	return os.Getenv("DSSTAR_LONG") == "" && n%7 != 0
}
