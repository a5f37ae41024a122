package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

var copiesIn = flag.String("copies", "",
	"folder, for example of a btrfs or xfs, in which tests of copies work")

// place is a folder with copies, and beside it a folder outside, which they must not touch.
type place struct {
	*copies
	folder, outside, store string
}

func copiesPlace(t fataler, limit int64) place { return copiesPlaceIn(t, *copiesIn, limit) }

// copiesPlaceIn creates a place in parent, in which a killed program has left a store.
func copiesPlaceIn(t fataler, parent string, limit int64) place {
	dir, err := os.MkdirTemp(parent, "copies")
	if err != nil {
		t.Fatal(err)
	}
	p := place{folder: filepath.Join(dir, "files"), outside: filepath.Join(dir, "outside"),
		store: filepath.Join(dir, "store")}
	err = errors.Join(os.Mkdir(p.folder, 0o755), os.MkdirAll(filepath.Join(p.outside, "sub"), 0o755),
		os.MkdirAll(filepath.Join(p.store, "left"), 0o700),
		os.WriteFile(filepath.Join(p.outside, "theirs"), []byte("theirs"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	p.copies, err = newCopies(p.folder, p.store, limit)
	if err != nil {
		t.Fatal(err)
	}
	storeGone := func() {
		if _, err := os.Lstat(p.store); !os.IsNotExist(err) {
			t.Fatal("the store is there:", err)
		}
	}
	storeGone()
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		storeGone()
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = os.Chmod(path, 0o700)
			}
			return err
		})
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			t.Fatal(err)
		}
	})
	return p
}

func (p place) take(t fataler) *state {
	t.Helper()
	s, err := p.copies.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p place) restore(t fataler, s *state) {
	t.Helper()
	if err := p.copies.restore(context.Background(), s); err != nil {
		t.Fatal(err)
	}
}

// demand fails the test unless the folder holds was.
func (p place) demand(t fataler, was map[string]string) {
	t.Helper()
	if diff := cmp.Diff(was, everything(t, p.folder)); diff != "" {
		t.Fatal("not as it was:", p.folder, diff)
	}
}

type fataler interface {
	Helper()
	Cleanup(func())
	Fatal(...any)
}

// unreadable stands for what we may not read; root may read everything.
const unreadable = "[unreadable]"

// everything returns everything about the content of a folder, found by other means than those of
// copies.
func everything(t fataler, folder string) map[string]string {
	t.Helper()
	all, inodes := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path)
		if errors.Is(err, fs.ErrPermission) { // the folder itself was reported before
			all[name] += ", " + unreadable
			return nil
		} else if err != nil {
			return err
		}
		var s unix.Stat_t
		if err := unix.Lstat(path, &s); errors.Is(err, fs.ErrPermission) {
			all[name] = unreadable
			return nil
		} else if err != nil {
			return err
		}
		text := fmt.Sprintf("%o modified %d.%09d", s.Mode, s.Mtim.Sec, s.Mtim.Nsec)
		switch s.Mode & unix.S_IFMT {
		case unix.S_IFLNK:
			target, err := os.Readlink(path)
			all[name] = text + " to " + target
			return err
		case unix.S_IFREG:
			content, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrPermission) {
				content, err = []byte(unreadable), nil
			}
			if inodes[s.Ino] == "" {
				inodes[s.Ino] = name
			}
			all[name] = fmt.Sprintf("%s, the file of %s: %q", text, inodes[s.Ino], content)
			return err
		}
		all[name] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// changed returns inode and ctime of each file.
func changed(t fataler, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name := range everything(t, folder) {
		var s unix.Stat_t
		if err := unix.Lstat(filepath.Join(folder, name), &s); err != nil {
			t.Fatal(err)
		}
		if s.Mode&unix.S_IFMT != unix.S_IFDIR {
			all[name] = fmt.Sprint(s.Ino, s.Ctim)
		}
	}
	return all
}

