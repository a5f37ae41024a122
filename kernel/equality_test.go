package kernel

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dsstar/notebook"
)

var (
	sessions    = flag.Int("sessions", 25, "random sessions of TestEquality")
	sessionSeed = flag.Uint64("session-seed", 1, "the first of their seeds")
)

// A lab is a folder of the states that sessions tell, and the cell that tells one.
type lab struct {
	digests string
	look    string
}

func newLab(t testing.TB) lab {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "digest.py"))
	if err != nil {
		t.Fatal(err)
	}
	return lab{t.TempDir(), fmt.Sprintf("exec(compile(open(%q).read(), 'digest.py', 'exec'), {})", path)}
}

// open starts a kernel in a folder of its own.
func (l lab) open(t testing.TB, spec Spec, env ...string) (*Kernel, error) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		return nil, err
	}
	env = append(os.Environ(), append(env, "DSSTAR_FOLDER="+dir, "DSSTAR_DIGESTS="+l.digests, "PYTHONHASHSEED=0")...)
	return Start(t.Context(), Options{Spec: spec, Dir: dir, Scratch: dir, Copies: filepath.Join(t.TempDir(), "copies"), Env: env, CellTimeout: 30 * time.Second})
}

// state reads what a cell told. Volatile facts are left out unless they are wanted.
func (l lab) state(x notebook.Execution, volatile bool) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(l.digests, filepath.Base(x.Stdout())))
	if err != nil || x.Status != notebook.OK {
		return nil, fmt.Errorf("no state: %w %s", err, x.PlainText())
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return !volatile && strings.HasPrefix(line, "~") }), nil
}

// A kept is a cell that is left in a session.
type kept struct {
	op
	node    int // of the tree of sessions: the same only where all cells before are the same, too
	skipped bool
	got     notebook.Execution
}

// A played session is one that has run a plan.
type played struct {
	lab   lab
	k     *Kernel
	plan  plan
	trail []kept
	nodes int
	looks map[int]notebook.Execution // by the node that was looked at
	ways  map[string]int             // how it went back
	exact bool                       // nothing ran again since the start
}

// play runs a plan in a session that is empty. It returns what is wrong with where going back led to.
func (l lab) play(ctx context.Context, k *Kernel, p plan) (*played, error) {
	s := &played{lab: l, k: k, plan: p, looks: map[int]notebook.Execution{}, ways: map[string]int{}, exact: true}
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
	x, err := s.k.Execute(ctx, o.code)
	if err != nil {
		return err
	}
	s.nodes++
	cell := kept{o, s.nodes, false, x}
	switch {
	case o.look:
		err = s.compare(x)
	case o.want == notebook.OK && x.Status == notebook.Raised:
		// The statements do not know what the ones before have left. It is undone, as any cell that fails.
		cell.skipped = true
		if e, ok := x.Error(); ok && os.Getenv("WHY") != "" {
			fmt.Println("RAISED", e.PlainText()[max(0, len(e.PlainText())-100):])
		}
		s.trail = append(s.trail, cell)
		return s.back(ctx, len(s.trail))
	case x.Status != o.want && (o.want == notebook.OK || x.Status == notebook.OK):
		return fmt.Errorf("%s %s\n%s\n%s", x.Status, x.Reason, x.PlainText(), o.code)
	case o.want != notebook.OK:
		return nil // the plan goes back now
	}
	s.trail = append(s.trail, cell)
	return err
}

// compare compares the state with what it was when the session was here before.
func (s *played) compare(now notebook.Execution) error {
	here := 0
	if n := len(s.trail); n > 0 {
		here = s.trail[n-1].node
	}
	then, ok := s.looks[here]
	if !ok || s.plan.unseeded && !s.exact {
		s.looks[here] = now
		return nil
	}
	return s.lab.same(then, now, s.exact)
}

// same returns how the states that two executions told differ.
func (l lab) same(want, got notebook.Execution, volatile bool) error {
	a, err := l.state(want, volatile)
	b, e := l.state(got, volatile)
	if err := errors.Join(err, e); err != nil {
		return err
	}
	if slices.Equal(a, b) {
		return nil
	}
	return fmt.Errorf("the states differ (-want +got):\n%s", differing(a, b))
}

