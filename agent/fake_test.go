package agent_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"go.uber.org/goleak"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/describe/profile"
	"dsstar/agent/journal"
	"dsstar/agent/lineage"
	"dsstar/agent/llm"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// TestMain makes property tests short, unless DSSTAR_LONG is set or -rapid.checks says how long.
func TestMain(m *testing.M) {
	if os.Getenv("DSSTAR_LONG") == "" {
		_ = flag.Set("rapid.checks", "25")
	}
	debug.SetGCPercent(400) // many runs make garbage; few keep any
	if _, err := os.Stat("/dev/shm"); err == nil {
		_ = os.Setenv("TMPDIR", "/dev/shm") // each run has folders of its own
	}
	goleak.VerifyTestMain(m)
}

// A script holds the model's replies by role and subject ("coder round 1"), or
// by role alone. Those of the solver and of the judge may be given in parts: "step" and
// "cell"; "verdict", "wrong" (a step's number) and "last" (the last cell). Replies of
// roles that write code are put into a code block, unless they begin with "raw:"; a
// reply that begins with "cut:" ends at the limit on its length.
type script map[string]string

const (
	yes = "Verdict: sufficient\nReason: all is there"
	no  = "Verdict: unfinished\nReason: the total is missing"
	bad = "Verdict: insufficient\nReason: the total is wrong"
)

// simple is a run that needs one round, and whose second derivation agrees; the cases of a
// test add to it.
var simple = script{
	"analyzer": `print("a table")`, "step": "Do the next thing.", "cell": "x = 1\nprint(x)",
	"verdict": yes, "last": "print(x)", "second": "agreed()",
}

// aNumber are the guidelines: a number with three decimals is not in their form.
const aNumber = "A value. At most 2 decimals."

// published is simple in the paper's roles.
var published = script{
	"analyzer": `print("a table")`, "planner": "Do the next thing.", "coder": "x = 1\nprint(x)",
	"verifier": "Yes", "router": "Add Step", "finalizer": "x = 1\nprint(x)",
}

func (s script) with(more script) script {
	s = maps.Clone(s)
	maps.Copy(s, more)
	return s
}

// A model answers from a script and remembers what it was asked.
type model struct {
	replies script
	before  func(ctx context.Context, key string) error // may fail or wait
	answer  func() string                               // of the accepted cells
	tooLong func(llm.Request) bool                      // does not fit into the context
	secrets []string                                    // in lower case; no request may have one
	t       reporter

	mu       sync.Mutex
	asked    []string // keys, in order
	texts    map[string]string
	requests map[string]llm.Request
	refused  []string // keys of requests that were too long
}

func newModel(t reporter, replies script) *model {
	return &model{t: t, replies: replies, texts: map[string]string{}, requests: map[string]llm.Request{}}
}

func (m *model) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	key := r.Role + " " + r.Subject
	m.hides(key, r)
	long := m.tooLong != nil && m.tooLong(r)
	m.mu.Lock()
	if long {
		m.refused = append(m.refused, key)
		m.mu.Unlock()
		return llm.Reply{}, &llm.StatusError{Status: 413, Message: "too long"}
	}
	if slices.Contains(m.asked, key) && m.texts[key] == r.Messages[len(r.Messages)-1].Text {
		m.mu.Unlock()
		return llm.Reply{}, fmt.Errorf("%s was asked twice", key)
	}
	m.asked = append(m.asked, key)
	m.texts[key], m.requests[key] = r.Messages[len(r.Messages)-1].Text, r
	m.mu.Unlock()
	if m.before != nil {
		if err := m.before(ctx, key); err != nil {
			return llm.Reply{}, err
		}
	}
	text, ok := m.replies.whole(r.Role, r.Subject)
	if strings.Contains(text, "agreed()") && m.answer != nil { // whose value is another one with another answer
		text = fmt.Sprintf("# %x\n", crc32.ChecksumIEEE([]byte(m.answer()))) + text
	}
	if !ok {
		return llm.Reply{}, fmt.Errorf("no reply to %q", key)
	}
	usage := llm.Usage{InputTokens: 10, OutputTokens: 2}
	reply := llm.Reply{Model: "m1", Finish: "stop", Usage: usage}
	text, raw := strings.CutPrefix(text, "raw:")
	text, cut := strings.CutPrefix(text, "cut:")
	if cut {
		reply.Finish = "length"
	}
	coding := []string{"analyzer", "coder", "debugger", "finalizer", "second"}
	if reply.Text = text; !raw && slices.Contains(coding, r.Role) {
		reply.Text = "```python\n" + text + "\n```"
	}
	return reply, nil
}

