package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

var copiesIn = flag.String("copies", "",
	"folder, for example of a btrfs or xfs, in which tests of copies work")

// place is a folder with copies, beside an outside that is none of their business.
type place struct {
	*copies
	folder, outside, store string
}

func copiesPlace(t interface {
	Cleanup(func())
	Fatal(...any)
}, limit int64) place {
	return copiesPlaceIn(t, *copiesIn, limit)
}

// copiesPlaceIn makes a place in a folder.
func copiesPlaceIn(t interface {
	Cleanup(func())
	Fatal(...any)
}, parent string, limit int64) place {
	dir, err := os.MkdirTemp(parent, "copies")
	if err != nil {
		t.Fatal(err)
	}
	p := place{folder: filepath.Join(dir, "files"), outside: filepath.Join(dir, "outside"),
		store: filepath.Join(dir, "store")}
	err = errors.Join(os.Mkdir(p.folder, 0o755), os.MkdirAll(filepath.Join(p.outside, "sub"), 0o755),
		os.WriteFile(filepath.Join(p.outside, "theirs"), []byte("theirs"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	p.copies, err = newCopies(p.folder, p.store, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(p.store); !os.IsNotExist(err) {
			t.Fatal("the store is left:", err)
		}
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

type fataler interface {
	Helper()
	Fatal(...any)
}

// unreadable is in the listing of what we may not read; root may read all.
const unreadable = "[unreadable]"

// everything returns all there is to know about what a folder holds, by other means
// than those of copies.
func everything(t fataler, folder string) map[string]string {
	t.Helper()
	all, inodes := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path)
		if errors.Is(err, fs.ErrPermission) { // after a call for the folder itself
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

// TestCopiesProperty changes a folder at random and puts it back to moments
// chosen at random, until all of them are dropped.
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
				if diff := cmp.Diff(m.was, everything(t, p.folder)); diff != "" {
					t.Fatal("not as it was:", diff)
				}
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

// change does something to the folder. It may be impossible: then it does not.
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
	case "outside": // a hard link to a file that has another name outside
		err = os.Link(filepath.Join(p.outside, "theirs"), one)
	case "folder":
		err = os.MkdirAll(one, 0o755)
	case "swap": // a file for a folder, and a folder for a file
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

// behind writes another content of the same size, and sets the time back.
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

// A change that leaves size and time of modification shows, however soon it
// comes after the copy, and after putting back.
func TestCopiesBehind(t *testing.T) {
	p := copiesPlace(t, 1<<30)
	file := filepath.Join(p.folder, "a")
	for range 100 {
		writeFile(t, file, "one")
		s, was := p.take(t), everything(t, p.folder)
		for range 2 {
			if !behind(file) {
				t.Fatal("not written")
			}
			p.restore(t, s)
			if diff := cmp.Diff(was, everything(t, p.folder)); diff != "" {
				t.Fatal(diff)
			}
		}
		p.drop(s)
	}
	// A restore that goes by size and time of modification would be seen here.
	s, was := p.take(t), everything(t, p.folder)
	behind(file)
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	s.items["a"].content.stamp.changed = stampOf(info).changed
	p.restore(t, s)
	if !p.hides && cmp.Equal(was, everything(t, p.folder)) {
		t.Error("the control does not see a file that was skipped")
	}
}

// A change through a memory map that is closed again shows, on file systems where no time tells of
// it, too: what was there goes back, and what is taken is what is there.
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
			if diff := cmp.Diff(one, everything(t, p.folder)); diff != "" {
				t.Errorf("%s: %s", parent, diff)
			}
			p.restore(t, second)
			if diff := cmp.Diff(two, everything(t, p.folder)); diff != "" {
				t.Errorf("%s: %s", parent, diff)
			}
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

// overlayOverTmpfs mounts one, as containers have; "" where that is not allowed.
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

// What a kernel has open stays right: files that did not change are not touched,
// those that did are written in place.
func TestCopiesOpenFiles(t *testing.T) {
	p := copiesPlace(t, 1<<30)
	path := func(name string) string { return filepath.Join(p.folder, name) }
	files := map[string]*os.File{}
	for _, name := range []string{"same", "longer", "shorter", "gone", "forbidden"} {
		writeFile(t, path(name), "what "+name+" was")
		f, err := os.Open(path(name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[name] = f
	}
	s, stamps := p.take(t), changed(t, p.folder)
	writeFile(t, path("longer"), strings.Repeat("x", 9999))
	err := errors.Join(os.Truncate(path("shorter"), 1), os.Remove(path("gone")),
		os.Chmod(path("forbidden"), 0))
	if err != nil {
		t.Fatal(err)
	}
	p.restore(t, s)
	now := changed(t, p.folder)
	if now["same"] != stamps["same"] {
		t.Error("an unchanged file was touched")
	}
	for name, f := range files {
		content, err := io.ReadAll(f)
		if err != nil || string(content) != "what "+name+" was" {
			t.Errorf("%s reads %q (%v)", name, content, err)
		}
		inode := func(s string) string { return strings.Fields(s)[0] }
		if name != "gone" && inode(now[name]) != inode(stamps[name]) {
			t.Errorf("%s is another file", name)
		}
	}
}

// The content of a file that has a name outside too is not ours, and links are
// not followed.
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
	// Folders and files that the state has become links to the same names outside.
	err = errors.Join(os.Remove(path("sub")), os.Symlink(filepath.Join(p.outside, "sub"), path("sub")))
	if err != nil {
		t.Fatal(err)
	}
	out := everything(t, p.outside)
	p.restore(t, s)
	if diff := cmp.Diff(was, everything(t, p.folder)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(out, everything(t, p.outside)); diff != "" {
		t.Error("outside: ", diff)
	}
	// The folder itself.
	err = errors.Join(os.Rename(p.folder, p.folder+"2"), os.Symlink(p.outside, p.folder))
	if err != nil {
		t.Fatal(err)
	}
	err = p.copies.restore(t.Context(), s)
	want := fmt.Sprintf("put back the working folder: %s has been replaced by another folder",
		p.folder)
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
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

// Hard links within the folder stay links, and a folder that forbids to write is
// no hindrance.
func TestCopiesLinksAndModes(t *testing.T) {
	p := copiesPlace(t, 1<<30)
	path := func(name string) string { return filepath.Join(p.folder, name) }
	if err := os.Mkdir(path("sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path("a"), "linked")
	writeFile(t, path("sub/file"), "in sub")
	err := errors.Join(os.Link(path("a"), path("b")), os.Link(path("a"), path("sub/c")),
		os.Chmod(path("sub"), 0o500))
	if err != nil {
		t.Fatal(err)
	}
	s, was := p.take(t), everything(t, p.folder)
	for _, gone := range []string{"a", "b", "sub/c", "sub/file"} {
		if err := errors.Join(os.Chmod(path("sub"), 0o700), os.Remove(path(gone)),
			os.Chmod(path("sub"), 0o500)); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path("a"), "of its own")
		p.restore(t, s)
		if diff := cmp.Diff(was, everything(t, p.folder)); diff != "" {
			t.Error(gone, diff)
		}
	}
}

// After settle the clock of file systems is later.
func TestSettle(t *testing.T) {
	for range 20 {
		var now, then unix.Timespec
		err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now)
		err = errors.Join(err, settle(t.Context(), moment{now.Sec, now.Nsec}),
			unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &then))
		if err != nil || then.Nano() <= now.Nano() {
			t.Fatal(now, then, err)
		}
	}
	if err := settle(t.Context(), moment{sec: time.Now().Unix() + 60}); err == nil {
		t.Error("waited for a time to come")
	}
}

// Each folder that cannot be kept is refused in words, and leaves nothing.
func TestCopiesRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(p place) error
		want string
	}{
		{"pipe", func(p place) error { return unix.Mkfifo(filepath.Join(p.folder, "sub", "x"), 0o644) },
			`"sub/x": is a named pipe, which cannot be copied`},
		{"socket", func(p place) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(p.folder, "x")})
			if err == nil {
				l.SetUnlinkOnClose(false)
				l.Close()
			}
			return err
		}, `"x": is a socket, which cannot be copied`},
		{"bytes", func(p place) error { return os.Truncate(filepath.Join(p.folder, "sub", "a"), 5e9) },
			"its copies would hold 5.0 GB, over the limit of 1.0 MB"},
		{"files", func(p place) error {
			for i := range maxCopied {
				if err := os.Symlink("x", filepath.Join(p.folder, fmt.Sprint(i))); err != nil {
					return err
				}
			}
			return nil
		}, "it holds more than 10000 files"},
		{"nested", func(p place) error {
			return os.MkdirAll(filepath.Join(p.folder, strings.Repeat("x/", maxNested+2)), 0o755)
		}, "it has folders nested more than 100 deep"},
		{"as it is", func(p place) error { return nil }, ""}, // a control
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := copiesPlace(t, 1e6)
			p.plain = true // a clone would cost nothing
			if err := os.Mkdir(filepath.Join(p.folder, "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(p.folder, "sub", "a"), "a")
			s := p.take(t)
			if err := tt.make(p); err != nil {
				t.Fatal(err)
			}
			_, err := p.copies.take(t.Context())
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if want := "copy the working folder: " + tt.want; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			if errors.Is(err, errOverLimit) != (tt.name == "bytes") {
				t.Error("wrong kind of error")
			}
			if left, err := os.ReadDir(p.store); len(left) != 1 || err != nil || p.held != 1 ||
				len(p.known) != 1 {
				t.Error("something of it is left:", left, err, p.held, p.known)
			}
			p.restore(t, s)
			p.take(t)
		})
	}
}

// The limit is one for all states, and room comes back.
func TestCopiesLimit(t *testing.T) {
	p := copiesPlace(t, 250_000)
	p.plain = true
	file := filepath.Join(p.folder, "a")
	var states []*state
	for range 2 {
		writeFile(t, file, strings.Repeat("x", 100_000))
		states = append(states, p.take(t), p.take(t)) // the second shares
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

// A file that changes while it is copied is an error.
func TestCopiesMeanwhile(t *testing.T) {
	p := copiesPlace(t, 1<<40)
	file := filepath.Join(p.folder, "a")
	writeFile(t, file, "")
	p.take(t)
	if !p.plain {
		t.Skip("files are cloned here, which takes no time")
	}
	if err := os.Truncate(file, 1<<28); err != nil {
		t.Fatal(err)
	}
	for range 20 { // we may be late
		copying := filepath.Join(p.store, fmt.Sprint(p.made+1))
		var stop atomic.Bool
		done := make(chan error)
		go func() {
			for !stop.Load() {
				if _, err := os.Lstat(copying); err == nil {
					done <- os.Chtimes(file, time.Now(), time.Now())
					return
				}
			}
			done <- nil
		}()
		s, err := p.copies.take(t.Context())
		stop.Store(true)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if err == nil {
			p.drop(s)
			continue
		}
		if want := `copy the working folder: "a": has been changed meanwhile`; err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if p.held != 0 {
			t.Error("held:", p.held)
		}
		return
	}
	t.Error("copied a file that was changed meanwhile")
}

// A copy that somebody has changed is not put back, and who is told to stop
// stops.
func TestCopiesFaults(t *testing.T) {
	p := copiesPlace(t, 1<<30)
	file := filepath.Join(p.folder, "a")
	writeFile(t, file, "short")
	s := p.take(t)
	writeFile(t, file, "other")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.copies.take(ctx); !errors.Is(err, context.Canceled) {
		t.Error("not cancelled:", err)
	}
	if err := p.copies.restore(ctx, s); !errors.Is(err, context.Canceled) {
		t.Error("not cancelled:", err)
	}
	writeFile(t, filepath.Join(p.store, s.items["a"].content.name), "wrong")
	err := p.copies.restore(t.Context(), s)
	if want := `put back the working folder: "a": its copy: has been changed meanwhile`; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	p.drop(p.take(t))
}

// A store that a killed program has left is removed.
func TestCopiesLeft(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	if err := os.MkdirAll(filepath.Join(store, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := newCopies(t.TempDir(), store, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(store); !os.IsNotExist(err) {
		t.Error("still there, or made too early:", err)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

// Where the file system clones, clones count nothing; -copies names one.
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
	for _, content := range []string{"", "shorter", strings.Repeat("longer", 200_003)} {
		writeFile(t, file, content)
		p.restore(t, s)
		if diff := cmp.Diff(was, everything(t, p.folder)); diff != "" {
			t.Error(diff)
		}
	}
}

// BenchmarkTake is a take beside cp -a of the same folder.
func BenchmarkTake(b *testing.B) {
	const small = 1000
	for _, bb := range []struct {
		name           string
		files, changed int
		size           int64
	}{
		{"unchanged of 1000", small, 0, 10_000},
		{"1 changed of 1000", small, 1, 10_000},
		{"all changed of 1000", small, small, 10_000},
		{"100 MB changed", 1, 1, 100e6},
	} {
		p := copiesPlace(b, 1<<40)
		name := func(i int) string { return filepath.Join(p.folder, fmt.Sprint(i/100), fmt.Sprint(i)) }
		write := func(i int) {
			if err := os.MkdirAll(filepath.Dir(name(i)), 0o755); err != nil {
				b.Fatal(err)
			}
			writeFile(b, name(i), strings.Repeat("x", int(bb.size)))
		}
		for i := range bb.files {
			write(i)
		}
		last := p.take(b)
		b.Run(bb.name+"/take", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				for i := range bb.changed {
					write(i)
				}
				time.Sleep(10 * time.Millisecond) // what follows a cell; else a take waits for the clock
				b.StartTimer()
				s := p.take(b)
				b.StopTimer()
				p.drop(last)
				last = s
				b.StartTimer()
			}
		})
		b.Run(bb.name+"/restore", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				for i := range bb.changed {
					write(i)
				}
				b.StartTimer()
				p.restore(b, last)
			}
		})
		b.Run(bb.name+"/cp", func(b *testing.B) {
			to := filepath.Join(p.outside, "copy")
			for b.Loop() {
				b.StopTimer()
				if err := os.RemoveAll(to); err != nil {
					b.Fatal(err)
				}
				for i := range bb.changed {
					write(i)
				}
				time.Sleep(10 * time.Millisecond)
				b.StartTimer()
				if out, err := exec.Command("cp", "-a", p.folder, to).CombinedOutput(); err != nil {
					b.Fatal(err, string(out))
				}
			}
		})
	}
}
