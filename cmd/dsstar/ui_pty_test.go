//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
	tty "golang.org/x/term"

	"dsstar/agent/llm/llmtest"
	"dsstar/cmd/dsstar/internal/term/termtest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// A session is a program on its own terminal, with all its output.
type session struct {
	cmd *exec.Cmd
	tty *os.File
	was *tty.State

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

// stalled starts a run on a terminal with a model that never returns a plan, and waits until the
// terminal shows that the run waits for it.
func stalled(t *testing.T) *session {
	t.Helper()
	m := counting()
	m["solver"] = []llmtest.Response{{Stall: true}}
	s := &session{done: make(chan struct{})}
	s.cmd = asDsstar("nb", "--data", dataFolder(t, numbers), "--out",
		filepath.Join(t.TempDir(), "run"), "--base-url", m.serve(t).URL, "--model", "scripted",
		"--python", pyenvtest.Python(t), "What is the total?")
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm", "NO_COLOR=")
	s.start(t, &pty.Winsize{Rows: 24, Cols: 60})
	waitFor(t, "the view", func() bool { return strings.Contains(s.String(), "asking the solver (") })
	return s
}

// TestTerminalLeft: Ctrl-C ends the program properly, and leaves neither a view nor a changed
// terminal mode. kill -9 leaves the cursor at the beginning of a line.
func TestTerminalLeft(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	s := stalled(t)
	if _, err := s.tty.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, s.cmd); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	m := s.shows(t)
	if m.Column != 0 || strings.Contains(m.String(), "now  ") ||
		!strings.Contains(m.String(), "file     numbers.csv (1 of 1)\n") {
		t.Errorf("left in column %d:\n%s", m.Column, m)
	}

	s = stalled(t)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	exitCode(t, s.cmd)
	if m := s.shows(t); m.Column != 0 || strings.Count(m.String(), "now  ") != 1 {
		t.Errorf("left in column %d:\n%s", m.Column, m)
	}
}

// TestAskAboveUSD: on a terminal, dsstar asks before rounds that may cost more than the setting.
func TestAskAboveUSD(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	for answer, code := range map[string]int{"n\n": exitError, "y\n": exitVerified} {
		s := &session{done: make(chan struct{})}
		s.cmd = asDsstar("nb", "--data", dataFolder(t, numbers), "--out",
			filepath.Join(t.TempDir(), "run"), "--model", "openai/gpt-5", "--ask-above-usd", "0.001",
			"--python", pyenvtest.Python(t), "What is the total?")
		s.cmd.Env = append(s.cmd.Env, "TERM=xterm", "NO_COLOR=1", "OPENAI_API_KEY=none",
			"OPENAI_BASE_URL="+counting().serve(t).URL)
		s.start(t, &pty.Winsize{Rows: 24, Cols: 100})
		waitFor(t, "the question", func() bool { return strings.Contains(s.String(), "go on? [y/N]") })
		if _, err := s.tty.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		if got := exitCode(t, s.cmd); got != code {
			t.Errorf("%q: exit code %d\n%s", answer, got, s)
		}
		<-s.done
		if refused := strings.Contains(s.String(), "declined"); refused != (code != exitVerified) ||
			!refused && !strings.Contains(s.String(), "out, about $") {
			t.Errorf("%q:\n%s", answer, s)
		}
	}
}

// shows returns what the terminal shows after the program's end, and checks that its modes are
// unchanged.
func (s *session) shows(t *testing.T) *termtest.Terminal {
	t.Helper()
	now, err := tty.GetState(int(s.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(now, s.was) {
		t.Error("the terminal is in another mode")
	}
	<-s.done
	if strings.Contains(s.String(), "\x1b[?") {
		t.Errorf("modes of the terminal are changed: %q", s.String())
	}
	m := &termtest.Terminal{Columns: 60, Rows: 24}
	if _, err := m.Write(s.wrote.Bytes()); err != nil {
		t.Error(err)
	}
	return m
}

// start starts the session's command on a terminal of the given size.
func (s *session) start(t *testing.T, size *pty.Winsize) {
	t.Helper()
	var err error
	if s.tty, err = pty.StartWithSize(s.cmd, size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.tty.Close()
	})
	if s.was, err = tty.GetState(int(s.tty.Fd())); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		_, _ = io.Copy(s, s.tty) // ends with an error when the program has
	}()
}
