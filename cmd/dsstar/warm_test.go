package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
	"dsstar/kernel"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// warmAt names the socket of testdata/warm.py, whose sessions are in place of kernels.
const warmAt = "DSSTAR_TEST_WARM"

// live in the environment of testApp has cells run in kernels.
const live = warmAt + "="

// warm is the process that all tests share.
var warm struct {
	sync.Once
	at   string
	stop func()
}

// warmFrom is the program, whatever folder a test works in.
var warmFrom, _ = filepath.Abs("testdata/warm.py")

// warmSessions returns the sessions of the process in which pandas is loaded already; "" with
// DSSTAR_LONG, where all cells run in kernels.
func warmSessions(t testing.TB) warmed {
	t.Helper()
	if os.Getenv("DSSTAR_LONG") != "" {
		return ""
	}
	warm.Do(func() {
		dir := must(os.MkdirTemp("", "dsstar-warm-"))
		at := filepath.Join(dir, "socket")
		cmd := exec.Command(pyenvtest.Python(t), warmFrom, at)
		cmd.Env = append(cleanEnv(), "PYTHONHASHSEED=0", "OPENBLAS_NUM_THREADS=1")
		cmd.Stderr = os.Stderr
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		noError(t, inErr, outErr, cmd.Start())
		load := profile.Load + profile.Program()
		_, err := fmt.Fprintf(in, "%d\n%s", len([]rune(load)), load)
		if _, readErr := out.Read(make([]byte, 1)); err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		warm.at, warm.stop = at, func() {
			_ = errors.Join(in.Close(), cmd.Wait(), os.RemoveAll(dir))
		}
	})
	return warmed(warm.at)
}

// warmed opens sessions at a socket.
type warmed string

// A warmSession goes back by running its cells again in another process.
type warmSession struct {
	at      warmed
	o       kernel.Options
	conn    net.Conn
	replies *json.Decoder
	cells   []string // that have run
	lost    bool     // one of them has failed
	dead    bool
}

func (w warmed) dial(o kernel.Options, script string) (net.Conn, error) {
	conn, err := net.Dial("unix", string(w))
	if err != nil {
		return nil, err
	}
	return conn, json.NewEncoder(conn).Encode(map[string]any{"dir": o.Dir,
		"env": o.Env, "prelude": o.Prelude, "script": script})
}

func (w warmed) Open(o kernel.Options) (agent.Session, error) {
	s := &warmSession{at: w, o: o}
	return s, s.begin()
}

func (s *warmSession) begin() (err error) {
	if s.o.Scratch != "" {
		err = disk.EmptyFolder(s.o.Scratch, nil)
	}
	if err != nil {
		return err
	}
	if s.conn, err = s.at.dial(s.o, ""); err == nil {
		s.replies, s.cells, s.lost, s.dead = json.NewDecoder(s.conn), nil, false, false
	}
	return err
}

func (s *warmSession) run(ctx context.Context, code string, silent bool) (x notebook.Execution, err error) {
	if err := ctx.Err(); err != nil {
		return x, err
	}
	defer context.AfterFunc(ctx, func() { _ = s.conn.Close() })()
	err = json.NewEncoder(s.conn).Encode(map[string]any{"code": code, "silent": silent})
	if err == nil {
		err = s.replies.Decode(&x)
	}
	switch {
	case ctx.Err() != nil:
		s.dead = true
		return x, ctx.Err()
	case err != nil:
		s.dead = true
		return notebook.Execution{Status: notebook.Died, Reason: "the kernel died"}, nil
	}
	return x, nil
}

func (s *warmSession) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	x, err := s.run(ctx, code, false)
	s.cells, s.lost = append(s.cells, code), s.lost || err != nil || x.Status != notebook.OK
	return x, err
}

func (s *warmSession) Silently(ctx context.Context, code string, _ time.Duration) (notebook.Execution, error) {
	return s.run(ctx, code, true)
}

func (s *warmSession) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	back := notebook.Restoration{Way: notebook.ByReplay}
	_ = s.conn.Close()
	if err := s.begin(); err != nil {
		return back, err
	}
	for _, code := range cells {
		x, err := s.Execute(ctx, code)
		if err != nil {
			return back, err
		}
		if back.Executions = append(back.Executions, x); x.Status != notebook.OK {
			break
		}
	}
	return back, nil
}

func (s *warmSession) Alive() bool { return !s.dead }

func (s *warmSession) Close() error { return s.conn.Close() }

// RunScript runs a run's script.
func (w warmed) RunScript(ctx context.Context, o kernel.Options) (x notebook.Execution, err error) {
	conn, err := w.dial(o, string(record.Folder(o.Dir).Script()))
	if err != nil {
		return x, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	err = json.NewDecoder(conn).Decode(&x)
	if err != nil && errors.Is(err, io.EOF) {
		err = errors.New("the script ended its process")
	}
	return x, err
}
