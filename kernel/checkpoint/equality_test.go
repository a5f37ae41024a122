package checkpoint

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"maps"
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

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

var (
	sessions    = flag.Int("sessions", 0, "random sessions of TestEquality; 0: 3, with DSSTAR_LONG 10")
	sessionSeed = flag.Uint64("session-seed", 1, "the first of their seeds")
)

//go:embed testdata/digest.py
var digest []byte

// A lab is a folder of the states that sessions tell, and the cell that tells one.
type lab struct {
	digests string
	look    string
}

func newLab(t testing.TB) lab {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "digest.py")
	if err := os.WriteFile(path, digest, 0o600); err != nil {
		t.Fatal(err)
	}
	return lab{dir, fmt.Sprintf("exec(compile(open(%q).read(), 'digest.py', 'exec'), {})", path)}
}

// open starts a kernel in a folder of its own, which the end of the test closes.
func (l lab) open(t testing.TB, spec kernel.Spec, changes ...func(*setup)) *Session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := setup{kernel.Options{
		Spec: spec, Dir: dir, Scratch: dir, CellTimeout: 30 * time.Second,
		Env: append(os.Environ(), "DSSTAR_FOLDER="+dir, "DSSTAR_DIGESTS="+l.digests, "PYTHONHASHSEED=0"),
	}, Options{Copies: filepath.Join(t.TempDir(), "copies"), Branches: true}}
	for _, change := range changes {
		change(&o)
	}
	o.Sandbox.Write = []string{l.digests} // in a sandbox, for what sessions tell
	return open(t, o)
}

// state reads what a cell told, without the lines that begin with one of the marks in except.
func (l lab) state(x notebook.Execution, except string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(l.digests, filepath.Base(x.Stdout())))
	if err != nil || x.Status != notebook.OK {
		return nil, fmt.Errorf("no state: %w %s", err, x.PlainText())
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return slices.DeleteFunc(lines, func(line string) bool {
		return strings.ContainsAny(line[:1],
			except)
	}), nil
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
	k     *Session
	plan  plan
	trail []kept
	nodes int
	looks map[int]notebook.Execution // by the node that was looked at
	ways  map[string]int             // how it went back
	exact bool                       // nothing ran again since the start
}

