package kernel

import (
	"testing"
	"time"

	"dsstar/notebook"
)

// After a failed reset the kernel is dead, and another reset starts it, with its prelude. What runs
// silently is not counted.
func TestResetAgain(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Scratch, o.Prelude = "", "import sys\nsys.modules['a_number'] = 6\nraise ValueError"
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
	x, err := k.Silently(t.Context(), "print(__import__('a_number'))", time.Minute)
	if err != nil || x.Stdout() != "6\n" {
		t.Errorf("%+v, %v", x, err)
	}
	if x := runCell(t, k, "1", notebook.OK); x.Count != 1 {
		t.Errorf("%+v", x)
	}
}
