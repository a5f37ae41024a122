package undokernel_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/undokernel"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// Programs that write the package at the same time do not disturb one another, and repair it.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kernels")
	homes := make([]string, 8)
	var all sync.WaitGroup
	for i := range homes {
		all.Go(func() {
			home, err := undokernel.Write(dir)
			check(t, err)
			homes[i] = home
		})
	}
	all.Wait()
	if slices.Sort(homes); homes[0] != homes[7] {
		t.Errorf("homes %q", homes)
	}
	ok(t, os.Remove(filepath.Join(homes[0], undokernel.Module, "front.py")))
	_ = must(undokernel.Write(dir))
	if entries := must(os.ReadDir(dir)); len(entries) != 1 {
		t.Errorf("%d entries", len(entries))
	}
	files := must(filepath.Glob(filepath.Join(homes[0], undokernel.Module, "*.py")))
	if sources := must(filepath.Glob(undokernel.Module + "/*.py")); len(files) != len(sources) {
		t.Errorf("files %q, want %q", files, sources)
	}
	if !(kernel.Spec{Argv: []string{"python", "-m", undokernel.Module}}).IPython() {
		t.Error("not known as an IPython kernel")
	}
}

// A checkpointReply is any of the replies of README.md.
type checkpointReply struct {
	Status, EName, EValue string
	Checkpoint            string
	Count                 int `json:"execution_count"`
	Resident              int64
	Findings              []struct{ Kind, Detail string }
	Checkpoints           []kept
	Live, Front           kept
}

// A kept is a process of the kernel; only checkpoints have an ID and, maybe, a readied copy.
type kept struct {
	Checkpoint string
	PID, Ready int
	Bytes      int64
}

// request sends a request to k's control channel.
func request(t testing.TB, k *kernel.Kernel, kind string, content any) checkpointReply {
	t.Helper()
	m, err := k.Request(t.Context(), kernel.Message{Channel: kernel.Control,
		Header: kernel.Header{MsgType: kind}, Content: must(json.Marshal(content))})
	ok(t, err)
	var reply checkpointReply
	ok(t, json.Unmarshal(m.Content, &reply))
	return reply
}

func checkpoint(t testing.TB, k *kernel.Kernel) string {
	t.Helper()
	reply := request(t, k, "undokernel_checkpoint_request", struct{}{})
	if reply.Status != "ok" {
		t.Fatalf("checkpoint: %+v", reply)
	}
	return reply.Checkpoint
}

func rollBack(t testing.TB, k *kernel.Kernel, to string) checkpointReply {
	t.Helper()
	reply := request(t, k, "undokernel_rollback_request", map[string]string{"checkpoint": to})
	if reply.Status != "ok" {
		t.Fatalf("roll back: %+v", reply)
	}
	return reply
}

// A hazard is state that a copy may not reproduce. Probe is an expression, evaluated after setup
// and again after going back. With refused, the checkpoint is refused with that kind or those
// words; with late, going back is.
type hazard struct {
	setup, mutate, probe string
	refused, late        string
	without              string // the fix-up without which the probe differs or hangs
	tools                bool   // needs more packages
}

