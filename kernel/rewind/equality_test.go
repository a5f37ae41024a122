package rewind

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

var (
	sessions    = flag.Int("sessions", 0, "random sessions of TestEquality; 0: 2, with DSSTAR_LONG 10")
	sessionSeed = flag.Uint64("session-seed", 1, "the first of their seeds")
)

//go:embed testdata/digest.py
var digest []byte

// A lab is a folder for the states that sessions write, with digest.py.
type lab string

// open starts a kernel in its own folder. The end of the test closes it.
func (l lab) open(t testing.TB, spec kernel.Spec, tier string) *Session {
	t.Helper()
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	o := setup{kernel.Options{
		Spec: spec, Dir: dir, Scratch: dir, CellTimeout: 30 * time.Second,
		Env: append(os.Environ(), "DSSTAR_FOLDER="+dir, "DSSTAR_DIGESTS="+string(l), "PYTHONHASHSEED=0"),
	}, Options{Branches: true}}
	if tier != "" {
		o.Sandbox = kerneltest.Confine(t, tier, dir, string(l))
	}
	return open(t, o)
}

// A kept is a remaining cell of a session.
type kept struct {
	op
	node    int // of the tree of sessions: the same only where all cells before are the same, too
	skipped bool
	got     notebook.Execution
}

// A played session runs a plan. Going back to a wrong state ends the test.
type played struct {
	*testing.T
	lab
	k     *Session
	trail []kept
	nodes int
	looks map[int]notebook.Execution // by node
	ways  map[string]int             // how it went back
}

// play runs a plan in an empty session.
func (l lab) play(ctx context.Context, t *testing.T, k *Session, p plan) *played {
	s := &played{T: t, lab: l, k: k, looks: map[int]notebook.Execution{}, ways: map[string]int{}}
	done := 0
	t.Cleanup(func() {
		t.Log(s.ways)
		if t.Failed() {
			t.Logf("after %d ops of the session:\n%s", done, p.script())
		}
	})
	for _, o := range p.ops {
		s.do(ctx, o)
		done++
	}
	return s
}

func (s *played) do(ctx context.Context, o op) {
	if o.code == "" {
		s.back(ctx, o.back)
		return
	}
	cell := kernel.Cell{Code: o.code}
	if o.want == notebook.TimedOut {
		cell.Timeout = 300 * time.Millisecond // it does not end
	}
	x, err := s.k.ExecuteCell(ctx, cell)
	ok(s, err)
	s.nodes++
	now := kept{o, s.nodes, false, x}
	switch {
	case o.look: // the state is as when the session was at this node before
		here := s.trail[len(s.trail)-1].node
		if then, known := s.looks[here]; known {
			s.same(then, x, "")
		} else {
			s.looks[here] = x
		}
	case o.want == notebook.OK && x.Status == notebook.Raised:
		// The planner does not know what earlier statements have left, so a cell may fail. It is undone,
		// like any cell that fails.
		now.skipped = true
		s.trail = append(s.trail, now)
		s.back(ctx, len(s.trail))
		return
	case x.Status != o.want && (o.want == notebook.OK || x.Status == notebook.OK):
		s.Fatalf("%s %s\n%s\n%s", x.Status, x.Reason, x.PlainText(), o.code)
	case o.want != notebook.OK:
		return // the plan goes back now
	}
	s.trail = append(s.trail, now)
}

