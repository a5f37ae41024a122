package kerneltest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/kernel/pyenv/pyenvtest"
)

// The fake kernel passes the 12 tests of jupyter_kernel_test, over TCP, Unix sockets and
// without signatures; jupyter_client observes its faults.
func TestCertified(t *testing.T) {
	pyenvtest.Long(t)
	home := t.TempDir()
	for _, f := range []Fault{None, Deaf, NoShutdownReply, Grandchildren, SlowStart, NullDates,
		NoStdin, NoControl, Late, Duplicates} {
		if err := writeSpecs(home, "python",
			map[string]map[string]any{string(f): {"argv": Argv(f), "language": "fake"}}); err != nil {
			t.Fatal(err)
		}
	}
	python := pyenvtest.Tools(t)
	for class, wanted := range map[string]int{"Certified": 12, "OverIPC": 12, "Unsigned": 13,
		"Behaviour": 18} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), python, "testdata/certify.py", class)
			cmd.Env = append(os.Environ(), "JUPYTER_DATA_DIR="+home,
				"JUPYTER_RUNTIME_DIR="+filepath.Join(home, "runtime"),
				"JUPYTER_CONFIG_DIR="+home, "JUPYTER_NO_CONFIG=1", "JUPYTER_PREFER_ENV_PATH=0", "HOME="+home,
				"TMPDIR="+home)
			out, err := cmd.CombinedOutput()
			if err != nil || bytes.Contains(out, []byte("DATA RACE")) {
				t.Fatalf("%v\n%s", err, out)
			}
			if ran, skipped := number(out, `(?m)^Ran (\d+) tests`),
				number(out, `skipped=(\d+)`); ran < wanted || skipped > 0 {
				t.Errorf("%d tests ran and %d were skipped, want %d and none\n%s", ran, skipped, wanted, out)
			}
		})
	}
}

// number returns the number that pattern captures, or 0.
func number(text []byte, pattern string) int {
	found := regexp.MustCompile(pattern).FindSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1])) // the patterns have digits only
	return n
}

// A kernel with checkpoints passes what a plain ipykernel passes.
func TestCheckpointKernelCertified(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are checkpoints on Linux only")
	}
	pyenvtest.Long(t)
	home, python := t.TempDir(), pyenvtest.Tools(t)
	withCheckpoints, err := checkpoint.Spec(kernel.PythonSpec(python),
		filepath.Join(home, "packages"))
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]map[string]any{}
	for name, s := range map[string]kernel.Spec{"plain": kernel.PythonSpec(python),
		"checkpoints": withCheckpoints} {
		argv := slices.DeleteFunc(slices.Clone(s.Argv),
			func(arg string) bool { return strings.Contains(arg, "HistoryManager") })
		specs[name] = map[string]any{"argv": argv, "language": "python"}
		if s.Env != nil {
			specs[name]["env"] = s.Env
		}
	}
	if err := writeSpecs(home, python, specs); err != nil {
		t.Fatal(err)
	}
	passed := map[string][]string{}
	for name := range specs {
		cmd := exec.CommandContext(t.Context(), python, "testdata/certify_python.py", name)
		cmd.Env = append(os.Environ(), "JUPYTER_DATA_DIR="+home,
			"JUPYTER_RUNTIME_DIR="+filepath.Join(home, "runtime"),
			"JUPYTER_CONFIG_DIR="+home, "JUPYTER_NO_CONFIG=1", "JUPYTER_PREFER_ENV_PATH=0", "HOME="+home,
			"IPYTHONDIR="+home)
		out, _ := cmd.CombinedOutput() // fails if any test does
		for _, m := range regexp.MustCompile(`passed (test_\w+)`).FindAllSubmatch(out, -1) {
			passed[name] = append(passed[name], string(m[1]))
		}
		t.Logf("%s\n%s", name, out)
	}
	if len(passed["plain"]) < 20 {
		t.Errorf("a plain ipykernel passes %q only", passed["plain"])
	}
	for _, test := range passed["plain"] {
		if !slices.Contains(passed["checkpoints"], test) {
			t.Errorf("with checkpoints %s fails", test)
		}
	}
}
