//go:build linux

package checkpoint

import (
	"fmt"
	"path/filepath"
	"testing"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// goBack goes back to cells and checks the way, how many cells did not run again, and why others
// did.
func goBack(t testing.TB, k *Session, cells []string, way notebook.Way, kept int,
	why string) notebook.Restoration {
	t.Helper()
	back, err := k.Rollback(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
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

// A server forwards the messages of checkpoints.
func TestCheckpointsServed(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	spec := checkpointSpec(t)
	specs := map[string]map[string]any{"subject": {"argv": spec.Argv, "env": spec.Env,
		"display_name": "Subject", "language": "python"}}
	served := kerneltest.JupyterServer(t, pyenvtest.Tools(t), specs)
	server, err := kernel.NewServer(served.URL, served.Token)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	inner, err := kernel.Dial(t.Context(), server, "",
		kernel.Options{Spec: kernel.Spec{Name: "subject"}, Dir: dir, Scratch: dir})
	if err != nil {
		t.Fatal(err)
	}
	k := New(inner, Options{Copies: filepath.Join(t.TempDir(), "copies")})
	defer k.Close()
	cells := []string{"x = [open('a', 'w').write('b')]"}
	runCell(t, k, cells[0], notebook.OK)
	runCell(t, k, "x.clear(); import os; os.remove('a'); os.kill(os.getpid(), 9)", notebook.Died)
	goBack(t, k, cells, notebook.ByCheckpoint, 1, "")
	prints(t, k, "x, open('a').read()", "[1] b")
}
