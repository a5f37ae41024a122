package kernel

import (
	"os"
	"testing"

	"dsstar/kernel/sandbox"
)

// boxes are the tiers that work here, on which the tests insist where CI is.
func boxes(t testing.TB) (all []sandbox.Box) {
	t.Helper()
	for _, name := range []string{"builtin", "full"} {
		tier, _, err := sandbox.Choose(name)
		if err != nil && required(name) {
			t.Fatal(err)
		}
		if err != nil {
			t.Log(err)
			continue
		}
		all = append(all, sandbox.Box{Tier: tier, Limits: sandbox.Limits{Memory: 4 << 30, Processes: 256, File: 2 << 30, Folder: 4 << 30}})
	}
	return all
}

// A kernel in a sandbox is a kernel like any other.
func TestContractOfSandboxes(t *testing.T) {
	for _, box := range boxes(t) {
		spec := PythonSpec(testPython(t))
		if box.Tier == sandbox.Full {
			spec = checkpointSpec(t, testPython(t))
		}
		w := localWay(spec, false)
		inner := w.open
		w.open = func(t testing.TB, o Options) *Kernel {
			o.Sandbox = box
			return inner(t, o)
		}
		t.Run(string(box.Tier), w.test)
	}
}

// required reports whether a tier must work: where CI is.
func required(tier string) bool {
	return tier == "full" && os.Getenv("DSSTAR_BUBBLEWRAP") == "required" || tier != "full" && os.Getenv("CI") != ""
}
