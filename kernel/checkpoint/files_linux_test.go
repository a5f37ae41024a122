package checkpoint

import (
	"testing"

	"dsstar/notebook"
)

// Files go back with the state; a folder that cannot be copied is a reason to replay.
func TestFiles(t *testing.T) {
	p := play(t, Options{MaxCopies: 1000}, true)
	size := func(name string) int {
		entries := everything(t, p.fake.folder)
		content, ok := entries[name]
		if !ok {
			return -1
		}
		return len(content)
	}
	p.run("write a 10", "write a 20")
	was := size("a")
	p.run("write b 30", "write a 5", "fail")
	p.back(notebook.ByCheckpoint, 2, "", "write a 10", "write a 20")
	if size("a") != was || size("b") >= 0 {
		t.Errorf("a: %d, want %d; b: %d", size("a"), was, size("b"))
	}
	p = play(t, Options{MaxCopies: 1000}, true)
	p.run("write big 2000", "fail")
	p.back(notebook.ByReplay, 0, "over the limit", "write big 2000")
}

// Older copies of files go where there is no room for new ones.
func TestFilesMakeRoom(t *testing.T) {
	p := play(t, Options{MaxCopies: 1000}, true)
	p.run("write a 600", "write a 601", "fail")
	p.back(notebook.ByCheckpoint, 2, "", "write a 600", "write a 601")
	p.back(notebook.ByReplay, 0, "to make room for files", "write a 600")
}