// play runs a plan in a session that is empty. It returns what is wrong with where going back led
// to.
func (l lab) play(ctx context.Context, k *Session, p plan) (*played, error) {
	s := &played{lab: l, k: k, plan: p, looks: map[int]notebook.Execution{}, ways: map[string]int{},
		exact: true}
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
	x, err := s.k.ExecuteCell(ctx, kernel.Cell{Code: o.code, Timeout: o.limit})
	if err != nil {
		return err
	}
	s.nodes++
	cell := kept{o, s.nodes, false, x}
	switch {
	case o.look:
		err = s.compare(x)
	case o.want == notebook.OK && x.Status == notebook.Raised && !s.plan.strict:
		// The statements do not know what the ones before have left. It is undone, as any cell that
		// fails.
		cell.skipped = true
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
	if s.exact {
		return s.lab.same(then, now, sameSession)
	}
	return s.lab.same(then, now, twoSessions)
}

// Which lines of a state are not compared; see testdata/digest.py.
const (
	sameSession = ""
	twoSessions = "~"
	twoKernels  = "~^"
)

// same returns how the states that two executions told differ.
func (l lab) same(want, got notebook.Execution, except string) error {
	a, err := l.state(want, except)
	b, e := l.state(got, except)
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

// back goes back to the first cells of the trail, without those that were undone because they
// failed.
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

// legitimate are reasons to run cells again that the statements of plans give: they replace files
// that are open, and remove the folder that they work in. Of a file without a name copies keep the
// content.
var legitimate = regexp.MustCompile(`[^)] was open and has been changed since|the folder that cells worked in has been removed since|is locked`)

// refusals are those that a plan with threads and sockets gives as well.
var refusals = regexp.MustCompile(`thread: |socket: `)

// copied returns how often the session went back to a frozen copy that had all cells, and is an
// error where it did not for another than a legitimate reason.
func (s *played) copied() (n int, err error) {
	for why, times := range s.ways {
		switch {
		case why == string(notebook.ByCheckpoint):
			n = times
		case s.plan.refusing && refusals.MatchString(why):
		case !legitimate.MatchString(why):
			err = errors.Join(err, fmt.Errorf("%d times it went back by %s", times, why))
		}
	}
	return n, err
}

// outputs returns how an execution differs from that of a cell in what can be seen.
func outputs(want kept, got notebook.Execution, unseeded bool) string {
	if got.Status != want.got.Status || got.Count != want.got.Count {
		return fmt.Sprintf("%s [%d], want %s [%d]: %s", got.Status, got.Count, want.got.Status,
			want.got.Count, got.PlainText())
	}
	if want.look || unseeded {
		return ""
	}
	return cmp.Diff(steady(want.got), steady(got))
}

// unsteady are addresses, process ids in the names of the files that tracebacks and warnings give
// to cells, and the private folders of sandboxes.
var unsteady = regexp.MustCompile(`ipykernel_\d+|\b0x[0-9a-f]{6,}|/dsstar-\d+\b`)

// steady is what a cell has put out, but for what is chance: a kernel sends each of its two streams
// by a timer, so that between two other outputs either may come first.
func steady(x notebook.Execution) string {
	var outputs []notebook.Output
	for i := 0; i < len(x.Outputs); {
		begin, text := i, map[string]string{}
		for ; i < len(x.Outputs) && x.Outputs[i].Type == notebook.Stream; i++ {
			text[x.Outputs[i].Name] += x.Outputs[i].Text
		}
		for _, name := range slices.Sorted(maps.Keys(text)) {
			outputs = append(outputs, notebook.Output{Type: notebook.Stream, Name: name, Text: text[name]})
		}
		if i == begin {
			outputs = append(outputs, x.Outputs[i])
			i++
		}
	}
	x.Outputs = outputs
	return unsteady.ReplaceAllString(x.PlainText(), "...")
}

// again runs the cells that are left in another session, which is empty, and compares outputs and
// state.
func (s *played) again(ctx context.Context, k *Session) error {
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
	return s.lab.same(last, s.trail[len(s.trail)-1].got, twoSessions)
}

// The state after going back is that of a fresh kernel that ran only the cells that are left, and
// that of the session when it was there before. See testdata/digest.py for what is compared.
func TestEquality(t *testing.T) {
	spec := checkpointSpec(t)
	l := newLab(t)
	total := tally{ways: map[string]int{}}
	t.Cleanup(func() {
		t.Log(&total)
		if all := total.backs(); 10*total.ways[string(notebook.ByCheckpoint)] < 9*all && !t.Failed() {
			t.Errorf("of %d times it went back to a frozen copy only %d times", all,
				total.ways[string(notebook.ByCheckpoint)])
		}
	})
	n := *sessions
	if n == 0 {
		n = 3
		if os.Getenv("DSSTAR_LONG") != "" {
			n = 10
		}
	}
	for i := range uint64(n) {
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
	s := fmt.Sprintf("%d sessions left %d cells; %d raised unplanned; %d times the state was told",
		y.sessions, y.cells, y.undone, y.looked)
	for way, n := range y.ways {
		s += fmt.Sprintf("\n%5d times %s", n, way)
	}
	return s
}

// backs is how often sessions went back.
func (y *tally) backs() (all int) {
	for _, n := range y.ways {
		all += n
	}
	return all
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
		if !s.plan.refusing {
			y.ways[way] += n
		}
	}
}

// everyFifth puts every fifth session into the sandbox builtin, or all into that of -tier.
func everyFifth(t testing.TB, seed uint64) func(*setup) {
	return func(o *setup) {
		switch {
		case *testTier != "":
			kerneltest.Confine(t, &o.Sandbox, *testTier, o.Dir)
		case seed%5 == 0:
			kerneltest.Confine(t, &o.Sandbox, "builtin", o.Dir)
		}
	}
}

// session plays one plan, and runs what is left of it in a fresh kernel.
func (l lab) session(t *testing.T, spec kernel.Spec, seed uint64, total *tally) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	p, tier := newPlan(seed, 14, l.look), everyFifth(t, seed)
	s, err := l.play(ctx, l.open(t, spec, tier), p)
	total.add(s)
	if err == nil {
		_, err = s.copied()
	}
	if err == nil && !p.unseeded {
		err = s.again(ctx, l.open(t, spec, tier))
	}
	if err != nil {
		t.Errorf("%v\n\nthe session:\n%s", err, p.script())
	}
}

// The same plans lead to the same states in a kernel that goes back by checkpoints and in
// ipykernel, which goes back by starting again.
func TestDifferential(t *testing.T) {
	pyenvtest.Long(t)
	l, found := newLab(t), 0
	for seed := *sessionSeed; found < max(3, *sessions/10); seed++ {
		p := newPlan(seed, 10, l.look)
		if p.unseeded || p.refusing {
			continue
		}
		found++
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			var ends [2]kept
			for i, spec := range []kernel.Spec{checkpointSpec(t), kernel.PythonSpec(pyenvtest.Python(t))} {
				s, err := l.play(ctx, l.open(t, spec, everyFifth(t, seed)), p)
				if err != nil {
					t.Fatalf("%s: %v\n\nthe session:\n%s", spec.Name, err, p.script())
				}
				if n, err := s.copied(); i == 0 && (err != nil || n == 0) {
					t.Errorf("%d times it went back to a frozen copy: %v, %v\n\nthe session:\n%s", n, s.ways, err,
						p.script())
				}
				ends[i] = s.trail[len(s.trail)-1]
			}
			if err := l.same(ends[1].got, ends[0].got, twoKernels); err != nil {
				t.Errorf("%v\n\nthe session:\n%s", err, p.script())
			}
		})
	}
}

