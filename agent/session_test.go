package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"dsstar/agent"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A session runs cells of a small language that looks like Python:
//
//	x = 1            x += y           assign, append to the text of x
//	print(x)
//	seed             the random numbers
//	tick()           counts through all sessions; purpose() names the session's
//	once()           runs once in the world, then raises
//	save(f.csv, x)   writes a file that is really there
//	agreed()         the answer of the accepted cells
//	x                as the last line: the cell's result
//	answer(x)        hands over the answer of an agent that benchmarks compare, whose bash(x) prints x
//	raise KeyError("x")   die()   hang()   wait()
//	ends()   ends(1)     the session ends after the cell; the first time only
type session struct {
	w       *world
	purpose agent.Purpose
	dir     string // whose folder files/ has what it saves
	vars    map[string]string
	out     string // of the present cell
	given   string // the answer that it hands over
	dead    bool
	closed  int
	count   int
	busy    atomic.Bool
	ran     []string          // whole cells
	rolled  [][]string        // the cells of each Rollback
	saved   map[string]string // files that are really there, with what they hold
}

func (s *session) reset() {
	s.vars, s.count, s.dead = map[string]string{}, 0, false
}

// use fails the test when a session is used by two at once, or after its end.
func (s *session) use(what string) (done func()) {
	if s.busy.Swap(true) {
		s.w.t.Errorf("%s while the session is in use", what)
	}
	if s.closed > 0 {
		s.w.t.Errorf("%s after Close", what)
	}
	return func() { s.busy.Store(false) }
}

func (s *session) Alive() bool { return !s.dead }

func (s *session) Close() error {
	defer s.use("Close")()
	s.closed++
	return nil
}

func (s *session) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	defer s.use("Rollback")()
	back := notebook.Restoration{Way: notebook.ByReplay, Seconds: 0.5}
	s.rolled = append(s.rolled, slices.Clone(cells))
	s.reset()
	for name := range s.saved {
		_ = os.Remove(name)
	}
	clear(s.saved)
	for _, code := range cells {
		e, err := s.cell(ctx, code)
		if err != nil {
			return back, err
		}
		if back.Executions = append(back.Executions, e); e.Status != notebook.OK {
			break
		}
	}
	return back, nil
}

func (s *session) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	defer s.use("Execute")()
	if s.dead {
		s.w.t.Error("a cell was run in a dead kernel")
	}
	if s.purpose == agent.Prove && len(s.ran) == 0 {
		s.w.alone("the proof begins")
	}
	s.ran = append(s.ran, code)
	return s.cell(ctx, code)
}

// Silently tells of a file what stands in it behind the first bar.
func (s *session) Silently(_ context.Context, code string, _ time.Duration) (notebook.Execution, error) {
	defer s.use("Silently")()
	_, text := toldBy(code)
	return s.end(text, nil), nil
}

// toldBy returns the name of the file that Python code of the agent asks for, and what it holds.
func toldBy(code string) (name, text string) {
	_, literal, _ := strings.Cut(code, "(\"")
	name, _, _ = strings.Cut(literal, "\"")
	content, _ := os.ReadFile(name)
	_, text, _ = strings.Cut(string(content), "|")
	return name, text
}

var (
	profiling = regexp.MustCompile(`\n_main\((\[.*\]), \d+, \d+, [\d.]+, "(\w+)"\)\n$`)
	listing   = regexp.MustCompile(`\n_main\((\[[^\]]*\]), \[.*\], \d+, [\d.]+, "(\w+)"\)\n$`)
)

// cell answers the agent's own cells and runs all others.
func (s *session) cell(ctx context.Context, code string) (notebook.Execution, error) {
	if err := ctx.Err(); err != nil {
		return notebook.Execution{}, err
	}
	s.count++
	out := ""
	switch {
	case strings.Contains(code, "\n%reset -f"):
		clear(s.vars)
		out = "Python 3.12.1 with pandas 2.2\n"
	case strings.HasPrefix(code, "data_dir = "):
		s.vars["parameters"] = code
	case strings.HasPrefix(code, "# Set-up: "):
		s.vars["setup"] = "done after " + s.vars["parameters"]
		s.vars["here"] = s.dir
		s.vars["seed"] = strconv.Itoa(strings.Count(code, "random.seed(1)"))
	case strings.Contains(code, "dsstar_watch") && s.purpose != agent.Prove:
		s.w.t.Errorf("a session of purpose %d is watched", s.purpose)
	case listing.MatchString(code): // the values of columns of all files
		m := listing.FindStringSubmatch(code)
		all := slices.Repeat([]profile.Listing{{Columns: s.w.columns}}, strings.Count(m[1], `"data/`)+1)
		if len(s.w.columns) == 0 {
			all[len(all)-1].Problem = "no column is called so"
		}
		for n, l := range all {
			out += fmt.Sprintln(m[2], n, string(must(json.Marshal(l))))
		}
	case profiling.MatchString(code): // a line for each file
		m, paths := profiling.FindStringSubmatch(code), []string(nil)
		must(0, json.Unmarshal([]byte(m[1]), &paths))
		for n, path := range paths {
			p, ok := s.w.profiles[strings.TrimPrefix(path, "data/")]
			if !ok {
				p = profile.Profile{Format: "binary", Headline: "a table"}
			}
			out += fmt.Sprintln(m[2], n, string(must(json.Marshal(p))))
		}
	case strings.Contains(code, "module.install("), strings.Contains(code, "\ndef bash("),
		strings.Contains(code, "def final_answer("):
	case strings.Contains(code, "dsstar_watch"): // a merge that has doubled its rows
		out = `{"merges": [{"line": "m", "many": true, "pairs": 2, "matching": [1, 1]}]}`
	default:
		return s.run(ctx, code)
	}
	return s.end(out, nil), nil
}