// TestCopiesProperty changes a folder at random and restores random earlier states, until all are
// dropped.
func TestCopiesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := copiesPlace(t, 1<<30)
		type moment struct {
			state *state
			was   map[string]string
		}
		var moments []moment
		pick := func() int { return rapid.IntRange(0, len(moments)-1).Draw(t, "moment") }
		for range rapid.IntRange(1, 25).Draw(t, "operations") {
			switch op := rapid.IntRange(0, 9).Draw(t, "operation"); {
			case op < 2:
				was := everything(t, p.folder)
				if strings.Contains(fmt.Sprint(was), unreadable) {
					if _, err := p.copies.take(context.Background()); !errors.Is(err, fs.ErrPermission) {
						t.Fatal("took what nobody may read:", err)
					}
					continue
				}
				moments = append(moments, moment{p.take(t), was})
			case op < 5 && len(moments) > 0:
				m := moments[pick()]
				out := everything(t, p.outside)
				p.restore(t, m.state)
				p.demand(t, m.was)
				if diff := cmp.Diff(out, everything(t, p.outside)); diff != "" {
					t.Fatal("outside:", diff)
				}
				stamps, made := changed(t, p.folder), p.made
				p.restore(t, m.state)
				p.drop(p.take(t))
				if diff := cmp.Diff(stamps, changed(t, p.folder)); diff != "" || p.made != made {
					t.Fatal("its own files were touched or copied again:", diff, p.made-made)
				}
			case op == 5 && len(moments) > 0:
				i := pick()
				p.drop(moments[i].state)
				moments = slices.Delete(moments, i, i+1)
			default:
				for range rapid.IntRange(1, 6).Draw(t, "changes") {
					change(t, p)
				}
			}
		}
		for _, m := range moments {
			p.drop(m.state)
		}
		left, err := os.ReadDir(p.store)
		if len(left) > 0 || p.held != 0 || len(p.known) > 0 || err != nil && !os.IsNotExist(err) {
			t.Fatal("left after all was dropped:", left, p.held, p.known, err)
		}
	})
}

