package term

import "golang.org/x/sys/unix"

// DropInput throws away what was typed and not read yet.
// at worst it is an answer
func DropInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