var hazards = map[string]hazard{
	"lists":      {setup: "a = [1]; d = {'x': [1]}; b = a", mutate: "a.append(2); d['x'].clear(); del b", probe: "a, d, a is b"},
	"frame":      {setup: "import numpy as np, pandas as pd; arr = np.arange(12.).reshape(3, 4); df = pd.DataFrame(arr, copy=False)", mutate: "df.iloc[0, 0] = 9; arr[2] = -1; df.drop(columns=[1], inplace=True)", probe: "arr.tolist(), df.shape, df.iloc[0, 0]"},
	"generator":  {setup: "it = iter(range(9)); next(it); g = (i for i in it); next(g)", mutate: "next(g); next(g)", probe: "next(g)"},
	"random":     {setup: "import random; random.seed(5); random.random()", mutate: "random.random()", probe: "[random.random() for _ in range(3)]", without: "random"},
	"unseeded":   {setup: "import random; random.gauss(0, 1)", mutate: "random.random()", probe: "[random.gauss(0, 1) for _ in range(3)]", without: "random"},
	"numpy":      {setup: "import numpy as np; np.random.rand(); rng = np.random.default_rng()", mutate: "np.random.rand(); rng.random(5)", probe: "np.random.rand(3).tolist(), rng.random(3).tolist()"},
	"sets":       {setup: "s = {str(i) for i in range(50)}", mutate: "s.clear()", probe: "list(s)"},
	"process":    {setup: "import os, sys, textwrap; os.chdir('/usr')", mutate: "os.chdir('/tmp'); os.environ['Z'] = '1'; os.umask(0o77); sys.path.insert(0, '/q'); textwrap.dedent = None", probe: "os.getcwd(), os.environ.get('Z'), sys.path[0], textwrap.dedent is None, os.umask(0o22)"},
	"contexts":   {setup: "import numpy as np, decimal, threading, pandas as pd; np.seterr(divide='raise'); decimal.getcontext().prec = 7; tl = threading.local(); tl.x = 1; pd.set_option('display.max_rows', 7)", mutate: "np.seterr(divide='ignore'); decimal.getcontext().prec = 9; tl.x = 2; pd.set_option('display.max_rows', 9)", probe: "np.geterr()['divide'], decimal.getcontext().prec, tl.x, pd.get_option('display.max_rows')"},
	"handlers":   {setup: "import signal; L = []; signal.signal(signal.SIGCHLD, lambda *_: L.append(1))", mutate: "L.append(2)", probe: "L"},
	"figure":     {setup: "%matplotlib agg\nimport matplotlib.pyplot as plt; fig, ax = plt.subplots(); ax.plot([1, 2])", mutate: "ax.plot([3, 4]); ax.set_title('u'); plt.close(fig)", probe: "len(ax.lines), ax.get_title(), plt.get_fignums()"},
	"timer":      {setup: "import signal; signal.signal(signal.SIGALRM, lambda *_: None); signal.setitimer(signal.ITIMER_REAL, 1000)", mutate: "signal.setitimer(signal.ITIMER_REAL, 0)", probe: "signal.getitimer(signal.ITIMER_REAL)[0] > 0", without: "timers"},
	"task":       {setup: "import asyncio\nasync def b():\n    while True: await asyncio.sleep(.01)\nt = asyncio.ensure_future(b())", mutate: "t.cancel()", probe: "t.cancelled(), asyncio.get_running_loop() is t.get_loop()", without: "loop"},
	"semaphore":  {setup: "import multiprocessing; lock = multiprocessing.Lock()", mutate: "lock.acquire()", probe: "lock.acquire(timeout=1), lock.release()", without: "semaphores"},
	"tqdm":       {setup: "import time\nfrom tqdm import tqdm\nfor i in tqdm(range(3), file=open('/dev/null', 'w')): time.sleep(.01)", mutate: "1", probe: "[i for i in tqdm(range(3), file=open('/dev/null', 'w'))]", tools: true},
	"offset":     {setup: "open('f', 'w').write('0123456789' * 5000); f = open('f'); f.read(3)", mutate: "f.read(20000)", probe: "f.read(30000)[-3:]", without: "offsets"},
	"descriptor": {setup: "import os; open('f', 'w').write('0123456789'); fd = os.open('f', 0); os.read(fd, 3)", mutate: "os.read(fd, 3)", probe: "os.read(fd, 3)", without: "offsets"},
	"chunks":     {setup: "import pandas as pd; open('f', 'w').write('1\\n' * 200000 + '2\\n'); it = pd.read_csv('f', chunksize=20000, header=None); next(it)", mutate: "list(it)", probe: "sum(c[0].sum() for c in it)", without: "offsets"},
	"memory db":  {setup: "import sqlite3; db = sqlite3.connect(':memory:'); db.execute('create table t(a)'); db.execute('insert into t values(1)'); db.commit()", mutate: "db.execute('delete from t'); db.commit(); db.close()", probe: "db.execute('select * from t').fetchall()"},
	"sqlite":     {setup: "import sqlite3; db = sqlite3.connect('x.db'); db.execute('create table t(a)'); db.execute('insert into t values(1)'); db.commit()", mutate: "db.create_function('f', 0, lambda: 1)", probe: "db.execute('select * from t').fetchall(), db.total_changes"},
	"read map":   {setup: "import numpy as np; np.save('m.npy', np.arange(1000)); m = np.load('m.npy', mmap_mode='r')", mutate: "del m", probe: "int(m.sum())"},
	"untouched":  {setup: "w = open('w', 'w'); w.write('abc')", mutate: "1", probe: "w.closed"},
	"temporary":  {setup: "import tempfile; t = tempfile.TemporaryFile(); _ = t.write(b'x'); t.flush()", mutate: "1", probe: "t.tell()"},
	"blas":       {setup: "import numpy as np; A = np.random.RandomState(0).rand(700, 700); B = A @ A", mutate: "B = None; A @ A", probe: "float((A @ A).sum())"},
	"openmp":     {setup: kmeans, mutate: "m.fit(X[:100])", probe: "float(KMeans(3, n_init=1, random_state=0).fit(X).inertia_)", without: "openmp"},
	"loky":       {setup: "import math\nfrom joblib import Parallel, delayed\ndef f(): return sum(Parallel(n_jobs=2)(delayed(math.sqrt)(i) for i in range(20)))\nf()", mutate: "f()", probe: "f()", without: "pools"},
	"pyarrow":    {setup: "import pandas as pd; pd.DataFrame({'a': range(9000)}).to_parquet('p'); pd.read_parquet('p').to_csv('c'); pd.read_csv('c', engine='pyarrow')", mutate: "pd.read_parquet('p')", probe: "int(pd.read_parquet('p').a.sum()), pd.read_csv('c', engine='pyarrow').shape"},
	"duckdb":     {setup: "import duckdb; duckdb.sql('create table t as select * from range(1000) r(a)')", mutate: "duckdb.sql('drop table t')", probe: "duckdb.sql('select sum(a) from t').fetchall(), duckdb.sql(\"select current_setting('threads') > 1\").fetchall()", without: "duckdb"},

	"duckdb named": {setup: "import duckdb; c = duckdb.connect(':memory:'); c.execute('create table t as select 1 a')", mutate: "c.execute('drop table t')", probe: "c.execute('select * from t').fetchall()"},

	"thread":        {setup: "import threading, time; threading.Thread(target=time.sleep, args=(99,), daemon=True, name='mine').start()", refused: "thread"},
	"executor":      {setup: "from concurrent.futures import ThreadPoolExecutor as T; p = T(2); list(p.map(len, ['a']))", refused: "thread"},
	"subprocess":    {setup: "import subprocess; p = subprocess.Popen(['sleep', '99'])", refused: "process"},
	"unwaited":      {setup: "import subprocess, time; p = subprocess.Popen(['false']); time.sleep(.3)", refused: "process"},
	"daemon":        {setup: "import os, time; os.system('(setsid sleep 98 >/dev/null 2>&1 &)'); time.sleep(.1)", refused: "process"},
	"processes":     {setup: "import multiprocessing as m; from concurrent.futures import ProcessPoolExecutor as T; p = T(1, mp_context=m.get_context('fork')); list(p.map(len, ['a']))", refused: "process"},
	"socket":        {setup: "import socket; a, b = socket.socketpair()", refused: "socket"},
	"pipe":          {setup: "import os; r, w = os.pipe()", refused: "pipe"},
	"named pipe":    {setup: "import os, tempfile; d = tempfile.TemporaryDirectory(); os.mkfifo(d.name + '/p'); f = os.open(d.name + '/p', os.O_RDWR)", refused: "pipe"},
	"proc file":     {setup: "f = open('/proc/stat'); f.read(9)", refused: "descriptor"},
	"epoll":         {setup: "import select; e = select.epoll()", refused: "descriptor"},
	"memfd":         {setup: "import os; m = os.memfd_create('x')", refused: "descriptor"},
	"device":        {setup: "import os; d = open('/dev/fuse' if os.path.exists('/dev/fuse') else '/dev/ptmx', 'rb', buffering=0)", refused: "device"},
	"device node":   {setup: deviceNode, refused: "device"},
	"memory map":    {setup: "import numpy as np; m = np.memmap('mm', dtype='f8', mode='w+', shape=(1000,))", refused: "mapping"},
	"shared memory": {setup: "from multiprocessing import shared_memory as s; x = s.SharedMemory(create=True, size=4096)", refused: "mapping"},
	"sqlite begun":  {setup: "import sqlite3; db = sqlite3.connect('x.db'); db.execute('create table t(a)'); db.execute('insert into t values(1)')", refused: "file"},
	"sqlite wal":    {setup: "import sqlite3; db = sqlite3.connect('x.db'); db.execute('pragma journal_mode=wal'); db.execute('create table t(a)'); db.commit()", refused: "mapping"},
	"sqlite other":  {setup: "import sqlite3; db = sqlite3.connect('x.db'); db.execute('create table t(a)'); db.commit()", mutate: "db.execute('insert into t values(1)'); db.commit()", probe: "db.execute('select * from t').fetchall()"},
	"sqlite half":   {setup: "import os, sqlite3; db = sqlite3.connect('x.db'); db.execute('create table t(a)'); db.commit()", mutate: "db.execute('insert into t values(1)'); db.commit(); db.execute('insert into t values(2)')", probe: "db.execute('select * from t').fetchall(), sorted(os.listdir('.'))"},
	"sqlite to wal": {setup: "import os, sqlite3; db = sqlite3.connect('x.db'); db.execute('create table t(a)'); db.commit()", mutate: "db.execute('pragma journal_mode=wal'); db.execute('insert into t values(2)'); db.commit()", probe: "db.execute('select * from t').fetchall(), sorted(os.listdir('.'))"},
	"duckdb file":   {setup: "import duckdb; c = duckdb.connect('x.duckdb'); c.execute('create table t as select 1 a')", refused: "file"},
	"flock":         {setup: "import fcntl; f = open('l', 'w'); fcntl.flock(f, fcntl.LOCK_EX)", refused: "file"},
	"flock shared":  {setup: "import fcntl; f = open('l', 'w'); fcntl.flock(f, fcntl.LOCK_SH)", refused: "file"},
	"folder":        {setup: "import os; s = os.scandir('/usr'); next(s)", refused: "descriptor"},
	"stdout":        {setup: "import os; os.dup2(os.open('out', os.O_WRONLY | os.O_CREAT), 1); os.write(1, b'one')", mutate: "os.write(1, b'two')", probe: "open('out').read()"},
	"no folder":     {setup: "import os; os.mkdir('out'); os.chdir('out')", mutate: "os.rmdir(os.getcwd())", late: "file"},
	"lock":          {setup: "import fcntl; f = open('l', 'w'); fcntl.lockf(f, fcntl.LOCK_EX)", refused: "file"},
	"polars":        {setup: "import polars; polars.DataFrame({'a': [2, 1]}).sort('a')", refused: "library"},
	"pyarrow busy":  {setup: scanning, refused: "works in the background"},
	"written":       {setup: "w = open('w', 'w'); w.write('abc')", mutate: "w.write('zzz'); w.flush()", probe: "w.flush(), open('w').read(), w.tell()"},
	"appended":      {setup: "w = open('w', 'a'); w.write('abc'); w.flush()", mutate: "w.write('zzz'); w.truncate(1)", probe: "w.flush(), open('w').read(), w.tell()"},
	"much written":  {setup: "w = open('w', 'wb'); w.truncate(65 << 20)", mutate: "w.write(b'x'); w.flush()", late: "file"},
	"temporary all": {setup: "import tempfile; t = tempfile.TemporaryFile(); _ = t.write(b'x'); t.flush()", mutate: "t.write(b'yy'); t.flush()", probe: "t.tell(), t.seek(0), t.read()"},
	"no name left":  {setup: "import os; w = open('w', 'w'); os.remove('w')", mutate: "w.write('zzz'); w.flush()", probe: "w.flush(), open('/proc/self/fd/%d' % w.fileno()).read(), w.tell()"},
	"shared offset": {setup: "import os; open('f', 'w').write('0123456789'); f = os.open('f', os.O_RDWR); g = os.dup(f); os.lseek(f, 3, 0)", mutate: "os.lseek(g, 7, 0)", probe: "os.lseek(f, 0, 1), os.lseek(g, 0, 1)", without: "offsets"},
	"shared flags":  {setup: "import fcntl, os; f = open('f', 'a'); g = os.dup(f.fileno())", mutate: "fcntl.fcntl(g, fcntl.F_SETFL, os.O_NONBLOCK)", probe: "fcntl.fcntl(f, fcntl.F_GETFL)", without: "flags"},
	"stdout flags":  {setup: "import fcntl, os; o = fcntl.fcntl(1, fcntl.F_GETFL)", mutate: "fcntl.fcntl(1, fcntl.F_SETFL, o | os.O_NONBLOCK)", probe: "fcntl.fcntl(1, fcntl.F_GETFL) == o", without: "flags"},
	"flock later":   {setup: "import fcntl; f = open('l', 'w')", mutate: "fcntl.flock(f, fcntl.LOCK_EX)", probe: "fcntl.flock(g := open('l'), fcntl.LOCK_SH | fcntl.LOCK_NB), g.close()", without: "locks"},
	"replaced":      {setup: "import os; w = open('w', 'w'); w.write('abc'); w.flush()", mutate: "os.remove('w'); open('w', 'w').write('abc')", late: "file"},
	"read changed":  {setup: "open('f', 'w').write('abc'); f = open('f')", mutate: "open('f', 'a').write('d')", late: "file"},
}

