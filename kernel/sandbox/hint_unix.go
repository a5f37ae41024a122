//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// mayRead reports whether the file's mode lets this user read it without root's capabilities, as in
// a box.
func mayRead(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	groups, _ := os.Getgroups() // without groups, the mode for others counts
	switch mode := info.Mode().Perm(); {
	case int(st.Uid) == os.Getuid():
		return mode&0o400 != 0
	case int(st.Gid) == os.Getgid() || slices.Contains(groups, int(st.Gid)):
		return mode&0o040 != 0
	default:
		return mode&0o004 != 0
	}
}
