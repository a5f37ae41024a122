//go:build linux

package kernel

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/notebook"
)

// freezing are options for a kernel that freezes copies of itself.
func freezing(t testing.TB) Options {
	o := options(t)
	o.Spec, o.Copies = checkpointSpec(t, testPython(t)), filepath.Join(t.TempDir(), "copies")
	return o
}

// goBack goes back to cells and demands the way, how many cells did not run again,
// and why that were not all.
func goBack(t testing.TB, k *Kernel, cells []string, way notebook.Way, kept int, why string) notebook.Restoration {
	t.Helper()
	back, err := k.Rollback(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	if back.Way != way || back.Kept != kept || !strings.Contains(back.Why, why) || why == "" && back.Why != "" {
		t.Fatalf("went back by %s, %d kept, because %q; want %s, %d, %q", back.Way, back.Kept, back.Why, way, kept, why)
	}
	return back
}

// prints executes an expression and demands what it gives.
func prints(t testing.TB, k *Kernel, expression, want string) {
	t.Helper()
	if x := runCell(t, k, "print("+expression+", end='')", notebook.OK); x.Stdout() != want {
		t.Errorf("%s is %q, want %q", expression, x.Stdout(), want)
	}
}

// TestCheckpoints: the state of names, objects, generators of random numbers and
// files goes back, with what the cells printed when they ran, after every end that
// a cell can have.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.CellTimeout = 2 * time.Second
	k := openWith(t, o, impatient())
	pid := k.Info().PID
	cells := []string{
		"import random\na = [random.random()]\nopen('log.txt', 'w').write('one')",
		"import random\na.append(random.random()); print(a)\nopen('log.txt', 'a').write(', two')",
	}
	var printed string
	for _, c := range cells {
		printed = runCell(t, k, c, notebook.OK).Stdout()
	}
	for code, status := range map[string]notebook.Status{
		"a.clear(); open('log.txt', 'w').close(); open('new', 'w').close()\n1/0":                notebook.Raised,
		"import os; os.remove('log.txt'); os._exit(3)":                                          notebook.Died,
		"import os, signal; a.clear(); os.kill(os.getpid(), signal.SIGKILL)":                    notebook.Died,
		"import time\nwhile True:\n    try: time.sleep(9)\n    except BaseException: a.clear()": notebook.TimedOut,
		"a.clear(); random.seed(1)":                                                             notebook.OK,
	} {
		runCell(t, k, code, status)
		back := goBack(t, k, cells, notebook.ByCheckpoint, 2, "")
		if len(back.Executions) != 2 || back.Executions[1].Stdout() != printed || !k.Alive() || k.Info().PID != pid {
			t.Errorf("after %s: %+v, alive %v", code, back, k.Alive())
		}
		prints(t, k, "a", strings.TrimSpace(printed))
		prints(t, k, "open('log.txt').read(), __import__('os').listdir('.')", "one, two ['log.txt']")
		goBack(t, k, cells, notebook.ByCheckpoint, 2, "")
	}
	back := goBack(t, k, []string{cells[0], "print(len(a))"}, notebook.ByCheckpoint, 1, "")
	if len(back.Executions) != 2 || back.Executions[1].Stdout() != "1\n" || back.Executions[1].Count != 2 {
		t.Errorf("%+v", back)
	}
	goBack(t, k, nil, notebook.ByCheckpoint, 0, "")
	prints(t, k, "'a' in globals(), __import__('os').listdir('.')", "False []")
}

// TestCheckpointBranches: a state that was left can be gone back to as well, with
// what the cell gave that made it.
func TestCheckpointBranches(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.Branches = true
	k := open(t, o)
	base := []string{"import random"}
	runCell(t, k, base[0], notebook.OK)
	var tried []string
	for i := range 3 {
		goBack(t, k, base, notebook.ByCheckpoint, 1, "")
		x := runCell(t, k, fmt.Sprintf("x = %d + random.random(); print(x)", i), notebook.OK)
		tried = append(tried, x.Stdout())
	}
	for i, printed := range tried {
		back := goBack(t, k, append(base, fmt.Sprintf("x = %d + random.random(); print(x)", i)), notebook.ByCheckpoint, 2, "")
		if back.Executions[1].Stdout() != printed {
			t.Errorf("%q, want %q", back.Executions[1].Stdout(), printed)
		}
		prints(t, k, "x", strings.TrimSpace(printed))
	}
}

