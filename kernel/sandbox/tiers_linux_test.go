package sandbox_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"dsstar/kernel"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
)

// open are the attempts that succeed in a tier, as SECURITY.md says.
var open = map[sandbox.Tier][]string{sandbox.Builtin: {"r10_stat_ssh_key"}}

// separate are the attempts that may end the process that makes them.
var separate = []string{"a01_fork_bomb", "a02_thread_bomb", "a04_fd_exhaustion", "a08_memory_bomb",
	"p17_daemon_survives"}

// TestAttacks makes all attempts in every tier: in a kernel, whose sandbox has fewer restrictions,
// and those of separate each in its own Python.
func TestAttacks(t *testing.T) {
	t.Parallel()
	v := newVictims(t)
	for _, box := range boxes(t, v.data) {
		t.Run(string(box.Tier), func(t *testing.T) {
			k, err := kernel.Start(t.Context(), kernel.Options{
				Spec: specIn(t, box.Tier), Dir: v.run, Scratch: v.work, Env: v.environ(), Sandbox: box,
			})
			if err != nil {
				t.Fatal(err)
			}
			out := output(t, k, "import os; os.chdir("+quote(v.work)+")\n"+v.python()+attacks)
			if err := k.Close(); err != nil {
				t.Error(err)
			}
			if strings.Contains(out, v.key) {
				t.Error("the key is in the output")
			}
			v.judge(t, box.Tier, nil, outcomes(t, out))
			v.attackSeparately(t, box)
			v.attackBesideEndpoint(t, box)
			v.unharmed(t)
		})
	}
}

// attackBesideEndpoint makes all attempts in a box that leads to an endpoint: to nothing else, and
// not by a way of its own.
func (v *victims) attackBesideEndpoint(t *testing.T, box sandbox.Box) {
	t.Helper()
	before := v.reached.Load()
	box.Endpoints = []sandbox.Endpoint{v.endpoint}
	v.attackIn(t, box, 0)
	if v.reached.Load() == before {
		t.Error("the endpoint was not reached")
	}
}

// attackSeparately makes the attempts of separate, concurrently.
func (v *victims) attackSeparately(t *testing.T, box sandbox.Box) {
	t.Helper()
	box.Limits.Memory, v.targets["memory"], v.targets["bomb"] = 256<<20, 1000, 600
	var all sync.WaitGroup
	for _, name := range separate {
		all.Go(func() { v.attackIn(t, box, 0, name) })
	}
	all.Wait()
}

// attackIn makes attempts in a box, in a Python without a kernel; abi is the newest version of
// Landlock's interface to use, 0 for any. An attempt of separate may end with the guard's message.
func (v *victims) attackIn(t *testing.T, box sandbox.Box, abi int, names ...string) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Log("no python3")
		return
	}
	s := session(t, v.work)
	script := filepath.Join(s.Private, "attacks.py")
	if err := os.WriteFile(script, []byte(v.python(names...)+attacks), 0o600); err != nil {
		t.Error(err)
		return
	}
	cmd, err := box.Command(&exec.Cmd{Path: python, Args: []string{python, script}, Dir: v.work,
		Env: v.environ()}, s)
	if err != nil {
		t.Error(err)
		return
	}
	if abi > 0 {
		withABI(t, cmd, abi)
	}
	words := run(cmd)
	if strings.Contains(words, v.key) {
		t.Error("the key is in the output")
	}
	if len(names) == 1 && slices.Contains(separate, names[0]) &&
		strings.Contains(words, sandbox.Stopped) {
		return
	}
	v.judge(t, box.Tier, names, outcomes(t, words))
}

func quote(s string) string { return "'" + s + "'" }

// judge compares the outcomes with what a tier promises, for the named attempts or, without names,
// for all except separate.
func (v *victims) judge(t *testing.T, tier sandbox.Tier, names []string,
	results map[string]outcome) {
	t.Helper()
	made := slices.Sorted(maps.Keys(results))
	if len(names) > 0 && !slices.Equal(made, names) || len(names) == 0 &&
		len(made) != attempts-len(separate) {
		t.Errorf("%d attempts were made, of %d: %q", len(made), attempts, made)
	}
	for name, result := range results {
		wanted := slices.Contains(open[tier], name)
		switch {
		case name == "p17_daemon_survives":
			if left := v.daemons(); len(left) > 0 {
				t.Errorf("%s: processes %v are left", name, left)
			}
		case result[0] == "OPEN" && !wanted:
			t.Errorf("%s is open: %s", name, result[1])
		case result[0] != "OPEN" && wanted:
			t.Errorf("%s is said to be open, and is not: %s", name, result[1])
		}
	}
}

