package checkpoint

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"dsstar/notebook"
)

// A plan is what happens in a session, as a list of ops.
type plan struct {
	seed uint64
	ops  []op
}

// An op runs a cell, or goes back to the first of the remaining cells.
type op struct {
	code string          // "" to go back
	want notebook.Status // of the cell; all but OK are followed by going back
	back int             // cells that stay
	look bool            // the cell tells the state
}

// script returns the plan as cells that a person can paste.
func (p plan) script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# go test ./kernel/checkpoint -run TestEquality -sessions 1 -session-seed %d\n",
		p.seed)
	for _, o := range p.ops {
		switch {
		case o.look:
			b.WriteString("# %% look at the state\n")
		case o.code == "":
			fmt.Fprintf(&b, "# %%%% go back to the first %d cells\n", o.back)
		default:
			fmt.Fprintf(&b, "# %%%% %s\n%s\n", o.want, o.code)
		}
	}
	return b.String()
}

// statements are the statements of cells, by the import that they need. $+L is a new name of kind
// L, or a new file for T and H; $L an existing one, without which the statement cannot be chosen;
// $-L one that the statement removes; $i a small number.
var statements = map[string][]string{
	"": {
		"$+L = [$i, 'a', [$i]]", "$+L = $L", "$L.append($L)", "$L[:] = $L[::-1]", "del $-L",
		"$L += [$i, {'deep': $L}]", "$+L = [[]] * 3; $L[:0] = [b'bytes', 2.5, None]",
		"$+D = {'list': $L, $i: ($i, $L)}", "$D.pop(next(iter($D), None), None)",
		"$D.update(self=$D)", "import collections; $+D = collections.OrderedDict(a=$i, b=$L)",
		"import collections; $+D = collections.defaultdict(list); $D[$i].append($i)",
		"$+S = {'x%d' % i for i in range($i)}", "$S.discard($i)", "$S |= {('t', $i)}",
		"$+K = (lambda seen: (lambda x=$i: seen.append(x) or len(seen)))([])", "$K()",
		"def $+K(a=$L, *, b={}):\n    b[len(b)] = a\n    return len(b)", "$K.note = $L",
		"import functools; $+K = functools.lru_cache(lambda x=1: [x])",
		"class $+Z:\n    shared = []\n    def __init__(self, x=$i): self.shared.append(x)\n" +
			"    def bump(self): self.x = $i; return self",
		"class $+Z($Z):\n    __slots__ = ('s',)\n    def bump(self): self.s = $i; return super().bump()",
		"$+O = $Z()", "$O.bump()", "$O.other = $L", "$Z.shared = [$i]",
		"$Z.bump = lambda self: setattr(self, 'x', $i)",
		"$+G = iter(range($i, 50)); next($G)", "next($G, None)", "$+G = map(str, $G)",
		"$+G = (x * x for x in list($L) or [1, 2]); next($G, None)",
		"def walk(n=0):\n    while True: n = (yield n) or n + 1\n$+G = walk($i); next($G)",
		"import itertools; $+G = itertools.chain(iter($L), itertools.count($i)); next($G)",
		"import random; $+L = [random.random() for _ in range($i)]", "import random; random.seed($i)",
		"import random; $+E = random.Random($i)", "$E.random()",
		"with open($+T, 'w') as out: out.write('line %d\\n' % $i * 50)",
		"with open($T, 'a') as out: out.write('more $i\\n')",
		"with open($T, 'r+') as out: out.write('IN PLACE')",
		"import os; os.remove($-T)", "import os; os.rename($-T, $+T)", "import os; os.replace($-T, $T)",
		"import shutil; copied = shutil.copy($T, $+T)", "import os; os.chmod($T, 0o6$i0 & 0o777)",
		"import os; os.makedirs(here + '/sub$i', exist_ok=True)\n" +
			"open(here + '/sub$i/f', 'a').write('$i')",
		"import shutil; shutil.rmtree(here + '/sub$i', ignore_errors=True)",
		"import os; os.symlink('nowhere$i', $+Y)", "import os; os.truncate($T, $i)",
		"with open($+H, 'wb') as out: out.write(bytes(range(256)) * 40)",
		"$+R = open($T)", "$R.readline()", "$R.read(3)", "$R.seek(0)", "$R.close(); del $-R",
		"$+B = open($H, 'rb', buffering=0); $B.read(7)", "$B.seek($i)",
		"import io; $+B = io.BytesIO(b'0123456789'); $B.read($i)",
		"$+W = open($+T, 'w')", "$W.write('to be written $i\\n')", "$W.flush()", "$W.close(); del $-W",
		"$+W = open($T, 'a')", "import csv; $+G = csv.reader(open($T)); next($G, None)",
		"import os; $+W = os.fdopen(os.dup($W.fileno()), 'w')",
		"import os; os.lseek($W.fileno(), $i, os.SEEK_SET)",
		"import fcntl, os; fcntl.fcntl($W, fcntl.F_SETFL, fcntl.fcntl($W, fcntl.F_GETFL) ^ os.O_APPEND)",
		"import fcntl; fcntl.flock($W, fcntl.LOCK_SH | fcntl.LOCK_NB)",
		"import fcntl; fcntl.flock($W, fcntl.LOCK_UN)",
		"import tempfile; $+N = tempfile.TemporaryFile('w+')", "$N.write('temporary $i'); $N.flush()",
		"$N.seek(0); $N.read()", "$N.truncate($i)", "import os; os.chdir(here)",
		"import os; os.makedirs(here + '/cd', exist_ok=True); os.chdir(here + '/cd')",
		"import os; os.environ['VARIABLE_$i'] = '$i'", "import os; os.umask(0o02$i & 0o77)",
		"import sys; sys.path.insert(0, '/path/$i')", "import sys; sys.setrecursionlimit(2000 + $i)",
		"import warnings; warnings.filterwarnings('ignore', 'words $i')",
		"import warnings; warnings.warn('words', stacklevel=1)",
		"import decimal; decimal.getcontext().prec = 10 + $i",
		"import textwrap; textwrap.dedent = lambda x: x + '$i'",
		"import builtins; builtins.extra = $i", "import logging; logging.getLogger('mine').setLevel($i)",
		"import contextvars; $+V = contextvars.ContextVar('v$i'); $V.set($L)", "$V.set($i)",
		"import threading; $+V = threading.local(); $V.set = lambda x: None; $V.list = $L",
		"import weakref; $+V = $Z(); $V.set = print; keep = weakref.ref($V)",
		"import xml.dom.minidom, colorsys", "import array; $+M = array.array('d', [1.5]); $M.append($i)",
		"open(here + '/mod_$i.py', 'w').write('count = $i\\ndef f(): return count\\n')\n" +
			"import sys, importlib; sys.path.insert(0, here); importlib.invalidate_caches()\n" +
			"import mod_$i\nmod_$i.count += 1",
		"print('said', $i, len($L))", "import sys; print('to stderr', file=sys.stderr)", "$L",
		"%precision $i", "_ = None", "get_ipython().push({'pushed': [$i]})",
		"try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    caught = e",
		"import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN)",
		"import pickle, copy; $+L = pickle.loads(pickle.dumps([1, $i])); $+D = copy.deepcopy($D)",
		"import asyncio\nasync def later(): return $i\n$+L = [await later()]",
		"import atexit; atexit.register(len, [])",
	},
	"np": {
		"$+A = np.arange($i + 3.)", "$A += 1", "$+A = $A", "$+A = $A.T", "$+A = $A[:2]", "$A.sort()",
		"$+A = $A.copy(order='F')", "$A.flags.writeable = True", "$+A = np.random.rand($i + 1)",
		"np.random.seed($i)", "$+E = np.random.default_rng($i)", "$+E = np.random.RandomState($i)",
		"$E.random()", "np.seterr(divide='ignore')", "np.set_printoptions(precision=$i + 1)",
		"np.save($+H, $A)", "$+A = np.array([$L, None], dtype=object)", "$L.append($A)",
	},
	"pd": {
		"$+F = pd.DataFrame({'a': range(6), 'b': list('xyzxyz'), 'c': [0.5] * 6})", "$F['n$i'] = $i",
		"$F.loc[0, 'a'] = $i", "$+F = $F", "$+F = $F[['a', 'b']]", "$+F = $F.head(3)",
		"$F.drop(index=$F.index[-1:], inplace=True)", "$F.sort_values('a', inplace=True)",
		"$+F = $F.groupby('b').agg(a=('a', 'sum')).reset_index()", "$+A = $F['a'].values",
		"$F['b'] = $F['b'].astype('category')", "$F.attrs['note'] = $L", "$F.index.name = 'i$i'",
		"$F['null'] = pd.array([1, None] * len($F), dtype='Int64')[:len($F)]",
		"$F.to_csv($+T, index=False)", "pd.set_option('display.max_rows', 10 + $i)",
		"$+G = pd.read_csv(io_of($F), chunksize=2); next($G)", "$+F = $F.sample(frac=.5)",
		"$L.append($F)", "$F.to_pickle($+H)", "$F",
	},
	"plt": {
		"$+P, $+X = plt.subplots(); $X.plot([1, 2, $i])", "$X.plot([$i, 1, $i])",
		"$X.set_title('title $i')", "$X.lines and $X.lines[-1].remove()", "$X.clear()",
		"plt.rcParams['lines.linewidth'] = $i + 1", "plt.style.use('ggplot')", "plt.close($-P)",
		"$X.imshow([[1, $i], [3, 4]])", "$P.savefig($+H, format='png', dpi=40)",
		"plt.figure($X.figure.number)",
	},
	"sqlite3": {
		"$+Q = sqlite3.connect(':memory:'); $Q.execute('create table t(a, b)')",
		"$Q.execute('insert into t values(?, ?)', ($i, 'x'))", "$Q.commit()", "$Q.rollback()",
		"$+U = $Q.execute('select * from t'); $U.fetchone()", "$U.fetchone()",
	},
}