// TestCheckpointsOfAnother: of two states that the same cells made, the later one is
// gone back to: it is the one that the record tells of.
func TestCheckpointsOfAnother(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.Branches = true
	k := open(t, o)
	cells := []string{"import random", "x = random.random(); print(x)"}
	runCell(t, k, cells[0], notebook.OK)
	runCell(t, k, cells[1], notebook.OK)
	goBack(t, k, cells[:1], notebook.ByCheckpoint, 1, "")
	runCell(t, k, "random.random()", notebook.OK)
	goBack(t, k, cells[:1], notebook.ByCheckpoint, 1, "")
	runCell(t, k, "random.seed()", notebook.OK)
	x := runCell(t, k, cells[1], notebook.OK)
	goBack(t, k, []string{cells[0], "random.seed()", cells[1]}, notebook.ByCheckpoint, 3, "")
	prints(t, k, "x", strings.TrimSpace(x.Stdout()))
}

// TestCheckpointRefused: what a copy would not have is named, and the cells run
// again; a nearer state that can be kept is still gone back to.
func TestCheckpointRefused(t *testing.T) {
	t.Parallel()
	k := open(t, freezing(t))
	cells := []string{"x = [1]", "import subprocess; p = subprocess.Popen(['sleep', '60'])"}
	for _, c := range cells {
		runCell(t, k, c, notebook.OK)
	}
	runCell(t, k, "x.append(2); 1/0", notebook.Raised)
	goBack(t, k, cells, notebook.ByCheckpoint, 1, "sleep 60")
	prints(t, k, "x, p.poll()", "[1] None")
	goBack(t, k, []string{"y = 1"}, notebook.ByReplay, 0, "")
	prints(t, k, "'x' in globals(), y", "False 1")
}

// TestCheckpointFiles: a folder of which no copies can be kept is no reason to go
// back to less than everything.
func TestCheckpointFiles(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.MaxCopies = 1000
	k := open(t, o)
	cells := []string{"x = open('big', 'w').write('x' * 2000)"}
	runCell(t, k, cells[0], notebook.OK)
	runCell(t, k, "import os; os.remove('big')", notebook.OK)
	goBack(t, k, cells, notebook.ByReplay, 0, "over the limit")
	prints(t, k, "__import__('os').path.getsize('big')", "2000")
	runCell(t, k, "import os; os.mkfifo('pipe')", notebook.OK)
	goBack(t, k, []string{cells[0]}, notebook.ByReplay, 0, "over the limit")
}

// TestCheckpointOpenFiles: files that were open go back with those who had them
// open, and a database with its connection; one that is another by then is a reason
// to replay.
func TestCheckpointOpenFiles(t *testing.T) {
	t.Parallel()
	k := open(t, freezing(t))
	cells := []string{"import os, sqlite3\nlog = open('log', 'w'); log.write('one, '); log.flush(); log.write('two')\ntext = open('log')",
		"db = sqlite3.connect('db'); db.execute('create table t(a)'); db.execute('insert into t values(1)'); db.commit()"}
	for _, c := range cells {
		runCell(t, k, c, notebook.OK)
	}
	for _, spoil := range []string{
		"log.write(', three'); log.flush(); text.read()\ndb.execute('insert into t values(2)'); db.commit()",
		"log.truncate(0); db.execute('drop table t'); db.commit(); log.close(); db.close()",
	} {
		runCell(t, k, spoil, notebook.OK)
		goBack(t, k, cells, notebook.ByCheckpoint, 2, "")
		prints(t, k, "text.read(), db.execute('select * from t').fetchall(), log.flush(), open('log').read()", "one,  [(1,)] None one, two")
		goBack(t, k, cells, notebook.ByCheckpoint, 2, "")
	}
	runCell(t, k, "os.remove('log'); open('log', 'w').write('another')", notebook.OK)
	goBack(t, k, cells, notebook.ByReplay, 0, "log was open and has been changed since")
	prints(t, k, "text.read(), db.execute('select * from t').fetchall(), log.flush(), open('log').read()", "one,  [(1,)] None one, two")

	// A file with a name out there is made anew when the files go back.
	cells = []string{fmt.Sprintf("import os\nopen('log', 'w').write('one'); os.path.exists(o := %q) or os.link('log', o); log = open('log', 'a')", filepath.Join(t.TempDir(), "outside"))}
	goBack(t, k, cells, notebook.ByReplay, 0, "")
	prints(t, k, "log.tell()", "3")
	goBack(t, k, cells, notebook.ByCheckpoint, 1, "")
	runCell(t, k, "log.write('two'); log.flush()", notebook.OK)
	goBack(t, k, cells, notebook.ByReplay, 0, "log was open and has been changed since")
	prints(t, k, "log.write('!'), log.flush(), open('log').read()", "1 None one!")
}

