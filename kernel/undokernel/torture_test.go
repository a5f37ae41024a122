//go:build linux

package undokernel_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/notebook"
)

var (
	tortures    = flag.Int("torture", 60, "operations of TestTorture")
	tortureSeed = flag.Uint64("torture-seed", 1, "what they are made from")
)

const (
	mostKept    = 10               // checkpoints at once
	tortureWait = 60 * time.Second // for one operation: longer is a hang
)

// A model is the expected state of a torture's session.
type model struct {
	List   []int
	Dict   map[string]int
	Drawn  int // from a generator
	Lines  int // read from a file
	Count  int // cells
	Random string
}

func (m model) clone() model {
	m.List, m.Dict = slices.Clone(m.List), maps.Clone(m.Dict)
	return m
}

// tortureSetUp creates the session that a model begins with.
const tortureSetUp = `
import hashlib, itertools, json, os, random, signal, sys, time
L, D = [], {}
def numbers():
    n = 0
    while True:
        n += 1
        yield n
generator, drawn, read = numbers(), 0, 0
with open('lines.txt', 'w') as out: out.writelines('line %06d\n' % i for i in range(100_000))
f = open('lines.txt')
def state():
    return json.dumps({'List': L, 'Dict': D, 'Drawn': drawn, 'Lines': read, 'Random': hashlib.sha1(repr(random.getstate()).encode()).hexdigest()})
`

// A torture is one kernel under random operations.
type torture struct {
	*rand.Rand
	*testing.T
	k     *kernel.Kernel
	front int             // its process
	ctx   context.Context // of the operation
	n     int             // of the operation
	now   model
	kept  map[string]model // by the id of the checkpoint
	count map[string]int   // operations
}

// Whatever happens to a session, it continues with the expected state and outputs, and leaves
// nothing behind.
func TestTorture(t *testing.T) {
	t.Parallel()
	inflict(t, *tortures, *testTier)
}

// In the builtin sandbox a few operations show the same; -tier builtin makes all of them there.
func TestTortureBuiltin(t *testing.T) {
	t.Parallel()
	if *testTier == "" {
		inflict(t, *tortures/3, "builtin")
	}
}