// imports are the import statements by their names in statements.
var imports = map[string]string{
	"np": "import numpy as np; np.random.seed(3)",
	"pd": "import pandas as pd, io\nimport numpy as np; np.random.seed(4)\n" +
		"def io_of(frame): return io.StringIO(frame.to_csv(index=False))",
	"plt": "%matplotlib agg\nimport matplotlib.pyplot as plt\n" +
		"import numpy as np; np.random.seed(5)",
	"sqlite3": "import sqlite3",
}

var ways2fail = []op{
	{code: "raise ValueError('half done')", want: notebook.Raised},
	{code: "for half in range(9):\n    half_done = [half]\n    1 / (4 - half)", want: notebook.Raised},
	{code: "raise KeyboardInterrupt", want: notebook.Raised},
	{code: "while True: half_done = 1", want: notebook.TimedOut},
}

var ways2die = []op{
	{code: "import os; os._exit(3)", want: notebook.Died},
	{code: "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", want: notebook.Died},
	{code: "import ctypes; ctypes.string_at(0)", want: notebook.Died},
	{code: "import os; os.abort()", want: notebook.Died},
}

// A scope is what a cell can refer to.
type scope struct {
	names map[byte][]string // by kind
	has   map[string]bool   // imports
}

func (s scope) clone() scope {
	names := map[byte][]string{}
	for k, v := range s.names {
		names[k] = slices.Clone(v)
	}
	return scope{names, maps.Clone(s.has)}
}