// TestCheckpointMemory: with little memory the states in between are given up, the
// oldest first.
func TestCheckpointMemory(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.MaxMemory = 600 << 20
	k := open(t, o)
	cells := []string{"import numpy as np"}
	runCell(t, k, cells[0], notebook.OK)
	for i := range 8 { // the pages of each are another's
		cells = append(cells, fmt.Sprintf("a = np.full(16 << 20, %d.0)", i))
		runCell(t, k, cells[i+1], notebook.OK)
	}
	if list := request(t, k, "checkpoints_request", struct{}{}); true {
		sum := list.Live.Bytes + list.Front.Bytes
		for _, c := range list.Checkpoints {
			sum += c.Bytes
		}
		if sum > o.MaxMemory+140<<20 { // an array has come since they were counted
			t.Errorf("it holds %d MB", sum>>20)
		}
	}
	goBack(t, k, cells[:3], notebook.ByReplay, 0, "to save memory")
	prints(t, k, "a[0]", "1.0")
	goBack(t, k, cells[:2], notebook.ByCheckpoint, 2, "") // made anew on the way
}

// TestCheckpointGone: a copy that the system has killed costs a replay.
func TestCheckpointGone(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.Branches = true
	k := open(t, o)
	cells := []string{"x = 1", "y = 2"}
	for _, c := range cells {
		runCell(t, k, c, notebook.OK)
	}
	goBack(t, k, cells, notebook.ByCheckpoint, 2, "")
	frozen := childrenOf(t, frontOf(t, k))
	// Of no cells, one, two, that which is ready, and the live one: then none is being made.
	for deadline := time.Now().Add(10 * time.Second); len(frozen) != 5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d processes", len(frozen))
		}
		frozen = childrenOf(t, frontOf(t, k))
	}
	for _, pid := range frozen {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	goBack(t, k, cells, notebook.ByReplay, 0, " ") // in which words depends on which one is noticed first
	prints(t, k, "x + y", "3")
}

// TestStays: without going back everything stays, and a dead kernel begins again.
func TestStays(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Stays = true
	k := open(t, o)
	runCell(t, k, "x = [1]", notebook.OK)
	runCell(t, k, "x.append(2); 1/0", notebook.Raised)
	if back := goBack(t, k, []string{"x = [1]"}, notebook.NotAtAll, 0, ""); len(back.Executions) != 0 {
		t.Errorf("%+v", back)
	}
	prints(t, k, "x", "[1, 2]")
	runCell(t, k, "import os; os._exit(1)", notebook.Died)
	goBack(t, k, []string{"x = [1]"}, notebook.ByReplay, 0, "")
	prints(t, k, "x", "[1]")
}

