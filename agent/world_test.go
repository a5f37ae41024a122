package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"dsstar/agent"
	"dsstar/agent/describe/profile"
	"dsstar/agent/lineage"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A world is what all sessions of a run share.
type world struct {
	t      reporter
	open   func(ctx context.Context, p agent.Purpose) error // may fail or wait
	inCell func(ctx context.Context) error                  // what wait() does

	mu       sync.Mutex
	answer   string // of the accepted cells, at the last event
	sessions []*session
	ticks    int // of tick()
	once     bool
	ended    bool
	profiles map[string]profile.Profile // by name; a file without one is not understood
	columns  map[string][]string        // whose values are to be masked
}

func (w *world) Open(ctx context.Context, p agent.Purpose, dir string) (agent.Session, error) {
	if w.open != nil {
		if err := w.open(ctx, p); err != nil {
			return nil, err
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		w.t.Errorf("a session is opened in %s: %v", dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, record.FilesFolder)); p == agent.Prove && err == nil {
		w.t.Errorf("the proof in %s finds the files of the run", dir)
	}
	s := &session{w: w, purpose: p, dir: dir, saved: map[string]string{}}
	s.reset()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions = append(w.sessions, s)
	return s, ctx.Err()
}

// of returns the sessions of a purpose.
func (w *world) of(p agent.Purpose) []*session {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.sessions), func(s *session) bool { return s.purpose != p })
}

// alone fails the test if a session is there in which a cell has run: it could tell
// the proof what to print.
func (w *world) alone(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sessions {
		if s.closed == 0 && len(s.ran) > 0 {
			w.t.Errorf("%s beside a session of purpose %d in which cells have run", what, s.purpose)
		}
	}
}

// RunScript runs the script, read from its file, from scratch.
func (w *world) RunScript(ctx context.Context, dir string,
	_ time.Duration) (x notebook.Execution, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "solution.py"))
	if err != nil {
		return x, err
	}
	if strings.HasPrefix(string(text), lineage.Script(lineage.Query{})[:40]) {
		return ran(notebook.OK, traced(string(text)), ""), nil
	}
	w.alone("the script runs")
	plain, out := &session{w: w, purpose: agent.Second + 1, dir: dir, saved: map[string]string{}}, ""
	plain.reset()
	for _, part := range strings.Split("\n\n\n"+string(text), "\n\n\n# %% ")[1:] {
		_, code, _ := strings.Cut(part, "\n")
		if x, err = plain.cell(ctx, strings.TrimSuffix(code, "\n")); err != nil {
			return x, err
		}
		if out += x.Stdout(); x.Status != notebook.OK {
			break
		}
	}
	return ran(x.Status, out, x.PlainText()), nil
}

// ran is how a script has run.
func ran(status notebook.Status, out, stderr string) notebook.Execution {
	return notebook.Execution{Status: status, Outputs: []notebook.Output{
		{Type: notebook.Stream, Name: "stdout", Text: out},
		{Type: notebook.Stream, Name: "stderr", Text: stderr}}}
}

var ownMark = regexp.MustCompile(`print\("\\n([A-Z2-7]{26})"\)`)

// marked is how a script has run whose last cell has printed the last line.
func marked(dir string, e notebook.Execution) notebook.Execution {
	code, _ := os.ReadFile(filepath.Join(dir, "solution.py"))
	if m := ownMark.FindSubmatch(code); m != nil && len(e.Outputs) > 0 {
		text := e.Outputs[0].Text
		at := strings.LastIndex(strings.TrimSpace(text), "\n") + 1
		e.Outputs = slices.Clone(e.Outputs)
		e.Outputs[0].Text = text[:at] + string(m[1]) + "\n" + text[at:]
	}
	return e
}

var (
	constant = regexp.MustCompile(`^print\((\d+|"[^"]*")\)$|# typed in|# a copy`)
	// What cells mention, but for strings, and what they bind.
	mentions, binds = regexp.MustCompile(`"[^"]*"|([a-z]\w*)`), regexp.MustCompile(`(?m)^([a-z]\w*) =`)
)

// traced is what the program says that reads the code of cells: a cell that prints a constant, or
// has a comment, types its answer in or is a copy.
func traced(script string) string {
	_, literal, _ := strings.Cut(script, "\nmain(")
	literal, several := strings.CutPrefix(literal, "*")
	literal = strings.TrimSuffix(strings.TrimPrefix(literal, "json.loads("), "))\n")
	var request string
	var q lineage.Query
	var cells [2][][]string
	must(0, json.Unmarshal([]byte(literal), &request))
	if several {
		must(0, json.Unmarshal([]byte(request), &cells))
		return apartOf(cells)
	}
	must(0, json.Unmarshal([]byte(request), &q))
	switch constant.FindString(q.Code) {
	case "":
		return "{}"
	case "# a copy":
		return `{"doubts": ["it is a copy"]}`
	}
	return `{"problem": "it is typed in"}`
}

// apartOf is what the program says that reads on which questions cells do not build: they mention no
// name that those bind and they themselves do not.
func apartOf(cells [2][][]string) string {
	in := func(what *regexp.Regexp, cells []string) (names []string) {
		for _, m := range what.FindAllStringSubmatch(strings.Join(cells, "\n"), -1) {
			names = append(names, m[1])
		}
		return names
	}
	all := [][]int{}
	for _, list := range cells[1] {
		own, apart := in(binds, list), []int{}
		reads := slices.DeleteFunc(in(mentions, list), func(n string) bool { return slices.Contains(own, n) })
		for k, its := range slices.Backward(cells[0]) {
			if slices.ContainsFunc(in(binds, its), func(n string) bool { return slices.Contains(reads, n) }) {
				reads = append(reads, in(mentions, its)...)
			} else {
				apart = append(apart, k)
			}
		}
		all = append(all, apart)
	}
	return string(must(json.Marshal(all)))
}

// A host is a session that is somebody else's, which can do nothing for its guest but describe
// variables.
type host struct {
	*session
	has []record.Variable // nil: they cannot be described
}

var errShy = errors.New("not now")

func (h host) Variables(context.Context) ([]record.Variable, error) {
	if h.has == nil {
		return nil, errShy
	}
	return slices.Clone(h.has), nil
}
func (host) Carry(context.Context, string, []string, []record.Variable) ([]record.Variable, error) {
	return []record.Variable{{Name: "x"}}, errShy
}
func (host) Leave(context.Context, []record.Variable) ([]string, error) { return nil, errShy }

// hosted has the cells of the steps run in a session that is somebody else's.
func hosted(s *stage) { hosting(s, nil) }

func hosting(s *stage, has []record.Variable) {
	open := s.config.Open
	s.config.Guest = true
	s.config.Open = func(ctx context.Context, purpose agent.Purpose, dir string) (agent.Session, error) {
		one, err := open(ctx, purpose, dir)
		if purpose == agent.Work && err == nil {
			return host{one.(*session), has}, nil
		}
		return one, err
	}
}
