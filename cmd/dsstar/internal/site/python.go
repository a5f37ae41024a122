package site

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/pyenv"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// Required are the modules that the prompts and the set-up cell rely on.
var Required = []string{"ipykernel", "numpy", "pandas"}

// Spec returns the kernel to start: that of --python or --kernel, or else of the environment that
// the program is installed in if it has the modules, or of the managed one, which is created on
// first use.
func (h Host) Spec(ctx context.Context, s *configs.Settings, say func(string)) (kernel.Spec, error) {
	switch {
	case s.Python != "" && s.Kernel+s.Server != "":
		return kernel.Spec{}, usage.New("--python cannot be combined with --kernel or --server",
			usage.Without("python"), usage.Without("kernel", "server"))
	case s.Kernel != "":
		return h.ownKernel(ctx, s, s.Kernel)
	case s.Python != "":
		return h.OwnPython(ctx, s, "--python", s.Python, Required)
	}
	if program, err := os.Executable(); err == nil && !h.Managed {
		for _, python := range around(disk.RealPath(program)) {
			p, err := pyenv.Check(ctx, python, h.WithoutKeys(s), Required)
			if err == nil && len(p.Missing) == 0 {
				return kernel.PythonSpec(p.Path), nil
			}
		}
	}
	python, err := pyenv.Ensure(ctx,
		pyenv.Options{Dir: h.CacheDir, Lock: configs.PythonLock, Env: h.InstallEnv(s), Progress: say})
	if err != nil {
		return kernel.Spec{}, err
	}
	return kernel.PythonSpec(python), nil
}

// around returns the interpreters of the Python environment in which a wheel has installed the
// program as PREFIX/bin/dsstar.
func around(program string) (pythons []string) {
	bin := filepath.Dir(program)
	wheels, _ := filepath.Glob(filepath.Join(bin, "../lib/python3*/site-packages/dsstar/__init__.py"))
	for _, wheel := range wheels {
		version := filepath.Base(filepath.Join(wheel, "../../.."))
		pythons = append(pythons, filepath.Join(bin, version))
	}
	return pythons
}

// ownKernel finds the kernelspec that the user named and checks its Python.
func (h Host) ownKernel(ctx context.Context, s *configs.Settings, name string) (kernel.Spec, error) {
	spec, err := kernel.FindSpec(name, h.Lookup())
	if err != nil {
		return kernel.Spec{}, err
	}
	if spec.Language != "" && !strings.EqualFold(spec.Language, "python") {
		return kernel.Spec{}, usage.New(
			fmt.Sprintf("--kernel: %s is a kernel for %s, but cells are Python", name, spec.Language),
			usage.Shell("jupyter kernelspec list"))
	}
	program, err := spec.Program(h.Env)
	if err != nil {
		return kernel.Spec{}, usage.New(fmt.Sprintf("--kernel: %s: %v", name, err),
			usage.Shell("jupyter kernelspec list"))
	}
	if !strings.HasPrefix(filepath.Base(program), "python") {
		return spec, nil // a launcher, whose Python only it knows
	}
	_, err = h.OwnPython(ctx, s, "--kernel: "+name, program, Required)
	return spec, err
}

// OwnPython returns the kernel of the user's interpreter, or an error that names missing modules.
func (h Host) OwnPython(ctx context.Context, s *configs.Settings, from, python string,
	modules []string) (kernel.Spec, error) {
	report, err := pyenv.Check(ctx, python, h.WithoutKeys(s), modules)
	if err != nil {
		return kernel.Spec{}, usage.New(fmt.Sprintf("%s: %v", from, err), usage.Shell("which -a python3"))
	}
	if len(report.Missing) > 0 {
		return kernel.Spec{}, usage.New(
			fmt.Sprintf("%s: %s (Python %s) lacks %s", from, python, report.Version,
				strings.Join(report.Missing, ", ")),
			VenvHints(modules...)...)
	}
	return kernel.PythonSpec(report.Path), nil
}

// VenvHints make an environment with modules: a system's own Python often takes none.
func VenvHints(modules ...string) []usage.Hint {
	return []usage.Hint{
		usage.Shell("python3 -m venv ~/venv && ~/venv/bin/pip install " + strings.Join(modules, " ")),
		usage.Again("--python", "~/venv/bin/python").But("kernel")}
}

// secret matches the names of variables that are kept from cells.
var secret = regexp.MustCompile(
	`(?i)((api|account|storage|private)_?key|token|secret|passw|credential|^SSH_AUTH_SOCK$)`)

// WithoutKeys returns the user's environment without credentials.
func (h Host) WithoutKeys(s *configs.Settings) []string {
	hidden := []string{s.APIKeyEnv, "DSSTAR_SERVER", "JUPYTER_URL"} // they may contain tokens
	for _, p := range s.Providers {
		hidden = append(hidden, p.KeyEnv...)
	}
	return slices.DeleteFunc(slices.Clone(h.Env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return secret.MatchString(name) || slices.Contains(hidden, name)
	})
}

// InstallEnv is WithoutKeys plus the settings of pip, which may hold the password of a package index.
func (h Host) InstallEnv(s *configs.Settings) []string {
	ofPip := func(entry string) bool { return strings.HasPrefix(entry, "PIP_") }
	return append(h.WithoutKeys(s), lists.Where(h.Env, ofPip)...)
}

// KernelEnv returns the environment of cells: without credentials and without variables that make
// sessions differ between users.
func (h Host) KernelEnv(s *configs.Settings) []string {
	differ := []string{"PYTHONHASHSEED", "PYTHONSTARTUP", "MPLBACKEND", "IPYTHONDIR"}
	env := slices.DeleteFunc(h.WithoutKeys(s), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(differ, name) || strings.HasPrefix(name, databaseVariables)
	})
	for _, d := range h.Databases {
		env = append(append(env, d.Variable+"="+d.Address), d.More...)
	}
	// The user's IPython start-up files are not part of the notebook, and replayed cells must
	// see sets of strings in the same order.
	return append(env, "IPYTHONDIR="+filepath.Join(h.CacheDir, "ipython"), "PYTHONHASHSEED=0")
}
