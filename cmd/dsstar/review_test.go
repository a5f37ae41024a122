package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	tty "golang.org/x/term"
	"pgregory.net/rapid"

	"dsstar/agent/llm/llmtest"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site/sitetest"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// A session is a run on a terminal of its own, with all that the program writes there.
type session struct {
	t   *testing.T
	out string
	cmd *exec.Cmd
	tty *os.File
	was *tty.State
	at  int // how much of the output the person has read

	mu    sync.Mutex
	wrote bytes.Buffer
	done  chan struct{} // closed when the output has ended
}

func (s *session) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote.Write(p)
}

func (s *session) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote.String()
}

// onTerminal starts a question on a terminal. Its standard output is not that terminal.
func onTerminal(t *testing.T, url string, nohup bool, env []string, args ...string) *session {
	t.Helper()
	s := &session{t: t, out: filepath.Join(t.TempDir(), "run"), done: make(chan struct{})}
	s.cmd = asDsstar(append([]string{"nb", "--data", dataFolder(t, numbers), "--out", s.out,
		"--base-url", url, "--model", "scripted", "What is the total?"}, args...)...)
	s.cmd.Env = append(append(s.cmd.Env, "TERM=xterm", "NO_COLOR=1"), env...)
	s.cmd.Stdout = io.Discard
	if nohup {
		s.cmd.Args = append([]string{"nohup"}, s.cmd.Args...)
		s.cmd.Path, s.cmd.Stderr = "/usr/bin/nohup", io.Discard
	}
	s.tty = must(pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 50, Cols: 100}))
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.tty.Close()
	})
	s.was = must(tty.GetState(int(s.tty.Fd())))
	go func() {
		defer close(s.done)
		_, _ = io.Copy(s, s.tty) // ends with an error when the program has
	}()
	return s
}

// TestTerminalCloses: when its terminal closes, the program restores the user's kernel and leaves
// nothing; with nohup it goes on.
func TestTerminalCloses(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	hup := make(chan os.Signal, 1) // below nohup, tests ignore the signal, and so would the program
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for _, nohup := range []bool{false, true} {
		runtime, temp := t.TempDir(), t.TempDir()
		kernel := sitetest.Start(t, runtime, "mine")
		sitetest.Run(t, kernel, "total = 1")
		m := counting()
		m["cell"] = say(cell("total = 999\nmade = 42 * bool(os.listdir('data'))\nprint(made)"))
		m["last"], m["second"] = say(cell("print(made)")), say(cell("answer = '42' if os.listdir('data') else ''\nanswer"))
		judge, asked, closed := m.reply(), make(chan struct{}), make(chan struct{})
		model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
			if roleOf(r) == "judge" {
				close(asked)
				<-closed
			}
			return judge(r)
		})
		s := onTerminal(t, model.URL, nohup, append(sitetest.Env(t, runtime), "TMPDIR="+temp),
			"--kernel", kernel, "--yes")
		select {
		case <-asked:
		case <-time.After(time.Minute):
			t.Fatalf("the judge is not asked: %s", s)
		}
		noError(t, s.tty.Close())
		if nohup {
			close(closed)
		}
		code, tr := exitCode(t, s.cmd), readRun(t, s.out)
		if nohup != tr.Verified() || nohup == (tr.Failure == "interrupted") {
			t.Errorf("nohup %v: exit code %d, failure %q, doubts %q", nohup, code, tr.Failure, tr.Doubts())
		}
		if out := sitetest.Run(t, kernel, "print(total, 'made' in globals())"); out != "1 False\n" {
			t.Errorf("nohup %v: in the user's kernel: %q", nohup, out)
		}
		if left := must(os.ReadDir(temp)); len(left) > 0 {
			t.Errorf("nohup %v: %v is left", nohup, left)
		}
		if !nohup {
			close(closed)
		}
	}
}

// atReview starts a run whose person is asked about every cell.
func atReview(t *testing.T, m roles, env ...string) *session {
	t.Helper()
	return onTerminal(t, m.serve(t).URL, false, append(env, warmAt+"="+string(warmSessions(t))),
		"--review", "--python", pyenvtest.Python(t))
}

// until waits for a text, and returns the output up to it.
func (s *session) until(text string) string {
	s.t.Helper()
	waitFor(s.t, text+" in\n"+s.String()[s.at:],
		func() bool { return strings.Contains(s.String()[s.at:], text) })
	before, _, _ := strings.Cut(s.String()[s.at:], text)
	s.at += len(before) + len(text)
	return before + text
}

// answers waits for a question about a cell that has these texts, and types keys and Enter.
func (s *session) answers(keys string, texts ...string) {
	s.t.Helper()
	wantText(s.t, "the question", s.until("[s]top  ? "), texts...)
	s.types(keys + "\r")
}

func (s *session) types(keys string) {
	s.t.Helper()
	_, err := s.tty.WriteString(keys)
	noError(s.t, err)
}

// ends waits for the program to end, and checks its exit code and that the terminal's modes are
// unchanged.
func (s *session) ends(code int) *record.Trajectory {
	s.t.Helper()
	if got := exitCode(s.t, s.cmd); got != code {
		s.t.Errorf("exit code %d, want %d\n%s", got, code, s)
	}
	now := must(tty.GetState(int(s.tty.Fd())))
	<-s.done
	if !reflect.DeepEqual(now, s.was) || strings.Contains(s.String(), "\x1b[?") {
		s.t.Errorf("the terminal is in another mode: %q", s)
	}
	return readRun(s.t, s.out)
}

