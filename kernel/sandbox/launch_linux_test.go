package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dsstar/kernel/sandbox"
)

// Cells can read the folders of libraries and modules that variables name, except the home and its
// hidden folders. Proxy and certificate variables are kept if the network is allowed, and only then.
func TestVariables(t *testing.T) {
	dir := outside(t, map[string]string{"home/lib/x": "of lib\n", "home/mods/x": "of mods\n",
		"home/.ssh/x": "of ssh\n", "home/.ssh/sub/x": "of ssh\n", "home/x": "of home\n",
		"ca.pem": "a certificate\n", "certs/ca.pem": "another\n"})
	home := dir + "/home"
	t.Setenv("HOME", home)
	network := []string{"https_proxy=http://me:secret@proxy:3128", "NO_PROXY=localhost",
		"SSL_CERT_FILE=" + dir + "/ca.pem"}
	env := append(network, "SSL_CERT_DIR="+dir+"/certs", "REQUESTS_CA_BUNDLE=/run", "MY_TOKEN=secret",
		"PATH=/usr/bin:/bin", "OMP_NUM_THREADS=1", "OMP_NUM_THREADS=2",
		"LD_LIBRARY_PATH="+home+"/lib:"+home+":relative::"+dir+"/missing",
		"PYTHONPATH="+home+"/mods:"+home+"/.ssh:/")
	for _, box := range boxes(t) {
		for _, box.Net = range []bool{false, true} {
			out := said(t, box, env, "/bin/sh", "-c", `cd "$1"; cat home/lib/x home/mods/x; env
cat home/.ssh/x home/x ca.pem certs/ca.pem`, "sh", dir)
			wanted := map[string]bool{"of lib\nof mods\n": true, "OMP_NUM_THREADS=2\n": true,
				"SHELL=/bin/bash\n": true, "of ssh": false, "of home": false, "MY_TOKEN": false,
				"a certificate\nanother\n": box.Net}
			for _, entry := range network {
				wanted[entry] = box.Net
			}
			for text, want := range wanted {
				if strings.Contains(out, text) != want {
					t.Errorf("%s, network %v: %q in %q", box.Tier, box.Net, text, out)
				}
			}
		}
		work := t.TempDir()
		ok(t, os.Symlink(home+"/.ssh", work+"/mods")) // as a cell of an earlier session could
		if out := run(command(t, box, session(t, work), work, []string{"PYTHONPATH=" + work + "/mods/sub"},
			"/bin/cat", home+"/.ssh/sub/x")); strings.Contains(out, "of ssh") {
			t.Errorf("%s: the home is read: %q", box.Tier, out)
		}
	}
}

// A Python that another program starts is found, with the environment that this program creates, as
// for `conda run` and kernelspecs' scripts. So are packages that a user has installed for the user
// alone, though the home is another one in the box.
func TestLaunchers(t *testing.T) {
	t.Parallel()
	real := outputOf(t, userPython(t), "-c", "import sys; print(sys.executable)")
	const ran = "import sys; print('ran', sys.argv[1:])"
	own := "#!/bin/sh\nexport PYTHONPATH=DIR/mine\nexec " + real + " \"$@\"\n"
	dir := outside(t, map[string]string{
		"bin/conda": `#!/bin/sh
# run -n NAME COMMAND
[ "$3" = python3 ] || exit 7
shift 3
echo activating
export CONDA_PREFIX=DIR/envs LD_LIBRARY_PATH=DIR/lib GDAL_DATA=/gdal DB_URL=secret
[ -x "$(command -v "$1")" ] && exec "$@"
exit 8
`,
		"script":     "#!/usr/bin/env python3\n" + ran,
		"named":      "#!" + real + "\n" + ran,
		"wrapper.sh": "#!/bin/sh\necho ran \"$@\"\n",
		"lib/x":      "x", "envs/y": "y", "mine/foo.py": "foo = 'mine'\n",
		// That no box shows by itself, by a name that is not python3's.
		"own/pypy3": own, "own/python3": own,
	})
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir + "/home", "PYTHONHASHSEED=0",
		"PYTHONHASHSEED=1"}
	user := exec.Command(real, "-c", "import os, site; d = site.getusersitepackages(); "+
		"os.makedirs(d); open(d + '/of_user.py', 'w').write('name = 1')")
	user.Env = env
	noneOfUser := user.Run()
	if noneOfUser != nil {
		t.Log("this system has no packages of users: ", noneOfUser)
	}
	const show = ran + "; import os; print(*map(os.environ.get, ['CONDA_PREFIX', 'A', 'GDAL_DATA', 'DB_URL']))"
	conda := []string{dir + "/bin/conda", "run", "-n", "python3", "python3", "-c"}
	for _, box := range boxes(t) {
		box.Env = []string{"A"}
		for name, c := range map[string]struct {
			argv []string
			want string
		}{
			"conda": {append(conda[:6:6], show, "a b"), "ran ['a b']\n" + dir + "/envs None /gdal None"},
			"env A": {[]string{"/usr/bin/env", "A=python3", "python3", "-c", show, "a b"},
				"ran ['a b']\nNone python3 None None"},
			"pypy3":      {[]string{dir + "/own/pypy3", "-c", "import foo; print(foo.foo)"}, "mine"},
			"shim":       {[]string{dir + "/own/python3", "-c", "import foo; print(foo.foo)"}, "mine"},
			"env script": {[]string{dir + "/script", "a b"}, "ran ['a b']"},
			"script":     {[]string{dir + "/named", "a b"}, "ran ['a b']"},
			"wrapper":    {[]string{dir + "/wrapper.sh", "a b"}, "ran a b"},
			"last value": {[]string{real, "-c", "import os; print(os.environ['PYTHONHASHSEED'])"}, "1"},
			"a shell":    {[]string{"/bin/sh", "-c", "echo ran"}, "ran"},
			"of user":    {[]string{real, "-c", "import of_user; print(of_user.name)"}, "1"},
		} {
			if name == "of user" && noneOfUser != nil || box.Tier == sandbox.Full &&
				!strings.Contains("conda, of user", name) {
				continue // in full, the result of the others is the same
			}
			if out := strings.TrimSpace(said(t, box, env, c.argv...)); out != c.want {
				t.Errorf("%s in %s: %q, want %q", name, box.Tier, out, c.want)
			}
		}
	}
	cmd := exec.Command(conda[0], "run", "-n", "other", "python3")
	cmd.Env = env
	if _, err := (sandbox.Box{Tier: sandbox.Builtin}).Command(cmd, session(t)); err == nil {
		t.Error("a launcher that fails is no error")
	}
}