// hides fails the test if a request has a secret.
func (m *model) hides(key string, r llm.Request) {
	all := strings.Join(r.Texts, "\n")
	for _, message := range r.Messages {
		all += "\n" + message.Text
	}
	for _, secret := range m.secrets {
		if at := strings.Index(strings.ToLower(all), secret); at >= 0 {
			m.t.Errorf("%s: %q is in %q", key, secret, all[max(0, at-100):])
		}
	}
}

// reply returns the reply of a role to a subject.
func (s script) reply(role, subject string) (text string, ok bool) {
	if text, ok = s[role+" "+subject]; !ok {
		text, ok = s[role]
	}
	return text, ok
}

// whole is reply for the roles whose replies have several parts, too.
func (s script) whole(role, subject string) (text string, ok bool) {
	if text, ok = s.reply(role, subject); ok {
		return text, ok
	}
	ok = true
	part := func(name string) string {
		text, has := s.reply(name, subject)
		ok = ok && has
		return text
	}
	code := func(text string) string {
		if raw, is := strings.CutPrefix(text, "raw:"); is {
			return raw
		}
		return "```python\n" + text + "\n```"
	}
	switch role {
	case "solver":
		text = "Step: " + part("step") + "\n\n" + code(part("cell"))
	case "judge":
		text = part("verdict")
		switch {
		case strings.Contains(text, "Verdict: insufficient"):
			if n, has := s.reply("wrong", subject); has {
				text += "\nWrong step: " + n
			}
		case !strings.Contains(text, "Verdict: unfinished"):
			text += "\n\n" + code(part("last"))
		}
	case "coder":
		text = code(part("cell"))
	case "finalizer":
		text = code(part("last"))
	default:
		return "", false
	}
	return "raw:" + text, ok
}

// prompt is the last message of a request; the test fails if it was not sent.
func (m *model) prompt(t reporter, key string) string {
	t.Helper()
	text, ok := m.texts[key]
	if !ok {
		t.Errorf("%q was not asked, but %q", key, m.asked)
	}
	return text
}

// count is how often a role was asked.
func (m *model) count(role string) (n int) {
	for _, key := range m.asked {
		if strings.HasPrefix(key, role+" ") {
			n++
		}
	}
	return n
}

// A world is what all sessions of a run share.
type world struct {
	t      reporter
	open   func(ctx context.Context, p agent.Purpose) error // may fail or wait
	inCell func(ctx context.Context) error                  // what wait() does

	mu        sync.Mutex
	answer    string // of the accepted cells, at the last event
	sessions  []*session
	ticks     int // of tick()
	once      bool
	ended     bool
	rollbacks int                    // of the work session
	ways      []notebook.Restoration // of Rollback, in turn; the last goes on; none: by replay
	profiles  map[string]string      // in JSON, by path; a file without one is not understood
	columns   map[string][]string    // whose values are to be masked
}

var constant = regexp.MustCompile(`^print\((\d+|"[^"]*")\)$|# typed in|# a copy|# of a folder`)

// traced is what the program says that reads the code of cells: a cell that prints a constant, or
// has a comment, types its answer in or is a copy.
func traced(script string) string {
	if _, literal, ok := strings.Cut(script, "\nmain(*json.loads("); ok {
		return apartOf(literal)
	}
	_, literal, _ := strings.Cut(script, "\nmain(json.loads(")
	var request string
	var q lineage.Query
	if err := errors.Join(json.Unmarshal([]byte(strings.TrimSuffix(literal, "))\n")), &request),
		json.Unmarshal([]byte(request), &q)); err != nil {
		return err.Error()
	}
	switch constant.FindString(q.Code) {
	case "":
		return "{}"
	case "# of a folder":
		return `{"doubts": ["the answer depends on the order in which a folder lists its files"]}`
	case "# a copy":
		return `{"doubts": ["it is a copy"]}`
	}
	return `{"problem": "it is typed in"}`
}