// differing are the lines that are in one of a and b only, and what is in another place.
func differing(a, b []string) string {
	if len(a) > 2000 || len(b) > 2000 { // cmp is slow with many lines
		in := func(all []string) map[string]bool {
			m := map[string]bool{}
			for _, line := range all {
				m[line] = true
			}
			return m
		}
		inA, inB := in(a), in(b)
		var d []string
		for _, line := range a {
			if !inB[line] {
				d = append(d, "- "+line)
			}
		}
		for _, line := range b {
			if !inA[line] {
				d = append(d, "+ "+line)
			}
		}
		if len(d) > 0 {
			return strings.Join(d[:min(60, len(d))], "\n")
		}
	}
	return cmp.Diff(a, b)
}

// back goes back to the first cells of the trail, without those that were undone because they failed.
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
	s.exact = s.exact && r.Way == notebook.ByCheckpoint && r.Kept == len(codes)
	if len(r.Executions) != len(codes) {
		return fmt.Errorf("back at %d cells of %d", len(r.Executions), len(codes))
	}
	for i, x := range r.Executions {
		if d := outputs(left[i], x, s.plan.unseeded); d != "" {
			return fmt.Errorf("after going back (%s) cell %d has given: %s\n%s", why, i+1, d, left[i].code)
		}
	}
	return nil
}

// outputs returns how an execution differs from that of a cell in what can be seen.
func outputs(want kept, got notebook.Execution, unseeded bool) string {
	if got.Status != want.got.Status || got.Count != want.got.Count {
		return fmt.Sprintf("%s [%d], want %s [%d]: %s", got.Status, got.Count, want.got.Status, want.got.Count, got.PlainText())
	}
	if want.look || unseeded {
		return ""
	}
	return cmp.Diff(steady(want.got), steady(got))
}

// unsteady are addresses, and process ids in the names of the files that tracebacks and warnings give to cells.
var unsteady = regexp.MustCompile(`ipykernel_\d+|\b0x[0-9a-f]{6,}`)

func steady(x notebook.Execution) string { return unsteady.ReplaceAllString(x.PlainText(), "...") }

// again runs the cells that are left in another session, which is empty, and compares outputs and state.
func (s *played) again(ctx context.Context, k *Kernel) error {
	var last notebook.Execution
	for i, c := range s.trail {
		if c.skipped {
			continue
		}
		x, err := k.Execute(ctx, c.code)
		if err != nil {
			return err
		}
		if d := outputs(c, x, s.plan.unseeded); d != "" {
			return fmt.Errorf("in a fresh kernel cell %d gives: %s\n%s", i+1, d, c.code)
		}
		last = x
	}
	return s.lab.same(last, s.trail[len(s.trail)-1].got, false)
}

// The state after going back is that of a fresh kernel that ran only the cells that are left, and that of the session when
// it was there before. See testdata/digest.py for what is compared.
func TestEquality(t *testing.T) {
	spec := checkpointSpec(t, testPython(t))
	l := newLab(t)
	total := tally{ways: map[string]int{}}
	t.Cleanup(func() { t.Log(&total) })
	for i := range uint64(*sessions) {
		seed := *sessionSeed + i
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			l.session(t, spec, seed, &total)
		})
	}
}

// A tally counts what sessions did.
type tally struct {
	mu                              sync.Mutex
	sessions, cells, undone, looked int
	ways                            map[string]int
}

func (y *tally) String() string {
	s := fmt.Sprintf("%d sessions left %d cells; %d raised unplanned; %d times the state was told", y.sessions, y.cells, y.undone, y.looked)
	for way, n := range y.ways {
		s += fmt.Sprintf("\n%5d times %s", n, way)
	}
	return s
}

func (y *tally) add(s *played) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.sessions++
	for _, c := range s.trail {
		y.cells++
		if c.skipped {
			y.undone++
		}
	}
	y.looked += len(s.looks)
	for way, n := range s.ways {
		y.ways[way] += n
	}
}

// session plays one plan, and runs what is left of it in a fresh kernel.
func (l lab) session(t *testing.T, spec Spec, seed uint64, total *tally) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	p := newPlan(seed, 14, l.look)
	k, err := l.open(t, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	s, err := l.play(ctx, k, p)
	total.add(s)
	if err == nil && !p.unseeded {
		fresh, e := l.open(t, spec)
		if e != nil {
			t.Fatal(e)
		}
		defer fresh.Close()
		err = s.again(ctx, fresh)
	}
	if err != nil {
		t.Errorf("%v\n\nthe session:\n%s", err, p.script())
	}
}
