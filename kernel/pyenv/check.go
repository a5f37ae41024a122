package pyenv

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A Report is the result of [Check].
type Report struct {
	Path    string   // sys.executable
	Version string   // such as 3.12.1
	Missing []string // of the modules asked for
}

// checkCode looks in the folders of PYTHONPATH, its first argument, but runs nothing from them.
const checkCode = `import os, sys
from importlib.util import find_spec
sys.path += [path for path in sys.argv.pop(1).split(os.pathsep) if os.path.isabs(path)]
print("dsstar|%d.%d.%d|%s|%s" % (sys.version_info[:3] + (
    ",".join(m for m in sys.argv[1:] if find_spec(m) is None), sys.executable)))
`

// Check asks the user's own interpreter, a path or a name on env's PATH, which of the top-level
// modules it lacks. It imports none of them, and runs nothing in the current folder or in
// PYTHONPATH. An error means that python cannot be run.
func Check(ctx context.Context, python string, env, modules []string) (Report, error) {
	path, err := program(python, env)
	if err != nil {
		return Report{}, fmt.Errorf("run %s: %w", python, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := Ask(ctx, env, path, checkCode,
		append([]string{getenv(env, "PYTHONPATH")}, modules...)...)
	if err != nil {
		return Report{}, fmt.Errorf("run %s: %w", python, err)
	}
	for line := range strings.Lines(string(out)) {
		part := strings.SplitN(strings.TrimRight(line, "\r\n"), "|", 4)
		if len(part) != 4 || part[0] != "dsstar" {
			continue
		}
		report := Report{Path: part[3], Version: part[1]}
		if part[2] != "" {
			report.Missing = strings.Split(part[2], ",")
		}
		return report, nil
	}
	return Report{}, fmt.Errorf("run %s: does not answer like Python 3", python)
}

// program returns the absolute path of python. As in a shell, only a name without a folder is
// looked up on PATH.
func program(python string, env []string) (string, error) {
	if filepath.Base(python) != python {
		return filepath.Abs(python)
	}
	if path, ok := lookPath(python, env); ok {
		return path, nil
	}
	return "", exec.ErrNotFound
}