// What cells mention, but for strings, and what they bind.
var mentions, binds = regexp.MustCompile(`"[^"]*"|([a-z]\w*)`), regexp.MustCompile(`(?m)^([a-z]\w*) =`)

// apartOf is what the program says that reads on which questions cells do not build: they mention no
// name that those bind and they themselves do not.
func apartOf(literal string) string {
	var request string
	var cells [2][][]string
	if err := errors.Join(json.Unmarshal([]byte(strings.TrimSuffix(literal, "))\n")), &request),
		json.Unmarshal([]byte(request), &cells)); err != nil {
		return err.Error()
	}
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
	s := &session{w: w, purpose: p, dir: dir}
	s.reset()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions = append(w.sessions, s)
	return s, ctx.Err()
}

// of returns the sessions of a purpose.
func (w *world) of(p agent.Purpose) (all []*session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sessions {
		if s.purpose == p {
			all = append(all, s)
		}
	}
	return all
}

// A session runs cells of a small language that looks like Python:
//
//	x = 1            x += y           assign, append to the text of x
//	print(x)
//	seed             the random numbers
//	tick()           counts through all sessions; purpose() names the session's
//	once()           runs once in the world, then raises
//	save(f.csv, x)   writes a file that is really there
//	agreed()         the answer of the accepted cells
//	# shows A        shows a picture, whose bytes are the rest of the line
//	x                as the last line: the cell's result
//	raise KeyError("x")   die()   hang()   wait()
//	ends()   ends(1)     the session ends after the cell; the first time only
type session struct {
	w       *world
	purpose agent.Purpose
	dir     string // whose folder files/ has what it saves
	vars    map[string]string
	dead    bool
	closed  int
	count   int
	busy    atomic.Bool
	ran     []string   // whole cells
	rolled  [][]string // the cells of each Rollback
	saved   []string   // files that are really there
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
	s.w.mu.Lock()
	if s.purpose == agent.Work {
		if n := len(s.w.ways); n > 0 {
			back = s.w.ways[min(s.w.rollbacks, n-1)]
		}
		s.w.rollbacks++
	}
	s.w.mu.Unlock()
	if back.Way == notebook.NotAtAll {
		return back, nil
	}
	s.rolled = append(s.rolled, slices.Clone(cells))
	s.reset()
	for _, name := range s.saved {
		_ = os.Remove(name)
	}
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
	if strings.Contains(code, "dsstar_watch") {
		return s.end(`{"absent": [{"value": "Paid", "like": "paid"}]}`, nil), nil
	}
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

// cell answers the agent's own cells and runs all others.
func (s *session) cell(ctx context.Context, code string) (notebook.Execution, error) {
	if err := ctx.Err(); err != nil {
		return notebook.Execution{}, err
	}
	s.count++
	switch {
	case strings.Contains(code, "\n%reset -f"):
		clear(s.vars)
		return s.end("Python 3.12.1 with pandas 2.2\n", nil), nil
	case strings.HasPrefix(code, "data_dir = "):
		s.vars["parameters"] = code
	case strings.HasPrefix(code, "# Set-up: "):
		s.vars["setup"] = "done after " + s.vars["parameters"]
		s.vars["seed"] = strconv.Itoa(strings.Count(code, "random.seed(1)"))
	case strings.Contains(code, "dsstar_watch") && s.purpose != agent.Prove:
		s.w.t.Errorf("a session of purpose %d is watched", s.purpose)
	case listing.MatchString(code):
		m, out := listing.FindStringSubmatch(code), ""
		all := slices.Repeat([]profile.Listing{{Columns: s.w.columns}}, strings.Count(m[1], `"data/`)+1)
		if len(s.w.columns) == 0 {
			all[len(all)-1].Problem = "no column is called so"
		}
		for n, l := range all {
			out += fmt.Sprintln(m[2], n, string(must(json.Marshal(l))))
		}
		return s.end(out, nil), nil
	case profiling.MatchString(code):
		return s.profileFiles(code)
	case strings.Contains(code, "module.install("):
	case strings.Contains(code, "dsstar_watch"): // a merge that has doubled its rows
		return s.end(`{"merges": [{"line": "m", "many": true, "pairs": 2, "matching": [1, 1]}]}`, nil), nil
	default:
		return s.run(ctx, code)
	}
	return s.end("", nil), nil
}

type raised struct{ name, value string }

func (e *raised) Error() string { return e.name + ": " + e.value }

var errDie, errHang = errors.New("die"), errors.New("hang")

func (s *session) run(ctx context.Context, code string) (notebook.Execution, error) {
	var out strings.Builder
	var shown []notebook.Output
	last := ""
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(line)
		if text, shows := strings.CutPrefix(line, "# shows "); shows {
			shown = append(shown, notebook.Output{Type: notebook.DisplayData,
				Data: notebook.MIMEBundle{"image/png": base64.StdEncoding.EncodeToString([]byte(text))}})
		}
		if line == "" || line[0] == '#' {
			continue
		}
		last = line
		if line == "wait()" && s.w.inCell == nil {
			continue
		}
		if line == "wait()" {
			if err := s.w.inCell(ctx); err != nil {
				return notebook.Execution{}, err
			}
		} else if err := s.statement(line, &out); err != nil {
			return s.end(out.String(), err), nil
		}
	}
	e := s.end(out.String(), nil)
	e.Outputs = append(e.Outputs, shown...)
	return withResult(e, last, s.vars, s.w), nil
}

