package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dsstar/kernel/internal/zmq"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// someone starts a kernel that guests can attach to, by the returned connection file.
func someone(t testing.TB) (k *Kernel, file string) {
	t.Helper()
	k = open(t, options(t))
	return k, k.current().owner.(*local).file()
}

func visitor(t testing.TB, file string, o Options) *Kernel {
	t.Helper()
	k, err := Attach(t.Context(), file, o)
	ok(t, err)
	t.Cleanup(func() { _ = k.Close() })
	return k
}

func stdout(t testing.TB, k *Kernel, code, want string) {
	t.Helper()
	equal(t, code, runCell(t, k, code, notebook.OK).Stdout(), want)
}

// waitFor returns a statement that ends once file exists.
func waitFor(file string) string {
	return fmt.Sprintf("import os, time; all(time.sleep(.01) is None for _ in iter(lambda: os.path.exists(%q), True))", file)
}

// A guest leaves a kernel as it was, except for the names that are kept.
func TestGuestManners(t *testing.T) {
	t.Parallel()
	t.Run("ipykernel7", func(t *testing.T) { testGuestManners(t, testPython(t)) })
	t.Run("ipykernel6", func(t *testing.T) {
		pyenvtest.Long(t)
		testGuestManners(t, pyenvtest.OldPython(t))
	})
}

func testGuestManners(t *testing.T, python string) {
	o := options(t)
	o.Spec = PythonSpec(python)
	k := open(t, o)
	file := k.current().owner.(*local).file()
	// asks for the banner, for which IPython draws a random number
	g := visitor(t, file, Options{Dir: t.TempDir()})
	before := `import os, random; import numpy as np
home = os.getcwd(); df = 'the user'; frame = [1]; random.seed(5); np.random.seed(5); state = random.getstate()`
	runCell(t, k, before, notebook.OK)
	if info := g.Info(); info.Owned || info.ID != "kernel" && info.ID == "" ||
		info.Implementation != "ipython" {
		t.Errorf("%+v", info)
	}
	runCell(t, g, "df = 'the guest'; made = 1; random.random(); np.random.rand(); x = os.getcwd()\n'result'", notebook.OK)
	stdout(t, g, "print(made, df, x == os.getcwd() != home)", "1 the guest True\n")
	// Between the guest's cells the user goes on.
	stdout(t, k, "print(os.getcwd() == home, random.getstate() == state, In[-2], _ == 'result')",
		"True True "+before+" False\n")
	runCell(t, g, "stays = gone = 2", notebook.OK)
	stdout(t, g, "(lambda v: print(v.user('df'), v.user('made') is v, sorted(n for n in v.rebound() if n[0] != '_')))("+g.Visit()+")",
		"the user True ['df', 'gone', 'made', 'stays', 'x']\n")
	runCell(t, g, g.Visit()+".keep.add('stays')", notebook.OK)
	check(t, g.Close())
	stdout(t, k, "print(df, stays, [n for n in ('made', 'x', 'gone') if n in globals()], os.getcwd() == home, len(In), hasattr(get_ipython(), 'guest_visits'))", "the user 2 [] True 4 False\n")
	stdout(t, k, "print(Out, random.getstate() == state)", "{} True\n")
}

// Guests join one kernel one after the other; the last one ends it.
func TestGuests(t *testing.T) {
	t.Parallel()
	k, file := someone(t)
	for _, c := range []struct {
		name string
		test func(t *testing.T, k *Kernel, file string)
	}{
		{"two at once", testTwoGuests}, {"reset", testGuestReset},
		{"newer work", testGuestSparesNewerWork}, {"no hint", testGuestIsNotHinted},
		{"quit", testGuestQuits}, {"busy kernel", testGuestOfBusyKernel},
		{"behind another", testGuestBehindAnother}, {"stubborn cell", testGuestLeavesStubbornCell},
		{"no answer", testGuestIsNotAnswered}, {"death", testGuestSeesDeath},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, k, file) })
	}
}

// Two guests at the same time do not disturb each other.
func testTwoGuests(t *testing.T, k *Kernel, file string) {
	runCell(t, k, "import os, random; home = os.getcwd(); df = 0", notebook.OK)
	dirs := []string{t.TempDir(), t.TempDir()}
	var all sync.WaitGroup
	// All join before the first cell: who joins asks for the banner, for which IPython draws a
	// random number in its control thread, in the midst of whatever cell is running.
	var guests []*Kernel
	for _, dir := range dirs {
		guests = append(guests, visitor(t, file, Options{Dir: dir}))
	}
	for i, dir := range dirs {
		g := guests[i]
		all.Go(func() {
			runCell(t, g, fmt.Sprintf("random.seed(%d); mine%d = random.getstate()", i, i), notebook.OK)
			for range 8 {
				stdout(t, g, fmt.Sprintf("print(os.getcwd() == %q, random.getstate() == mine%d); df = %d", dir,
					i, i+1), "True True\n")
			}
		})
	}
	all.Wait()
	stdout(t, k, "print(os.getcwd() == home)", "True\n")
	for _, g := range guests {
		_ = g.Close()
	}
	stdout(t, k, "print(hasattr(get_ipython(), 'guest_visits'))", "False\n")
}

