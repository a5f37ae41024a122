//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openPlain opens a path with O_PATH. If there is a link anywhere in the path, the error is
// [ErrReplaced]. The caller must close the descriptor.
func openPlain(path string) (fd int, err error) {
	fd, err = unix.Openat2(unix.AT_FDCWD, path,
		&unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.ELOOP) {
		return -1, fmt.Errorf("%s: %w", path, ErrReplaced)
	}
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// openSame is openPlain for a file that must still have its inode, if inodes has one for it.
func openSame(path string, inodes map[string]inode) (fd int, err error) {
	fd, err = openPlain(path)
	if err != nil {
		return -1, err
	}
	is, err := inodeOfFile(fd)
	if was, ok := inodes[path]; err == nil && ok && is != was {
		err = ErrReplaced
	}
	if err != nil {
		_ = unix.Close(fd) // nothing was written
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// unreachable reports whether an error says that a path does not exist or is not accessible.
func unreachable(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOTDIR)
}

// inodes returns the inodes of the paths that exist.
func inodes(paths []string) (map[string]inode, error) {
	all := map[string]inode{}
	for _, path := range paths {
		fd, err := openPlain(path)
		if unreachable(err) {
			continue
		}
		if err == nil {
			all[path], err = inodeOfFile(fd)
			_ = unix.Close(fd) // nothing was written
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func inodeOfFile(fd int) (inode, error) {
	var st unix.Stat_t
	err := os.NewSyscallError("fstat", unix.Fstat(fd, &st))
	return inode{uint64(st.Dev), st.Ino}, err
}
