package rerun

import (
	"strings"
	"testing"

	"dsstar/notebook"
)

// TestFailure: the lines of the cell that ended a run are shown, by the traceback or beside it.
func TestFailure(t *testing.T) {
	const source = "a <- 1\nstop(a)"
	for name, c := range map[string]struct {
		traceback []string // nil: a time-out, or the kernel's death
		shown     bool
	}{
		"no error": {nil, true},
		"R":        {[]string{"Error in eval(expr): 1", "Traceback:", "1. stop(a)"}, true},
		"IPython":  {[]string{"\x1b[36mCell\x1b[39m \x1b[32mIn[2]\x1b[39m, line 2"}, false},
	} {
		var stderr strings.Builder
		showFailure(&stderr, "cell 2:", source, notebook.Execution{
			Outputs: []notebook.Output{{Type: notebook.ErrorOutput, Traceback: c.traceback}}})
		if shown := strings.Contains(stderr.String(), "    a <- 1\n    stop(a)\n"); shown != c.shown {
			t.Errorf("%s:\n%s", name, &stderr)
		}
	}
}
