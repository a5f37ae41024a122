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
	active := []string{l.env("VIRTUAL_ENV"), l.env("CONDA_PREFIX")}
	var inEnvs []string
	for _, p := range slices.Concat(l.Prefixes, active) {
		if p != "" {
			inEnvs = append(inEnvs, filepath.Join(p, "share", "jupyter"))
		}
	}
	data := append(filepath.SplitList(l.env("JUPYTER_PATH")), l.userData())
	if strings.Join(active, "") != "" {
		data = slices.Insert(data, len(data)-1, inEnvs...)
	} else {
		data = append(data, inEnvs...)
	}
	var dirs []string
	for _, d := range append(data, "/usr/local/share/jupyter", "/usr/share/jupyter") {
		if d != "" && !slices.Contains(dirs, filepath.Join(d, "kernels")) {
			dirs = append(dirs, filepath.Join(d, "kernels"))
		}
	}
	if l.Home != "" {
		dirs = append(dirs, filepath.Join(l.Home, ".ipython", "kernels"))
	}
	return dirs
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