// What a frozen copy needs help with, by the name with which the help is switched off.
var helped = map[string]struct{ made, undone, again string }{
	"random": {
		"import random; random.seed(3); x = random.random()", "random.random()", "y = random.random()",
	},
	"offsets": {
		"open('t', 'w').write('line\\n' * 9999); f = open('t'); f.readline()", "f.read()",
		"assert f.readline() == 'line\\n'",
	},
	"timers": {
		"import signal; signal.signal(signal.SIGALRM, print); signal.setitimer(signal.ITIMER_REAL, 1000)",
		"signal.setitimer(signal.ITIMER_REAL, 0)",
		"assert signal.getitimer(signal.ITIMER_REAL)[0] > 900",
	},
	"semaphores": {
		"import multiprocessing; lock = multiprocessing.get_context('fork').Lock()", "lock.acquire()",
		"assert lock.acquire(timeout=1); lock.release()",
	},
	"loop": {
		"import asyncio; await asyncio.sleep(0)", "x = 1", "import asyncio; await asyncio.sleep(.01)",
	},
	"pools": {
		"import math; from joblib import Parallel, delayed; x = Parallel(2)(delayed(math.sqrt)(i) for i in range(4))", "x = 1",
		"assert Parallel(2)(delayed(math.sqrt)(i) for i in range(4)) == x",
	},
	"openmp": {
		"import numpy as np; from sklearn.ensemble import HistGradientBoostingRegressor as R\na = np.arange(400.).reshape(-1, 2); x = R(max_iter=2).fit(a, a[:, 0]).predict(a[:9])",
		"a[:] = 1", "assert (R(max_iter=2).fit(a, a[:, 0]).predict(a[:9]) == x).all()",
	},
	"files": {
		"open('t', 'w').write('kept')", "import os; open('t', 'a').write('x'); open('u', 'w').write('x')",
		"x = 1",
	},
}

