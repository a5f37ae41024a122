package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// A reviewed is a run on a terminal, with a person who is asked about every cell.
type reviewed struct {
	*session
	t      *testing.T
	out    string
	stdout bytes.Buffer
	at     int // how much of the output the person has read
}

// atReview starts a run with --review on a terminal. Its standard output is not that terminal.
func atReview(t *testing.T, m roles, env []string, args ...string) *reviewed {
	t.Helper()
	s := &reviewed{session: &session{done: make(chan struct{})}, t: t,
		out: filepath.Join(t.TempDir(), "run")}
	s.cmd = asDsstar(
		append([]string{"nb", "--review", "--data", dataFolder(t, numbers), "--out", s.out,
			"--base-url", m.serve(t).URL, "--model", "scripted", "--python", pyenvtest.Python(t),
			"What is the total?"}, args...)...)
	s.cmd.Env = append(append(s.cmd.Env, "TERM=xterm", "NO_COLOR=1", "VISUAL=", "EDITOR=false",
		warmAt+"="+string(warmSessions(t))), env...)
	s.cmd.Stdout = &s.stdout
	s.start(t, &pty.Winsize{Rows: 50, Cols: 100})
	return s
}

// until waits for a text, and returns the output up to it.
func (s *reviewed) until(text string) string {
	s.t.Helper()
	waitFor(s.t, text+" in\n"+s.String()[s.at:],
		func() bool { return strings.Contains(s.String()[s.at:], text) })
	new := s.String()[s.at:]
	end := strings.Index(new, text) + len(text)
	s.at += end
	return new[:end]
}

// answers waits for a question about a cell that has these texts, and types keys and Enter.
func (s *reviewed) answers(keys string, texts ...string) {
	s.t.Helper()
	asked := s.until("[s]top  ? ")
	for _, text := range texts {
		if !strings.Contains(asked, text) {
			s.t.Errorf("the question does not have %q:\n%s", text, asked)
		}
	}
	s.types(keys + "\r")
}

func (s *reviewed) types(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the program to end, and checks its exit code and that the terminal is restored.
func (s *reviewed) ends(code int) *record.Trajectory {
	s.t.Helper()
	if got := exitCode(s.t, s.cmd); got != code {
		s.t.Errorf("exit code %d, want %d\n%s", got, code, s)
	}
	s.restored(s.t)
	return readRun(s.t, s.out)
}

// editor returns an editor that runs a shell script on the file $1.
func editor(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "an editor")
	pyenvtest.WriteProgram(t, path, []byte("#!/bin/sh\n"+script+"\n"))
	return "EDITOR=" + path
}

// TestReviewEdit: the text that the person saves and accepts is what runs.
func TestReviewEdit(t *testing.T) {
	t.Parallel()
	seen := filepath.Join(t.TempDir(), "seen.py")
	largest := cell("answer = max(open('data/numbers.csv').read().split()[1:], key=int)\nanswer")
	s := atReview(
		t,
		counting().with(roles{"second": say(largest)}),
		[]string{
			editor(t,
				"cp \"$1\" '"+seen+"'\nsed -i 's/sum(/max(/' \"$1\""),
		},
	)
	s.answers("e")
	s.answers("a", "review   step 1: Load the numbers and add them up.",
		"         │ total = max(numbers)\r\n", "         │ print(total)\r\n")
	s.answers("a")
	s.answers("a", "key=int)")
	tr := s.ends(exitVerified)
	if r := tr.Rounds[0]; tr.Answer() != "39" || !r.ByHand ||
		!strings.Contains(r.Attempts[0].Code, "max(numbers)") {
		t.Errorf("answer %q, %+v", tr.Answer(), r)
	}
	draft, err := os.ReadFile(seen)
	want := "numbers = [int(line) for line in open('data/numbers.csv').read().split()[1:]]\n" +
		"total = sum(numbers)\nprint(total)\n"
	if err != nil || string(draft) != want {
		t.Errorf("the draft: %v\n%s", err, draft)
	}
}

// TestReviewEditFails: an editor that fails, is missing, or saves nothing or only blanks changes
// nothing, and the same question follows. Ctrl-C goes to the editor.
func TestReviewEditFails(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	for name, c := range map[string]struct{ env, waits, keys, says string }{
		"fails":     {editor(t, "echo 'x = 1' >> \"$1\"; exit 3"), "", "", "your text: "},
		"not there": {"EDITOR=/no/such/editor", "", "", "the cell is as it was"},
		"nothing":   {editor(t, "true"), "", "", "nothing has changed"},
		"empty":     {editor(t, ": > \"$1\""), "", "", "the cell is empty; it is as it was"},
		"bytes":     {editor(t, "printf 'x = \"\\377\"' > \"$1\""), "", "", "not text in UTF-8"},
		"raw mode":  {editor(t, "stty raw -echo; exit 1"), "", "", "exit status 1; the cell is as it was"},
		"Ctrl-C": {editor(t, "trap 'echo caught; exit 0' INT; echo ready; while :; do sleep 0.1; done"),
			"ready", ctrlC, "nothing has changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := atReview(t, counting(), []string{c.env})
			s.answers("e")
			if c.waits != "" {
				s.until(c.waits)
				s.types(c.keys)
			}
			s.until(c.says)
			s.answers("l")
			if tr := s.ends(exitVerified); tr.Answer() != "42" || tr.Rounds[0].ByHand {
				t.Errorf("answer %q, %+v", tr.Answer(), tr.Rounds[0])
			}
		})
	}
}

const ctrlC = "\x03"

// TestReviewKeys: Enter, several keys at once, arrow keys and keys typed before the question accept
// no cell. A rejection needs a reason, which the solver reads. Edited text is kept if the run stops.
func TestReviewKeys(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	m := counting()
	m["step"] = say("Load the numbers and add them up.", "Add up the numbers without the first.")
	m["cell"][0].Delay = 3 * time.Second
	s := atReview(t, m, []string{editor(t, "sed -i 's/sum(/max(/' \"$1\""), "TMPDIR=" + t.TempDir()})
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
	s.answers("e", "review   step 1: Add up the numbers without the first.")
	s.answers("s")
	s.until("your text: ")
	path := strings.TrimSpace(s.until("\r\n"))
	tr := s.ends(exitInterrupted)
	wantText(t, path, content(t, path), "max(")
	if len(tr.Rounds) != 2 || tr.Rounds[0].Attempts[0].Execution.Status != notebook.NotRun {
		t.Errorf("%+v", tr.Rounds)
	}
	trace := content(t, filepath.Join(s.out, "trace.jsonl"))
	wantText(t, "what the solver reads", trace, `rejected by hand: the first is a year\n`)
}
