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

	"github.com/creack/pty"
	tty "golang.org/x/term"

	"dsstar/agent/llm/llmtest"
	"dsstar/cmd/dsstar/internal/site/sitetest"
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

// TestTerminalCloses: when its terminal closes, the program restores the user's kernel and leaves
// nothing; with nohup it goes on.
func TestTerminalCloses(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	hup := make(chan os.Signal, 1) // below nohup, tests ignore the signal, and so would the program
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for _, nohup := range []bool{false, true} {
		runtime, temp, run := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "run")
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
		s := &session{done: make(chan struct{})}
		s.cmd = asDsstar("nb", "--data", dataFolder(t, numbers), "--out", run, "--base-url", model.URL,
			"--model", "scripted", "--kernel", kernel, "--yes", "What is the total?")
		if nohup {
			s.cmd.Args = append([]string{"nohup"}, s.cmd.Args...)
			s.cmd.Path, s.cmd.Stdout, s.cmd.Stderr = "/usr/bin/nohup", io.Discard, io.Discard
		}
		s.cmd.Env = append(append(s.cmd.Env, sitetest.Env(t, runtime)...), "TERM=xterm",
			"TMPDIR="+temp)
		s.start(t, &pty.Winsize{Rows: 24, Cols: 100})
		waitFor(t, "the judge's request", func() bool {
			select {
			case <-asked:
				return true
			default:
				return false
			}
		})
		if err := s.tty.Close(); err != nil {
			t.Fatal(err)
		}
		if nohup {
			close(closed)
		}
		code := exitCode(t, s.cmd)
		tr := readRun(t, run)
		if nohup != tr.Verified() || nohup == (tr.Failure == "interrupted") {
			t.Errorf("nohup %v: exit code %d, failure %q, doubts %q", nohup, code, tr.Failure, tr.Doubts())
		}
		if out := sitetest.Run(t, kernel, "print(total, 'made' in globals())"); out != "1 False\n" {
			t.Errorf("nohup %v: in the user's kernel: %q", nohup, out)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("nohup %v: %v is left, %v", nohup, left, err)
		}
		if !nohup {
			close(closed)
		}
	}
}

// restored checks after the program's end that the terminal's modes are unchanged.
func (s *session) restored(t *testing.T) {
	t.Helper()
	now, err := tty.GetState(int(s.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	<-s.done
	if !reflect.DeepEqual(now, s.was) || strings.Contains(s.String(), "\x1b[?") {
		t.Errorf("the terminal is in another mode: %q", s.String())
	}
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