// withResult adds the value of a cell's last line if that is a name or agreed().
func withResult(e notebook.Execution, last string, vars map[string]string,
	w *world) notebook.Execution {
	value, ok := vars[last]
	if last == "agreed()" {
		w.mu.Lock()
		value, ok = w.answer, true
		w.mu.Unlock()
	}
	if ok {
		e.Outputs = append(e.Outputs, notebook.Output{Type: notebook.ExecuteResult,
			ExecutionCount: e.Count, Data: notebook.MIMEBundle{"text/plain": strconv.Quote(value)}})
	}
	return e
}

func (s *session) end(out string, err error) notebook.Execution {
	e := notebook.Execution{Status: notebook.OK, Count: s.count}
	if out != "" {
		e.Outputs = []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: out}}
	}
	var exception *raised
	switch {
	case errors.As(err, &exception):
		e.Status = notebook.Raised
		e.Outputs = append(e.Outputs, notebook.Output{
			Type: notebook.ErrorOutput, EName: exception.name, EValue: exception.value,
			Traceback: []string{err.Error()},
		})
	case err == errDie:
		e.Status, e.Reason, s.dead = notebook.Died, "the kernel died", true
	case err == errHang:
		e.Status, e.Reason = notebook.TimedOut, "the cell ran longer than 60 s"
	}
	return e
}

var (
	assignment = regexp.MustCompile(`^(\w+) (\+?=) (.+)$`)
	raising    = regexp.MustCompile(`^raise (\w+)\("(.*)"\)$`)
	calling    = regexp.MustCompile(`^(\w+)\((.*)\)$`)
)

