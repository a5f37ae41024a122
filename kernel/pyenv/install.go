package pyenv

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// An installer builds an environment in dir, which does not exist yet.
type installer struct {
	name  string
	build func(ctx context.Context, r runner, base Interpreter, dir string, lock []byte) error
}

// installers returns the available tools, the preferred one first.
func installers(env []string, base Interpreter) []installer {
	var all []installer
	// uv ignores pip's settings: if only pip is configured with an index, use pip.
	onlyPip := (getenv(env, "PIP_INDEX_URL") != "" || getenv(env, "PIP_CONFIG_FILE") != "" ||
		getenv(env, "PIP_NO_INDEX") != "") &&
		getenv(env, "UV_DEFAULT_INDEX") == "" && getenv(env, "UV_INDEX_URL") == ""
	if uv, ok := lookPath("uv", env); ok && (!onlyPip || !base.Venv) {
		all = append(all, installer{"uv", uvBuild(uv)})
	}
	if base.Venv {
		all = append(all, installer{"pip", pipBuild})
	}
	return all
}

// pins make both tools install exactly the lock: nothing unlisted, nothing without a hash, and no
// package that must be compiled, which would run its code and take minutes before it fails.
var pins = [...]string{"--require-hashes", "--no-deps", "--only-binary", ":all:"}

func uvBuild(uv string) func(context.Context, runner, Interpreter, string, []byte) error {
	return func(ctx context.Context, r runner, base Interpreter, dir string, lock []byte) error {
		if err := r.run(ctx, "uv venv", uv, "venv", "--python", base.Path, dir); err != nil {
			return err
		}
		file, err := writeLock(dir, lock)
		if err != nil {
			return err
		}
		args := []string{"pip", "install", "--python", interpreter(dir), "--compile-bytecode",
			"--requirement", file}
		return r.run(ctx, "uv pip install", uv, append(args, pins[:]...)...)
	}
}

func pipBuild(ctx context.Context, r runner, base Interpreter, dir string, lock []byte) error {
	if err := r.run(ctx, "venv", base.Path, "-I", "-m", "venv", dir); err != nil {
		return err
	}
	file, err := writeLock(dir, lock)
	if err != nil {
		return err
	}
	args := []string{"-I", "-m", "pip", "install", "--requirement", file}
	return r.run(ctx, "pip install", interpreter(dir), append(args, pins[:]...)...)
}

func writeLock(dir string, lock []byte) (string, error) {
	file := filepath.Join(dir, "requirements.txt")
	return file, os.WriteFile(file, lock, 0o644)
}

// toolEnv returns env without variables that direct the tools to another environment.
func toolEnv(env []string) []string {
	var out []string
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(key) {
		case "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__",
			"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_REQUIREMENT", "PIP_CONSTRAINT",
			"PIP_NO_BINARY",
			"UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_PROJECT_ENVIRONMENT", "UV_CONSTRAINT", "UV_OVERRIDE",
			"UV_NO_BINARY":
			continue
		}
		out = append(out, kv)
	}
	return append(out, "PIP_USER=0", "PIP_NO_INPUT=1", "PIP_DISABLE_PIP_VERSION_CHECK=1",
		"PIP_NO_COLOR=1",
		"UV_NO_PROGRESS=1", "NO_COLOR=1", "PYTHONUNBUFFERED=1")
}

// getenv returns the last value of key, as the operating system would.
func getenv(env []string, key string) string {
	value := ""
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if k == key {
			value = v
		}
	}
	return value
}
