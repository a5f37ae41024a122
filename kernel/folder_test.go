package kernel

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"dsstar/kernel/internal/zmq"
	"dsstar/kernel/kerneltest"
	"dsstar/notebook/disk"
)

// hostilePlaces replace a folder or file that the client uses by something else.
var hostilePlaces = map[string]func(path, outside string) error{
	"link to a folder": linkTo(""),
	"link to a file":   linkTo("key"),
	"link to nothing":  linkTo("new"),
	"link to itself":   func(path, _ string) error { return os.Symlink(filepath.Base(path), path) },
	"link to beside":   func(path, _ string) error { return os.Symlink(".", path) },
	"pipe":             func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	"hard link": func(path, outside string) error {
		return os.Link(filepath.Join(outside, "key"), path)
	},
	"huge file": func(path, _ string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40))
	},
}

func linkTo(name string) func(path, outside string) error {
	return func(path, outside string) error { return os.Symlink(filepath.Join(outside, name), path) }
}

// Whatever has replaced Scratch is removed, but nothing that it leads to.
func TestEmptyReplaced(t *testing.T) {
	for name, put := range hostilePlaces {
		t.Run(name, func(t *testing.T) {
			outside, check := kerneltest.Secret(t)
			run := t.TempDir()
			beside, scratch := filepath.Join(run, "notebook.ipynb"), filepath.Join(run, "files")
			if err := errors.Join(os.WriteFile(beside, []byte("{}"), 0o644),
				put(scratch, outside)); err != nil {
				t.Fatal(err)
			}
			kerneltest.Within(t, "empty", func() {
				if err := disk.EmptyFolder(scratch); err != nil {
					t.Error(err)
				}
			})
			if entries, err := os.ReadDir(scratch); err != nil || len(entries) != 0 {
				t.Errorf("%v %v", entries, err)
			}
			if info, err := os.Lstat(scratch); err != nil || !info.IsDir() {
				t.Errorf("%v %v", info, err)
			}
			if _, err := os.Stat(beside); err != nil {
				t.Error(err)
			}
			check()
		})
	}
}

// A socket is dialled only if the kernel has created it: a link may lead to another program's.
func TestBoundReplaced(t *testing.T) {
	dir, err := privateDir()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c := zmq.File{Transport: "ipc", IP: filepath.Join(dir, "k"), ShellPort: 1, IOPubPort: 2,
		StdinPort: 3, ControlPort: 4, HBPort: 5}
	for _, port := range []string{"other", "k-1", "k-2", "k-4"} {
		l, err := net.Listen("unix", filepath.Join(dir, port))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	if !c.Bound("") {
		t.Fatal("the kernel listens")
	}
	for _, port := range []string{"k-1", "k-2", "k-3", "k-4"} {
		path := filepath.Join(dir, port)
		for name, put := range map[string]func() error{
			"link": func() error { return os.Symlink("other", path) },
			"file": func() error { return os.WriteFile(path, nil, 0o600) },
			"pipe": func() error { return syscall.Mkfifo(path, 0o600) },
		} {
			_ = os.Rename(path, path+".kept")
			if err := put(); err != nil {
				t.Fatal(err)
			}
			if c.Bound("") {
				t.Errorf("%s is a %s, and is dialled", port, name)
			}
			_ = os.Remove(path)
			_ = os.Rename(path+".kept", path)
		}
	}
}

// Only short regular files are read as connection files.
func TestConnectionReplaced(t *testing.T) {
	outside, _ := kerneltest.Secret(t)
	for _, name := range []string{"pipe", "huge file", "link to a folder"} {
		path := filepath.Join(t.TempDir(), "kernel.json")
		if err := hostilePlaces[name](path, outside); err != nil {
			t.Fatal(err)
		}
		kerneltest.Within(t, "reading a "+name, func() {
			c := zmq.File{Transport: "tcp"}
			if _, err := zmq.Read(path); err == nil || c.Bound(path) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