// With all help the state is exact; without one of its kinds the suite says so. In
// a short run TestHazardsWithoutHelp does for those that are the kernel's.
func TestExactNeeds(t *testing.T) {
	l := newLab(t)
	for name, h := range helped {
		if name != "files" && *sessions < 100 {
			continue
		}
		p := plan{strict: true, unseeded: true, ops: []op{
			{code: h.made, want: notebook.OK}, {code: l.look, want: notebook.OK, look: true}, {back: 1},
			{code: h.undone, want: notebook.OK, limit: 10 * time.Second},
			{back: 1}, {code: l.look, want: notebook.OK, look: true}, {back: 1},
			{code: h.again, want: notebook.OK, limit: 10 * time.Second},
		}}
		play := func(t *testing.T, without func(*setup)) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			k := l.open(t, checkpointSpec(t), without)
			s, err := l.play(ctx, k, p)
			if !s.exact {
				err = fmt.Errorf("it went back in other ways: %v, %v", s.ways, err)
			}
			return err
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := play(t, func(*setup) {}); err != nil {
				t.Errorf("with: %v", err)
			}
			err := play(t, func(o *setup) {
				if o.Env = append(o.Env, "DSSTAR_KERNEL_WITHOUT="+name); name == "files" {
					o.Scratch = "" // nobody keeps what is in it
				}
			})
			if err == nil || strings.HasPrefix(err.Error(), "op 1:") {
				t.Errorf("without: it does as well, or could not begin: %v", err)
			}
			t.Logf("without: %.300v", err)
		})
	}
}

// changes are small ones that the digest must show, by the beginning of a line that tells it.
var changes = [][2]string{
	{"l[0].append(1)", "l[0]: builtins.list of 1"},
	{"l[0] = l[1] = []", "l[1]: is l[0]"},
	{"l[2] = l[1]", "l[2]: is l["},
	{"d['b'] = d.pop('a'); d['a'] = 1", "d: builtins.dict [\"'b'"},
	{"o.x = 2", "o.x: 2"},
	{"C.y = 3", "C.y: 3"},
	{"C.m = lambda self: 2", "C.m: function"},
	{"f.__defaults__ = (3,)", "f.defaults"},
	{"g.__closure__[0].cell_contents.append(1)", "g.closure[seen].contents"},
	{"next(gen)", "gen.locals"},
	{"next(it)", "it.reduced"},
	{"a[0] = 9", "a: numpy.ndarray"},
	{"v = a[1:]", "v: numpy.ndarray"},
	{"v = a[1:].copy()", "v: numpy.ndarray"},
	{"a = np.asfortranarray(a.reshape(2, 3))", "a: numpy.ndarray"},
	{"a.flags.writeable = False", "a: numpy.ndarray"},
	{"df.iloc[0, 0] = 5", "df.block"},
	{"df['a'] = df['a'].astype('float32')", "df.block"},
	{"df.index = df.index.rename('i')", "df.axis1.names"},
	{"df.attrs['x'] = 1", "df.attrs"},
	{"df['c'] = df['c'].cat.add_categories(['q'])", "df.block"},
	{"text.readline()", "text: to be read"},
	{"raw.read(1)", "raw: _io"},
	{"out.write('x')", "out: to be written"},
	{"chunks.get_chunk(1)", "chunks: next chunk"},
	{"random.random()", "random: random.Random"},
	{"np.random.rand()", "numpy.random"},
	{"rng.random()", "rng: numpy"},
	{"x = ax.set_title('u')", "fig: picture"},
	{"line.set_linewidth(7)", "fig: picture"},
	{"x = plt.figure()", "figures[2]"},
	{"plt.rcParams['lines.linewidth'] = 9", "rcParams"},
	{"db.execute('insert into t values(2)')", "db: sqlite3.Connection"},
	{"cursor.fetchone()", "cursor: rows left"},
	{"pd.set_option('display.max_rows', 7)", "pandas.options"},
	{"np.seterr(all='ignore')", "numpy.err"},
	{"os.chdir('sub')", "cwd"},
	{"os.environ['X'] = '1'", "environ"},
	{"os.umask(0o77)", "umask"},
	{"sys.path.append('x')", "sys.path"},
	{"import colorsys", "^sys.modules"},
	{"warnings.simplefilter('ignore')", "warnings.filters"},
	{"decimal.getcontext().prec = 5", "decimal"},
	{"import textwrap; textwrap.dedent = lambda x: 1", "module textwrap"},
	{"signal.signal(signal.SIGUSR1, signal.SIG_IGN)", "signals"},
	{"sys.setrecursionlimit(4000)", "recursion"},
	{"get_ipython().events.register('pre_run_cell', lambda *_: None)", "shell.events"},
	{"open(here + '/new', 'w').close()", "file $DIR/new"},
	{"os.chmod(here + '/t', 0o600)", "file $DIR/t"},
	{"os.utime(here + '/t', (1, 1))", "~file $DIR/t"},
	{"open(here + '/t', 'a').write('x')", "file $DIR/t"},
	{"del l", "l["},
}

