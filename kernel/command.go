package kernel

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// variable matches a reference to the environment in a kernel.json.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// pythonName matches an argv[0] that means "the Python of this environment".
var pythonName = regexp.MustCompile(`^python(3(\.\d+)?)?$`)

// command returns the command that starts a kernel of spec with the connection
// file at path (jupyter_client, docs/kernels.rst, "Kernel specs").
func (s Spec) command(path, dir string, environ []string) (*exec.Cmd, error) {
	env := s.environ(environ)
	replace := strings.NewReplacer("{connection_file}", path, "{resource_dir}", s.Dir, "{prefix}",
		s.prefix())
	argv := lists.Map(s.Argv, replace.Replace)
	program, err := find(argv[0], s.prefix(), dir, env)
	if err != nil {
		return nil, err
	}
	// Not the bare name: Python finds its environment by the path it is called by.
	argv[0] = program
	if pythonName.MatchString(filepath.Base(program)) {
		env = withFolder(env, filepath.Dir(program))
	}
	return &exec.Cmd{Path: program, Args: argv, Dir: dir, Env: env}, nil
}

// withFolder puts a folder before the others of PATH, unless it is one of them: cells say !python
// and !pip, and mean those beside their own Python.
func withFolder(env []string, folder string) []string {
	path := disk.Getenv(env, "PATH")
	if slices.Contains(filepath.SplitList(path), folder) {
		return env
	}
	return append(env, strings.TrimSuffix("PATH="+folder+":"+path, ":"))
}

// Program returns the path of the program that starts a kernel of s in the environment environ.
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

// environ returns environ with the spec's variables, which may refer to it as ${NAME}, and with
// parentPID.
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
	// The last value of a name wins.
	return append(env, parentPID+strconv.Itoa(os.Getpid()))
}

// parentPID is the variable with the pid of the process with which a kernel ends.
const parentPID = "JPY_PARENT_PID="

// prefix returns the Python environment that the spec belongs to, if its folder is
// <prefix>/share/jupyter/kernels/<name>.
func (s Spec) prefix() string {
	if before, _, ok := strings.Cut(s.Dir, "/share/jupyter/kernels/"); ok {
		return before
	}
	return ""
}

// find returns the path of the program name: a path is relative to dir, "python" is preferably that
// of the environment prefix, and other names are looked up in the PATH of env.
func find(name, prefix, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	path := disk.Getenv(env, "PATH")
	if prefix != "" && pythonName.MatchString(name) {
		path = filepath.Join(prefix, "bin") + ":" + path
	}
	if all := disk.LookPath(name, path); len(all) > 0 {
		return all[0], nil
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
