package inbox

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Taking messages frees disk space and makes room although the file is never drained. Space that
// cannot be freed still counts.
func TestSpillIsFreed(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	empty := newSpill()
	defer empty.close()
	if err := freeUpTo(empty.file, 1); err != nil {
		t.Skip("the file system cannot free a part of a file: ", err)
	}
	const size, ahead, most = 1 << 20, 20, 48 << 20
	s := newSpill()
	defer s.close()
	s.most = most
	for i := range ahead {
		s.put(spoken(i, size))
	}
	next := ahead
	for range 5 {
		for _, m := range s.take() {
			if m.Channel == Gap {
				t.Fatal("outputs are lost")
			}
			s.put(spoken(next, size))
			next++
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(s.file.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	if s.out <= most || st.Blocks*512 > most {
		t.Errorf("%d MiB were written, %d MiB are on disk", s.out>>20, st.Blocks>>11)
	}

	s.freed = 0
	if s.put(spoken(next, size)); !s.lost {
		t.Error("what is on disk has passed its limit")
	}
}
