package pyenv

import (
	"slices"
	"strings"
)

// packages are pip's words for exactly the lock: nothing unlisted, nothing without a hash, and no
// package that must be compiled, which would run its code and take minutes before it fails.
func packages(dir string) []string {
	return []string{interpreter(dir), "-I", "-m", "pip", "install", "--requirement", lockIn(dir),
		"--require-hashes", "--no-deps", "--only-binary", ":all:"}
}

// toolEnv returns env without variables that direct pip to another environment.
func toolEnv(env []string) []string {
	others := []string{"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV",
		"__PYVENV_LAUNCHER__", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_REQUIREMENT",
		"PIP_CONSTRAINT", "PIP_NO_BINARY"}
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(others, strings.ToUpper(name))
	})
	return append(out, "PIP_USER=0", "PIP_NO_INPUT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"PIP_NO_COLOR=1", "NO_COLOR=1", "PYTHONUNBUFFERED=1")
}
