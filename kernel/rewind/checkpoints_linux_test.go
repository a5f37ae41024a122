//go:build linux

package rewind

import (
	"fmt"
	"path/filepath"
	"testing"

	"dsstar/notebook"
)

// goBack goes back to cells and checks the way, how many cells did not run again, and why others
// did.
func goBack(t testing.TB, k *Session, cells []string, way notebook.Way, kept int,
	why string) notebook.Restoration {
	t.Helper()
	back, err := k.Rollback(t.Context(), cells)
	ok(t, err)
	demandWay(t, back, way, kept, why)
	return back
}

// TestCheckpointOpenFiles: a file that has been replaced since it was opened is a reason to replay, as
// is one that also has a name outside, which is created anew when the files are restored.
func TestCheckpointOpenFiles(t *testing.T) {
	t.Parallel()
	k := open(t, freezing(t))
	cells := []string{"import os\nlog = open('log', 'w'); log.write('one, '); log.flush(); log.write('two')"}
	runCell(t, k, cells[0], notebook.OK)
	runCell(t, k, "os.remove('log'); open('log', 'w').write('another')", notebook.OK)
	goBack(t, k, cells, notebook.ByReplay, 0, "log was open and has been changed since")
	prints(t, k, "log.flush(), open('log').read()", "None one, two")

	cells = []string{fmt.Sprintf("import os; o = %q\nopen('log', 'w').write('one')\n"+
		"os.path.exists(o) or os.link('log', o); log = open('log', 'a')",
		filepath.Join(t.TempDir(), "outside"))}
	goBack(t, k, cells, notebook.ByReplay, 0, "")
	prints(t, k, "log.tell()", "3")
	goBack(t, k, cells, notebook.ByCheckpoint, 1, "")
	runCell(t, k, "log.write('two'); log.flush()", notebook.OK)
	goBack(t, k, cells, notebook.ByReplay, 0, "log was open and has been changed since")
	prints(t, k, "log.write('!'), log.flush(), open('log').read()", "1 None one!")
}
