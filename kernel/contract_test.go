package kernel

import (
	"runtime"
	"testing"
	"time"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	undo "dsstar/kernel/undokernel"
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
		k, err := start(t.Context(), o, impatient())
		ok(t, err)
		return k
	}}
}

// impatient returns short waits, for the contract's cells that ignore interrupts.
func impatient() waits {
	w := defaultWaits()
	w.interrupt = 3 * time.Second
	return w
}

func servedWays(t testing.TB, spec Spec) []way {
	specs := map[string]map[string]any{"subject": {"argv": spec.Argv, "display_name": "Subject",
		"language": "python"}}
	if spec.Env != nil { // the server refuses null
		specs["subject"]["env"] = spec.Env
	}
	var all []way
	for name, s := range servers(t, specs) {
		all = append(all, way{name, true, func(t testing.TB, o Options) *Kernel {
			o.Spec = Spec{Name: "subject"}
			k, err := dial(t.Context(), s, "", o, impatient())
			ok(t, err)
			return k
		}})
	}
	return all
}

// servers starts two servers that do not limit rates. The gateway takes no subprotocol, as any
// Jupyter server whose kernels run on a gateway (jupyter lab --gateway-url).
func servers(t testing.TB, specs map[string]map[string]any) map[string]Server {
	const unlimited = "--ZMQChannelsWebsocketConnection.limit_rate=False"
	const legacy = "--ZMQChannelsWebsocketConnection.kernel_ws_protocol="
	return map[string]Server{
		"server":  server(t, kerneltest.JupyterServer(t, pyenvtest.Tools(t), specs, unlimited)),
		"gateway": server(t, kerneltest.KernelGateway(t, pyenvtest.Tools(t), specs, unlimited, legacy)),
	}
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
