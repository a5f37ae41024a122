package inbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// freeUpTo frees the disk space of the first n bytes of f, whose size stays the same. Not every
// file system can do that.
func freeUpTo(f *os.File, n int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, n)
}
