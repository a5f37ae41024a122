package pyenv

import (
	"dsstar/notebook/disk"
	"path/filepath"
	"slices"
	"strings"
)

// An installer builds an environment by two commands.
type installer struct {
	name        string   // of the tool
	environment []string // makes it, without packages
	packages    []string // installs those of the lock file
}

// installers returns the available tools that build an environment in dir, the preferred one first.
func installers(env []string, base Python, dir string) (all []installer) {
	// uv ignores pip's settings: if only pip is configured with an index, use pip.
	onlyPip := (disk.Getenv(env, "PIP_INDEX_URL") != "" || disk.Getenv(env, "PIP_CONFIG_FILE") != "" ||
		disk.Getenv(env, "PIP_NO_INDEX") != "") &&
		disk.Getenv(env, "UV_DEFAULT_INDEX") == "" && disk.Getenv(env, "UV_INDEX_URL") == ""
	// Exactly the lock: nothing unlisted, nothing without a hash, and no package that must be compiled,
	// which would run its code and take minutes before it fails.
	exactly := []string{"--requirement", lockIn(dir), "--require-hashes", "--no-deps", "--only-binary",
		":all:"}
	if uv := LookPath("uv", env); len(uv) > 0 && (!onlyPip || !base.Venv) {
		all = append(all, installer{"uv", []string{uv[0], "venv", "--python", base.Base, dir},
			append([]string{uv[0], "pip", "install", "--python", interpreter(dir), "--compile-bytecode"},
				exactly...)})
	}
	if base.Venv {
		all = append(all, installer{"pip", []string{base.Base, "-I", "-m", "venv", dir},
			append([]string{interpreter(dir), "-I", "-m", "pip", "install"}, exactly...)})
	}
	return all
}

// lockIn is the copy of the lock file in an environment.
func lockIn(dir string) string { return filepath.Join(dir, "requirements.txt") }

// toolEnv returns env without variables that direct the tools to another environment.
func toolEnv(env []string) []string {
	others := []string{"PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV",
		"__PYVENV_LAUNCHER__", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_REQUIREMENT",
		"PIP_CONSTRAINT", "PIP_NO_BINARY", "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_PROJECT_ENVIRONMENT",
		"UV_CONSTRAINT", "UV_OVERRIDE", "UV_NO_BINARY"}
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(others, strings.ToUpper(name))
	})
	return append(out, "PIP_USER=0", "PIP_NO_INPUT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"PIP_NO_COLOR=1", "UV_NO_PROGRESS=1", "NO_COLOR=1", "PYTHONUNBUFFERED=1")
}