func (s *session) statement(line string, out *strings.Builder) error {
	if m := raising.FindStringSubmatch(line); m != nil {
		return &raised{m[1], m[2]}
	}
	if m := assignment.FindStringSubmatch(line); m != nil {
		value, err := s.value(m[3])
		if err == nil && m[2] == "+=" {
			var old string
			old, err = s.value(m[1])
			value = old + value
		}
		if err == nil {
			s.vars[m[1]] = value
		}
		return err
	}
	switch m := calling.FindStringSubmatch(line); {
	case strings.HasPrefix(line, "__import__('dsstar_written').leave("):
		name, text := toldBy(line)
		return os.WriteFile(name+".told", []byte(text), 0o644)
	case line == "die()":
		return errDie
	case line == "hang()":
		return errHang
	case line == "ends()" || line == "ends(1)":
		s.dead = line == "ends()" || !s.w.ended
		s.w.ended = true
		return nil
	case m != nil && m[1] == "save":
		name, value, _ := strings.Cut(m[2], ", ")
		value, err := s.value(value)
		name = filepath.Join(s.dir, record.FilesFolder, name)
		if err == nil && s.dir != "" {
			err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(value), 0o644))
			s.saved = append(s.saved, name)
		}
		return err
	case m != nil && m[1] == "print":
		value, err := s.value(m[2])
		if err == nil {
			out.WriteString(value + "\n")
		}
		return err
	}
	_, err := s.value(line)
	return err
}

