package rewind

import (
	"context"
	_ "embed"
	"errors"
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

// A lab has a folder for the states that sessions write, and the cell that writes one.
type lab struct {
	digests string
	look    string
}

func newLab(t testing.TB) lab {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "digest.py")
	ok(t, os.WriteFile(path, digest, 0o600))
	return lab{dir, fmt.Sprintf("exec(compile(open(%q).read(), 'digest.py', 'exec'), {})", path)}
}

// open starts a kernel in its own folder. The end of the test closes it.
func (l lab) open(t testing.TB, spec kernel.Spec, tier string) *Session {
	t.Helper()
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	o := setup{kernel.Options{
		Spec: spec, Dir: dir, Scratch: dir, CellTimeout: 30 * time.Second,
		Env: append(os.Environ(), "DSSTAR_FOLDER="+dir, "DSSTAR_DIGESTS="+l.digests, "PYTHONHASHSEED=0"),
	}, Options{Branches: true}}
	if tier != "" {
		o.Sandbox = kerneltest.Confine(t, tier, dir, l.digests)
	}
	return open(t, o)
}

// state reads the state that a cell wrote, without the lines that begin with the mark except.
func (l lab) state(x notebook.Execution, except string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(l.digests, filepath.Base(x.Stdout())))
	if err != nil || x.Status != notebook.OK {
		return nil, fmt.Errorf("no state: %w %s", err, x.PlainText())
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return slices.DeleteFunc(lines, func(line string) bool {
		return except != "" && strings.HasPrefix(line, except)
	}), nil
}

// A kept is a remaining cell of a session.
type kept struct {
	op
	node    int // of the tree of sessions: the same only where all cells before are the same, too
	skipped bool
	got     notebook.Execution
}

// A played session has run a plan.
type played struct {
	lab   lab
	k     *Session
	plan  plan
	trail []kept
	nodes int
	looks map[int]notebook.Execution // by node
	ways  map[string]int             // how it went back
}

// play runs a plan in an empty session. It returns an error if going back leads to a wrong state.
func (l lab) play(ctx context.Context, k *Session, p plan) (*played, error) {
	s := &played{lab: l, k: k, plan: p, looks: map[int]notebook.Execution{}, ways: map[string]int{}}
	for i, o := range p.ops {
		if err := s.do(ctx, o); err != nil {
			return s, fmt.Errorf("op %d: %w", i+1, err)
		}
	}
	return s, nil
}

func (s *played) do(ctx context.Context, o op) error {
	if o.code == "" {
		return s.back(ctx, o.back)
	}
	cell := kernel.Cell{Code: o.code}
	if o.want == notebook.TimedOut {
		cell.Timeout = stopped
	}
	x, err := s.k.ExecuteCell(ctx, cell)
	if err != nil {
		return err
	}
	s.nodes++
	now := kept{o, s.nodes, false, x}
	switch {
	case o.look:
		err = s.compare(x)
	case o.want == notebook.OK && x.Status == notebook.Raised:
		// The planner does not know what earlier statements have left, so a cell may fail. It is undone,
		// like any cell that fails.
		now.skipped = true
		s.trail = append(s.trail, now)
		return s.back(ctx, len(s.trail))
	case x.Status != o.want && (o.want == notebook.OK || x.Status == notebook.OK):
		return fmt.Errorf("%s %s\n%s\n%s", x.Status, x.Reason, x.PlainText(), o.code)
	case o.want != notebook.OK:
		return nil // the plan goes back now
	}
	s.trail = append(s.trail, now)
	return err
}

// stopped is the time-out of a cell that does not end.
const stopped = 300 * time.Millisecond

// compare compares the state with that when the session was at this node before.
func (s *played) compare(now notebook.Execution) error {
	here := 0
	if n := len(s.trail); n > 0 {
		here = s.trail[n-1].node
	}
	then, ok := s.looks[here]
	if !ok {
		s.looks[here] = now
		return nil
	}
	return s.lab.same(then, now, "")
}

