package kerneltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/kernel/pyenv/pyenvtest"
)

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
