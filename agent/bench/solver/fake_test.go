package solver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/bench/runner"
	"dsstar/agent/bench/solver"
	"dsstar/agent/describe"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args) // returns unless this is a sandbox process
	goleak.VerifyTestMain(m)
}

// A script has the model's replies by role, in order. "cut:" begins a truncated reply.
type script map[string][]string

// always holds the replies of roles that are not in a script.
var always = map[string]string{"validator": block(`print("True")`)}

// A model answers from a script and records the requests.
type model struct {
	mu     sync.Mutex
	script script
	said   map[string]int // replies by role
	asked  []llm.Request
}

func (m *model) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r)
	n := m.said[r.Role]
	m.said[r.Role]++
	text, replies := always[r.Role], m.script[r.Role]
	if n < len(replies) {
		text = replies[n]
	}
	if text == "" || replies != nil && n >= len(replies) {
		return llm.Reply{}, fmt.Errorf("no reply to %s, %s", r.Role, r.Subject)
	}
	reply := llm.Reply{Text: text, Model: "m1", Finish: "stop",
		Usage: llm.Usage{InputTokens: 10, OutputTokens: 2}}
	if rest, cut := strings.CutPrefix(text, "cut:"); cut {
		reply.Text, reply.Finish = rest, "length"
	}
	return reply, ctx.Err()
}

// text returns the whole text of a request, by its index.
func (m *model) text(n int) string {
	var all []string
	for _, message := range m.asked[n].Messages {
		all = append(all, message.Text)
	}
	return strings.Join(all, "\n\n")
}

// A session runs lines of a small language: print(text), bash(text), raise(text), answer(text), which
// gives what final_answer gives, hang() and die(). It ignores other lines.
type session struct {
	agent.Session
	ran          int
	dead, closed bool
}

func (s *session) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	if s.dead || s.closed {
		return notebook.Execution{}, errors.New("a cell was run in a dead kernel")
	}
	s.ran++
	return s.run(code), ctx.Err()
}

func (s *session) Rollback(_ context.Context, cells []string) (back notebook.Restoration, err error) {
	s.dead, back.Way = false, notebook.ByReplay
	for _, code := range cells {
		back.Executions = append(back.Executions, s.run(code))
	}
	return back, nil
}

func (s *session) Silently(context.Context, string, time.Duration) (e notebook.Execution, err error) {
	return notebook.Execution{Status: notebook.OK}, nil
}

func (s *session) Alive() bool { return !s.dead }

func (s *session) Close() error { s.closed = true; return nil }

var calling = regexp.MustCompile(`^(\w+)\("?([^"]*)"?\)$`)

func (s *session) run(code string) notebook.Execution {
	e := notebook.Execution{Status: notebook.OK, Count: s.ran, Seconds: 0.25}
	out := func(o notebook.Output) { e.Outputs = append(e.Outputs, o) }
	for _, line := range strings.Split(code, "\n") {
		m := calling.FindStringSubmatch(line)
		if m == nil || e.Status != notebook.OK {
			continue
		}
		switch m[1] {
		case "bash", "print":
			out(notebook.Output{Type: notebook.Stream, Name: "stdout", Text: m[2] + "\n"})
		case "raise":
			e.Status = notebook.Raised
			out(notebook.Output{Type: notebook.ErrorOutput, EName: "ValueError", EValue: m[2],
				Traceback: []string{"ValueError: " + m[2]}})
		case "answer":
			out(notebook.Output{Type: notebook.DisplayData, Data: notebook.MIMEBundle{"text/plain": m[2],
				"application/vnd.dsstar.answer+json": map[string]any{"answer": m[2]}}})
		case "hang":
			e.Status, e.Reason = notebook.TimedOut, "the cell ran longer than 60 s"
		case "die":
			s.dead, e.Status, e.Reason = true, notebook.Died, "the kernel died"
		}
	}
	return e
}

// A play is one task solved by an agent over fakes.
type play struct {
	model   *model
	session *session
	cfg     agent.Config
	task    record.Task
	record  runner.Record
	err     error
	nb      *notebook.Notebook
}

// newPlay returns a task with two files, "a" of one line and "b" of many.
func newPlay(t testing.TB, replies script) *play {
	t.Helper()
	data, dir := t.TempDir(), t.TempDir()
	long := strings.Repeat("one line of many\n", 1000)
	for name, text := range map[string]string{"a.txt": "the fee is 7\n", "b.txt": long} {
		if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &play{model: &model{script: replies, said: map[string]int{}}, session: &session{}}
	p.task = record.Task{Question: "What is the fee?", Guidelines: "A number.", Data: data,
		Files: []record.File{{Name: "a.txt", Size: 13}, {Name: "b.txt", Size: int64(len(long))}}}
	p.cfg = agent.Config{
		Settings: ask.Settings{Model: p.model, ContextChars: 4000,
			DescriptionChars: 1000, ResultChars: 1000},
		Options: describe.Options{DebugTries: 3, TopK: 100, Jobs: 1},
		Dir:     dir, MaxRounds: 20,
		Open: func(ctx context.Context, purpose agent.Purpose, dir string) (agent.Session, error) {
			return p.session, ctx.Err()
		},
		RunScript: func(ctx context.Context, _ string, _ time.Duration) (notebook.Execution, error) {
			return notebook.Execution{Status: notebook.OK}, ctx.Err()
		},
	}
	return p
}

func (p *play) solve(t testing.TB, ctx context.Context, name string, o solver.Options) *play {
	t.Helper()
	var err error
	n, _ := solver.Find(name)
	p.record, p.err = n.New(o)(ctx, p.cfg, p.task)
	if p.nb, err = notebook.Open(record.Folder(p.cfg.Dir).Notebook()); err != nil {
		t.Fatal(err)
	}
	return p
}

// cells returns the sources of the notebook's cells that the agent wrote and that ran or raised.
func (p *play) cells() (all []string) {
	for _, c := range p.nb.Cells {
		if strings.HasPrefix(c.ID, "step-") && !strings.Contains(c.Source, "def ") {
			all = append(all, c.Source)
		}
	}
	return all
}

func (p *play) cell(t testing.TB, id string) notebook.Cell {
	t.Helper()
	i := slices.IndexFunc(p.nb.Cells, func(c notebook.Cell) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("the notebook has no cell %s", id)
	}
	return p.nb.Cells[i]
}

func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("%s:\n%s", what, d)
	}
}

// contains checks what a text has; a part that begins with ! is one that it lacks.
func contains(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if part, lacks := strings.CutPrefix(part, "!"); strings.Contains(text, part) == lacks {
			t.Errorf("%s: %q is in it: %v\n%s", what, part, lacks, text)
		}
	}
}
