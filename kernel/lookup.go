package kernel

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A Lookup says where to look for kernelspecs. The environment is read through Getenv only.
type Lookup struct {
	Getenv   func(string) string // os.Getenv; nil for an empty environment
	Home     string              // the user's home folder; "" if unknown
	Prefixes []string            // Python environments (sys.prefix) to search as well
}

// env returns a variable of the environment; "" if it is not set.
func (l Lookup) env(name string) string {
	if l.Getenv == nil {
		return ""
	}
	return l.Getenv(name)
}

// Dirs returns the folders that may hold kernelspecs, in order of precedence (jupyter_core,
// paths.py, jupyter_path; jupyter_client, kernelspec.py): those of JUPYTER_PATH, of the user, of
// the Python environments, of the system, and IPython's former folder. As in Jupyter, an active
// environment precedes the user.
func (l Lookup) Dirs() []string {
	prefixes := slices.Clone(l.Prefixes)
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		prefixes = append(prefixes, l.env(name))
	}
	var inEnvs []string
	for _, p := range prefixes {
		if p != "" {
			inEnvs = append(inEnvs, filepath.Join(p, "share", "jupyter"))
		}
	}
	user := []string{l.userData()}
	if base := l.env("PYTHONUSERBASE"); base != "" {
		user = append(user, filepath.Join(base, "share", "jupyter"))
	}

	dirs := filepath.SplitList(l.env("JUPYTER_PATH"))
	if l.preferEnv() {
		dirs = slices.Concat(dirs, inEnvs, user)
	} else {
		dirs = slices.Concat(dirs, user, inEnvs)
	}
	dirs = append(dirs, systemData...)
	for i, d := range dirs {
		if d != "" {
			dirs[i] = filepath.Join(d, "kernels")
		}
	}
	if l.Home != "" {
		dirs = append(dirs, filepath.Join(l.Home, ".ipython", "kernels"))
	}
	return distinct(dirs)
}

// RuntimeDir returns the folder where Jupyter keeps the connection files of
// running kernels and the files of running servers (jupyter_core, paths.py,
// jupyter_runtime_dir). It is "" if unknown.
func (l Lookup) RuntimeDir() string {
	if dir := l.env("JUPYTER_RUNTIME_DIR"); dir != "" {
		return dir
	}
	if data := l.userData(); data != "" {
		return filepath.Join(data, "runtime")
	}
	return ""
}

// userData returns JUPYTER_DATA_DIR or the platform's default; "" if unknown.
func (l Lookup) userData() string {
	if dir := l.env("JUPYTER_DATA_DIR"); dir != "" {
		return dir
	}
	switch {
	case runtime.GOOS == "darwin" && l.Home != "":
		return filepath.Join(l.Home, "Library", "Jupyter")
	case l.env("XDG_DATA_HOME") != "":
		return filepath.Join(l.env("XDG_DATA_HOME"), "jupyter")
	case l.Home != "":
		return filepath.Join(l.Home, ".local", "share", "jupyter")
	}
	return ""
}

// preferEnv reports whether Python environments precede the user's own folder.
func (l Lookup) preferEnv() bool {
	switch strings.ToLower(l.env("JUPYTER_PREFER_ENV_PATH")) {
	case "":
		return l.env("VIRTUAL_ENV") != "" || l.env("CONDA_PREFIX") != ""
	case "no", "n", "false", "off", "0", "0.0":
		return false
	}
	return true
}

// systemData has Jupyter's folders for all users.
var systemData = []string{"/usr/local/share/jupyter", "/usr/share/jupyter"}

// distinct drops repeated and empty entries.
func distinct(list []string) []string {
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(list, func(s string) bool {
		old := seen[s]
		seen[s] = true
		return old
	})
}