// A planner makes a plan.
type planner struct {
	*rand.Rand
	plan  plan
	next  int
	trail []scope // after each of the remaining cells; the first is before any cell
}

// newPlan returns a plan of about ops ops.
func newPlan(seed uint64, ops int, look string) plan {
	p := &planner{Rand: rand.New(rand.NewPCG(seed, 6)), plan: plan{seed: seed}}
	p.trail = []scope{{map[byte][]string{}, map[string]bool{}}}
	p.run("import os, random\nhere = os.getcwd()\nrandom.seed(1)", p.trail[0])
	looked := map[int]bool{}
	for len(p.plan.ops) < ops {
		switch n := p.IntN(20); {
		case n < 11:
			code, after := p.cell()
			p.run(code, after)
		case n < 13:
			code, _ := p.cell()
			p.fail(code, ways2fail[p.IntN(len(ways2fail))])
			p.back(len(p.trail) - 1)
		case n < 14:
			code, _ := p.cell()
			p.fail(code, ways2die[p.IntN(len(ways2die))])
			p.back(len(p.trail) - 1)
		case n < 17:
			p.back(1 + p.IntN(len(p.trail)-1))
			if p.IntN(2) == 0 {
				p.look(look)
			}
		default:
			if !looked[len(p.trail)] {
				p.look(look)
			}
		}
	}
	p.back(1 + p.IntN(len(p.trail)-1))
	code, after := p.cell()
	p.run(code, after)
	p.look(look)
	return p.plan
}