// A failure is how a cell ends that does not run.
type failure struct {
	status      notebook.Status
	name, value string
}

func (s *session) run(ctx context.Context, code string) (e notebook.Execution, err error) {
	last, value := "", ""
	s.out, s.given = "", ""
	defer func() {
		switch why := recover().(type) {
		case nil:
		case *failure:
			e = s.end(s.out, why)
		default:
			err = why.(error)
		}
	}()
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			last, value = line, s.value(ctx, line)
		}
	}
	if e = s.end(s.out, nil); s.given != "" {
		e.Outputs = append(e.Outputs, notebook.Output{Type: notebook.DisplayData, Data: notebook.MIMEBundle{
			"application/vnd.dsstar.answer+json": map[string]any{"answer": s.given}, "text/plain": s.given}})
	}
	if _, named := s.vars[last]; named || last == "agreed()" {
		e.Outputs = append(e.Outputs, notebook.Output{Type: notebook.ExecuteResult,
			ExecutionCount: e.Count, Data: notebook.MIMEBundle{"text/plain": strconv.Quote(value)}})
	}
	return e, nil
}

func (s *session) end(out string, failed *failure) notebook.Execution {
	e := notebook.Execution{Status: notebook.OK, Count: s.count}
	if out != "" {
		e.Outputs = []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: out}}
	}
	switch {
	case failed == nil:
	case failed.status == notebook.Raised:
		e.Status = notebook.Raised
		e.Outputs = append(e.Outputs, notebook.Output{Type: notebook.ErrorOutput, EName: failed.name,
			EValue: failed.value, Traceback: []string{failed.name + ": " + failed.value}})
	default:
		e.Status, e.Reason, s.dead = failed.status, failed.value, failed.status == notebook.Died
	}
	return e
}

var (
	assignment = regexp.MustCompile(`^(\w+) (\+?=) (.+)$`)
	raising    = regexp.MustCompile(`^raise (\w+)\("(.*)"\)$`)
	calling    = regexp.MustCompile(`^(\w+)\((.*)\)$`)
)

// value carries out a line, or returns what an expression is. It panics with a failure or an error.
func (s *session) value(ctx context.Context, line string) string {
	if text, err := strconv.Unquote(line); err == nil {
		return text
	}
	if _, err := strconv.Atoi(line); err == nil {
		return line
	}
	if value, ok := s.vars[line]; ok {
		return value
	}
	if m := raising.FindStringSubmatch(line); m != nil {
		panic(&failure{notebook.Raised, m[1], m[2]})
	}
	if m := assignment.FindStringSubmatch(line); m != nil {
		value := s.value(ctx, m[3])
		if m[2] == "+=" {
			value = s.value(ctx, m[1]) + value
		}
		s.vars[m[1]] = value
		return ""
	}
	if strings.HasPrefix(line, "__import__('dsstar_written').leave(") {
		name, text := toldBy(line)
		must(0, os.WriteFile(name+".told", []byte(text), 0o644))
		return ""
	}
	if m := calling.FindStringSubmatch(line); m != nil {
		return s.call(ctx, m[1], m[2])
	}
	panic(&failure{notebook.Raised, "NameError", fmt.Sprintf("name '%s' is not defined", line)})
}

func (s *session) call(ctx context.Context, name, argument string) string {
	switch name {
	case "answer":
		s.given = s.value(ctx, argument)
		return ""
	case "python", "sql":
		return ""
	case "print", "bash":
		s.out += s.value(ctx, argument) + "\n"
		return ""
	case "save":
		file, value, _ := strings.Cut(argument, ", ")
		value, file = s.value(ctx, value), filepath.Join(s.dir, record.FilesFolder, file)
		s.saved[file] = value
		must(0, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(value), 0o644)))
		return ""
	case "die":
		panic(&failure{notebook.Died, "", "the kernel died"})
	case "hang":
		panic(&failure{notebook.TimedOut, "", "the cell ran longer than 60 s"})
	case "purpose":
		return []string{"describe", "work", "prove", "second", "script"}[s.purpose]
	case "wait":
		must(0, s.w.inCell(ctx))
		return ""
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	switch {
	case name == "ends":
		s.dead = argument == "" || !s.w.ended
		s.w.ended = true
		return ""
	case name == "agreed":
		return s.w.answer
	case name == "tick":
		s.w.ticks++
		return strconv.Itoa(s.w.ticks)
	case name == "once" && !s.w.once:
		s.w.once = true
		return ""
	}
	panic(&failure{notebook.Raised, "RuntimeError", name + "() a second time"})
}