const kmeans = "import numpy as np; from sklearn.cluster import KMeans; X = np.random.RandomState(0).rand(5000, 4); m = KMeans(3, n_init=1, random_state=0).fit(X)"

// scanning is a cell that leaves pyarrow at work: after the first of very many batches it reads
// ahead.
const scanning = "import pandas as pd, pyarrow.dataset as ds; pd.DataFrame({'a': range(200_000)}).to_parquet('p')\n" +
	"it = ds.dataset(['p'] * 2000).to_batches(filter=ds.field('a') == 7, batch_readahead=2000, fragment_readahead=16); first = next(it)"

// deviceNode is a cell that opens a device node, in a way that needs no permission to use the
// device.
const deviceNode = "import os, stat, tempfile; p = tempfile.mktemp(dir='/dev/shm'); os.mknod(p, stat.S_IFCHR | 0o600, 0); d = os.open(p, os.O_PATH); os.remove(p)"

// No hazard goes unnoticed: the state is exact after going back, or the checkpoint is refused by
// name.
func TestHazards(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	for tools, python := range map[bool]string{false: testPython(t), true: pyenvtest.Tools(t)} {
		tryHazards(t, openCheckpoints(t, python), "", func(name string) bool {
			return hazards[name].tools == tools
		})
	}
}

