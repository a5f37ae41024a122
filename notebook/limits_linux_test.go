package notebook_test

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"dsstar/notebook"
)

// TestDiskIsFull limits the size of files, which acts like a full disk: the outputs
// continue, and say so once.
func TestDiskIsFull(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Stream: 100, Data: 100})
	text := numbered(1000)
	figure, png := picture(5000, "")

	signal.Ignore(syscall.SIGXFSZ) // so that it is an error and not the end
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4000, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.SplitAfter(text, "\n") {
		add(t, f, stdout(line))
	}
	add(t, f, figure)
	err := f.Close()
	if err2 := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}

	outputs := f.Outputs()
	if got := outputs[0].Text; strings.Count(got, "[note: ") != 1 || !strings.HasSuffix(got, "line 999\n") ||
		!strings.Contains(got, "the first 4.0 kB are in files/outputs/cell-3-stdout.txt, the rest is not kept: file too large]\n") {
		t.Error(got)
	}
	if got := outputs[1].PlainText(); !strings.Contains(got, "the first 4.0 kB are in files/outputs/cell-3-display.png, the rest is not kept: file too large]") {
		t.Error(got)
	}
	kept := files(t, dir)
	if kept["cell-3-stdout.txt"] != text[:4000] || kept["cell-3-display.png"] != png[:4000] {
		t.Error("the files do not have what fitted")
	}
}

// TestFewFilesAreOpen cuts hundreds of outputs: each file is closed when its
// output is over.
func TestFewFilesAreOpen(t *testing.T) {
	f, dir := newFold(t, notebook.Limits{Stream: 10})
	count := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	before := count()
	for range 200 {
		add(t, f, stdout(numbered(10)), stderr(numbered(10)))
	}
	if after := count(); after > before+5 {
		t.Errorf("%d files are open", after-before)
	}
	if n := len(files(t, dir)); n != 400 {
		t.Errorf("%d files are kept", n)
	}
}
