package ui

import "golang.org/x/sys/unix"

// DropInput discards typed input that has not been read. It ignores errors: at worst, such input
// answers the next question.
func DropInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
