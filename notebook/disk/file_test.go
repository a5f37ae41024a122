package disk

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// irregularFiles puts what is no file, or none that anybody wants to read, at path.
var irregularFiles = map[string]func(path, outside string) error{
	"pipe":           func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	"folder":         func(path, _ string) error { return os.Mkdir(path, 0o700) },
	"device":         func(path, _ string) error { return os.Symlink("/dev/zero", path) },
	"link to a file": func(path, outside string) error { return os.Symlink(outside, path) },
	"hard link":      func(path, outside string) error { return os.Link(outside, path) },
	"socket": func(path, _ string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
		if err == nil {
			l.SetUnlinkOnClose(false)
			err = l.Close()
		}
		return err
	},
	"huge file": func(path, _ string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40))
	},
}

// TestIrregular: whatever is at the path, nothing waits for it, reads it without end, or writes
// through it; a file outside stays unchanged.
func TestIrregular(t *testing.T) {
	for way, does := range map[string]func(t *testing.T, path, kind string){
		"reading": func(t *testing.T, path, kind string) {
			for most, want := range map[int64]error{5: ErrTooLong, 6: nil} {
				if kind == "huge file" {
					want = ErrTooLong
				} else if !strings.Contains(kind, "link") {
					want = ErrNotRegular
				}
				data, err := ReadFile(path, most)
				fails(t, want, err)
				if (string(data) == "secret") != (err == nil) {
					t.Errorf("at most %d: %q", most, data)
				}
			}
		},
		// What the program keeps, such as a trace, must not be a link.
		"own lines": func(t *testing.T, path, kind string) {
			if kind != "hard link" { // which only this user can have made
				_, err := OpenLines(path)
				fails(t, map[bool]error{true: ErrTooLong, false: ErrNotRegular}[kind == "huge file"], err)
			}
		},
		// What cells have put in place of a file is replaced or causes an error.
		"writing": func(t *testing.T, path, kind string) {
			err := WriteFile(path, []byte("new"))
			if (err != nil) != (kind == "folder") {
				t.Error(err)
			}
			if err == nil {
				holds(t, path, []byte("new"))
			}
			alone(t, path, "f")
		},
		// Anything but a regular file counts as an edit of the guarded file, and stays.
		"guarding": func(t *testing.T, path, kind string) {
			g := Guard(path, nil)
			g.Accept([]byte("old"))
			writes(t, g, 1, ErrEdited)
			g.NextSibling()
			writes(t, g, 1, nil)
			if g.Path() == path {
				t.Error("it is no sibling")
			}
		},
		// Whatever has taken the place of a folder is removed, but nothing that it leads to.
		"emptying": func(t *testing.T, path, _ string) {
			fails(t, nil, EmptyFolder(path, nil))
			if info, err := os.Lstat(path); err != nil || !info.IsDir() {
				t.Error(info, err)
			}
			alone(t, filepath.Join(path, "f"))
		},
	} {
		for kind, put := range irregularFiles {
			t.Run(way+"/"+kind, func(t *testing.T) {
				outside, path := filepath.Join(t.TempDir(), "key"), filepath.Join(t.TempDir(), "f")
				must(t, os.WriteFile(outside, []byte("secret"), 0o600), put(path, outside))
				done := make(chan struct{})
				go func() { defer close(done); does(t, path, kind) }()
				select {
				case <-done:
				case <-time.After(time.Minute):
					t.Fatal("it waits")
				}
				holds(t, outside, []byte("secret"))
			})
		}
	}
}

