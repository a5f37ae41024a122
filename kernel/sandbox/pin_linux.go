package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"

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

// openMarked is openPlain for a file that must still have its mark, if marks has one for it.
func openMarked(path string, marks map[string]mark) (fd int, err error) {
	fd, err = openPlain(path)
	if err != nil {
		return -1, err
	}
	is, err := markOfFile(fd)
	if was, ok := marks[path]; err == nil && ok && is != was {
		err = ErrReplaced
	}
	if err != nil {
		_ = unix.Close(fd) // nothing was written
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// mountsKept checks that the paths of Kept and above are mount points of the marked files, and that
// those of Kept are read-only. A path inside another of Kept needs no mount, and one of Own has an
// empty folder over it. The check is needed because mount(2) takes paths, and cells of another
// session can replace what is there at any moment.
func (st stage) mountsKept() error {
	for _, path := range slices.Concat(st.Kept, st.above()) {
		marks := st.Marks
		if slices.Contains(st.Own, path) {
			marks = nil
		}
		fd, err := openMarked(path, marks)
		if err != nil {
			return err
		}
		var file unix.Statx_t
		var mount unix.Statfs_t
		err = errors.Join(unix.Statx(fd, "", unix.AT_EMPTY_PATH, 0, &file), unix.Fstatfs(fd, &mount))
		_ = unix.Close(fd) // nothing was written
		writable := mount.Flags&unix.ST_RDONLY == 0 && slices.Contains(st.Kept, path)
		covered := slices.ContainsFunc(st.Kept,
			func(kept string) bool { return path != kept && in(path, kept) })
		if err == nil && !covered && (file.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 || writable) {
			err = fmt.Errorf("%w: it is not mounted", ErrReplaced)
		}
		if err != nil {
			return &os.PathError{Op: "keep", Path: path, Err: err}
		}
	}
	return nil
}

// unreachable reports whether an error says that a path does not exist or is not accessible.
func unreachable(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOTDIR)
}

func markOf(path string) (m mark, there bool, err error) {
	fd, err := openPlain(path)
	if err != nil {
		if unreachable(err) {
			err = nil
		}
		return mark{}, false, err
	}
	defer unix.Close(fd)
	if m, err = markOfFile(fd); err != nil {
		return mark{}, false, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return m, true, nil
}

func markOfFile(fd int) (mark, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return mark{uint64(st.Dev), st.Ino}, err
}