// Going back in a kernel that is not ours undoes names, and restarts nothing.
func testGuestReset(t *testing.T, k *Kernel, file string) {
	runCell(t, k, "import os; pid = os.getpid(); df = 1; gone = 2", notebook.OK)
	dir := t.TempDir()
	g := visitor(t, file, Options{Dir: dir})
	for _, cell := range []string{"a = [1]", "df = 5; del gone", "b = 2; os.chdir('/')"} {
		runCell(t, g, cell, notebook.OK)
	}
	runCell(t, k, "mine = 'made meanwhile'", notebook.OK)
	ok(t, g.Reset(t.Context()))
	stdout(t, g, "print('a' in globals(), df, gone, 'b' in globals(), os.getpid() == pid, mine)",
		"False 1 2 False True made meanwhile\n")
	stdout(t, g, "print(os.getcwd())", dir+"\n")
}

// What the user has bound since the guest's cell is the user's.
func testGuestSparesNewerWork(t *testing.T, k *Kernel, file string) {
	for _, end := range []string{"Reset", "Close"} {
		runCell(t, k, "df = 'v1'; other = 'v1'", notebook.OK)
		g := visitor(t, file, Options{})
		runCell(t, g, "df = 'guest'; helper = 1; other = 'guest'", notebook.OK)
		runCell(t, k, "df = 'v2'; helper = 'mine'\nclass Big: pass\nimport gc, weakref\nbig = Big(); ref = weakref.ref(big)", notebook.OK)
		runCell(t, g, "1", notebook.OK)
		stdout(t, k, "del big; _ = gc.collect(); print(ref() is None)", "True\n")
		if end == "Reset" {
			check(t, g.Reset(t.Context()))
		} else if err := g.Close(); err != nil {
			t.Error(err)
		}
		stdout(t, k, "print(df, helper, other)", "v2 mine v1\n")
	}
}

// Attaching does not wait for a busy kernel, but a cell does. Who gives up waiting disturbs nobody.
func testGuestOfBusyKernel(t *testing.T, k *Kernel, file string) {
	goOn := filepath.Join(t.TempDir(), "go-on")
	busy := make(chan notebook.Execution, 1)
	started, once := make(chan bool), sync.Once{}
	go func() {
		x, _ := k.ExecuteCell(context.Background(), Cell{
			Code:    "print('begun', flush=True)\n" + waitFor(goOn) + "\nprint('undisturbed')",
			Observe: func(notebook.Output) { once.Do(func() { close(started) }) },
		})
		busy <- x
	}()
	<-started
	g := visitor(t, file, Options{CellTimeout: time.Second})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := g.Execute(ctx, "print('never')")
	fails(t, err, context.DeadlineExceeded)
	// later than the time-out, which excludes waiting
	time.AfterFunc(1500*time.Millisecond, func() { _ = os.WriteFile(goOn, nil, 0o600) })
	stdout(t, g, "print('in turn')", "in turn\n")
	x := <-busy
	equal(t, "the user's cell", x.Stdout(), "begun\nundisturbed\n")
	if x := runCell(t, g, "time.sleep(60)", notebook.TimedOut); x.Seconds > 30 {
		t.Errorf("%v s", x.Seconds)
	}
	runCell(t, k, "1", notebook.OK)
}

// Another client's cell does not count against the time-out of the guest's.
func testGuestBehindAnother(t *testing.T, k *Kernel, file string) {
	w := brisk()
	w.takeUp = 300 * time.Millisecond
	g := visitor(t, file, Options{CellTimeout: 500 * time.Millisecond, waits: w})
	runCell(t, g, "1", notebook.OK)
	go func() { _, _ = k.Execute(context.Background(), "import time; time.sleep(1)") }()
	time.Sleep(200 * time.Millisecond)
	// without waiting for other clients
	x, err := g.Silently(t.Context(), "print('in turn')", 500*time.Millisecond)
	if err != nil || x.Stdout() != "in turn\n" {
		t.Errorf("%v %+v", err, x)
	}
}

