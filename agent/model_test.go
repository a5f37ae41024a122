package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
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
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A script holds the model's replies by role and subject ("coder round 1"), or
// by role alone. Those of the solver and of the judge may be given in parts: "step" and
// "cell"; "verdict", "wrong" (a step's number) and "last" (the last cell). Replies of
// roles that write code are put into a code block, unless they begin with "raw:"; a
// reply that begins with "cut:" ends at the limit on its length.
type script map[string]string

const (
	yes = "Verdict: enough\nReason: all is there"
	no  = "Verdict: go on\nReason: the total is missing"
	bad = "Verdict: step 1 is wrong\nReason: the total is wrong"
)

// simple is a run that needs one round, and whose second derivation agrees; the cases of a
// test add to it.
var simple = script{
	"analyzer": `print("a table")`, "step": "Do the next thing.", "cell": "x = 1\nprint(x)",
	"verdict": yes, "last": "print(x)", "second": "agreed()",
}

// three is a run of three steps: its cells bind x, y and z.
var three = simple.with(script{
	"step round 1": "One.", "step round 2": "Two.", "step round 3": "Three.", "verdict": no,
	"verdict round 3": yes,
	"cell round 1":    "x = 1\nprint(x)", "cell round 2": "y = x\ny += \"2\"\nprint(y)",
	"cell round 3": "z = y\nz += \"3\"\nprint(z)",
	"last":         "print(z)",
})

// more is a model for runs that are resumed: it says yes to all.
var more = script{
	"verdict": yes, "second": "agreed()", "step": "More.",
	"cell": "y = x\ny += \"b\"\nprint(y)", "last": "print(latest)",
}

// printed matches what the cells print that a request shows; print(latest) stands for the last of it.
var printed = regexp.MustCompile(`(?m)^print\(\w+\)$`)

// published is simple in the paper's roles.
var published = script{
	"analyzer": `print("a table")`, "planner": "Do the next thing.", "coder": "x = 1\nprint(x)",
	"verifier": "Yes", "router": "Add Step", "finalizer": "x = 1\nprint(x)",
}

// asPublished has a run follow the paper.
func asPublished(s *stage) { s.config.Method = record.Method{Script: true} }

func (s script) with(more script) script {
	s = maps.Clone(s)
	maps.Copy(s, more)
	return s
}

// reply returns the reply of a role to a subject, as the script has it.
func (s script) reply(role, subject string) (text string, ok bool) {
	if text, ok = s[role+" "+subject]; !ok {
		text, ok = s[role]
	}
	return text, ok
}

// python puts code into a code block.
func python(code string) string {
	if raw, is := strings.CutPrefix(code, "raw:"); is {
		return raw
	}
	return "```python\n" + code + "\n```"
}

// whole is the whole reply of a role, of its parts if it has several.
func (s script) whole(role, subject string) (text string, ok bool) {
	text, ok = s.reply(role, subject)
	part := map[string]string{"coder": "cell", "finalizer": "last"}[role]
	switch {
	case ok && slices.Contains([]string{"analyzer", "coder", "debugger", "finalizer", "second"}, role):
		return python(text), true
	case ok:
		return text, true
	case part != "":
		text, ok = s.reply(part, subject)
		return python(text), ok
	case role == "solver":
		step, stepped := s.reply("step", subject)
		cell, ok := s.reply("cell", subject)
		return "Step: " + step + "\n\n" + python(cell), stepped && ok
	case role == "judge":
		text, ok = s.reply("verdict", subject)
		wrong, of := s.reply("wrong", subject)
		if back := strings.Contains(text, "is wrong\nReason"); back && of {
			text = strings.Replace(text, "step 1 is", "step "+wrong+" is", 1)
		} else if !back && !strings.Contains(text, "Verdict: go on") {
			last, has := s.reply("last", subject)
			text, ok = text+"\n\n"+python(last), ok && has
		}
	}
	return text, ok
}

// A model answers, and remembers what it was asked.
type model struct {
	says    func(llm.Request) (text string, ok bool)
	before  func(ctx context.Context, key string) error // may fail or wait
	answer  func() string                               // of the accepted cells
	tooLong func(llm.Request) bool                      // does not fit into the context
	again   bool                                        // it may be asked the same again
	secrets []string                                    // in lower case; no request may have one
	t       reporter

	mu       sync.Mutex
	asked    []string // keys, in order
	requests map[string]llm.Request
	refused  []string // keys of requests that were too long
}

func (m *model) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	key := r.Role + " " + r.Subject
	err := ctx.Err()
	if err == nil {
		err = m.hears(key, r)
	}
	if err == nil && m.before != nil {
		err = m.before(ctx, key)
	}
	if err != nil {
		return llm.Reply{}, err
	}
	text, ok := m.says(r)
	if !ok {
		return llm.Reply{}, fmt.Errorf("no reply to %q", key)
	}
	if strings.Contains(text, "agreed()") { // whose value is another one with another answer
		mark := fmt.Sprintf("# %x\n", crc32.ChecksumIEEE([]byte(m.answer())))
		text = strings.Replace(text, "agreed()", mark+"agreed()", 1)
	}
	if all := printed.FindAllString(lastOf(r), -1); len(all) > 0 {
		text = strings.ReplaceAll(text, "print(latest)", all[len(all)-1])
	}
	reply := llm.Reply{Model: "m1", Finish: "stop", Usage: llm.Usage{InputTokens: 10, OutputTokens: 2}}
	if reply.Text, ok = strings.CutPrefix(text, "cut:"); ok {
		reply.Finish = "length"
	}
	return reply, nil
}

// hears remembers a request, or refuses it.
func (m *model) hears(key string, r llm.Request) error {
	m.hides(key, r)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tooLong != nil && m.tooLong(r) {
		m.refused = append(m.refused, key)
		return &llm.StatusError{Status: 413, Message: "too long"}
	}
	if before, again := m.requests[key]; again && !m.again && lastOf(before) == lastOf(r) {
		return fmt.Errorf("%s was asked twice", key)
	}
	m.asked, m.requests[key] = append(m.asked, key), r
	return nil
}

// hides fails the test if a request has a secret.
func (m *model) hides(key string, r llm.Request) {
	all := textOf(r)
	for _, secret := range m.secrets {
		if at := strings.Index(strings.ToLower(all), secret); at >= 0 {
			m.t.Errorf("%s: %q is in %q", key, secret, all[max(0, at-100):])
		}
	}
}

// textOf returns the whole text of a request.
func textOf(r llm.Request) (all string) {
	for _, message := range r.Messages {
		all += "\n\n" + message.Text
	}
	return all
}

func lastOf(r llm.Request) string { return r.Messages[len(r.Messages)-1].Text }

// prompt is the last message of a request, or of a role's last one; the test fails if it was not sent.
func (m *model) prompt(t reporter, key string) string {
	t.Helper()
	r, ok := m.requests[key]
	for _, asked := range m.asked {
		if strings.HasPrefix(asked, key+" ") {
			r, ok = m.requests[asked], true
		}
	}
	if !ok {
		t.Fatalf("%q was not asked, but %q", key, m.asked)
	}
	return lastOf(r)
}

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