const changing = `
import os, sys, random, signal, warnings, decimal, sqlite3, io
import numpy as np, pandas as pd
%matplotlib agg
import matplotlib.pyplot as plt
here = os.getcwd(); os.mkdir('sub'); open('t', 'w').write('line\n' * 9)
e = []; l = [[], e, e]; d = {'a': 1, 'b': 2}
class C:
    y = 1
    def m(self): return 1
o = C(); o.x = 1
def f(x=1): return x
g = (lambda seen: lambda: seen)([])
gen = (i for i in range(9)); next(gen)
it = iter([1, 2, 3]); next(it)
a = np.arange(6.); v = a[2:]
df = pd.DataFrame({'a': [1, 2], 'b': [.5, 1.], 'c': pd.Categorical(['x', 'y'])})
text = open('t'); raw = open('t', 'rb', buffering=0); out = open('w', 'w')
chunks = pd.read_csv(io.StringIO('a\n1\n2\n3'), chunksize=1)
rng = np.random.default_rng(1)
fig, ax = plt.subplots(); line, = ax.plot([1, 2])
db = sqlite3.connect(':memory:'); db.execute('create table t(a)'); db.executemany('insert into t values(?)', [(1,), (2,)]); db.commit()
cursor = db.execute('select * from t')
`

// A digest shows small changes, and nothing where there is none.
func TestDigest(t *testing.T) {
	pyenvtest.Long(t)
	l := newLab(t)
	k := l.open(t, checkpointSpec(t))
	runCell(t, k, changing, notebook.OK)
	history := regexp.MustCompile(`^(In|_i+\d*|_ih|_oh|Out|_+\d*|names|execution_count|shell.hidden)(:|\[)`)
	tell := func() []string {
		lines, err := l.state(runCell(t, k, l.look, notebook.OK), sameSession)
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(lines, history.MatchString)
	}
	was := tell()
	if d := differing(was, tell()); d != "" {
		t.Errorf("without a change: %s", d)
	}
	for _, c := range changes {
		runCell(t, k, c[0], notebook.OK)
		now := tell()
		told := false
		for _, pair := range [][2][]string{{was, now}, {now, was}} {
			for _, line := range pair[0] {
				told = told || strings.HasPrefix(line, c[1]) && !slices.Contains(pair[1], line)
			}
		}
		if !told {
			t.Errorf("%s is not told by %s:\n%s", c[0], c[1], differing(was, now))
		}
		was = now
	}
}
