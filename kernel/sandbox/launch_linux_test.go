package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"dsstar/kernel/sandbox"
)

// outside makes a folder with files that no box shows by itself; those whose content begins with #!
// are programs.
func outside(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "dsl-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for name, content := range files {
		path := filepath.Join(dir, name)
		mode := os.FileMode(0o600)
		if strings.HasPrefix(content, "#!") {
			mode = 0o700
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "DIR", dir)), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// said runs a command in a box and returns what it writes.
func said(t *testing.T, box sandbox.Box, env []string, argv ...string) string {
	t.Helper()
	return saidIn(t, box, t.TempDir(), env, argv...)
}

// saidIn is said for a folder that the box may write.
func saidIn(t *testing.T, box sandbox.Box, work string, env []string, argv ...string) string {
	t.Helper()
	cmd, err := box.Command(&exec.Cmd{Path: argv[0], Args: argv, Dir: work, Env: env},
		sandbox.Session{Private: t.TempDir(), Write: []string{work}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(&out, err)
	}
	return out.String()
}

// plainBoxes are those of the tiers that work here.
func plainBoxes(t *testing.T) []sandbox.Box { return boxes(t, &victims{data: t.TempDir()}) }

// Folders of libraries and modules that variables name are read, but for the home and its hidden
// folders.
func TestFoldersOfVariables(t *testing.T) {
	dir := outside(t, map[string]string{"home/lib/x": "of lib\n", "home/mods/x": "of mods\n",
		"home/.ssh/x": "of ssh\n", "home/.ssh/sub/x": "of ssh\n", "home/x": "of home\n"})
	home := dir + "/home"
	t.Setenv("HOME", home)
	env := []string{"PATH=/usr/bin:/bin", "LD_LIBRARY_PATH=" + home + "/lib:" + home + ":relative::" +
		dir + "/missing",
		"PYTHONPATH=" + home + "/mods:" + home + "/.ssh:/", "OMP_NUM_THREADS=1", "OMP_NUM_THREADS=2"}
	for _, box := range plainBoxes(t) {
		out := said(t, box, env, "/bin/sh", "-c",
			`cat "$1/lib/x" "$1/mods/x"; echo $OMP_NUM_THREADS "${LD_LIBRARY_PATH%%:*}"; cat "$1/.ssh/x" "$1/x"`, "sh", home)
		if want := "of lib\nof mods\n2 " + home + "/lib\n"; !strings.HasPrefix(out, want) {
			t.Errorf("%s: %q, want %q at first", box.Tier, out, want)
		}
		work := t.TempDir()
		// as a cell of an earlier session could
		if err := os.Symlink(home+"/.ssh", work+"/mods"); err != nil {
			t.Fatal(err)
		}
		out += saidIn(t, box, work, []string{"PATH=/usr/bin:/bin", "PYTHONPATH=" + work + "/mods/sub"},
			"/bin/sh", "-c", `cat "$1/.ssh/sub/x"`, "sh", home)
		if strings.Contains(out, "of ssh") || strings.Contains(out, "of home") {
			t.Errorf("%s: the home is read: %q", box.Tier, out)
		}
	}
}

// Proxies and certificates of one's own go with the network, and only with it.
func TestVariablesOfNetwork(t *testing.T) {
	t.Parallel()
	dir := outside(t, map[string]string{"ca.pem": "a certificate\n", "certs/ca.pem": "another\n"})
	env := []string{"PATH=/usr/bin:/bin", "https_proxy=http://me:secret@proxy:3128",
		"NO_PROXY=localhost", "SSL_CERT_FILE=" + dir + "/ca.pem", "SSL_CERT_DIR=" + dir + "/certs",
		"REQUESTS_CA_BUNDLE=/run", "MY_TOKEN=secret"}
	for _, box := range plainBoxes(t) {
		for _, net := range []bool{false, true} {
			box.Net = net
			out := said(t, box, env, "/bin/sh", "-c", `cat "$1/ca.pem" "$1/certs/ca.pem"; env`, "sh", dir)
			for _, want := range []string{"a certificate\nanother\n",
				"https_proxy=http://me:secret@proxy:3128\n", "NO_PROXY=localhost\n", "SSL_CERT_FILE=" + dir} {
				if got := strings.Contains(out, want); got != net {
					t.Errorf("%s, network %v: %q is there: %v", box.Tier, net, want, got)
				}
			}
			if strings.Contains(out, "MY_TOKEN") {
				t.Errorf("%s: %s", box.Tier, out)
			}
		}
	}
}

// A Python that another program starts is found, with the environment which that makes: as `conda
// run` and kernelspecs' own scripts do.
func TestLaunchers(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := outside(t, map[string]string{
		"bin/conda":   "#!/bin/sh\n# run -n NAME COMMAND\n[ \"$3\" = python3 ] || exit 7\nshift 3\necho activating\nexport CONDA_PREFIX=DIR/envs LD_LIBRARY_PATH=DIR/lib GDAL_DATA=/gdal PROJ_DATA=/proj DB_URL=secret\n[ -x \"$(command -v \"$1\")\" ] && exec \"$@\"\nexit 8\n",
		"script":      "#!/usr/bin/env python3\nimport sys; print('ran', sys.argv[1:])\n",
		"named":       "#!" + "INTERPRETER\nimport sys; print('ran', sys.argv[1:])\n",
		"wrapper.sh":  "#!/bin/sh\n# starts python3\nexec python3 -c \"import sys; print('ran', sys.argv[1:])\" \"$@\"\n",
		"trampoline":  "#!/bin/sh\n'''exec' \"$REAL\" \"$0\" \"$@\"\n' '''\nimport sys; print('ran', sys.argv[1:])\n",
		"lib/x":       "x",
		"envs/y":      "y",
		"mine/foo.py": "foo = 'mine'\n",
	})
	real := strings.TrimSpace(mustRun(t, python, "-c", "import sys; print(sys.executable)"))
	// One that no box shows by itself, by a name that is not python3's.
	for _, name := range []string{"pypy3", "python3"} {
		if err := os.MkdirAll(dir+"/own", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/own/"+name,
			[]byte("#!/bin/sh\nexport PYTHONPATH="+dir+"/mine\nexec "+real+" \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	named, _ := os.ReadFile(dir + "/named")
	if err := os.WriteFile(dir+"/named", bytes.Replace(named, []byte("INTERPRETER"), []byte(real), 1),
		0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "REAL=" + real}
	const show = "import sys, os; print('ran', sys.argv[1:], os.environ.get('CONDA_PREFIX'), os.environ.get('A'))"
	for _, box := range plainBoxes(t) {
		box.Env = []string{"A", "REAL"}
		for name, c := range map[string]struct {
			argv []string
			want string
		}{
			"env": {[]string{"/usr/bin/env", "python3", "-c", show, "a b"},
				"ran ['a b'] None None"},
			"env A": {[]string{"/usr/bin/env", "A=python3", "python3", "-c", show, "a b"},
				"ran ['a b'] None python3"},
			"conda": {[]string{dir + "/bin/conda", "run", "-n", "python3", "python3", "-c", show,
				"a b"}, "ran ['a b'] " + dir + "/envs None"},
			"conda's packages": {[]string{dir + "/bin/conda", "run", "-n", "python3", "python3", "-c",
				"import os; print(*map(os.environ.get, ['GDAL_DATA', 'PROJ_DATA', 'DB_URL']))"},
				"/gdal /proj None"},
			"pypy3":      {[]string{dir + "/own/pypy3", "-c", "import foo; print(foo.foo)"}, "mine"},
			"shim":       {[]string{dir + "/own/python3", "-c", "import foo; print(foo.foo)"}, "mine"},
			"env script": {[]string{dir + "/script", "a b"}, "ran ['a b']"},
			"script":     {[]string{dir + "/named", "a b"}, "ran ['a b']"},
			"trampoline": {[]string{dir + "/trampoline", "a b"}, "ran ['a b']"},
			"wrapper":    {[]string{dir + "/wrapper.sh", "a b"}, "ran ['a b']"},
			"a shell":    {[]string{"/bin/sh", "-c", "echo ran"}, "ran"},
		} {
			if box.Tier == sandbox.Full && name != "conda" {
				continue // what is found out is the same
			}
			if out := strings.TrimSpace(said(t, box, env, c.argv...)); out != c.want {
				t.Errorf("%s in %s: %q, want %q", name, box.Tier, out, c.want)
			}
		}
	}
	cmd := &exec.Cmd{Path: dir + "/bin/conda",
		Args: []string{"conda", "run", "-n", "other", "python3"}, Env: env}
	if _, err := (sandbox.Box{Tier: sandbox.Builtin}).Command(cmd,
		sandbox.Session{Private: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("a launcher that fails: %v", err)
	}
}

// Packages that a user has installed for himself are found, though his home is another in the box.
func TestPackagesOfUser(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	home := outside(t, map[string]string{"x": "of home"})
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, "PYENV_") {
			env = append(env, entry)
		}
	}
	cmd := exec.Command(python, "-c",
		"import os, site; d = site.getusersitepackages(); os.makedirs(d); open(d + '/of_user.py', 'w').write('name = 1')")
	if cmd.Env = env; cmd.Run() != nil {
		t.Skip("there are no packages of users")
	}
	for _, box := range plainBoxes(t) {
		if out := said(t, box, env, python, "-c", "import of_user; print(of_user.name)"); out != "1\n" {
			t.Errorf("%s: %s", box.Tier, out)
		}
	}
}

// TestAsksNothingWritable: of what cells could have changed nothing runs outside, where dsstar asks
// a Python for its modules; the cells have their modules all the same.
func TestAsksNothingWritable(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := outside(t, map[string]string{
		"open/sitecustomize.py": "import os\ntry: open('DIR/escaped', 'w')\nexcept OSError: pass\n",
		"open/mine.py":          "name = 'mine'\n", "open/x": "", "x": "",
		"open/python3": "#!/bin/sh\ntouch DIR/escaped\n",
		"open/script":  "#!/usr/bin/touch DIR/escaped python3\n",
	})
	// Environments in the folder, and one outside that has a module's folder in it, as pip install
	// -e leaves it.
	mustRun(t, python, "-m", "venv", "--without-pip", dir+"/open/venv")
	mustRun(t, python, "-m", "venv", "--without-pip", dir+"/venv")
	packages := strings.TrimSpace(mustRun(t, dir+"/venv/bin/python3", "-c",
		"import site; print(site.getsitepackages()[0])"))
	if err := os.WriteFile(packages+"/editable.pth", []byte(dir+"/open\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, box := range plainBoxes(t) {
		// The answer is remembered for sessions that write elsewhere, and not where it is no longer safe.
		cmd := exec.Command(dir + "/venv/bin/python3")
		cmd.Env = []string{"HOME=" + dir, "B=" + string(box.Tier)}
		if _, err := box.Command(cmd, sandbox.Session{Private: t.TempDir()}); err != nil {
			t.Error(err)
		}
		if err := os.Rename(dir+"/venv/bin", dir+"/venv/gone"); err != nil { // nobody can answer
			t.Fatal(err)
		}
		if _, err := box.Command(cmd, sandbox.Session{Private: t.TempDir(),
			Write: []string{t.TempDir()}}); err != nil {
			t.Errorf("%s: asked again: %v", box.Tier, err)
		}
		if err := os.Rename(dir+"/venv/gone", dir+"/venv/bin"); err != nil {
			t.Fatal(err)
		}
		box.Write = []string{dir + "/open"}
		if _, err := box.Command(cmd, sandbox.Session{Private: t.TempDir()}); !errors.Is(err,
			sandbox.ErrWritable) {
			t.Errorf("%s: remembered: %v", box.Tier, err)
		}
		_ = os.Remove(dir + "/escaped") // the first was told to write nowhere, and may run it
		for name, c := range map[string]struct {
			env  string
			argv []string
			said string // "": it is refused
		}{
			"PYTHONPATH": {"PYTHONPATH=" + dir + "/open",
				[]string{python, "-c", "import mine; print(mine.name)"}, "mine\n"},
			"venv":       {"A=", []string{dir + "/open/venv/bin/python3", "-c", ""}, ""},
			"editable":   {"A=", []string{dir + "/venv/bin/python3", "-c", ""}, ""},
			"first line": {"A=", []string{dir + "/open/script"}, ""},
			"in PATH": {"PATH=" + dir + "/open:/usr/bin:/bin",
				[]string{"/usr/bin/env", "python3", "-c", ""}, ""},
			"PYTHONUSERBASE": {"PYTHONUSERBASE=" + dir + "/open", []string{python, "-c", "print(1)"}, "1\n"},
			"not a Python":   {"PATH=" + dir + "/open", []string{"/bin/echo", "2"}, "2\n"},
		} {
			env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, c.env}
			if c.said != "" {
				if out := said(t, box, env, c.argv...); out != c.said {
					t.Errorf("%s in %s: %q, want %q", name, box.Tier, out, c.said)
				}
			} else if _, err := box.Command(&exec.Cmd{Path: c.argv[0], Args: c.argv, Env: env},
				sandbox.Session{Private: t.TempDir()}); !errors.Is(err, sandbox.ErrWritable) {
				t.Errorf("%s in %s: %v", name, box.Tier, err)
			}
			if os.Remove(dir+"/escaped") == nil {
				t.Errorf("%s in %s: code of the cells ran outside", name, box.Tier)
			}
		}
	}
}

// TestAsksInIsolation: where dsstar asks a Python for its modules nothing of the current folder and
// of PYTHONPATH runs outside (S2); cells import from PYTHONPATH all the same.
func TestAsksInIsolation(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	const escape = "try: open('DIR/escaped', 'w')\nexcept OSError: pass\n"
	dir := outside(t, map[string]string{
		"sitecustomize.py": escape, "usercustomize.py": escape, "json.py": escape,
		"mine.py": "name = 'mine'\n",
	})
	t.Chdir(dir)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "PYTHONPATH=:" + dir}
	for _, box := range plainBoxes(t) {
		out := said(t, box, append(env, "B="+string(box.Tier)), python, "-c",
			"import mine; print(mine.name)")
		if out != "mine\n" {
			t.Errorf("%s: %q", box.Tier, out)
		}
		if os.Remove(dir+"/escaped") == nil {
			t.Errorf("%s: code of the current folder ran outside", box.Tier)
		}
	}
}

func mustRun(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A device of a graphics processor is opened, and reached by ioctl, with the flag alone. The one
// here is /dev/null's with another name.
func TestGPU(t *testing.T) {
	t.Parallel()
	device := fmt.Sprintf("/dev/nvidia-dsstar-test-%d", os.Getpid())
	if err := unix.Mknod(device, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		t.Skipf("no device can be made: %v", err)
	}
	t.Cleanup(func() { _ = os.Remove(device) })
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	env := append(os.Environ(), "CUDA_VISIBLE_DEVICES=1", "NVIDIA_API_KEY=secret")
	const use = `import fcntl, os, sys
print(os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("NVIDIA_API_KEY"))
try: fd = os.open(sys.argv[1], os.O_RDWR)
except OSError as e: sys.exit(print(type(e).__name__))
try: fcntl.ioctl(fd, 0x4600)
except OSError as e: print("ioctl", e.errno)`
	for _, box := range plainBoxes(t) {
		closed := map[sandbox.Tier]string{sandbox.Builtin: "None None\nPermissionError\n",
			sandbox.Full: "None None\nFileNotFoundError\n"}[box.Tier]
		if out := said(t, box, env, python, "-c", use, device); out != closed {
			t.Errorf("%s: %q, want %q", box.Tier, out, closed)
		}
		box.GPU = true
		if want, out := fmt.Sprintf("1 None\nioctl %d\n", unix.ENOTTY),
			said(t, box, env, python, "-c", use, device); out != want {
			t.Errorf("%s with graphics processors: %q, want %q", box.Tier, out, want)
		}
		if words := box.Describe(sandbox.Limits{}); !strings.Contains(words,
			"graphics processors allowed") {
			t.Error(words)
		}
	}
}
