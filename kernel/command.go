package kernel

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// variable is how kernel.json refers to the environment.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// pythonName matches an argv[0] that means "the Python of this environment".
var pythonName = regexp.MustCompile(`^python(3(\.\d+)?)?$`)

// command returns the command that starts a kernel of spec with the connection
// file at path (jupyter_client, docs/kernels.rst, "Kernel specs").
func (s Spec) command(path, dir string, environ []string) (*exec.Cmd, error) {
	env := s.environ(environ)
	prefix := s.prefix()
	replace := strings.NewReplacer("{connection_file}", path, "{resource_dir}", s.Dir, "{prefix}",
		prefix)
	argv := slices.Clone(s.Argv)
	for i := range argv {
		argv[i] = replace.Replace(argv[i])
	}
	program, err := find(argv[0], prefix, dir, env)
	if err != nil {
		return nil, err
	}
	// Not the bare name: Python finds its environment by the path it is called by.
	argv[0] = program
	return &exec.Cmd{Path: program, Args: argv, Dir: dir, Env: env}, nil
}

// Program returns the program that starting a kernel of s in environ would run.
func (s Spec) Program(environ []string) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	cmd, err := s.command("", "", environ)
	if err != nil {
		return "", err
	}
	return cmd.Path, nil
}

// environ returns the environment with the spec's variables, which may refer
// to it as ${NAME}, and the variable by which a kernel knows whose death to
// follow.
func (s Spec) environ(environ []string) []string {
	known := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		known[name] = value
	}
	env := slices.Clone(environ)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		value := variable.ReplaceAllStringFunc(s.Env[name], func(ref string) string {
			if v, ok := known[ref[2:len(ref)-1]]; ok {
				return v
			}
			return ref
		})
		env = append(env, name+"="+value)
	}
	// The last value of a name is the one that counts.
	return append(env, parentPID+strconv.Itoa(os.Getpid()))
}

// parentPID is the variable that tells a kernel with whom to end.
const parentPID = "JPY_PARENT_PID="

// prefix returns the environment that the spec belongs to, if it lies in
// <prefix>/share/jupyter/kernels/<name>.
func (s Spec) prefix() string {
	before, _, ok := strings.Cut(filepath.ToSlash(s.Dir), "/share/jupyter/kernels/")
	if !ok {
		return ""
	}
	return filepath.FromSlash(before)
}

// find returns the program that name means: "python" is the one of the spec's
// own environment, other names are looked up in the PATH of env.
func find(name, prefix, dir string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if err := executable(name); err != nil {
			return "", &exec.Error{Name: name, Err: err}
		}
		return name, nil
	}
	var dirs []string
	if prefix != "" && pythonName.MatchString(name) {
		dirs = append(dirs, filepath.Join(prefix, "bin"))
	}
	for _, kv := range env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			dirs = append(dirs, filepath.SplitList(list)...)
		}
	}
	for _, d := range dirs {
		if program := filepath.Join(d, name); filepath.IsAbs(d) && executable(program) == nil {
			return program, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// executable returns why path is not a program.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%w: not executable", os.ErrPermission)
	}
	return nil
}