// change changes the folder at random, or does nothing if the change is impossible.
func change(t *rapid.T, p place) {
	name := func(label string) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "-c", "d\xff\n"}), 1, 3).Draw(t,
			label)
		return filepath.Join(p.folder, filepath.Join(parts...))
	}
	one := name("name")
	text := []byte(rapid.StringN(0, 20, 30).Draw(t, "text"))
	write := func(flag int) error {
		f, err := os.OpenFile(one, os.O_WRONLY|flag, 0o644)
		if err == nil {
			_, err = f.Write(text)
			f.Close()
		}
		return err
	}
	var err error
	switch rapid.SampledFrom([]string{"create", "create", "create", "overwrite", "append", "truncate",
		"rename", "delete", "chmod", "times",
		"link", "data", "hard", "outside", "folder", "folder", "swap", "behind", "root"}).Draw(t,
		"change") {
	case "create":
		_ = os.MkdirAll(filepath.Dir(one), 0o755)
		err = write(os.O_CREATE | os.O_TRUNC)
	case "overwrite":
		err = write(0)
	case "append":
		err = write(os.O_APPEND)
	case "truncate":
		err = os.Truncate(one, int64(len(text)))
	case "rename":
		err = os.Rename(one, name("to"))
	case "delete":
		err = os.RemoveAll(one)
	case "chmod":
		mode := rapid.SampledFrom([]fs.FileMode{0, 0o500, 0o744, 0o755, 0o777, 0o555 | fs.ModeSetgid,
			0o700 | fs.ModeSticky}).Draw(t, "mode")
		if info, lost := os.Lstat(one); lost == nil && info.Mode().Type() != fs.ModeSymlink {
			err = os.Chmod(one, mode)
		}
	case "times":
		when := time.Unix(rapid.Int64Range(-1<<31, 1<<33).Draw(t, "seconds"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		times := []unix.Timespec{{}, unix.NsecToTimespec(0)}
		times[1].Sec, times[1].Nsec = when.Unix(), int64(when.Nanosecond())
		err = unix.UtimesNanoAt(unix.AT_FDCWD, one, times, unix.AT_SYMLINK_NOFOLLOW)
	case "link":
		err = os.Symlink(string(text), one)
	case "data":
		err = os.Symlink(p.outside, one)
	case "hard":
		err = os.Link(one, name("to"))
	case "outside": // a hard link to a file outside
		err = os.Link(filepath.Join(p.outside, "theirs"), one)
	case "folder":
		err = os.MkdirAll(one, 0o755)
	case "swap": // replace a file by a folder, or a folder by a file
		if info, lost := os.Lstat(one); lost == nil && info.IsDir() {
			if err = os.RemoveAll(one); err == nil {
				err = write(os.O_CREATE)
			}
		} else if err = os.Remove(one); err == nil {
			err = os.Mkdir(one, 0o755)
		}
	case "behind":
		behind(one)
	case "root":
		err = os.Chmod(p.folder, rapid.SampledFrom([]fs.FileMode{0o700, 0o755, 0o777}).Draw(t, "mode"))
	}
	_ = err
}

// behind writes other content of the same size, and resets the modification time.
func behind(path string) bool {
	var s unix.Stat_t
	content, err := os.ReadFile(path)
	if err != nil || unix.Lstat(path, &s) != nil || s.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	for i := range content {
		content[i]++
	}
	return os.WriteFile(path, content, 0) == nil &&
		unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{s.Atim, s.Mtim},
			unix.AT_SYMLINK_NOFOLLOW) == nil
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A change through a memory map that is closed again is noticed, even on file systems where it
// changes no time: restore restores the old content, and take takes the new.
func TestCopiesMapped(t *testing.T) {
	for _, parent := range []string{t.TempDir(), "/dev/shm", overlayOverTmpfs(t)} {
		if parent == "" {
			continue
		}
		p := copiesPlaceIn(t, parent, 1<<20)
		file := filepath.Join(p.folder, "a")
		writeFile(t, file, "one")
		if err := os.Link(file, filepath.Join(p.folder, "b")); err != nil {
			t.Fatal(err)
		}
		first, one := p.take(t), everything(t, p.folder)
		writeMapped(t, file, 'X')
		second, two := p.take(t), everything(t, p.folder)
		writeMapped(t, file, 'Y')
		for range 2 {
			p.restore(t, first)
			p.demand(t, one)
			p.restore(t, second)
			p.demand(t, two)
			writeMapped(t, file, 'Z')
		}
		p.drop(first)
		p.drop(second)
		sparse := filepath.Join(p.folder, "sparse")
		writeFile(t, sparse, "")
		if err := os.Truncate(sparse, 1<<40); err != nil {
			t.Fatal(err)
		}
		if _, err := p.copies.take(t.Context()); !errors.Is(err, errOverLimit) {
			t.Errorf("%s: took a terabyte: %v", parent, err)
		}
	}
}

// writeMapped writes the first byte of a file through a memory map.
func writeMapped(t testing.TB, file string, b byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	_ = bytes.Clone(page) // tmpfs sets the times when the first access is a write
	page[0] = b
	if err := unix.Munmap(page); err != nil {
		t.Fatal(err)
	}
}

// overlayOverTmpfs mounts an overlayfs over tmpfs, as in containers; "" where that is not allowed.
func overlayOverTmpfs(t testing.TB) string {
	base, merged := t.TempDir(), t.TempDir()
	if unix.Mount("tmpfs", base, "tmpfs", 0, "") != nil {
		return ""
	}
	t.Cleanup(func() { _ = unix.Unmount(base, unix.MNT_DETACH) })
	for _, name := range []string{"lower", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return name + "dir=" + filepath.Join(base, name) }
	if unix.Mount("overlay", merged, "overlay", 0, at("lower")+","+at("upper")+","+at("work")) != nil {
		return ""
	}
	t.Cleanup(func() { _ = unix.Unmount(merged, unix.MNT_DETACH) })
	return merged
}

// The content of a file that also has a name outside is not ours, and links are not followed.
func TestCopiesOutside(t *testing.T) {
	p := copiesPlace(t, 1<<30)
	path := func(name string) string { return filepath.Join(p.folder, name) }
	theirs := filepath.Join(p.outside, "theirs")
	err := errors.Join(os.Symlink(p.outside, path("data")), os.Link(theirs, path("hard")),
		os.Mkdir(path("sub"), 0o755))
	if err != nil {
		t.Fatal(err)
	}
	s, was := p.take(t), everything(t, p.folder)
	writeFile(t, path("hard"), "changed by a cell")
	// Folders and files of the state become links to the same names outside.
	err = errors.Join(os.Remove(path("sub")), os.Symlink(filepath.Join(p.outside, "sub"), path("sub")))
	if err != nil {
		t.Fatal(err)
	}
	out := everything(t, p.outside)
	p.restore(t, s)
	p.demand(t, was)
	// The folder itself.
	err = errors.Join(os.Rename(p.folder, p.folder+"2"), os.Symlink(p.outside, p.folder))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.copies.restore(t.Context(), s); err == nil {
		t.Error("put back into what it has been replaced by")
	}
	if _, err := p.copies.take(t.Context()); err == nil {
		t.Error("copied what it has been replaced by")
	}
	if diff := cmp.Diff(out, everything(t, p.outside)); diff != "" {
		t.Error("outside: ", diff)
	}
	if err := errors.Join(os.Remove(p.folder), os.Rename(p.folder+"2", p.folder)); err != nil {
		t.Fatal(err)
	}
}

// A folder that cannot be copied is refused with the reason, and nothing is left behind.
func TestCopiesRefused(t *testing.T) {
	for reason, spoil := range map[string]func(sub string) error{
		`"sub/x": is a named pipe`: func(sub string) error { return unix.Mkfifo(sub+"/x", 0o644) },
		`"sub/x": is a socket`: func(sub string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: sub + "/x"})
			if err == nil {
				l.SetUnlinkOnClose(false)
				l.Close()
			}
			return err
		},
		"5.0 GB": func(sub string) error { return os.Truncate(sub+"/a", 5e9) },
		"files": func(sub string) (err error) {
			for i := range maxCopied {
				err = errors.Join(err, os.Symlink("x", fmt.Sprint(sub, "/", i)))
			}
			return err
		},
		"nested": func(sub string) error {
			return os.MkdirAll(sub+"/"+strings.Repeat("x/", maxNested+1), 0o755)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			p := copiesPlace(t, 1e6)
			p.plain = true // a clone would cost nothing
			sub := filepath.Join(p.folder, "sub")
			if err := os.Mkdir(sub, 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, sub+"/a", "a")
			s := p.take(t)
			if err := spoil(sub); err != nil {
				t.Fatal(err)
			}
			_, err := p.copies.take(t.Context())
			if err == nil || !strings.Contains(err.Error(), reason) ||
				errors.Is(err, errOverLimit) != (reason == "5.0 GB") {
				t.Errorf("got %v, want %s", err, reason)
			}
			left, err := os.ReadDir(p.store)
			if len(left) != 1 || err != nil || p.held != 1 || len(p.known) != 1 {
				t.Error("something of it is left:", left, err, p.held, p.known)
			}
			p.restore(t, s)
			p.take(t)
		})
	}
}