// same compares the states that two executions wrote, without the lines that begin with the mark
// except.
func (s *played) same(want, got notebook.Execution, except string) {
	var states [2][]string
	for i, x := range []notebook.Execution{want, got} {
		text, err := os.ReadFile(filepath.Join(string(s.lab), filepath.Base(x.Stdout())))
		if err != nil || x.Status != notebook.OK {
			s.Fatalf("no state: %v %s", err, x.PlainText())
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		states[i] = slices.DeleteFunc(lines, func(line string) bool {
			return except != "" && strings.HasPrefix(line, except)
		})
	}
	if d := cmp.Diff(states[0], states[1]); d != "" {
		s.Fatalf("the states differ: %.9000s", d)
	}
}

// back goes back to the first cells of the trail, without those that failed and were undone.
func (s *played) back(ctx context.Context, cells int) {
	s.trail = s.trail[:cells]
	var codes []string
	var left []kept
	for _, c := range s.trail {
		if !c.skipped {
			codes, left = append(codes, c.code), append(left, c)
		}
	}
	r, err := s.k.Rollback(ctx, codes)
	ok(s, err)
	why := string(r.Way)
	if r.Why != "" {
		why += ": " + r.Why
	}
	if r.Way == notebook.ByCheckpoint && r.Kept < len(codes) {
		why += ", and cells ran again"
	}
	s.ways[why]++
	if len(r.Executions) != len(codes) {
		s.Fatalf("back at %d cells of %d", len(r.Executions), len(codes))
	}
	for i, x := range r.Executions {
		if d := outputs(left[i], x); d != "" {
			s.Fatalf("after going back (%s) cell %d has given: %s\n%s", why, i+1, d, left[i].code)
		}
	}
}

// legitimate are the reasons for replays that statements of plans can cause: they replace open
// files, and remove their working folder. Copies keep the content of files without names.
var legitimate = regexp.MustCompile(`[^)] was open and has been changed since|` +
	`the folder that cells worked in has been removed since|is locked`)

// outputs returns how the visible outputs of two executions of a cell differ.
func outputs(want kept, got notebook.Execution) string {
	if got.Status != want.got.Status || got.Count != want.got.Count {
		return fmt.Sprintf("%s [%d], want %s [%d]: %s", got.Status, got.Count, want.got.Status,
			want.got.Count, got.PlainText())
	}
	if want.look {
		return ""
	}
	return cmp.Diff(steady(want.got), steady(got))
}

// unsteady matches what differs between runs: addresses, process ids in the file names that
// tracebacks and warnings give to cells, and the private folders of sandboxes.
var unsteady = regexp.MustCompile(`ipykernel_\d+|\b0x[0-9a-f]{6,}|/gokernel-\d+\b`)

// steady returns the outputs of a cell without what is random: a kernel sends stdout and stderr by
// separate timers, so either may come first.
func steady(x notebook.Execution) string {
	text := x.Stdout() + "\n" + x.Stream("stderr")
	for _, o := range x.Outputs {
		if o.Type != notebook.Stream {
			text += "\n" + o.PlainText()
		}
	}
	// said where a slow machine takes five seconds for it
	text = strings.Replace(text, "Matplotlib is building the font cache; this may take a moment.\n", "", 1)
	return unsteady.ReplaceAllString(text, "...")
}

// again runs the remaining cells in another, empty session, and compares outputs and state.
func (s *played) again(ctx context.Context, k *Session, except string) {
	var last notebook.Execution
	for i, c := range s.trail {
		if c.skipped {
			continue
		}
		x, err := k.Execute(ctx, c.code)
		ok(s, err)
		if d := outputs(c, x); d != "" {
			s.Fatalf("in a fresh kernel cell %d gives: %s\n%s", i+1, d, c.code)
		}
		last = x
	}
	s.same(last, s.trail[len(s.trail)-1].got, except)
}

// The state after going back equals that of a fresh kernel that ran only the remaining cells, and
// that of the session when it was there before. See testdata/digest.py for what is compared.
func TestEquality(t *testing.T) {
	l := lab(t.TempDir())
	ok(t, os.WriteFile(string(l)+"/digest.py", digest, 0o600))
	n := *sessions
	if n == 0 {
		n = 2
		if os.Getenv("DSSTAR_LONG") != "" {
			n = 10
		}
	}
	var backs, copies atomic.Int64
	t.Cleanup(func() {
		t.Logf("went back %d times, %d to a frozen copy", backs.Load(), copies.Load())
		if 10*copies.Load() < 9*backs.Load() && !t.Failed() {
			t.Error("too seldom to a frozen copy")
		}
	})
	for seed := *sessionSeed; seed < *sessionSeed+uint64(n); seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			l.session(t, seed, &backs, &copies)
		})
	}
}

// session plays one plan, and runs the remaining cells in a fresh kernel: every second time in an
// ipykernel without checkpoints, which could not list its descriptors in a sandbox. Every fifth
// session is in the builtin sandbox.
func (l lab) session(t *testing.T, seed uint64, backs, copies *atomic.Int64) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	tier := *testTier
	if tier == "" && seed%5 == 0 {
		tier = "builtin"
	}
	spec, except := checkpointSpec(t), ""
	look := fmt.Sprintf("exec(compile(open(%q).read(), 'digest.py', 'exec'), {})", l+"/digest.py")
	s := l.play(ctx, t, l.open(t, spec, tier), newPlan(seed, 14, look))
	for why, times := range s.ways {
		backs.Add(int64(times))
		if why != string(notebook.ByCheckpoint) && !legitimate.MatchString(why) {
			t.Errorf("%d times it went back by %s", times, why)
		}
	}
	copies.Add(int64(s.ways[string(notebook.ByCheckpoint)]))
	if seed%2 == 0 && tier == "" {
		spec, except = kernel.PythonSpec(pyenvtest.Python(t)), "^"
	}
	s.again(ctx, l.open(t, spec, tier), except)
}