// tryHazards tries the hazards that some selects in one kernel, each from the empty session. The
// state after going back is the same, but not without a fix-up.
func tryHazards(t *testing.T, k *kernel.Kernel, without string, some func(name string) bool) {
	limit := time.Minute
	if without != "" {
		limit = 5 * time.Second
	}
	beginning := checkpoint(t, k)
	for name, h := range hazards {
		if some(name) {
			t.Run(name, func(t *testing.T) {
				if why := forbidden[name]; why != "" && *testTier == "builtin" {
					t.Skip(why)
				}
				if want, got := h.try(t, k, limit); (got == want) != (without == "") {
					t.Errorf("after going back, without %q: %s, and was %s", without, got, want)
				}
				rollBack(t, k, beginning)
				ok(t, disk.EmptyFolder(k.Scratch(), nil))
			})
		}
	}
}

// Each fix is needed: without it the checkpoint is refused, the state differs after going back, or
// the cell hangs.
func TestHazardsWithoutHelp(t *testing.T) {
	pyenvtest.Long(t)
	fixes := map[string]bool{}
	for _, h := range hazards {
		fixes[h.without] = true
	}
	delete(fixes, "")
	for fix := range fixes {
		t.Run(fix, func(t *testing.T) {
			t.Parallel()
			k := openCheckpoints(t, testPython(t), "UNDOKERNEL_WITHOUT="+fix)
			tryHazards(t, k, fix, func(name string) bool { return hazards[name].without == fix })
		})
	}
}

