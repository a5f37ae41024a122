package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/kernel/sandbox"
)

// TestWritable: nothing runs if cells could write to data, a run folder or temporary files, except to
// data that --allow-write names.
func TestWritable(t *testing.T) {
	parent, runs, private := t.TempDir(), t.TempDir(), t.TempDir()
	data, own := parent+"/a/data", runs+"/r"
	folders(t, data+"/more", own)
	ok(t, os.Symlink(parent, private+"/link"))
	for _, box := range boxes(t) {
		for _, c := range []struct {
			read, write, found string
		}{
			{data, parent, data}, {data, private + "/link", data}, {data + "/more", data, data + "/more"},
			{data, data, ""}, {data, runs, own}, {data, own, own},
			{data, private, private},
		} {
			box.Read, box.Write, box.Own = []string{c.read}, []string{c.write}, []string{own}
			_, err := box.Command(exec.Command("/bin/true"),
				sandbox.Session{Private: must(os.MkdirTemp(private, ""))})
			if errors.Is(err, sandbox.ErrWritable) != (c.found != "") ||
				err != nil && !strings.Contains(err.Error(), c.found+" is in ") {
				t.Errorf("%s: %+v: %v", box.Tier, c, err)
			}
		}
	}
}

// TestOwnUnread: cells cannot read a run folder in a folder that they can read, under whatever
// name, except what is named inside it. Everything else there can be read, and all folders can be
// listed.
func TestOwnUnread(t *testing.T) {
	parent := must(filepath.EvalSymlinks(t.TempDir()))
	to := filepath.Join(t.TempDir(), "link")
	files := []string{"a.csv", "runs/b.csv", "runs/other/notebook", "deep/c.csv", "runs/r/variables/v",
		"runs/r/notebook", "runs/r/.aside/f", "runs/r/files/f"}
	for _, name := range files {
		write(t, parent, map[string]string{name: "true"})
	}
	ok(t, os.Symlink(parent, to))
	own := parent + "/runs/r"
	listen(t, "unix", own+"/.aside/s")
	const code = `cd "$1"; shift; for f; do cat $f >/dev/null 2>&1 && echo $f; done
cat "$LINK/runs/r/notebook" 2>&- && echo by the link; echo 1 2>&- >runs/r/new && echo wrote
echo 1 >runs/r/files/new && echo files: $(ls) / $(ls runs)`
	want := strings.Join(files[:5], "\n") +
		"\nruns/r/files/f\nfiles: a.csv deep runs / b.csv other r\n"
	for _, box := range boxes(t, to) {
		box.Read, box.Own, box.Env = append(box.Read, parent, own+"/variables"), []string{own},
			[]string{"LINK"}
		words := run(command(t, box, session(t, own+"/files"), own+"/files",
			append(os.Environ(), "LINK="+to),
			append([]string{"/bin/sh", "-c", code, "sh", parent}, files...)...))
		if words != want {
			t.Errorf("%s: %s\nwant %s", box.Tier, words, want)
		}
	}
}

// TestReplaced: a box refers to the files that were there when the first session began. Cells of
// other sessions may have replaced its folders, or folders around them, by links since, or by
// another folder a moment ago.
func TestReplaced(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, map[string]string{"files/key": ""})
	for _, box := range boxes(t) {
		for name, c := range map[string]struct{ folder, link string }{
			"link": {"/run/files", outside + "/files"}, "link around": {"/run", outside},
			"other folder": {"/run/files", ""},
		} {
			for _, reads := range []bool{false, true} {
				base := t.TempDir()
				path, replaced := base+"/run/files", base+c.folder
				folders(t, path)
				b, s := box, session(t)
				if reads {
					b.Read = []string{path}
				} else {
					s.Write = []string{path}
				}
				cmd := command(t, b, s, "/", nil, "/bin/ls", path)
				ok(t, os.Rename(replaced, replaced+"-moved"))
				if c.link == "" {
					folders(t, replaced)
				} else {
					ok(t, os.Symlink(c.link, replaced))
				}
				if words := run(cmd); !strings.Contains(words, sandbox.ErrReplaced.Error()) ||
					strings.Contains(words, "key") {
					t.Errorf("%s: a %s just before it starts, it reads %v: %q", box.Tier, name, reads, words)
				}
				s.Private = t.TempDir()
				// another folder could be a new one of ours
				_, err := b.Command(exec.Command("/bin/ls", path), s)
				if errors.Is(err, sandbox.ErrReplaced) != (name != "other folder") {
					t.Errorf("%s: a %s before the next session, it reads %v: %v", box.Tier, name, reads, err)
				}
			}
		}
	}
}

// TestDisks: data in a folder in memory are like other data, unless all of that file system is
// writable.
func TestDisks(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "dsstar-disk-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	write(t, dir, map[string]string{"x.csv": "true"})
	for _, box := range boxes(t, dir) {
		words := said(t, box, nil, "/bin/sh", "-c",
			`cat "$1/x.csv"; echo forged 2>&- >"$1/x.csv" || cat "$1/x.csv"`, "sh", dir)
		if words != "truetrue" {
			t.Errorf("%s: %q", box.Tier, words)
		}
		box.Multiprocessing = true // then all of /dev/shm is writable in builtin
		for path, want := range map[string]error{dir: sandbox.ErrWritable, "/dev/shm": sandbox.ErrExposed,
			"/dev": sandbox.ErrExposed, "/run": sandbox.ErrExposed} {
			if path == dir && box.Tier == sandbox.Full {
				want = nil
			}
			box.Read = []string{path}
			if _, err := box.Command(exec.Command("/bin/true"), session(t)); !errors.Is(err, want) {
				t.Errorf("%s: %s: %v, want %v", box.Tier, path, err, want)
			}
		}
	}
}

// TestSockets: a service's socket in a folder named for reading or writing is found, and cannot be
// reached in full.
func TestSockets(t *testing.T) {
	python := userPython(t)
	dir := outside(t, nil)
	services := []string{dir + "/data/deep", dir + "/open", dir + "/python/bin"}
	for _, system := range []string{"/opt", "/usr/local"} {
		if service, err := os.MkdirTemp(system, "dsv-"); err == nil { // otherwise this is not root
			defer os.RemoveAll(service)
			services = append(services, service)
		}
	}
	var paths []string
	for _, folder := range services {
		folders(t, folder)
		ok(t, os.Chmod(folder, 0o755))
		listen(t, "unix", folder+"/s.sock")
		paths = append(paths, folder+"/s.sock")
	}
	const code = `import socket, sys
for path in sys.argv[1:]:
    try: socket.socket(socket.AF_UNIX).connect(path); print("reached", path)
    except OSError: print("not reached")`
	t.Setenv("PYTHONPATH", dir+"/python")
	for _, box := range boxes(t, dir+"/data") {
		box.Write = []string{dir + "/open"}
		words := said(t, box, os.Environ(), append([]string{python, "-c", code}, paths...)...)
		if words != strings.Repeat("not reached\n", len(paths)) {
			t.Errorf("%s: %s", box.Tier, words)
		}
		cmd := commandIn(t, box, os.Environ(), "/bin/echo", "started")
		withStage(t, cmd, "Sockets", []string{dir + "/data/gone/s.sock"}) // removed after it was found, with its folder
		if words := run(cmd); words != "started\n" {
			t.Errorf("%s without a socket that was there: %s", box.Tier, words)
		}
	}
}