// TestAttacksOfPlainPython makes the attempts without a kernel, so also for users without an
// environment.
func TestAttacksOfPlainPython(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("TestAttacks makes them in kernels, and TestAttacksAsUser these as a user")
	}
	v := newVictims(t)
	for _, box := range boxes(t, v.data) {
		t.Run(string(box.Tier), func(t *testing.T) {
			v.attackIn(t, box, 0)
			v.attackSeparately(t, box)
			v.attackBesideEndpoint(t, box)
			v.unharmed(t)
		})
	}
}

// The limit of processes and threads is for the box alone, although Linux counts those of all of a
// user's programs.
func TestLimitBesideOthers(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("Linux does not count root's; TestAttacksAsUser makes it as a user")
	}
	python := userPython(t)
	const threads = `import sys, threading, time
for i in range(int(sys.argv[1])):
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
print('started', flush=True)
`
	other := exec.Command(python, "-c", threads+"time.sleep(600)", "100")
	started(t, other)
	defer func() { _, _ = other.Process.Kill(), other.Wait() }()
	for _, box := range plainBoxes(t) {
		box.Limits.Processes = 50
		if got := said(t, box, os.Environ(), python, "-c", threads, "30"); got != "started\n" {
			t.Errorf("30 threads of 50 in %s, beside 100 of another program: %s", box.Tier, got)
		}
		if got := said(t, box, os.Environ(), python, "-c", threads, "120"); !strings.Contains(got,
			"can't start new thread") {
			t.Errorf("120 threads of 50 in %s: %s", box.Tier, got)
		}
	}
}

// A file that is mapped, and larger than the memory limit, takes no memory that anything else lacks.
func TestMappedFile(t *testing.T) {
	t.Parallel()
	python := userPython(t)
	const size = 400 << 20
	file := filepath.Join(outside(t, map[string]string{"large": ""}), "large")
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
	const touch = `import mmap, sys, time
with open(sys.argv[1], "rb") as f:
    pages = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
n = sum(pages[i] for i in range(0, len(pages), 4096))
time.sleep(2)
print("fine", n)`
	for _, box := range plainBoxes(t) {
		box.Limits.Memory, box.Read = size/2, append(box.Read, filepath.Dir(file))
		if got := said(t, box, os.Environ(), python, "-c", touch, file); got != "fine 0\n" {
			t.Errorf("%s: %s", box.Tier, got)
		}
	}
}

// TestAttacksAsUser makes the attempts as an ordinary user, if the tests run as root.
func TestAttacksAsUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a user runs all of the tests")
	}
	t.Parallel()
	const nobody = 65534
	dir, err := os.MkdirTemp("/var/tmp", "dsstar-user-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "sandbox.test")
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	pyenvtest.WriteProgram(t, program, self)
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	tests := []string{"TestAttacksOfPlainPython", "TestLimitBesideOthers"}
	if os.Getenv("DSSTAR_LONG") != "" {
		tests = append(tests, "TestLimits", "TestLimitsHeavy")
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^("+strings.Join(tests, "|")+")$",
		"-test.v", "-test.timeout=10m")
	cmd.Dir, cmd.Env = dir, []string{
		"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir,
		"CI=" + os.Getenv("CI"), "DSSTAR_FULL=" + os.Getenv("DSSTAR_FULL"), "DSSTAR_LONG=" +
			os.Getenv("DSSTAR_LONG"),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range tests {
		if !bytes.Contains(out, []byte("--- PASS: "+name+" ")) {
			t.Errorf("%s has not passed", name)
		}
	}
}

// TestCompatibility: what cells of an analysis do works without a sandbox and in full, and in
// builtin except for what the documentation names.
func TestCompatibility(t *testing.T) {
	pyenvtest.Long(t)
	v := newVictims(t)
	for _, box := range append(boxes(t, v.data), sandbox.Box{Tier: sandbox.Off}) {
		t.Run(string(box.Tier), func(t *testing.T) {
			k, err := kernel.Start(t.Context(), kernel.Options{
				Spec: kernel.PythonSpec(pyenvtest.Python(t)), Dir: v.work, Scratch: v.work, Env: os.Environ(),
				Sandbox: box,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = k.Close() }()
			failed := incompatible(t, k, v)
			if !slices.Equal(slices.Sorted(maps.Keys(failed)), incompatibleWith[box.Tier]) {
				t.Errorf("these do not work: %q", failed)
			}
			v.unharmed(t)
		})
	}
}

// incompatibleWith is what docs/sandbox.md names.
var incompatibleWith = map[sandbox.Tier][]string{sandbox.Builtin: {
	"multiprocessing manager", "multiprocessing pool", "multiprocessing queue", "print in a child",
	"scikit-learn with n_jobs", // one after the other, with a warning
	"shared memory",
}}

// processesWith returns the processes with text in their environment.
func processesWith(text string) (all []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(text)) {
			all = append(all, file)
		}
	}
	return all
}