func inflict(t *testing.T, operations int, tier string) {
	dir := t.TempDir()
	options := kernel.Options{
		Spec: checkpointSpec(t, testPython(t)), Dir: dir, Env: os.Environ(),
		Outputs: kernel.Outputs{Limits: notebook.Limits{Stream: 32 << 20}, Run: 1 << 40},
	}
	if tier != "" {
		options.Sandbox = kerneltest.Confine(t, tier, options.Dir)
	}
	k := open(t, options)
	o := &torture{Rand: rand.New(rand.NewPCG(*tortureSeed, 6)), T: t, k: k, front: frontOf(t, k),
		kept: map[string]model{}, count: map[string]int{}}
	o.ctx = t.Context()
	o.now = model{List: []int{}, Dict: map[string]int{}}
	o.cell(tortureSetUp, notebook.OK, "")
	o.now.Random = o.state().Random
	// pyzmq opens descriptors for good with the first large message
	o.cell("print('y' * 1_000_000)", notebook.OK, strings.Repeat("y", 1_000_000)+"\n")
	o.checkpoint()
	begun, early := time.Now(), use{}
	for o.n = 1; o.n <= operations; o.n++ {
		o.step()
		switch {
		case o.n == min(100, operations/3):
			early = o.use()
		case o.n%50 == 0:
			o.processes()
		}
	}
	late := o.use()
	t.Logf("%d operations in %.0f s: %v; the front has %v, had %v", operations,
		time.Since(begun).Seconds(), o.count, late, early)
	if late.descriptors > early.descriptors+2 || late.memory > early.memory+early.memory/5+4<<20 ||
		late.live > early.live+2 || late.depth > early.depth {
		t.Errorf("it grows: %+v, and was %+v", late, early)
	}
	all := append(childrenOf(t, o.front), o.front)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	ends := time.Now().Add(2 * time.Second)
	for _, pid := range all {
		for s := processState(pid); s != "" && s != "Z"; s = processState(pid) {
			if time.Now().After(ends) {
				command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				t.Fatalf("process %d is left behind: %s %s", pid, s, command)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// operations are the possible operations, and how often each happens.
var operations = []struct {
	name   string
	weight int
	do     func(*torture)
}{
	{"run", 45, (*torture).run},
	{"checkpoint", 15, (*torture).checkpoint},
	{"roll back", 15, func(o *torture) { o.back(o.any()) }},
	{"interrupt", 5, (*torture).interrupt},
	{"crash", 4, (*torture).crash},
	{"drop", 4, (*torture).drop},
	{"big output", 4, (*torture).big},
	{"list", 2, (*torture).list},
	{"roll back under a cell", 3, (*torture).backUnderCell},
	{"checkpoint under a cell", 2, (*torture).checkpointUnderCell},
	{"no such checkpoint", 1, (*torture).noSuch},
	{"refused", 1, (*torture).refuse},
}

func (o *torture) step() {
	ctx, cancel := context.WithTimeout(o.T.Context(), tortureWait)
	defer cancel()
	o.ctx = ctx
	sum := 0
	for _, op := range operations {
		sum += op.weight
	}
	at := o.IntN(sum)
	for _, op := range operations {
		if at -= op.weight; at < 0 {
			o.count[op.name]++
			op.do(o)
			break
		}
	}
	if late := o.k.Late(); len(late) > 0 {
		o.fatalf("outputs in the wrong place: %+v", late)
	}
}

func (o *torture) fatalf(format string, args ...any) {
	o.Helper()
	o.Fatalf("operation %d of -torture-seed %d: %s", o.n, *tortureSeed, fmt.Sprintf(format, args...))
}

// cell executes code, and checks its status and that it prints only printed.
func (o *torture) cell(code string, status notebook.Status, printed string) notebook.Execution {
	o.Helper()
	x, err := o.k.Execute(o.ctx, code)
	if err != nil {
		o.fatalf("%v\n%s", err, code)
	}
	if x.Status != status || x.Stdout() != printed || x.Incomplete != "" {
		o.fatalf("%s %s, %d bytes printed, want %s, %d; %s\n%s\n%.2000s",
			x.Status, x.Reason, len(x.Stdout()), status, len(printed), x.Incomplete, code, x.PlainText())
	}
	if o.now.Count++; x.Count != o.now.Count {
		o.fatalf("execution count %d, want %d\n%s", x.Count, o.now.Count, code)
	}
	return x
}

// state returns the session's state.
func (o *torture) state() model {
	o.Helper()
	o.now.Count++
	x, err := o.k.Execute(o.ctx, "print(state())")
	var m model
	if err == nil {
		err = json.Unmarshal([]byte(x.Stdout()), &m)
	}
	if err != nil || x.Count != o.now.Count {
		o.fatalf("%v: %+v, count %d", err, x, o.now.Count)
	}
	m.Count = o.now.Count
	return m
}

// check compares the session with the model.
func (o *torture) check() {
	o.Helper()
	if got, want := fmt.Sprintf("%+v", o.state()), fmt.Sprintf("%+v", o.now); got != want {
		o.fatalf("the session holds\n%s, want\n%s", got, want)
	}
}

func (o *torture) ask(kind string, content any) checkpointReply {
	o.Helper()
	body, err := json.Marshal(content)
	if err != nil {
		o.Fatal(err)
	}
	var reply checkpointReply
	m, err := o.k.Request(o.ctx, kernel.Message{Channel: kernel.Control, Header: kernel.Header{MsgType: kind},
		Content: body})
	if err == nil {
		err = json.Unmarshal(m.Content, &reply)
	}
	if err != nil {
		o.fatalf("%s: %v", kind, err)
	}
	return reply
}

// any returns one of the checkpoints.
func (o *torture) any() string {
	ids := slices.Sorted(maps.Keys(o.kept))
	return ids[o.IntN(len(ids))]
}

func (o *torture) run() {
	token := fmt.Sprintf("token %d", o.n)
	code := ""
	switch o.IntN(7) {
	case 0:
		code = fmt.Sprintf("L.append(%d)", o.n)
		o.now.List = append(o.now.List, o.n)
	case 1:
		if len(o.now.List) > 30 {
			code = "del L[::2]"
			var left []int
			for i, v := range o.now.List {
				if i%2 == 1 {
					left = append(left, v)
				}
			}
			o.now.List = left
		}
	case 2:
		code = fmt.Sprintf("D['%d'] = %d", o.n%17, o.n)
		o.now.Dict[fmt.Sprint(o.n%17)] = o.n
	case 3:
		code = "assert next(generator) == drawn + 1; drawn += 1"
		o.now.Drawn++
	case 4:
		code = "assert f.readline() == 'line %06d\\n' % read; read += 1"
		o.now.Lines++
	case 5:
		code = "junk = bytearray(1 << 22)"
	case 6:
		o.cell("drop = random.random()", notebook.OK, "")
		o.now.Random = o.state().Random
		return
	}
	o.cell(fmt.Sprintf("print(%q)\n%s\nprint(%q, file=sys.stderr)\nprint(%q)", token, code, token,
		token), notebook.OK, token+"\n"+token+"\n")
	o.check()
}

func (o *torture) checkpoint() {
	reply := o.ask("undokernel_checkpoint_request", struct{}{})
	if reply.Status != "ok" || reply.Checkpoint == "" || reply.Count != o.now.Count {
		o.fatalf("checkpoint: %+v, want the count %d", reply, o.now.Count)
	}
	if _, ok := o.kept[reply.Checkpoint]; ok {
		o.fatalf("the id %s is used twice", reply.Checkpoint)
	}
	o.kept[reply.Checkpoint] = o.now.clone()
	o.check()
	if len(o.kept) > mostKept {
		o.drop()
	}
}

// back goes back, which is possible in any state.
func (o *torture) back(id string) {
	o.Helper()
	reply := o.ask("undokernel_rollback_request", map[string]string{"checkpoint": id})
	o.now = o.kept[id].clone()
	if reply.Status != "ok" || reply.Count != o.now.Count {
		o.fatalf("roll back: %+v, want the count %d", reply, o.now.Count)
	}
	o.check()
}

func (o *torture) drop() {
	if len(o.kept) < 3 {
		return
	}
	id := o.any()
	if reply := o.ask("undokernel_drop_request",
		map[string][]string{"checkpoints": {id, "no such"}}); reply.Status != "ok" {
		o.fatalf("drop: %+v", reply)
	}
	delete(o.kept, id)
	if reply := o.ask("undokernel_rollback_request",
		map[string]string{"checkpoint": id}); reply.EName != "NoCheckpoint" {
		o.fatalf("back to what was dropped: %+v", reply)
	}
}

// use returns what the kernel uses with as few checkpoints as possible and a readied copy, each of
// which has descriptors.
func (o *torture) use() use {
	o.ctx = o.T.Context()
	for len(o.kept) > 2 {
		o.drop()
	}
	id := o.any()
	whenReady(o.T, o.k, id)
	o.now = o.kept[id].clone()
	return usedBy(o.T, o.k)
}

func (o *torture) noSuch() {
	if reply := o.ask("undokernel_rollback_request",
		map[string]string{"checkpoint": "no such"}); reply.EName != "NoCheckpoint" {
		o.fatalf("%+v", reply)
	}
	o.check()
}

func (o *torture) list() {
	reply := o.ask("undokernel_checkpoints_request", struct{}{})
	var ids []string
	for _, c := range reply.Checkpoints {
		ids = append(ids, c.Checkpoint)
	}
	slices.Sort(ids)
	if want := slices.Sorted(maps.Keys(o.kept)); reply.Status != "ok" || !slices.Equal(ids, want) ||
		reply.Front.PID != o.front || reply.Live.PID == 0 {
		o.fatalf("%+v, want %v", reply, want)
	}
}

const begun = "print('begun', flush=True)"

// under begins a cell, calls then, and ends the cell.
func (o *torture) under(code string, then func()) notebook.Execution {
	o.Helper()
	if !strings.Contains(code, begun) {
		code = begun + "\n" + code
	}
	began, done := make(chan struct{}), make(chan notebook.Execution, 1)
	closed := false
	go func() {
		x, err := o.k.ExecuteCell(o.ctx, kernel.Cell{Code: code, Observe: func(notebook.Output) {
			if !closed {
				closed = true
				close(began)
			}
		}})
		if err != nil {
			x.Reason = err.Error()
		}
		done <- x
	}()
	select {
	case <-began:
	case <-o.ctx.Done():
		o.fatalf("the cell does not begin\n%s", code)
	}
	time.Sleep(time.Duration(o.IntN(30)) * time.Millisecond)
	then()
	select {
	case x := <-done:
		return x
	case <-o.ctx.Done():
		o.fatalf("the cell does not end\n%s", code)
	}
	return notebook.Execution{}
}

var endless = []string{
	"while True: pass", "time.sleep(1000)", "while True: print('z' * 100)",
	// An interrupt between the fork and its return would leave a process that no cell knows.
	"import subprocess; p = subprocess.Popen(['sleep', '1000'])\n" + begun +
		"\ntry: p.wait()\nfinally: p.kill(); p.wait()",
	"while True:\n    junk = [bytearray(1000) for _ in range(1000)]",
}

func (o *torture) interrupt() {
	x := o.under(endless[o.IntN(len(endless))], o.k.Interrupt)
	o.now.Count++
	if x.Status != notebook.Raised || !strings.Contains(x.PlainText(), "KeyboardInterrupt") ||
		strings.Trim(x.Stdout(), "z\n") != "begun" {
		o.fatalf("%s %s, printed %q\n%.3000s", x.Status, x.Reason, short(x.Stdout()),
			strings.TrimLeft(x.PlainText(), "begunz\n"))
	}
	o.check()
}

// short returns text without the output of the endless cell.
func short(text string) string {
	return strings.ReplaceAll(text, strings.Repeat("z", 100)+"\n",
		"")
}

func (o *torture) backUnderCell() {
	id := o.any()
	var reply checkpointReply
	x := o.under("L.append(-1); D.clear()\n"+endless[o.IntN(len(endless))], func() {
		reply = o.ask("undokernel_rollback_request", map[string]string{"checkpoint": id})
	})
	if x.Status == notebook.OK || reply.Status != "ok" || strings.Trim(x.Stdout(), "z\n") != "begun" {
		o.fatalf("%s %s, %+v\n%.3000s", x.Status, x.Reason, reply, x.PlainText())
	}
	o.now = o.kept[id].clone()
	o.check()
}

func (o *torture) checkpointUnderCell() {
	var reply checkpointReply
	x := o.under("L.append(-2); time.sleep(.1); L.pop()",
		func() { reply = o.ask("undokernel_checkpoint_request", struct{}{}) })
	o.now.Count++
	if x.Status != notebook.OK || reply.Status != "ok" || x.Stdout() != "begun\n" {
		o.fatalf("%s %s, %+v\n%.3000s", x.Status, x.Reason, reply, x.PlainText())
	}
	o.kept[reply.Checkpoint] = o.now.clone()
	o.check()
}

func (o *torture) crash() {
	how := []string{"os._exit(3)", "os.kill(os.getpid(), 9)", "os.abort()",
		"import ctypes; ctypes.string_at(0)", "os.kill(os.getpid(), 15)"}
	x, err := o.k.Execute(o.ctx, "print('last words', flush=True); L.clear()\n"+how[o.IntN(len(how))])
	if err != nil || x.Status != notebook.Died || x.Stdout() != "last words\n" {
		o.fatalf("%v %s %s", err, x.Status, x.PlainText())
	}
	o.back(o.any())
}

func (o *torture) big() {
	n := o.IntN(3_000_000)
	switch o.IntN(3) {
	case 0:
		o.cell(fmt.Sprintf("print('y' * %d)", n), notebook.OK, strings.Repeat("y", n)+"\n")
	case 1:
		o.cell(fmt.Sprintf("os.write(1, b'y' * %d); print('after')", n), notebook.OK,
			strings.Repeat("y", n)+"after\n")
	case 2:
		o.cell("for i in range(3000): print(i, flush=i % 7 == 0)", notebook.OK, lines(3000))
	}
	o.check()
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// refuse creates state that a copy would lack. The refusal names it, and it is gone after going
// back.
func (o *torture) refuse() {
	for kind, code := range map[string]string{
		"thread":  "import threading; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
		"socket":  "import socket; pair = socket.socketpair()",
		"mapping": "import mmap; m = mmap.mmap(-1, 4096)",
		"process": "import subprocess\np = subprocess.Popen(['sleep', '1000'], start_new_session=True, stdout=subprocess.DEVNULL)\n" +
			"q = subprocess.Popen(['sh', '-c', 'sleep 1000 & sleep 1000'])",
	} {
		o.cell(code, notebook.OK, "")
		var found []string
		for _, f := range o.ask("undokernel_checkpoint_request", struct{}{}).Findings {
			found = append(found, f.Kind)
		}
		if !slices.Contains(found, kind) {
			o.fatalf("checkpoint with a %s: %v", kind, found)
		}
		o.check()
		o.back(o.any())
	}
	o.processes()
}

// processes checks that there is one process for each checkpoint and one more, none of them dead.
func (o *torture) processes() {
	o.Helper()
	var all []int
	extra := 0
	for range 100 { // ended ones are collected soon
		all = childrenOf(o.T, o.front)
		ended := slices.ContainsFunc(all, func(pid int) bool { return processState(pid) == "Z" })
		if extra = len(all) - len(o.kept) - 1; !ended && (extra == 0 || extra == 1) {
			// the readied copy
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, pid := range all {
		if s := processState(pid); s == "Z" {
			o.fatalf("zombie %d", pid)
		}
	}
	if extra != 0 && extra != 1 {
		o.fatalf("%d processes for %d checkpoints", len(all), len(o.kept))
	}
}

func processState(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	text := string(stat)
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])[0]
}

// A use is what a kernel uses.
type use struct {
	descriptors, memory int // of the front
	live, depth         int // descriptors of the worker, and frames of its stack
}

func usedBy(t testing.TB, k *kernel.Kernel) use {
	t.Helper()
	pid := frontOf(t, k)
	var u use
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	u.descriptors = len(fds)
	var pages int
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Sscanf(string(statm), "%d %d", &pages, &pages)
	u.memory = pages * os.Getpagesize()
	reply, err := k.Request(t.Context(),
		kernel.Message{Channel: kernel.Shell, Header: kernel.Header{MsgType: "execute_request"}, Content: json.RawMessage(
			`{"code": "", "silent": true, "store_history": false, "user_expressions": {"x": "[len(__import__('os').listdir('/proc/self/fd')), len(__import__('inspect').stack())]"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Expressions map[string]struct{ Data map[string]string } `json:"user_expressions"`
	}
	if err := json.Unmarshal(reply.Content, &c); err != nil {
		t.Fatal(err)
	}
	fmt.Sscanf(c.Expressions["x"].Data["text/plain"], "[%d, %d]", &u.live, &u.depth)
	return u
}
