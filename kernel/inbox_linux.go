package kernel

import (
	"os"

	"golang.org/x/sys/unix"
)

// freeUpTo gives the disk back what the first n bytes of f take; its size stays. It is an error where
// the file system cannot.
func freeUpTo(f *os.File, n int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, n)
}