// try returns the probe's value at the checkpoint and after going back to it. A cell that takes
// longer than limit counts as hanging.
func (h hazard) try(t *testing.T, k *kernel.Kernel, limit time.Duration) (want, got string) {
	runCell(t, k, h.setup, notebook.OK)
	reply := request(t, k, "undokernel_checkpoint_request", struct{}{})
	if h.refused != "" {
		found := func(f struct{ Kind, Detail string }) bool {
			return f.Kind == h.refused || strings.Contains(f.Detail, h.refused)
		}
		// On a busy machine, work may pause while the kernel looks for it, which then finds the threads.
		for range 4 {
			if reply.EName == "Refused" && !slices.ContainsFunc(reply.Findings, found) {
				reply = request(t, k, "undokernel_checkpoint_request", struct{}{})
			}
		}
		if reply.EName != "Refused" || !slices.ContainsFunc(reply.Findings, found) {
			t.Errorf("%+v, want a %s to be found", reply, h.refused)
		}
		runCell(t, k, "1", notebook.OK)
		return "", ""
	}
	if reply.Status != "ok" {
		return "a checkpoint", reply.EValue
	}
	probe := h.probe
	if probe == "" {
		probe = "0"
	}
	want = runCell(t, k, "print(repr(("+probe+")))", notebook.OK).Stdout()
	rollBack(t, k, reply.Checkpoint)
	mutated, err := k.ExecuteCell(t.Context(), kernel.Cell{Code: h.mutate, Timeout: limit})
	if err != nil || mutated.Status != notebook.OK {
		return want, fmt.Sprintf("%v %s", err, mutated.PlainText())
	}
	if h.late != "" {
		back := request(t, k, "undokernel_rollback_request", map[string]string{"checkpoint": reply.Checkpoint})
		if back.EName != "Refused" || len(back.Findings) == 0 || back.Findings[0].Kind != h.late {
			t.Errorf("%+v, want a %s to be found", back, h.late)
		}
		runCell(t, k, "1", notebook.OK)
		return "", ""
	}
	rollBack(t, k, reply.Checkpoint)
	x, err := k.ExecuteCell(t.Context(), kernel.Cell{Code: "print(repr((" + probe + ")))", Timeout: limit})
	ok(t, err)
	return want, x.PlainText()
}

