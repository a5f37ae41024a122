package kernel

import (
	"testing"

	"dsstar/notebook"
)

// After a failed reset the kernel is dead, and another reset starts it.
func TestResetAgain(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Scratch = ""
	k := open(t, o)
	good := k.options.Spec
	k.options.Spec = Spec{Name: "x", Argv: []string{"no-such-program"}}
	if err := k.Reset(t.Context()); err == nil || k.Alive() {
		t.Errorf("error %v, alive %v", err, k.Alive())
	}
	runCell(t, k, "1", notebook.Died)
	k.options.Spec = good
	if err := k.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	runCell(t, k, "1", notebook.OK)
}
