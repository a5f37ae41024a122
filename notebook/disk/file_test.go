package disk

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
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

// eachIrregular runs a test with each irregular file and a deadline, and checks that a file
// outside stays unchanged.
func eachIrregular(t *testing.T, test func(t *testing.T, path, kind string)) {
	for kind, put := range irregularFiles {
		t.Run(kind, func(t *testing.T) {
			outside, path := filepath.Join(t.TempDir(), "key"), filepath.Join(t.TempDir(), "f")
			if err := errors.Join(os.WriteFile(outside, []byte("secret"), 0o600), put(path, outside)); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() { defer close(done); test(t, path, kind) }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatal("it waits")
			}
			holds(t, outside, []byte("secret"))
		})
	}
}

func TestReadFile(t *testing.T) {
	eachIrregular(t, func(t *testing.T, path, kind string) {
		data, err := ReadFile(path, 1000)
		want := map[string]error{"huge file": ErrTooLong, "link to a file": nil, "hard link": nil}
		if is, file := want[kind]; file && !errors.Is(err, is) ||
			!file && !errors.Is(err, ErrNotRegular) ||
			err != nil && len(data) > 0 {
			t.Errorf("%q, %v", data, err)
		}
	})
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, []byte("abc"))
	for most, want := range map[int64]error{2: ErrTooLong, 3: nil} {
		if data, err := ReadFile(path, most); !errors.Is(err, want) ||
			err == nil && string(data) != "abc" {
			t.Errorf("at most %d: %q, %v", most, data, err)
		}
	}
}

// A file that the program keeps, such as a trace, must not be a link, and not be read without end.
func TestOpenOwn(t *testing.T) {
	eachIrregular(t, func(t *testing.T, path, kind string) {
		if kind == "hard link" { // which only this user can have made
			return
		}
		want := map[bool]error{true: ErrTooLong, false: ErrNotRegular}[kind == "huge file"]
		if _, err := OpenLines(path); !errors.Is(err, want) {
			t.Error(err)
		}
	})
}

// What cells have put in place of a file is replaced or causes an error. Nothing is written
// through it.
func TestWriteFileReplaces(t *testing.T) {
	eachIrregular(t, func(t *testing.T, path, kind string) {
		err := WriteFile(path, []byte("new"))
		if (err != nil) != (kind == "folder") {
			t.Error(err)
		}
		if err == nil {
			holds(t, path, []byte("new"))
		}
		alone(t, path, "f")
	})
}

// Anything but a regular file counts as an edit of the guarded file, and stays.
func TestGuardedReplaced(t *testing.T) {
	eachIrregular(t, func(t *testing.T, path, kind string) {
		g := Guard(path, nil)
		g.Accept([]byte("old"))
		if err := g.Write([]byte("new")); !errors.Is(err, ErrEdited) {
			t.Error(err)
		}
		g.NextSibling()
		if err := g.Write([]byte("new")); err != nil || g.Path() == path {
			t.Errorf("%s: %v", g.Path(), err)
		}
		holds(t, g.Path(), []byte("new"))
	})
}

// The folder of the guarded file is kept open: a link that replaces it is never followed.
func TestGuardedFolderReplaced(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	run, moved := filepath.Join(dir, "run"), filepath.Join(dir, "moved")
	if err := os.Mkdir(run, 0o755); err != nil {
		t.Fatal(err)
	}
	g := Guard(filepath.Join(run, "solution.py"), nil)
	replace := func() {
		if err := errors.Join(os.Rename(run, moved), os.Symlink(outside, run)); err != nil {
			t.Error(err)
		}
		g.meanwhile = nil
	}
	g.meanwhile = replace
	for _, text := range []string{"1", "2"} {
		if err := g.Write([]byte(text)); err != nil {
			t.Error(err)
		}
		holds(t, filepath.Join(moved, "solution.py"), []byte(text))
	}
	put(t, filepath.Join(moved, "solution.py"), []byte("an edit"))
	if err := g.Write([]byte("3")); !errors.Is(err, ErrEdited) {
		t.Error(err)
	}
	g.NextSibling()
	if err := g.Write([]byte("3")); err != nil {
		t.Error(err)
	}
	holds(t, filepath.Join(moved, "solution-2.py"), []byte("3"))
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v %v", entries, err)
	}
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
			if _, err := Secret(path+"2", 32); err != nil {
				return err
			}
			return os.Symlink(path+"2", path)
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
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if secret, err := Secret(path, 32); err == nil {
			t.Errorf("%s: %x", name, secret)
		}
	}
}