func (s *session) value(expr string) (string, error) {
	if text, err := strconv.Unquote(expr); err == nil {
		return text, nil
	}
	if _, err := strconv.Atoi(expr); err == nil {
		return expr, nil
	}
	if value, ok := s.vars[expr]; ok {
		return value, nil
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	m := calling.FindStringSubmatch(expr)
	switch {
	case m == nil:
		return "", &raised{"NameError", fmt.Sprintf("name '%s' is not defined", expr)}
	case m[1] == "agreed":
		return s.w.answer, nil
	case m[1] == "tick":
		s.w.ticks++
		return strconv.Itoa(s.w.ticks), nil
	case m[1] == "purpose":
		return []string{"describe", "work", "prove", "second", "script"}[s.purpose], nil
	case m[1] == "once" && !s.w.once:
		s.w.once = true
		return "", nil
	}
	return "", &raised{"RuntimeError", expr + " a second time"}
}

var profiling = regexp.MustCompile(`\n_main\((\[.*\]), \d+, \d+, [\d.]+, "(\w+)"\)\n$`)

var listing = regexp.MustCompile(`\n_main\((\[[^\]]*\]), \[.*\], \d+, [\d.]+, "(\w+)"\)\n$`)

// profileFiles does what the program does that looks into files: it prints a line for each.
func (s *session) profileFiles(code string) (notebook.Execution, error) {
	m := profiling.FindStringSubmatch(code)
	var paths []string
	if err := json.Unmarshal([]byte(m[1]), &paths); err != nil {
		return notebook.Execution{}, err
	}
	out := ""
	for n, path := range paths {
		out += fmt.Sprintln(m[2], n, s.w.profileOf(path))
	}
	return s.end(out, nil), nil
}

// profileOf is the profile of a file in JSON: of one that is not given, that it is not understood.
func (w *world) profileOf(path string) string {
	if p, ok := w.profiles[path]; ok {
		return p
	}
	return `{"format": "binary", "headline": "a table"}`
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
	plain := &session{w: w, purpose: agent.Second + 1, dir: dir}
	plain.reset()
	var out strings.Builder
	for _, part := range strings.Split("\n\n\n"+string(text), "\n\n\n# %% ")[1:] {
		_, code, _ := strings.Cut(part, "\n")
		if x, err = plain.cell(ctx, strings.TrimSuffix(code, "\n")); err != nil {
			return x, err
		}
		out.WriteString(x.Stdout())
		if x.Status != notebook.OK {
			break
		}
	}
	return ran(x.Status, out.String(), x.PlainText()), nil
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

// A played run is over.
type played struct {
	*record.Trajectory
	err    error
	model  *model
	world  *world
	kinds  []agent.Kind
	events []agent.Event
}

// A stage is what a test may change before its run.
type stage struct {
	ctx    context.Context
	config agent.Config
	task   record.Task
	resume *record.Trajectory // to go on from; nil: the run begins
	quick  bool               // the notebook is not checked
	files  bool               // are described, and no more
	each   bool               // it is checked at each event that is not spared, not at the end only
	model  *model
	world  *world
}

// play runs the agent on a script, and checks at its events what has to hold in every run.
func play(t reporter, replies script, change ...func(*stage)) *played {
	t.Helper()
	above := must(os.MkdirTemp("", "dsstar-test-"))
	defer os.RemoveAll(above)
	dir := filepath.Join(above, "run")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p := &played{world: &world{t: t}, model: newModel(t, replies)}
	s := &stage{
		ctx: t.Context(), model: p.model, world: p.world,
		config: agent.Config{
			Settings: ask.Settings{
				Model: p.model, MaxTokens: 1000,
				ResultChars: 6000, DescriptionChars: 6000, ContextChars: 20000,
			},
			Options: describe.Options{DebugTries: 2, TopK: 100, Jobs: 2},
			Open:    p.world.Open, RunScript: p.world.RunScript, Dir: dir, MaxRounds: 6,
			Observe: func(agent.Event, *record.Trajectory) error { return nil },
		},
		task: record.Task{Question: "How many?", Guidelines: aNumber, Data: "/data",
			Files: filesOf("a.csv")},
	}
	for _, c := range change {
		c(s)
	}
	p.model.answer = func() string {
		p.world.mu.Lock()
		defer p.world.mu.Unlock()
		return p.world.answer
	}
	watch, last := s.config.Observe, &notebook.Notebook{}
	if s.resume != nil {
		p.world.answer = s.resume.Answer()
	}
	s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
		p.world.mu.Lock()
		p.world.answer = tr.Answer()
		p.world.mu.Unlock()
		if e.Kind == agent.Recorded {
			return watch(e, tr)
		}
		p.events, p.kinds = append(p.events, e), append(p.kinds, e.Kind)
		if e.Kind == agent.Ended && !s.quick || s.each && !spared(len(p.events)) {
			last = checkNotebook(t, tr, last)
		}
		return watch(e, tr)
	}
	if s.resume != nil && len(s.resume.Edits())+len(s.resume.Later) > 0 {
		journal.Drop(s.resume.Journal, "cell", agrees) // with another answer
	}
	if s.files {
		p.Trajectory, p.err = agent.DescribeFiles(s.ctx, s.config, s.task)
	} else if s.resume != nil {
		p.Trajectory, p.err = agent.Resume(s.ctx, s.config, s.resume, s.task.Files)
	} else {
		p.Trajectory, p.err = agent.Run(s.ctx, s.config, s.task)
	}

	if !p.Ended || p.kinds[len(p.kinds)-1] != agent.Ended || (p.err == nil) != (p.Failure == "") {
		t.Errorf("the end: %v, %q, events %v, error %v", p.Ended, p.Failure, p.kinds, p.err)
	}
	for _, one := range p.world.sessions {
		if one.closed != 1 {
			t.Errorf("a session of purpose %d was closed %d times", one.purpose, one.closed)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
		t.Errorf("beside the run folder is left %v, %v", left, err)
	}
	return p
}

// agrees reports whether a cell is perhaps one that gives whatever the accepted cells give.
func agrees(ran struct{ Execution notebook.Execution }) bool {
	_, has := record.ResultText(ran.Execution)
	return has
}

// A reporter is a test of testing or of rapid, which lack a common TempDir.
type reporter interface {
	Helper()
	Context() context.Context
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

var fetchesNothing sync.Map // sources of cells that have been checked

// checkFetchesNothing: whatever words are in it, a reader's program fetches nothing for a
// cell of ours.
func checkFetchesNothing(t reporter, source string) {
	t.Helper()
	if _, checked := fetchesNothing.LoadOrStore(source, true); checked {
		return // at an earlier event
	}
	var b bytes.Buffer
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(renderer.WithUnsafe()))
	if err := markdown.Convert([]byte(source), &b); err != nil {
		t.Fatal(err)
	}
	own := strings.NewReplacer(`<img src="attachment:`, "", `<img src="files/`, "") // the notebook's
	if page := own.Replace(b.String()); strings.Contains(page, "<img") || notebook.InertHTML(page) != page {
		t.Errorf("opening the cell fetches something:\n%s\nas HTML:\n%s", source, page)
	}
}

// checkNotebook checks the notebook that is saved at an event against the
// trajectory and the notebook before.
func checkNotebook(t reporter, tr *record.Trajectory,
	before *notebook.Notebook) *notebook.Notebook {
	t.Helper()
	nb := page.Draw(tr)
	types := map[string]notebook.CellType{}
	var code []string
	for _, c := range nb.Cells {
		if _, twice := types[c.ID]; twice || c.ID == "" {
			t.Errorf("two cells, or none, with the id %q", c.ID)
		}
		types[c.ID] = c.Type
		if _, ours := c.Metadata["dsstar"]; ours && c.Type == notebook.Markdown {
			checkFetchesNothing(t, c.Source)
		}
		if c.Type != notebook.Code {
			continue
		}
		code = append(code, c.Source)
		if c.ExecutionCount != len(code) && tr.Environment != "" {
			t.Errorf("code cell %d has the execution count %d", len(code), c.ExecutionCount)
		}
	}
	for _, c := range before.Cells {
		if now, still := types[c.ID]; still && now != c.Type {
			t.Errorf("the cell %s was %s and is %s", c.ID, c.Type, now)
		}
	}
	if diff := cmp.Diff(tr.Cells(), code); diff != "" {
		t.Errorf("the code cells are not the accepted cells (-want +got)\n%s", diff)
	}
	checkScript(t, tr)
	data := must(nb.Encode())
	back := reread(t, data)
	back.Seal = tr.Seal // that of the notebook before
	order := cmpopts.SortSlices(func(a, b record.Remark) int {
		return strings.Compare(a.After+" "+a.Cell.ID, b.After+" "+b.Cell.ID)
	})
	// first what is quick: cmp took a third of the time of all tests
	if string(must(json.Marshal(tr))) != string(must(json.Marshal(back))) || !reflect.DeepEqual(tr.Remarks, back.Remarks) {
		if diff := cmp.Diff(tr, back, cmpopts.EquateEmpty(), order, journals); diff != "" {
			t.Errorf("the trajectory that is read back differs (-want +got)\n%s", diff)
		}
	}
	again, err := page.Draw(back).Encode()
	if err != nil || string(again) != string(data) {
		t.Errorf("not drawn the same again: %v\n%s", err, cmp.Diff(string(data), string(again)))
	}
	return nb
}

// journals compares journals.
var journals = cmp.Comparer(func(a, b *journal.Journal) bool {
	all, read := string(must(json.Marshal(a))), string(must(json.Marshal(b)))
	return strings.HasPrefix(all, strings.TrimSuffix(read, "]")) // more may have been added since
})

// checkScript checks that the script is the cells, each below a comment, and
// nothing else but comments above them.
func checkScript(t reporter, tr *record.Trajectory) {
	t.Helper()
	head, rest, _ := strings.Cut(tr.Script(), "\n\n\n")
	for line := range strings.Lines(head) {
		if !strings.HasPrefix(line, "# ") {
			t.Errorf("above the cells of the script: %q", line)
		}
	}
	for i, code := range tr.Cells() {
		if i > 0 {
			rest = strings.TrimPrefix(rest, "\n\n")
		}
		title, after, _ := strings.Cut(rest, "\n")
		var ok bool
		if rest, ok = strings.CutPrefix(after, code+"\n"); !ok || !strings.HasPrefix(title, "# %% ") {
			t.Errorf("cell %d is not next in the script:\n%s", i+1, tr.Script())
			return
		}
	}
	if rest != "" {
		t.Errorf("the script goes on: %q", rest)
	}
}

// spared reports whether moment n of many is left out: six of seven, and 24 of 25 under the
// race detector. DSSTAR_LONG takes all.
func spared(n int) bool {
	if agent.UnderRace {
		return n%25 != 0
	}
	return os.Getenv("DSSTAR_LONG") == "" && n%7 != 0
}

// once leaves a test out that the race detector need not see: its many runs have the
// goroutines of all others.
func once(t *testing.T) {
	t.Helper()
	if agent.UnderRace {
		t.Skip("many runs like others, which the race detector makes ten times as long")
	}
}