// TestLeaveFreezing: a kernel that is left holds no copies any more.
func TestLeaveFreezing(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.KeepIn = t.TempDir()
	k := open(t, o)
	runCell(t, k, "kept = 1", notebook.OK)
	runCell(t, k, "kept = 2", notebook.OK)
	if err := k.Leave("/n.ipynb"); err != nil {
		t.Fatal(err)
	}
	info := k.Info()
	defer syscall.Kill(info.PID, syscall.SIGKILL)
	for range 100 { // what has ended is collected soon
		if len(childrenOf(t, info.PID)) == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(childrenOf(t, info.PID)); n != 1 {
		t.Errorf("%d processes beside the kernel", n)
	}
	again, err := Attach(t.Context(), info.File, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	prints(t, again, "kept", "2")
}

// TestCheckpointsServed: a server passes the messages on.
func TestCheckpointsServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := servedWays(t, checkpointSpec(t, testPython(t)))[0].open(t, Options{Dir: dir, Scratch: dir, Copies: filepath.Join(t.TempDir(), "copies")})
	defer k.Close()
	cells := []string{"x = [open('a', 'w').write('b')]"}
	runCell(t, k, cells[0], notebook.OK)
	runCell(t, k, "x.clear(); import os; os.remove('a'); os.kill(os.getpid(), 9)", notebook.Died)
	goBack(t, k, cells, notebook.ByCheckpoint, 1, "")
	prints(t, k, "x, open('a').read()", "[1] b")
}

// TestCheckpointDiesLater: a death between two cells is told with the next one, and
// gone back from.
func TestCheckpointDiesLater(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.KeepIn = t.TempDir()
	k := open(t, o)
	runCell(t, k, "x = 1", notebook.OK)
	runCell(t, k, "import os, signal; signal.signal(signal.SIGALRM, lambda *_: os._exit(3))", notebook.OK)
	live := request(t, k, "checkpoints_request", struct{}{}).Live.PID
	if err := syscall.Kill(live, syscall.SIGALRM); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); syscall.Kill(live, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the process that runs cells does not end")
		}
	}
	if x := runCell(t, k, "x", notebook.Died); x.Reason != "the kernel died: exit status 3" || len(x.Outputs) > 0 || k.Alive() {
		t.Errorf("%+v, alive %v", x, k.Alive())
	}
	goBack(t, k, []string{"x = 1"}, notebook.ByCheckpoint, 1, "")
	prints(t, k, "x", "1")
	runCell(t, k, "import os; os._exit(4)", notebook.Died)
	if err := k.Leave(""); err == nil || !strings.Contains(err.Error(), "the kernel has ended: exit status 4") {
		t.Error(err)
	}
}

// TestCheckpointMute: a kernel that does not answer is asked once.
func TestCheckpointMute(t *testing.T) {
	t.Parallel()
	w := defaultWaits()
	w.frozen = time.Second
	k := openWith(t, freezing(t), w)
	cells := []string{"x = 1", "x = 2", "x = 3"}
	for _, c := range cells {
		runCell(t, k, c, notebook.OK)
	}
	if err := syscall.Kill(frontOf(t, k), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	goBack(t, k, cells, notebook.ByReplay, 0, "did not answer a")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	prints(t, k, "x", "3")
	goBack(t, k, cells, notebook.ByReplay, 0, "did not answer a") // nor is another that might
}

// TestCheckpointHaste: whoever has no time is no reason against checkpoints.
func TestCheckpointHaste(t *testing.T) {
	t.Parallel()
	k := open(t, freezing(t))
	runCell(t, k, "x = 1", notebook.OK)
	for i := range 12 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(3*i)*time.Millisecond)
		_, _ = k.Execute(ctx, "x = 2")
		cancel()
		goBack(t, k, []string{"x = 1"}, notebook.ByCheckpoint, 1, "")
		prints(t, k, "x", "1")
	}
	if list := request(t, k, "checkpoints_request", struct{}{}); len(list.Checkpoints) > 3 {
		t.Errorf("nobody knows some of %d copies", len(list.Checkpoints))
	}
}

// TestCheckpointForked: a process that a cell has forked and left answers nothing.
func TestCheckpointForked(t *testing.T) {
	t.Parallel()
	k := open(t, freezing(t))
	runCell(t, k, "import os\nif os.fork() == 0: print('child')", notebook.OK)
	for i := range 5 {
		prints(t, k, fmt.Sprint(i), fmt.Sprint(i))
	}
}

// TestCheckpointGuest: a guest neither ends nor rolls back somebody's kernel that
// can freeze copies of itself.
func TestCheckpointGuest(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.KeepIn = t.TempDir()
	k := open(t, o)
	runCell(t, k, "x = 1", notebook.OK)
	w := brisk()
	g, err := attach(t.Context(), k.Info().File, Options{CellTimeout: time.Second}, w)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	x := runCell(t, g, "import time; end = time.monotonic() + 4\nwhile time.monotonic() < end:\n    try: time.sleep(1)\n    except KeyboardInterrupt: pass", notebook.TimedOut)
	if !strings.Contains(x.Reason, "which is not ours, was left to it") || g.Way() != notebook.ByNames {
		t.Errorf("%q, %s", x.Reason, g.Way())
	}
	prints(t, k, "x", "1")
}
