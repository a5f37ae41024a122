package checkpoint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/notebook"
)

// Files go back as names do, and what links in Scratch point to is left alone.
func TestRollbackFiles(t *testing.T) {
	o := plain(t)
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("gold"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := open(t, o)
	cells := []string{"open('a.txt', 'w').write('1')", "import os; os.mkdir('d')"}
	for _, c := range cells {
		runCell(t, k, c, notebook.OK)
	}
	runCell(t, k, "open('a.txt', 'a').write('2'); open('d/b', 'w').close()\n"+
		"os.mkdir('e'); os.chmod('e', 0)\n"+
		"os.symlink('"+outside+"', 'link'); os.symlink('"+filepath.Dir(outside)+
		"', 'dirlink'); os.symlink('.', 'loop')\n"+
		"open('random.py', 'w').write('raise SystemExit')", notebook.OK)
	before := k.Info().PID
	back, err := k.Rollback(t.Context(), cells)
	done := back.Executions
	if err != nil || len(done) != 2 || done[1].Status != notebook.OK {
		t.Fatalf("%v %+v", err, done)
	}
	if k.Info().PID == before || !k.Alive() {
		t.Error("the process is not a new one")
	}
	var names []string
	entries, err := os.ReadDir(o.Scratch)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if d := cmp.Diff([]string{"a.txt", "d"}, names); d != "" {
		t.Error(d)
	}
	if b, err := os.ReadFile(filepath.Join(o.Scratch, "a.txt")); err != nil || string(b) != "1" {
		t.Errorf("a.txt: %q %v", b, err)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "gold" {
		t.Errorf("the file outside: %q %v", b, err)
	}
}