// frontOf returns the front of a kernel with checkpoints, the process that never runs cells; in a
// sandbox the guard has started it.
func frontOf(t testing.TB, k *kernel.Kernel) int {
	t.Helper()
	if *testTier == "full" {
		t.Skip("in full it has another number inside")
	}
	return request(t, k, "undokernel_checkpoints_request", struct{}{}).Front.PID
}

// forbidden are hazards that no cell can cause in the builtin sandbox.
var forbidden = map[string]string{
	"device": "no such devices", "device node": "no /dev/shm", "processes": "no semaphores",
	"semaphore": "no semaphores", "shared memory": "no /dev/shm",
}

// In the builtin sandbox, which hides /proc, checkpoints are made, refused and restored as
// elsewhere: the guard opens the files of /proc that the kernel needs to find what a copy would
// lack.
func TestCheckpointBuiltin(t *testing.T) {
	t.Parallel()
	o := options(t, testPython(t))
	o.Sandbox = kerneltest.Confine(t, "builtin", o.Dir)
	k := open(t, o)
	some := []string{
		"lists", "offset", "read map", "blas", "openmp", // a thread's name, work, call and stack
		"thread", "subprocess", "unwaited", "daemon", "socket", "pipe", "memory map", "flock",
		"sqlite wal",
	}
	tryHazards(t, k, "", func(name string) bool { return slices.Contains(some, name) })
	checkpoint(t, k)
	if list := request(t, k, "undokernel_checkpoints_request", struct{}{}); len(list.Checkpoints) == 0 ||
		list.Checkpoints[0].Bytes == 0 || list.Front.Bytes == 0 || list.Live.Bytes == 0 {
		t.Errorf("processes cannot be measured: %+v", list)
	}
}