// edits runs a shell script on the file $1 with the cell, as a person edits it.
func (s *session) edits(script string, texts ...string) {
	s.t.Helper()
	s.answers("e", texts...)
	s.until("         edit ")
	path, _, _ := strings.Cut(s.until(", then press Enter "), ", ")
	if out, err := exec.Command("sh", "-c", script, "sh", path).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	s.types("\r")
}

// TestReviewEdit: the text that the person saves and accepts is what runs. What is no cell changes
// nothing, and the same question follows.
func TestReviewEdit(t *testing.T) {
	t.Parallel()
	seen := filepath.Join(t.TempDir(), "seen.py")
	largest := cell("answer = max(open('data/numbers.csv').read().split()[1:], key=int)\nanswer")
	s := atReview(t, counting().with(roles{"second": say(largest)}))
	for _, edit := range [][]string{
		{`mv "$1" '` + seen + "'", "no such file"},
		{`printf ' \n' > "$1"`, "the cell is empty"},
		{`printf 'x = "\377"' > "$1"`, "not text in UTF-8"},
	} {
		s.edits(edit[0])
		s.until(edit[1])
	}
	s.edits("sed 's/sum(/max(/' '" + seen + "' >\"$1\"")
	s.answers("a", "review   step 1: Load the numbers and add them up.",
		"         │ total = max(numbers)\r\n", "         │ print(total)\r\n")
	s.answers("a")
	s.answers("l", "key=int)") // the cell of the second derivation
	tr := s.ends(exitVerified)
	if r := tr.Rounds[0]; tr.Answer() != "39" || !r.ByHand ||
		!strings.Contains(r.Attempts[0].Code, "max(numbers)") {
		t.Errorf("answer %q, %+v", tr.Answer(), r)
	}
	want := "numbers = [int(line) for line in open('data/numbers.csv').read().split()[1:]]\n" +
		"total = sum(numbers)\nprint(total)\n"
	if draft := content(seen); draft != want {
		t.Errorf("the draft: %s", draft)
	}
}

// TestReviewKeys: Enter, several keys at once, arrow keys and keys typed before the question accept
// no cell. A rejection needs a reason, which the solver reads. Edited text is kept if the run stops.
func TestReviewKeys(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	m := counting()
	m["step"] = say("Load the numbers and add them up.", "Add up the numbers without the first.")
	m["cell"][0].Delay = 3 * time.Second
	s := atReview(t, m, "TMPDIR="+t.TempDir())
	s.until("asking the solver")
	s.types("a\r")
	s.until("\x1b[Ja") // the terminal's echo, below a picture
	for _, keys := range []string{"", "al", "\x1b[A", "ä", "x", "?", "accept"} {
		s.answers(keys)
		s.until("a  the cell runs as it stands here")
	}
	for _, reason := range []string{"\r", "the first is a year\r"} {
		s.answers("r")
		s.until("reason (none: back to the question): ")
		s.types(reason)
	}
	s.edits(`sed -i 's/sum(/max(/' "$1"`, "review   step 1: Add up the numbers without the first.")
	s.answers("s")
	s.until("your text: ")
	path := strings.TrimSpace(s.until("\r\n"))
	tr := s.ends(exitInterrupted)
	wantText(t, path, content(path), "max(")
	if len(tr.Rounds) != 2 || tr.Rounds[0].Attempts[0].Execution.Status != notebook.NotRun {
		t.Errorf("%+v", tr.Rounds)
	}
	trace := content(filepath.Join(s.out, "trace.jsonl"))
	wantText(t, "what the solver reads", trace, `rejected by hand: the first is a year\n`)
}

// TestShownCode: all of a line of code is shown. No row is wider than the terminal or contains control
// sequences.
func TestShownCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(18, 60).Draw(t, "columns")
		line := rapid.OneOf(rapid.SampledFrom([]string{"x = 1", "\tf(x)", "a\rb", "数据 = 1", "  ",
			"e\u0301\u0301\u0301\u0301\u0301", "if x: # \u202e { evil } \u2066", "\x1b[2J"}),
			rapid.StringMatching(`[^\n]*`)).Draw(t, "line")
		shown := ""
		for i, row := range rows(line, columns) {
			frame, rest, ok := strings.Cut(row, []string{"│", "┊"}[min(i, 1)])
			shown += rest
			if !ok || strings.TrimSpace(frame) != "" || ui.Width(row) > columns ||
				ui.Clean(row) != strings.ReplaceAll(row, "\n", " ") {
				t.Errorf("%q in %d columns", row, columns)
			}
		}
		if strings.ReplaceAll(shown, " ", "") != strings.ReplaceAll(revealed(line), " ", "") {
			t.Errorf("%q is shown as %q", line, shown)
		}
	})
}

func TestRevealed(t *testing.T) {
	for in, want := range map[string]string{
		"x = '\u202e'":  `x = '\u202e'`,
		"\tx\u200b\x1b": `    x\u200b\x1b`,
		"größe = 数":     "größe = 数",
		"a\u00a0b":      `a\u00a0b`,
		"x\r":           `x\r`,
	} {
		if got := revealed(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