// A guest whose cell ignores interrupts leaves, and the kernel stays alive.
func testGuestLeavesStubbornCell(t *testing.T, k *Kernel, file string) {
	g := visitor(t, file, Options{CellTimeout: time.Second, waits: brisk()})
	runCell(t, k, "df = 'the user'", notebook.OK)
	goOn := filepath.Join(t.TempDir(), "go-on")
	x := runCell(t, g, "df = 'the guest'\nwhile True:\n    try:\n        "+waitFor(goOn)+
		"; break\n    except KeyboardInterrupt: pass", notebook.TimedOut)
	equal(t, "reason", x.Reason, "stopped after 1 s (the cell time-out); it ignored the interrupt, "+
		"so that the kernel was left running, because another program started it")
	equal(t, "guest", g.Alive(), false)
	equal(t, "kernel", k.Alive(), true)
	runCell(t, g, "1", notebook.Died)
	check(t, os.WriteFile(goOn, nil, 0o600))
	stdout(t, k, "print(df, hasattr(get_ipython(), 'guest_visits'))", "the user False\n")
}

// Cells in somebody else's kernel are not sandboxed, whatever the options say, so no hint blames a
// sandbox.
func testGuestIsNotHinted(t *testing.T, _ *Kernel, file string) {
	g := visitor(t, file, Options{Dir: t.TempDir(), Sandbox: sandbox.Box{Tier: sandbox.Builtin}})
	if x := runCell(t, g, "raise MemoryError", notebook.Raised); strings.Contains(x.PlainText(),
		"dsstar sandbox") {
		t.Error(x.PlainText())
	}
}

// Attaching to a kernel that does not answer, as the key is another one or the kernel is stopped,
// ends in time.
func testGuestIsNotAnswered(t *testing.T, k *Kernel, file string) {
	c := must(zmq.Read(file))
	c.Key = "another"
	other := filepath.Join(t.TempDir(), "other.json")
	ok(t, c.Write(other))
	running := func() bool { // where there is /proc: the signal comes later than the call ends
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", k.Info().PID))
		return err == nil && !strings.Contains(string(state), ") T ")
	}
	for path, signal := range map[string]syscall.Signal{other: 0, file: syscall.SIGSTOP} {
		ok(t, syscall.Kill(k.Info().PID, signal))
		for signal != 0 && running() {
			time.Sleep(time.Millisecond)
		}
		_, err := Attach(t.Context(), path, Options{StartTimeout: 500 * time.Millisecond})
		fails(t, err, errNotReady)
		ok(t, syscall.Kill(k.Info().PID, syscall.SIGCONT))
	}
}

// A guest's cell cannot end the kernel as it could end its own; the user's cells still can.
func testGuestQuits(t *testing.T, k *Kernel, file string) {
	g := visitor(t, file, Options{})
	for _, end := range []string{"exit()", "quit", "get_ipython().ask_exit()"} {
		runCell(t, g, end, notebook.Raised)
		stdout(t, k, "print('ask_exit' in vars(get_ipython()))", "False\n")
	}
}

// The end of a kernel that is not ours is noticed at once.
func testGuestSeesDeath(t *testing.T, k *Kernel, file string) {
	g := visitor(t, file, Options{})
	x := runCell(t, g, "print('kept', flush=True)\nimport os, signal, time; time.sleep(.2); os.kill(os.getpid(), signal.SIGKILL)", notebook.Died)
	equal(t, "stdout", x.Stdout(), "kept\n")
	equal(t, "reason", x.Reason, "the kernel died: its connections closed")
	fails(t, g.Reset(t.Context()), "not ours to start again")
}

func TestAttachErrors(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	for text, want := range map[string]string{
		"":   "not a connection file",
		"[]": "not a connection file",
		"{}": "has no ports",
		`{"shell_port":1,"iopub_port":2,"control_port":3,"ip":"127.0.0.1","transport":"udp"}`:                          `unknown transport "udp"`,
		`{"shell_port":1,"iopub_port":2,"control_port":3,"ip":"127.0.0.1","key":"k","signature_scheme":"hmac-md5"}`:    "hmac-md5",
		`{"shell_port":1,"iopub_port":2,"control_port":3,"ip":"127.0.0.1","key":"k","curve_publickey":"x"}`:            "CURVE",
		`{"shell_port":1,"iopub_port":2,"control_port":3,"ip":"127.0.0.1","key":"k","signature_scheme":"hmac-sha256"}`: "no kernel answers there",
		`{"shell_port":1,"iopub_port":2,"control_port":3,"ip":"` + dir +
			`/nothing","transport":"ipc","key":"k"}`: "no kernel answers there",
		`{"shell_port":0,"iopub_port":0,"control_port":0,"stdin_port":0,"hb_port":0,"ip":"127.0.0.1","transport":"tcp","key":"unbound"}`: "has no ports",
	} {
		path := filepath.Join(dir, "kernel.json")
		ok(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Attach(t.Context(), path, Options{})
		fails(t, err, want)
	}
	_, err := Attach(t.Context(), filepath.Join(dir, "none.json"), Options{})
	fails(t, err, os.ErrNotExist)
}