// TestAsksNothingWritable: when dsstar asks a Python for its modules, nothing that cells could have
// changed runs outside; the cells have their modules all the same.
func TestAsksNothingWritable(t *testing.T) {
	t.Parallel()
	python := userPython(t)
	dir := outside(t, map[string]string{
		"open/sitecustomize.py": "import os\ntry: open('DIR/escaped', 'w')\nexcept OSError: pass\n",
		"open/mine.py":          "name = 'mine'\n",
		"open/python3":          "#!/bin/sh\ntouch DIR/escaped\n",
		"open/script":           "#!/usr/bin/touch DIR/escaped python3\n",
	})
	// Environments in the folder, and one outside that has a module's folder in it, as pip install
	// -e leaves it.
	outputOf(t, python, "-m", "venv", "--without-pip", dir+"/open/venv")
	outputOf(t, python, "-m", "venv", "--without-pip", dir+"/venv")
	packages := outputOf(t, dir+"/venv/bin/python3", "-c",
		"import site; print(site.getsitepackages()[0])")
	write(t, packages, map[string]string{"editable.pth": dir + "/open\n"})
	box := boxIn(t, sandbox.Builtin, t.TempDir()) // in full, the same is asked
	// The answer is cached for sessions that write elsewhere, but not used where it is no longer
	// safe.
	cmd := exec.Command(dir + "/venv/bin/python3")
	cmd.Env = []string{"HOME=" + dir}
	_, err := box.Command(cmd, session(t))
	check(t, err)
	ok(t, os.Rename(dir+"/venv/bin", dir+"/venv/gone")) // there is no Python to answer
	_, err = box.Command(cmd, session(t, t.TempDir()))
	check(t, err)
	ok(t, os.Rename(dir+"/venv/gone", dir+"/venv/bin"))
	box.Write = []string{dir + "/open"}
	if _, err = box.Command(cmd, session(t)); !errors.Is(err, sandbox.ErrWritable) {
		t.Errorf("%s: remembered: %v", box.Tier, err)
	}
	_ = os.Remove(dir + "/escaped") // the first session writes nowhere, so it may be run
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
			session(t)); !errors.Is(err, sandbox.ErrWritable) {
			t.Errorf("%s in %s: %v", name, box.Tier, err)
		}
		if os.Remove(dir+"/escaped") == nil {
			t.Errorf("%s in %s: code of the cells ran outside", name, box.Tier)
		}
	}
}

// A device of a graphics processor can be opened, and used by ioctl, only with the flag. The one
// here is /dev/null under another name.
func TestGPU(t *testing.T) {
	t.Parallel()
	python := userPython(t)
	device := fmt.Sprintf("/dev/nvidia-dsstar-test-%d", os.Getpid())
	if err := unix.Mknod(device, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		t.Skipf("no device can be made: %v", err)
	}
	t.Cleanup(func() { _ = os.Remove(device) })
	env := append(os.Environ(), "CUDA_VISIBLE_DEVICES=1", "NVIDIA_API_KEY=secret")
	const use = `import fcntl, os, sys
print(os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("NVIDIA_API_KEY"))
try: fd = os.open(sys.argv[1], os.O_RDWR)
except OSError as e: sys.exit(print(type(e).__name__))
try: fcntl.ioctl(fd, 0x4600)
except OSError as e: print("ioctl", e.errno)`
	for _, box := range boxes(t) {
		want := map[sandbox.Tier]string{sandbox.Builtin: "None None\nPermissionError\n",
			sandbox.Full: "None None\nFileNotFoundError\n"}[box.Tier]
		for _, box.GPU = range []bool{false, true} {
			if out := said(t, box, env, python, "-c", use, device); out != want {
				t.Errorf("%s, graphics processors %v: %q, want %q", box.Tier, box.GPU, out, want)
			}
			want = fmt.Sprintf("1 None\nioctl %d\n", unix.ENOTTY)
		}
	}
}
