package rewind

import (
	_ "embed"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
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
	fmt.Fprintf(&b, "# go test ./kernel/rewind -run TestEquality -sessions 1 -session-seed %d\n",
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

//go:embed testdata/statements.txt
var statementsText string

// statements are the statements of cells, by the import that they need; see testdata/statements.txt.
var statements = func() map[string][]string {
	all := map[string][]string{}
	for _, group := range strings.Split(statementsText, "\n\n")[1:] {
		name, lines, _ := strings.Cut(strings.TrimPrefix(group, "import "), ":\n")
		lines = strings.TrimSuffix(strings.ReplaceAll(lines, "\n|", "\x00"), "\n")
		for line := range strings.SplitSeq(lines, "\n") {
			all[name] = append(all[name], strings.ReplaceAll(line, "\x00", "\n"))
		}
	}
	return all
}()

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

// A scope is the names that a cell can refer to, by kind; those of imported are of imports.
type scope map[byte][]string

const imported = 0

func (s scope) clone() scope {
	names := scope{}
	for kind, all := range s {
		names[kind] = slices.Clone(all)
	}
	return names
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
	p.trail = []scope{{}}
	p.run("import os, random\nhere = os.getcwd()\nrandom.seed(1)", p.trail[0])
	looked := map[int]bool{}
	for len(p.plan.ops) < ops {
		switch n := p.IntN(20); {
		case n < 11:
			code, after := p.cell()
			p.run(code, after)
		case n < 14:
			ways := ways2fail
			if n == 13 {
				ways = ways2die
			}
			code, _ := p.cell()
			how := ways[p.IntN(len(ways))]
			p.plan.ops = append(p.plan.ops, op{code: code + "\n" + how.code, want: how.want})
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
			if !slices.Contains(s[imported], name) && p.IntN(2) == 0 {
				s[imported] = append(s[imported], name)
				if name == "pd" || name == "plt" {
					s[imported] = append(s[imported], "np")
				}
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
		groups := []string{"none"}
		for _, g := range []string{"np", "pd", "plt", "sqlite3"} {
			if slices.Contains(s[imported], g) {
				groups = append(groups, g)
			}
		}
		all := statements[groups[p.IntN(len(groups))]]
		if line := p.fill(all[p.IntN(len(all))], s); line != "" {
			return line
		}
	}
	return ""
}

// marks are the marks in lines, and what separates statements.
var marks = regexp.MustCompile(`\$[-+]?\w|[;\n]`)

// fill replaces the marks in line by names of to, and updates to; it returns "" if it finds none. A
// new name stands for its kind only after the next semicolon or line break.
func (p *planner) fill(line string, to scope) string {
	s, number, failed := to.clone(), fmt.Sprint(p.IntN(8)), false
	fresh, used, bound := map[byte]string{}, map[byte]string{}, map[byte]string{}
	line = marks.ReplaceAllStringFunc(line, func(mark string) string {
		how, kind := mark[:len(mark)-1], mark[len(mark)-1]
		name := map[string]string{"$": bound[kind], "$-": used[kind]}[how]
		switch {
		case how == "":
			maps.Copy(bound, fresh)
			return mark
		case failed || kind == 'i':
			return number
		case how == "$+":
			name = p.name(kind, s)
			fresh[kind] = name
		case name == "":
			name = p.one(s[kind])
		}
		if how == "$-" {
			s[kind] = slices.DeleteFunc(s[kind], func(o string) bool { return o == name })
		}
		used[kind], failed = name, name == ""
		if strings.ContainsRune("THY", rune(kind)) {
			return "here + '/" + name + "'"
		}
		return name
	})
	if failed {
		return ""
	}
	for kind, name := range fresh {
		if !slices.Contains(s[kind], name) {
			s[kind] = append(s[kind], name)
		}
	}
	maps.Copy(to, s)
	return line
}

// name returns a new name, or sometimes an old one that gets a new meaning.
func (p *planner) name(kind byte, s scope) string {
	if old := p.one(s[kind]); old != "" && p.IntN(4) == 0 {
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