// The limit is for all states together, and dropping one makes room.
func TestCopiesLimit(t *testing.T) {
	p := copiesPlace(t, 250_000)
	p.plain = true
	file := filepath.Join(p.folder, "a")
	var states []*state
	for range 2 {
		writeFile(t, file, strings.Repeat("x", 100_000))
		states = append(states, p.take(t), p.take(t)) // the second shares its content
	}
	writeFile(t, file, strings.Repeat("y", 100_000))
	if _, err := p.copies.take(t.Context()); !errors.Is(err, errOverLimit) {
		t.Error("no limit:", err)
	}
	p.drop(states[0])
	if _, err := p.copies.take(t.Context()); !errors.Is(err, errOverLimit) {
		t.Error("room from a state whose copy another one needs:", err)
	}
	p.drop(states[1])
	p.drop(p.take(t))
	p.restore(t, states[2])
	if err := p.copies.restore(t.Context(), states[1]); err == nil {
		t.Error("restored a state that was dropped")
	}
}

// A meddler is a context that changes a file as soon as there is a copy.
type meddler struct {
	context.Context
	file, copied string
}

func (m meddler) Err() error {
	if _, err := os.Lstat(m.copied); err != nil {
		return nil
	}
	return os.Chtimes(m.file, time.Now(), time.Now())
}

// A changed copy is not restored, a file that changes while it is copied is an error, and
// cancelling ends copying and restoring.
func TestCopiesFaults(t *testing.T) {
	p := copiesPlace(t, 1<<30)
	p.plain = true
	file := filepath.Join(p.folder, "a")
	writeFile(t, file, "short")
	s := p.take(t)
	held := p.held
	writeFile(t, file, "other")
	meanwhile := meddler{t.Context(), file, filepath.Join(p.store, fmt.Sprint(p.made+1))}
	if _, err := p.copies.take(meanwhile); err == nil || p.held != held {
		t.Errorf("changed meanwhile: %v, held %d", err, p.held)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.copies.take(ctx); !errors.Is(err, context.Canceled) {
		t.Error("not cancelled:", err)
	}
	if err := p.copies.restore(ctx, s); !errors.Is(err, context.Canceled) {
		t.Error("not cancelled:", err)
	}
	if err := settle(t.Context(), moment{sec: time.Now().Unix() + 60}); err == nil {
		t.Error("waited for a time to come")
	}
	writeFile(t, filepath.Join(p.store, s.items["a"].content.name), "wrong")
	if err := p.copies.restore(t.Context(), s); err == nil {
		t.Error("put a changed copy back")
	}
	p.drop(p.take(t))
}

// On file systems with cloning, clones do not count; -copies names one.
func TestCopiesClone(t *testing.T) {
	p := copiesPlace(t, 0)
	file := filepath.Join(p.folder, "a")
	writeFile(t, file, strings.Repeat("clone", 100_001))
	s, err := p.copies.take(t.Context())
	if p.plain || p.hides {
		t.Skip("no clones on this file system; -copies DIR names another:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	was := everything(t, p.folder)
	writeFile(t, file, "shorter")
	p.restore(t, s)
	p.demand(t, was)
}
