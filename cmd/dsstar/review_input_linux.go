package main

import "golang.org/x/sys/unix"

// dropInput throws away what was typed and not read yet.
func dropInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) } // at worst it is an answer
