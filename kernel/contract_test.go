package kernel

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	undo "dsstar/kernel/undokernel"
	"dsstar/notebook"
)

// A way opens a kernel; the caller closes it.
type way struct {
	name   string
	served bool
	open   func(t testing.TB, o Options) *Kernel
}

// ways returns all ways to start a kernel of spec. They share two servers.
func ways(t testing.TB, spec Spec) []way {
	return append([]way{localWay(spec)}, servedWays(t, spec)...)
}

func localWay(spec Spec) way {
	return way{"ipc", false, func(t testing.TB, o Options) *Kernel {
		o.Spec = spec
		k, err := Start(t.Context(), o)
		ok(t, err)
		return k
	}}
}

func servedWays(t testing.TB, spec Spec) []way {
	specs := map[string]map[string]any{"subject": {"argv": spec.Argv, "display_name": "Subject",
		"language": "python"}}
	if spec.Env != nil { // the server refuses null
		specs["subject"]["env"] = spec.Env
	}
	// They do not limit rates. The gateway takes no subprotocol, as any Jupyter server whose kernels
	// run on a gateway (jupyter lab --gateway-url).
	const unlimited = "--ZMQChannelsWebsocketConnection.limit_rate=False"
	const legacy = "--ZMQChannelsWebsocketConnection.kernel_ws_protocol="
	var all []way
	for name, raw := range map[string]*kerneltest.Server{
		"server":  kerneltest.JupyterServer(t, pyenvtest.Tools(t), specs, unlimited),
		"gateway": kerneltest.KernelGateway(t, pyenvtest.Tools(t), specs, unlimited, legacy),
	} {
		s := server(t, raw)
		all = append(all, way{name, true, func(t testing.TB, o Options) *Kernel {
			o.Spec = Spec{Name: "subject"}
			k, err := Dial(t.Context(), s, "", o)
			ok(t, err)
			return k
		}})
	}
	return all
}

func server(t testing.TB, s *kerneltest.Server) Server {
	t.Helper()
	server, err := NewServer(s.URL, s.Token)
	ok(t, err)
	return server
}

func TestContract(t *testing.T) {
	for _, w := range ways(t, PythonSpec(testPython(t))) {
		t.Run("ipykernel7/"+w.name, func(t *testing.T) {
			if w.name != "ipc" {
				pyenvtest.Long(t)
			}
			w.test(t)
		})
	}
	// The transports do not depend on the kernel's version, so one is enough.
	t.Run("ipykernel6/ipc", func(t *testing.T) {
		pyenvtest.Long(t)
		localWay(PythonSpec(pyenvtest.OldPython(t))).test(t)
	})
}

// A kernel with checkpoints, in the strongest sandbox if that works here, behaves like any other.
func TestContractOfCheckpoints(t *testing.T) {
	w := localWay(checkpointSpec(t))
	inner := w.open
	w.open = func(t testing.TB, o Options) *Kernel {
		if kerneltest.Works(t, "full") == nil {
			o.Sandbox = kerneltest.Confine(t, "full", o.Dir)
		}
		return inner(t, o)
	}
	w.test(t)
}

// checkpointSpec returns the spec of a kernel with checkpoints, as package rewind does.
func checkpointSpec(t testing.TB) Spec {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are checkpoints on Linux only")
	}
	dir, err := undo.Write(t.TempDir())
	ok(t, err)
	spec := PythonSpec(testPython(t))
	spec.Argv[len(spec.Python())+1] = undo.Module
	spec.Env = map[string]string{"PYTHONPATH": dir, "UNDOKERNEL_PYTHONPATH": ""}
	return spec
}

// limit is the time-out of cells that do not end.
const limit = time.Second