// The folder of the guarded file is kept open: a link that replaces it is never followed.
func TestGuardedFolderReplaced(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	run, moved := filepath.Join(dir, "run"), filepath.Join(dir, "moved")
	must(t, os.Mkdir(run, 0o755))
	g := Guard(filepath.Join(run, "solution.py"), nil)
	g.meanwhile = func() {
		fails(t, nil, errors.Join(os.Rename(run, moved), os.Symlink(outside, run)))
		g.meanwhile = nil
	}
	for n := range 2 {
		fails(t, nil, g.Write(version(n)))
		holds(t, filepath.Join(moved, "solution.py"), version(n))
	}
	put(t, filepath.Join(moved, "solution.py"), edited(2))
	writes(t, g, 3, ErrEdited)
	g.NextSibling()
	fails(t, nil, g.Write(version(3)))
	holds(t, filepath.Join(moved, "solution-2.py"), version(3))
	alone(t, filepath.Join(outside, "none"))
}

// TestSecret: all programs that start at once get the same secret, whole, and later ones, too.
func TestSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config", "key")
	secrets := make([][]byte, 20)
	var group sync.WaitGroup
	for i := range secrets {
		group.Go(func() {
			var err error
			if secrets[i], err = Secret(path, 32); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, secret := range secrets {
		if len(secret) != 32 || !bytes.Equal(secret, secrets[0]) {
			t.Errorf("%x, and %x", secrets[0], secret)
		}
	}
	alone(t, path, "key")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if other, err := Secret(filepath.Join(t.TempDir(), "key"), 32); err != nil || bytes.Equal(other, secrets[0]) {
		t.Errorf("%x, %v", other, err)
	}
}

// TestSecretRefuses: only a file of this user's alone, as it was made, is a secret.
func TestSecretRefuses(t *testing.T) {
	t.Parallel()
	good := make([]byte, 32)
	for name, make := range map[string]func(path string) error{
		"link": func(path string) error {
			_, err := Secret(path+"2", 32)
			return errors.Join(err, os.Symlink(path+"2", path))
		},
		"readable": func(path string) error { return os.WriteFile(path, good, 0o640) },
		"short":    func(path string) error { return os.WriteFile(path, good[:31], 0o600) },
		"long":     func(path string) error { return os.WriteFile(path, append(good, 0), 0o600) },
		"folder":   func(path string) error { return os.Mkdir(path, 0o700) },
		"theirs": func(path string) error {
			if err := os.WriteFile(path, good, 0o600); err != nil || os.Getuid() != 0 {
				return os.Chmod(path, 0o604) // only root can give files away
			}
			return os.Chown(path, 1, 1)
		},
	} {
		path := filepath.Join(t.TempDir(), "key")
		must(t, make(path))
		if secret, err := Secret(path, 32); err == nil {
			t.Errorf("%s: %x", name, secret)
		}
	}
}

// TestLines: a last line that a crash has cut is not read, and does not spoil the next one; any other
// that is no JSON is an error.
func TestLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	holds := func(want ...string) {
		t.Helper()
		text, err := os.ReadFile(path)
		all, readErr := ReadLines[string](text)
		if err := errors.Join(err, readErr); err != nil || !slices.Equal(all, want) {
			t.Errorf("%q, %v; want %q", all, err, want)
		}
	}
	put(t, path, []byte("\"a\"\n\n\"b"))
	holds("a")
	lines, err := OpenLines(path)
	must(t, err)
	must(t, lines.Append("<c>"))
	if lines.Append(func() {}) == nil || lines.Close() != nil || lines.Close() != nil || lines.Append("d") == nil {
		t.Error("what is no data is added, or something after the end")
	}
	holds("a", "<c>")
	if all, err := ReadLines[string]([]byte("\"a\"\nb\n")); err == nil {
		t.Errorf("a bad line inside: %q", all)
	}
}

// TestLongLines: a file of any length is added to, whose last line a crash has cut.
func TestLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	const size, want = 300 << 20, "\n\"a\"\n\"c\"\n"
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt([]byte("\n\"a\"\n\"b"), size)
	must(t, err)
	lines, err := OpenLines(path)
	must(t, err)
	must(t, lines.Append("c"), lines.Close())
	end := make([]byte, len(want)+1)
	if n, _ := f.ReadAt(end, size); string(end[:n]) != want {
		t.Errorf("%q", end[:n])
	}
}
