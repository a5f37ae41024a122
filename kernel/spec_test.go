package kernel

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// put writes a kernelspec into <data>/kernels/<name>.
func put(t testing.TB, data, name, content string) {
	t.Helper()
	dir := filepath.Join(data, "kernels", name)
	ok(t, os.MkdirAll(dir, 0o700))
	ok(t, os.WriteFile(filepath.Join(dir, "kernel.json"), []byte(content), 0o600))
}

// lookup returns a Lookup that sees env, and system folders without kernels.
func lookup(home string, env map[string]string, prefixes ...string) Lookup {
	return Lookup{Home: home, Prefixes: prefixes, Getenv: func(k string) string { return env[k] }}
}

func TestSpecs(t *testing.T) {
	home, extra, venv := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, extra, "First", `{"argv": ["a", "{connection_file}"], "display_name": "from JUPYTER_PATH", "language": "a",
		"env": {"K": "v"}, "interrupt_mode": "message", "metadata": {"debugger": true}, "unknown": 1}`)
	put(t, filepath.Join(home, "data"), "first", `{"argv": ["b"], "display_name": "hidden"}`)
	put(t, filepath.Join(home, "data"), "python3",
		`{"argv": ["python"], "display_name": "the user's"}`)
	put(t, filepath.Join(venv, "share", "jupyter"), "python3",
		`{"argv": ["python"], "display_name": "the environment's"}`)
	put(t, filepath.Join(home, "data"), "broken", `{`)
	put(t, filepath.Join(home, ".ipython"), "old", `{"argv": ["c"], "display_name": "old"}`)
	ok(t, os.WriteFile(filepath.Join(home, "data", "kernels", "stray"), nil, 0o600))
	env := map[string]string{"JUPYTER_PATH": extra, "JUPYTER_DATA_DIR": filepath.Join(home, "data")}

	specs, err := Specs(lookup(home, env, venv))
	fails(t, err, "broken")
	found := map[string]string{}
	for _, s := range specs {
		found[s.Name] = s.DisplayName
	}
	for name, want := range map[string]string{"first": "from JUPYTER_PATH", "python3": "the user's",
		"old": "old"} {
		equal(t, name, found[name], want)
	}

	first, err := FindSpec("FIRST", lookup(home, env))
	ok(t, err)
	want := Spec{
		Name: "first", Dir: filepath.Join(extra, "kernels", "First"), DisplayName: "from JUPYTER_PATH",
		Language: "a",
		Argv:     []string{"a", "{connection_file}"}, Env: map[string]string{"K": "v"},
		InterruptMode: "message",
		Metadata:      map[string]any{"debugger": true},
	}
	if d := cmp.Diff(want, first); d != "" {
		t.Error(d)
	}

	_, err = FindSpec("julia", lookup(home, env))
	missing, _ := errors.AsType[*SpecNotFoundError](err)
	if missing == nil || missing.Name != "julia" || !slices.Contains(missing.Available, "first") ||
		missing.Searched[0] != filepath.Join(extra, "kernels") {
		t.Errorf("error %v: %+v", err, missing)
	}
	if len(Lookup{}.Dirs()) > 2 {
		t.Errorf("an empty lookup searches %v", Lookup{}.Dirs())
	}

	env["VIRTUAL_ENV"] = venv // an active environment wins
	s, err := FindSpec("python3", lookup(home, env))
	if err != nil || s.DisplayName != "the environment's" || s.prefix() != venv {
		t.Errorf("%v %+v", err, s)
	}
}

// "python" in a kernelspec is the Python of the environment that the kernelspec is in.
func TestSpecPython(t *testing.T) {
	venv := t.TempDir()
	python := filepath.Join(venv, "bin", "python")
	ok(t, os.MkdirAll(filepath.Dir(python), 0o700))
	ok(t, os.WriteFile(python, nil, 0o700))
	s := Spec{Dir: filepath.Join(venv, "share", "jupyter", "kernels", "p"),
		Argv: []string{"python", "{prefix}", "{resource_dir}", "{connection_file}"}}
	cmd, err := s.command("/c.json", "/", []string{"PATH=/nowhere"})
	ok(t, err)
	equal(t, "program", cmd.Path, python)
	if d := cmp.Diff([]string{python, venv, s.Dir, "/c.json"}, cmd.Args); d != "" {
		t.Error(d)
	}
	// else !python is another one
	equal(t, "PATH", cmd.Env[len(cmd.Env)-1], "PATH="+venv+"/bin:/nowhere")
	s.Argv[0] = "sh"
	_, err = s.command("/c.json", "/", []string{"PATH=/nowhere"})
	fails(t, err, exec.ErrNotFound)
}

// An ipykernel is known by its module or its program.
func TestSpecIPython(t *testing.T) {
	for argv, want := range map[string]struct {
		python string
		is     bool
	}{
		"conda run python -m ipykernel_launcher -f x": {"conda run python", true},
		"python -m ipykernel":                         {"python", true},
		"python -Xutf8 -m ipykernel.kernelapp":        {"python -Xutf8", true},
		"python -m undokernel":                        {"python", true},
		"/opt/bin/ipykernel_launcher -f x":            {"", true},
		"python -m ipykernels":                        {},
		"python -m bash_kernel -f ipykernel":          {},
		"R --slave":                                   {},
	} {
		s := Spec{Argv: strings.Fields(argv)}
		equal(t, argv, strings.Join(s.Python(), " "), want.python)
		equal(t, argv, s.IPython(), want.is)
	}
}
