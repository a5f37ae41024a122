package sandbox_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dsstar/kernel/sandbox"
)

// TestKept: the data in a folder that cells may write stay as they are, or nothing is run; but for
// data that were named.
func TestKept(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	parent := t.TempDir()
	data := filepath.Join(parent, "data")
	if err := errors.Join(os.Mkdir(data, 0o755), os.WriteFile(data+"/a.csv", []byte("1"), 0o644),
		os.Symlink(parent, parent+"/link")); err != nil {
		t.Fatal(err)
	}
	const code = `import os, sys
here = sys.argv[1]
def can(f, *a):
    try: f(*a); return "yes"
    except OSError as e: return os.strerror(e.errno)
print(can(open, here + "/new", "w"), can(open, here + "/data/a.csv", "a"), can(os.remove, here + "/data/a.csv"), can(os.rename, here + "/data", here + "/moved"), sep="; ")`
	for _, box := range boxes(t, &victims{data: data}) {
		for _, given := range []string{parent, parent + "/link", data} {
			box.Write = []string{given}
			_, err := box.Command(exec.Command(python), sandbox.Session{Private: t.TempDir()})
			if given == data {
				if err != nil {
					t.Errorf("%s: %v", box.Tier, err)
				}
				continue
			}
			if box.Tier == sandbox.Builtin {
				if !errors.Is(err, sandbox.ErrWritable) ||
					!strings.Contains(err.Error(), data+" is in "+given) {
					t.Errorf("%s: %v", box.Tier, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			cmd, _ := commandIn(t, box, python, "-c", code, parent)
			if words := run(cmd, time.Minute); words != "yes; Read-only file system; Read-only file system; Device or resource busy\n" {
				t.Errorf("%s, --allow-write %s: %s", box.Tier, given, words)
			}
		}
	}
}

// TestKeptDeep: what is kept in folders of one that cells write cannot be moved away with these.
func TestKeptDeep(t *testing.T) {
	parent := t.TempDir()
	data, other := filepath.Join(parent, "a/b/data"), filepath.Join(parent, "a/b/data/c/more")
	if err := errors.Join(os.MkdirAll(other, 0o755),
		os.WriteFile(data+"/x.csv", []byte("true"), 0o644)); err != nil {
		t.Fatal(err)
	}
	const code = `cd "$1"; for d in a a/b a/b/data a/b/data/c; do mv $d $d-moved 2>&- && echo moved $d; echo 1 2>&- >$d/new && echo wrote $d; done; rm -rf a 2>&-; cat a/b/data/x.csv`
	for _, box := range boxes(t, &victims{data: data}) {
		if box.Tier != sandbox.Full {
			continue // TestKept: nothing is run
		}
		box.Write, box.Read = []string{parent}, []string{data, other}
		cmd, _ := commandIn(t, box, "/bin/sh", "-c", code, "sh", parent)
		if words := run(cmd, time.Minute); words != "wrote a\nwrote a/b\ntrue" {
			t.Errorf("%q", words)
		}
	}
}

// TestOwn: a run folder in a folder that cells may write stays where it is and as it is, but for
// what the session writes, or nothing is run. A run folder, or temporary files, that cells are
// given by name are refused everywhere.
func TestOwn(t *testing.T) {
	parent := t.TempDir()
	folder := filepath.Join(parent, "runs/r")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	const code = `cd "$1"; for d in runs runs/r runs/r/files; do mv $d $d-moved 2>&- && echo moved $d; done
ln -s / runs/r/variables 2>&- && echo linked; echo 1 2>&- >runs/r/solution.py && echo wrote; echo 1 >runs/r/files/a && echo 1 >new && echo fine`
	for _, box := range boxes(t, &victims{data: t.TempDir()}) {
		box.Own, box.Write = []string{folder}, []string{parent}
		private := t.TempDir()
		cmd, err := box.Command(&exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", code, "sh", parent},
			Dir: "/"}, sandbox.Session{Private: private, Write: []string{folder + "/files"}})
		switch {
		case box.Tier == sandbox.Builtin:
			if !errors.Is(err, sandbox.ErrWritable) || !strings.Contains(err.Error(), folder) {
				t.Errorf("%s: %v", box.Tier, err)
			}
		case err != nil:
			t.Error(err)
		default:
			if words := run(cmd, time.Minute); words != "fine\n" {
				t.Errorf("%s: %q", box.Tier, words)
			}
		}
		for _, given := range []string{folder, filepath.Dir(private)} {
			box.Write = []string{given}
			_, err := box.Command(exec.Command("/bin/true"), sandbox.Session{Private: private})
			if !errors.Is(err, sandbox.ErrWritable) {
				t.Errorf("%s, --allow-write %s: %v", box.Tier, given, err)
			}
		}
	}
}

// TestOwnUnread: cells read nothing of a run folder in a folder that they may read, whatever the
// name by which they have it, but for what is named in the run folder. All else in there is read as
// ever, and all folders are listed.
func TestOwnUnread(t *testing.T) {
	parent, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	files := []string{"a.csv", "runs/b.csv", "runs/other/notebook", "deep/c.csv", "runs/r/variables/v",
		"runs/r/notebook", "runs/r/.aside/f", "runs/r/files/f"}
	for _, name := range files {
		path := filepath.Join(parent, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte("true"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(parent, link); err != nil {
		t.Fatal(err)
	}
	own := parent + "/runs/r"
	l, err := net.Listen("unix", own+"/.aside/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const code = `cd "$1"; shift; for f; do cat $f >/dev/null 2>&1 && echo $f; done
cat "$LINK/runs/r/notebook" 2>&- && echo by the link; echo 1 2>&- >runs/r/new && echo wrote; echo 1 >runs/r/files/new && echo files: $(ls) / $(ls runs)`
	want := strings.Join(files[:5], "\n") +
		"\nruns/r/files/f\nfiles: a.csv deep runs / b.csv other r\n"
	for _, box := range boxes(t, &victims{data: link}) {
		box.Read, box.Own, box.Env = append(box.Read, parent, own+"/variables"), []string{own},
			[]string{"LINK"}
		cmd, err := box.Command(&exec.Cmd{Path: "/bin/sh",
			Args: append([]string{"sh", "-c", code, "sh", parent}, files...), Dir: own + "/files",
			Env: append(os.Environ(), "LINK="+link)},
			sandbox.Session{Private: t.TempDir(), Write: []string{own + "/files"}})
		if err != nil {
			t.Fatal(err)
		}
		if words := run(cmd, time.Minute); words != want {
			t.Errorf("%s: %s\nwant %s", box.Tier, words, want)
		}
	}
}

// TestReplaced: what a box has is what it was when the first session began. In the place of its
// folders, or of one around them, cells of other sessions may have put a link since, or another
// folder a moment ago.
func TestReplaced(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := errors.Join(os.Mkdir(outside+"/files", 0o755),
		os.WriteFile(outside+"/files/key", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	link := func(path string) error {
		return errors.Join(os.RemoveAll(path),
			os.Symlink(outside+"/files", path))
	}
	around := func(path string) error {
		run := filepath.Dir(path)
		return errors.Join(os.Rename(run, run+"-moved"), os.Symlink(outside, run))
	}
	other := func(path string) error {
		return errors.Join(os.Rename(path, path+"-moved"),
			os.Mkdir(path, 0o755))
	}
	for _, box := range boxes(t, &victims{data: t.TempDir()}) {
		for name, replace := range map[string]func(string) error{"link": link, "link around": around,
			"other folder": other} {
			for what, give := range map[string]func(*sandbox.Box, *sandbox.Session, string){
				"working folder": func(_ *sandbox.Box, s *sandbox.Session,
					path string) {
					s.Write = []string{path}
				},
				"read": func(b *sandbox.Box, _ *sandbox.Session,
					path string) {
					b.Read = []string{path}
				},
				"written": func(b *sandbox.Box, _ *sandbox.Session,
					path string) {
					b.Write = []string{path}
				},
			} {
				path := filepath.Join(t.TempDir(), "run/files")
				if err := os.MkdirAll(path, 0o755); err != nil {
					t.Fatal(err)
				}
				b, s := box, sandbox.Session{Private: t.TempDir()}
				give(&b, &s, path)
				command := func() (*exec.Cmd, error) {
					return b.Command(&exec.Cmd{Path: "/bin/ls", Args: []string{"ls", path}, Dir: "/"}, s)
				}
				cmd, err := command()
				if err == nil {
					err = replace(path)
				}
				if err != nil {
					t.Fatal(err)
				}
				if words := run(cmd, time.Minute); !strings.Contains(words, sandbox.ErrReplaced.Error()) ||
					strings.Contains(words, "key") {
					t.Errorf("%s: a %s in the place of the %s, just before it starts: %q", box.Tier, name, what,
						words)
				}
				s.Private = t.TempDir()
				// which could be a new one of ours
				if _, err := command(); errors.Is(err, sandbox.ErrReplaced) != (name != "other folder") {
					t.Errorf("%s: a %s in the place of the %s, before the next session: %v", box.Tier, name, what,
						err)
				}
			}
		}
	}
}

// TestKeptReplaced: nothing runs where cells of another session have put something else in the
// place of what is kept, or of a folder around it, just before it is mounted.
func TestKeptReplaced(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	if err := os.Mkdir(elsewhere+"/r", 0o755); err != nil {
		t.Fatal(err)
	}
	link := func(path string) error { return os.Symlink(elsewhere, path) }
	folder := func(path string) error { return os.MkdirAll(path+"/r", 0o755) }
	for _, box := range plainBoxes(t) {
		if box.Tier != sandbox.Full {
			continue // TestOwn: nothing is run
		}
		for name, put := range map[string]func(string) error{"link": link, "folder": folder} {
			for _, replaced := range []string{"runs/r", "runs"} {
				parent := t.TempDir()
				path := filepath.Join(parent, replaced)
				own := parent + "/runs/r"
				if err := os.MkdirAll(own, 0o755); err != nil {
					t.Fatal(err)
				}
				box.Read, box.Write = []string{own}, []string{parent}
				cmd, err := box.Command(&exec.Cmd{Path: "/bin/echo", Args: []string{"echo", "it ran"},
					Dir: "/"}, sandbox.Session{Private: t.TempDir()})
				if err == nil {
					err = errors.Join(os.Rename(path, path+"-moved"), put(path))
				}
				if err != nil {
					t.Fatal(err)
				}
				words := run(cmd, time.Minute)
				if strings.Contains(words, "it ran") || name == "folder" &&
					!strings.Contains(words, sandbox.ErrReplaced.Error()) {
					t.Errorf("a %s in the place of %s: %q", name, replaced, words)
				}
			}
		}
	}
}

// TestDisks: data in a folder in memory are data as others are, where not all of such folders can
// be written.
func TestDisks(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "dsstar-disk-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(dir+"/x.csv", []byte("true"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, box := range boxes(t, &victims{data: dir}) {
		cmd, _ := commandIn(t, box, "/bin/sh", "-c",
			`cat "$1/x.csv"; echo forged 2>&- >"$1/x.csv" || cat "$1/x.csv"`, "sh", dir)
		if words := run(cmd, time.Minute); words != "truetrue" {
			t.Errorf("%s: %q", box.Tier, words)
		}
		if box.Multiprocessing = true; box.Tier == sandbox.Builtin {
			if _, err := box.Command(exec.Command("/bin/true"),
				sandbox.Session{Private: t.TempDir()}); !errors.Is(err, sandbox.ErrWritable) {
				t.Errorf("with all of /dev/shm to write: %v", err)
			}
		}
		for _, path := range []string{"/dev/shm", "/dev", "/run"} {
			box.Read = []string{path}
			if _, err := box.Command(exec.Command("/bin/true"),
				sandbox.Session{Private: t.TempDir()}); !errors.Is(err, sandbox.ErrExposed) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// TestSockets: a service's socket in a folder that is named for reading or writing is found, and
// cannot be reached in full.
func TestSockets(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir, err := os.MkdirTemp("/var/tmp", "dsv-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var paths []string
	folders := []string{dir + "/data/deep", dir + "/open", dir + "/python/bin"}
	for _, system := range []string{"/opt", "/usr/local"} {
		if service, err := os.MkdirTemp(system, "dsv-"); err == nil { // else this is no root
			defer os.RemoveAll(service)
			folders = append(folders, service)
		}
	}
	for _, folder := range folders {
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.Chmod(folder, 0o755)); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", folder+"/s.sock")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		paths = append(paths, folder+"/s.sock")
	}
	const code = `import socket, sys
for path in sys.argv[1:]:
    try: socket.socket(socket.AF_UNIX).connect(path); print("reached", path)
    except OSError: print("not reached")`
	t.Setenv("PYTHONPATH", dir+"/python")
	for _, box := range boxes(t, &victims{data: dir + "/data"}) {
		box.Write = []string{dir + "/open"}
		cmd, _ := commandIn(t, box, append([]string{python, "-c", code}, paths...)...)
		if words := run(cmd, time.Minute); words != strings.Repeat("not reached\n", len(paths)) {
			t.Errorf("%s: %s", box.Tier, words)
		}
		gone, err := os.MkdirTemp(dir+"/data", "")
		if err == nil {
			err = os.Remove(gone)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd, _ = commandIn(t, box, "/bin/sh", "-c", "echo started")
		withSocket(t, cmd, gone+"/s.sock") // one that went after it was found, with its folder
		if words := run(cmd, time.Minute); words != "started\n" {
			t.Errorf("%s without a socket that was there: %s", box.Tier, words)
		}
	}
}
