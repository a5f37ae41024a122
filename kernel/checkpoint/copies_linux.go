package checkpoint

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reliable returns an error unless root is on a local file system, where each change of a file sets
// its ctime at once, by the clock of this machine. Others cache times (NFS) or invent them (9P,
// FUSE).
func reliable(root *os.Root) error {
	kind, err := fileSystem(root)
	if err != nil {
		return err
	}
	switch kind {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return nil
	}
	return fmt.Errorf("it is on a file system (type %#x) that may hide changes of files", kind)
}

// fileSystem returns the number of the kind of file system that root is on.
func fileSystem(root *os.Root) (kind int64, err error) {
	f, err := root.Open(".")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var s unix.Statfs_t
	err = unix.Fstatfs(int(f.Fd()), &s)
	return int64(s.Type), err
}

// hidesChanges tests whether changing a file through a memory map leaves all its times unchanged,
// as on tmpfs and on overlayfs over it. For that it creates a file, and removes it.
func hidesChanges(root *os.Root) (bool, error) {
	if kind, err := fileSystem(root); err != nil || kind != unix.TMPFS_MAGIC &&
		kind != unix.OVERLAYFS_SUPER_MAGIC {
		return false, err
	}
	name := ".dsstar-" + rand.Text()
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := root.Remove(name); err != nil {
		return false, err
	}
	if err := f.Truncate(1); err != nil {
		return false, err
	}
	before, err := f.Stat()
	if err == nil {
		err = settle(context.Background(), stampOf(before).changed)
	}
	if err != nil {
		return false, err
	}
	page, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return false, err
	}
	_ = bytes.Clone(page) // a read maps the page for writing, too, and a write then needs no fault
	page[0] = 1
	if err := unix.Munmap(page); err != nil {
		return false, err
	}
	after, err := f.Stat()
	return err == nil && stampOf(after) == stampOf(before), err
}

func stampOf(info fs.FileInfo) stamp {
	s := info.Sys().(*syscall.Stat_t)
	return stamp{
		dev: uint64(s.Dev), ino: s.Ino, links: uint64(s.Nlink), size: s.Size,
		modified: moment{int64(s.Mtim.Sec), int64(s.Mtim.Nsec)},
		changed:  moment{int64(s.Ctim.Sec), int64(s.Ctim.Nsec)},
	}
}

// clone makes to, which is no longer than from, share the blocks of from.
func clone(to, from *os.File) bool {
	return unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil
}

// setModified sets the modification time of path. It does not follow a link.
func setModified(root *os.Root, path string, m moment) error {
	dir, err := root.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Sec: m.sec, Nsec: m.nsec}}
	return unix.UtimesNanoAt(int(dir.Fd()), filepath.Base(path), times, unix.AT_SYMLINK_NOFOLLOW)
}

// settle waits until changing a file gives it a later ctime than m: file systems use the kernel's
// coarse clock, whose tick takes up to 10 ms. Linux 6.13 has finer times for some file systems.
func settle(ctx context.Context, m moment) error {
	if m == (moment{}) {
		return nil
	}
	if m.nsec == 0 {
		m.sec++ // a file system that counts seconds
	}
	for {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
			return err
		}
		is := moment{int64(now.Sec), int64(now.Nsec)}
		switch {
		case m.before(is):
			return ctx.Err()
		case m.sec > is.sec+2:
			return errors.New("it has files that were changed in the future: the clock has been set back")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}