func (p *planner) run(code string, after scope) {
	p.plan.ops = append(p.plan.ops, op{code: code, want: notebook.OK})
	p.trail = append(p.trail, after)
}

func (p *planner) look(code string) {
	p.run(code, p.trail[len(p.trail)-1])
	p.plan.ops[len(p.plan.ops)-1].look = true
}

func (p *planner) fail(code string, how op) {
	p.plan.ops = append(p.plan.ops, op{code: code + "\n" + how.code, want: how.want})
}

func (p *planner) back(cells int) {
	p.plan.ops = append(p.plan.ops, op{back: cells})
	p.trail = p.trail[:cells+1]
}

// cell returns a cell of a few statements, and the scope after it.
func (p *planner) cell() (string, scope) {
	s := p.trail[len(p.trail)-1].clone()
	var lines []string
	if p.IntN(5) == 0 {
		for _, name := range slices.Sorted(maps.Keys(imports)) {
			if !s.has[name] && p.IntN(2) == 0 {
				s.has[name] = true
				s.has["np"] = s.has["np"] || name == "pd" || name == "plt"
				lines = append(lines, imports[name])
				break
			}
		}
	}
	for range 1 + p.IntN(6) {
		if line := p.statement(s); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "pass", s
	}
	return strings.Join(lines, "\n"), s
}

// statement returns a statement that uses names of s, and updates s; "" if it finds none.
func (p *planner) statement(s scope) string {
	for range 30 {
		groups := []string{""}
		for _, g := range []string{"np", "pd", "plt", "sqlite3"} {
			if s.has[g] {
				groups = append(groups, g)
			}
		}
		all := statements[groups[p.IntN(len(groups))]]
		if line, after, ok := p.fill(all[p.IntN(len(all))], s.clone()); ok {
			maps.Copy(s.names, after.names)
			return line
		}
	}
	return ""
}

// fill replaces the marks in line by names. A new name stands for its kind only after the next
// semicolon or line break.
func (p *planner) fill(line string, s scope) (string, scope, bool) {
	var b strings.Builder
	fresh, used, bound, number := map[byte]string{}, map[byte]string{}, map[byte]string{},
		fmt.Sprint(p.IntN(8))
	for i := 0; i < len(line); i++ {
		if line[i] == ';' || line[i] == '\n' {
			maps.Copy(bound, fresh)
		}
		if line[i] != '$' {
			b.WriteByte(line[i])
			continue
		}
		i++
		kind, name := line[i], ""
		switch kind {
		case 'i':
			b.WriteString(number)
			continue
		case '+':
			i++
			kind = line[i]
			name = p.name(kind, s)
			fresh[kind] = name
		case '-':
			i++
			kind = line[i]
			if name = used[kind]; name == "" {
				name = p.one(s.names[kind])
			}
			s.names[kind] = slices.DeleteFunc(s.names[kind], func(o string) bool { return o == name })
		default:
			if name = bound[kind]; name == "" {
				name = p.one(s.names[kind])
			}
		}
		if name == "" {
			return "", s, false
		}
		used[kind] = name
		if aFile(kind) {
			name = fmt.Sprintf("here + '/%s'", name)
		}
		b.WriteString(name)
	}
	for kind, name := range fresh {
		if !slices.Contains(s.names[kind], name) {
			s.names[kind] = append(s.names[kind], name)
		}
	}
	return b.String(), s, true
}

// name returns a new name, or sometimes an old one that gets a new meaning.
func (p *planner) name(kind byte, s scope) string {
	if old := p.one(s.names[kind]); old != "" && p.IntN(4) == 0 {
		return old
	}
	p.next++
	return fmt.Sprintf("%c%d", kind+'a'-'A', p.next)
}

// one returns one of names, "" if there are none.
func (p *planner) one(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[p.IntN(len(names))]
}

func aFile(kind byte) bool { return kind == 'T' || kind == 'H' || kind == 'Y' }