// same returns how the states that two executions wrote differ, without lines that begin with the
// mark except.
func (l lab) same(want, got notebook.Execution, except string) error {
	a, err := l.state(want, except)
	b, e := l.state(got, except)
	if err := errors.Join(err, e); err != nil {
		return err
	}
	if d := cmp.Diff(a, b); d != "" {
		return fmt.Errorf("the states differ: %.9000s", d)
	}
	return nil
}

// back goes back to the first cells of the trail, without those that failed and were undone.
func (s *played) back(ctx context.Context, cells int) error {
	s.trail = s.trail[:cells]
	var codes []string
	var left []kept
	for _, c := range s.trail {
		if !c.skipped {
			codes, left = append(codes, c.code), append(left, c)
		}
	}
	r, err := s.k.Rollback(ctx, codes)
	if err != nil {
		return fmt.Errorf("go back to %d cells: %w", len(codes), err)
	}
	why := string(r.Way)
	if r.Why != "" {
		why += ": " + r.Why
	}
	if r.Way == notebook.ByCheckpoint && r.Kept < len(codes) {
		why += ", and cells ran again"
	}
	s.ways[why]++
	if len(r.Executions) != len(codes) {
		return fmt.Errorf("back at %d cells of %d", len(r.Executions), len(codes))
	}
	for i, x := range r.Executions {
		if d := outputs(left[i], x); d != "" {
			return fmt.Errorf("after going back (%s) cell %d has given: %s\n%s", why, i+1, d, left[i].code)
		}
	}
	return nil
}

// legitimate are the reasons for replays that statements of plans can cause: they replace open
// files, and remove their working folder. Copies keep the content of files without names.
var legitimate = regexp.MustCompile(`[^)] was open and has been changed since|` +
	`the folder that cells worked in has been removed since|is locked`)

// copied counts how often the session went back, and how often to a frozen copy that had all cells.
// It returns an error if the reason for a replay is not legitimate.
func (s *played) copied() (backs, copies int, err error) {
	for why, times := range s.ways {
		backs += times
		if why != string(notebook.ByCheckpoint) && !legitimate.MatchString(why) {
			err = errors.Join(err, fmt.Errorf("%d times it went back by %s", times, why))
		}
	}
	return backs, s.ways[string(notebook.ByCheckpoint)], err
}

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
	return unsteady.ReplaceAllString(text, "...")
}

// again runs the remaining cells in another, empty session, and compares outputs and state.
func (s *played) again(ctx context.Context, k *Session, except string) error {
	var last notebook.Execution
	for i, c := range s.trail {
		if c.skipped {
			continue
		}
		x, err := k.Execute(ctx, c.code)
		if err != nil {
			return err
		}
		if d := outputs(c, x); d != "" {
			return fmt.Errorf("in a fresh kernel cell %d gives: %s\n%s", i+1, d, c.code)
		}
		last = x
	}
	return s.lab.same(last, s.trail[len(s.trail)-1].got, except)
}

// The state after going back equals that of a fresh kernel that ran only the remaining cells, and
// that of the session when it was there before. See testdata/digest.py for what is compared.
func TestEquality(t *testing.T) {
	l := newLab(t)
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
	p, spec, except := newPlan(seed, 14, l.look), checkpointSpec(t), ""
	s, err := l.play(ctx, l.open(t, spec, tier), p)
	if err == nil {
		var all, exact int
		all, exact, err = s.copied()
		backs.Add(int64(all))
		copies.Add(int64(exact))
	}
	if seed%2 == 0 && tier == "" {
		spec, except = kernel.PythonSpec(pyenvtest.Python(t)), "^"
	}
	if err == nil {
		err = s.again(ctx, l.open(t, spec, tier), except)
	}
	t.Log(s.ways)
	if err != nil {
		t.Errorf("%v\n\nthe session:\n%s", err, p.script())
	}
}