// test tests the contract, with only two kernels: starting one is slow.
func (w way) test(t *testing.T) {
	t.Parallel()
	type part struct {
		name string
		test func(*testing.T, *Kernel)
	}
	run := func(limit time.Duration, parts ...part) {
		dir, impatient := t.TempDir(), defaultWaits()
		impatient.interrupt = 3 * time.Second // for cells that ignore interrupts
		k := w.open(t, Options{
			Dir: dir, Scratch: dir, Env: os.Environ(), CellTimeout: limit, waits: impatient,
			Outputs: Outputs{Limits: notebook.Limits{Stream: 32 << 20}},
		})
		defer func() { check(t, k.Close()) }()
		for _, p := range parts {
			t.Run(p.name, func(t *testing.T) { p.test(t, k) })
		}
	}
	run(time.Minute,
		part{"Outputs", testOutputs}, part{"State", testState}, part{"Raises", testRaises},
		part{"Input", testInput},
		part{"Unicode", testUnicode}, part{"Display", testDisplay}, part{"Flood", testFlood},
		part{"Large", testLarge},
		part{"Serial", testSerial}, part{"Cancel", testCancel}, part{"LateOutput", testLateOutput},
		part{"Reset", testReset}, // and what comes after it starts in an empty session
		part{"Quit", testQuit}, part{"Death", w.testDeath}, part{"Close", testClose})
	run(limit, part{"Timeout", testTimeout}, part{"Stubborn", testStubborn})
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func testOutputs(t *testing.T, k *Kernel) {
	// Why flush: ipykernel sends each stream when the stream's own timer is due, so it does not
	// promise an order between them; a timer that an earlier write started can be due first.
	x := runCell(t, k, "import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr)\n6*7",
		notebook.OK)
	equal(t, "stdout", x.Stdout(), "out\n")
	last := x.Outputs[len(x.Outputs)-1]
	equal(t, "result", last.Data["text/plain"], any("42"))
	equal(t, "count", x.Count, 1)
	equal(t, "text", x.PlainText(), "out\nerr\n42\n")
	equal(t, "time passed", x.Seconds > 0, true)
	equal(t, "outputs of nothing", len(runCell(t, k, "", notebook.OK).Outputs), 0)
}

func testState(t *testing.T, k *Kernel) {
	first := runCell(t, k, "x = 20", notebook.OK)
	runCell(t, k, "raise ValueError", notebook.Raised)
	x := runCell(t, k, "print(x + 1)", notebook.OK)
	equal(t, "stdout", x.Stdout(), "21\n")
	equal(t, "count", x.Count, first.Count+2)
}

func testRaises(t *testing.T, k *Kernel) {
	for code, name := range map[string]string{
		"print('before')\n1/0":           "ZeroDivisionError",
		"def f(:":                        "SyntaxError",
		"raise KeyboardInterrupt":        "KeyboardInterrupt",
		"import sys; sys.exit(3)":        "SystemExit",
		"import nothing_of_that_name":    "ModuleNotFoundError",
		"await __import__('asyncio').x":  "AttributeError",
		"raise BaseException('ünïcode')": "BaseException",
	} {
		x := runCell(t, k, code, notebook.Raised)
		o, _ := x.Error()
		equal(t, code, o.EName, name)
		equal(t, code, x.Reason, "")
		if strings.Contains(code, "before") && x.Stdout() != "before\n" {
			t.Errorf("stdout %q", x.Stdout())
		}
		runCell(t, k, "pass", notebook.OK) // not aborted along with the failed cell
	}
}

// A cell that asks for input must not wait for a user.
func testInput(t *testing.T, k *Kernel) {
	o, _ := runCell(t, k, "input('?')", notebook.Raised).Error()
	equal(t, "error", o.EName, "StdinNotImplementedError")
}

func testUnicode(t *testing.T, k *Kernel) {
	const text = "naïve 日本語 🎉 \u2028 \\ \" \x1b[1mbold\x1b[0m"
	x := runCell(t, k, fmt.Sprintf("s = '''%s'''\nprint(s)\nprint(len(s))",
		strings.ReplaceAll(text, `\`, `\\`)), notebook.OK)
	equal(t, "stdout", x.Stdout(), text+"\n"+fmt.Sprint(len([]rune(text)))+"\n")
}

func testDisplay(t *testing.T, k *Kernel) {
	x := runCell(t, k, `
from IPython.display import display, Image, HTML, JSON
display(HTML('<b>x</b>'))
display(Image(data=b'\x89PNG\r\n\x1a\n' + b'0' * 100, format='png'))
h = display('first', display_id=True)
h.update('second')
`, notebook.OK)
	if len(x.Outputs) != 3 {
		t.Fatalf("%d outputs: %+v", len(x.Outputs), x.Outputs)
	}
	equal(t, "html", x.Outputs[0].Data["text/html"], any("<b>x</b>"))
	if png, _ := x.Outputs[1].Data["image/png"].(string); !strings.HasPrefix(png, "iVBORw0KGgo") {
		t.Errorf("png %.20q", png)
	}
	equal(t, "updated", x.Outputs[2].Data["text/plain"], any("'second'"))
}

// papermill and nbclient lose lines here if the reader lags.
func testFlood(t *testing.T, k *Kernel) {
	const n = 4_000 // four times the capacity of a socket
	x := runCell(t, k, fmt.Sprintf("for i in range(%d): print(i, flush=True)", n), notebook.OK)
	lines := strings.Fields(x.Stdout())
	equal(t, "lines", len(lines), n)
	for i, line := range lines {
		if line != fmt.Sprint(i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	equal(t, "text", strings.Contains(x.PlainText(), "incomplete"), false)
}

func testLarge(t *testing.T, k *Kernel) {
	x := runCell(t, k, "print('x' * 3_000_000)", notebook.OK)
	equal(t, "length", len(x.Stdout()), 3_000_001)
	x = runCell(t, k, "#"+strings.Repeat("c", 500_000)+"\nprint('end')", notebook.OK)
	equal(t, "after large code", x.Stdout(), "end\n")
}

func testSerial(t *testing.T, k *Kernel) {
	runCell(t, k, "running = 0", notebook.OK)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			x, err := k.Execute(t.Context(),
				"running += 1\nimport time; time.sleep(.02)\nprint(running)\nrunning -= 1")
			if err != nil || x.Status != notebook.OK || x.Stdout() != "1\n" {
				t.Errorf("%v %+v", err, x)
			}
		})
	}
	all.Wait()
}

func testTimeout(t *testing.T, k *Kernel) {
	x := runCell(t, k, "y = 7\nprint('started', flush=True)\nimport time; time.sleep(60)",
		notebook.TimedOut)
	equal(t, "reason", x.Reason, fmt.Sprintf("stopped after %v s (the cell time-out)", limit.Seconds()))
	equal(t, "stdout", x.Stdout(), "started\n")
	equal(t, "state is kept", runCell(t, k, "print(y)", notebook.OK).Stdout(), "7\n")
}

func testStubborn(t *testing.T, k *Kernel) {
	x := runCell(t, k, `
import time
print('started', flush=True)
while True:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        pass`, notebook.TimedOut)
	equal(t, "stdout", x.Stdout(), "started\n")
	if !strings.Contains(x.Reason, "it ignored the interrupt, so that the kernel was ") {
		t.Errorf("reason %q", x.Reason)
	}
	equal(t, "alive", k.Alive(), false)
	runCell(t, k, "1", notebook.Died)
}

func testCancel(t *testing.T, k *Kernel) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := k.Execute(ctx, "import time; time.sleep(60)")
	fails(t, err, context.DeadlineExceeded)
	runCell(t, k, "1", notebook.OK)
	_, err = k.Execute(ctx, "1") // the context has ended
	fails(t, err, context.DeadlineExceeded)
}

func (w way) testDeath(t *testing.T, k *Kernel) {
	x := runCell(t, k, "print('last words', flush=True)\nimport os, time; time.sleep(.2); os._exit(3)",
		notebook.Died)
	how := "exit status 3"
	if w.served {
		how = "it ended or was told to, and the server starts it again"
	}
	equal(t, "stdout", x.Stdout(), "last words\n")
	equal(t, "reason", x.Reason, "the kernel died: "+how)
	equal(t, "count", x.Count, 1)
	equal(t, "alive", k.Alive(), false)
	equal(t, "reason", runCell(t, k, "1", notebook.Died).Reason,
		"the session had ended before this cell: "+how)
}

func testReset(t *testing.T, k *Kernel) {
	const draw = "import random, numpy as np\nrandom.seed(1); " +
		"np.random.seed(1)\nprint(random.random(), np.random.rand())"
	first := runCell(t, k, draw, notebook.OK).Stdout()
	runCell(t, k, "gone = 1", notebook.OK)
	reset(t, k)
	again := runCell(t, k, draw, notebook.OK)
	equal(t, "after the reset", again.Stdout(), first)
	equal(t, "count", again.Count, 1)
	runCell(t, k, "gone", notebook.Raised)
}

func reset(t *testing.T, k *Kernel) {
	t.Helper()
	ok(t, k.Reset(t.Context()))
}

// The kernel replies to a cell that asks for its end, and then ends: that cell has died, not the
// next one. A dead kernel can be reset.
func testQuit(t *testing.T, k *Kernel) {
	runCell(t, k, "exit(keep_kernel=True)", notebook.OK)
	for _, end := range []string{"quit()", "exit(); 1/0"} {
		x := runCell(t, k, "print('bye')\n"+end, notebook.Died)
		equal(t, "stdout", x.Stdout(), "bye\n")
		equal(t, "the reason is the cell", strings.Contains(x.Reason, "exit()"), true)
		equal(t, "alive", k.Alive(), false)
		runCell(t, k, "1", notebook.Died)
		reset(t, k)
	}
}

func testClose(t *testing.T, k *Kernel) {
	reset(t, k)
	under := make(chan error, 1)
	go func() {
		_, err := k.Execute(context.Background(), "import time; time.sleep(60)")
		under <- err
	}()
	time.Sleep(200 * time.Millisecond)
	for range 2 {
		check(t, k.Close())
	}
	fails(t, <-under, "") // the call under way
	_, err := k.Execute(t.Context(), "1")
	fails(t, err, "")
}

// A thread that prints after its cell has ended must not disturb the next cell. The cell writes its
// line in one call: print makes two, and between them Python lets the thread write.
func testLateOutput(t *testing.T, k *Kernel) {
	runCell(t, k, "import threading, time\ndef f():\n  for _ in range(20): "+
		"print('late', flush=True); time.sleep(.01)\nt = threading.Thread(target=f); t.start()", notebook.OK)
	x := runCell(t, k, "import sys; time.sleep(.1); _ = sys.stdout.write('mine\\n')", notebook.OK)
	if !strings.Contains(x.Stdout(), "mine\n") {
		t.Errorf("stdout %q", x.Stdout())
	}
	runCell(t, k, "t.join()", notebook.OK)
}
